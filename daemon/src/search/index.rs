//! The indexes behind search, kept as the log is: texts, and vectors of both tiers.
//!
//! The text index follows the log. The vectors follow the text index: what it has and they lack is
//! embedded, what they have and it lacks is taken away; so each can be deleted at any time.

mod embedding;
mod upkeep;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lored_models::{EmbeddingStage, ModelError, ModelPool};
use lored_retrieval::text::{self, TextIndex};
use lored_retrieval::vectors::VectorError;

use super::changes::{Changes, added_anew, changes};
use super::stages::{StageIndex, VERSION, lock, remove, stage, text_position};
use crate::engine::PublishedState;
use crate::log::{Log, Position};
use crate::store::{Blobs, Error as StoreError};

/// The folder of the text index.
const TEXT: &str = "text";
/// Events applied in one go, and bytes of their texts: between two goes a search gets its turn.
const EVENTS_MAX: usize = 200;
const BYTES_MAX: usize = 256 * 1024;

/// Why an index cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The text index.
    #[error(transparent)]
    Text(#[from] text::Error),
    /// The vectors.
    #[error(transparent)]
    Vectors(#[from] VectorError),
    /// A model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The log or a blob.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A folder.
    #[error("{path}: {source}")]
    Io {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl IndexError {
    /// Whether what is open is as it was, so that it is only to be tried again.
    #[must_use]
    pub fn leaves_it_usable(&self) -> bool {
        matches!(self, Self::Text(text::Error::Unwritten(_)))
    }

    /// The folder that is to be deleted so that it is made anew from the log, if that is the cure; those of
    /// the indexes are below `folder`.
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

/// How far a call to [`Index::advance`] has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdvanceState {
    /// All of the log that was asked for is applied.
    All,
    /// The time was up at this position.
    Part(Position),
}

/// The open indexes.
pub struct Index {
    /// Texts.
    pub text: TextIndex,
    first: Option<StageIndex>,
    second: Option<StageIndex>,
    second_max: usize,
    folder: PathBuf,
    models: Arc<ModelPool>,
    /// Up to where the log is applied; held while more is.
    applied: Mutex<Position>,
    /// Something that was forgotten is in the files still.
    is_forgetting: AtomicBool,
    /// The second tier's model turned out to be unusable.
    is_second_refused: AtomicBool,
    /// What was found wrong and mended, for `status`.
    pub warnings: Mutex<Vec<String>>,
    /// Why new texts have no vectors, until they can be kept again.
    pub fault: Mutex<Option<String>>,
}

impl Index {
    /// Opens the indexes of a folder; what is damaged or of another version is begun anew, and so is what
    /// goes beyond `end`, where the log is known to have ended since they were used last: it was cut, and
    /// other events have those positions now, or will.
    ///
    /// # Errors
    /// [`IndexError`] when the disk refuses.
    pub fn open(
        folder: &Path,
        models: Arc<ModelPool>,
        second_max: usize,
        end: Option<Position>,
    ) -> Result<Self, IndexError> {
        let mut warnings = Vec::new();
        let (text, vectors) = (folder.join(TEXT), folder.join("vectors"));
        let is_beyond = |position: u64| end.is_some_and(|end| position > end.0);
        let kept = match TextIndex::open(&text, VERSION) {
            Ok(opened) if !is_beyond(opened.settled_position()) => Ok(opened),
            Ok(opened) => Err(format!(
                "it went up to {}, and the log ended before that",
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

    /// Finds out which units have no vector, and takes vectors away that have no unit, or whose event the
    /// log has lost.
    fn compare(&self, is_beyond: impl Fn(u64) -> bool) -> Result<(), IndexError> {
        let units: BTreeSet<u64> = self.text.units(None)?.into_iter().collect();
        let position = self.text.settled_position();
        for stage in [&self.first, &self.second].into_iter().flatten() {
            let mut store = stage.store.write().unwrap_or_else(PoisonError::into_inner);
            // A unit that came after the text index was written down is applied again soon.
            let gone: Vec<u64> = store
                .keys()
                .filter(|key| {
                    let of = text_position(*key);
                    is_beyond(of) || of <= position && !units.contains(key)
                })
                .collect();
            store.delete(&gone, position)?;
            let missing = units.iter().filter(|key| !store.contains(**key)).copied();
            *lock(&stage.missing) = missing.collect();
        }
        match &self.second {
            Some(second) => self.let_oldest_go(second),
            None => Ok(()),
        }
    }

    /// Up to where the log is applied.
    #[must_use]
    pub fn applied(&self) -> Position {
        *lock(&self.applied)
    }

    /// Applies the log up to a state, as far as the time allows.
    ///
    /// # Errors
    /// [`IndexError`] when something cannot be read or written; what was applied before stays so.
    pub fn advance(
        &self,
        published: &PublishedState,
        blobs: &Blobs,
        until: Instant,
    ) -> Result<AdvanceState, IndexError> {
        let wanted = published.tail.position;
        loop {
            let Some(mut applied) = self.turn(until) else {
                return Ok(AdvanceState::Part(Position(self.text.position())));
            };
            if *applied >= wanted {
                return Ok(AdvanceState::All);
            }
            let to = self.apply_some(published, blobs, *applied)?;
            *applied = to;
            drop(applied);
            if to < wanted && Instant::now() >= until {
                return Ok(AdvanceState::Part(to));
            }
        }
    }

    /// The right to apply more, if it comes in time: others hold it for milliseconds.
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

    /// Applies the next events; the position of the last one.
    fn apply_some(
        &self,
        published: &PublishedState,
        blobs: &Blobs,
        applied: Position,
    ) -> Result<Position, IndexError> {
        let log = Log::new(&published.snapshot);
        let mut all = Changes::default();
        let (mut to, mut events, mut bytes) = (applied, 0, 0);
        let mut again = Vec::new();
        log.walk(Position(applied.0 + 1), &mut |event, _| {
            if event.position() > published.tail.position {
                return Ok(ControlFlow::Break(()));
            }
            let one = changes(&log, blobs, &event)?;
            to = event.position();
            events += 1;
            bytes += one.embed.iter().map(|(_, text)| text.len()).sum::<usize>();
            all.text.extend(one.text);
            all.embed.extend(one.embed);
            all.is_forgetting |= one.is_forgetting;
            again = one.again;
            Ok(
                match events >= EVENTS_MAX || bytes >= BYTES_MAX || !again.is_empty() {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                },
            )
        })?;
        if !again.is_empty() {
            // In parts, so that it takes little memory; applied is all of it together, at the end. Until then
            // a part that was taken in is taken in again, and changes nothing.
            self.apply(std::mem::take(&mut all), applied)?;
            for some in again.chunks(EVENTS_MAX) {
                self.apply(added_anew(&log, blobs, some)?, applied)?;
            }
        }
        self.apply(all, to)?;
        Ok(to)
    }

    fn apply(&self, all: Changes, to: Position) -> Result<(), IndexError> {
        let mut removed = self.text.apply(&all.text, to.0)?;
        // What was only added anew, for what stands beside it, has its vector already.
        removed.retain(|key| !self.text.contains(*key).unwrap_or(false));
        if all.is_forgetting {
            self.is_forgetting.store(true, Ordering::Release);
        }
        for stage in [&self.first, &self.second].into_iter().flatten() {
            if !removed.is_empty() {
                let mut store = stage.store.write().unwrap_or_else(PoisonError::into_inner);
                store.delete(&removed, to.0)?;
                let mut missing = lock(&stage.missing);
                removed.iter().for_each(|key| {
                    missing.remove(key);
                });
            }
        }
        // A unit of these may be replaced by a later event of the same go.
        let mut embed: Vec<(u64, String)> = all
            .embed
            .into_iter()
            .filter(|(key, _)| self.text.contains(*key).unwrap_or(false))
            .collect();
        if let Some(second) = &self.second {
            let store = second.store.read().unwrap_or_else(PoisonError::into_inner);
            let new = embed.iter().map(|(key, _)| *key);
            lock(&second.missing).extend(new.filter(|key| !store.contains(*key)));
        }
        if let Some(first) = &self.first {
            let store = first.store.read().unwrap_or_else(PoisonError::into_inner);
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

#[cfg(test)]
mod tests;
