//! Splits a context into pieces, and joins them.
//!
//! The value of each large top-level key is a piece, so that checkpoints of any session share equal values. All small
//! values together are one piece, a JSON object, because naming each would take more space than the value.

use std::borrow::Cow;

use crate::canonical::{Canonical, CanonicalError, Entry, key_order, quoted};

/// Minimum length of a value that is a separate piece, in bytes.
pub const LARGE_BYTES_MIN: usize = 4096;

/// A piece of a context: canonical JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content<'c> {
    /// The key of a large value; `None` for the object of all small values.
    pub key: Option<&'c str>,
    /// The value, or that object.
    pub text: Cow<'c, str>,
}

/// Splits a context. A context without keys has no pieces.
#[must_use]
pub fn split(context: &Canonical) -> Vec<Content<'_>> {
    let mut pieces = Vec::new();
    let mut small = String::new();
    for entry in &context.entries {
        let text = |range: &std::ops::Range<usize>| context.text.get(range.clone());
        if entry.value.len() >= LARGE_BYTES_MIN {
            pieces.push(Content {
                key: Some(&entry.key),
                text: Cow::Borrowed(text(&entry.value).unwrap_or_default()),
            });
        } else {
            small.push(if small.is_empty() { '{' } else { ',' });
            small.push_str(text(&entry.member).unwrap_or_default());
        }
    }
    if !small.is_empty() {
        small.push('}');
        pieces.push(Content {
            key: None,
            text: Cow::Owned(small),
        });
    }
    pieces
}

/// Joins pieces, or some of them, into canonical text.
///
/// # Errors
/// [`CanonicalError`] when the small values are not an object.
pub fn join(pieces: &[Content<'_>]) -> Result<Canonical, CanonicalError> {
    let small = pieces.iter().find(|piece| piece.key.is_none());
    let small = small.map(|piece| Canonical::of(&piece.text)).transpose()?;
    let small = small.unwrap_or_default();
    let mut members: Vec<(&str, Member<'_>)> = Vec::new();
    for entry in &small.entries {
        let member = small.text.get(entry.member.clone()).unwrap_or_default();
        let value = entry.value.start - entry.member.start;
        members.push((&entry.key, Member::Small(member, value)));
    }
    for piece in pieces {
        if let Some(key) = piece.key {
            members.push((key, Member::Large(&piece.text)));
        }
    }
    members.sort_by(|a, b| key_order(a.0, b.0));
    let bytes = |piece: &Content<'_>| piece.text.len() + piece.key.map_or(0, str::len) + 8;
    let mut text = String::with_capacity(pieces.iter().map(bytes).sum());
    let mut entries = Vec::with_capacity(members.len());
    text.push('{');
    for (key, member) in members {
        if !entries.is_empty() {
            text.push(',');
        }
        let start = text.len();
        let value = match member {
            Member::Small(member, value) => {
                text.push_str(member);
                start + value
            }
            Member::Large(value) => {
                text.push_str(&quoted(key));
                text.push(':');
                let start = text.len();
                text.push_str(value);
                start
            }
        };
        entries.push(Entry {
            key: key.to_owned(),
            member: start..text.len(),
            value: value..text.len(),
        });
    }
    text.push('}');
    Ok(Canonical { text, entries })
}

/// A member of a context that is joined.
enum Member<'m> {
    /// `"key":value`, and where the value begins in it.
    Small(&'m str, usize),
    /// A value.
    Large(&'m str),
}

/// Returns the keys of a context from its pieces.
///
/// # Errors
/// As [`join`].
pub fn keys<'c>(
    large: impl Iterator<Item = &'c str>,
    small: Option<&str>,
) -> Result<Vec<String>, CanonicalError> {
    let mut keys: Vec<String> = large.map(str::to_owned).collect();
    if let Some(small) = small {
        let small = Canonical::of(small)?;
        keys.extend(small.entries.into_iter().map(|entry| entry.key));
    }
    keys.sort_by(|a, b| key_order(a, b));
    Ok(keys)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn context() -> impl Strategy<Value = String> {
        let value = prop_oneof![
            "[a-z]{0,20}",
            (4090_usize..4100).prop_map(|length| "x".repeat(length))
        ];
        proptest::collection::btree_map("\\PC{0,6}", value, 0..12)
            .prop_map(|map| serde_json::to_string(&map).unwrap())
    }

    proptest! {
        /// What was taken apart comes together again, whichever keys are large.
        #[test]
        fn pieces_come_together_again(json in context()) {
            let canonical = Canonical::of(&json).unwrap();
            let pieces = split(&canonical);
            prop_assert!(pieces.iter().filter(|piece| piece.key.is_none()).count() <= 1);
            prop_assert_eq!(&join(&pieces).unwrap(), &canonical);
            let large = pieces.iter().filter_map(|piece| piece.key);
            let small = pieces.iter().find(|piece| piece.key.is_none());
            let keys = keys(large, small.map(|piece| &*piece.text)).unwrap();
            let wanted: Vec<&str> = canonical.entries.iter().map(|entry| &*entry.key).collect();
            prop_assert_eq!(keys, wanted);
        }
    }

    /// The boundary between large and small is the value's length.
    #[test]
    fn a_value_is_large_from_its_limit_on() {
        // Two of the bytes are the quotes.
        let of = |length: usize| format!(r#"{{"k":"{}"}}"#, "x".repeat(length - 2));
        let canonical = Canonical::of(&of(LARGE_BYTES_MIN)).unwrap();
        assert_eq!(split(&canonical)[0].key, Some("k"));
        let canonical = Canonical::of(&of(LARGE_BYTES_MIN - 1)).unwrap();
        assert_eq!(split(&canonical)[0].key, None);
        assert!(split(&Canonical::of("{}").unwrap()).is_empty());
        assert_eq!(join(&[]).unwrap().text, "{}");
    }
}
