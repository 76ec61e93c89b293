//! The vectors of one tier: the open store, the units that lack a vector, and the embedding of these units.

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

/// Version of how events become units. Raise it when the same events give other units: the indexes are rebuilt.
pub const VERSION: u32 = 2;
/// Bits of a unit's key that hold its number within its event.
const NUMBER_BITS: u32 = 20;

/// The open vector index of one tier.
pub struct StageIndex {
    /// The vectors of the tier.
    pub store: RwLock<VectorStore>,
    /// Keys of units without a vector, the newest last; complete once the text index has caught up.
    pub missing: Mutex<BTreeSet<u64>>,
    /// Held during compaction, of which only one runs at a time. Lock it before `store`.
    pub compacting: Mutex<()>,
}

/// Locks a mutex, even if another thread panicked while holding it.
pub fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the key of a unit, from the position of its event and its number within the event.
#[must_use]
pub fn text_key(position: u64, number: u64) -> u64 {
    position << NUMBER_BITS | number
}

/// Returns the position of a unit's event.
#[must_use]
pub fn text_position(key: u64) -> u64 {
    key >> NUMBER_BITS
}

/// Returns the number of a unit within its event.
#[must_use]
pub fn text_number(key: u64) -> u64 {
    key & ((1 << NUMBER_BITS) - 1)
}

/// Returns the keys of the newest units without a vector, at most `most`, the newest first.
pub fn newest(stage: &StageIndex, most: usize) -> Vec<u64> {
    lock(&stage.missing)
        .iter()
        .rev()
        .take(most)
        .copied()
        .collect()
}

/// Embeds texts and returns their vectors in the same order.
#[must_use]
pub fn vectors_of(model: &Model, texts: &[(u64, String)]) -> Vec<Vec<f32>> {
    let of: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
    model.embed_many(&of)
}

/// Stores the vectors of the units that still exist.
///
/// A removal changes the text index first and then needs the vector store to delete the vector. So no vector
/// outlives its unit, and none is stored after a purge.
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

/// Returns the text of a unit as it is embedded; `None` if the unit no longer exists.
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

/// Returns the name of a tier, which is also the name of its folder.
#[must_use]
pub const fn name(stage: EmbeddingStage) -> &'static str {
    match stage {
        EmbeddingStage::First => "first",
        EmbeddingStage::Second => "second",
    }
}

/// Opens a tier's vectors, if the tier has a model. Damaged vectors and vectors of another model are deleted.
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

/// Deletes a folder, if it exists.
pub fn remove(folder: &Path) -> Result<(), IndexError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(IndexError::Io {
            path: folder.to_owned(),
            source: error,
        }),
        _ => Ok(()),
    }
}
