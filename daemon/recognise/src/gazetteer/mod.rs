//! The gazetteer: finds known names in a text in one pass.
//!
//! Names are matched as whole words, ignoring case. A search scans the words of the text once. A small filter
//! over the first words of all names rejects nearly every word at the cost of a hash. From the remaining words,
//! an automaton follows the names. The cost of a search therefore depends on the text and its matches, not on
//! the number of names.
//!
//! The names are stored in parts, the largest first, each with its own automaton. Adding names rebuilds only
//! the small last part. That part is merged with others once it reaches their order of size, so no name is
//! rebuilt more than a few times.

mod name_index;
#[cfg(test)]
mod tests;

use super::NAME_BYTES_MAX;
use super::names::canonical_key;
use super::partial::Run;
use name_index::NameIndex;
use std::collections::HashSet;
use std::sync::Arc;

/// Limit on the names of the part that is rebuilt whenever names are added.
const FRESH_MAX: usize = 256;
/// A full part is merged with the one before it, unless that one is more than this many times larger.
const PART_FACTOR: usize = 4;
/// Shortest name that is searched in texts, in bytes, if it has no digit.
const SEARCHED_BYTES_MIN: usize = 3;

/// A known entity under one of its names.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KnownName {
    /// The kind of the entity.
    pub kind: Arc<str>,
    /// The canonical key of the entity.
    pub key: Arc<str>,
    /// The display name of the entity; matches return it unchanged.
    pub name: Arc<str>,
    /// The form to find in texts: the name, the slug, or another name.
    pub alias: Arc<str>,
}

impl KnownName {
    /// Creates an entry for an entity under its display name.
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

    /// Returns the same entity under another name.
    #[must_use]
    pub fn alias(&self, alias: &str) -> Self {
        Self {
            alias: alias.into(),
            ..self.clone()
        }
    }
}

/// A set of known names. Cheap to clone, because clones share the parts.
#[derive(Clone, Debug, Default)]
pub struct Gazetteer {
    /// Ordered by size, the largest first.
    parts: Vec<Arc<NameIndex>>,
}

impl Gazetteer {
    /// Creates a gazetteer; repeated names count once.
    #[must_use]
    pub fn new(names: impl IntoIterator<Item = KnownName>) -> Self {
        Self::default().with(names)
    }

    /// Returns a gazetteer with additional names. Known names and names over 256 bytes are ignored. The result
    /// finds the same matches as a gazetteer built at once from all names.
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

    /// Returns the number of names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts.iter().map(|part| part.names().len()).sum()
    }

    /// Returns whether the gazetteer is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Looks up an entity of a kind by the canonical key of a name; `None` if several entities have it. Also finds
    /// names that are too short for a search in texts.
    #[must_use]
    pub fn lookup(&self, kind: &str, name: &str) -> Option<&KnownName> {
        let alias = canonical_key(kind, name);
        let mut known = self.parts.iter().flat_map(|part| part.lookup(kind, &alias));
        let first = known.next()?;
        known.all(|other| other.key == first.key).then_some(first)
    }

    /// Returns all known names of a kind with the canonical key of a name.
    pub fn lookup_all<'a>(
        &'a self,
        kind: &'a str,
        name: &str,
    ) -> impl Iterator<Item = &'a KnownName> {
        let alias = canonical_key(kind, name);
        let found: Vec<&KnownName> = self
            .parts
            .iter()
            .flat_map(|part| part.lookup(kind, &alias))
            .collect();
        found.into_iter()
    }

    /// Calls `found` with each name that may match the runs of a partial name, and its runs up to a colon: those that share a
    /// number or else a run of letters, in the same or a similar spelling.
    pub(super) fn similar<'a>(
        &'a self,
        query: &[Run],
        found: &mut dyn FnMut(&'a KnownName, &'a [Run]),
    ) {
        for part in &self.parts {
            part.similar(query, found);
        }
    }

    /// Whether [`Gazetteer::similar`] finds names for the runs of one or two words.
    pub(super) fn has_similar<'r>(&self, query: impl Iterator<Item = &'r Run> + Clone) -> bool {
        self.parts
            .iter()
            .any(|part| part.has_similar(query.clone()))
    }

    /// Calls `found` with the start, the end and the entity of each match, in order of the starts. Only whole words
    /// match. Matches may overlap.
    pub fn search<'a>(&'a self, text: &str, mut found: impl FnMut(usize, usize, &'a KnownName)) {
        search_all(&[self], text, |_, start, end, name| found(start, end, name));
    }
}

/// Searches several gazetteers in one pass over a text. The first argument of `found` is the gazetteer's index.
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

/// Returns whether a name is searched in texts. Numbers and words of two letters would match everywhere.
fn is_searched(alias: &str) -> bool {
    let has_digit = alias.bytes().any(|byte| byte.is_ascii_digit());
    let is_number = alias
        .trim_start_matches('#')
        .bytes()
        .all(|byte| byte.is_ascii_digit());
    let is_long = alias.len() >= SEARCHED_BYTES_MIN || (has_digit && alias.len() > 1);
    is_long && !is_number && alias.chars().any(char::is_alphanumeric)
}
