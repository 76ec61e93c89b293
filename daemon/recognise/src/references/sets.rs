//! Sets and places in lists: "both", "all three firewalls", "the second one", "the other", "the failed one".

use super::{Outcome, Phrase, Resolver};
use crate::discourse::{Referent, singular};
use crate::past::TextSource;

/// Turns within which a set looks for its members.
const TURNS_MAX: usize = 3;
const ORDINALS: [&str; 10] = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
];
const NUMBERS: [&str; 9] = [
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
];
/// Words that do not describe.
const PLAIN: [&str; 12] = [
    "same", "right", "whole", "new", "last", "only", "very", "own", "other", "correct", "actual",
    "current",
];

impl Resolver<'_> {
    /// "both", "either", "all three", "the two", "of them".
    pub(super) fn set(&self, at: usize) -> Phrase {
        let (size, mut count) = match (self.word(at), self.word(at + 1)) {
            ("both" | "either" | "neither", _) => (Some(2), 1),
            ("all" | "the" | "these" | "those" | "which" | "of", "the") => (None, 0),
            ("all" | "the" | "these" | "those", number) => {
                let number = NUMBERS.iter().position(|known| *known == number)?;
                (Some(number + 2), 2)
            }
            ("which" | "any" | "none" | "each" | "one" | "some", "of") => (None, 1),
            _ => (None, 0),
        };
        if count == 0 {
            return None;
        }
        let mut size = size;
        for _ in 0..3 {
            match self.word(at + count) {
                "of" | "the" | "these" | "those" | "my" | "our" => count += 1,
                word => {
                    let Some(number) = NUMBERS.iter().position(|known| *known == word) else {
                        break;
                    };
                    if size.is_some_and(|size| size != number + 2) {
                        break;
                    }
                    size = Some(number + 2);
                    count += 1;
                }
            }
        }
        if matches!(self.word(at + count), "them" | "ones") {
            // "both of them, Marek and Lena" names its members.
            let is_named = self.words.is_name(at + count + 1) && !self.words.ends(at + count);
            let outcome = if is_named {
                Outcome::Open
            } else {
                self.members(size, None, &[])
            };
            return Some((count + 1, outcome));
        }
        if size.is_none() {
            return None;
        }
        match self.kind_phrase(at + count) {
            Some((modifiers, noun, words)) => {
                Some((count + words, self.members(size, Some(&noun), &modifiers)))
            }
            // "both sides": a noun that is no kind.
            None if self.word(at) == "both" && self.is_noun_beside(at, count) => None,
            None => Some((count, self.members(size, None, &[]))),
        }
    }

    fn is_noun_beside(&self, at: usize, count: usize) -> bool {
        let word = self.word(at + count);
        word.len() > 3
            && word.ends_with('s')
            && self.words.joins(at + count - 1)
            && !matches!(word, "this" | "does" | "always")
    }

    /// Returns the members of a set of a size, of a kind and with modifiers.
    fn members(&self, size: Option<usize>, noun: Option<&str>, modifiers: &[String]) -> Outcome {
        let fits = |at: &usize| {
            self.referent(*at).is_some_and(|referent| {
                !referent.is_absent
                    && noun.is_none_or(|noun| self.discourse.fits(referent, noun) > 0)
            })
        };
        let described = |at: &usize| {
            self.referent(*at)
                .is_some_and(|one| modifiers.iter().all(|word| self.describes(one, word)))
        };
        let fitting =
            |members: &[usize]| -> Vec<usize> { members.iter().copied().filter(fits).collect() };
        let groups: Vec<_> = self
            .discourse
            .groups
            .iter()
            .filter(|group| group.turn <= TURNS_MAX)
            .collect();
        let mut is_recent_seen = false;
        for (index, group) in groups.iter().enumerate() {
            if group.turn > 0 && noun.is_none() && !is_recent_seen {
                // Two things of one kind that the last texts mention singly are later than an older list.
                is_recent_seen = true;
                if let Some(recent) = size.and_then(|size| self.recent_of_one_kind(size)) {
                    return self.in_order(recent);
                }
            }
            let all = fitting(&group.members);
            let strict: Vec<usize> = all.iter().copied().filter(described).collect();
            let members = if modifiers.is_empty() || strict.len() < 2 {
                all
            } else {
                strict
            };
            if members.len() > 1 && size.is_none_or(|size| size == members.len()) {
                // Several lists of one text: the phrase does not tell which one.
                let rivals = groups.iter().skip(index + 1).filter(|rival| {
                    rival.turn == group.turn
                        && rival.source == group.source
                        && group.source != TextSource::Result
                });
                let rival = rivals
                    .map(|rival| fitting(&rival.members))
                    .find(|rival| rival.len() == members.len());
                return match rival.filter(|_| noun.is_none()) {
                    Some(rival) if rival != members => {
                        let all = members.into_iter().chain(rival).take(6);
                        Outcome::Possible(all.map(|at| (at, 0.45)).collect())
                    }
                    _ => Outcome::Meant(members, 0.85),
                };
            }
        }
        let Some(size) = size else {
            return match noun {
                Some(_) => Outcome::Open,
                None => self.latest_of_one_kind(2).map_or(Outcome::Open, |all| {
                    Outcome::Possible(all.into_iter().map(|at| (at, 0.5)).collect())
                }),
            };
        };
        // No list has this size: the last ones of the kind.
        let wanted = |referent: &Referent| {
            (referent.turn <= TURNS_MAX * 2 || noun.is_some())
                && !referent.is_nested
                && !referent.is_absent
                && (!referent.is_here || noun.is_some())
                && noun.is_none_or(|noun| self.discourse.fits(referent, noun) > 0)
        };
        let all = self.latest(&wanted);
        if noun.is_some() {
            let strict: Vec<usize> = all.iter().copied().filter(described).collect();
            if !modifiers.is_empty() && strict.len() == size {
                return Outcome::Meant(strict, 0.8);
            }
            let recent = all
                .iter()
                .filter(|at| self.referent(**at).is_some_and(|one| one.turn <= TURNS_MAX));
            let recent: Vec<usize> = recent.copied().collect();
            return if modifiers.is_empty() && recent.len() == size {
                self.in_order(recent)
            } else if modifiers.is_empty() && all.len() == size {
                self.in_order(all)
            } else if all.len() > size {
                Outcome::Possible(
                    all.into_iter()
                        .take(size.min(4))
                        .map(|at| (at, 0.5))
                        .collect(),
                )
            } else {
                Outcome::Open
            };
        }
        // Of no kind: exactly so many of one kind, or the last two.
        let mut kinds: Vec<&str> = Vec::new();
        for at in &all {
            let Some(kind) = self.referent(*at).map(|one| &*one.mention.kind) else {
                continue;
            };
            if kinds.contains(&kind) {
                continue;
            }
            kinds.push(kind);
            let of_kind: Vec<usize> = all
                .iter()
                .copied()
                .filter(|at| {
                    self.referent(*at)
                        .is_some_and(|one| &*one.mention.kind == kind)
                })
                .collect();
            if of_kind.len() == size {
                let newest = of_kind
                    .iter()
                    .filter_map(|at| self.referent(*at))
                    .map(|one| one.turn)
                    .max();
                return if newest.is_some_and(|turn| turn <= TURNS_MAX) {
                    self.in_order(of_kind)
                } else {
                    Outcome::Possible(of_kind.into_iter().map(|at| (at, 0.5)).collect())
                };
            }
        }
        Outcome::Open
    }

    /// Returns meant entities in the order of the conversation.
    fn in_order(&self, mut all: Vec<usize>) -> Outcome {
        all.sort_by_key(|at| self.referent(*at).map_or(0, |one| one.order));
        Outcome::Meant(all, 0.75)
    }

    fn latest(&self, is_wanted: &dyn Fn(&Referent) -> bool) -> Vec<usize> {
        let all = self.discourse.referents.iter().enumerate();
        let mut found: Vec<(usize, usize)> = all
            .filter(|(_, one)| is_wanted(one))
            .map(|(at, one)| (one.order, at))
            .collect();
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.into_iter().map(|(_, at)| at).collect()
    }

    /// Returns the entities of one kind that the last two turns mention, if they are as many as asked for.
    fn recent_of_one_kind(&self, size: usize) -> Option<Vec<usize>> {
        let latest = self.latest(&|one| {
            !one.is_nested && !one.is_absent && !one.is_here && one.turn <= 1 && !one.is_place()
        });
        let kind = self.referent(*latest.first()?)?.mention.kind.clone();
        let of_kind = latest.into_iter().filter(|at| {
            self.referent(*at)
                .is_some_and(|one| one.mention.kind == kind)
        });
        let of_kind: Vec<usize> = of_kind.collect();
        (of_kind.len() == size).then_some(of_kind)
    }

    fn latest_of_one_kind(&self, most: usize) -> Option<Vec<usize>> {
        let latest = self.latest(&|one| !one.is_nested && one.turn <= 1);
        let kind = self.referent(*latest.first()?)?.mention.kind.clone();
        let of_kind = latest.into_iter().filter(|at| {
            self.referent(*at)
                .is_some_and(|one| one.mention.kind == kind)
        });
        let of_kind: Vec<usize> = of_kind.take(most).collect();
        (of_kind.len() == most).then_some(of_kind)
    }

    /// Returns whether a word describes an entity, directly or through what it belongs to.
    pub(super) fn describes(&self, referent: &Referent, word: &str) -> bool {
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
        let rank = |source| match source {
            TextSource::Person => 0,
            TextSource::Agent => 1,
            TextSource::Result => 2,
        };
        groups.sort_by_key(|group| (group.turn, rank(group.source)));
        for group in groups {
            let members: Vec<usize> = group
                .members
                .iter()
                .copied()
                .filter(|at| {
                    self.referent(*at).is_some_and(|one| {
                        noun.as_deref()
                            .is_none_or(|noun| self.discourse.fits(one, noun) > 0)
                            && modifiers.iter().all(|word| self.describes(one, word))
                    })
                })
                .collect();
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
        if self.word(at + 1) != "other" || !matches!(self.word(at), "the" | "that" | "its") {
            return None;
        }
        let (size, mut count) = match self.word(at + 2) {
            "one" => (1, 3),
            "ones" => (0, 3),
            number => match NUMBERS.iter().position(|known| *known == number) {
                Some(number) => (number + 2, 3),
                None => (1, 2),
            },
        };
        let phrase = self.kind_phrase(at + count);
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
            let members: Vec<usize> = group
                .members
                .iter()
                .copied()
                .filter(|at| {
                    self.referent(*at).is_some_and(|one| {
                        noun.as_deref()
                            .is_none_or(|noun| self.discourse.fits(one, noun) > 0)
                    })
                })
                .collect();
            let rest = self.complement(&members, &is_focus);
            if let Some(rest) = rest.filter(|rest| size == 0 || rest.len() == size) {
                return Some((count, Outcome::Meant(rest, 0.75)));
            }
        }
        Some((count, Outcome::Open))
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
        let role = |one: &Referent| -> Vec<String> {
            let has_role = |word: &&String| {
                let known = self.discourse.packs.kind_words.get(*word);
                known.is_some_and(|known| !known.parts.is_empty())
            };
            one.words.iter().filter(has_role).cloned().collect()
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
        let is_wanted = |one: &Referent| {
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
            ([], []) => self.compared(),
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
            if !is_joined || all.iter().any(|word| word.is_empty()) {
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
