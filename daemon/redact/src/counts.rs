//! Counts of replaced secrets by kind.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Number of replaced secrets by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecretCounts {
    of: BTreeMap<Arc<str>, u64>,
}

impl SecretCounts {
    /// Returns whether the count is zero.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Iterates over the kinds and counts, ordered by id.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.of.iter().map(|(kind, count)| (&**kind, *count))
    }

    /// Renders a sentence for the caller; `None` when nothing was found.
    #[must_use]
    pub fn sentence(&self) -> Option<String> {
        let all: u64 = self.of.values().sum();
        let kinds: Vec<String> = self
            .iter()
            .map(|(kind, count)| match count {
                1 => kind.to_owned(),
                _ => format!("{kind} ({count})"),
            })
            .collect();
        let what = if all == 1 {
            "1 secret was"
        } else {
            &format!("{all} secrets were")
        };
        (all > 0).then(|| {
            format!(
                "{what} redacted before anything was recorded: {}",
                kinds.join(", ")
            )
        })
    }

    pub(super) fn add(&mut self, kind: &Arc<str>) {
        match self.of.get_mut(kind) {
            Some(count) => *count += 1,
            None => drop(self.of.insert(Arc::clone(kind), 1)),
        }
    }

    /// Adds other counts.
    pub fn add_all(&mut self, other: Self) {
        for (kind, count) in other.of {
            *self.of.entry(kind).or_default() += count;
        }
    }
}
