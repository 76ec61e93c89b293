//! Keys of contexts that only a person changes: `protected` in the section `[trust]` of the configuration.
//!
//! The first value of a key is anyone's; a later save may not change or leave it out, and its mark stays.

use super::saved_context::SavedContext;
use super::values::Values;
use crate::canonical::Canonical;
use crate::events::checkpoints::CheckpointSaved;
use crate::store::Error;

/// Returns the first protected key that a new context changes or lacks.
///
/// # Errors
/// When a value cannot be read.
pub fn changed(
    values: &Values<'_>,
    previous: &CheckpointSaved,
    context: &SavedContext,
    protected: &[String],
) -> Result<Option<String>, Error> {
    if protected.is_empty() {
        return Ok(None);
    }
    let before = values.only(previous, protected)?;
    let changed = before.entries.iter().find(|entry| {
        let old = before.text.get(entry.value.clone());
        value(&context.canonical, &entry.key) != old
    });
    Ok(changed.map(|entry| entry.key.clone()))
}

fn value<'c>(context: &'c Canonical, key: &str) -> Option<&'c str> {
    let mut entries = context.entries.iter();
    let entry = entries.find(|entry| entry.key == key)?;
    context.text.get(entry.value.clone())
}

/// Returns what only a person may do.
#[must_use]
pub fn what(key: &str) -> String {
    let key: String = key.chars().take(64).collect();
    format!("change the protected key `{key}`")
}
