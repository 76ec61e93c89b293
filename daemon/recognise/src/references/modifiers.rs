//! Descriptions: "the failed one", "the tills one", and phrases of modifiers with the noun of a kind.

use super::sets::TURNS_MAX;
use super::{Outcome, Phrase, Resolver};
use crate::discourse::{Referent, singular};

/// Words that do not describe.
const PLAIN: [&str; 12] = [
    "same", "right", "whole", "new", "last", "only", "very", "own", "other", "correct", "actual",
    "current",
];

impl Resolver<'_> {
    /// Returns whether a word describes an entity, directly or through what it belongs to.
    pub(super) fn describes(&self, referent: &Referent<'_>, word: &str) -> bool {
        if PLAIN.contains(&word) || referent.is_described(word) {
            return true;
        }
        referent.parents.iter().any(|(kind, key)| {
            let parent = self.discourse.referents.iter();
            let mut parent =
                parent.filter(|one| &*one.mention.kind == kind && one.mention.key == *key);
            parent.any(|one| one.parts.iter().any(|part| part == word))
        })
    }

    /// "the one in Frankfurt", "the ones from Oslo": members of a list that a property selects.
    pub(super) fn one_with(&self, at: usize) -> Phrase {
        let is_plural = self.word(at + 1) == "ones";
        let is_phrase = matches!(self.word(at), "the" | "that" | "those")
            && (is_plural || self.word(at + 1) == "one")
            && matches!(
                self.word(at + 2),
                "in" | "at" | "on" | "from" | "of" | "for" | "with" | "by" | "under" | "behind"
            );
        if !is_phrase {
            return None;
        }
        let mut from = at + 3;
        while matches!(self.word(from), "the" | "a" | "an" | "our" | "my") {
            from += 1;
        }
        let words: Vec<&str> = (from..from + 3)
            .take_while(|at| *at == from || self.words.joins(at - 1))
            .map(|at| self.word(at))
            .take_while(|word| !word.is_empty() && !is_function(word))
            .collect();
        let first = *words.first()?;
        let is_wanted = |one: &Referent<'_>| {
            !one.is_here
                && one.turn <= TURNS_MAX
                && words.iter().any(|word| self.describes(one, word))
        };
        for group in self
            .discourse
            .groups
            .iter()
            .filter(|group| group.turn <= TURNS_MAX)
        {
            let members: Vec<usize> = group
                .members
                .iter()
                .copied()
                .filter(|at| self.referent(*at).is_some_and(is_wanted))
                .collect();
            match members.as_slice() {
                [] => {}
                [only] => return Some((2, Outcome::one(*only, 0.8))),
                all if is_plural => return Some((2, Outcome::Meant(all.to_vec(), 0.75))),
                all => {
                    let all: Vec<(usize, f32)> = all.iter().map(|at| (*at, 0.5)).collect();
                    return Some((2, Outcome::best_of(&all)));
                }
            }
        }
        let ranked = self
            .discourse
            .ranked(&|one| is_wanted(one) && self.describes(one, first));
        (!ranked.is_empty()).then(|| (2, Outcome::best_of(&ranked)))
    }

    /// "the failed one", "the tills one", "that planned one".
    pub(super) fn modified_one(&self, at: usize) -> Phrase {
        if !matches!(self.word(at), "the" | "that" | "this") {
            return None;
        }
        let ones = (1..=3).find(|offset| matches!(self.word(at + offset), "one" | "ones"))?;
        if ones < 2 || (1..ones).any(|offset| !self.words.joins(at + offset)) {
            return None;
        }
        let modifiers: Vec<String> = (1..ones)
            .map(|offset| self.word(at + offset).to_owned())
            .collect();
        let first = modifiers.first()?;
        // A comparison says nothing that is known.
        if matches!(
            first.as_str(),
            "less" | "more" | "most" | "least" | "next" | "same"
        ) || modifiers.iter().any(String::is_empty)
        {
            return Some((ones + 1, self.compared()));
        }
        let is_wanted = |one: &Referent<'_>| {
            !one.is_person() && modifiers.iter().all(|word| one.is_described(word))
        };
        let mut ranked = self.discourse.ranked(&is_wanted);
        ranked.retain(|(at, _)| self.referent(*at).is_some_and(|one| one.turn <= TURNS_MAX));
        // Of a list, the member that the modifier selects.
        let in_group = |at: usize| {
            let recent = self.discourse.groups.iter().filter(|group| group.turn <= 1);
            recent.take(4).any(|group| group.members.contains(&at))
        };
        let of_group: Vec<(usize, f32)> = ranked
            .iter()
            .copied()
            .filter(|(at, _)| in_group(*at))
            .collect();
        let outcome = match (of_group.as_slice(), ranked.as_slice()) {
            ([(only, _)], _) | ([], [(only, _)]) => Outcome::one(*only, 0.8),
            ([], []) => {
                let is_recent = |one: &Referent<'_>| one.is_thing() && one.turn <= TURNS_MAX;
                let by_age = self.by_age(&modifiers, &is_recent);
                by_age.unwrap_or_else(|| self.compared())
            }
            ([], all) | (all, _) => Outcome::best_of(all),
        };
        Some((ones + 1, outcome))
    }

    /// Returns the members of the last list as possible ones.
    fn compared(&self) -> Outcome {
        let newest = self.discourse.groups.iter().find(|group| group.turn <= 1);
        newest.map_or(Outcome::Open, |group| {
            Outcome::best_of(
                &group
                    .members
                    .iter()
                    .map(|at| (*at, 0.4))
                    .collect::<Vec<_>>(),
            )
        })
    }

    /// Returns modifiers, the noun of a kind, and the number of words of a phrase such as "failed access point".
    pub(super) fn kind_phrase(&self, at: usize) -> Option<(Vec<String>, String, usize)> {
        for count in (1..=3).rev() {
            let all: Vec<&str> = (0..count).map(|offset| self.word(at + offset)).collect();
            let is_joined = (0..count - 1).all(|offset| self.words.joins(at + offset));
            // What is a name is no part of a description.
            let has_name = (0..count).any(|offset| self.words.is_name(at + offset));
            if !is_joined || has_name || all.iter().any(|word| word.is_empty()) {
                continue;
            }
            for nouns in (1..=count.min(2)).rev() {
                let (modifiers, noun) = all.split_at(count - nouns);
                let noun = noun.join(" ");
                let is_plain = modifiers.iter().all(|word| !is_function(word));
                if is_plain && self.discourse.is_kind_noun(&noun) {
                    let modifiers = modifiers.iter().map(|word| (*word).to_owned()).collect();
                    return Some((modifiers, noun, count));
                }
            }
        }
        None
    }
}

/// Returns whether a word joins phrases and cannot be within one.
pub(super) fn is_function(word: &str) -> bool {
    matches!(
        word,
        "a" | "an"
            | "the"
            | "is"
            | "are"
            | "was"
            | "were"
            | "be"
            | "has"
            | "have"
            | "had"
            | "does"
            | "do"
            | "did"
            | "it"
            | "its"
            | "they"
            | "he"
            | "she"
            | "and"
            | "or"
            | "but"
            | "which"
            | "that"
            | "this"
            | "these"
            | "those"
            | "who"
            | "there"
            | "of"
            | "in"
            | "on"
            | "at"
            | "for"
            | "with"
            | "by"
            | "from"
            | "to"
            | "into"
            | "about"
            | "as"
            | "than"
            | "both"
            | "all"
            | "will"
            | "can"
            | "would"
            | "if"
            | "then"
            | "what"
            | "how"
            | "why"
            | "when"
            | "where"
            | "i"
            | "you"
            | "we"
            | "my"
            | "your"
            | "our"
            | "s"
            | "t"
            | "them"
            | "not"
            | "no"
            | "so"
            | "up"
            | "down"
            | "out"
            | "too"
            | "now"
            | "please"
            | "me"
            | "him"
            | "her"
    )
}

/// Returns whether a noun is in the plural.
pub(super) fn is_plural(noun: &str) -> bool {
    singular(noun) != noun
}
