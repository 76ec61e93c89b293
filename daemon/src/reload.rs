//! The settings read again while the daemon runs: on SIGHUP, or when their file changes.
//!
//! What a connection may use, sessions, checkpoints, redaction and the log's level change at once; the
//! rest waits for the next start, and is named. A file with a mistake changes nothing.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use lored_redact::{Rules, SharedRules};
use tokio::sync::Notify;

use crate::api::Limits;
use crate::config::{Config, EffectTime, RawValue, settings};
use crate::reloadable::{LastReload, Reloadable};
use crate::service::Access;
use crate::service::manager::{ManagerMessage, notify};
use crate::watch::{
    self, Change, DirWatcher, Folder, PathKind, Times, WatchHandle, WatchOutcome, WatchScope,
};
use crate::{checkpoints, forgetting, sessions};

/// Sets what is logged; says why if it cannot.
pub type SetLog = Box<dyn Fn(&str) -> Result<(), String> + Send + Sync>;

/// What may be replaced while it is used.
#[derive(Clone, Debug, Default)]
pub struct ReloadableSettings {
    /// What a peer may use.
    pub limits: Reloadable<Limits>,
    /// How long sessions are in use.
    pub sessions: Reloadable<sessions::SessionSettings>,
    /// What checkpoints may take.
    pub checkpoints: Reloadable<checkpoints::Limits>,
    /// What is forgotten by itself.
    pub retention: Reloadable<forgetting::Rules>,
    /// What words of keys say.
    pub words: Reloadable<checkpoints::LayerWords>,
    /// Which secrets are looked for.
    pub redaction: SharedRules,
    /// Who may connect.
    pub access: Reloadable<Access>,
    /// How the last reading went.
    pub last_read: Reloadable<LastReload>,
}

impl ReloadableSettings {
    /// As these settings say.
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
        self.access.set(config.access.clone());
        match Rules::new(&config.redaction) {
            Ok(rules) => self.redaction.set(rules),
            // Settings that were read have been tried.
            Err(error) => tracing::error!(%error, "the rules of redaction stay as they were"),
        }
    }
}

/// Reads the settings again.
pub struct Reload {
    path: PathBuf,
    /// The variables as they were at the start: nobody can change them from outside.
    variables: Vec<(OsString, OsString)>,
    started: RawValue,
    now: Mutex<RawValue>,
    lives: ReloadableSettings,
    set_log: Option<SetLog>,
}

impl Reload {
    /// Of a file, whose settings as they are now the daemon was started with.
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
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let read = RawValue::load(&self.path, self.variables.iter().cloned())
            .and_then(|given| Ok((Config::of(given.clone(), &self.path)?, given)));
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
            Ok((config, given)) => {
                let changed = changed(&now, &given);
                last.waiting = waiting(&self.started, &given);
                self.lives.set(&config);
                if let Some(set_log) = &self.set_log
                    && let Err(error) = set_log(&config.log)
                {
                    tracing::error!(%error, "the level of the log was not set");
                }
                if !changed.is_empty() {
                    let (changed, waiting) = (changed.join(", "), last.waiting.join(", "));
                    tracing::info!(%changed, %waiting, "the settings were read again");
                }
                *now = given;
            }
        }
        self.lives.last_read.set(last);
    }

    /// Reads again whenever it is asked to, by a signal or because the file has changed, until dropped.
    pub async fn run(self, asked: Arc<Notify>) {
        let reload = Arc::new(self);
        let _watch = watch(&reload.path, &asked);
        let mut led_to = led_to(&reload.path);
        let mut _watch_there = led_to.as_deref().and_then(|file| watch(file, &asked));
        // What was saved between the start and now was not heard.
        Self::read_aside(&reload).await;
        loop {
            asked.notified().await;
            // Before it is read: what is saved while it is read is heard.
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

/// Watches the file; without that, SIGHUP is still heard.
fn watch(file: &Path, asked: &Arc<Notify>) -> Option<WatchHandle> {
    let asked = Arc::clone(asked);
    let change_event = move |change| match change {
        Change::Written(()) | Change::Removed(()) | Change::Rescan => asked.notify_one(),
    };
    let watch_scope = ConfigFile::new(file).ok_or(std::io::ErrorKind::NotADirectory.into());
    match watch_scope
        .and_then(|watch_scope| WatchHandle::start(watch_scope, Times::default(), change_event))
    {
        Ok(watch) => Some(watch),
        Err(error) => {
            tracing::warn!(%error, "changed settings are read on SIGHUP alone");
            None
        }
    }
}

/// The file that a link in the place of the settings leads to, as those make it who keep their settings
/// together elsewhere: nothing is told at the link when that one is edited.
fn led_to(path: &Path) -> Option<PathBuf> {
    let real = std::fs::canonicalize(path).ok()?;
    let is_itself = ConfigFile::new(path).is_some_and(|here| here.file == real);
    (!is_itself).then_some(real)
}

fn report(news: ManagerMessage<'_>) {
    if let Err(error) = notify(news) {
        tracing::debug!(%error, "the service manager was not told");
    }
}

/// The keys whose values differ.
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

/// Those of them that act only at the next start.
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

/// The one file, in its folder.
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
            WatchOutcome::None | WatchOutcome::Gone => Err("there is no such folder".to_owned()),
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
