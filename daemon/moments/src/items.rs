//! Items that may be said: durable sentences with their words, and in how many of them each word is.

use rustc_hash::FxHashMap;

use crate::durable::DurableKind;
use crate::prompt::ScoredItem;
use crate::text::concepts::Concept;
use crate::text::marks::WordMarks;
use crate::text::paths;
use crate::text::vocabulary::Vocabulary;
use crate::text::words::{Term, terms};

/// Files of a turn that are kept for an item.
const FILES_MAX: usize = 64;

/// Words that two items share if they say the same, and their share of the weight of the shorter one.
const SAME_WORDS: usize = 3;
const SAME_SHARE: f32 = 0.7;

/// Whose words an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ItemSource {
    /// The user said it.
    User,
    /// A note of the project says it.
    Note,
    /// An agent said it.
    Agent,
    /// A tool returned it.
    Tool,
}

/// An item as it was recorded.
#[derive(Clone, Copy, Debug)]
pub struct ItemText<'a> {
    /// The sentence.
    pub text: &'a str,
    /// What it was said about: the prompt of its turn. May be empty, or the text itself.
    pub context: &'a str,
    /// What it is.
    pub kind: DurableKind,
    /// How sure that is: [`DurableSentence::cue`](crate::DurableSentence::cue).
    pub cue: f32,
    /// Whose words it is.
    pub source: ItemSource,
    /// The turn in which it was said: any number that no other turn of the project has.
    pub turn: u64,
    /// Files that were read or edited in that turn.
    pub files: &'a [&'a str],
}

/// An item prepared for matching.
#[derive(Clone, Debug)]
pub struct Item {
    pub(crate) terms: Vec<Term>,
    pub(crate) context: Vec<Term>,
    pub(crate) term_marks: WordMarks,
    pub(crate) context_marks: WordMarks,
    pub(crate) kind: DurableKind,
    pub(crate) cue: f32,
    pub(crate) source: ItemSource,
    pub(crate) turn: u64,
    pub(crate) files: Vec<String>,
    pub(crate) lower: String,
    receipts: Receipts,
}

/// What became of an item after it was said to agents.
#[derive(Clone, Copy, Debug, Default)]
struct Receipts {
    /// Turns that used it.
    used: u16,
    /// Turns that did not.
    idle: u16,
}

impl Item {
    /// Prepares an item.
    #[must_use]
    pub fn new(item: &ItemText) -> Self {
        let context = if item.context == item.text {
            ""
        } else {
            item.context
        };
        let mut context = terms(context);
        context.truncate(24);
        let terms = terms(item.text);
        Self {
            term_marks: WordMarks::of(&terms),
            context_marks: WordMarks::of(&context),
            terms,
            context,
            kind: item.kind,
            cue: if item.cue.is_finite() {
                item.cue.clamp(0.0, 3.0)
            } else {
                0.0
            },
            source: item.source,
            turn: item.turn,
            files: item
                .files
                .iter()
                .take(FILES_MAX)
                .map(|path| (*path).to_owned())
                .collect(),
            lower: crate::text::beginning(item.text, 2_000).to_lowercase(),
            receipts: Receipts::default(),
        }
    }

    /// Returns what the item is.
    #[must_use]
    pub const fn kind(&self) -> DurableKind {
        self.kind
    }

    /// Returns whose words it is.
    #[must_use]
    pub const fn source(&self) -> ItemSource {
        self.source
    }

    /// Returns what is added to the logit of its scores: more if turns used it, less if it was said again and again in vain. Once
    /// in vain says nothing: an agent may have heeded it without a word.
    pub(crate) fn worth(&self) -> f32 {
        let Receipts { used, idle } = self.receipts;
        let in_vain = idle
            .saturating_sub(1)
            .saturating_sub(used.saturating_mul(2));
        0.3 * f32::from(used.min(3)) - 0.4 * f32::from(in_vain.min(5))
    }

    /// Whether two items say the same, as far as their words show.
    fn says_the_same(&self, other: &Self) -> bool {
        let weight = |terms: &[Term]| terms.iter().map(|term| term.rarity).sum::<f32>();
        let is_shared = |term: &&Term| {
            let quality = best_match(term, &other.terms);
            matches!(quality, Some(Quality::Equal | Quality::Alike))
        };
        let shared: Vec<&Term> = self.terms.iter().filter(is_shared).collect();
        let common: f32 = shared.iter().map(|term| term.rarity).sum();
        let smaller = weight(&self.terms).min(weight(&other.terms));
        shared.len() >= SAME_WORDS && common >= SAME_SHARE * smaller
    }

    pub(crate) fn touched(&self, path: &str) -> bool {
        self.files.iter().any(|file| paths::is_same(file, path))
    }
}

/// The items of a project with their counts.
#[derive(Clone, Debug, Default)]
pub struct Items {
    items: Vec<Item>,
    words: FxHashMap<u64, u32>,
    prefixes: FxHashMap<u64, u32>,
    concepts: FxHashMap<Concept, u32>,
    vocabulary: Vocabulary,
}

impl Items {
    /// Adds an item; its place is the number of items before it.
    pub fn push(&mut self, item: Item) {
        self.vocabulary.add_terms(&item.terms);
        let mut concepts: Vec<Concept> = Vec::new();
        for term in &item.terms {
            *self.words.entry(term.hash).or_default() += 1;
            if let Some(prefix) = term.prefix {
                *self.prefixes.entry(prefix).or_default() += 1;
            }
            for concept in term.concepts {
                if !concepts.contains(concept) {
                    concepts.push(*concept);
                }
            }
        }
        for concept in concepts {
            *self.concepts.entry(concept).or_default() += 1;
        }
        self.items.push(item);
    }

    /// Notes that an item was said in a turn, and whether the turn used it: [`uses`].
    pub fn note_receipt(&mut self, index: usize, is_used: bool) {
        if let Some(item) = self.items.get_mut(index) {
            let count = match is_used {
                true => &mut item.receipts.used,
                false => &mut item.receipts.idle,
            };
            *count = count.saturating_add(1);
        }
    }

    /// Counts the words of a prompt, so that words of everyday work weigh less.
    pub fn count_prompt(&mut self, prompt: &str) {
        self.vocabulary.add(prompt);
    }

    /// Returns an item.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&Item> {
        self.items.get(index)
    }

    /// Lists the items.
    pub fn iter(&self) -> impl Iterator<Item = &Item> {
        self.items.iter()
    }

    /// Returns the number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Takes the first items, at most this number. Of items that say the same, only the last said is taken: it may correct
    /// the others.
    pub(crate) fn without_repeats(&self, found: Vec<ScoredItem>, max: usize) -> Vec<ScoredItem> {
        let mut taken: Vec<ScoredItem> = Vec::new();
        for one in found {
            let twin = taken.iter().position(|other| {
                let pair = self.get(one.index).zip(self.get(other.index));
                pair.is_some_and(|(one, other)| one.says_the_same(other))
            });
            if let Some(twin) = twin.and_then(|twin| taken.get_mut(twin)) {
                twin.index = twin.index.max(one.index);
            } else if taken.len() < max {
                taken.push(one);
            }
        }
        taken
    }

    pub(crate) const fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Returns how much a match of a word says: less if many items have it.
    pub(crate) fn sharpness(&self, term: &Term, quality: Quality) -> f32 {
        let count = match quality {
            Quality::Equal => self.words.get(&term.hash).copied(),
            Quality::Alike => term
                .prefix
                .and_then(|prefix| self.prefixes.get(&prefix).copied()),
            Quality::Concept(concept) => self.concepts.get(&concept).copied(),
        };
        let all = self.items.len() as f32;
        let count = count.unwrap_or(1) as f32;
        // One in five items or more: the word is the project's topic.
        (1.0 - (count - 1.0) / (all * 0.2 + 2.0)).clamp(0.15, 1.0)
    }
}

/// Share of the words of an item that a turn has to use, and their number.
const USED_SHARE: f32 = 0.3;
const USED_MIN: usize = 2;

/// Whether what an agent said and did shows that it used an item: its words, without those that the prompt had already.
///
/// ```
/// use lored_moments::uses;
///
/// let item = "The gateway listens on port 7311, because 8080 is taken.";
/// assert!(uses(item, "Start the gateway", "gateway --listen 127.0.0.1:7311 --port"));
/// assert!(!uses(item, "Start the gateway", "I started the gateway."));
/// ```
#[must_use]
pub fn uses(item: &str, prompt: &str, after: &str) -> bool {
    let has = |all: &[Term], term: &Term| all.iter().any(|one| one.hash == term.hash);
    let asked = terms(prompt);
    let mut own = terms(item);
    own.retain(|term| !has(&asked, term));
    let done = terms(after);
    let used = own.iter().filter(|term| has(&done, term)).count();
    used >= USED_MIN && used as f32 >= USED_SHARE * own.len() as f32
}

/// How two words match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quality {
    /// They have the same stem.
    Equal,
    /// They start alike.
    Alike,
    /// They mean nearly the same.
    Concept(Concept),
}

impl Quality {
    /// Returns what the match is worth.
    pub const fn worth(self) -> f32 {
        match self {
            Self::Equal => 1.0,
            Self::Alike => 0.8,
            Self::Concept(_) => 0.55,
        }
    }
}

/// Returns the best match of a word among others.
pub fn best_match(term: &Term, others: &[Term]) -> Option<Quality> {
    let mut best: Option<Quality> = None;
    for other in others {
        if term.hash == other.hash {
            return Some(Quality::Equal);
        }
        if term.prefix.is_some() && term.prefix == other.prefix && is_alike(&term.stem, &other.stem)
        {
            best = Some(Quality::Alike);
        } else if best.is_none() {
            let concept = term
                .concepts
                .iter()
                .find(|concept| other.concepts.contains(concept));
            best = concept.map(|concept| Quality::Concept(*concept));
        }
    }
    best
}

/// Whether two words with the same start are forms of one: little follows after what they share.
fn is_alike(one: &str, other: &str) -> bool {
    let common = one
        .bytes()
        .zip(other.bytes())
        .take_while(|(one, other)| one == other)
        .count();
    let rest = (one.len() - common).max(other.len() - common);
    // A compound: "Patientennamen" is about "Patienten".
    let is_part = common == one.len().min(other.len()) && common >= 6;
    is_part || (rest <= 4 && rest < common)
}
