//! The gazetteer: names already known, found in a text in one pass.
//!
//! Names are matched as whole words, whatever their case. A search walks over the words of the text
//! once: a small filter over the first words of all names passes over nearly every word at the cost
//! of a hash, and from the others an automaton over the names goes on as far as a name does. So what
//! a pass costs depends on the text and on how often names are in it, not on how many are known.
//!
//! The names are held in parts, each with its own automaton, the large ones first. Learning some
//! names builds anew the small part of those that are fresh, and merges it with others only once it
//! has grown to their order of size: no name is built anew more than a few times.

mod name_index;
#[cfg(test)]
mod tests;

use super::NAME_BYTES_MAX;
use super::names::canonical_key;
use name_index::NameIndex;
use std::collections::HashSet;
use std::sync::Arc;

/// Most names of the part that is built anew whenever names are learned.
const FRESH_MAX: usize = 256;
/// A part that has grown is merged with the one before it, unless that is this many times larger.
const PART_FACTOR: usize = 4;
/// Shortest name that is searched for, in bytes, if it has no digit.
const SEARCHED_BYTES_MIN: usize = 3;

/// An entity that is known, by one of its names.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KnownName {
    /// The kind of the entity.
    pub kind: Arc<str>,
    /// Its canonical key.
    pub key: Arc<str>,
    /// Its name, as it is shown: matches pass it on as it is.
    pub name: Arc<str>,
    /// What a text may call it: its name, its slug, another name.
    pub alias: Arc<str>,
}

impl KnownName {
    /// An entity by its own name.
    #[must_use]
    pub fn new(kind: &str, key: &str, name: &str) -> Self {
        let name: Arc<str> = name.into();
        Self {
            kind: kind.into(),
            key: key.into(),
            name: Arc::clone(&name),
            alias: name,
        }
    }

    /// The same entity by another name.
    #[must_use]
    pub fn alias(&self, alias: &str) -> Self {
        Self {
            alias: alias.into(),
            ..self.clone()
        }
    }
}

/// Names that are known. Cheap to clone: a clone shares its parts.
#[derive(Clone, Debug, Default)]
pub struct Gazetteer {
    /// The largest part first.
    parts: Vec<Arc<NameIndex>>,
}

impl Gazetteer {
    /// A gazetteer of some names; repeated ones count once.
    #[must_use]
    pub fn new(names: impl IntoIterator<Item = KnownName>) -> Self {
        Self::default().with(names)
    }

    /// The same with more names; those already known and those over 256 bytes change nothing. Finds what a gazetteer of all
    /// these names, built at once, would find.
    #[must_use]
    pub fn with(&self, names: impl IntoIterator<Item = KnownName>) -> Self {
        let mut seen = HashSet::new();
        let is_known = |name: &KnownName| self.parts.iter().any(|part| part.has(name));
        let mut learned: Vec<KnownName> = names
            .into_iter()
            .filter(|name| fits(name) && !is_known(name) && seen.insert(name.clone()))
            .collect();
        if learned.is_empty() {
            return self.clone();
        }
        let mut parts = self.parts.clone();
        let fresh = |part: &mut Arc<NameIndex>| part.names().len() < FRESH_MAX;
        if let Some(fresh) = parts.pop_if(fresh) {
            learned.splice(0..0, fresh.names().iter().cloned());
        }
        while learned.len() >= FRESH_MAX {
            let within =
                |part: &mut Arc<NameIndex>| part.names().len() <= learned.len() * PART_FACTOR;
            let Some(grown) = parts.pop_if(within) else {
                break;
            };
            learned.splice(0..0, grown.names().iter().cloned());
        }
        parts.push(Arc::new(NameIndex::new(learned)));
        Self { parts }
    }

    /// How many names are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts.iter().map(|part| part.names().len()).sum()
    }

    /// Whether no name is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The one entity of a kind that has a name, looked up by its canonical key; `None` if several
    /// have it. Finds names, too, that are too short to be searched for in texts.
    #[must_use]
    pub fn lookup(&self, kind: &str, name: &str) -> Option<&KnownName> {
        let alias = canonical_key(kind, name);
        let mut known = self.parts.iter().flat_map(|part| part.lookup(kind, &alias));
        let first = known.next()?;
        known.all(|other| other.key == first.key).then_some(first)
    }

    /// Calls `found` with each whole word of a text that is a name and the entities that have it, in
    /// order of where they begin. Names may overlap.
    pub fn search<'a>(&'a self, text: &str, mut found: impl FnMut(usize, usize, &'a KnownName)) {
        search_all(&[self], text, |_, start, end, name| found(start, end, name));
    }
}

/// Searches several gazetteers in one pass over a text; `found` is told the place of the gazetteer.
pub(super) fn search_all<'a>(
    gazetteers: &[&'a Gazetteer],
    text: &str,
    mut found: impl FnMut(usize, usize, usize, &'a KnownName),
) {
    let parts: Vec<(usize, &NameIndex)> = gazetteers
        .iter()
        .enumerate()
        .flat_map(|(at, gazetteer)| gazetteer.parts.iter().map(move |part| (at, &**part)))
        .filter(|(_, part)| !part.is_empty())
        .collect();
    if !parts.is_empty() {
        name_index::words(text, |start, hash| {
            for (at, part) in &parts {
                if part.may_begin(hash) {
                    part.walk(text, start, |start, end, name| found(*at, start, end, name));
                }
            }
        });
    }
}

fn fits(name: &KnownName) -> bool {
    name.name.len() <= NAME_BYTES_MAX && name.alias.len() <= NAME_BYTES_MAX
}

/// Whether a name is searched for in texts: numbers and words of two letters would be everywhere.
fn is_searched(alias: &str) -> bool {
    let has_digit = alias.bytes().any(|byte| byte.is_ascii_digit());
    let is_number = alias
        .trim_start_matches('#')
        .bytes()
        .all(|byte| byte.is_ascii_digit());
    let is_long = alias.len() >= SEARCHED_BYTES_MIN || (has_digit && alias.len() > 1);
    is_long && !is_number && alias.chars().any(char::is_alphanumeric)
}
