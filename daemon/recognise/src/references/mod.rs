//! Resolves references such as "that device", "the second one", "both" and "its" to mentioned entities.
//!
//! Only English is supported. References come in two strengths. *Meant*: kind nouns ("that switch"), sets, a
//! modifier with "one", people, and pronouns with evidence. *Possible*: the best two candidates of a pronoun or an
//! ordinal without clear evidence. The subject of the last statement is preferred over its objects.

mod idle;
mod modifiers;
mod nouns;
mod ordinals;
mod people;
mod pronouns;
mod sets;
mod terse;
#[cfg(test)]
mod tests;
mod unclear;
mod words;

use super::choose::Candidate;
use super::discourse::{Discourse, Referent};
use super::packs::PackSet;
use super::{Knowledge, Mention, TextSource};
use words::Words;

/// Limit on the references of a text.
const REFERENCES_MAX: usize = 1000;
/// Limit on the entities that a plural means.
const PLURAL_MAX: usize = 32;
/// Limit on the candidates of a possible reference.
const POSSIBLE_MAX: usize = 2;
/// Least prominence of a candidate.
const THRESHOLD: f32 = 0.42;
/// A reference and one of the entities that it refers to.
#[derive(Clone, Debug)]
pub(super) struct ResolvedReference {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) confidence: f32,
    pub(super) mention: Mention,
    pub(super) is_meant: bool,
}

/// What a phrase refers to.
#[derive(Clone, Debug)]
pub(super) enum Outcome {
    /// These entities, with this confidence.
    Meant(Vec<usize>, f32),
    /// One of these entities, with their scores, the best first.
    Possible(Vec<(usize, f32)>),
    /// Nothing that is known, but the phrase is used up.
    Open,
}

impl Outcome {
    fn one(at: usize, confidence: f32) -> Self {
        Self::Meant(vec![at], confidence)
    }

    /// Returns the best two of ranked candidates as possible ones.
    fn best_of(ranked: &[(usize, f32)]) -> Self {
        let best = ranked
            .iter()
            .take(POSSIBLE_MAX)
            .copied()
            .collect::<Vec<_>>();
        if best.is_empty() {
            Self::Open
        } else {
            Self::Possible(best)
        }
    }
}

/// A phrase at a word: how many words it has, and what it refers to.
type Phrase = Option<(usize, Outcome)>;

/// Resolves the references of a text, in order, given the names found in it. Each entity is returned once,
/// because a text with many an "it" still mentions the entity only once.
pub(super) fn resolve<'a>(
    packs: &'a PackSet,
    text: &str,
    source: TextSource,
    names: &[Candidate<Mention>],
    knowledge: &Knowledge<'a>,
) -> Vec<ResolvedReference> {
    let discourse = Discourse::of(packs, knowledge);
    let words = Words::of(text, names);
    let mut resolver = Resolver {
        discourse,
        words,
        source,
        found: Vec::new(),
        has_open: false,
    };
    resolver.run(names);
    resolver.found
}

/// The state of a resolution.
struct Resolver<'a> {
    discourse: Discourse<'a>,
    words: Words,
    source: TextSource,
    found: Vec<ResolvedReference>,
    /// Whether a phrase refers to nothing that is known: the text has a subject of its own.
    has_open: bool,
}

impl Resolver<'_> {
    fn run(&mut self, names: &[Candidate<Mention>]) {
        let mut names = names.iter().peekable();
        let mut at = 0;
        while at < self.words.len() && self.found.len() < REFERENCES_MAX {
            let Some(start) = self.words.start(at) else {
                break;
            };
            while let Some(name) = names.next_if(|name| name.start <= start) {
                self.discourse.mention_here(&name.what, 0.1);
            }
            if self.words.is_name(at) {
                at += 1;
                continue;
            }
            if let Some(owner) = self.owner(at) {
                self.take(at, 1, owner);
            }
            at += match self.phrase(at) {
                Some((count, outcome)) => {
                    self.take(at, count, outcome);
                    count.max(1)
                }
                None => 1,
            };
        }
        for name in names {
            self.discourse.mention_here(&name.what, 0.1);
        }
        if self.found.is_empty()
            && !self.has_open
            && self.source == TextSource::Person
            && let Some(outcome) = self.ellipsis()
        {
            self.take(0, self.words.len(), outcome);
        }
        if self.found.is_empty()
            && self.source == TextSource::Person
            && let Some(outcome) = self.unclear()
        {
            self.take(0, self.words.len(), outcome);
        }
    }

    /// Returns the phrase that begins at a word.
    fn phrase(&self, at: usize) -> Phrase {
        // "that case" is idle, unless cases are a kind of things here.
        let is_kind = matches!(self.word(at), "that" | "this" | "the")
            && self.discourse.is_kind_noun(self.word(at + 1));
        idle::skipped(&self.words, at)
            .filter(|count| !(is_kind && *count == 2))
            .map(|count| (count, Outcome::Open))
            .or_else(|| self.first_of_list(at))
            .or_else(|| self.set(at))
            .or_else(|| self.ordinal(at))
            .or_else(|| self.other(at))
            .or_else(|| self.one_with(at))
            .or_else(|| self.modified_one(at))
            .or_else(|| self.possessed(at))
            .or_else(|| self.noun(at))
            .or_else(|| self.pronoun(at))
    }

    fn take(&mut self, at: usize, count: usize, outcome: Outcome) {
        let (Some(start), Some(end)) =
            (self.words.start(at), self.words.end(at + count.max(1) - 1))
        else {
            return;
        };
        // In an answer, only clear references count: its pronouns refer to what it says itself.
        let is_person = self.source == TextSource::Person;
        let (targets, is_meant): (Vec<(usize, f32)>, bool) = match outcome {
            Outcome::Open => {
                self.has_open |=
                    idle::skipped(&self.words, at).is_some() || self.noun(at).is_some();
                return;
            }
            Outcome::Meant(all, confidence) => {
                let all = all.into_iter().take(PLURAL_MAX);
                (all.map(|one| (one, confidence)).collect(), true)
            }
            Outcome::Possible(all) if is_person => (all, false),
            Outcome::Possible(_) => return,
        };
        for (referent, confidence) in targets {
            let Some(mention) = self.referent(referent).map(|one| one.mention.clone()) else {
                continue;
            };
            if is_meant {
                self.discourse.mention_here(&mention, 0.0);
            }
            let known = self.found.iter_mut().find(|known| known.mention == mention);
            match known {
                Some(known) => known.is_meant |= is_meant,
                None => self.found.push(ResolvedReference {
                    start,
                    end,
                    confidence: confidence.clamp(0.05, 0.95),
                    mention,
                    is_meant,
                }),
            }
        }
    }

    fn referent(&self, at: usize) -> Option<&Referent<'_>> {
        self.discourse.referents.get(at)
    }

    fn word(&self, at: usize) -> &str {
        self.words.lower(at)
    }
}
