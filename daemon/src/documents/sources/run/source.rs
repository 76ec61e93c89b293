//! The state of one followed source: its scope, its watch, and its pending work.

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

/// Interval for checking missing sources, and for scanning sources that cannot be watched.
pub const POLL: Duration = Duration::from_secs(30);
/// Time that new files wait for a report that they were moved.
const PUT_OFF: Duration = Duration::from_millis(1200);
/// Delay before files that are written all the time are tried again.
const UNSETTLED: Duration = Duration::from_secs(5);

/// A change in a source, with the source's id.
pub type SourceUpdate = (String, Change<String>);

/// A followed source.
pub struct Source {
    /// Settings of the source.
    pub row: Arc<SourceRow>,
    /// Scope of the source, if it exists.
    pub reach: Option<Arc<SourceScope>>,
    watch: Option<WatchHandle>,
    /// Whether the source was a single file when it last existed.
    is_file: bool,
    /// Reason why the source does not exist.
    pub trouble: Option<String>,
    /// Next time to check whether the source exists or can be watched.
    poll_at: Option<Instant>,
    /// Paths to scan now.
    pub now: PathSet,
    /// Paths to scan at `late_at`, including new files.
    late: PathSet,
    late_at: Option<Instant>,
    /// Whether failed files are tried again.
    pub retry: bool,
    /// Work in progress, the newest last.
    pub works: Vec<ScanWork>,
    /// Binary files, with their fingerprints when they were read.
    pub skipped: BTreeMap<String, FileFingerprint>,
}

impl Source {
    /// Creates a source whose scan is pending for all of its paths.
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

    /// Reports whether there is work to do now.
    pub fn is_busy(&self, now: Instant) -> bool {
        !self.now.is_empty() || !self.works.is_empty() || self.late_at.is_some_and(|at| at <= now)
    }

    /// Returns the time of the next work if no change is reported before.
    pub fn due(&self) -> Option<Instant> {
        self.late_at.into_iter().chain(self.poll_at).min()
    }

    /// Reports whether it is time to check whether the source exists or can be watched.
    pub fn is_poll_due(&self, now: Instant) -> bool {
        self.poll_at.is_some_and(|at| at <= now)
    }

    /// Adds the paths of a change to the next scan.
    pub fn on_change(&mut self, change: Change<String>) {
        match change {
            Change::Written(place) | Change::Removed(place) => self.now.add(place),
            Change::Rescan => self.now = PathSet::all(),
        }
    }

    /// Scans these paths again after a short delay.
    pub fn put_off(&mut self, places: PathSet) {
        self.late.add_all(places);
        let at = Instant::now() + PUT_OFF;
        self.late_at = Some(self.late_at.map_or(at, |earlier| earlier.min(at)));
    }

    /// Reports whether paths are postponed.
    pub fn is_waiting(&self) -> bool {
        self.late_at.is_some()
    }

    /// Scans a file again when its writes may have ended.
    pub fn unsettled(&mut self, path: String) {
        self.late.add(path);
        let at = Instant::now() + UNSETTLED;
        self.late_at = Some(self.late_at.map_or(at, |earlier| earlier.min(at)));
    }

    /// Takes the paths to scan now, and whether new files in them are postponed.
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

    /// Returns the activity that `status` reports.
    pub fn doing(&self) -> SourceActivity {
        match (&self.reach, self.works.is_empty(), self.now.is_empty()) {
            (None, ..) if self.trouble.is_some() => SourceActivity::Missing,
            (_, false, _) => SourceActivity::TakingIn,
            (_, true, false) => SourceActivity::Scanning,
            (_, true, true) => SourceActivity::Idle,
        }
    }

    /// Returns the number of files still to be processed.
    pub fn left(&self) -> u64 {
        self.works.iter().map(|work| work.tasks.len() as u64).sum()
    }

    /// Describes whether changes are watched.
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
    /// Applies the result of opening. Returns a watch that is no longer needed, because ending it can block.
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
                // The watch of a file's folder reports when the file exists again.
                self.watch.take_if(|_| !self.is_file)
            }
        }
    }

    /// Reports whether the source is watched.
    pub fn is_watched(&self) -> bool {
        self.watch.is_some()
    }

    /// Takes the watch out of the source.
    pub fn take_watch(&mut self) -> Option<WatchHandle> {
        self.watch.take()
    }
}

/// Result of opening a source.
pub struct OpenResult {
    pub reach: Result<SourceScope, SourceError>,
    pub watch: Option<WatchHandle>,
}

/// Resolves the scope of a source and watches it. Blocks for a time in proportion to the number of folders.
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
            // If the receiver is gone, its successor scans everything again.
            let _ = sender.send((id.clone(), change));
        });
        let failed = |error| tracing::warn!(%error, "no thread for watching documents");
        watch.map_err(failed).ok()
    });
    OpenResult { reach, watch }
}
