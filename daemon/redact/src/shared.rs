//! Rules that may be replaced while redactors use them.

use std::sync::{Arc, PoisonError, RwLock};

use super::Rules;

/// The rules in force, shared by all clones.
#[derive(Clone, Debug, Default)]
pub struct SharedRules(Arc<RwLock<Arc<Rules>>>);

impl SharedRules {
    /// These rules, until others are set.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(rules))))
    }

    /// The rules as they are now.
    #[must_use]
    pub fn get(&self) -> Arc<Rules> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the rules for every redaction that begins from now on.
    pub fn set(&self, rules: Rules) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rules);
    }
}
