//! The indexes behind search, kept as the log is: texts, and vectors of both tiers.
//!
//! The text index follows the log. The vectors follow the text index: what it has and they lack is
//! embedded, what they have and it lacks is taken away; so each can be deleted at any time.

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use super::changes::{Changes, changes};
use super::tiers::{Tiered, VERSION, embedded, lock, newest, put, remove, text_position, tier};
use crate::engine::Published;
use crate::log::{Log, Position};
use crate::retrieval::models::{Model, ModelError, Models, Tier};
use crate::retrieval::text::{self, TextIndex};
use crate::retrieval::vectors::{VectorError, VectorStore};
use crate::store::{Blobs, Error as StoreError};

/// Events applied in one go, and bytes of their texts: between two goes a search gets its turn.
const EVENTS_MAX: usize = 200;
const BYTES_MAX: usize = 256 * 1024;
/// What is fresh is written down when it is so much.
const FRESH_BYTES_MAX: u64 = 24 << 20;
/// Vectors of the second tier that are made although something was just recorded.
const FEW: usize = 64;
/// Vectors that are made in one go, of the second tier.
const EMBEDDED_MAX: usize = 4;

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

/// How far a call to [`Index::advance`] has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// All of the log that was asked for is applied.
    All,
    /// The time was up at this position.
    Part(Position),
}

/// The open indexes.
pub struct Index {
    /// Texts.
    pub text: TextIndex,
    first: Option<Tiered>,
    second: Option<Tiered>,
    second_max: usize,
    folder: PathBuf,
    models: Arc<Models>,
    /// Up to where the log is applied; held while more is.
    applied: Mutex<Position>,
    /// Something that was forgotten is in the files still.
    is_forgetting: AtomicBool,
    /// What was found wrong and mended, for `status`.
    pub warnings: Mutex<Vec<String>>,
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
        models: Arc<Models>,
        second_max: usize,
        end: Option<Position>,
    ) -> Result<Self, IndexError> {
        let mut warnings = Vec::new();
        let (text, vectors) = (folder.join("text"), folder.join("vectors"));
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
                warnings.push(format!("the text index is made anew: {why}"));
                remove(&text)?;
                TextIndex::open(&text, VERSION)?
            }
        };
        let first = tier(&vectors, &models, Tier::First, &mut warnings)?;
        let second = tier(&vectors, &models, Tier::Second, &mut warnings)?;
        let index = Self {
            applied: Mutex::new(Position(text.settled_position())),
            is_forgetting: AtomicBool::new(false),
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
        for tier in [&self.first, &self.second].into_iter().flatten() {
            let mut store = tier.store.write().unwrap_or_else(PoisonError::into_inner);
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
            *lock(&tier.missing) = missing.collect();
        }
        Ok(())
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
        published: &Published,
        blobs: &Blobs,
        until: Instant,
    ) -> Result<Reached, IndexError> {
        let wanted = published.tail.position;
        loop {
            let Some(mut applied) = self.turn(until) else {
                return Ok(Reached::Part(Position(self.text.position())));
            };
            if *applied >= wanted {
                return Ok(Reached::All);
            }
            let to = self.apply_some(published, blobs, *applied)?;
            *applied = to;
            drop(applied);
            if to < wanted && Instant::now() >= until {
                return Ok(Reached::Part(to));
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
        published: &Published,
        blobs: &Blobs,
        applied: Position,
    ) -> Result<Position, IndexError> {
        let log = Log::new(&published.snapshot);
        let mut all = Changes::default();
        let (mut to, mut events, mut bytes) = (applied, 0, 0);
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
            Ok(match events >= EVENTS_MAX || bytes >= BYTES_MAX {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            })
        })?;
        self.take_in(all, to)?;
        Ok(to)
    }

    fn take_in(&self, all: Changes, to: Position) -> Result<(), IndexError> {
        let removed = self.text.apply(&all.text, to.0)?;
        if all.is_forgetting {
            self.is_forgetting.store(true, Ordering::Release);
        }
        for tier in [&self.first, &self.second].into_iter().flatten() {
            if !removed.is_empty() {
                let mut store = tier.store.write().unwrap_or_else(PoisonError::into_inner);
                store.delete(&removed, to.0)?;
                let mut missing = lock(&tier.missing);
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
            let model = self.models.first()?;
            put(first, &model, &embed, to.0)?;
        }
        Ok(())
    }

    /// Whether all that is applied is written down.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.text.position() == self.text.settled_position()
    }

    /// Writes down what is fresh, when it is much or `all` of it is to be; when something was forgotten, at
    /// once, and so that no file has it any more. Takes long: others search on.
    ///
    /// # Errors
    /// [`IndexError`] when the disk refuses.
    pub fn settle(&self, all: bool) -> Result<bool, IndexError> {
        if self.is_forgetting.load(Ordering::Acquire) {
            return self.purge().map(|()| true);
        }
        let is_due = self.text.counts().fresh_bytes >= FRESH_BYTES_MAX;
        if !(is_due || all && !self.is_settled()) {
            return Ok(false);
        }
        self.text.settle()?;
        for tier in [&self.first, &self.second].into_iter().flatten() {
            tier.store
                .read()
                .unwrap_or_else(PoisonError::into_inner)
                .sync()?;
        }
        Ok(true)
    }

    /// Writes down what is fresh, and leaves in no file what was taken out until now, whoever took it out:
    /// a kill may have come before its files were written anew.
    ///
    /// # Errors
    /// [`IndexError`] when the disk refuses; it is tried again by the next [`Self::settle`].
    pub fn purge(&self) -> Result<(), IndexError> {
        self.is_forgetting.store(false, Ordering::Release);
        self.write_anew().inspect_err(|_| {
            self.is_forgetting.store(true, Ordering::Release);
        })
    }

    fn write_anew(&self) -> Result<(), IndexError> {
        self.text.purge()?;
        for tier in [&self.first, &self.second].into_iter().flatten() {
            let mut store = tier.store.write().unwrap_or_else(PoisonError::into_inner);
            store.purge()?;
            store.sync()?;
        }
        Ok(())
    }

    /// Makes some vectors that are missing: of the first tier when there are any, else, when it is quiet,
    /// of the second, the newest first. How many were made.
    ///
    /// # Errors
    /// [`IndexError`] when a model, a text or the disk cannot be used.
    pub fn embed_some(
        &self,
        published: &Published,
        blobs: &Blobs,
        is_quiet: bool,
    ) -> Result<usize, IndexError> {
        let log = Log::new(&published.snapshot);
        if let Some(first) = &self.first {
            let keys = newest(first, EMBEDDED_MAX * 16);
            if !keys.is_empty() {
                let model = self.models.first()?;
                return self.embed(first, &model, &log, blobs, keys);
            }
        }
        let (Some(second), Some(model)) = (&self.second, self.models.second()) else {
            return Ok(0);
        };
        if !is_quiet || self.second_is_full(second) {
            return Ok(0);
        }
        let keys = newest(second, EMBEDDED_MAX);
        if keys.is_empty() {
            return Ok(0);
        }
        let model = model?;
        self.embed(second, &model, &log, blobs, keys)
    }

    /// Whether the second tier lacks so few vectors that they are made at once: so that one message more
    /// does not put it off.
    #[must_use]
    pub fn wants_few(&self) -> bool {
        let second = self.second.as_ref();
        second.is_some_and(|second| lock(&second.missing).len() <= FEW)
    }

    /// Units that have no vector of a tier yet.
    #[must_use]
    pub fn lacking(&self, tier: Tier) -> usize {
        let tiered = match tier {
            Tier::First => &self.first,
            Tier::Second => &self.second,
        };
        tiered
            .as_ref()
            .map_or(0, |tiered| lock(&tiered.missing).len())
    }

    /// Whether vectors of either tier are still to be made.
    #[must_use]
    pub fn wants_vectors(&self) -> bool {
        let first = self.first.as_ref();
        let second = self.second.as_ref();
        first.is_some_and(|first| !lock(&first.missing).is_empty())
            || second.is_some_and(|second| {
                !lock(&second.missing).is_empty() && !self.second_is_full(second)
            })
    }

    fn second_is_full(&self, second: &Tiered) -> bool {
        let store = second.store.read().unwrap_or_else(PoisonError::into_inner);
        let newest = lock(&second.missing).last().copied();
        // Newer ones than are in are always wanted.
        let oldest_wanted = store.len() >= self.second_max;
        oldest_wanted && newest.is_none_or(|newest| store.keys().any(|key| key > newest))
    }

    fn embed(
        &self,
        tier: &Tiered,
        model: &Model,
        log: &Log<'_>,
        blobs: &Blobs,
        keys: Vec<u64>,
    ) -> Result<usize, IndexError> {
        let mut texts = Vec::with_capacity(keys.len());
        for key in &keys {
            if let Some(text) = embedded(log, blobs, *key)? {
                texts.push((*key, text));
            }
        }
        texts.retain(|(key, _)| self.text.contains(*key).unwrap_or(false));
        put(tier, model, &texts, 0)?;
        let mut missing = lock(&tier.missing);
        keys.iter().for_each(|key| {
            missing.remove(key);
        });
        Ok(keys.len())
    }

    /// The tier that ranks now, with its store: the second one once it has all that it should have.
    #[must_use]
    pub fn ranking_tier(&self) -> Option<(Tier, &RwLock<VectorStore>)> {
        if let Some(second) = &self.second
            && self.models.second().is_some()
            && self.is_whole(second)
        {
            return Some((Tier::Second, &second.store));
        }
        self.first.as_ref().map(|first| (Tier::First, &first.store))
    }

    /// The vectors of a tier.
    #[must_use]
    pub fn store(&self, tier: Tier) -> Option<&RwLock<VectorStore>> {
        let tiered = match tier {
            Tier::First => &self.first,
            Tier::Second => &self.second,
        };
        tiered.as_ref().map(|tiered| &tiered.store)
    }

    fn is_whole(&self, second: &Tiered) -> bool {
        let has_some = !second
            .store
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .is_empty();
        has_some && (lock(&second.missing).is_empty() || self.second_is_full(second))
    }

    /// The models.
    #[must_use]
    pub fn models(&self) -> &Models {
        &self.models
    }

    /// Units that have a vector of the second tier, and that still want one.
    #[must_use]
    pub fn second_counts(&self) -> (u64, u64) {
        let Some(second) = &self.second else {
            return (0, 0);
        };
        let has = second
            .store
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .len();
        (has as u64, lock(&second.missing).len() as u64)
    }

    /// What the indexes take on disk, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        fn of(folder: &Path) -> u64 {
            let Ok(found) = fs::read_dir(folder) else {
                return 0;
            };
            found
                .flatten()
                .map(|entry| match entry.metadata() {
                    Ok(known) if known.is_dir() => of(&entry.path()),
                    Ok(known) => known.len(),
                    Err(_) => 0,
                })
                .sum()
        }
        of(&self.folder)
    }
}

#[cfg(test)]
mod tests;
