//! Redaction for lored: secrets are taken out of what comes in, before it is recorded. Keys, tokens and
//! passwords are replaced by `[redacted:KIND]`, and what surrounds them stays.
//!
//! Pure: texts go in and come out. What is found depends on the text and the settings alone; a text
//! that was redacted comes out as it is. There is no way back, and nothing remembers what was there.
//!
//! - [`Redactor`] redacts texts and JSON, and counts what it replaced.
//! - [`Rules`] are what it looks for, made of the user's [`Settings`]; [`SharedRules`] can be replaced while
//!   redactors use them.
//! - [`kinds`] lists the kinds of secrets that are recognised.
//!
//! What it is not: it reads no settings file, and does not know which arguments and files pass through it;
//! the daemon does (`daemon/src/api/redacting.rs`).

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

/// Replaces secrets by the names of their kinds, and counts them.
#[derive(Debug, Default)]
pub struct Redactor {
    rules: SharedRules,
    counts: Mutex<SecretCounts>,
}

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its kind.
    pub kind: Arc<str>,
    /// Where it is, in bytes.
    pub range: Range<usize>,
}

/// Where the places of a text are after it was redacted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OffsetMap {
    /// For each pass what was replaced, and where the text behind it is since then.
    passes: Vec<Vec<(Range<usize>, usize)>>,
}

impl OffsetMap {
    /// Where a place is now. Those within a secret are behind what stands for it.
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
    /// By these rules, also once they are replaced by others.
    #[must_use]
    pub fn new(rules: SharedRules) -> Self {
        Self {
            rules,
            counts: Mutex::default(),
        }
    }

    /// Whether anything is looked for.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.rules.get().is_enabled
    }

    /// How many of which kind were replaced, of those that were.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<String, u64> {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let counted = counts.iter();
        counted
            .map(|(kind, count)| (kind.to_owned(), count))
            .collect()
    }

    /// A text without its secrets; what was replaced is added to `found`.
    pub fn text<'t>(&self, text: &'t str, found: &mut SecretCounts) -> Cow<'t, str> {
        self.counting(found, |rules, found| rules.under(None, text, found))
    }

    /// The same for a text of which places are known: where each of them is now. `None` when nothing was
    /// found.
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

    /// A JSON text without the secrets in its strings, which are judged as they read and by the names
    /// they stand under; several JSON texts may follow each other. Keys stay in their order and numbers
    /// in their digits. What is no JSON stays as it is.
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

    /// The same for JSON that was taken apart, in its place.
    pub fn value(&self, value: &mut Value, found: &mut SecretCounts) {
        self.counting(found, |rules, found| {
            if rules.is_enabled {
                value::redact(rules, value, found);
            }
        });
    }

    /// Where the secrets of a text are, in their order; nothing is counted.
    #[must_use]
    pub fn findings(&self, text: &str) -> Vec<Finding> {
        self.rules.get().findings(text)
    }

    /// Counts what some work with the rules of this moment finds.
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
