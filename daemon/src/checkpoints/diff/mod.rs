//! The difference between two contexts, by JSON Pointer or by top-level keys.
//!
//! Texts are compared, not values: `1` and `1.0` are different. Only containers whose texts differ are parsed, so the
//! cost is that of the changed parts, once per depth.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::canonical::{DEPTH_MAX, key_order};

#[cfg(test)]
mod tests;

/// The changes that make one context into another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextDiff<'a> {
    /// Changes in the order of application, as in JSON Patch (RFC 6902).
    pub changes: Vec<Change<'a>>,
    /// Number of changes beyond the limit.
    pub left_out: usize,
}

/// A changed value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change<'a> {
    /// A JSON Pointer (RFC 6901), empty for the whole.
    pub pointer: String,
    /// The value before, as in the compared text; `None` for an added key, or an item inserted at this index.
    pub old: Option<&'a str>,
    /// The value now; `None` for a removed key or item.
    pub new: Option<&'a str>,
}

/// Compares two contexts in canonical JSON; returns at most `limit` changes.
///
/// Objects are compared key by key. In arrays, equal items at both ends are skipped; the items between are compared
/// one by one, and the rest of the longer side is added or removed.
///
/// ```
/// use lored::checkpoints::difference;
///
/// let found = difference(r#"{"a":[1,2],"b":0}"#, r#"{"a":[1,9,2],"b":0}"#, 100);
/// assert_eq!(found.changes[0].pointer, "/a/1");
/// assert_eq!((found.changes[0].old, found.changes[0].new), (None, Some("9")));
/// assert_eq!((found.changes.len(), found.left_out), (1, 0));
/// ```
#[must_use]
pub fn difference<'a>(old: &'a str, new: &'a str, limit: usize) -> ContextDiff<'a> {
    let mut walk = DiffWalker {
        limit,
        depth: 0,
        pointer: String::new(),
        found: ContextDiff::default(),
    };
    walk.values(old, new);
    walk.found
}

struct DiffWalker<'a> {
    limit: usize,
    /// Number of open containers.
    depth: usize,
    /// JSON Pointer of the current value.
    pointer: String,
    found: ContextDiff<'a>,
}

impl<'a> DiffWalker<'a> {
    fn values(&mut self, old: &'a str, new: &'a str) {
        if old == new {
            return;
        }
        let taken_apart =
            self.depth < DEPTH_MAX && (self.objects(old, new) || self.arrays(old, new));
        if !taken_apart {
            self.note(Some(old), Some(new));
        }
    }

    /// Compares two objects; returns false if one is not an object.
    fn objects(&mut self, old: &'a str, new: &'a str) -> bool {
        type Members<'a> = BTreeMap<String, &'a RawValue>;
        let Some((old, new)) = both::<Members>('{', old, new) else {
            return false;
        };
        let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for key in keys {
            let (old, new) = (old.get(key).copied(), new.get(key).copied());
            let token = key.replace('~', "~0").replace('/', "~1");
            self.at(&token, |walk| match (old, new) {
                (Some(old), Some(new)) => walk.values(old.get(), new.get()),
                (old, new) => walk.note(old.map(RawValue::get), new.map(RawValue::get)),
            });
        }
        true
    }

    /// Compares two arrays; returns false if one is not an array.
    fn arrays(&mut self, old: &'a str, new: &'a str) -> bool {
        let Some((old, new)) = both::<Vec<&RawValue>>('[', old, new) else {
            return false;
        };
        let (old, new) = (texts(old), texts(new));
        let first = equal_items(old.iter().zip(&new));
        let (old, new) = (
            old.get(first..).unwrap_or_default(),
            new.get(first..).unwrap_or_default(),
        );
        let last = equal_items(old.iter().rev().zip(new.iter().rev()));
        let old = old.get(..old.len() - last).unwrap_or_default();
        let new = new.get(..new.len() - last).unwrap_or_default();

        let paired = old.len().min(new.len());
        for (index, (old, new)) in old.iter().zip(new).enumerate() {
            self.at_index(first + index, |walk| walk.values(old, new));
        }
        for (index, new) in new.iter().enumerate().skip(paired) {
            self.at_index(first + index, |walk| walk.note(None, Some(*new)));
        }
        // From the end, so that the indices of the others stay valid.
        for (index, old) in old.iter().enumerate().skip(paired).rev() {
            self.at_index(first + index, |walk| walk.note(Some(*old), None));
        }
        true
    }

    fn at_index(&mut self, index: usize, act: impl FnOnce(&mut Self)) {
        self.at(&index.to_string(), act);
    }

    /// Runs `act` one token deeper.
    fn at(&mut self, token: &str, act: impl FnOnce(&mut Self)) {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(token);
        self.depth += 1;
        act(self);
        self.depth -= 1;
        self.pointer.truncate(length);
    }

    fn note(&mut self, old: Option<&'a str>, new: Option<&'a str>) {
        if self.found.changes.len() < self.limit {
            let pointer = self.pointer.clone();
            self.found.changes.push(Change { pointer, old, new });
        } else {
            self.found.left_out += 1;
        }
    }
}

/// Parses two containers that begin with the same bracket.
fn both<'a, T: Deserialize<'a>>(bracket: char, old: &'a str, new: &'a str) -> Option<(T, T)> {
    if !old.starts_with(bracket) || !new.starts_with(bracket) {
        return None;
    }
    let old = serde_json::from_str(old).ok()?;
    Some((old, serde_json::from_str(new).ok()?))
}

fn texts(items: Vec<&RawValue>) -> Vec<&str> {
    items.into_iter().map(RawValue::get).collect()
}

/// Counts the equal pairs before the first different one.
fn equal_items<'b>(pairs: impl Iterator<Item = (&'b &'b str, &'b &'b str)>) -> usize {
    pairs.take_while(|(old, new)| old == new).count()
}

/// The top-level keys that differ between two contexts, in key order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyDifference<'a> {
    /// Keys of the new context only.
    pub added: Vec<&'a str>,
    /// Keys of the old context only.
    pub removed: Vec<&'a str>,
    /// Keys of both, with different values.
    pub changed: Vec<&'a str>,
}

/// Compares two contexts by their top-level keys.
///
/// Each is a list of unescaped keys with their values, as texts or hashes, in the order of [`key_order`], for example
/// [`Canonical::members`](crate::canonical::Canonical::members).
#[must_use]
pub fn key_difference<'a, V: PartialEq>(
    old: impl IntoIterator<Item = (&'a str, V)>,
    new: impl IntoIterator<Item = (&'a str, V)>,
) -> KeyDifference<'a> {
    let (mut old, mut new) = (old.into_iter().peekable(), new.into_iter().peekable());
    let mut found = KeyDifference::default();
    loop {
        let order = match (old.peek(), new.peek()) {
            (Some((old, _)), Some((new, _))) => key_order(old, new),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return found,
        };
        match order {
            Ordering::Less => found.removed.extend(old.next().map(|(key, _)| key)),
            Ordering::Greater => found.added.extend(new.next().map(|(key, _)| key)),
            Ordering::Equal => {
                let pair = old.next().zip(new.next());
                let differs = pair.filter(|((_, old), (_, new))| old != new);
                found.changed.extend(differs.map(|((key, _), _)| key));
            }
        }
    }
}
