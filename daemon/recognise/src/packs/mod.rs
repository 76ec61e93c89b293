//! Packs: what kinds of entities there are, and how each is recognised. Declared in TOML.
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
//! ```
//!
//! A kind that two packs name is one kind with the rules of both. What two packs claim (a field, a
//! type, a word) belongs to the first: built-in packs first, then those of the folder by file name.
//! A pack of the folder replaces the built-in one of its name, in its place.

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

/// Longest file of a pack, in bytes.
pub const PACK_BYTES_MAX: u64 = 256 << 10;
/// Most packs in the folder.
pub const PACKS_MAX: usize = 64;
/// Most kinds of a pack.
pub const KINDS_MAX: usize = 128;
/// Most rules of a kind.
pub const RULES_MAX: usize = 32;
/// Most words in a list of a pack.
pub const WORDS_MAX: usize = 64;
/// Longest name, word and field in a pack, in bytes.
pub const NAME_BYTES_MAX: usize = 64;
/// Longest pattern, in bytes.
pub const PATTERN_BYTES_MAX: usize = 1024;
/// Largest compiled pattern, in bytes.
const COMPILED_BYTES_MAX: usize = 1 << 20;

/// The packs that are part of the program.
const BUILT_IN: [(&str, &str); 2] = [
    ("netbox.toml", include_str!("netbox.toml")),
    ("code.toml", include_str!("code.toml")),
];

/// What a pack says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackInfo {
    /// Its name.
    pub name: String,
    /// Its version, in its author's words.
    pub version: String,
    /// What it is for.
    pub description: String,
    /// The kinds it names, in its order.
    pub kinds: Vec<String>,
    /// Its file; `None` for a built-in one.
    pub file: Option<String>,
}

/// All packs in use, ready to recognise by.
#[derive(Clone, Debug)]
pub struct PackSet {
    infos: Vec<PackInfo>,
    pub(super) kinds: Vec<Kind>,
    pub(super) rules: Vec<Rule>,
    prefilter: Prefilter,
    /// Which kind a JSON field holds.
    pub(super) fields: HashMap<String, usize>,
    /// Which kind a type of object, or the end of an address, tells.
    pub(super) types: HashMap<String, usize>,
    /// Words for entities of a kind, lower-cased, singular and plural.
    pub(super) kind_words: HashMap<String, KindWord>,
    /// JSON fields with prose, and those with children.
    pub(super) prose: HashSet<String>,
    pub(super) children: HashSet<String>,
    version: String,
}

impl PackSet {
    /// What each pack says of itself, in the order that gives precedence.
    #[must_use]
    pub fn packs(&self) -> &[PackInfo] {
        &self.infos
    }

    /// A hash of the text of all packs, as 16 hexadecimal digits: the same packs have the same.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The names of all kinds.
    pub fn kinds(&self) -> impl Iterator<Item = &str> {
        self.kinds.iter().map(|kind| &*kind.name)
    }

    /// The kind that a word tells: its own name, a type such as `dcim.device` or `dcim/devices`, or a
    /// JSON field that holds one. For arguments of calls that say what their results are.
    #[must_use]
    pub fn kind_of(&self, word: &str) -> Option<&str> {
        let word = word.trim_matches('/');
        let reported = self
            .place_of(word)
            .or_else(|| self.types.get(word).copied());
        let at = reported.or_else(|| self.fields.get(word).copied())?;
        self.kinds.get(at).map(|kind| &*kind.name)
    }

    /// The place of a kind by its name.
    pub(super) fn place_of(&self, kind: &str) -> Option<usize> {
        self.kinds.iter().position(|known| &*known.name == kind)
    }

    /// Whether a word is one by which references name a kind, so that it is no name by itself.
    pub(super) fn is_kind_word(&self, word: &str) -> bool {
        self.kind_words.contains_key(word)
    }

    /// What the rules find in a text: by the rules' order, then in that of the text.
    pub(super) fn find(&self, text: &str) -> impl Iterator<Item = (&Rule, (usize, usize))> {
        let found = self.prefilter.search(&self.rules, text).into_iter();
        found.filter_map(|(at, span)| Some((self.rules.get(at)?, span)))
    }

    /// Packs as one, the first with the most say.
    fn of(packs: Vec<(Pack, String)>) -> Self {
        let mut hash = Sha256::new();
        let mut set = Self {
            infos: Vec::with_capacity(packs.len()),
            kinds: Vec::new(),
            rules: Vec::new(),
            prefilter: Prefilter::of(&[]),
            fields: HashMap::new(),
            types: HashMap::new(),
            kind_words: HashMap::new(),
            prose: HashSet::new(),
            children: HashSet::new(),
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
        self.infos.push(pack.info);
    }
}

/// The plural of an English noun.
fn plural(word: &str) -> String {
    let ends = |endings: &[&str]| endings.iter().any(|ending| word.ends_with(ending));
    match word.strip_suffix('y') {
        Some(stem) if !ends(&["ay", "ey", "oy"]) => format!("{stem}ies"),
        _ if ends(&["s", "x", "ch", "sh"]) => format!("{word}es"),
        _ => format!("{word}s"),
    }
}
