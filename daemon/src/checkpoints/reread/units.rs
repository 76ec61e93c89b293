//! The units of a context: the items of its large arrays and objects, each with its range in the text that was received
//! and in the canonical text.
//!
//! The list is a tree in preorder: a container is followed by its items. Containers with a short text, with many tiny
//! items, or whose items depend on each other for redaction are units without items.

use std::ops::Range;

use super::scanner::{self, NextItem};
use crate::canonical::key_order;

/// Shorter containers are units without items, in bytes.
const CONTAINER_BYTES_MIN: usize = 2048;
/// Containers whose items are shorter on average are units without items, in bytes.
const ITEM_BYTES_MIN: usize = 24;

/// What a unit's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A value without items of its own.
    Leaf,
    /// An array with its items.
    Array,
    /// An object with its members; whether the received text has them in the canonical order.
    Object {
        /// Whether both texts have the same order.
        is_ordered: bool,
    },
}

/// An item of an array, a member of an object with its key, or the context itself. Offsets are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Beginning in the received text.
    pub raw: u32,
    /// End in the received text.
    pub raw_end: u32,
    /// Beginning in the canonical text.
    pub canonical: u32,
    /// End in the canonical text.
    pub canonical_end: u32,
    /// Number of the next unit that is not inside of this one.
    pub next: u32,
    /// Length of the key in the received text, with its quotes; 0 for an item of an array.
    pub key: u32,
    /// Distance from the beginning to the value, in the received text.
    pub raw_value: u32,
    /// The same in the canonical text.
    pub canonical_value: u32,
    /// Kind of the value.
    pub kind: Kind,
}

impl Unit {
    /// Returns the range in the received text.
    pub fn raw(&self) -> Range<usize> {
        self.raw as usize..self.raw_end as usize
    }

    /// Returns the range in the canonical text.
    pub fn canonical(&self) -> Range<usize> {
        self.canonical as usize..self.canonical_end as usize
    }

    /// Returns the range of the key in the received text.
    pub fn key(&self) -> Range<usize> {
        self.raw as usize..(self.raw + self.key) as usize
    }

    /// Returns the range of the key in the canonical text.
    pub fn canonical_key(&self) -> Range<usize> {
        let colon = self.canonical_value.saturating_sub(1);
        self.canonical as usize..(self.canonical + colon) as usize
    }

    /// Returns the byte that begins its value, if it has items.
    pub fn opening(&self) -> Option<u8> {
        match self.kind {
            Kind::Leaf => None,
            Kind::Array => Some(b'['),
            Kind::Object { .. } => Some(b'{'),
        }
    }

    /// Returns the byte that ends its value, if it has items.
    pub fn close(&self) -> Option<u8> {
        match self.kind {
            Kind::Leaf => None,
            Kind::Array => Some(b']'),
            Kind::Object { .. } => Some(b'}'),
        }
    }

    /// Moves the unit in both texts and in the list.
    pub fn shifted(self, raw: i64, canonical: i64, number: i64) -> Self {
        let by = |at: u32, by: i64| (i64::from(at) + by) as u32;
        Self {
            raw: by(self.raw, raw),
            raw_end: by(self.raw_end, raw),
            canonical: by(self.canonical, canonical),
            canonical_end: by(self.canonical_end, canonical),
            next: by(self.next, number),
            ..self
        }
    }
}

/// A member in one of the texts.
#[derive(Clone)]
struct Member {
    key: Range<usize>,
    end: usize,
}

/// Builds a list of units.
pub struct UnitBuilder<'t> {
    raw: &'t [u8],
    canonical: &'t [u8],
    /// The units so far.
    pub units: Vec<Unit>,
}

impl<'t> UnitBuilder<'t> {
    /// Builds the units of a text and its canonical form.
    pub fn new(raw: &'t [u8], canonical: &'t [u8]) -> Self {
        Self {
            raw,
            canonical,
            units: Vec::new(),
        }
    }

    /// Adds the context itself.
    pub fn add_context(&mut self) -> Option<()> {
        self.add(0..self.raw.len(), 0..self.canonical.len(), 0, true)
    }

    /// Adds an item of a container, with its own items. A member's `key` is the length of its key in the received text.
    /// Returns `None` when the texts are not forms of the same value.
    pub fn add_item(
        &mut self,
        raw: Range<usize>,
        canonical: Range<usize>,
        key: usize,
    ) -> Option<()> {
        self.add(raw, canonical, key, false)
    }

    fn add(
        &mut self,
        raw: Range<usize>,
        canonical: Range<usize>,
        key: usize,
        is_root: bool,
    ) -> Option<()> {
        let (raw_value, canonical_value) = match key {
            0 => (raw.start, canonical.start),
            _ => (
                scanner::member(self.raw, raw.start)?.value,
                scanner::member(self.canonical, canonical.start)?.value,
            ),
        };
        let offset = |at: usize| u32::try_from(at).ok();
        let number = self.units.len();
        self.units.push(Unit {
            raw: offset(raw.start)?,
            raw_end: offset(raw.end)?,
            canonical: offset(canonical.start)?,
            canonical_end: offset(canonical.end)?,
            next: offset(number + 1)?,
            key: offset(key)?,
            raw_value: offset(raw_value - raw.start)?,
            canonical_value: offset(canonical_value - canonical.start)?,
            kind: Kind::Leaf,
        });
        if raw.end - raw_value < CONTAINER_BYTES_MIN && !is_root {
            return Some(());
        }
        let kind = match self.raw.get(raw_value)? {
            b'[' => self.items(raw_value, canonical_value),
            b'{' => self.members(raw_value, canonical_value),
            _ => return Some(()),
        };
        let count = self.units.len() - number;
        match kind {
            Some(kind) if is_root || raw.len() >= ITEM_BYTES_MIN * count => {
                let next = offset(self.units.len())?;
                let unit = self.units.get_mut(number)?;
                (unit.kind, unit.next) = (kind, next);
            }
            Some(_) | None => self.units.truncate(number + 1),
        }
        Some(())
    }

    fn items(&mut self, raw: usize, canonical: usize) -> Option<Kind> {
        let mut raw = scanner::first_item(self.raw, raw, b']');
        let mut canonical = scanner::first_item(self.canonical, canonical, b']');
        loop {
            match (raw, canonical) {
                (NextItem::End(_), NextItem::End(_)) => return Some(Kind::Array),
                (NextItem::Item(raw_at), NextItem::Item(at)) => {
                    let raw_end = scanner::value_end(self.raw, raw_at)?;
                    let end = scanner::value_end(self.canonical, at)?;
                    self.add_item(raw_at..raw_end, at..end, 0)?;
                    raw = scanner::next_item(self.raw, raw_end, b']')?;
                    canonical = scanner::next_item(self.canonical, end, b']')?;
                }
                _ => return None,
            }
        }
    }

    fn members(&mut self, raw: usize, canonical: usize) -> Option<Kind> {
        let written = members(self.raw, raw)?;
        let sorted = members(self.canonical, canonical)?;
        let key = |member: &Member| self.raw.get(member.key.clone()).unwrap_or_default();
        let canonical_key = |member: &Member| {
            let key = self.canonical.get(member.key.clone());
            key.unwrap_or_default()
        };
        let (mut has_names, mut has_named) = (false, false);
        for member in &written {
            let key = plain_key(key(member))?;
            has_names |= lored_redact::names_siblings(key);
            has_named |= lored_redact::is_named_by_siblings(key);
        }
        // What one of these items is taken for depends on another one.
        if has_names && has_named {
            return None;
        }
        let is_same = |(a, b): (&Member, &Member)| key(a) == canonical_key(b);
        let is_ordered = written.len() == sorted.len() && written.iter().zip(&sorted).all(is_same);
        let mut pairs: Vec<(&Member, &Member)> = Vec::with_capacity(written.len());
        if is_ordered {
            pairs.extend(written.iter().zip(&sorted));
        } else {
            let mut by_key: Vec<&Member> = written.iter().collect();
            let text = |member: &Member| plain_key(key(member)).unwrap_or_default();
            by_key.sort_by(|a, b| key_order(text(a), text(b)));
            let is_same = |(a, b): (&&Member, &Member)| key(a) == canonical_key(b);
            if by_key.len() != sorted.len() || !by_key.iter().zip(&sorted).all(is_same) {
                return None;
            }
            pairs.extend(by_key.into_iter().zip(&sorted));
            pairs.sort_unstable_by_key(|(written, _)| written.key.start);
        }
        for (written, sorted) in pairs {
            self.add_item(
                written.key.start..written.end,
                sorted.key.start..sorted.end,
                written.key.len(),
            )?;
        }
        Some(Kind::Object { is_ordered })
    }
}

/// Returns the characters of a quoted key; `None` when it has escapes, because another text may be the same key.
pub fn plain_key(quoted: &[u8]) -> Option<&str> {
    let inner = quoted.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    let has_escapes = memchr::memchr(b'\\', inner).is_some();
    str::from_utf8(inner).ok().filter(|_| !has_escapes)
}

/// Lists the members of the object that begins at an offset.
fn members(text: &[u8], at: usize) -> Option<Vec<Member>> {
    let mut members = Vec::new();
    let mut next = scanner::first_item(text, at, b'}');
    while let NextItem::Item(at) = next {
        let start = scanner::member(text, at)?;
        let end = scanner::value_end(text, start.value)?;
        members.push(Member {
            key: at..start.key_end,
            end,
        });
        next = scanner::next_item(text, end, b'}')?;
    }
    Some(members)
}

/// Lists the members of the canonical object that begins at an offset: each key with its quotes, and each member.
pub fn canonical_members(text: &[u8], at: usize) -> Option<Vec<(Range<usize>, Range<usize>)>> {
    let members = members(text, at)?.into_iter();
    let ranges = members.map(|member| (member.key.clone(), member.key.start..member.end));
    Some(ranges.collect())
}
