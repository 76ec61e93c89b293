//! Packs: the kinds of entities and the rules that recognise them. Packs are written in TOML.
//!
//! ```toml
//! name = "tickets"            # small letters, digits, `_`, `-`
//! version = "1"
//! description = "Tickets of our help desk"
//!
//! [[kind]]
//! name = "ticket"
//! words = ["ticket", "case"]              # references: "that ticket", "the first case"
//! fields = ["ticket"]                     # JSON fields that hold one, as an object or as a name
//! objects = ["request"]                   # fields that hold one as an object, but not as a name
//! types = ["desk/tickets"]                # types of objects and ends of addresses that tell it
//! names = ["name", "key"]                 # where its objects have their name, best first
//! within = "queue"                        # names are unique only within the parent in this field
//! [kind.narrower]                         # references to some: those with such a part in the name
//! hotline = ["hotline", "hl"]
//! [[kind.rule]]
//! pattern = 'TCK-([0-9]{4,8})'            # a regex of at most 1 KiB
//! group = 1                               # default: the first group that took part, or all of it
//! confidence = 0.9                        # above 0, at most 1
//! check = "numbered"                      # a named check that the name has to pass
//! except = 'TCK-0+'                       # names that are none, matched whole
//! edges = "alone"                         # "alone" (default), "word" or "none": what may touch it
//!
//! [json]
//! text = ["description"]                  # prose within objects: searched like a message
//! children = ["tickets"]                  # fields that hold children; all others hold parents
//! peers = ["duplicate_of"]                # fields that hold neither
//! ```
//!
//! If two packs name the same kind, it has the rules of both. If two packs claim the same field, type or word,
//! it belongs to the first: built-in packs first, then the folder's packs by file name. A pack of the folder
//! replaces the built-in pack of the same name, at the same position.

mod check;
mod error;
mod facts;
mod load;
mod prefilter;
mod read;
mod rule;
#[cfg(test)]
mod tests;

pub use error::{PackError, Reason};
pub use lored_tables::Reason as TableReason;
pub(super) use read::{Kind, KindWord};
pub(super) use rule::Rule;

use prefilter::Prefilter;
use read::Pack;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Limit on the file of a pack, in bytes.
pub const PACK_BYTES_MAX: u64 = 256 << 10;
/// Limit on the packs in the folder.
pub const PACKS_MAX: usize = 64;
/// Limit on the kinds of a pack.
pub const KINDS_MAX: usize = 128;
/// Limit on the rules of a kind.
pub const RULES_MAX: usize = 32;
/// Limit on the words in a list of a pack.
pub const WORDS_MAX: usize = 64;
/// Limit on a name, word or field in a pack, in bytes.
pub const NAME_BYTES_MAX: usize = 64;
/// Limit on a pattern, in bytes.
pub const PATTERN_BYTES_MAX: usize = 1024;
/// Limit on a compiled pattern, in bytes.
const COMPILED_BYTES_MAX: usize = 1 << 20;

/// The built-in packs: file name and text.
const BUILT_IN: [(&str, &str); 3] = [
    ("netbox.toml", include_str!("netbox.toml")),
    ("code.toml", include_str!("code.toml")),
    ("infrastructure.toml", include_str!("infrastructure.toml")),
];

/// A pack's description of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackInfo {
    /// The name of the pack.
    pub name: String,
    /// The version, as free text of the author.
    pub version: String,
    /// The purpose of the pack.
    pub description: String,
    /// The kinds that the pack names, in its order.
    pub kinds: Vec<String>,
    /// The pack's file; `None` for a built-in pack.
    pub file: Option<String>,
}

/// All active packs, merged for recognition.
#[derive(Clone, Debug)]
pub struct PackSet {
    infos: Vec<PackInfo>,
    pub(super) kinds: Vec<Kind>,
    pub(super) rules: Vec<Rule>,
    prefilter: Prefilter,
    /// The kind that a JSON field holds.
    pub(super) fields: HashMap<String, usize>,
    /// The kind of the objects that a JSON field holds, though its texts are no names.
    pub(super) object_fields: HashMap<String, usize>,
    /// The kind of an object type, or of the end of a URL.
    pub(super) types: HashMap<String, usize>,
    /// Words for entities of a kind, lower-cased, in singular and plural.
    pub(super) kind_words: HashMap<String, KindWord>,
    /// JSON fields with prose, and JSON fields with children.
    pub(super) prose: HashSet<String>,
    pub(super) children: HashSet<String>,
    /// JSON fields with related entities that are neither.
    pub(super) peers: HashSet<String>,
    version: String,
}

impl PackSet {
    /// Returns the descriptions of the packs in order of precedence.
    #[must_use]
    pub fn packs(&self) -> &[PackInfo] {
        &self.infos
    }

    /// Returns a hash of the text of all packs, as 16 hexadecimal digits. Equal packs have equal hashes.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the names of all kinds.
    pub fn kinds(&self) -> impl Iterator<Item = &str> {
        self.kinds.iter().map(|kind| &*kind.name)
    }

    /// Returns the kind that a word identifies: a kind's name, a type such as `dcim.device` or `dcim/devices`, or a
    /// JSON field that holds the kind. Used for call arguments that state the type of the results.
    #[must_use]
    pub fn kind_of(&self, word: &str) -> Option<&str> {
        let word = word.trim_matches('/');
        let reported = self
            .place_of(word)
            .or_else(|| self.types.get(word).copied());
        let at = reported.or_else(|| self.fields.get(word).copied())?;
        self.kinds.get(at).map(|kind| &*kind.name)
    }

    /// Returns the index of a kind by its name.
    pub(super) fn place_of(&self, kind: &str) -> Option<usize> {
        self.kinds.iter().position(|known| &*known.name == kind)
    }

    /// Returns whether references use a word for a kind, so that the word alone is not a name.
    pub(super) fn is_kind_word(&self, word: &str) -> bool {
        self.kind_words.contains_key(word)
    }

    /// Returns the rules' matches in a text, ordered by rule and then by position.
    pub(super) fn find(&self, text: &str) -> impl Iterator<Item = (&Rule, (usize, usize))> {
        let found = self.prefilter.search(&self.rules, text).into_iter();
        found.filter_map(|(at, span)| Some((self.rules.get(at)?, span)))
    }

    /// Merges packs; earlier packs take precedence.
    fn of(packs: Vec<(Pack, String)>) -> Self {
        let mut hash = Sha256::new();
        let mut set = Self {
            infos: Vec::with_capacity(packs.len()),
            kinds: Vec::new(),
            rules: Vec::new(),
            prefilter: Prefilter::of(&[]),
            fields: HashMap::new(),
            object_fields: HashMap::new(),
            types: HashMap::new(),
            kind_words: HashMap::new(),
            prose: HashSet::new(),
            children: HashSet::new(),
            peers: HashSet::new(),
            version: String::new(),
        };
        for (pack, text) in packs {
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text.as_bytes());
            set.add(pack);
        }
        set.prefilter = Prefilter::of(&set.rules);
        let digest = hash.finalize();
        let hex = digest.iter().take(8).map(|byte| format!("{byte:02x}"));
        set.version = hex.collect();
        set
    }

    fn add(&mut self, pack: Pack) {
        for declared in pack.kinds {
            let known = self
                .kinds
                .iter()
                .position(|kind| kind.name == declared.kind.name);
            let at = known.unwrap_or(self.kinds.len());
            if known.is_none() {
                self.kinds.push(declared.kind);
            }
            for mut rule in declared.rules {
                rule.kind = at;
                self.rules.push(rule);
            }
            for field in declared.fields {
                self.fields.entry(field).or_insert(at);
            }
            for field in declared.object_fields {
                self.object_fields.entry(field).or_insert(at);
            }
            for name in declared.types {
                self.types.entry(name).or_insert(at);
            }
            for (word, parts) in declared.kind_words {
                for (word, plural) in [(plural(&word), true), (word, false)] {
                    let parts = Arc::clone(&parts);
                    let kind = at;
                    let kind_word = KindWord {
                        kind,
                        plural,
                        parts,
                    };
                    self.kind_words.entry(word).or_insert(kind_word);
                }
            }
        }
        self.prose.extend(pack.prose);
        self.children.extend(pack.children);
        self.peers.extend(pack.peers);
        self.infos.push(pack.info);
    }
}

/// Returns the plural of an English noun.
fn plural(word: &str) -> String {
    let ends = |endings: &[&str]| endings.iter().any(|ending| word.ends_with(ending));
    match word.strip_suffix('y') {
        Some(stem) if !ends(&["ay", "ey", "oy"]) => format!("{stem}ies"),
        _ if ends(&["s", "x", "ch", "sh"]) => format!("{word}es"),
        _ => format!("{word}s"),
    }
}
