//! Reloads the settings while the daemon runs: on SIGHUP, or when their file changes.
//!
//! Limits of connections, sessions, checkpoints, redaction and the log level change at once. Other changes wait for
//! the next start and are reported. An invalid file changes nothing.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use lored_redact::{Rules, SharedRules};
use tokio::sync::Notify;

use crate::api::Limits;
use crate::config::{Config, EffectTime, RawValue, settings};
use crate::locks::lock_unpoisoned;
use crate::reloadable::{LastReload, Reloadable};
use crate::service::Access;
use crate::service::manager::{ManagerMessage, notify};
use crate::watch::{
    self, Change, DirWatcher, Folder, PathKind, Times, WatchHandle, WatchOutcome, WatchScope,
};
use crate::{checkpoints, forgetting, projects, sessions};

/// Sets the log filter; returns the reason when it cannot.
pub type SetLog = Box<dyn Fn(&str) -> Result<(), String> + Send + Sync>;

/// The reloadable settings.
#[derive(Clone, Debug, Default)]
pub struct ReloadableSettings {
    /// Limits of a peer.
    pub limits: Reloadable<Limits>,
    /// Expiry of sessions.
    pub sessions: Reloadable<sessions::SessionSettings>,
    /// Limits of checkpoints.
    pub checkpoints: Reloadable<checkpoints::Limits>,
    /// Retention rules.
    pub retention: Reloadable<forgetting::Rules>,
    /// Word lists that assign keys to layers.
    pub words: Reloadable<checkpoints::LayerWords>,
    /// What hooks record and add.
    pub capture: Reloadable<projects::CaptureTable>,
    /// Redaction rules.
    pub redaction: SharedRules,
    /// Users who may connect.
    pub access: Reloadable<Access>,
    /// Result of the last reload.
    pub last_read: Reloadable<LastReload>,
}

impl ReloadableSettings {
    /// Creates them with these settings.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let lives = Self::default();
        lives.set(config);
        lives
    }

    fn set(&self, config: &Config) {
        self.limits.set(config.limits.clone());
        self.sessions.set(config.sessions);
        self.checkpoints.set(config.checkpoints.clone());
        self.retention.set(config.retention);
        self.words.set(config.words.clone());
        self.capture.set(config.capture.clone());
        self.access.set(config.access.clone());
        match Rules::new(&config.redaction) {
            Ok(rules) => self.redaction.set(rules),
            // Settings that were read are valid.
            Err(error) => tracing::error!(%error, "the rules of redaction stay as they were"),
        }
    }
}

/// Reloads the settings.
pub struct Reload {
    path: PathBuf,
    /// The environment variables at the start; they cannot change from outside.
    variables: Vec<(OsString, OsString)>,
    started: RawValue,
    now: Mutex<RawValue>,
    lives: ReloadableSettings,
    set_log: Option<SetLog>,
}

impl Reload {
    /// Creates it for a file, with the settings that the daemon was started with.
    #[must_use]
    pub fn new(
        path: &Path,
        started: RawValue,
        lives: ReloadableSettings,
        set_log: Option<SetLog>,
    ) -> Self {
        lives.last_read.set(LastReload {
            file: path.to_path_buf(),
            ..LastReload::default()
        });
        Self {
            path: path.to_path_buf(),
            variables: std::env::vars_os().collect(),
            now: Mutex::new(started.clone()),
            started,
            lives,
            set_log,
        }
    }

    /// Reads the file and does what can be done at once. What was wrong, and what waits, is in
    /// [`ReloadableSettings::last_read`] and in the log.
    pub fn read(&self) {
        let mut now = lock_unpoisoned(&self.now);
        let read = RawValue::load(&self.path, self.variables.iter().cloned()).and_then(|given| {
            let changed = changed(&now, &given);
            // Nothing has changed at most starts, and those values are in force.
            let config = match changed.is_empty() {
                true => None,
                false => Some(Config::of(given.clone(), &self.path)?),
            };
            Ok((config, changed, given))
        });
        let mut last = LastReload {
            file: self.path.clone(),
            ..LastReload::default()
        };
        match read {
            Err(error) => {
                let (fault, before) = (error.to_string(), self.lives.last_read.get());
                if before.fault.as_ref() != Some(&fault) {
                    tracing::error!(%fault, "the settings were not taken; those before are in force");
                }
                last.fault = Some(fault);
                last.waiting.clone_from(&before.waiting);
            }
            Ok((config, changed, given)) => {
                last.waiting = waiting(&self.started, &given);
                if let Some(config) = config {
                    self.take(&config);
                    let (changed, waiting) = (changed.join(", "), last.waiting.join(", "));
                    tracing::info!(%changed, %waiting, "the settings were read again");
                }
                *now = given;
            }
        }
        self.lives.last_read.set(last);
    }

    /// Puts settings in force.
    fn take(&self, config: &Config) {
        self.lives.set(config);
        if let Some(set_log) = &self.set_log
            && let Err(error) = set_log(&config.log)
        {
            tracing::error!(%error, "the level of the log was not set");
        }
    }

    /// Reloads on each signal and each change of the file, until dropped.
    pub async fn run(self, asked: Arc<Notify>) {
        let reload = Arc::new(self);
        let _watch = watch(&reload.path, &asked);
        let mut led_to = led_to(&reload.path);
        let mut _watch_there = led_to.as_deref().and_then(|file| watch(file, &asked));
        // Changes between the start and now were not observed.
        Self::read_aside(&reload).await;
        loop {
            asked.notified().await;
            // Resolved before the file is read, so that changes during the read are observed.
            let leads_to = self::led_to(&reload.path);
            if leads_to != led_to {
                _watch_there = leads_to.as_deref().and_then(|file| watch(file, &asked));
                led_to = leads_to;
            }
            report(ManagerMessage::Reloading);
            Self::read_aside(&reload).await;
            report(ManagerMessage::Ready("serving"));
        }
    }

    /// Reads off the event loop.
    async fn read_aside(reload: &Arc<Self>) {
        let shared = Arc::clone(reload);
        if let Err(error) = tokio::task::spawn_blocking(move || shared.read()).await {
            tracing::error!(%error, "the settings were not read");
        }
    }
}

/// Watches the file; if that fails, SIGHUP still works.
fn watch(file: &Path, asked: &Arc<Notify>) -> Option<WatchHandle> {
    let asked = Arc::clone(asked);
    let heard = move |change| match change {
        Change::Written(()) | Change::Removed(()) | Change::Rescan => asked.notify_one(),
    };
    let watch_scope = ConfigFile::new(file).ok_or(std::io::ErrorKind::NotADirectory.into());
    match watch_scope
        .and_then(|watch_scope| WatchHandle::start(watch_scope, Times::default(), heard))
    {
        Ok(watch) => Some(watch),
        Err(error) => {
            tracing::warn!(%error, "changed settings are read on SIGHUP alone");
            None
        }
    }
}

/// Returns the target if the settings file is a symbolic link, as in central dotfile folders. Edits of the target
/// cause no event at the link.
fn led_to(path: &Path) -> Option<PathBuf> {
    let real = std::fs::canonicalize(path).ok()?;
    let is_itself = ConfigFile::new(path).is_some_and(|here| here.file == real);
    (!is_itself).then_some(real)
}

fn report(news: ManagerMessage<'_>) {
    if let Err(error) = notify(news) {
        tracing::debug!(%error, "the service manager was not notified");
    }
}

/// Lists the keys whose values differ.
fn changed(before: &RawValue, after: &RawValue) -> Vec<String> {
    let keys = before.origins.keys().chain(after.origins.keys());
    let mut changed: Vec<String> = keys
        .filter(|keys| before.value(keys) != after.value(keys))
        .map(|keys| keys.join("."))
        .collect();
    changed.sort();
    changed.dedup();
    changed
}

/// Lists the changed keys that take effect only at the next start.
fn waiting(started: &RawValue, now: &RawValue) -> Vec<String> {
    let mut keys: Vec<&Vec<String>> = started.origins.keys().chain(now.origins.keys()).collect();
    keys.sort();
    keys.dedup();
    keys.into_iter()
        .filter(|keys| started.value(keys) != now.value(keys))
        .filter(|keys| {
            let setting = settings().iter().find(|setting| setting.is_at(keys));
            setting.is_some_and(|setting| setting.acts == EffectTime::NextStart)
        })
        .map(|keys| keys.join("."))
        .collect()
}

/// Watch scope of a single file in its folder.
struct ConfigFile {
    folder: PathBuf,
    file: PathBuf,
}

impl ConfigFile {
    fn new(path: &Path) -> Option<Self> {
        let folder = watch::real(path.parent()?).ok()?;
        let file = folder.join(path.file_name()?);
        Some(Self { folder, file })
    }
}

impl WatchScope for ConfigFile {
    type Key = ();

    fn what(&self) -> String {
        "the settings".to_owned()
    }

    fn root(&self) -> &Path {
        &self.folder
    }

    fn place(&self, path: &Path) -> Option<PathKind<()>> {
        if path == self.folder {
            return Some(PathKind::Root);
        }
        (path == self.file).then_some(PathKind::File(()))
    }

    fn path(&self, (): &()) -> PathBuf {
        self.file.clone()
    }

    fn open(&self, watcher: &mut DirWatcher) -> Result<Option<String>, String> {
        match watcher.watch(&self.folder)? {
            WatchOutcome::None | WatchOutcome::Gone => Err("folder not found".to_owned()),
            WatchOutcome::New | WatchOutcome::Same | WatchOutcome::Replaced => Ok(None),
        }
    }

    fn folder(&self, _: &mut DirWatcher, _: &str) -> Result<Folder<()>, String> {
        Ok(Folder::None)
    }
}

/// Whether settings can be read at all before anything else is done: what [`RawValue::load`] says, with
/// the same variables.
///
/// # Errors
/// What is wrong with them.
pub fn first(path: &Path) -> Result<(Config, RawValue), crate::config::Error> {
    let given = RawValue::load(path, std::env::vars_os())?;
    Ok((Config::of(given.clone(), path)?, given))
}
