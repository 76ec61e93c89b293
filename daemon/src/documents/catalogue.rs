//! Every document there is, in memory: what searches are narrowed by, and what summaries count.
//!
//! Made of the rows when it is needed, kept until they change or nobody asks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};

use super::view::{self, DocumentRow};
use crate::log::Position;
use crate::store::{Error, Rows};

/// One document.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its id.
    pub id: String,
    /// What the view has of it.
    pub row: DocumentRow,
    /// What its front matter says besides.
    pub custom: Map<String, Value>,
}

/// Every document, by context and path.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// The last event that it knows of.
    pub changed: Position,
    entries: BTreeMap<String, Arc<Entry>>,
}

impl Catalogue {
    /// Reads all rows; what an earlier catalogue has of a document that did not change is shared with it.
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

    /// Every document, by id.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.entries.values()
    }

    /// A document.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Arc<Entry>> {
        self.entries.get(id)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// The catalogue as it was needed last.
#[derive(Default)]
pub struct CatalogueCache(Mutex<Option<Arc<Catalogue>>>);

impl CatalogueCache {
    /// The catalogue of these rows.
    ///
    /// # Errors
    /// [`Error`] when a row cannot be read.
    pub fn catalogue(&self, rows: &dyn Rows) -> Result<Arc<Catalogue>, Error> {
        let changed = view::changed(rows)?;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = &*kept
            && kept.changed == changed
        {
            return Ok(Arc::clone(kept));
        }
        let read = Arc::new(Catalogue::read(rows, kept.as_deref())?);
        *kept = Some(Arc::clone(&read));
        Ok(read)
    }

    /// Lets it go.
    pub fn release(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
