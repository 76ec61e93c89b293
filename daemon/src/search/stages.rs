//! The vectors of one tier: what is open of it, what it lacks, and how that is made.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use lored_models::{EmbeddingStage, Model, ModelPool};
use lored_retrieval::vectors::{Generation, VectorError, VectorStore};

use super::index::IndexError;
use super::searchable_text::pieces;
use crate::log::{Log, Position};
use crate::store::{Blobs, Error as StoreError};

/// Counts up when the same events would give other units: then the indexes are made anew.
pub const VERSION: u32 = 2;
/// Bits of a unit's key that number it within its event.
const NUMBER_BITS: u32 = 20;

/// What is open of one tier.
pub struct StageIndex {
    /// The vectors.
    pub store: RwLock<VectorStore>,
    /// Units that have no vector yet, the newest last; known once the text index has caught up.
    pub missing: Mutex<BTreeSet<u64>>,
    /// Held while files are written anew: one at a time. DocumentMeta before the store.
    pub compacting: Mutex<()>,
}

/// What a lock guards, whoever panicked with it.
pub fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The key of a unit: the position of the event that brought it, and its number among those.
#[must_use]
pub fn text_key(position: u64, number: u64) -> u64 {
    position << NUMBER_BITS | number
}

/// The position of the event that brought a unit.
#[must_use]
pub fn text_position(key: u64) -> u64 {
    key >> NUMBER_BITS
}

/// The number of a unit among those that its event brought.
#[must_use]
pub fn text_number(key: u64) -> u64 {
    key & ((1 << NUMBER_BITS) - 1)
}

/// The keys that want a vector most.
pub fn newest(stage: &StageIndex, most: usize) -> Vec<u64> {
    lock(&stage.missing)
        .iter()
        .rev()
        .take(most)
        .copied()
        .collect()
}

/// The vectors of texts, in their order.
#[must_use]
pub fn vectors_of(model: &Model, texts: &[(u64, String)]) -> Vec<Vec<f32>> {
    let of: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
    model.embed_many(&of)
}

/// Keeps vectors of the units that are there still. Whoever takes a unit away changes the texts first and
/// then needs the store to take its vector: so none is left behind, and none comes after it was purged.
///
/// # Errors
/// [`IndexError`] when the disk refuses.
pub fn keep(
    stage: &StageIndex,
    texts: &[(u64, String)],
    vectors: &[Vec<f32>],
    position: u64,
    is_there: impl Fn(u64) -> bool,
) -> Result<(), IndexError> {
    let mut store = stage.store.write().unwrap_or_else(PoisonError::into_inner);
    let rows: Vec<(u64, &[f32])> = texts
        .iter()
        .zip(vectors)
        .map(|((key, _), vector)| (*key, vector.as_slice()))
        .filter(|(key, _)| is_there(*key))
        .collect();
    store.append(&rows, position)?;
    Ok(())
}

/// The text of a unit as it is embedded; `None` when it is no more.
pub fn embedded(log: &Log<'_>, blobs: &Blobs, key: u64) -> Result<Option<String>, IndexError> {
    let Some(event) = log.at(Position(text_position(key)))? else {
        return Ok(None);
    };
    let found = match pieces(blobs, &event) {
        Ok(Some(found)) => found,
        Ok(None) | Err(StoreError::Corrupt { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let piece = found.all.get(text_number(key) as usize);
    Ok(piece.map(|piece| found.embedded(piece)))
}

/// The name of a tier, and of its folder.
#[must_use]
pub const fn name(stage: EmbeddingStage) -> &'static str {
    match stage {
        EmbeddingStage::First => "first",
        EmbeddingStage::Second => "second",
    }
}

/// Opens a tier's vectors, if it has a model; those of another model are let go.
pub fn stage(
    folder: &Path,
    models: &ModelPool,
    stage: EmbeddingStage,
    warnings: &mut Vec<String>,
) -> Result<Option<StageIndex>, IndexError> {
    let folder = folder.join(name(stage));
    let Some(known) = models.known(stage) else {
        return Ok(None);
    };
    let generation = Generation {
        model: known.id.clone(),
        dimension: known.dimension,
        number: u64::from(VERSION),
    };
    let opened = match VectorStore::open(&folder, generation.clone()) {
        Err(error @ (VectorError::Other { .. } | VectorError::Damaged { .. })) => {
            warnings.push(format!("vectors are rebuilt: {error}"));
            remove(&folder)?;
            VectorStore::open(&folder, generation)?
        }
        opened => opened?,
    };
    Ok(Some(StageIndex {
        store: RwLock::new(opened.store),
        missing: Mutex::default(),
        compacting: Mutex::default(),
    }))
}

/// Deletes a folder, if it is there.
///
/// # Errors
/// [`IndexError::Io`].
pub fn remove(folder: &Path) -> Result<(), IndexError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(IndexError::Io {
            path: folder.to_owned(),
            source: error,
        }),
        _ => Ok(()),
    }
}
