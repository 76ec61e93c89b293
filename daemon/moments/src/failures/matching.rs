//! Whether a new failure is one that was mended before. A wrong remedy costs more than none, so guards reject what refuted,
//! generic or differently caused failures taught.

use crate::text::list::WordList;
use rustc_hash::{FxHashMap, FxHashSet};

use super::command::{Command, command};
use super::repair::{Action, Event, Repair, depends_on, repair};
use super::signature::{Signature, signature};

/// Known failures that are compared, the newest ones.
pub const KNOWN_MAX: usize = 2_000;

/// Shares of the weight of template words: of all, and of the smaller template.
const JACCARD_MIN: f32 = 0.35;
const CONTAINMENT_MIN: f32 = 0.75;

/// The same for another program.
const FOREIGN_JACCARD_MIN: f32 = 0.7;

/// The same for a remedy that is an edit of source code: it mends nothing but the same fault.
const SOURCE_JACCARD_MIN: f32 = 0.6;

/// A word in at most so many distinct failures is rare.
const RARE_MAX: u32 = 3;

/// Rare words that have to match.
const RARE_WORDS_MIN: usize = 2;

/// Share of the parameters that have to be the same.
const PARAMETERS_MIN: f32 = 0.34;

/// A failure that was recorded, with what followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFailure {
    /// The command that failed.
    pub command: Command,
    /// What its output said.
    pub signature: Signature,
    /// What mended it, and what did not.
    pub repair: Repair,
}

impl KnownFailure {
    /// Returns a failure from its line, its output and what happened afterwards.
    #[must_use]
    pub fn new(line: &str, output: &str, events: &[Event]) -> Self {
        Self {
            command: command(line),
            signature: signature(output),
            repair: repair(line, output, events),
        }
    }
}

/// How sure a match is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Confidence {
    /// The failure differs in what it names, the remedy does not depend on it.
    Similar,
    /// The remedy was seen once.
    Unconfirmed,
    /// The remedy helped at least twice.
    Confirmed,
}

impl Confidence {
    /// Returns the word in lines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Similar => "similar",
            Self::Unconfirmed => "unconfirmed",
            Self::Confirmed => "confirmed",
        }
    }
}

/// What mended such a failure.
#[derive(Clone, Debug, PartialEq)]
pub struct RepairMatch {
    /// Place of the known failure.
    pub known: usize,
    /// What helped, the best first; never empty.
    pub actions: Vec<Action>,
    /// How sure that is.
    pub confidence: Confidence,
    /// Times that the first action helped.
    pub times: usize,
    /// Weighted share of the words that are the same, 0 to 1.
    pub similarity: f32,
}

/// What is compared, for one pair.
struct Comparison {
    known: usize,
    similarity: f32,
    parameters: f32,
}

/// Returns what mended the same failure earlier, or `None` if that is not known or not sure enough.
///
/// `known` is in the order in which the failures happened.
#[must_use]
pub fn match_failure(line: &str, output: &str, known: &[KnownFailure]) -> Option<RepairMatch> {
    let first = known.len().saturating_sub(KNOWN_MAX);
    let recent = known.get(first..).unwrap_or_default();
    let (new_command, new) = (command(line), signature(output));
    if new.is_empty() {
        return None;
    }
    let counts = counts(recent);
    let compared: Vec<Comparison> = recent
        .iter()
        .enumerate()
        .filter_map(|(at, one)| compare(at, one, &new_command, &new, &counts))
        .collect();
    let refuted: Vec<&Action> = compared
        .iter()
        .filter(|pair| pair.parameters >= PARAMETERS_MIN)
        .filter_map(|pair| recent.get(pair.known))
        .flat_map(|one| &one.repair.refuted)
        .collect();
    let mut best: Option<(RepairMatch, f32)> = None;
    for pair in &compared {
        let Some(one) = recent.get(pair.known) else {
            continue;
        };
        let is_similar_only = pair.parameters < PARAMETERS_MIN;
        let actions: Vec<Action> = one
            .repair
            .actions
            .iter()
            .filter(|action| !refuted.iter().any(|it| it.is_same(action)))
            .cloned()
            .collect();
        let Some(action) = actions.first() else {
            continue;
        };
        if actions
            .iter()
            .any(|action| depends_on(action, &one.signature, &new))
        {
            continue;
        }
        let is_same_fault = pair.similarity >= SOURCE_JACCARD_MIN
            && !is_similar_only
            && names_the_same(&one.signature, &new);
        if is_source_edit(action) && !is_same_fault {
            continue;
        }
        let of_action: Vec<&Comparison> = compared
            .iter()
            .filter(|pair| {
                recent
                    .get(pair.known)
                    .is_some_and(|it| it.repair.actions.iter().any(|its| its.is_same(action)))
            })
            .collect();
        let times = of_action.len();
        if times < 2 && is_generic(one, action, &compared, recent) {
            continue;
        }
        let confidence = match (is_similar_only, times) {
            (true, _) => Confidence::Similar,
            (false, 0 | 1) => Confidence::Unconfirmed,
            (false, _) => Confidence::Confirmed,
        };
        // The newest of equals, which is the last.
        let rank = pair.parameters + pair.similarity + 0.5 * (times.min(3) as f32);
        if best.as_ref().is_none_or(|(_, other)| rank >= *other) {
            best = Some((
                RepairMatch {
                    known: first + pair.known,
                    confidence,
                    times,
                    similarity: pair.similarity,
                    actions,
                },
                rank,
            ));
        }
    }
    best.map(|(found, _)| found)
}

/// In how many distinct failures each word is.
struct WordCounts<'k> {
    distinct: u32,
    words: FxHashMap<&'k str, u32>,
}

impl WordCounts<'_> {
    fn weight(&self, word: &str) -> f32 {
        let count = self.words.get(word).copied().unwrap_or_default() as f32;
        ((self.distinct as f32 + 8.0) / (count + 0.5)).ln().max(0.1)
    }
}

fn counts(known: &[KnownFailure]) -> WordCounts<'_> {
    let mut seen = FxHashSet::default();
    let mut made = WordCounts {
        distinct: 0,
        words: FxHashMap::default(),
    };
    for one in known {
        if !seen.insert((one.signature.template(), &one.signature.parameters)) {
            continue;
        }
        made.distinct += 1;
        for word in &one.signature.words {
            *made.words.entry(word.as_str()).or_default() += 1;
        }
    }
    made
}

fn compare(
    at: usize,
    known: &KnownFailure,
    command: &Command,
    new: &Signature,
    counts: &WordCounts,
) -> Option<Comparison> {
    let old = &known.signature;
    let weight = |words: &mut dyn Iterator<Item = &String>| {
        words.map(|word| counts.weight(word)).sum::<f32>()
    };
    let both = weight(&mut old.words.intersection(&new.words));
    let (of_old, of_new) = (weight(&mut old.words.iter()), weight(&mut new.words.iter()));
    let all = of_old + of_new - both;
    let smaller = of_old.min(of_new);
    if all <= 0.0 || smaller <= 0.0 {
        return None;
    }
    let (similarity, containment) = (both / all, both / smaller);
    let is_same_program = known.command.is_same_program(command)
        || (known.command.program == command.program
            && !command.program.is_empty()
            && similarity >= 0.5);
    let is_near = similarity >= JACCARD_MIN && containment >= CONTAINMENT_MIN;
    if !is_near || (!is_same_program && similarity < FOREIGN_JACCARD_MIN) {
        return None;
    }
    let rare = old
        .words
        .intersection(&new.words)
        .filter(|word| counts.words.get(word.as_str()).copied().unwrap_or_default() <= RARE_MAX);
    let shares_code = old.codes.intersection(&new.codes).next().is_some();
    // A code that is the same stands for a rare word, and so does an equal template.
    let is_equal = similarity > 0.99 && old.parameters == new.parameters;
    if rare.count() + usize::from(shares_code) + usize::from(is_equal) < RARE_WORDS_MIN {
        return None;
    }
    if !old.codes.is_empty() && !new.codes.is_empty() && !shares_code {
        return None;
    }
    Some(Comparison {
        known: at,
        similarity,
        parameters: overlap(old, new),
    })
}

/// Returns the share of the parameters that are the same, of the smaller set. Without any on one side nothing is known.
fn overlap(old: &Signature, new: &Signature) -> f32 {
    let smaller = old.parameters.len().min(new.parameters.len());
    match (smaller, old.parameters.len().max(new.parameters.len())) {
        (0, 0) => 1.0,
        (0, _) => 0.5,
        _ => old.parameters.intersection(&new.parameters).count() as f32 / smaller as f32,
    }
}

/// Whether failures with this template were mended in two or more other ways, none of them twice: then it says too little.
fn is_generic(
    one: &KnownFailure,
    own: &Action,
    compared: &[Comparison],
    known: &[KnownFailure],
) -> bool {
    let mut remedies: Vec<(&Action, usize)> = Vec::new();
    for other in compared.iter().filter_map(|pair| known.get(pair.known)) {
        // The same parameters are the same failure: its newest remedy speaks.
        let is_this = !other.signature.parameters.is_empty()
            && other.signature.parameters == one.signature.parameters
            && other.signature.words == one.signature.words;
        if is_this {
            continue;
        }
        let Some(action) = other
            .repair
            .actions
            .first()
            .filter(|action| !action.is_same(own))
        else {
            continue;
        };
        match remedies.iter_mut().find(|(its, _)| its.is_same(action)) {
            Some((_, times)) => *times += 1,
            None => remedies.push((action, 1)),
        }
    }
    // Faults in source code that read alike have as many remedies as there are places.
    let is_of_source = remedies.iter().any(|(action, _)| is_source_edit(action));
    (remedies.len() >= 2 || (remedies.len() == 1 && is_of_source))
        && remedies.iter().all(|(_, times)| *times < 2)
}

/// Endings of files with settings and lists of dependencies.
static SETTINGS: WordList = WordList::new(
    "toml json yaml yml ini cfg conf env properties lock xml gradle tf tfvars txt npmrc nix mod sum plist service",
);

/// Whether an action edits source code, as against settings and lists of dependencies.
fn is_source_edit(action: &Action) -> bool {
    let Action::Edit { path, .. } = action else {
        return false;
    };
    let name = crate::text::paths::file_name(path).to_lowercase();
    let is_named_setting = name.starts_with('.')
        || ["dockerfile", "makefile", "gemfile", "procfile", "justfile"].contains(&name.as_str());
    let is_setting = name.rsplit_once('.').is_some_and(|(stem, ending)| {
        SETTINGS.has(ending) || stem.ends_with(".config") || stem.ends_with("config")
    });
    !is_named_setting && !is_setting
}

/// Whether two failures have a parameter in common, and a file if both name files.
fn names_the_same(old: &Signature, new: &Signature) -> bool {
    let has_common_file = old.files.intersection(&new.files).next().is_some();
    let has_common_parameter = old
        .parameters
        .intersection(&new.parameters)
        .next()
        .is_some();
    has_common_parameter && (has_common_file || old.files.is_empty() || new.files.is_empty())
}
