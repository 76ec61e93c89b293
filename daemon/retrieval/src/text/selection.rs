//! The units that pass a filter. Each segment keeps them for the next search with the same filter: an agent searches its
//! project again and again, and a segment's units do not change.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::indexed_text::IndexedText;
use super::postings::{PostingsPart, UnitMask};

/// Number of filters whose units a segment keeps.
const KEPT_MAX: usize = 2;

/// Selects units.
#[derive(Clone, Copy)]
pub struct Filter<'a> {
    /// Returns whether a unit may match.
    pub passes: &'a dyn Fn(&IndexedText) -> bool,
    /// Differs between filters that pass different units.
    pub fingerprint: u64,
}

/// The units of a segment that pass a filter, also those that were deleted since.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Number of units that were looked at.
    seen: u32,
    units: UnitMask,
    keys: Vec<u64>,
}

impl Selection {
    /// Returns whether a unit passes.
    pub fn has(&self, at: u32) -> bool {
        self.units.has(at)
    }

    /// Returns the keys of the units, ascending.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Looks at the units that were added since.
    fn extend(&mut self, part: &dyn PostingsPart, filter: Filter<'_>) {
        let before = self.keys.len();
        part.each(self.seen, &mut |at, unit| {
            if (filter.passes)(&unit) {
                self.units.put(at);
                self.keys.push(unit.key);
            }
        });
        self.seen = part.units();
        let last = before.checked_sub(1).and_then(|last| self.keys.get(last));
        let new = self.keys.get(before..).unwrap_or_default();
        if !new.is_sorted() || last.zip(new.first()).is_some_and(|(last, new)| last > new) {
            self.keys.sort_unstable();
        }
    }
}

/// The selections that a segment keeps, the one used last at the end.
#[derive(Default)]
pub struct Selections {
    kept: Mutex<Vec<(u64, Arc<Selection>)>>,
}

impl Selections {
    /// Returns the units that pass a filter.
    pub fn of(&self, part: &dyn PostingsPart, filter: Filter<'_>) -> Arc<Selection> {
        let known = self.take(filter.fingerprint);
        let selection = match known {
            Some(known) if known.seen == part.units() => known,
            // Shared only with a search that still uses it.
            Some(known) => {
                let mut selection = Arc::unwrap_or_clone(known);
                selection.extend(part, filter);
                Arc::new(selection)
            }
            None => {
                let mut selection = Selection::default();
                selection.extend(part, filter);
                Arc::new(selection)
            }
        };
        self.put(filter.fingerprint, &selection);
        selection
    }

    /// Returns the units that pass a filter if they are known already.
    pub fn known(&self, part: &dyn PostingsPart, filter: Filter<'_>) -> Option<Arc<Selection>> {
        let kept = self.lock();
        let mut fitting = kept.iter().filter(|(fingerprint, known)| {
            *fingerprint == filter.fingerprint && known.seen == part.units()
        });
        fitting.next().map(|(_, known)| Arc::clone(known))
    }

    /// Frees the memory.
    pub fn clear(&self) {
        *self.lock() = Vec::new();
    }

    fn take(&self, fingerprint: u64) -> Option<Arc<Selection>> {
        let mut kept = self.lock();
        let at = kept.iter().position(|(known, _)| *known == fingerprint)?;
        Some(kept.remove(at).1)
    }

    fn put(&self, fingerprint: u64, selection: &Arc<Selection>) {
        let mut kept = self.lock();
        kept.retain(|(known, _)| *known != fingerprint);
        if kept.len() >= KEPT_MAX {
            kept.remove(0);
        }
        kept.push((fingerprint, Arc::clone(selection)));
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(u64, Arc<Selection>)>> {
        // Every change above is complete before a panic is possible.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
