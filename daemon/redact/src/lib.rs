//! Redaction for lored: removes secrets from input before it is recorded. Keys, tokens and passwords are replaced by
//! `[redacted:KIND]`; the surrounding text stays.
//!
//! The crate is pure: results depend only on the text and the settings. Redacting a redacted text changes nothing.
//! Redaction is irreversible, and removed secrets are not stored anywhere.
//!
//! - [`Redactor`] redacts texts and JSON, and counts what it replaced.
//! - [`Rules`] are the search rules, built from the user's [`Settings`]; [`SharedRules`] can be replaced while
//!   redactors use them.
//! - [`kinds`] lists the kinds of secrets that are recognised.
//!
//! The crate reads no settings file and does not know which arguments and files are redacted; the daemon does
//! (`daemon/src/api/redacting.rs`).

mod address;
mod assignment;
mod commands;
mod counts;
mod custom;
mod find;
mod json;
mod keywords;
pub mod kinds;
mod names;
mod rules;
mod shared;
#[cfg(test)]
mod tests;
mod value;
mod values;
mod written;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use rules::PASSES_MAX;

pub use counts::SecretCounts;
pub use custom::{Error, OwnRule, Settings};
pub use rules::Rules;
pub use shared::SharedRules;
pub use value::{is_named_by_siblings, names_siblings};

/// Replaces secrets by the names of their kinds, and counts them.
#[derive(Debug, Default)]
pub struct Redactor {
    rules: SharedRules,
    counts: Mutex<SecretCounts>,
}

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Kind.
    pub kind: Arc<str>,
    /// Range in bytes.
    pub range: Range<usize>,
}

/// Maps positions in a text to positions after redaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OffsetMap {
    /// For each pass, the replaced ranges and the new position of the text after them.
    passes: Vec<Vec<(Range<usize>, usize)>>,
}

impl OffsetMap {
    /// Returns the new position. Positions within a secret map to the end of its replacement.
    #[must_use]
    pub fn now(&self, at: usize) -> usize {
        self.passes.iter().fold(at, |at, moves| {
            let next = moves.partition_point(|(was, _)| was.start < at);
            match next.checked_sub(1).and_then(|last| moves.get(last)) {
                Some((was, now)) => now + at.saturating_sub(was.end),
                None => at,
            }
        })
    }
}

impl Redactor {
    /// Creates a redactor that follows later changes of the shared rules.
    #[must_use]
    pub fn new(rules: SharedRules) -> Self {
        Self {
            rules,
            counts: Mutex::default(),
        }
    }

    /// Returns whether redaction is enabled.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.rules.get().is_enabled
    }

    /// Returns the current rules. What was found under other rules does not count for these.
    #[must_use]
    pub fn rules(&self) -> Arc<Rules> {
        self.rules.get()
    }

    /// Returns the number of replaced secrets by kind.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<String, u64> {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let counted = counts.iter();
        counted
            .map(|(kind, count)| (kind.to_owned(), count))
            .collect()
    }

    /// Redacts a text; adds the replaced secrets to `found`.
    pub fn text<'t>(&self, text: &'t str, found: &mut SecretCounts) -> Cow<'t, str> {
        self.counting(found, |rules, found| rules.under(None, text, found))
    }

    /// Redacts a text and returns the map of positions. `None` when nothing was found.
    pub fn text_with_places(
        &self,
        text: &str,
        found: &mut SecretCounts,
    ) -> Option<(String, OffsetMap)> {
        let mut places = OffsetMap::default();
        let redacted = self.counting(found, |rules, found| {
            let mut now = Cow::Borrowed(text);
            for _ in 0..PASSES_MAX {
                let spans = rules.spans(None, &now);
                if spans.is_empty() {
                    break;
                }
                places.passes.push(rules.moves(&spans));
                now = Cow::Owned(rules.replaced(&now, &spans, found));
            }
            now
        });
        match redacted {
            Cow::Borrowed(_) => None,
            Cow::Owned(text) => Some((text, places)),
        }
    }

    /// Redacts the strings of a JSON text, checking their unescaped text and their key names. Several JSON values may
    /// follow each other. Key order and number formats are preserved. Text that is not JSON stays unchanged.
    pub fn json<'j>(&self, json: &'j [u8], found: &mut SecretCounts) -> Cow<'j, [u8]> {
        match std::str::from_utf8(json) {
            Ok(text) => {
                let redact = |rules: &Rules, found: &mut SecretCounts| match rules.is_enabled {
                    true => json::redact(rules, text, found),
                    false => None,
                };
                match self.counting(found, redact) {
                    Some(Cow::Owned(text)) => Cow::Owned(text.into_bytes()),
                    Some(Cow::Borrowed(_)) | None => Cow::Borrowed(json),
                }
            }
            Err(_) => Cow::Borrowed(json),
        }
    }

    /// Redacts parsed JSON in place.
    pub fn value(&self, value: &mut Value, found: &mut SecretCounts) {
        self.counting(found, |rules, found| {
            if rules.is_enabled {
                value::redact(rules, value, found);
            }
        });
    }

    /// Returns the secrets of a text in order, without counting them.
    #[must_use]
    pub fn findings(&self, text: &str) -> Vec<Finding> {
        self.rules.get().findings(text)
    }

    /// Runs a function with the current rules and counts its finds.
    fn counting<T>(
        &self,
        found: &mut SecretCounts,
        work: impl FnOnce(&Rules, &mut SecretCounts) -> T,
    ) -> T {
        let mut own = SecretCounts::default();
        let done = work(&self.rules.get(), &mut own);
        if !own.is_empty() {
            let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
            counts.add_all(own.clone());
            found.add_all(own);
        }
        done
    }
}
