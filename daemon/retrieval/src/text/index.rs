//! The index: in-memory segments over flushed ones, and the operations on both.

use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::analyser::Analyser;
use super::error::{Error, contained};
use super::indexed_text::{Change, Class, IndexedText, Kind};
use super::memory_segment::{AnalysedText, MemorySegment, WordsBefore};
use super::postings::{CorpusCounts, LivePart, PostingsPart, Removals, UnitMask, View};
use super::search::{self, Query, ScoreAccumulator, Terms, TextHits};
use super::segment_store::{Deletions, Segment, SegmentStore};
use super::selection::{Filter, Selection};

/// A text index in a folder, for use from many threads. A search never waits for a flush, only for the moment in
/// which units are added or removed.
pub struct TextIndex {
    shelf: SegmentStore,
    state: RwLock<State>,
    /// Serializes flushes.
    settling: Mutex<()>,
    /// Pooled buffers of searches and additions.
    tools: Mutex<Vec<Tools>>,
}

/// The segments, from old to new.
struct State {
    segments: Vec<LivePart<Segment>>,
    /// Segments that a flush is writing, or could not write earlier.
    frozen: Vec<LivePart<MemorySegment>>,
    fresh: LivePart<MemorySegment>,
    /// Log position up to which events are applied.
    position: u64,
    /// Log position up to which the index is on disk.
    settled: u64,
    /// Keys removed since the current flush began.
    removed: Vec<u64>,
}

#[derive(Default)]
struct Tools {
    analyser: Analyser,
    before: WordsBefore,
    accumulator: ScoreAccumulator,
}

/// Size of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of units of each kind, in the order of [`Kind::ALL`].
    pub kinds: [u64; Kind::ALL.len()],
    /// Number of units that are in memory only.
    pub fresh_units: u64,
    /// Estimated memory of the in-memory units, in bytes.
    pub fresh_bytes: u64,
    /// Number of segments on disk.
    pub segments: u64,
}

impl Counts {
    /// Returns the number of units.
    pub fn units(&self) -> u64 {
        self.kinds.iter().sum()
    }
}

impl TextIndex {
    /// Opens the index in `folder`, or creates an empty one if there is none. `version` is the caller's version of how
    /// it makes units.
    ///
    /// # Errors
    /// After [`Error::OtherVersion`] and [`Error::Damaged`], delete the folder first.
    /// [`Error::Failed`]: the folder cannot be read or written.
    pub fn open(folder: &Path, version: u32) -> Result<Self, Error> {
        contained(|| {
            let shelf = SegmentStore::open(folder, version)?;
            let position = shelf.position()?;
            let segments = shelf.segments(|_| false)?.new;
            let state = State {
                segments,
                frozen: Vec::new(),
                fresh: LivePart::empty(),
                position,
                settled: position,
                removed: Vec::new(),
            };
            Ok(Self {
                shelf,
                state: RwLock::new(state),
                settling: Mutex::new(()),
                tools: Mutex::new(Vec::new()),
            })
        })
    }

    /// Reads every file and compares it with its checksum: damage in a list of words would hide texts silently.
    ///
    /// # Errors
    /// [`Error::Damaged`] with the name of a damaged file; delete the folder.
    pub fn check_files(&self) -> Result<(), Error> {
        contained(|| self.shelf.check_files())
    }

    /// Returns the log position up to which events are applied.
    pub fn position(&self) -> u64 {
        self.read().position
    }

    /// Returns the log position up to which the index is on disk. After a crash, replay starts here.
    pub fn settled_position(&self) -> u64 {
        self.read().settled
    }

    /// Applies changes in order, atomically, and returns the keys that were removed, ascending. The log is then
    /// applied up to `position`. Applying the same changes again has no effect.
    pub fn apply(&self, changes: &[Change], position: u64) -> Result<Vec<u64>, Error> {
        let mut tools = self.tools();
        let mut prepared: Vec<AnalysedText> = changes
            .iter()
            .rev()
            .filter_map(|change| match change {
                Change::Add(addition) => Some(AnalysedText::of(
                    addition,
                    &mut tools.analyser,
                    &mut tools.before,
                )),
                Change::RemoveGroup { .. }
                | Change::RemoveSession { .. }
                | Change::RemovePosition { .. } => None,
            })
            .collect();
        self.put_back(tools);
        contained(|| {
            let mut state = self.write();
            let mut removed = Vec::new();
            let mut removals = Removals::default();
            for change in changes {
                match change {
                    Change::Add(addition) => {
                        let key = addition.unit.key;
                        if !removals.is_empty() && state.has(key) {
                            // A pending removal may apply to the existing unit.
                            state.remove(&std::mem::take(&mut removals), &mut removed);
                        }
                        if let Some(prepared) = prepared.pop()
                            && !state.has(key)
                        {
                            if !removals.is_empty() && removals.mean(prepared.unit()) {
                                state.remove(&std::mem::take(&mut removals), &mut removed);
                            }
                            state.fresh.add(prepared);
                        }
                    }
                    Change::RemoveGroup { group, before } => {
                        let known = removals.groups.entry(*group).or_default();
                        *known = (*known).max(*before);
                    }
                    // 0 means no session.
                    Change::RemoveSession { session: 0, .. } => {}
                    Change::RemoveSession { session, before } => {
                        let known = removals.sessions.entry(*session).or_default();
                        *known = (*known).max(*before);
                    }
                    Change::RemovePosition { position } => {
                        removals.positions.insert(*position);
                    }
                }
            }
            state.remove(&removals, &mut removed);
            state.position = state.position.max(position);
            removed.sort_unstable();
            Ok(removed)
        })
    }

    /// Writes the in-memory changes to disk, with their log position.
    ///
    /// This is slow and uses much CPU time; searches and changes continue meanwhile. A crash or an error leaves the
    /// previous durable position or the new one.
    ///
    /// # Errors
    /// Any [`Error`]. After [`Error::Unwritten`], all changes stay in memory and the next flush retries. After other
    /// errors, open the index again.
    pub fn flush(&self) -> Result<(), Error> {
        self.settle_with(Deletions::Many)
    }

    /// Flushes, and leaves no word of the units removed until now in any file. Errors are those of [`Self::flush`].
    pub fn purge(&self) -> Result<(), Error> {
        self.settle_with(Deletions::Any)
    }

    fn settle_with(&self, deletions: Deletions) -> Result<(), Error> {
        let _alone = self.settling.lock().unwrap_or_else(PoisonError::into_inner);
        contained(|| {
            let Some(work) = self.write().freeze(deletions) else {
                return Ok(());
            };
            let fresh: Vec<(&MemorySegment, &UnitMask)> = work
                .fresh
                .iter()
                .map(|(part, gone)| (&**part, gone))
                .collect();
            let committed = self
                .shelf
                .commit(&fresh, &work.to_delete, work.position)
                .map_err(|error| self.unwritten(error, work.position))?;
            // The commit counts even if tidying fails.
            let tidied = self.shelf.tidy(committed, deletions);
            let opened = {
                let state = self.read();
                self.shelf.segments(|segment| {
                    let mut open = state.segments.iter();
                    open.any(|held| held.part.is(segment))
                })?
            };
            self.write().thaw(opened.kept, opened.new, work.position);
            tidied
        })
    }

    /// Returns [`Error::Unwritten`] only if the disk still has the earlier position. A commit that reached the disk
    /// would restore units that are removed from now on.
    fn unwritten(&self, error: Error, position: u64) -> Error {
        let settled = self.settled_position();
        match error {
            Error::Failed(why)
                if settled != position && self.shelf.position().ok() == Some(settled) =>
            {
                Error::Unwritten(why)
            }
            Error::Failed(_)
            | Error::Unwritten(_)
            | Error::OtherVersion { .. }
            | Error::Damaged(_) => error,
        }
    }

    /// Searches the index.
    pub fn search(&self, query: &Query<'_>, filter: Option<Filter<'_>>) -> Result<TextHits, Error> {
        let mut tools = self.tools();
        let found = contained(|| {
            let state = self.read();
            let Tools {
                analyser,
                accumulator,
                ..
            } = &mut tools;
            search::search(&state.views(), query, filter, analyser, accumulator)
        })?;
        // After an error the accumulator may hold partial scores, so it is dropped.
        self.put_back(tools);
        Ok(found)
    }

    /// Returns the byte ranges of the words in `text` that match a query's terms: ascending, without overlaps.
    pub fn matches(&self, text: &str, terms: &Terms) -> Vec<Range<usize>> {
        let mut tools = self.tools();
        let places = search::matches(text, terms, &mut tools.analyser);
        self.put_back(tools);
        places
    }

    /// Calls `visit` with all live units. Each segment is read by columns, which are packed.
    pub fn each(&self, visit: &mut dyn FnMut(&IndexedText)) -> Result<(), Error> {
        contained(|| {
            let state = self.read();
            for view in state.views() {
                view.part.each(0, &mut |at, unit| {
                    if !view.gone.has(at) {
                        visit(&unit);
                    }
                });
            }
            Ok(())
        })
    }

    /// Returns the keys of all live units, ascending.
    pub fn units(&self) -> Result<Vec<u64>, Error> {
        let mut keys = Vec::new();
        self.each(&mut |unit| keys.push(unit.key))?;
        keys.sort_unstable();
        Ok(keys)
    }

    /// Returns the units that pass a filter, by segment; some may have been deleted.
    pub fn selected(&self, filter: Filter<'_>) -> Result<Vec<Arc<Selection>>, Error> {
        contained(|| {
            let state = self.read();
            let views = state.views().into_iter();
            Ok(views
                .map(|view| view.selections.of(view.part, filter))
                .collect())
        })
    }

    /// Whether a unit exists.
    pub fn contains(&self, key: u64) -> Result<bool, Error> {
        contained(|| Ok(self.read().has(key)))
    }

    /// Returns the unit with a key, if it exists.
    pub fn unit(&self, key: u64) -> Result<Option<IndexedText>, Error> {
        contained(|| {
            let state = self.read();
            let mut views = state.views().into_iter();
            Ok(views.find_map(|view| Some(view.part.unit(view.find(key)?))))
        })
    }

    /// Returns the size of the index.
    pub fn counts(&self) -> Counts {
        let state = self.read();
        let mut tally = CorpusCounts::default();
        state.views().iter().for_each(|view| tally.join(view.tally));
        let mut fresh = state.fresh.tally;
        let mut bytes = state.fresh.part.bytes();
        for frozen in &state.frozen {
            fresh.join(&frozen.tally);
            bytes += frozen.part.bytes();
        }
        Counts {
            kinds: tally.kinds,
            fresh_units: Class::ALL.iter().map(|class| fresh.units(*class)).sum(),
            fresh_bytes: bytes as u64,
            segments: state.segments.len() as u64,
        }
    }

    /// Returns the size of the index files, in bytes.
    pub fn disk_bytes(&self) -> Result<u64, Error> {
        self.shelf.bytes()
    }

    /// Frees the memory of caches, which the next search fills again.
    pub fn release(&self) {
        self.lock_tools().clear();
        let mut state = self.write();
        state
            .views()
            .iter()
            .for_each(|view| view.selections.clear());
        let segments = state.segments.iter_mut();
        let segments = segments.filter_map(|held| Arc::get_mut(&mut held.part));
        segments.for_each(Segment::release);
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_tools(&self) -> MutexGuard<'_, Vec<Tools>> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tools(&self) -> Tools {
        self.lock_tools().pop().unwrap_or_default()
    }

    fn put_back(&self, tools: Tools) {
        self.lock_tools().push(tools);
    }
}

struct FlushBatch {
    fresh: Vec<(Arc<MemorySegment>, UnitMask)>,
    /// Keys of removed units that are still on disk.
    to_delete: Vec<u64>,
    position: u64,
}

impl State {
    fn views(&self) -> Vec<View<'_>> {
        let segments = self.segments.iter().map(LivePart::view);
        let frozen = self.frozen.iter().map(LivePart::view);
        segments.chain(frozen).chain([self.fresh.view()]).collect()
    }

    fn has(&self, key: u64) -> bool {
        self.views().iter().any(|view| view.find(key).is_some())
    }

    /// Removes units from all segments and appends their keys to `removed`.
    fn remove(&mut self, removals: &Removals, removed: &mut Vec<u64>) {
        if removals.is_empty() {
            return;
        }
        let from = removed.len();
        for held in &mut self.segments {
            held.remove_all(removals, removed);
        }
        for held in self.frozen.iter_mut().chain([&mut self.fresh]) {
            held.remove_all(removals, removed);
        }
        self.removed.extend(removed.iter().skip(from));
    }

    /// Freezes the in-memory changes for a flush; `None` if everything is on disk.
    fn freeze(&mut self, deletions: Deletions) -> Option<FlushBatch> {
        if self.fresh.part.units() > 0 {
            let fresh = std::mem::replace(&mut self.fresh, LivePart::empty());
            self.frozen.push(fresh);
        }
        self.removed.clear();
        let mut to_delete = Vec::new();
        for held in &self.segments {
            let gone = held.gone.beyond(held.part.deleted());
            to_delete.extend(gone.map(|at| held.part.key(at)));
        }
        let is_settled = self.position == self.settled;
        let is_clean = self.frozen.is_empty() && to_delete.is_empty() && is_settled;
        // A purge commits anyway: the commit also deletes files of merged segments that remain after a kill.
        if is_clean && deletions == Deletions::Many {
            return None;
        }
        let frozen = self.frozen.iter();
        Some(FlushBatch {
            fresh: frozen
                .map(|held| (held.part.clone(), held.gone.clone()))
                .collect(),
            to_delete,
            position: self.position,
        })
    }

    /// Replaces the flushed segments with the segments of the commit, and repeats the removals made meanwhile.
    fn thaw(&mut self, kept: Vec<tantivy::Segment>, new: Vec<LivePart<Segment>>, settled: u64) {
        let is_kept = |held: &LivePart<Segment>| kept.iter().any(|segment| held.part.is(segment));
        self.segments.retain(is_kept);
        self.segments.extend(new);
        self.frozen.clear();
        self.settled = settled;
        for key in std::mem::take(&mut self.removed) {
            for held in &mut self.segments {
                if let Some(at) = held.view().find(key) {
                    held.remove(at);
                }
            }
        }
    }
}
