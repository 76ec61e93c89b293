//! The postings of a query's terms in all segments, each looked up once.

use rustc_hash::FxHashMap;

use super::super::error::Error;
use super::super::postings::{Entry, Field, PerField, View};

/// The postings of a term in a field.
#[derive(Clone, Debug)]
pub struct TermPostings {
    /// The term's entry in each segment, in the order of the segments.
    pub entries: Vec<Option<Entry>>,
    /// Number of live units with the term.
    pub living: u64,
}

/// Lookups of one query, cached.
pub struct TermStats<'a> {
    views: &'a [View<'a>],
    known: FxHashMap<String, PerField<Option<TermPostings>>>,
}

impl<'a> TermStats<'a> {
    pub fn of(views: &'a [View<'a>]) -> Self {
        Self {
            views,
            known: FxHashMap::default(),
        }
    }

    /// Returns the segments.
    pub fn views(&self) -> &'a [View<'a>] {
        self.views
    }

    /// Returns the postings of a term in a field.
    pub fn postings(&mut self, field: Field, term: &str) -> Result<TermPostings, Error> {
        let known = self
            .known
            .get(term)
            .and_then(|known| known.get(field).as_ref());
        if let Some(known) = known {
            return Ok(known.clone());
        }
        let mut postings = TermPostings {
            entries: Vec::with_capacity(self.views.len()),
            living: 0,
        };
        for view in self.views {
            let entry = view.part.entry(field, term)?;
            if let Some(entry) = &entry {
                postings.living += view.living(field, entry)?;
            }
            postings.entries.push(entry);
        }
        let known = self.known.entry(term.to_owned()).or_default();
        *known.get_mut(field) = Some(postings.clone());
        Ok(postings)
    }

    /// Counts the live units with a term, over fields of different classes.
    pub fn living(&mut self, fields: &[Field], term: &str) -> Result<u64, Error> {
        let mut living = 0;
        for field in fields {
            living += self.postings(*field, term)?.living;
        }
        Ok(living)
    }
}
