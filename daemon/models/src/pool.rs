//! The models of both tiers, in memory while they are used.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{
    AvailableModel, EmbeddingStage, Model, ModelError, ModelInfo, ModelOrigin, ModelPlaces,
    available_models, select, why_none,
};

/// Model settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Whether texts are also embedded by the second tier.
    pub second_tier: bool,
    /// Limit on the texts that the second tier embeds; the newest are selected.
    pub second_tier_chunks_max: u64,
    /// Share of one processor that indexing gets while something is recorded, in percent.
    pub background_share: u64,
    /// Folder of added models, instead of `models` in the data folder.
    pub folder: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            second_tier: true,
            second_tier_chunks_max: 200_000,
            background_share: 25,
            folder: None,
        }
    }
}

/// The models in use; share the pool with an [`Arc`].
///
/// A model is loaded at its first use and freed when idle, unless it is kept for a while. Descriptions that need no
/// loading stay as they were at the start.
pub struct ModelPool {
    first: Option<Slot>,
    second: Option<Slot>,
    /// Reason why there is no second tier, if there is none.
    why_no_second: Option<String>,
    is_second_wanted: bool,
    /// Unusable models, each with the reason.
    refused: Vec<(ModelOrigin, ModelError)>,
    /// Held while a model is loaded: loading takes twice the memory, so only one is loaded at a time.
    loading: Mutex<()>,
}

struct Slot {
    available_model: AvailableModel,
    known: ModelInfo,
    /// Held for moments only, never while a model is loaded.
    loaded: Mutex<Option<Loaded>>,
    /// Time until which the model is kept although it is idle.
    kept_until: Mutex<Option<Instant>>,
}

struct Loaded {
    model: Arc<Model>,
    last_use: Instant,
}

impl ModelPool {
    /// Inspects the available models and selects one for each tier.
    #[must_use]
    pub fn find(places: &ModelPlaces, settings: &Settings) -> Self {
        let mut available_models = available_models(places);
        let mut slot = |stage| {
            let available_model = available_models.remove(select(&available_models, stage)?);
            let known = available_model.known.as_ref().ok().cloned()?;
            Some(Slot {
                available_model,
                known,
                loaded: Mutex::default(),
                kept_until: Mutex::default(),
            })
        };
        let first = slot(EmbeddingStage::First);
        let second = slot(EmbeddingStage::Second).filter(|_| settings.second_tier);
        let why_no_second = match &second {
            Some(_) => None,
            None if settings.second_tier => Some(why_none().to_owned()),
            None => Some("`search.second_tier` is false".to_owned()),
        };
        let refused = available_models
            .into_iter()
            .filter_map(|available_model| {
                Some((available_model.origin, available_model.known.err()?))
            })
            .collect();
        Self {
            is_second_wanted: settings.second_tier,
            first,
            second,
            why_no_second,
            refused,
            loading: Mutex::default(),
        }
    }

    /// Returns the first tier's model; loads it if necessary, which takes some milliseconds.
    pub fn first(&self) -> Result<Arc<Model>, ModelError> {
        match &self.first {
            Some(slot) => self.load(slot),
            // The program embeds one, so this program file is damaged.
            None => Err(ModelError::config("no model of the first tier is usable")),
        }
    }

    /// Returns the second tier's model, if there is one; loads it if necessary, which takes some tens of milliseconds.
    pub fn second(&self) -> Option<Result<Arc<Model>, ModelError>> {
        self.second.as_ref().map(|slot| self.load(slot))
    }

    /// Returns the second tier's model if it is in memory. It waits for no loading.
    pub fn second_if_loaded(&self) -> Option<Arc<Model>> {
        self.second.as_ref()?.used_now()
    }

    /// Keeps the second tier's model for this time, once it is loaded: who will need it cannot wait until it is loaded.
    pub fn keep_second(&self, time: Duration) {
        if let Some(slot) = &self.second {
            *slot.kept() = Instant::now().checked_add(time);
        }
    }

    /// Describes a tier's model without loading it; `None` if the tier has no model.
    #[must_use]
    pub fn known(&self, stage: EmbeddingStage) -> Option<&ModelInfo> {
        self.slot(stage).map(|slot| &slot.known)
    }

    /// Returns the source of a tier's model; `None` if the tier has no model.
    #[must_use]
    pub fn origin(&self, stage: EmbeddingStage) -> Option<&ModelOrigin> {
        self.slot(stage).map(|slot| &slot.available_model.origin)
    }

    /// Explains why there is no second tier; `None` if there is one.
    #[must_use]
    pub fn why_no_second(&self) -> Option<&str> {
        self.why_no_second.as_deref()
    }

    /// Returns whether the settings enable a second tier, even if none is available.
    #[must_use]
    pub fn is_second_wanted(&self) -> bool {
        self.is_second_wanted
    }

    /// Lists unusable models, each with the reason.
    #[must_use]
    pub fn refused(&self) -> &[(ModelOrigin, ModelError)] {
        &self.refused
    }

    /// Returns whether a tier's model is in memory.
    #[must_use]
    pub fn is_loaded(&self, stage: EmbeddingStage) -> bool {
        self.slot(stage).is_some_and(|slot| slot.lock().is_some())
    }

    /// Frees models that were not used within the last `idle`, if their time is over; callers that hold a model keep it.
    /// Returns when to free those that are left; `None` if none is.
    pub fn release_when_idle(&self, idle: Duration) -> Option<Duration> {
        let slots = [&self.first, &self.second].into_iter().flatten();
        slots.filter_map(|slot| slot.release(idle)).min()
    }

    /// Loads one at a time, so that concurrent first uses share one load.
    fn load(&self, slot: &Slot) -> Result<Arc<Model>, ModelError> {
        if let Some(model) = slot.used_now() {
            return Ok(model);
        }
        let _loading = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = slot.used_now() {
            return Ok(model);
        }
        let model = Arc::new(slot.available_model.load(&slot.known)?);
        *slot.lock() = Some(Loaded {
            model: Arc::clone(&model),
            last_use: Instant::now(),
        });
        Ok(model)
    }

    fn slot(&self, stage: EmbeddingStage) -> Option<&Slot> {
        match stage {
            EmbeddingStage::First => self.first.as_ref(),
            EmbeddingStage::Second => self.second.as_ref(),
        }
    }
}

impl Slot {
    fn lock(&self) -> MutexGuard<'_, Option<Loaded>> {
        // Safe after a panic: the option is replaced completely or not at all.
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept(&self) -> MutexGuard<'_, Option<Instant>> {
        // As above.
        self.kept_until
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Frees the model unless it is used or kept; returns when to try again.
    fn release(&self, idle: Duration) -> Option<Duration> {
        let now = Instant::now();
        let kept_until = *self.kept();
        let kept = kept_until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now));
        let mut loaded = self.lock();
        let Loaded { model, last_use } = loaded.as_ref()?;
        // A model that a caller still holds is in use, however long the work takes.
        if Arc::strong_count(model) > 1 {
            return Some(kept.max(idle));
        }
        let left = kept.max(idle.saturating_sub(last_use.elapsed()));
        if left.is_zero() {
            *loaded = None;
            return None;
        }
        Some(left)
    }

    /// Returns the model, if it is loaded, as used now.
    fn used_now(&self) -> Option<Arc<Model>> {
        let mut loaded = self.lock();
        let loaded = loaded.as_mut()?;
        loaded.last_use = Instant::now();
        Some(Arc::clone(&loaded.model))
    }
}

impl fmt::Debug for ModelPool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ModelPool")
            .field("first", &self.known(EmbeddingStage::First))
            .field("second", &self.known(EmbeddingStage::Second))
            .finish_non_exhaustive()
    }
}
