//! The words and phrases of `tables/words.txt`.

use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::phrases::Phrases;

const WORDS: &str = include_str!("tables/words.txt");

/// Words that people write with digits for letters. Each way to write them is a phrase of its own.
const DISGUISED_WITH_DIGITS: [(&str, &str); 9] = [
    ("ignore", "IGNORE"),
    ("disregard", "IGNORE"),
    ("forget", "IGNORE"),
    ("previous", "PREV"),
    ("instructions", "INSTR"),
    ("reveal", "REVEAL"),
    ("password", "SECRET"),
    ("system", "ROLE"),
    ("assistant", "CALLED"),
];
const DIGITS: [(char, char); 6] = [
    ('a', '4'),
    ('e', '3'),
    ('i', '1'),
    ('o', '0'),
    ('s', '5'),
    ('t', '7'),
];

/// Words that show that the text around them is written in another way.
const ROTATED: &[&str] = &[
    "vtaber",
    "vafgehpgvbaf",
    "cerivbhf",
    "cebzcg",
    "cnffjbeq",
    "nffvfgnag",
    "qvfertneq",
    "sbetrg",
    "flfgrz",
    "frperg",
    "erirny",
];
const REVERSED: &[&str] = &[
    "erongi",
    "snoitcurtsni",
    "suoiverp",
    "tpmorp",
    "drowssap",
    "tnatsissa",
    "drageresid",
    "tegrof",
    "metsys",
    "terces",
    "laever",
    "resu",
];

/// A class of words: a bit in a [`Classes`].
pub type Class = u8;

/// A set of classes.
pub type Classes = u128;

/// A phrase that was found.
#[derive(Clone, Copy, Debug)]
pub struct Phrase {
    pub class: Class,
    /// Whether a longer word matches, too.
    pub is_prefix: bool,
    /// Whether it has digits for letters.
    pub is_disguised: bool,
}

/// All phrases.
pub struct Lexicon {
    texts: Phrases,
    phrases: Vec<Phrase>,
    /// Finds phrases anywhere. Few texts need it, so it is made when the first one comes.
    automaton: OnceLock<Option<AhoCorasick>>,
    classes: Vec<String>,
    pub rotated: Class,
    pub reversed: Class,
    /// Words of texts about attacks.
    pub discuss: Class,
    /// Words of hosts' own reminders.
    pub aware: Class,
    /// Markup that people do not see.
    pub hidden: Class,
    /// Orders that drop earlier orders, which are names of options, too.
    pub ignore: Class,
    /// Orders to take a value.
    pub use_: Class,
    /// What orders to a model consist of.
    pub orders: Vec<Class>,
}

/// The classes of [`Lexicon::orders`].
const ORDERS: [&str; 21] = [
    "IGNORE",
    "REPLACE",
    "YOUR",
    "INSTR",
    "RULES",
    "PREV",
    "SEND",
    "RUN",
    "DANGER",
    "SECRET",
    "CALLED",
    "MODEL",
    "ANSWER",
    "OBEY",
    "REVEAL",
    "HUMAN",
    "SILENCE",
    "USE",
    "TRAINING",
    "OWNPROMPT",
    "PRESSURE",
];

pub static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::new);

impl Lexicon {
    fn new() -> Self {
        let mut classes: Vec<String> = Vec::new();
        let mut texts: Vec<String> = Vec::new();
        let mut phrases = Vec::new();
        let mut add = |class: &str, text: String, is_disguised: bool| {
            let class = match classes.iter().position(|name| name == class) {
                Some(at) => at,
                None => {
                    classes.push(class.to_owned());
                    classes.len() - 1
                }
            };
            let is_prefix = text.ends_with('*');
            let text = text.trim_end_matches('*').to_owned();
            texts.push(text);
            phrases.push(Phrase {
                class: Class::try_from(class).unwrap_or(Class::MAX),
                is_prefix,
                is_disguised,
            });
            class
        };
        for (class, words) in lines(WORDS).filter_map(|line| line.split_once(": ")) {
            for word in words.split("; ") {
                for phrase in expanded(word) {
                    add(class, phrase, false);
                }
            }
        }
        for (word, class) in DISGUISED_WITH_DIGITS {
            for way in with_digits(word) {
                add(class, way, true);
            }
        }
        let mut marker = |class, words: &[&str]| {
            let added = words
                .iter()
                .map(|word| add(class, (*word).to_owned(), false));
            Class::try_from(added.last().unwrap_or_default()).unwrap_or(Class::MAX)
        };
        let rotated = marker("ROTATED", ROTATED);
        let reversed = marker("REVERSED", REVERSED);
        let class = |name: &str| {
            let at = classes.iter().position(|class| class == name);
            at.and_then(|at| Class::try_from(at).ok())
                .unwrap_or(Class::MAX)
        };
        let (discuss, aware, hidden) = (class("DISCUSS"), class("AWARE"), class("HIDDEN"));
        let (ignore, use_) = (class("IGNORE"), class("USE"));
        let orders = ORDERS.iter().map(|name| class(name)).collect();
        Self {
            texts: Phrases::new(texts.iter().map(String::as_str)),
            phrases,
            automaton: OnceLock::new(),
            classes,
            rotated,
            reversed,
            discuss,
            aware,
            hidden,
            ignore,
            use_,
            orders,
        }
    }

    /// Calls a function with each phrase in a text, its start and its end, ordered by their ends.
    pub fn each(&self, text: &[u8], mut found: impl FnMut(Phrase, usize, usize)) {
        let automaton = self.automaton.get_or_init(|| automaton(self.texts.all()));
        let matches = automaton.iter();
        for one in matches.flat_map(|automaton| automaton.find_overlapping_iter(text)) {
            if let Some(phrase) = self.phrases.get(one.pattern().as_usize()) {
                found(*phrase, one.start(), one.end());
            }
        }
    }

    /// Calls a function with each phrase that begins at a place of a text, and its end. Shorter ones come first.
    pub fn each_at(&self, text: &[u8], start: usize, mut found: impl FnMut(Phrase, usize)) {
        let rest = text.get(start..).unwrap_or_default();
        self.texts.each(rest, |number, length| {
            if let Some(phrase) = self.phrases.get(number) {
                found(*phrase, start + length);
            }
        });
    }

    /// Calls a function with each place at which a phrase may begin that does not begin within a word.
    pub fn each_place(&self, text: &[u8], found: impl FnMut(usize)) {
        self.texts.each_place(text, found);
    }

    /// Returns the class with a name.
    pub fn class(&self, name: &str) -> Option<Class> {
        let at = self.classes.iter().position(|class| class == name)?;
        Class::try_from(at).ok()
    }

    /// Returns the number of phrases.
    #[cfg(test)]
    pub fn phrases(&self) -> usize {
        self.phrases.len()
    }

    /// Returns the number of classes.
    #[cfg(test)]
    pub fn classes(&self) -> usize {
        self.classes.len()
    }
}

/// Builds the automaton; a test builds the same.
fn automaton(texts: &[Box<[u8]>]) -> Option<AhoCorasick> {
    AhoCorasick::builder()
        .match_kind(MatchKind::Standard)
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .build(texts)
        .ok()
}

/// Returns the lines of a table.
pub fn lines(table: &str) -> impl Iterator<Item = &str> {
    table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Returns the phrases that a phrase with groups like `(a|b)` stands for.
pub fn expanded(phrase: &str) -> Vec<String> {
    let group = phrase.match_indices('(').find_map(|(start, _)| {
        let (inside, after) = phrase.get(start + 1..)?.split_once(')')?;
        inside
            .contains('|')
            .then_some((phrase.get(..start)?, inside, after))
    });
    match group {
        Some((before, inside, after)) => inside
            .split('|')
            .flat_map(|word| expanded(&format!("{before}{word}{after}")))
            .collect(),
        None => vec![phrase.to_owned()],
    }
}

/// Returns the ways to write a word with digits for some of its letters.
fn with_digits(word: &str) -> impl Iterator<Item = String> {
    let present: Vec<(char, char)> = DIGITS
        .into_iter()
        .filter(|(letter, _)| word.contains(*letter))
        .collect();
    (1u32..1 << present.len()).map(move |ways| {
        let replaced = |c: char| {
            let digit = present
                .iter()
                .enumerate()
                .find(|(at, (letter, _))| ways >> at & 1 == 1 && *letter == c);
            digit.map_or(c, |(_, (_, digit))| *digit)
        };
        word.chars().map(replaced).collect()
    })
}
