//! Words of a text for matching: stems of its content words, parts of names, and how common a word is.

use super::list::WordList;
use std::hash::Hasher;
use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use snowball_stemmers_rs::{Algorithm, Stemmer};

use super::concepts::{Concept, concepts};
use super::language::{self, ENGLISH, FRENCH, GERMAN, Language, SPANISH};
use super::tokens::{is_specific, tokens};
use super::{beginning, is_cjk};

/// Bytes of a text of which the words are taken.
const TEXT_BYTES_MAX: usize = 8 * 1024;

/// Distinct words that are taken of a text.
const TERMS_MAX: usize = 96;

/// Bytes by which words that start alike are found.
const PREFIX_BYTES: usize = 5;

/// Words of requests: they say what to do, not what about. All of them are imperatives in some prompts.
static REQUESTS: WordList = WordList::new(
    "add fix write make show implement create build run update change move rename remove delete explain refactor \
    check test use let help give tell find look open close start stop continue commit push merge revert clean \
    format sort split extract convert replace print list read review draft summarize summarise describe generate \
    set put get take keep try do go have see turn port install upgrade bump document improve simplify optimize \
    optimise debug investigate handle support allow enable disable ensure verify validate compute calculate export \
    import deploy release package publish send log restyle reorder increase decrease reduce please compare wire \
    hook drop avoid prefer stick never always don't baue schreibe zeige füge mach erkläre räume benenne \
    aktualisiere ändere entferne lösche prüfe erstelle nutze verwende ajoute montre corrige supprime lance écris \
    explique crée modifie muestra añade corrige ejecuta permite escribe explica crea cambia borra elimina revisa \
    haz usa",
);

/// Words that every project of programs is full of.
static EVERYDAY: WordList = WordList::new(
    "code file function method class module package test bug error line change project repository repo branch \
    readme comment variable import script folder directory output input value name type string number list thing \
    stuff way work part version page button component server client command message issue problem fail build typo \
    helper string feature option new old today last next first time used using need want should must why what how \
    where which still again also just only please now then here there into out up down own some any each every \
    more less other same than instead because before after without high low long short small big good bad slow \
    fast main datei funktion fehler zeile projekt seite fichier fonction erreur ligne projet archivo función línea \
    proyecto página whole text does look looks happen happens keep way task tasks spec specs specification rule rules doc docs \
    ticket tickets todo step steps summary instruction instructions",
);

/// Words that are no content in any language, beside the function words by which languages are told apart.
static EMPTY: WordList = WordList::new(
    "i'm i'll i've it's that's there's we're we'll doesn't isn't can't won't didn't its their your his her me us \
    them he she has have had been being will would could may might if so such about over under between while both \
    very too yes ok thanks etc via per got get who whom whose dir mich dich sich sein ihre beim einem mal lui leur \
    son sa ses mon ma mes su sus mi mis tu tus esta este estos como uno wenn dann denn dein mein unser unsere \
    unseren diesem",
);

static EVERYDAY_STEMS: LazyLock<FxHashSet<String>> = LazyLock::new(|| {
    let words = EVERYDAY.iter().chain(REQUESTS.iter());
    words.map(stem_any).collect()
});

/// English words by how common they are: the whole words among the first 9 000 of the vocabulary of BERT, which is in the order
/// of their frequency (Apache-2.0, as in `daemon/models/minilm-l6`).
static COMMON: LazyLock<FxHashMap<&'static str, u32>> = LazyLock::new(|| {
    include_str!("common.txt")
        .split_whitespace()
        .zip(1..)
        .collect()
});

struct Stemmers {
    english: Stemmer,
    german: Stemmer,
    french: Stemmer,
    spanish: Stemmer,
}

static STEMMERS: LazyLock<Stemmers> = LazyLock::new(|| Stemmers {
    english: Stemmer::create(Algorithm::English),
    german: Stemmer::create(Algorithm::German),
    french: Stemmer::create(Algorithm::French),
    spanish: Stemmer::create(Algorithm::Spanish),
});

/// What a word of everyday work weighs.
pub const EVERYDAY_RARITY: f32 = 0.12;

/// A content word of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// Its stem, or the name in lower case.
    pub stem: String,
    /// Hash of the stem.
    pub hash: u64,
    /// Hash of the first bytes, if it is long enough to be compared by its start.
    pub prefix: Option<u64>,
    /// The groups of like words that it belongs to.
    pub concepts: &'static [Concept],
    /// Whether it is a name: with a digit, an inner capital, `_`, `/` or a dot.
    pub is_name: bool,
    /// How much it says beyond everyday language, .1 to 1.
    pub rarity: f32,
}

/// Returns whether a word begins requests.
#[must_use]
pub fn is_imperative(word: &str) -> bool {
    REQUESTS.has(word)
}

/// Whether a word is no content in any language.
fn is_empty(word: &str) -> bool {
    [&ENGLISH, &GERMAN, &FRENCH, &SPANISH, &EMPTY]
        .into_iter()
        .any(|list| list.has(word))
}

/// Returns the hash of a word.
#[must_use]
pub fn hash(word: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(word.as_bytes());
    hasher.finish()
}

/// Returns the stem of a lower-case word whose language is not known.
#[must_use]
pub fn stem_any(word: &str) -> String {
    stem(word, Language::English)
}

fn stem(word: &str, language: Language) -> String {
    if word.len() < 4 || !word.chars().all(char::is_alphabetic) {
        return word.to_owned();
    }
    let stemmers = &*STEMMERS;
    let stemmer = match language {
        Language::English | Language::Chinese => &stemmers.english,
        Language::German => &stemmers.german,
        Language::French => &stemmers.french,
        Language::Spanish => &stemmers.spanish,
    };
    stemmer.stem(word).into_owned()
}

/// Returns the distinct content words of a text, in its order.
#[must_use]
pub fn terms(text: &str) -> Vec<Term> {
    let text = beginning(text, TEXT_BYTES_MAX);
    let mut made = Terms::default();
    // Texts of several lines are taken line by line: the tokens of one sentence are bounded.
    for line in text.lines() {
        if made.terms.len() >= TERMS_MAX {
            break;
        }
        let tokens = tokens(line);
        let language = language::language(line, &tokens);
        for token in tokens.iter().filter(|token| !token.is_mark()) {
            if token.text.chars().any(is_cjk) {
                made.push_characters(&token.text);
            } else {
                made.push_word(
                    &token.text,
                    token.is_specific && !token.is_acronym,
                    language,
                );
            }
        }
        made.push_names(line, language);
    }
    made.terms.truncate(TERMS_MAX);
    made.terms
}

#[derive(Default)]
struct Terms {
    terms: Vec<Term>,
    seen: FxHashSet<u64>,
}

impl Terms {
    fn push(&mut self, stem: String, is_name: bool, rarity: f32) {
        let hash = hash(&stem);
        if !self.seen.insert(hash) {
            return;
        }
        let prefix = stem
            .get(..PREFIX_BYTES)
            .filter(|_| stem.len() >= PREFIX_BYTES && !is_name);
        self.terms.push(Term {
            hash,
            prefix: prefix.map(self::hash),
            concepts: concepts(&stem),
            is_name,
            rarity,
            stem,
        });
    }

    fn push_word(&mut self, word: &str, is_specific: bool, language: Language) {
        if word.len() < 2 || is_empty(word) {
            return;
        }
        let is_number = word.chars().all(|c| c.is_ascii_digit());
        if is_number && word.len() < 2 {
            return;
        }
        let has_marks = word.contains(['_', '/', '.', '@', '#', '-', '\'', '+']);
        if is_specific || has_marks {
            let has_letter = word.chars().any(char::is_alphabetic);
            // "40" is in many sentences: 7311 names something.
            let is_telling = !is_number || word.len() > 2;
            self.push(
                word.to_owned(),
                is_specific && is_telling,
                if has_letter || word.len() > 2 {
                    1.0
                } else {
                    0.5
                },
            );
            if has_marks {
                for part in word.split(|c: char| !c.is_alphanumeric()) {
                    self.push_part(part, language);
                }
            }
            return;
        }
        let stem = stem(word, language);
        let rarity = rarity(word, &stem, language);
        self.push(stem, false, rarity);
    }

    fn push_part(&mut self, part: &str, language: Language) {
        if part.chars().count() > 2 && !part.chars().any(|c| c.is_ascii_digit()) && !is_empty(part)
        {
            let stem = stem(part, language);
            let rarity = rarity(part, &stem, language);
            self.push(stem, false, rarity);
        }
    }

    /// Adds the parts of names in camel case, which tokens in lower case no longer show.
    fn push_names(&mut self, line: &str, language: Language) {
        for word in line.split(|c: char| !c.is_alphanumeric()) {
            if self.terms.len() >= TERMS_MAX {
                return;
            }
            let is_camel =
                word.len() <= 80 && is_specific(word) && word.chars().any(char::is_lowercase);
            if !is_camel {
                continue;
            }
            let mut part = String::new();
            for c in word.chars() {
                if c.is_uppercase() && !part.is_empty() {
                    self.push_part(&part, language);
                    part.clear();
                }
                part.extend(c.to_lowercase());
            }
            self.push_part(&part, language);
        }
    }

    /// Adds each pair of neighbouring characters of a script without spaces.
    fn push_characters(&mut self, word: &str) {
        let chars: Vec<char> = word.chars().take(200).collect();
        for pair in chars.windows(2) {
            if pair.iter().all(|c| is_cjk(*c)) {
                self.push(pair.iter().collect(), false, 0.6);
            }
        }
        let other: String = chars.iter().filter(|c| !is_cjk(**c)).collect();
        if other.len() > 1 {
            self.push(other, true, 1.0);
        }
    }
}

/// Returns how much a word says beyond everyday language, .1 to 1.
fn rarity(word: &str, stem: &str, language: Language) -> f32 {
    if EVERYDAY_STEMS.contains(stem) {
        return EVERYDAY_RARITY;
    }
    let common = COMMON
        .get(word)
        .or_else(|| COMMON.get(stem))
        .or_else(|| word.strip_suffix('s').and_then(|one| COMMON.get(one)));
    let Some(rank) = common else {
        // The list is English: how common other words are, only their length says.
        let length = word.chars().count() as f32;
        return match language {
            Language::English | Language::Chinese if word.len() > 2 => 1.0,
            Language::English | Language::Chinese => 0.5,
            _ => (0.2 + 0.06 * length).clamp(0.3, 0.8),
        };
    };
    let rank = *rank as f32;
    ((rank.ln() - 300_f32.ln()) / (20_000_f32.ln() - 300_f32.ln())).clamp(0.2, 1.0)
}
