//! Rules that can be replaced while redactors use them.

use std::sync::{Arc, PoisonError, RwLock};

use super::Rules;

/// The rules in force, shared by all clones.
#[derive(Clone, Debug, Default)]
pub struct SharedRules(Arc<RwLock<Arc<Rules>>>);

impl SharedRules {
    /// Creates shared rules with these initial rules.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(rules))))
    }

    /// Returns the current rules.
    #[must_use]
    pub fn get(&self) -> Arc<Rules> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the rules for all later redactions.
    pub fn set(&self, rules: Rules) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rules);
    }
}
