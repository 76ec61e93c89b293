//! The units to be deleted, as a query by their keys: tantivy deletes by queries, and an index of
//! keys beside the column would be used for nothing else.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use tantivy::index::SegmentReader;
use tantivy::query::{
    BitSetDocSet, ConstScorer, EnableScoring, Explanation, Query, Scorer, Weight,
};
use tantivy::{BitSet, DocId, Result, Score};

/// Matches the units of some keys.
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
