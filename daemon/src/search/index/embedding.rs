//! Creation of vectors, and the choice of the tier that ranks.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use lored_models::{EmbeddingStage, Model, ModelPool};
use lored_retrieval::vectors::VectorError;

use super::{Index, IndexError};
use crate::engine::PublishedState;
use crate::locks::lock_unpoisoned;
use crate::log::Log;
use crate::search::searchable_text::EmbeddedText;
use crate::search::stages::{StageIndex, embedded, newest, vectors_of};
use crate::store::Blobs;

/// Maximum number of missing second-tier vectors that are made at once although events were just recorded.
const FEW: usize = 64;
/// Longest pause of the second tier while events are recorded, in times of its last batch: it gets a tenth of the time.
const PAUSE_MAX: u32 = 9;
/// Number of batches over which its pace is averaged.
const PACE_WEIGHT: u32 = 8;
/// Number of second-tier vectors that are made in one batch.
const EMBEDDED_MAX: usize = 4;

/// A tier that ranks, with its vectors and its model.
pub type Ranking<'i> = (EmbeddingStage, &'i StageIndex, Arc<Model>);

impl Index {
    /// Makes some missing vectors, and returns their number. The first tier comes first; the second tier follows when
    /// it is quiet, newest texts first. The state is held while texts are read.
    pub fn embed_some(
        &self,
        published: Arc<PublishedState>,
        blobs: &Blobs,
        is_quiet: bool,
    ) -> Result<usize, IndexError> {
        if let Some(first) = &self.first {
            let keys = newest(first, EMBEDDED_MAX * 16);
            if !keys.is_empty() {
                let made = self
                    .models
                    .first()
                    .map_err(IndexError::from)
                    .and_then(|model| self.embed(first, &model, published, blobs, keys));
                return self.unless_put_off(made);
            }
        }
        let Some(second) = &self.second else {
            return Ok(0);
        };
        if !is_quiet {
            return Ok(0);
        }
        let keys = self.wanted_of_second(second);
        match self.second_model() {
            Some(model) if !keys.is_empty() => {
                let began = Instant::now();
                let made = self.embed(second, &model, published, blobs, keys);
                let made = made.and_then(|made| self.let_oldest_go(second).map(|()| made));
                let made = self.unless_put_off(made)?;
                let before =
                    lock_unpoisoned(&self.last_batch).replace((Instant::now(), began.elapsed()));
                // A pause counts while there was something to do.
                let since = before.map_or(began, |(ended, _)| ended);
                let took = since.elapsed().min(began.elapsed() * (PAUSE_MAX + 1));
                self.note_pace(made, took);
                Ok(made)
            }
            Some(_) | None => Ok(0),
        }
    }

    /// Makes first-tier vectors of new texts; postpones them if they cannot be made or stored now.
    pub(super) fn embed_new(
        &self,
        first: &StageIndex,
        texts: &[(u64, EmbeddedText)],
        position: u64,
    ) -> Result<(), IndexError> {
        let made = self
            .models
            .first()
            .map_err(IndexError::from)
            .and_then(|model| {
                self.keep(first, texts, &vectors_of(&model, texts), position)
                    .map(|()| texts.len())
            });
        if self.unless_put_off(made)? < texts.len() {
            lock_unpoisoned(&first.missing).extend(texts.iter().map(|(key, _)| *key));
        }
        Ok(())
    }

    /// Handles errors of making vectors. A disk or model error only postpones them, because the text index still finds
    /// the texts. The error is stored as a fault until it works again.
    pub(super) fn unless_put_off(
        &self,
        made: Result<usize, IndexError>,
    ) -> Result<usize, IndexError> {
        match made {
            Ok(made) => {
                *lock_unpoisoned(&self.fault) = None;
                Ok(made)
            }
            Err(error @ (IndexError::Vectors(VectorError::Io { .. }) | IndexError::Model(_))) => {
                let mut fault = lock_unpoisoned(&self.fault);
                if fault.is_none() {
                    tracing::warn!(%error, "vectors are postponed: new texts are found by text search only");
                }
                *fault = Some(format!(
                    "new texts are found by text search only, until vectors can be stored: {error}"
                ));
                Ok(0)
            }
            Err(error) => Err(error),
        }
    }

    fn embed(
        &self,
        stage: &StageIndex,
        model: &Model,
        published: Arc<PublishedState>,
        blobs: &Blobs,
        keys: Vec<u64>,
    ) -> Result<usize, IndexError> {
        let log = Log::new(&published.snapshot);
        let mut texts = Vec::with_capacity(keys.len());
        for key in &keys {
            if let Some(text) = embedded(&log, blobs, *key)? {
                texts.push((*key, text));
            }
        }
        drop(published);
        texts.retain(|(key, _)| self.text.contains(*key).unwrap_or(false));
        self.keep(stage, &texts, &vectors_of(model, &texts), 0)?;
        let mut missing = lock_unpoisoned(&stage.missing);
        keys.iter().for_each(|key| {
            missing.remove(key);
        });
        Ok(keys.len())
    }

    /// Stores vectors, except for texts that were removed in the meantime.
    ///
    /// A removal changes the text index first and then needs the vector store to delete the vector. So no vector
    /// outlives its unit, and none is stored after a purge.
    pub(super) fn keep(
        &self,
        stage: &StageIndex,
        texts: &[(u64, EmbeddedText)],
        vectors: &[Vec<f32>],
        position: u64,
    ) -> Result<(), IndexError> {
        let mut store = stage.write();
        let vectors = vectors.iter().map(Vec::as_slice);
        let rows: Vec<(u64, &[f32])> = texts
            .iter()
            .map(|(key, _)| *key)
            .zip(vectors)
            .filter(|(key, _)| self.text.contains(*key).unwrap_or(false))
            .collect();
        Ok(store.append(&rows, position)?)
    }

    /// Returns the second tier's model, unless it is unusable.
    fn second_model(&self) -> Option<Arc<Model>> {
        if self.is_second_refused.load(Ordering::Relaxed) {
            return None;
        }
        match self.models.second()? {
            Ok(model) => Some(model),
            Err(error) => {
                if !self.is_second_refused.swap(true, Ordering::Relaxed) {
                    tracing::warn!(%error, "the second-tier model is not used");
                    let reported = format!("the second-tier model is not used: {error}");
                    lock_unpoisoned(&self.warnings).push(reported);
                }
                None
            }
        }
    }

    /// Returns whether the second tier lacks so few vectors that they are made at once. So one new message does not
    /// postpone the tier.
    #[must_use]
    pub fn wants_few(&self) -> bool {
        let second = self.second.as_ref();
        second.is_some_and(|second| lock_unpoisoned(&second.missing).len() <= FEW)
    }

    /// Returns the number of texts without a vector of a tier.
    #[must_use]
    pub fn missing_vectors(&self, stage: EmbeddingStage) -> usize {
        let stage = self.stage(stage);
        stage.map_or(0, |stage| lock_unpoisoned(&stage.missing).len())
    }

    /// Returns whether vectors of a tier remain to be made.
    #[must_use]
    pub fn wants_vectors(&self) -> bool {
        let first = self.first.as_ref();
        let second = self.second.as_ref();
        first.is_some_and(|first| !lock_unpoisoned(&first.missing).is_empty())
            || second.is_some_and(|second| {
                !self.is_second_refused.load(Ordering::Relaxed)
                    && !self.wanted_of_second(second).is_empty()
            })
    }

    /// Returns the next texts for the second tier, newest first. If the tier is full, only texts newer than its oldest
    /// vector are returned.
    pub(super) fn wanted_of_second(&self, second: &StageIndex) -> Vec<u64> {
        let oldest = {
            let store = second.read();
            let is_full = store.len() >= self.second_max;
            is_full.then(|| store.keys().min()).flatten()
        };
        let mut wanted = newest(second, EMBEDDED_MAX);
        wanted.retain(|key| oldest.is_none_or(|oldest| *key > oldest));
        wanted
    }

    /// Deletes the oldest vectors of the second tier above its limit.
    pub(super) fn let_oldest_go(&self, second: &StageIndex) -> Result<(), IndexError> {
        let mut store = second.write();
        let Some(over) = store.len().checked_sub(self.second_max.saturating_add(1)) else {
            return Ok(());
        };
        let mut keys: Vec<u64> = store.keys().collect();
        if over < keys.len() {
            keys.select_nth_unstable(over);
        }
        keys.truncate(over + 1);
        store.delete(&keys, 0)?;
        lock_unpoisoned(&second.missing).extend(keys);
        Ok(())
    }

    /// Returns the tier that ranks now: the second one once it has all of its vectors.
    #[must_use]
    pub fn ranking_tier(&self) -> Option<EmbeddingStage> {
        if let Some(second) = &self.second
            && self.models.second().is_some()
            && !self.is_second_refused.load(Ordering::Relaxed)
            && self.is_whole(second)
        {
            return Some(EmbeddingStage::Second);
        }
        self.first.as_ref().map(|_| EmbeddingStage::First)
    }

    /// Returns the tier that ranks now, with its vectors and model; `None` if there is no model.
    pub fn ranking(&self) -> Result<Option<Ranking<'_>>, IndexError> {
        if self.ranking_tier() == Some(EmbeddingStage::Second)
            && let (Some(second), Some(model)) = (&self.second, self.second_model())
        {
            return Ok(Some((EmbeddingStage::Second, second, model)));
        }
        let Some(first) = &self.first else {
            return Ok(None);
        };
        let model = self.models.first()?;
        Ok(Some((EmbeddingStage::First, first, model)))
    }

    /// Returns a tier, if it has a model.
    #[must_use]
    pub fn stage(&self, stage: EmbeddingStage) -> Option<&StageIndex> {
        match stage {
            EmbeddingStage::First => self.first.as_ref(),
            EmbeddingStage::Second => self.second.as_ref(),
        }
    }

    fn is_whole(&self, second: &StageIndex) -> bool {
        let has_some = !second.read().is_empty();
        has_some && self.wanted_of_second(second).is_empty()
    }

    /// Returns the model pool.
    #[must_use]
    pub fn models(&self) -> &ModelPool {
        &self.models
    }

    /// Returns the number of texts that the second tier will still embed.
    #[must_use]
    pub fn second_backlog(&self) -> u64 {
        let Some(second) = &self.second else {
            return 0;
        };
        if self.is_second_refused.load(Ordering::Relaxed)
            || self.wanted_of_second(second).is_empty()
        {
            return 0;
        }
        let missing = lock_unpoisoned(&second.missing).len();
        let room = self.second_max.saturating_sub(second.read().len());
        // A full tier replaces its oldest vectors by those of newer texts.
        missing.min(room.max(EMBEDDED_MAX)) as u64
    }

    /// Returns the time that this many texts take at the pace of the last ones, in seconds.
    #[must_use]
    pub fn seconds_left(&self, texts: u64) -> Option<u64> {
        let pace = (*lock_unpoisoned(&self.pace))?;
        Some((pace.as_secs_f64() * texts as f64).ceil() as u64)
    }

    /// Notes how long some texts of the second tier took, with the pauses between them.
    fn note_pace(&self, made: usize, took: Duration) {
        let Some(each) = u32::try_from(made)
            .ok()
            .and_then(|made| took.checked_div(made))
        else {
            return;
        };
        let mut pace = lock_unpoisoned(&self.pace);
        *pace = Some(match *pace {
            Some(before) => (before * (PACE_WEIGHT - 1) + each) / PACE_WEIGHT,
            None => each,
        });
    }

    /// Returns whether the second tier may embed although events are being recorded: it has at least its share of the
    /// time.
    #[must_use]
    pub fn is_due_for_second(&self) -> bool {
        let last = *lock_unpoisoned(&self.last_batch);
        last.is_none_or(|(ended, took)| ended.elapsed() >= took * PAUSE_MAX)
    }

    /// Returns the number of texts with a second-tier vector, and the number without one.
    #[must_use]
    pub fn second_counts(&self) -> (u64, u64) {
        let Some(second) = &self.second else {
            return (0, 0);
        };
        let has = second.read().len();
        (has as u64, lock_unpoisoned(&second.missing).len() as u64)
    }
}
