//! Which items a prompt needs, and when nothing.
//!
//! In a project everything is about the same few topics, so a score means nothing by itself: an item is said if its score is high
//! among the best scores of the project's own earlier prompts. Before enough of them are known, only words that are rare and sharp
//! speak. A cosine of embeddings helps where the caller has one, and nothing needs it: it finds what is said in other words.

use crate::durable::CUE_COUNTS;
use crate::items::{Item, ItemSource, Items, Quality, best_match};
use crate::reproach::asks_for_reasons;
use crate::text::language::{Language, language};
use crate::text::marks::WordMarks;
use crate::text::split::sentences;
use crate::text::tokens::tokens;
use crate::text::words::{EVERYDAY_RARITY, Term, terms};

/// Items for a prompt.
const SELECTED_MAX: usize = 2;

/// Content words that a prompt has at least.
const WORDS_MIN: usize = 2;

/// Words of a prompt that are compared, the heaviest.
const QUERY_WORDS_MAX: usize = 24;

/// Earlier prompts whose best scores calibrate the threshold.
const PAST_MAX: usize = 160;

/// Earlier prompts from which on they do.
const PAST_MIN: usize = 30;

/// Share of the project's earlier prompts whose best score has to be lower.
const PERCENTILE: f32 = 0.85;

/// Scores without a calibration: this sure, and below the first one nothing is said in a calibrated project either.
const FLOOR: f32 = 0.30;
const COLD: f32 = 0.32;

/// A score that is said whatever the calibration says: rare words, sharply matched.
const CERTAIN: f32 = 0.75;

/// Cosine at which a sure item of the user may be said although it shares no word with the prompt, in a project without
/// calibration. MiniLM gives at most .33 for prompts that need nothing, and .39 for those of the same topic.
const MEANING: f32 = 0.38;

/// Cosine that texts of another language have more than English ones: the built-in models know English alone.
const FOREIGN: f32 = 0.2;

/// Rarity of the words of a prompt, together, from which on its cosines count: "create a new task" is near to all tasks.
const TELLING: f32 = 0.8;

/// A cosine that stands out counts more: this share of the distance to the second best, beyond a distance that chance has, up to
/// a limit, and among this number of items at least.
const OUTSTANDING_SHARE: f32 = 0.25;
const OUTSTANDING_FROM: f32 = 0.08;
const OUTSTANDING_MAX: f32 = 0.04;
const OUTSTANDING_ITEMS_MIN: usize = 5;

/// Scores above this one are those of sharp words, unless they are pressed together: a cosine never makes an item certain.
const PRESSED: f32 = 0.6;

/// What a match of a prompt and an item consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PromptFeatures {
    /// Share of the weight of the prompt's words that the item has, 0 to 1.
    pub overlap: f32,
    /// Sum of the weights of matched words, less for words that many items have.
    pub evidence: f32,
    /// Matched words.
    pub words: usize,
    /// Names that both have: with digits, inner capitals, `_`, `/` or dots.
    pub names: usize,
    /// Whether a word that is no everyday one matched by itself, not by its meaning.
    pub has_rare_word: bool,
    /// Whether the prompt names what the item is about: its first content word.
    pub names_subject: bool,
}

/// A prompt prepared for matching.
#[derive(Clone, Debug)]
pub struct Query {
    terms: Vec<(Term, f32, WordMarks)>,
    weight: f32,
    /// What is taken off cosines.
    foreign: f32,
    /// Whether it says enough beyond words of everyday work that its meaning says something.
    is_telling: bool,
}

impl Query {
    /// Prepares a prompt: what its author says, without pasted text and code.
    #[must_use]
    pub fn new(prompt: &str, items: &Items) -> Self {
        let own: Vec<String> = sentences(prompt)
            .into_iter()
            .map(|sentence| sentence.text)
            .collect();
        let text = if own.is_empty() {
            prompt.to_owned()
        } else {
            own.join("\n")
        };
        let mut weighted: Vec<(Term, f32, WordMarks)> = terms(&text)
            .into_iter()
            .map(|term| {
                let weight = items.vocabulary().weight(&term);
                let marks = WordMarks::of([&term]);
                (term, weight, marks)
            })
            .collect();
        weighted.sort_by(|one, other| other.1.total_cmp(&one.1));
        weighted.truncate(QUERY_WORDS_MAX);
        let weight = weighted.iter().map(|(_, weight, _)| weight).sum();
        let content: f32 = weighted
            .iter()
            .map(|(term, ..)| term.rarity)
            .filter(|rarity| *rarity > EVERYDAY_RARITY)
            .sum();
        Self {
            terms: weighted,
            weight,
            is_telling: content >= TELLING,
            foreign: match language(&text, &tokens(&text)) {
                Language::English => 0.0,
                Language::German | Language::French | Language::Spanish | Language::Chinese => {
                    FOREIGN
                }
            },
        }
    }

    /// Whether it says too little to need anything, such as "go on".
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.terms
            .iter()
            .filter(|(term, ..)| term.rarity > EVERYDAY_RARITY)
            .count()
            < 1
            || self.terms.len() < WORDS_MIN
    }

    /// Compares the prompt with an item.
    #[must_use]
    pub fn features(&self, item: &Item, items: &Items) -> PromptFeatures {
        let mut made = PromptFeatures::default();
        let mut matched = 0.0;
        for (term, weight, marks) in &self.terms {
            let among = |others: &[Term], of_others: &WordMarks| {
                let may = of_others.may_match(marks);
                may.then(|| best_match(term, others)).flatten()
            };
            let direct = among(&item.terms, &item.term_marks);
            let direct = direct.map(|quality| (quality, quality.worth()));
            let found = direct.or_else(|| {
                among(&item.context, &item.context_marks)
                    .filter(|quality| !matches!(quality, Quality::Concept(_)))
                    .map(|quality| (quality, 0.4 * quality.worth()))
            });
            let Some((quality, worth)) = found else {
                continue;
            };
            let gain = weight * worth;
            matched += gain;
            made.evidence += gain * items.sharpness(term, quality);
            made.words += usize::from(direct.is_some() && term.rarity > EVERYDAY_RARITY);
            let is_own = quality == Quality::Equal && direct.is_some();
            made.names += usize::from(term.is_name && is_own);
            let is_subject = item.terms.first().is_some_and(|first| {
                let is_form = first.prefix.is_some()
                    && first.prefix == term.prefix
                    && first.stem.len().abs_diff(term.stem.len()) <= 3;
                first.hash == term.hash || is_form
            });
            made.names_subject |= is_subject && direct.is_some() && term.rarity > EVERYDAY_RARITY;
            made.has_rare_word |= is_own && *weight > 0.45;
        }
        // Of very few words a large share says little.
        made.overlap = (matched / self.weight.max(1.0)).clamp(0.0, 1.0);
        made
    }
}

/// Returns the score of an item for a prompt, 0 to 1. `cosine` is that of their embeddings, if the caller has them.
#[must_use]
pub fn prompt_score(features: &PromptFeatures, item: &Item, cosine: Option<f32>) -> f32 {
    let cosine = cosine.filter(|cosine| cosine.is_finite());
    let source = match item.source {
        ItemSource::User | ItemSource::Note => 0.3,
        ItemSource::Agent => 0.0,
        ItemSource::Tool => -1.28,
    };
    let unsure = if item.cue < CUE_COUNTS { 0.5 } else { 0.0 };
    let known = 0.29 * item.cue.min(2.0) + source + item.worth() - unsure;
    let words = (features.words > 0).then(|| known + of_words(features));
    let certain = words.map_or(0.0, sigmoid);
    let Some(cosine) = cosine else {
        return certain;
    };
    // Between the cosines of MiniLM for needed items and those for prompts that need nothing.
    let helped = words.map(|words| words + (6.0 * (cosine - 0.35)).clamp(-2.0, 3.5));
    // What an agent found out is about the case at hand, more often than what a user said.
    let doubt = if item.source == ItemSource::Agent {
        0.4
    } else {
        0.0
    };
    let meant = known - 1.4 - doubt + 12.0 * (cosine - MEANING);
    let score = sigmoid(helped.map_or(meant, |helped| helped.max(meant)));
    if certain >= CERTAIN {
        return score;
    }
    let room = (CERTAIN - PRESSED) / (1.0 - PRESSED);
    score.min(PRESSED + (score - PRESSED) * room)
}

/// Returns what the words of a match say, as a logit.
fn of_words(features: &PromptFeatures) -> f32 {
    let logit = -3.6
        + 3.2 * features.overlap
        + 2.2 * features.evidence.min(2.0)
        + 0.35 * (features.words.min(4) as f32)
        + 0.8 * (features.names.min(2) as f32)
        + 0.9 * f32::from(u8::from(features.names_subject));
    let is_alone = features.words < 2 && features.names == 0 && !features.names_subject;
    logit - if is_alone { 1.3 } else { 0.0 }
}

fn sigmoid(logit: f32) -> f32 {
    1.0 / (1.0 + (-logit).exp())
}

/// The best scores of a project's earlier prompts, the newest last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PastScores {
    scores: Vec<f32>,
}

impl PastScores {
    /// Adds the best score of a prompt: [`Selection::top`]. The oldest ones are dropped.
    pub fn push(&mut self, top: f32) {
        if self.scores.len() >= PAST_MAX {
            self.scores.remove(0);
        }
        self.scores.push(if top.is_finite() { top } else { 0.0 });
    }

    /// Returns the number of scores.
    #[must_use]
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.scores.is_empty()
    }

    /// Returns the score from which on an item is said.
    #[must_use]
    pub fn threshold(&self) -> f32 {
        if self.scores.len() < PAST_MIN {
            return COLD;
        }
        let mut sorted = self.scores.clone();
        sorted.sort_by(f32::total_cmp);
        let at = ((sorted.len() as f32 * PERCENTILE) as usize).min(sorted.len() - 1);
        let own = sorted.get(at).copied().unwrap_or(COLD);
        own.clamp(FLOOR, CERTAIN)
    }
}

impl FromIterator<f32> for PastScores {
    fn from_iter<T: IntoIterator<Item = f32>>(scores: T) -> Self {
        let mut made = Self::default();
        for score in scores {
            made.push(score);
        }
        made
    }
}

/// An item with its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoredItem {
    /// Its place in [`Items`].
    pub index: usize,
    /// Its score, 0 to 1.
    pub score: f32,
}

/// What is said at a moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// The items, the best first.
    pub items: Vec<ScoredItem>,
    /// The best score of all items that are not of the prompt's own turn, also of those that were shown before. For
    /// [`PastScores::push`].
    pub top: f32,
    /// The same by words alone.
    pub top_of_words: f32,
}

/// Returns the best cosine, and what is added to it if it stands out among those of all items.
fn outstanding(cosines: impl Iterator<Item = f32>) -> Option<(f32, f32)> {
    let (mut best, mut second, mut count) = (-1.0_f32, -1.0_f32, 0);
    for cosine in cosines {
        (best, second) = match cosine > best {
            true => (cosine, best),
            false => (best, second.max(cosine)),
        };
        count += 1;
    }
    let extra =
        (OUTSTANDING_SHARE * (best - second - OUTSTANDING_FROM)).clamp(0.0, OUTSTANDING_MAX);
    (count >= OUTSTANDING_ITEMS_MIN).then_some((best, extra))
}

/// Returns the items that a prompt needs, at most two.
///
/// `turn` is the prompt's own turn, whose items do not count; `is_shown` says what the session has already seen; `cosine`
/// returns the cosine of prompt and item if the caller has it.
#[must_use]
pub fn select_for_prompt(
    prompt: &str,
    items: &Items,
    turn: u64,
    past: &PastScores,
    is_shown: &dyn Fn(usize) -> bool,
    cosine: &dyn Fn(usize) -> Option<f32>,
) -> Selection {
    let query = Query::new(prompt, items);
    let mut made = Selection::default();
    if query.is_empty() || asks_for_reasons(prompt) {
        return made;
    }
    let threshold = past.threshold();
    let mut found: Vec<ScoredItem> = Vec::new();
    let others: Vec<(usize, &Item, Option<f32>)> = items
        .iter()
        .enumerate()
        .filter(|(_, item)| item.turn != turn)
        .map(|(index, item)| {
            (
                index,
                item,
                cosine(index).filter(|cosine| cosine.is_finite()),
            )
        })
        .collect();
    let outstanding = outstanding(others.iter().filter_map(|(_, _, cosine)| *cosine));
    for (index, item, cosine) in others {
        let cosine = cosine.filter(|_| query.is_telling).map(|cosine| {
            let extra = outstanding.filter(|(best, _)| *best == cosine);
            cosine - query.foreign + extra.map_or(0.0, |(_, extra)| extra)
        });
        let features = query.features(item, items);
        let score = prompt_score(&features, item, cosine);
        made.top = made.top.max(score);
        let of_words = cosine.map_or(score, |_| prompt_score(&features, item, None));
        made.top_of_words = made.top_of_words.max(of_words);
        if score >= threshold && !is_shown(index) {
            found.push(ScoredItem { index, score });
        }
    }
    found.sort_by(|one, other| other.score.total_cmp(&one.score));
    // A second one only if it is nearly as good.
    let best = found.first().map_or(0.0, |first| first.score);
    found.retain(|one| one.score >= 0.8 * best);
    made.items = items.without_repeats(found, SELECTED_MAX);
    made
}
