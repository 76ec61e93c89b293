//! One source as it is being followed: what it means, whether it is watched, and what is to be done.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;

use super::scan_plan::ScanWork;
use crate::documents::feature::SourceActivity;
use crate::documents::scope::scope;
use crate::documents::sources::{
    FileFingerprint, PathSet, SourceError, SourceScope, WatchedFolders,
};
use crate::documents::view::SourceRow;
use crate::operation::Context;
use crate::watch::{Change, Status, Times, WatchHandle};

/// How often it is looked whether a source that is missing is there, and whether one that cannot be
/// watched has changed.
pub const POLL: Duration = Duration::from_secs(30);
/// How long new files wait for word that they were moved.
const PUT_OFF: Duration = Duration::from_millis(1200);
/// When files that are written to all the time are tried again.
const UNSETTLED: Duration = Duration::from_secs(5);

/// A change in a source, by the source's id.
pub type SourceUpdate = (String, Change<String>);

/// A source as it is being followed.
pub struct Source {
    /// Its settings.
    pub row: Arc<SourceRow>,
    /// What it means, when it is there.
    pub reach: Option<Arc<SourceScope>>,
    watch: Option<WatchHandle>,
    /// Whether it was one file when it was there last.
    is_file: bool,
    /// Why it is not there.
    pub trouble: Option<String>,
    /// When it is looked whether it is back, or can be watched.
    poll_at: Option<Instant>,
    /// Places to be looked through now.
    pub now: PathSet,
    /// Places to be looked through then, new files included.
    late: PathSet,
    late_at: Option<Instant>,
    /// Whether files that failed are tried again.
    pub retry: bool,
    /// What is being done, the newest last.
    pub works: Vec<ScanWork>,
    /// Binary files, as they were when that was seen.
    pub skipped: BTreeMap<String, FileFingerprint>,
}

impl Source {
    /// To be looked through as a whole.
    pub fn new(row: SourceRow) -> Self {
        Self {
            row: Arc::new(row),
            reach: None,
            watch: None,
            is_file: false,
            trouble: None,
            poll_at: None,
            now: PathSet::all(),
            late: PathSet::default(),
            late_at: None,
            retry: false,
            works: Vec::new(),
            skipped: BTreeMap::new(),
        }
    }

    /// Whether there is something to do now.
    pub fn is_busy(&self, now: Instant) -> bool {
        !self.now.is_empty() || !self.works.is_empty() || self.late_at.is_some_and(|at| at <= now)
    }

    /// When there is something to do next, if nobody tells of anything before.
    pub fn due(&self) -> Option<Instant> {
        self.late_at.into_iter().chain(self.poll_at).min()
    }

    /// Whether it is time to look whether it is back, or can be watched.
    pub fn is_poll_due(&self, now: Instant) -> bool {
        self.poll_at.is_some_and(|at| at <= now)
    }

    /// Takes up a change.
    pub fn on_change(&mut self, change: Change<String>) {
        match change {
            Change::Written(place) | Change::Removed(place) => self.now.add(place),
            Change::Rescan => self.now = PathSet::all(),
        }
    }

    /// Looks at these places again in a moment.
    pub fn put_off(&mut self, places: PathSet) {
        self.late.add_all(places);
        let at = Instant::now() + PUT_OFF;
        self.late_at = Some(self.late_at.map_or(at, |earlier| earlier.min(at)));
    }

    /// Whether places wait to be looked at again.
    pub fn is_waiting(&self) -> bool {
        self.late_at.is_some()
    }

    /// Looks at a file again once it may have settled.
    pub fn unsettled(&mut self, path: String) {
        self.late.add(path);
        let at = Instant::now() + UNSETTLED;
        self.late_at = Some(self.late_at.map_or(at, |earlier| earlier.min(at)));
    }

    /// The places to be looked through now, and whether new files in them are to wait.
    pub fn take_places(&mut self) -> Option<(PathSet, bool)> {
        let is_late = self.late_at.take_if(|at| *at <= Instant::now()).is_some();
        if is_late {
            let mut places = std::mem::take(&mut self.late);
            places.add_all(std::mem::take(&mut self.now));
            return Some((places, false));
        }
        let places = std::mem::take(&mut self.now);
        let waits = !places.is_all();
        (!places.is_empty()).then_some((places, waits))
    }

    /// What `status` shows.
    pub fn doing(&self) -> SourceActivity {
        match (&self.reach, self.works.is_empty(), self.now.is_empty()) {
            (None, ..) if self.trouble.is_some() => SourceActivity::Missing,
            (_, false, _) => SourceActivity::TakingIn,
            (_, true, false) => SourceActivity::Scanning,
            (_, true, true) => SourceActivity::Idle,
        }
    }

    /// Files that are still to be looked at.
    pub fn left(&self) -> u64 {
        self.works.iter().map(|work| work.tasks.len() as u64).sum()
    }

    /// Whether changes are seen, in a few words.
    pub fn watching(&self) -> String {
        match &self.watch {
            _ if !self.row.added.watch => "no: `rescan` looks for changes".to_owned(),
            None => format!("no: it is looked for every {} s", POLL.as_secs()),
            Some(watch) => match watch.status() {
                Status::Watching => "yes".to_owned(),
                Status::Polling(why) => format!("no: {why}"),
            },
        }
    }
    /// Takes up what opening came to. A watch that is not needed any more is given back, to be ended where
    /// nobody waits for that.
    pub fn opened(&mut self, opened: OpenResult) -> Option<WatchHandle> {
        match opened.reach {
            Ok(reach) => {
                self.is_file = reach.is_file();
                self.reach = Some(Arc::new(reach));
                self.trouble = None;
                let before = opened.watch.and_then(|watch| self.watch.replace(watch));
                let is_unwatched = self.row.added.watch && self.watch.is_none();
                self.poll_at = is_unwatched.then(|| Instant::now() + POLL);
                before
            }
            Err(unusable) => {
                self.trouble = Some(unusable.to_string());
                self.reach = None;
                self.poll_at = Some(Instant::now() + POLL);
                // A file may be back at any moment: its folder tells of it.
                self.watch.take_if(|_| !self.is_file)
            }
        }
    }

    /// Whether it is watched already.
    pub fn is_watched(&self) -> bool {
        self.watch.is_some()
    }

    /// Gives its watch away.
    pub fn take_watch(&mut self) -> Option<WatchHandle> {
        self.watch.take()
    }
}

/// What opening a source came to.
pub struct OpenResult {
    pub reach: Result<SourceScope, SourceError>,
    pub watch: Option<WatchHandle>,
}

/// Finds out what a source means, and watches it. Blocks for as long as its folders are many.
pub fn open(
    cx: &Context,
    id: &str,
    row: &SourceRow,
    is_watched: bool,
    sender: &UnboundedSender<SourceUpdate>,
) -> OpenResult {
    let added = &row.added;
    let reach = scope(cx, added).and_then(|reach| reach.still_at(Path::new(&added.path)));
    let wanted = reach.as_ref().ok().filter(|_| added.watch && !is_watched);
    let watch = wanted.and_then(|reach| {
        let (sender, id) = (sender.clone(), id.to_owned());
        let times = Times {
            poll: POLL,
            ..Times::default()
        };
        let watch = WatchHandle::start(WatchedFolders::new(reach.clone()), times, move |change| {
            // Whoever does not listen any more looks at everything anew.
            let _ = sender.send((id.clone(), change));
        });
        let failed = |error| tracing::warn!(%error, "no thread for watching documents");
        watch.map_err(failed).ok()
    });
    OpenResult { reach, watch }
}
