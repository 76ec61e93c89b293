//! The indexes of search: full text, and the vectors of both tiers.
//!
//! The text index follows the log, and the vectors follow the text index: missing vectors are embedded, and vectors
//! without a text are deleted. So each index can be deleted at any time.

mod embedding;
mod upkeep;

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Deref};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use lored_models::{EmbeddingStage, ModelError, ModelPool};
use lored_retrieval::text::{self, TextIndex};
use lored_retrieval::vectors::VectorError;

use super::changes::{Changes, RecentTexts, added_anew, changes};
use super::searchable_text::EmbeddedText;
use super::stages::{StageIndex, VERSION, remove, stage};
use crate::engine::PublishedState;
use crate::locks::lock_unpoisoned;
use crate::log::{Log, Position, RecordKey};
use crate::rows::until;
use crate::store::{Blobs, Error as StoreError};

/// Name of the text index folder.
pub(super) const TEXT: &str = "text";
/// Maximum number of events in a batch, and bytes of their texts. Searches run between two batches.
const EVENTS_MAX: usize = 200;
const BYTES_MAX: usize = 256 * 1024;

/// An error of the indexes.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// An error of the text index.
    #[error(transparent)]
    Text(#[from] text::Error),
    /// An error of the vectors.
    #[error(transparent)]
    Vectors(#[from] VectorError),
    /// An error of a model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// An error of the log or a blob.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An error of a folder.
    #[error("{path}: {source}")]
    Io {
        /// The folder.
        path: PathBuf,
        /// The system error.
        source: std::io::Error,
    },
}

impl IndexError {
    /// Returns whether the open index is unchanged, so that a retry is enough.
    #[must_use]
    pub fn leaves_it_usable(&self) -> bool {
        matches!(self, Self::Text(text::Error::Unwritten(_)))
    }

    /// Returns the folder to delete so that the index is rebuilt from the log, if this repairs the error. `folder` is
    /// the parent of the indexes.
    #[must_use]
    pub fn damaged(&self, folder: &Path) -> Option<PathBuf> {
        match self {
            Self::Text(error) if error.is_cured_by_rebuilding() => Some(folder.join(TEXT)),
            Self::Vectors(VectorError::Damaged { path, .. }) => path.parent().map(Path::to_owned),
            Self::Text(_)
            | Self::Vectors(_)
            | Self::Model(_)
            | Self::Store(_)
            | Self::Io { .. } => None,
        }
    }
}

/// The progress of a call to [`Index::advance`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdvanceState {
    /// The requested part of the log is applied.
    All,
    /// The time limit was reached at this position.
    Part(Position),
}

/// What is known of the indexes on disk before they are first opened after a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexesAtStart {
    /// The lowest end of the log since the indexes were last used.
    pub end: Position,
    /// Whether the files are as the last daemon left them. Otherwise they are checked.
    pub is_untouched: bool,
}

/// The open indexes.
pub struct Index {
    /// The text index.
    pub text: TextIndex,
    first: Option<StageIndex>,
    second: Option<StageIndex>,
    second_max: usize,
    folder: PathBuf,
    models: Arc<ModelPool>,
    /// The applied log position; locked while more is applied.
    applied: Mutex<Position>,
    /// Whether the files still contain forgotten text.
    is_forgetting: AtomicBool,
    /// Whether the second tier's model is unusable.
    is_second_refused: AtomicBool,
    /// Time that a text of the second tier takes, on average over the last ones.
    pace: Mutex<Option<Duration>>,
    /// End and duration of the second tier's last batch.
    last_batch: Mutex<Option<(Instant, Duration)>>,
    /// Problems that were found and repaired, for `status`.
    pub warnings: Mutex<Vec<String>>,
    /// The reason why new texts have no vectors, until vectors can be stored again.
    pub fault: Mutex<Option<String>>,
}

impl Index {
    /// Opens the indexes of a folder. An index that is damaged or of another version is rebuilt.
    ///
    /// A text index beyond the end of the log at the start is rebuilt and vectors beyond it are deleted, because the log was
    /// cut and other events take their positions.
    pub fn open(
        folder: &Path,
        models: Arc<ModelPool>,
        second_max: usize,
        at_start: Option<IndexesAtStart>,
    ) -> Result<Self, IndexError> {
        let mut warnings = Vec::new();
        let (text, vectors) = (folder.join(TEXT), folder.join("vectors"));
        let is_beyond = |position: u64| at_start.is_some_and(|start| position > start.end.0);
        let opened = TextIndex::open(&text, VERSION).and_then(|opened| {
            if at_start.is_some_and(|start| !start.is_untouched) {
                opened.check_files()?;
            }
            Ok(opened)
        });
        let kept = match opened {
            Ok(opened) if !is_beyond(opened.settled_position()) => Ok(opened),
            Ok(opened) => Err(format!(
                "it is ahead of the log: it was indexed up to position {}",
                opened.settled_position()
            )),
            Err(error) if error.is_cured_by_rebuilding() => Err(error.to_string()),
            Err(error) => return Err(error.into()),
        };
        let text = match kept {
            Ok(opened) => opened,
            Err(why) => {
                warnings.push(format!("the text index is rebuilt: {why}"));
                remove(&text)?;
                TextIndex::open(&text, VERSION)?
            }
        };
        let first = stage(&vectors, &models, EmbeddingStage::First, &mut warnings)?;
        let second = match second_max {
            0 => None,
            _ => stage(&vectors, &models, EmbeddingStage::Second, &mut warnings)?,
        };
        let index = Self {
            applied: Mutex::new(Position(text.settled_position())),
            is_forgetting: AtomicBool::new(false),
            is_second_refused: AtomicBool::new(false),
            pace: Mutex::default(),
            last_batch: Mutex::default(),
            fault: Mutex::default(),
            text,
            first,
            second,
            second_max,
            folder: folder.to_owned(),
            models,
            warnings: Mutex::new(warnings),
        };
        index.compare(is_beyond)?;
        Ok(index)
    }

    /// Finds texts without a vector, and deletes vectors without a text or beyond the end of the log.
    fn compare(&self, is_beyond: impl Fn(u64) -> bool) -> Result<(), IndexError> {
        let units: BTreeSet<u64> = self.text.units()?.into_iter().collect();
        let position = self.text.settled_position();
        for stage in [&self.first, &self.second].into_iter().flatten() {
            let mut store = stage.write();
            // Texts that were added after the last flush of the text index are applied again soon.
            let gone: Vec<u64> = store
                .keys()
                .filter(|key| {
                    let of = text::position_of(*key);
                    is_beyond(of) || of <= position && !units.contains(key)
                })
                .collect();
            store.delete(&gone, position)?;
            let missing = units.iter().filter(|key| !store.contains(**key)).copied();
            *lock_unpoisoned(&stage.missing) = missing.collect();
        }
        match &self.second {
            Some(second) => self.let_oldest_go(second),
            None => Ok(()),
        }
    }

    /// Returns the applied log position.
    #[must_use]
    pub fn applied(&self) -> Position {
        *lock_unpoisoned(&self.applied)
    }

    /// Applies the log up to a state, within the time limit. After an error, the part applied before remains applied.
    pub fn advance(
        &self,
        published: &PublishedState,
        blobs: &Blobs,
        until: Instant,
    ) -> Result<AdvanceState, IndexError> {
        self.advance_to(published.tail.position, || Some(published), blobs, until)
    }

    /// Applies the log up to a position or beyond, within the time limit. States are taken for reading the log alone: a thread
    /// that gives way may take seconds for what it has read, and a state keeps all that is written meanwhile in memory.
    pub fn advance_to<S: Deref<Target = PublishedState>>(
        &self,
        wanted: Position,
        state: impl Fn() -> Option<S>,
        blobs: &Blobs,
        until: Instant,
    ) -> Result<AdvanceState, IndexError> {
        loop {
            let Some(mut applied) = self.turn(until) else {
                return Ok(AdvanceState::Part(Position(self.text.position())));
            };
            if *applied >= wanted {
                return Ok(AdvanceState::All);
            }
            // The store is being opened again.
            let Some(published) = state() else {
                return Ok(AdvanceState::Part(*applied));
            };
            let next = NextChanges::read(&published, blobs, *applied)?;
            let to = next.to;
            if next.again.is_empty() {
                drop(published);
                self.apply(next.changes, to)?;
            } else {
                self.apply_with_again(next, &published, blobs, *applied)?;
            }
            *applied = to;
            drop(applied);
            if to < wanted && Instant::now() >= until {
                return Ok(AdvanceState::Part(to));
            }
        }
    }

    /// Acquires the lock for applying events, within the time limit; other threads hold it for milliseconds.
    fn turn(&self, until: Instant) -> Option<MutexGuard<'_, Position>> {
        loop {
            match self.applied.try_lock() {
                Ok(applied) => return Some(applied),
                Err(std::sync::TryLockError::Poisoned(poisoned)) => {
                    return Some(poisoned.into_inner());
                }
                Err(std::sync::TryLockError::WouldBlock) if Instant::now() >= until => return None,
                Err(std::sync::TryLockError::WouldBlock) => {
                    std::thread::sleep(Duration::from_micros(200));
                }
            }
        }
    }

    /// Applies changes, and indexes some earlier events again.
    fn apply_with_again(
        &self,
        next: NextChanges,
        published: &PublishedState,
        blobs: &Blobs,
        applied: Position,
    ) -> Result<(), IndexError> {
        let log = Log::new(&published.snapshot);
        // Applied in parts to limit memory use. The position advances only at the end; until then, a part may be applied
        // again, which has no effect.
        self.apply(next.changes, applied)?;
        for some in next.again.chunks(EVENTS_MAX) {
            self.apply(added_anew(&log, blobs, some)?, applied)?;
        }
        self.apply(Changes::default(), next.to)
    }

    fn apply(&self, all: Changes, to: Position) -> Result<(), IndexError> {
        // A text that is indexed again because its context was forgotten also gets another vector.
        let removed = self.text.apply(&all.text, to.0)?;
        if all.is_forgetting {
            self.is_forgetting.store(true, Ordering::Release);
        }
        for stage in [&self.first, &self.second].into_iter().flatten() {
            if !removed.is_empty() {
                let mut store = stage.write();
                store.delete(&removed, to.0)?;
                let mut missing = lock_unpoisoned(&stage.missing);
                removed.iter().for_each(|key| {
                    missing.remove(key);
                });
            }
        }
        // A later event of the same batch may replace a text.
        let mut embed: Vec<(u64, EmbeddedText)> = all
            .embed
            .into_iter()
            .filter(|(key, _)| self.text.contains(*key).unwrap_or(false))
            .collect();
        if let Some(second) = &self.second {
            let store = second.read();
            let new = embed.iter().map(|(key, _)| *key);
            lock_unpoisoned(&second.missing).extend(new.filter(|key| !store.contains(*key)));
        }
        if let Some(first) = &self.first {
            let store = first.read();
            embed.retain(|(key, _)| !store.contains(*key));
        }
        if let Some(first) = &self.first
            && !embed.is_empty()
        {
            self.embed_new(first, &embed, to.0)?;
        }
        Ok(())
    }
}

/// What the next events change.
struct NextChanges {
    changes: Changes,
    /// Events that are indexed again afterwards.
    again: Vec<(Position, RecordKey)>,
    /// The last of the events.
    to: Position,
}

impl NextChanges {
    /// Reads the events after a position: a number of them that is applied in milliseconds.
    fn read(
        published: &PublishedState,
        blobs: &Blobs,
        applied: Position,
    ) -> Result<Self, IndexError> {
        let log = Log::new(&published.snapshot);
        let mut next = Self {
            changes: Changes::default(),
            again: Vec::new(),
            to: applied,
        };
        let (mut events, mut bytes) = (0, 0);
        let mut recent = RecentTexts::default();
        log.walk_whole(Position(applied.0 + 1), &mut |event, _| {
            if event.position() > published.tail.position {
                return Ok(ControlFlow::Break(()));
            }
            let one = changes(&log, blobs, &event, &mut recent)?;
            next.to = event.position();
            events += 1;
            let texts = one.embed.iter().map(|(_, one)| one.text.len());
            bytes += texts.sum::<usize>();
            next.changes.text.extend(one.text);
            next.changes.embed.extend(one.embed);
            next.changes.is_forgetting |= one.is_forgetting;
            next.again = one.again;
            Ok(until(
                events >= EVENTS_MAX || bytes >= BYTES_MAX || !next.again.is_empty(),
            ))
        })?;
        Ok(next)
    }
}

#[cfg(test)]
mod tests;
