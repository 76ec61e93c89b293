//! Vectors of what was said and is asked: they find items that a prompt needs in other words. They are made by the
//! search's second model, that of items in the background; nothing waits for them longer than it may.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lored_models::{Model, ModelPool};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use super::knowledge::Knowledge;
use crate::locks::lock_unpoisoned;

/// Bytes of a text that are embedded: what it is about stands at its beginning.
const BYTES_MAX: usize = 400;
/// Texts that are embedded at once.
const BATCH: usize = 8;
/// Products that are added up side by side.
const LANES: usize = 16;
/// Longest wait for the vector of a prompt, of the 100 ms that a hook has. An idle machine needs some milliseconds.
const WAIT: Duration = Duration::from_millis(40);
/// Time for which the model stays in memory after a hook: a window that pauses for longer gets its first text by words alone.
const KEPT: Duration = Duration::from_mins(10);

/// The direction of a vector, in a quarter of its bytes.
pub(super) struct MeaningVector {
    scale: f32,
    values: Box<[i8]>,
}

impl MeaningVector {
    /// Takes a vector of length 1.
    pub fn new(vector: &[f32]) -> Self {
        let largest = vector.iter().fold(0.0_f32, |most, one| most.max(one.abs()));
        let scale = largest.max(f32::MIN_POSITIVE) / 127.0;
        // At most 127 by its scale.
        let values = vector.iter().map(|one| (one / scale).round() as i8);
        Self {
            scale,
            values: values.collect(),
        }
    }

    /// Returns the cosine of this vector and another one of length 1.
    pub fn cosine(&self, other: &[f32]) -> f32 {
        // Several sums at once: the compiler keeps the order of each.
        let mut sums = [0.0_f32; LANES];
        let values = self.values.chunks(LANES).zip(other.chunks(LANES));
        for (values, others) in values {
            for ((sum, one), other) in sums.iter_mut().zip(values).zip(others) {
                *sum += f32::from(*one) * other;
            }
        }
        self.scale * sums.iter().sum::<f32>()
    }
}

fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(BYTES_MAX))
        .unwrap_or_default()
}

fn model(models: &ModelPool) -> Option<Arc<Model>> {
    // The search reports a model that is unusable.
    models.second()?.ok()
}

/// Returns the vector of a prompt; `None` if the model is not in memory or takes too long, and then words alone are
/// compared. Blocks its thread until then.
pub(super) fn of_prompt(models: &ModelPool, text: &str) -> Option<Vec<f32>> {
    let model = models.second_if_loaded()?;
    let (sender, receiver) = channel();
    let text = beginning(text).to_owned();
    Handle::try_current().ok()?.spawn_blocking(move || {
        // A receiver that has left needs it no longer.
        sender.send(model.embed(&text)).ok();
    });
    receiver.recv_timeout(WAIT).ok()
}

/// Keeps the model in memory while a window of a host works.
pub(in crate::capture) fn keep(models: &ModelPool) {
    models.keep_second(KEPT);
}

/// Loads the model in the background, before the next prompt needs it; `None` if it is in memory.
pub(super) fn warm(models: &Arc<ModelPool>) -> Option<JoinHandle<()>> {
    if models.second_if_loaded().is_some() {
        return None;
    }
    let models = Arc::clone(models);
    Some(tokio::task::spawn_blocking(move || {
        model(&models);
    }))
}

/// Makes the missing vectors of a project in the background, in small pieces so that the daemon can stop.
pub(super) fn catch_up(models: &Arc<ModelPool>, knowledge: &Arc<Mutex<Knowledge>>) {
    {
        let mut knowledge = lock_unpoisoned(knowledge);
        if knowledge.is_embedding || knowledge.missing_vectors(1).is_empty() {
            return;
        }
        knowledge.is_embedding = true;
    }
    let (models, knowledge) = (Arc::clone(models), Arc::clone(knowledge));
    tokio::spawn(async move {
        loop {
            let (models, of) = (Arc::clone(&models), Arc::clone(&knowledge));
            let made = tokio::task::spawn_blocking(move || embed_some(&models, &of)).await;
            if !matches!(made, Ok(true)) {
                break;
            }
        }
        lock_unpoisoned(&knowledge).is_embedding = false;
    });
}

/// Makes some vectors; false if none is missing or can be made.
fn embed_some(models: &ModelPool, knowledge: &Mutex<Knowledge>) -> bool {
    let missing = lock_unpoisoned(knowledge).missing_vectors(BATCH);
    if missing.is_empty() {
        return false;
    }
    let Some(model) = model(models) else {
        return false;
    };
    let texts: Vec<&str> = missing.iter().map(|one| beginning(&one.text)).collect();
    let vectors = model.embed_many(&texts);
    for (one, vector) in missing.iter().zip(&vectors) {
        // Comparing a prompt takes a millisecond: a hook may come between two of them.
        lock_unpoisoned(knowledge).take_vector(one, vector);
    }
    true
}

#[cfg(test)]
mod tests {
    use lored_models::{EmbeddingStage, ModelPlaces, Settings};

    use super::*;

    #[tokio::test]
    async fn a_prompt_waits_for_no_loading() {
        let places = ModelPlaces::default();
        let models = Arc::new(ModelPool::find(&places, &Settings::default()));
        assert!(of_prompt(&models, "Which port is free?").is_none());
        assert!(!models.is_loaded(EmbeddingStage::Second));
        let warming = warm(&models).expect("it is not in memory");
        warming.await.expect("it is loaded");
        assert!(models.is_loaded(EmbeddingStage::Second));
        assert!(warm(&models).is_none());
        keep(&models);
        assert!(models.release_when_idle(Duration::ZERO).is_some());
        assert!(models.is_loaded(EmbeddingStage::Second));
    }

    #[test]
    fn a_cosine_is_nearly_that_of_the_whole_vectors() {
        let (one, other) = ([0.6, -0.8, 0.0], [0.8, 0.0, 0.6]);
        let cosine = MeaningVector::new(&one).cosine(&other);
        assert!((cosine - 0.48).abs() < 0.01, "{cosine}");
        let itself = MeaningVector::new(&one).cosine(&one);
        assert!((itself - 1.0).abs() < 0.01, "{itself}");
        assert!(MeaningVector::new(&[0.0; 3]).cosine(&one).abs() < 1e-6);
    }

    #[test]
    fn texts_are_cut_between_letters() {
        let text = "ä".repeat(BYTES_MAX);
        assert_eq!(beginning(&text).len(), BYTES_MAX);
        assert_eq!(beginning("short"), "short");
    }
}
