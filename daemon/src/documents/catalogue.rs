//! An in-memory catalogue of all documents, for search filters and the counts of summaries.
//!
//! Built from the rows on demand, and retained until the rows change or it is released.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value};

use super::view::{self, DocumentRow};
use crate::locks::lock_unpoisoned;
use crate::log::Position;
use crate::store::{Error, Rows};

/// A document of the catalogue.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Id of the document.
    pub id: String,
    /// Row of the view.
    pub row: DocumentRow,
    /// Further front matter.
    pub custom: Map<String, Value>,
}

/// All documents, by id.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// Position of the last event that the catalogue includes.
    pub changed: Position,
    entries: BTreeMap<String, Arc<Entry>>,
}

impl Catalogue {
    /// Reads all rows. Entries of unchanged documents are shared with the earlier catalogue.
    fn read(rows: &dyn Rows, earlier: Option<&Self>) -> Result<Self, Error> {
        let mut entries = BTreeMap::new();
        view::documents(rows, &mut |id, row| {
            let known = earlier.and_then(|earlier| earlier.entries.get(&id));
            let entry = match known {
                Some(known) if known.row == row => Arc::clone(known),
                Some(_) | None => {
                    let custom = row.taken.custom.as_deref();
                    let custom = custom.and_then(|json| serde_json::from_str(json).ok());
                    Arc::new(Entry {
                        id: id.clone(),
                        custom: custom.unwrap_or_default(),
                        row,
                    })
                }
            };
            entries.insert(id, entry);
        })?;
        Ok(Self {
            changed: view::changed(rows)?,
            entries,
        })
    }

    /// Iterates over all documents, by id.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.entries.values()
    }

    /// Returns a document by id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Arc<Entry>> {
        self.entries.get(id)
    }

    /// Returns the number of documents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Reports whether the catalogue is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// Cache of the most recent catalogue.
#[derive(Default)]
pub struct CatalogueCache(Mutex<Option<Arc<Catalogue>>>);

impl CatalogueCache {
    /// Returns the catalogue of these rows, rebuilt if they changed.
    pub fn catalogue(&self, rows: &dyn Rows) -> Result<Arc<Catalogue>, Error> {
        let changed = view::changed(rows)?;
        let mut kept = lock_unpoisoned(&self.0);
        if let Some(kept) = &*kept
            && kept.changed == changed
        {
            return Ok(Arc::clone(kept));
        }
        let read = Arc::new(Catalogue::read(rows, kept.as_deref())?);
        *kept = Some(Arc::clone(&read));
        Ok(read)
    }

    /// Drops the cached catalogue.
    pub fn release(&self) {
        *lock_unpoisoned(&self.0) = None;
    }
}
