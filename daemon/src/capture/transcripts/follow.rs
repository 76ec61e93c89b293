//! Follows transcripts as they grow.
//!
//! A file that changes is read on within a second. What was written before transcripts were followed is left to
//! `lore import`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lore::paths::our_uid;
use lored_hosts::Host;
use lored_hosts::config::{SETUPS, setup};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::TranscriptCursors;
use super::files::{self, FoundFile, SearchedFolder, find};
use super::recording::{ReadCounts, Recorder};
use super::watched_folders::TranscriptFolders;
use crate::capture::Capture;
use crate::error::Refusal;
use crate::log::Actor;
use crate::operation::{Caller, Context, blocking};
use crate::watch::{self, Change, Times, WatchHandle};

/// Delay after a start: the store is served first.
const AFTER_START: Duration = Duration::from_secs(2);
/// A file that is written all the time is read on after the longer one of these.
const TIMES: Times = Times {
    quiet: Duration::from_millis(150),
    longest: Duration::from_millis(600),
    poll: Duration::from_secs(5),
};
/// Time for one file before the next one has its turn.
const TURN: Duration = Duration::from_millis(300);
/// Delay after a write that failed.
const AGAIN: Duration = Duration::from_secs(5);
/// Bytes of a host's settings that are read.
const SETTINGS_BYTES_MAX: u64 = 4 << 20;
/// The word in the settings for those hosts that lore is set up for.
const SET_UP: &str = "set-up";

/// The hosts whose transcripts are followed, as `[follow]` in the settings says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowedHosts {
    /// Whether those are that lore is set up for.
    set_up: bool,
    named: Vec<Host>,
}

impl Default for FollowedHosts {
    fn default() -> Self {
        Self {
            set_up: true,
            named: Vec::new(),
        }
    }
}

impl FollowedHosts {
    /// Reads the names of hosts.
    ///
    /// # Errors
    /// The name that is not known.
    pub fn named(names: &[String]) -> Result<Self, String> {
        let mut followed = Self {
            set_up: false,
            named: Vec::new(),
        };
        for name in names {
            match (name.as_str(), Host::from_name(name)) {
                (SET_UP, _) => followed.set_up = true,
                (_, host) if Self::names().any(|known| known == host.name()) => {
                    followed.named.push(host);
                }
                _ => return Err(name.clone()),
            }
        }
        Ok(followed)
    }

    /// Returns the names of hosts that have transcripts.
    pub fn names() -> impl Iterator<Item = &'static str> {
        files::hosts().map(Host::name)
    }

    /// Returns the hosts that are followed in a home folder.
    fn hosts(&self, home: &Path) -> Vec<Host> {
        let set_up = SETUPS.iter().map(|setup| setup.host);
        let set_up = set_up.filter(|host| self.set_up && is_set_up(home, *host));
        let hosts: BTreeSet<Host> = set_up.chain(self.named.iter().copied()).collect();
        hosts.into_iter().collect()
    }
}

/// Whether the user's settings of a host name lore's hooks.
fn is_set_up(home: &Path, host: Host) -> bool {
    let Some(setup) = setup(host) else {
        return false;
    };
    let file = home.join(setup.user_file);
    let is_small = std::fs::metadata(&file).is_ok_and(|found| found.len() <= SETTINGS_BYTES_MAX);
    if !is_small {
        return false;
    }
    let text = std::fs::read(file);
    let sought = match setup.entries.first() {
        Some(entry) => entry.command,
        // A plugin of our own.
        None => "lore",
    };
    text.is_ok_and(|text| memchr::memmem::find(&text, sought.as_bytes()).is_some())
}

/// Follows transcripts until the daemon stops.
pub async fn run(context: Arc<Context>) {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let home = home.filter(|home| home.is_absolute());
    let home = home.and_then(|home| watch::real(&home).ok());
    let Some(home) = home else { return };
    tokio::time::sleep(AFTER_START).await;
    loop {
        if let Err(refusal) = follow(&context, &home).await {
            tracing::warn!(%refusal, "transcripts are not followed; trying again");
            tokio::time::sleep(AGAIN).await;
        }
    }
}

/// Follows the hosts that are set up now, until others are.
async fn follow(cx: &Arc<Context>, home: &Path) -> Result<(), Refusal> {
    let capture = Capture::of(cx)?;
    let mut changes = capture.host_sessions.changes();
    let hosts = hosts(cx, home).await?;
    let mut following = match hosts.is_empty() {
        true => None,
        false => Some(Following::begin(cx, home, &hosts).await?),
    };
    loop {
        let change = tokio::select! {
            // A host that is new may have been set up since.
            Ok(()) = changes.changed() => {
                if self::hosts(cx, home).await? != hosts {
                    return Ok(());
                }
                None
            }
            change = Following::next(&mut following) => change,
        };
        if let Some(following) = &mut following {
            if let Some(change) = change {
                following.note(change).await;
            }
            following.read_waiting().await?;
        }
    }
}

async fn hosts(cx: &Arc<Context>, home: &Path) -> Result<Vec<Host>, Refusal> {
    let (cx, home) = (Arc::clone(cx), home.to_owned());
    blocking(move || {
        let followed = cx.extensions.get::<FollowedHosts>();
        Ok(followed.map_or(Vec::new(), |followed| followed.hosts(&home)))
    })
    .await
}

/// Hosts that are followed.
struct Following {
    recorder: Recorder,
    home: PathBuf,
    hosts: Vec<Host>,
    folders: TranscriptFolders,
    changes: UnboundedReceiver<Change<PathBuf>>,
    /// Files that are to be read on.
    waiting: BTreeSet<PathBuf>,
    /// What was changed before is not followed.
    since_ms: i64,
    _watch: WatchHandle,
}

impl Following {
    /// Watches the folders, and finds what was written since the daemon followed last.
    async fn begin(cx: &Arc<Context>, home: &Path, hosts: &[Host]) -> Result<Self, Refusal> {
        let (sender, changes) = unbounded_channel();
        let on_change = move |change| drop(sender.send(change));
        let folders = TranscriptFolders::new(home.to_owned(), hosts);
        let watched = TranscriptFolders::new(home.to_owned(), hosts);
        let shared = Arc::clone(cx);
        let started_ms = i64::try_from(cx.started / 1000).unwrap_or(i64::MAX);
        let (watch, since_ms) = blocking(move || {
            let watch = WatchHandle::start(watched, TIMES, on_change);
            let watch = watch.map_err(|error| Refusal::invalid(error.to_string()))?;
            let cursors = shared.extensions.get::<TranscriptCursors>();
            Ok((
                watch,
                cursors.map_or(started_ms, |cursors| cursors.since(started_ms)),
            ))
        })
        .await?;
        let caller = Caller {
            actor: Arc::new(Actor {
                uid: our_uid(),
                client: concat!("lored/", env!("CARGO_PKG_VERSION")).to_owned(),
                ..Actor::default()
            }),
            ..Caller::default()
        };
        let mut following = Self {
            recorder: Recorder::following(cx, &caller),
            home: home.to_owned(),
            hosts: hosts.to_vec(),
            folders,
            changes,
            waiting: BTreeSet::new(),
            since_ms,
            _watch: watch,
        };
        following.rescan().await?;
        Ok(following)
    }

    /// Finds all files that changed since they are followed.
    async fn rescan(&mut self) -> Result<(), Refusal> {
        let folder = SearchedFolder {
            path: self.home.clone(),
            host: None,
        };
        let hosts = self.hosts.clone();
        let found = blocking(move || {
            let found = hosts.iter().flat_map(|host| find(*host, &folder).files);
            Ok(found.collect::<Vec<_>>())
        })
        .await?;
        let changed = found
            .into_iter()
            .filter(|file| file.modified_ms >= self.since_ms);
        self.waiting.extend(changed.map(|file| file.path));
        Ok(())
    }

    /// Waits for the next change, unless files wait. Nothing is lost if the wait is given up.
    async fn next(following: &mut Option<Self>) -> Option<Change<PathBuf>> {
        let Some(following) = following else {
            return std::future::pending().await;
        };
        if !following.waiting.is_empty() {
            return None;
        }
        match following.changes.recv().await {
            Some(change) => Some(change),
            None => std::future::pending().await,
        }
    }

    async fn note(&mut self, change: Change<PathBuf>) {
        match change {
            Change::Written(path) => drop(self.waiting.insert(path)),
            // What is gone was read as far as it was there.
            Change::Removed(_) => {}
            Change::Rescan => {
                if let Err(refusal) = self.rescan().await {
                    tracing::warn!(%refusal, "transcripts were not looked at");
                }
            }
        }
    }

    /// Reads on the files that wait, each for a while.
    async fn read_waiting(&mut self) -> Result<(), Refusal> {
        while let Ok(change) = self.changes.try_recv() {
            self.note(change).await;
        }
        for path in std::mem::take(&mut self.waiting) {
            let Some(host) = self.folders.host_of(&path) else {
                continue;
            };
            let at = path.clone();
            let file = blocking(move || Ok(FoundFile::at(host, &at))).await?;
            let Ok(file) = file.inspect_err(|reason| {
                tracing::debug!(path = %path.display(), reason, "a transcript was not read");
            }) else {
                continue;
            };
            let mut counts = ReadCounts::default();
            match self
                .recorder
                .read(&file, Instant::now() + TURN, &mut counts)
                .await
            {
                Ok(true) => {}
                Ok(false) => drop(self.waiting.insert(path)),
                Err(refusal) => {
                    tracing::warn!(path = %path.display(), %refusal, "a transcript was not read on");
                    if refusal.code.retryable() {
                        self.waiting.insert(path);
                        tokio::time::sleep(AGAIN).await;
                    }
                }
            }
        }
        Ok(())
    }
}
