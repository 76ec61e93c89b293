//! Keeps the documents of sources in sync with their files: scans at the start and on request, watches in
//! between, and processes one file after the other.
//!
//! A scan result is only a hint: each file is read and compared with the log when it is processed. So a crash
//! never repeats a recorded change, and the next scan finds the unrecorded ones.

mod file;
mod scan_plan;
mod source;
mod writes;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::Instant;

use super::PathSet;
use crate::documents::feature::{Documents, ScanRequest, SourceActivity, SourceProgress};
use crate::documents::view;
use crate::error::{Code, Refusal};
use crate::events::documents::{DocumentEvent, DocumentRemoved, IngestFailureCleared};
use crate::log::Hash;
use crate::operation::{Context, blocking};
use crate::state::State;
use crate::watch::WatchHandle;
use file::{File, Outcome};
use scan_plan::{ScanPlan, ScanWork, Task};
use source::{Source, SourceUpdate, open};
use writes::PendingWrites;

/// Files of a source that are processed before the next source's turn.
const FILES_A_TURN: usize = 32;
/// Limit on the unreadable parts that are reported.
const TROUBLES_TOLD_MAX: usize = 20;
/// Delay before a restart after a failure.
const AGAIN: Duration = Duration::from_secs(2);

/// Follows all sources until it is dropped.
pub async fn run(cx: Arc<Context>) {
    loop {
        let failed = match SourceRunner::new(&cx).await {
            Ok(mut intake) => intake.follow().await,
            Err(refusal) => refusal,
        };
        tracing::warn!(%failed, "documents are not taken in");
        tokio::time::sleep(AGAIN).await;
    }
}

/// All sources, and their pending writes to the log.
struct SourceRunner {
    cx: Arc<Context>,
    sources: BTreeMap<String, Source>,
    /// Id of the source that had the last turn.
    last: String,
    sender: UnboundedSender<SourceUpdate>,
    changes: UnboundedReceiver<SourceUpdate>,
    writes: PendingWrites,
}

impl SourceRunner {
    async fn new(cx: &Arc<Context>) -> Result<Self, Refusal> {
        let (sender, changes) = mpsc::unbounded_channel();
        let mut intake = Self {
            cx: Arc::clone(cx),
            sources: BTreeMap::new(),
            last: String::new(),
            sender,
            changes,
            writes: PendingWrites::new(cx),
        };
        intake.know().await?;
        Ok(intake)
    }

    /// Follows the sources until a failure, and returns it.
    async fn follow(&mut self) -> Refusal {
        let cx = Arc::clone(&self.cx);
        let room = match Documents::of(&cx) {
            Ok(room) => room,
            Err(refusal) => return refusal,
        };
        loop {
            let now = Instant::now();
            let next = self.next(now);
            let due = self.sources.values().filter_map(Source::due).min();
            let rest = async {
                match (&next, due) {
                    (Some(_), _) => {}
                    (None, Some(due)) => tokio::time::sleep_until(due).await,
                    (None, None) => std::future::pending().await,
                }
            };
            let done = tokio::select! {
                biased;
                wanted = room.requested() => self.want(wanted).await,
                Some((id, change)) = self.changes.recv() => {
                    self.on_change(&id, change);
                    Ok(())
                }
                () = rest => match next {
                    Some(id) => self.turn(&id).await,
                    None => self.look_for_missing().await,
                },
            };
            if let Err(refusal) = done {
                return refusal;
            }
        }
    }

    /// Returns the next source that has work to do.
    fn next(&self, now: Instant) -> Option<String> {
        let busy = |(_, source): &(&String, &Source)| source.is_busy(now);
        let after = self.sources.range(self.last.clone()..);
        let mut after = after.filter(|(id, _)| **id != self.last).filter(busy);
        let first = after.next().or_else(|| self.sources.iter().find(busy));
        first.map(|(id, _)| id.clone())
    }

    fn on_change(&mut self, id: &str, change: crate::watch::Change<String>) {
        if let Some(source) = self.sources.get_mut(id) {
            source.on_change(change);
        }
    }

    async fn want(&mut self, wanted: ScanRequest) -> Result<(), Refusal> {
        if wanted.changed {
            self.know().await?;
        }
        for id in wanted.sources {
            if let Some(source) = self.sources.get_mut(&id) {
                source.now = PathSet::all();
                source.retry |= wanted.retry.contains(&id);
                // Binary files are read again, too.
                source.skipped.clear();
                self.show(&id);
            }
        }
        Ok(())
    }

    /// Loads the sources and their settings.
    async fn know(&mut self) -> Result<(), Refusal> {
        let state = State::live(&self.cx, None).await?;
        let mut rows = blocking(move || Ok(view::sources(&state)?)).await?;
        // Sources of sent documents have nothing to scan.
        rows.retain(|(_, row)| !row.added.sent);
        let mut before = std::mem::take(&mut self.sources);
        for (id, row) in rows {
            let same = before.remove(&id).filter(|it| *it.row == row);
            self.sources
                .insert(id, same.unwrap_or_else(|| Source::new(row)));
        }
        // Sources that were removed or reconfigured.
        let watches = before.into_values().filter_map(|mut it| it.take_watch());
        end(watches.collect());
        let ids: Vec<String> = self.sources.keys().cloned().collect();
        for id in &ids {
            self.show(id);
        }
        let room = Documents::of(&self.cx)?;
        room.progress().retain(|id, _| ids.contains(id));
        Ok(())
    }

    /// Runs the next step of a source: scans paths, or processes some files.
    async fn turn(&mut self, id: &str) -> Result<(), Refusal> {
        self.last = id.to_owned();
        let places = self.sources.get_mut(id).and_then(Source::take_places);
        match places {
            Some((places, waits)) => self.scan_plan(id, places, waits).await?,
            None => self.files(id).await?,
        }
        self.show(id);
        Ok(())
    }

    /// Scans paths of a source.
    async fn scan_plan(&mut self, id: &str, places: PathSet, waits: bool) -> Result<(), Refusal> {
        // The scan must see all pending writes.
        self.writes.flush().await?;
        if !self.open(id).await? {
            return Ok(());
        }
        let Some(source) = self.sources.get_mut(id) else {
            return Ok(());
        };
        let Some(reach) = source.reach.clone() else {
            return Ok(());
        };
        let (row, is_whole) = (Arc::clone(&source.row), places.is_all());
        let retry = is_whole && std::mem::take(&mut source.retry);
        let skipped = std::mem::take(&mut source.skipped);
        let others_wait = source.is_waiting();
        let state = State::live(&self.cx, None).await?;
        let of = id.to_owned();
        let (work, skipped) = blocking(move || {
            let scan_plan = ScanPlan {
                source: &of,
                row: &row,
                reach: &reach,
                skipped: &skipped,
                retry,
                put_off: waits,
                others_wait,
            };
            let work = scan_plan.of(state, places)?;
            Ok((work, skipped))
        })
        .await?;
        let Some(source) = self.sources.get_mut(id) else {
            return Ok(());
        };
        source.skipped = skipped;
        if work.is_put_off {
            source.put_off(work.places.clone());
        }
        if is_whole {
            let troubles = work.troubles.iter().take(TROUBLES_TOLD_MAX);
            let troubles = troubles.map(|it| format!("{}: {}", it.path, it.reason));
            let room = Documents::of(&self.cx)?;
            let mut all = room.progress();
            let progress = all.entry(id.to_owned()).or_default();
            progress.found = Some(work.found);
            progress.warnings = troubles.collect();
        }
        source.works.push(work);
        Ok(())
    }

    /// Resolves the scope of a source and watches it. Returns whether the source exists.
    async fn open(&mut self, id: &str) -> Result<bool, Refusal> {
        let Some(source) = self.sources.get(id) else {
            return Ok(false);
        };
        let (of, row, cx) = (id.to_owned(), Arc::clone(&source.row), Arc::clone(&self.cx));
        let (is_watched, sender) = (source.is_watched(), self.sender.clone());
        let was_there = source.reach.is_some();
        let opened = blocking(move || Ok(open(&cx, &of, &row, is_watched, &sender))).await?;
        let Some(source) = self.sources.get_mut(id) else {
            return Ok(false);
        };
        end(source.opened(opened).into_iter().collect());
        let is_there = source.reach.is_some();
        if !is_there {
            source.works.clear();
            if was_there {
                tracing::warn!(
                    source = id,
                    "{}",
                    source.trouble.as_deref().unwrap_or_default()
                );
            }
            self.file_gone(id).await?;
        }
        Ok(is_there)
    }

    /// Removes the document of a single-file source if the file is missing but its folder exists.
    async fn file_gone(&mut self, id: &str) -> Result<(), Refusal> {
        let Some(source) = self.sources.get(id) else {
            return Ok(());
        };
        let (of, row) = (id.to_owned(), Arc::clone(&source.row));
        let state = State::live(&self.cx, None).await?;
        let gone = blocking(move || {
            let path = Path::new(&row.added.path);
            let name = path.file_name().and_then(|name| name.to_str());
            let is_gone = !path.exists() && path.parent().is_some_and(Path::is_dir);
            let mut known = view::paths(&state, &of)?;
            let is_file = known.len() == 1 && known.first().map(|(path, _)| &**path) == name;
            Ok(known.pop().filter(|_| is_gone && is_file))
        })
        .await?;
        let gone = gone.map(|(_, document)| DocumentEvent::Removed(DocumentRemoved { document }));
        self.writes.note(id, gone.into_iter().collect()).await
    }

    /// Processes the next files of a source.
    async fn files(&mut self, id: &str) -> Result<(), Refusal> {
        for _ in 0..FILES_A_TURN {
            let Some(source) = self.sources.get_mut(id) else {
                return Ok(());
            };
            let Some(work) = source.works.last_mut() else {
                return Ok(());
            };
            let Some(task) = work.tasks.pop_front() else {
                return self.finish(id).await;
            };
            self.file(id, task).await?;
        }
        Ok(())
    }

    /// Processes one file and records the result.
    async fn file(&mut self, id: &str, task: Task) -> Result<(), Refusal> {
        let Some(source) = self.sources.get_mut(id) else {
            return Ok(());
        };
        let Some(reach) = source.reach.clone() else {
            return Ok(());
        };
        let (path, stamp) = (task.path.clone(), task.stamp);
        let mut moved = task.moved.clone();
        let file = Arc::new(File {
            source: id.to_owned(),
            row: Arc::clone(&source.row),
            base: reach.base().to_path_buf(),
            task,
        });
        let (of, cx) = (Arc::clone(&file), Arc::clone(&self.cx));
        let state = State::live(&cx, None).await?;
        let looked = blocking(move || of.inspect(&cx, state)).await?;
        if let (Ok(content), None, None) = (&looked.read, &moved, &looked.document) {
            moved = source.claim(content.hash, reach.base());
        }
        let (of, cx) = (Arc::clone(&file), Arc::clone(&self.cx));
        let outcome = match blocking(move || of.decide(&cx, looked, moved)).await {
            // An internal error with one file must not block the others.
            Err(refusal) if refusal.code == Code::Internal => {
                tracing::error!(path = file.task.path, %refusal, "a file was not taken in");
                file.failed(refusal.message, stamp)
            }
            other => other?,
        };
        match outcome {
            Outcome::Nothing => Ok(()),
            Outcome::Take(command) => self.writes.take(*command).await,
            Outcome::Notes(notes) => self.writes.note(id, notes).await,
            Outcome::Skipped(notes) => {
                source.skipped.insert(path, stamp);
                self.writes.note(id, notes).await
            }
            Outcome::Later => {
                source.unsettled(path);
                Ok(())
            }
        }
    }

    /// Completes a scan after its last file: documents that no file claimed are removed.
    async fn finish(&mut self, id: &str) -> Result<(), Refusal> {
        self.writes.flush().await?;
        let Some(source) = self.sources.get_mut(id) else {
            return Ok(());
        };
        let Some(work) = source.works.pop() else {
            return Ok(());
        };
        for path in &work.forgotten {
            source.skipped.remove(path);
        }
        if work.places.is_all() && !work.is_put_off {
            let room = Documents::of(&self.cx)?;
            let mut all = room.progress();
            let progress = all.entry(id.to_owned()).or_default();
            progress.scanned_at = Some(self.cx.engine.clock().now());
        }
        let state = State::live(&self.cx, None).await?;
        let of = id.to_owned();
        let notes = blocking(move || removed(&state, &of, work)).await?;
        self.writes.note(id, notes).await
    }

    /// Checks whether missing sources exist again, when nothing else is to be done.
    async fn look_for_missing(&mut self) -> Result<(), Refusal> {
        let now = Instant::now();
        let missing = self.sources.iter().filter(|(_, it)| it.is_poll_due(now));
        let missing: Vec<String> = missing.map(|(id, _)| id.clone()).collect();
        for id in missing {
            if self.open(&id).await?
                && let Some(source) = self.sources.get_mut(&id)
            {
                source.now = PathSet::all();
            }
            self.show(&id);
        }
        Ok(())
    }

    /// Publishes the progress of a source.
    fn show(&self, id: &str) {
        let (Some(source), Ok(room)) = (self.sources.get(id), Documents::of(&self.cx)) else {
            return;
        };
        let is_wanted = room.is_wanted(id);
        let mut all = room.progress();
        let progress: &mut SourceProgress = all.entry(id.to_owned()).or_default();
        progress.doing = match source.doing() {
            SourceActivity::Idle if is_wanted => SourceActivity::Scanning,
            doing => doing,
        };
        progress.left = source.left();
        progress.watching = source.watching();
        if progress.doing == SourceActivity::Missing {
            progress.warnings = source.trouble.iter().cloned().collect();
        }
    }
}

impl Source {
    /// Claims a lost document that had these bytes from the pending scans.
    fn claim(&mut self, hash: Hash, base: &Path) -> Option<String> {
        // The path may have been reused by another file, or be excluded while its file still exists.
        let is_gone = |path: &str| base.join(path).symlink_metadata().is_err();
        let mut lost = self.works.iter_mut().rev().map(|work| &mut work.lost);
        let (_, document) = lost.find_map(|lost| lost.claim(hash, is_gone))?;
        Some(document.id)
    }
}

/// Lists the removals after a scan, except for documents that have changed since then.
fn removed(state: &State, source: &str, work: ScanWork) -> Result<Vec<DocumentEvent>, Refusal> {
    let mut notes = Vec::new();
    for (path, lost) in work.lost.rest() {
        let row = view::document(state, &lost.id)?;
        if row.is_some_and(|row| row.taken.path == path && row.taken.stamp == lost.stamp) {
            notes.push(DocumentEvent::Removed(DocumentRemoved {
                document: lost.id,
            }));
            if view::failure(state, source, &path)?.is_some() {
                notes.push(DocumentEvent::FailureCleared(IngestFailureCleared { path }));
            }
        }
    }
    for path in work.forgotten {
        if view::failure(state, source, &path)?.is_some() {
            notes.push(DocumentEvent::FailureCleared(IngestFailureCleared { path }));
        }
    }
    Ok(notes)
}

/// Ends watches on a blocking thread, because each waits for its own thread.
fn end(watches: Vec<WatchHandle>) {
    if !watches.is_empty() {
        tokio::task::spawn_blocking(move || drop(watches));
    }
}
