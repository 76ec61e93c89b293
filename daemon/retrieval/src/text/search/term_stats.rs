//! Where the parts keep the terms of a question, looked up once.

use rustc_hash::FxHashMap;

use super::super::error::Error;
use super::super::postings::{Entry, Field, PerField, View};

/// A term in a field.
#[derive(Clone, Debug)]
pub struct TermPostings {
    /// Its entry in each part, in the order of the parts.
    pub entries: Vec<Option<Entry>>,
    /// How many units that are there have it.
    pub living: u64,
}

/// What was looked up for one question.
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

    /// The parts it is about.
    pub fn views(&self) -> &'a [View<'a>] {
        self.views
    }

    /// The place of a term in a field.
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

    /// How many units that are there have a term, over some fields of different classes.
    pub fn living(&mut self, fields: &[Field], term: &str) -> Result<u64, Error> {
        let mut living = 0;
        for field in fields {
            living += self.postings(*field, term)?.living;
        }
        Ok(living)
    }
}
