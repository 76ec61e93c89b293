//! Resolves references such as "that device", "the second one", "both" and "its" to mentioned entities.
//!
//! Only English is supported. A kind word selects entities of its kind, and some kind words prefer certain
//! names: "the router" is the last device with `router` or `rtr` in its name, or the last device if none has.
//! Ordinals and plurals refer to the last listing: entities of one kind in one text. Mentions in the same text
//! take precedence over earlier texts.

mod phrase;
#[cfg(test)]
mod tests;

use super::choose::Candidate;
use super::edges::Edges;
use super::packs::PackSet;
use super::{Knowledge, Mention};
use phrase::{Number, Phrase, PhraseQuery, phrases};
use std::collections::HashSet;

/// Limit on the references of a text.
const REFERENCES_MAX: usize = 1000;
/// Limit on the entities that a plural means.
const PLURAL_MAX: usize = 32;
/// Limit on the mentions that are remembered within a text.
const REMEMBERED_MAX: usize = 64;

/// A reference and one of the entities that it means.
#[derive(Clone, Debug)]
pub(super) struct ResolvedReference {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) confidence: f32,
    pub(super) mention: Mention,
}

/// Resolves the references of a text, in order, given the names found in it. Each entity is returned once,
/// because a text with many an "it" still mentions the entity only once.
pub(super) fn resolve(
    packs: &PackSet,
    text: &str,
    names: &[Candidate<Mention>],
    knowledge: &Knowledge<'_>,
) -> Vec<ResolvedReference> {
    let mut memory = MentionHistory::new(packs, knowledge);
    let mut reported: HashSet<Mention> = HashSet::new();
    let mut found = Vec::new();
    let mut names = names.iter().peekable();
    for phrase in phrases(packs, text).take(REFERENCES_MAX) {
        while let Some(name) = names.next_if(|name| name.end <= phrase.start) {
            memory.mention(&name.what, true);
        }
        let next = names.peek();
        let overlaps = next.is_some_and(|name| name.start < phrase.end);
        let names_it = next.is_some_and(|name| {
            let between = text.get(phrase.end..name.start).unwrap_or_default();
            let is_gap = |c: char| c.is_whitespace() || "\"'`:(#".contains(c);
            phrase.kind_word.is_some() && between.chars().all(is_gap)
        });
        if overlaps || names_it || !Edges::Alone.allow(text, phrase.start, phrase.end) {
            continue;
        }
        let targets = memory.targets(&phrase);
        for mention in &targets {
            memory.mention(mention, false);
        }
        for mention in targets {
            if reported.insert(mention.clone()) {
                found.push(ResolvedReference {
                    start: phrase.start,
                    end: phrase.end,
                    confidence: phrase.confidence(),
                    mention,
                });
            }
        }
    }
    found
}

/// The mentions up to a position in a text.
struct MentionHistory<'a> {
    packs: &'a PackSet,
    knowledge: &'a Knowledge<'a>,
    /// Mentions in this text, the latest last.
    recent: Vec<Mention>,
    /// Names in this text, in the order of their first mention.
    listed: Vec<Mention>,
}

impl<'a> MentionHistory<'a> {
    fn new(packs: &'a PackSet, knowledge: &'a Knowledge<'a>) -> Self {
        Self {
            packs,
            knowledge,
            recent: Vec::new(),
            listed: Vec::new(),
        }
    }

    fn mention(&mut self, mention: &Mention, is_name: bool) {
        self.recent.retain(|known| known != mention);
        if self.recent.len() >= REMEMBERED_MAX {
            self.recent.remove(0);
        }
        self.recent.push(mention.clone());
        if is_name && self.listed.len() < REMEMBERED_MAX && !self.listed.contains(mention) {
            self.listed.push(mention.clone());
        }
    }

    /// Returns the entities that a reference means; empty if unknown.
    fn targets(&self, phrase: &Phrase) -> Vec<Mention> {
        let at = |index: usize| self.listing(phrase, index + 1).into_iter().nth(index);
        let one = match phrase.asked {
            PhraseQuery::Latest => self.latest(phrase).next(),
            PhraseQuery::Nth(index) => at(index),
            PhraseQuery::Last => self
                .listing(phrase, 1)
                .pop()
                .or_else(|| self.latest(phrase).next()),
            PhraseQuery::Other => return self.other(phrase),
            PhraseQuery::Both => return self.both(phrase),
            PhraseQuery::All => {
                let mut all = self.listing(phrase, 1);
                all.truncate(PLURAL_MAX);
                return all;
            }
        };
        one.into_iter().collect()
    }

    /// Returns the entities that a reference may mean, the latest first. A kind word restricts them.
    fn latest(&self, phrase: &Phrase) -> impl Iterator<Item = Mention> {
        let recent = self.recent.iter().rev().chain(self.knowledge.recent);
        let recent: Vec<&Mention> = recent.take(REMEMBERED_MAX * 2).collect();
        self.narrowed(phrase, recent).into_iter().cloned()
    }

    /// Returns the last listing of a reference's kind with at least `least` entities that the reference may mean.
    fn listing(&self, phrase: &Phrase, least: usize) -> Vec<Mention> {
        for listing in [&*self.listed, self.knowledge.listing] {
            let of_kind = match phrase.kind_word {
                Some(kind_word) => self.of_kind(kind_word.kind, listing),
                None => most_of_one_kind(listing.iter().collect()),
            };
            let is_listing = of_kind.len() > 1;
            let found = self.narrowed(phrase, of_kind);
            if is_listing && found.len() >= least {
                return found.into_iter().cloned().collect();
            }
        }
        Vec::new()
    }

    fn of_kind<'m>(&self, kind: usize, mentions: &'m [Mention]) -> Vec<&'m Mention> {
        let kind = self.packs.kinds.get(kind).map(|kind| &*kind.name);
        let of_kind = mentions
            .iter()
            .filter(|mention| Some(&*mention.kind) == kind);
        of_kind.collect()
    }

    /// Returns the entity of a listing of two that was not mentioned last.
    fn other(&self, phrase: &Phrase) -> Vec<Mention> {
        let listing = self.listing(phrase, 2);
        let [first, second] = listing.as_slice() else {
            return Vec::new();
        };
        let last = self
            .latest(phrase)
            .find(|mention| mention == first || mention == second);
        let other = if last.as_ref() == Some(first) {
            second
        } else {
            first
        };
        vec![other.clone()]
    }

    /// Returns the entities of a listing of two, else the last two mentions of one kind.
    fn both(&self, phrase: &Phrase) -> Vec<Mention> {
        let listing = self.listing(phrase, 2);
        if listing.len() == 2 {
            return listing;
        }
        let mut latest: Vec<Mention> = Vec::new();
        for mention in self.latest(phrase) {
            let fits = latest
                .first()
                .is_none_or(|first| first.kind == mention.kind);
            if fits && latest.len() < 2 && !latest.contains(&mention) {
                latest.push(mention);
            }
        }
        latest.reverse();
        if latest.len() == 2 {
            latest
        } else {
            Vec::new()
        }
    }

    /// Filters mentions by the kind of the kind word, and by its name parts if any name has one of them.
    fn narrowed<'m>(&self, phrase: &Phrase, mentions: Vec<&'m Mention>) -> Vec<&'m Mention> {
        let Some(kind_word) = phrase.kind_word else {
            return mentions;
        };
        let kind = self.packs.kinds.get(kind_word.kind).map(|kind| &*kind.name);
        let of_kind = mentions
            .into_iter()
            .filter(|mention| Some(&*mention.kind) == kind);
        let of_kind: Vec<&Mention> = of_kind.collect();
        let says = |mention: &&&Mention| has_part(&mention.key, &kind_word.parts);
        let reported: Vec<&Mention> = of_kind.iter().filter(says).copied().collect();
        if reported.is_empty() {
            of_kind
        } else {
            reported
        }
    }
}

/// Returns whether a part of a name, without its trailing number, is one of `parts`.
fn has_part(key: &str, parts: &[String]) -> bool {
    key.split(|c: char| !c.is_alphanumeric())
        .map(|part| part.trim_end_matches(|c: char| c.is_ascii_digit()))
        .any(|part| parts.iter().any(|wanted| wanted == part))
}

/// Returns the mentions of the most frequent kind.
fn most_of_one_kind(mentions: Vec<&Mention>) -> Vec<&Mention> {
    let count = |kind: &str| {
        mentions
            .iter()
            .filter(|mention| &*mention.kind == kind)
            .count()
    };
    // The first of equally frequent kinds wins.
    let most = mentions
        .iter()
        .rev()
        .max_by_key(|mention| count(&mention.kind));
    let kind = most.map(|mention| mention.kind.clone());
    let of_kind = mentions
        .into_iter()
        .filter(|mention| Some(&mention.kind) == kind.as_ref());
    of_kind.collect()
}

impl Phrase<'_> {
    /// Returns the confidence of a reference of this form.
    fn confidence(&self) -> f32 {
        match (self.asked, self.number) {
            (PhraseQuery::Nth(_) | PhraseQuery::Last | PhraseQuery::Other, _) => 0.75,
            (PhraseQuery::Both | PhraseQuery::All, _) => 0.65,
            (PhraseQuery::Latest, Number::This) => 0.7,
            (PhraseQuery::Latest, Number::The) => 0.5,
        }
    }
}
