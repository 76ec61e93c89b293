//! Places in lists: "the first one", "the last firewall", "the other two".

use super::modifiers::is_function;
use super::nouns::LISTED;
use super::sets::{NUMBERS, TURNS_MAX};
use super::{Outcome, Phrase, Resolver};
use crate::discourse::{Group, Referent};
use crate::past::TextSource;

const ORDINALS: [&str; 10] = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
];

/// Order of the lists of one turn: a person's before an answer's before a result's.
const fn source_rank(source: TextSource) -> u8 {
    match source {
        TextSource::Person => 0,
        TextSource::Agent => 1,
        TextSource::Result => 2,
    }
}

impl Resolver<'_> {
    /// "the first one", "the second firewall", "the last": a place in the newest list that is long enough.
    pub(super) fn ordinal(&self, at: usize) -> Phrase {
        if !matches!(self.word(at), "the" | "that" | "this") {
            return None;
        }
        let place = |word: &str| ORDINALS.iter().position(|known| *known == word);
        let (index, is_last) = match self.word(at + 1) {
            "last" | "latter" => (0, true),
            "former" => (0, false),
            word => (place(word)?, false),
        };
        let pick = |members: &[usize]| {
            if is_last {
                members.last().copied()
            } else {
                members.get(index).copied()
            }
        };
        // The list is long enough for every ordinal of the message.
        let longest = (0..self.words.len())
            .filter_map(|at| place(self.word(at)))
            .max();
        let needed = longest.map_or(2, |index| index + 1).max(2);
        let (noun, modifiers, count) = match self.word(at + 2) {
            "one" => (None, Vec::new(), 3),
            _ => match self.kind_phrase(at + 2) {
                Some((modifiers, noun, words)) => (Some(noun), modifiers, 2 + words),
                None if self.words.joins(at + 1) && self.is_other_noun(at + 2) => return None,
                None => (None, Vec::new(), 2),
            },
        };
        let mut candidates: Vec<(usize, f32)> = Vec::new();
        let mut groups: Vec<_> = self.discourse.groups.iter().collect();
        groups.sort_by_key(|group| (group.turn, source_rank(group.source)));
        for group in groups {
            let members = self.fitting(group, noun.as_deref(), &modifiers);
            let is_long = if noun.is_some() {
                group.members.len() >= needed && members.len() > index
            } else {
                members.len() >= needed
            };
            if let Some(found) = pick(&members).filter(|_| is_long)
                && !candidates.iter().any(|(known, _)| *known == found)
            {
                let aged = if group.turn == 0 { 0.75 } else { 0.55 };
                candidates.push((found, aged));
            }
        }
        let first_only = |kinds: &[(usize, f32)]| kinds.len() == 1;
        // Clear if the noun selects the list, or the last turn has only one.
        let is_clear = noun.is_some() || first_only(&candidates) || self.newest_agree(&candidates);
        match candidates.first() {
            Some((found, confidence)) if is_clear => {
                Some((count, Outcome::one(*found, *confidence)))
            }
            Some(_) => Some((count, Outcome::best_of(&candidates))),
            None if noun.is_some() => None,
            None => Some((count, Outcome::Open)),
        }
    }

    /// "the first two", "both of the first ones", "either of the last three orders": the begin or the end of a list.
    pub(super) fn first_of_list(&self, at: usize) -> Phrase {
        let mut from = at;
        let mut size = None;
        if matches!(
            self.word(from),
            "both" | "either" | "neither" | "each" | "any" | "one" | "all"
        ) {
            size = matches!(self.word(from), "both" | "either" | "neither").then_some(2);
            from += 1 + usize::from(self.word(from + 1) == "of");
        }
        let is_last = match (self.word(from), self.word(from + 1)) {
            ("the" | "my" | "our" | "those" | "these", "first") => false,
            ("the" | "my" | "our" | "those" | "these", "last") => true,
            _ => return None,
        };
        let mut count = from + 2 - at;
        if let Some(number) = NUMBERS
            .iter()
            .position(|known| *known == self.word(at + count))
        {
            size = Some(number + 2);
            count += 1;
        }
        let size = size?;
        let phrase = match self.word(at + count) {
            "ones" | "one" => Some((Vec::new(), None, 1)),
            _ => self
                .kind_phrase(at + count)
                .map(|(modifiers, noun, words)| (modifiers, Some(noun), words)),
        };
        let (modifiers, noun, words) = phrase.unwrap_or_default();
        let mut groups: Vec<&Group> = self.discourse.groups.iter().collect();
        groups.sort_by_key(|group| (group.turn, source_rank(group.source)));
        for group in groups
            .into_iter()
            .filter(|group| group.turn <= TURNS_MAX * 2)
        {
            let members = self.fitting(group, noun.as_deref(), &modifiers);
            if members.len() < size {
                continue;
            }
            let skipped = if is_last { members.len() - size } else { 0 };
            let all: Vec<usize> = members.into_iter().skip(skipped).take(size).collect();
            return Some((count + words, Outcome::Meant(all, 0.75)));
        }
        Some((count + words, Outcome::Open))
    }

    /// Returns whether the best candidate is of the last turn and the next one is older.
    fn newest_agree(&self, candidates: &[(usize, f32)]) -> bool {
        let score = |at: usize| candidates.get(at).map_or(0.0, |(_, score)| *score);
        score(0) - score(1) > 0.1
    }

    /// Returns whether a word after an ordinal is a noun that is no kind: "the second street".
    fn is_other_noun(&self, at: usize) -> bool {
        !matches!(
            self.word(at),
            "" | "is"
                | "and"
                | "or"
                | "one"
                | "do"
                | "does"
                | "did"
                | "change"
                | "have"
                | "has"
                | "was"
                | "to"
                | "about"
                | "work"
                | "touch"
                | "still"
                | "then"
                | "look"
                | "in"
                | "on"
                | "at"
                | "of"
                | "please"
                | "now"
                | "again"
                | "first"
                | "use"
                | "run"
                | "say"
                | "need"
                | "from"
                | "closed"
                | "down"
                | "up"
                | "public"
                | "open"
                | "for"
                | "with"
                | "called"
                | "mean"
                | "fail"
                | "be"
                | "being"
                | "that"
                | "which"
                | "better"
                | "newer"
                | "older"
                | "already"
                | "contain"
        )
    }

    /// "the other", "the other one", "the other two": the rest of a list beside the focus.
    pub(super) fn other(&self, at: usize) -> Phrase {
        let is_rest = matches!(self.word(at + 1), "others" | "rest")
            && (self.word(at + 1) == "others"
                || self.words.ends(at + 1)
                || !self.words.joins(at + 1)
                || is_function(self.word(at + 2)));
        let is_other = self.word(at + 1) == "other" || is_rest;
        if !is_other || !matches!(self.word(at), "the" | "that" | "its" | "all") {
            return None;
        }
        let (size, mut count) = match self.word(at + 2) {
            "of" if is_rest && self.word(at + 3) == "them" => (0, 4),
            _ if is_rest => (0, 2),
            "one" => (1, 3),
            "ones" => (0, 3),
            number => match NUMBERS.iter().position(|known| *known == number) {
                Some(number) => (number + 2, 3),
                None => (1, 2),
            },
        };
        let phrase = self.kind_phrase(at + count).filter(|_| !is_rest);
        let noun = phrase.as_ref().map(|(_, noun, _)| noun.clone());
        count += phrase.map_or(0, |(_, _, words)| words);
        if noun.is_none() && count == 2 && self.words.joins(at + 1) && self.is_other_noun(at + 2) {
            return None;
        }
        let is_focus = |at: &usize| {
            self.referent(*at)
                .is_some_and(|one| one.is_here || one.is_focus || one.in_answer.is_some())
        };
        for group in self
            .discourse
            .groups
            .iter()
            .filter(|group| group.turn <= TURNS_MAX * 4)
        {
            // "The other one" does not refer to a person.
            let is_one = matches!(self.word(at + 2), "one" | "ones");
            let first = group.members.first().and_then(|at| self.referent(*at));
            if is_one && first.is_some_and(Referent::is_person) {
                continue;
            }
            let members = self.fitting(group, noun.as_deref(), &[]);
            let is_part_of = |larger: &&Group| {
                larger.turn <= TURNS_MAX
                    && larger.members.len() > members.len()
                    && members.iter().all(|at| larger.members.contains(at))
            };
            if size != 1
                && members.len() > 1
                && members.iter().all(&is_focus)
                && self
                    .discourse
                    .groups
                    .iter()
                    .any(|larger| is_part_of(&larger))
            {
                // "The others" of two that were a part of a list are the rest of that list.
                continue;
            }
            let rest = self.complement(&members, &is_focus);
            if let Some(rest) = &rest
                && (1..rest.len()).contains(&size)
                && group.turn <= 1
                && members.iter().any(&is_focus)
            {
                // The list of what was mentioned last has too many others: it may be any of them.
                let all = rest.iter().map(|at| (*at, LISTED)).collect::<Vec<_>>();
                return Some((count, Outcome::best_of(&all)));
            }
            if let Some(rest) = rest.filter(|rest| size == 0 || rest.len() == size) {
                if members.iter().all(&is_focus) && noun.is_some() {
                    // The last texts name all of them: the other one may be either.
                    let others = members.iter().filter(|at| !rest.contains(at));
                    let all = rest.iter().chain(others).map(|at| (*at, LISTED));
                    return Some((count, Outcome::best_of(&all.collect::<Vec<_>>())));
                }
                return Some((count, Outcome::Meant(rest, 0.75)));
            }
        }
        Some((count, Outcome::Open))
    }

    /// Returns the members of a group that a noun fits and all modifiers describe.
    fn fitting(&self, group: &Group, noun: Option<&str>, modifiers: &[String]) -> Vec<usize> {
        let noun = noun.map(|noun| self.discourse.noun(noun));
        let fits = |at: &usize| {
            self.referent(*at).is_some_and(|one| {
                noun.as_ref()
                    .is_none_or(|noun| self.discourse.fits(one, noun) > 0)
                    && modifiers.iter().all(|word| self.describes(one, word))
            })
        };
        group.members.iter().copied().filter(fits).collect()
    }

    /// Returns the members of a list beside the focus; of many, those of the same role.
    fn complement(
        &self,
        members: &[usize],
        is_focus: &dyn Fn(&usize) -> bool,
    ) -> Option<Vec<usize>> {
        let newest = |one: &&usize| self.referent(**one).map_or(0, |one| one.order);
        let focus: Vec<usize> = members.iter().copied().filter(|at| is_focus(at)).collect();
        let focus = match focus.len() {
            // Nothing of the list is the focus: all but the one that was mentioned after the others.
            0 => {
                let newest = *members.iter().max_by_key(newest)?;
                let turn = |at: usize| self.referent(at).map_or(usize::MAX, |one| one.turn);
                let is_later = members
                    .iter()
                    .all(|at| *at == newest || turn(*at) > turn(newest));
                if !is_later {
                    return None;
                }
                vec![newest]
            }
            // The list is the focus itself: all but the one mentioned last.
            all if all == members.len() => vec![*members.iter().max_by_key(newest)?],
            _ => focus,
        };
        let rest: Vec<usize> = members
            .iter()
            .copied()
            .filter(|at| !focus.contains(at))
            .collect();
        let focus = self.referent(*focus.first()?)?;
        let role = |one: &Referent<'_>| -> Vec<String> {
            let has_role = |word: &&&str| {
                let known = self.discourse.packs.kind_words.get(**word);
                known.is_some_and(|known| !known.parts.is_empty())
            };
            one.words
                .iter()
                .filter(has_role)
                .map(|word| (*word).to_owned())
                .collect()
        };
        let of_focus = role(focus);
        if let [only] = rest.as_slice() {
            // A server is not "the other" of a switch.
            let of_rest = self.referent(*only).map(role).unwrap_or_default();
            let differs = !of_focus.is_empty() && !of_rest.is_empty() && of_focus != of_rest;
            return (!differs).then_some(rest);
        }
        if rest.is_empty() {
            return None;
        }
        let same: Vec<usize> = rest
            .iter()
            .copied()
            .filter(|at| self.referent(*at).is_some_and(|one| role(one) == of_focus))
            .collect();
        Some(if same.len() == 1 { same } else { rest })
    }
}
