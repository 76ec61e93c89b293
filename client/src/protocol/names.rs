//! Closed vocabularies of names that the wire shares with events and views.
//!
//! Events store some of these words, so a word never changes.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use super::checkpoints::{LayerName, TruncationAction};
pub use super::facts::FactState;
pub use super::packs::{MadeFor, Part, PieceKind, PruneStrategy, SectionName, WhyLeftOut};
pub use super::sessions::SessionState;

/// Returns the word for a name, as it is on the wire and in events.
///
/// ```
/// use lore::protocol::names::{SectionName, of_word, word};
///
/// assert_eq!(word(SectionName::ContextFiles), "context_files");
/// assert_eq!(of_word("context_files"), Some(SectionName::ContextFiles));
/// assert_eq!(of_word::<SectionName>("none"), None);
/// ```
#[must_use]
pub fn word(name: impl Serialize) -> String {
    match serde_json::to_value(name) {
        Ok(Value::String(word)) => word,
        Ok(_) | Err(_) => String::new(),
    }
}

/// Returns the name of a word.
#[must_use]
pub fn of_word<T: DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(Value::from(word)).ok()
}
