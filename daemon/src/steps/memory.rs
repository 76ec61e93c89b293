//! An in-memory session for tests.

use super::extract::ExtractorSet;
use super::resolve::{History, StepData};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

#[derive(Default)]
pub(super) struct Session {
    pub(super) steps: BTreeMap<u32, Arc<StepData>>,
    pub(super) set: Arc<ExtractorSet>,
    pub(super) current: Option<u32>,
    /// Memory that values may still take, in bytes; `None` is unlimited.
    pub(super) bytes_left: Cell<Option<usize>>,
}

impl History for Session {
    type Error = Infallible;

    fn last(&self) -> Result<Option<u32>, Infallible> {
        Ok(self.steps.keys().next_back().copied())
    }

    fn step(&self, step: u32) -> Result<Option<Arc<StepData>>, Infallible> {
        Ok(self.steps.get(&step).cloned())
    }

    fn reserve(&self, bytes: usize) -> bool {
        let Some(left) = self.bytes_left.get() else {
            return true;
        };
        let left = left.checked_sub(bytes);
        self.bytes_left.set(left.or(self.bytes_left.get()));
        left.is_some()
    }
}

impl Session {
    pub(super) fn of(results: &[&str]) -> Session {
        let mut session = Session::default();
        for (number, raw) in (1..).zip(results) {
            session.add(number, raw);
        }
        session
    }

    pub(super) fn add(&mut self, number: u32, raw: &str) {
        let step = StepData::new(
            number,
            1,
            u64::from(number) + 100,
            raw.to_owned(),
            Arc::clone(&self.set),
        );
        self.steps.insert(number, Arc::new(step));
    }

    pub(super) fn failed(&mut self, number: u32, raw: &str, error: Option<&str>) {
        let step = StepData::new(number, 2, 7, raw.to_owned(), Arc::clone(&self.set));
        self.steps.insert(
            number,
            Arc::new(step.with_outcome(false, error.map(str::to_owned))),
        );
    }
}
