//! The vectors of one tier: the open store, the units that lack a vector, and the embedding of these units.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

use lored_models::{EmbeddingStage, Model, ModelPool};
use lored_retrieval::text::{number_of, position_of};
use lored_retrieval::vectors::{Generation, VectorError, VectorStore};

use super::changes::context_of;
use super::index::IndexError;
use super::searchable_text::{EmbeddedText, pieces};
use crate::locks::{lock_unpoisoned, unpoisoned};
use crate::log::{Log, Position};
use crate::store::{Blobs, Error as StoreError};

/// Version of how events become units. Raise it when the same events give other units: the indexes are rebuilt.
pub const VERSION: u32 = 5;

/// The open vector index of one tier.
pub struct StageIndex {
    /// The vectors of the tier.
    pub store: RwLock<VectorStore>,
    /// Keys of units without a vector, the newest last; complete once the text index has caught up.
    pub missing: Mutex<BTreeSet<u64>>,
    /// Held during compaction, of which only one runs at a time. Lock it before `store`.
    pub compacting: Mutex<()>,
}

impl StageIndex {
    /// Locks the vectors for reading.
    pub fn read(&self) -> RwLockReadGuard<'_, VectorStore> {
        unpoisoned(self.store.read())
    }

    /// Locks the vectors for writing.
    pub fn write(&self) -> RwLockWriteGuard<'_, VectorStore> {
        unpoisoned(self.store.write())
    }
}

/// Returns the keys of the newest units without a vector, at most `most`, the newest first.
pub fn newest(stage: &StageIndex, most: usize) -> Vec<u64> {
    lock_unpoisoned(&stage.missing)
        .iter()
        .rev()
        .take(most)
        .copied()
        .collect()
}

/// Embeds texts and returns their vectors in the same order.
#[must_use]
pub fn vectors_of(model: &Model, texts: &[(u64, EmbeddedText)]) -> Vec<Vec<f32>> {
    let of = texts.iter();
    let of: Vec<(&str, &str)> = of
        .map(|(_, one)| (one.context.as_str(), one.text.as_str()))
        .collect();
    model.embed_in_context(&of)
}

/// Returns the text of a unit as it is embedded; `None` if the unit no longer exists.
pub fn embedded(
    log: &Log<'_>,
    blobs: &Blobs,
    key: u64,
) -> Result<Option<EmbeddedText>, IndexError> {
    let Some(event) = log.at(Position(position_of(key)))? else {
        return Ok(None);
    };
    let found = match pieces(log, blobs, &event) {
        Ok(Some(found)) => found,
        Ok(None) | Err(StoreError::Corrupt { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let Some(piece) = found.all.get(number_of(key)) else {
        return Ok(None);
    };
    Ok(Some(EmbeddedText {
        context: context_of(log, blobs, &event, &found)?,
        text: found.embedded(piece),
    }))
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
            warnings.push(format!("the vector index is rebuilt: {error}"));
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
