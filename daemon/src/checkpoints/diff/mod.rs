//! What is different between two contexts: by JSON Pointer, or by top-level keys alone.
//!
//! Texts are compared, not values: `1` and `1.0` are different. A container is taken apart only
//! where its texts differ, so the cost is that of the parts that changed, once per depth.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::canonical::{DEPTH_MAX, key_order};

#[cfg(test)]
mod tests;

/// What has to be done to one context to get another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextDiff<'a> {
    /// In an order in which they can be applied one after another, each to what the ones before it
    /// left, as the operations of JSON Patch (RFC 6902) are.
    pub changes: Vec<Change<'a>>,
    /// How many more there are than were asked for.
    pub left_out: usize,
}

/// One value that is different.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change<'a> {
    /// Where it is: a JSON Pointer (RFC 6901), empty for the whole.
    pub pointer: String,
    /// What happened there.
    pub what: DiffOp<'a>,
}

/// What happened at a place; values are JSON as it stands in the texts compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffOp<'a> {
    /// There is a key that was not there, or an item was put before the one that has this index.
    Added {
        /// The value now.
        new: &'a str,
    },
    /// The key or item is gone.
    Removed {
        /// The value before.
        old: &'a str,
    },
    /// Another value is in its place.
    Changed {
        /// The value before.
        old: &'a str,
        /// The value now.
        new: &'a str,
    },
}

/// The difference between two contexts in canonical JSON, at most `limit` changes of it.
///
/// Objects are compared key by key. Of arrays the equal items at both ends are set aside; what
/// remains between them is compared item by item, and the longer side's rest is added or removed.
///
/// ```
/// use lored::checkpoints::{DiffOp, difference};
///
/// let found = difference(r#"{"a":[1,2],"b":0}"#, r#"{"a":[1,9,2],"b":0}"#, 100);
/// assert_eq!(found.changes[0].pointer, "/a/1");
/// assert_eq!(found.changes[0].what, DiffOp::Added { new: "9" });
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
    /// How many containers are open.
    depth: usize,
    /// Where the walk is.
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
            self.note(DiffOp::Changed { old, new });
        }
    }

    /// Compares two objects; says whether both are.
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
                (Some(old), None) => walk.note(DiffOp::Removed { old: old.get() }),
                (None, Some(new)) => walk.note(DiffOp::Added { new: new.get() }),
                (None, None) => {}
            });
        }
        true
    }

    /// Compares two arrays; says whether both are.
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
            self.at_index(first + index, |walk| walk.note(DiffOp::Added { new }));
        }
        // From the end on, so that each still has its index when its turn comes.
        for (index, old) in old.iter().enumerate().skip(paired).rev() {
            self.at_index(first + index, |walk| walk.note(DiffOp::Removed { old }));
        }
        true
    }

    fn at_index(&mut self, index: usize, act: impl FnOnce(&mut Self)) {
        self.at(&index.to_string(), act);
    }

    /// Does something one token further down.
    fn at(&mut self, token: &str, act: impl FnOnce(&mut Self)) {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(token);
        self.depth += 1;
        act(self);
        self.depth -= 1;
        self.pointer.truncate(length);
    }

    fn note(&mut self, what: DiffOp<'a>) {
        if self.found.changes.len() < self.limit {
            let pointer = self.pointer.clone();
            self.found.changes.push(Change { pointer, what });
        } else {
            self.found.left_out += 1;
        }
    }
}

/// Two containers that begin with the same bracket, taken apart.
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

/// How many pairs are equal before the first that is not.
fn equal_items<'b>(pairs: impl Iterator<Item = (&'b &'b str, &'b &'b str)>) -> usize {
    pairs.take_while(|(old, new)| old == new).count()
}

/// The top-level keys that are different between two contexts, in the order of keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyDifference<'a> {
    /// Only the new one has them.
    pub added: Vec<&'a str>,
    /// Only the old one has them.
    pub removed: Vec<&'a str>,
    /// Both have them, with other values.
    pub changed: Vec<&'a str>,
}

/// Compares two contexts by their top-level keys alone.
///
/// Each is a list of unescaped keys with what stands for their values, a text or a hash, in the
/// order of [`key_order`]: [`Canonical::members`](crate::canonical::Canonical::members) is one.
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
