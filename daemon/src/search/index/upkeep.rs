//! Maintenance of the indexes on disk: flushing in-memory segments, purging removed text, and compacting vectors.

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

use lored_models::EmbeddingStage;
use lored_retrieval::vectors::VectorError;

use super::{Index, IndexError};
use crate::locks::lock_unpoisoned;
use crate::search::stages::{StageIndex, name, remove};
use crate::store::durable;

/// Size of in-memory segments at which they are flushed.
const FRESH_BYTES_MAX: u64 = 12 << 20;

impl Index {
    /// Returns whether everything that is applied is flushed.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.text.position() == self.text.settled_position()
    }

    /// Flushes in-memory segments if they are large or `all` is set; after forgetting, it purges the files at once.
    /// Returns whether it wrote anything. It takes long, but searches continue.
    pub fn flush(&self, all: bool) -> Result<bool, IndexError> {
        if self.is_forgetting.load(Ordering::Acquire) {
            return self.purge().map(|()| true);
        }
        let is_due = self.text.counts().fresh_bytes >= FRESH_BYTES_MAX;
        if !(is_due || all && !self.is_settled()) {
            return Ok(false);
        }
        self.text.flush()?;
        self.sync_vectors()?;
        Ok(true)
    }

    fn sync_vectors(&self) -> Result<(), IndexError> {
        for stage in self.stages() {
            stage.read().sync()?;
        }
        Ok(())
    }

    /// Makes the deletions at opening durable.
    pub fn sync(&self) -> Result<(), IndexError> {
        self.sync_vectors()?;
        sync_folder(&self.folder)
    }

    /// Flushes in-memory segments and removes all deleted text from the files, also text that an earlier run deleted: a
    /// kill may have prevented the rewrite of its files.
    ///
    /// # Errors
    /// [`IndexError`] when the disk refuses; it is tried again by the next [`Self::flush`].
    pub fn purge(&self) -> Result<(), IndexError> {
        self.is_forgetting.store(false, Ordering::Release);
        self.write_anew().inspect_err(|_| {
            self.is_forgetting.store(true, Ordering::Release);
        })
    }

    fn write_anew(&self) -> Result<(), IndexError> {
        self.text.purge()?;
        for stage in self.stages() {
            let _alone = lock_unpoisoned(&stage.compacting);
            let mut store = stage.write();
            store.purge()?;
            store.sync()?;
        }
        // The folder of a disabled tier can also hold vectors of forgotten text, and no other code removes them.
        let vectors = self.folder.join("vectors");
        for (stage, open) in [
            (EmbeddingStage::First, &self.first),
            (EmbeddingStage::Second, &self.second),
        ] {
            let left = vectors.join(name(stage));
            if open.is_none() && left.exists() {
                remove(&left)?;
                sync_folder(&vectors)?;
            }
        }
        Ok(())
    }

    /// Rewrites some vector files if many of their rows are deleted; returns whether there may be more. Disk errors are
    /// logged, and the work is retried later.
    pub fn compact_some(&self) -> Result<bool, IndexError> {
        for stage in self.stages() {
            match compact(stage) {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(IndexError::Vectors(error @ VectorError::Io { .. })) => {
                    tracing::warn!(%error, "vector files cannot be compacted");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    fn stages(&self) -> impl Iterator<Item = &StageIndex> {
        [&self.first, &self.second].into_iter().flatten()
    }

    /// Returns the size of the indexes on disk, in bytes.
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

/// Rewrites one run of segments; searches continue.
fn compact(stage: &StageIndex) -> Result<bool, IndexError> {
    let _alone = lock_unpoisoned(&stage.compacting);
    let worth = {
        let mut store = stage.write();
        store.finish()?;
        store.worth_compacting()
    };
    let Some(segments) = worth else {
        return Ok(false);
    };
    let rewritten = {
        let store = stage.read();
        store.rewrite(segments)?
    };
    let mut store = stage.write();
    store.adopt(rewritten)?;
    Ok(true)
}

fn sync_folder(folder: &Path) -> Result<(), IndexError> {
    durable::sync_folder(folder).map_err(|source| IndexError::Io {
        path: folder.to_owned(),
        source,
    })
}
