//! A query that matches the units to delete, by key. tantivy deletes by query, and an index of the keys in addition
//! to the column would have no other use.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use tantivy::index::SegmentReader;
use tantivy::query::{
    BitSetDocSet, ConstScorer, EnableScoring, Explanation, Query, Scorer, Weight,
};
use tantivy::{BitSet, DocId, Result, Score};

/// Matches the units with the given keys.
#[derive(Clone, Debug)]
pub struct DeleteQuery {
    keys: Arc<FxHashSet<u64>>,
}

impl DeleteQuery {
    pub fn new(keys: impl IntoIterator<Item = u64>) -> Self {
        let keys = Arc::new(keys.into_iter().collect());
        Self { keys }
    }
}

impl Query for DeleteQuery {
    fn weight(&self, _: EnableScoring<'_>) -> Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for DeleteQuery {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> Result<Box<dyn Scorer>> {
        let keys = reader.fast_fields().u64("key")?.first_or_default_col(0);
        let mut found = BitSet::with_max_value(reader.max_doc());
        for at in 0..reader.max_doc() {
            if self.keys.contains(&keys.get_val(at)) {
                found.insert(at);
            }
        }
        Ok(Box::new(ConstScorer::new(BitSetDocSet::from(found), boost)))
    }

    fn explain(&self, _: &SegmentReader, _: DocId) -> Result<Explanation> {
        Ok(Explanation::new("its key", 1.0))
    }
}
