//! Nouns with an article: "that switch", "the failing test", "the encoder".

use super::modifiers::{is_function, is_plural};
use super::{Outcome, Phrase, Resolver, THRESHOLD};
use crate::TextSource;
use crate::discourse::{Referent, is_short_for, singular};
use crate::everyday::is_everyday;

/// Gain of the only one of its kind in the last answer.
const ONLY: f32 = 0.3;
/// Least lead of the most prominent entity over the next one.
const MARGIN: f32 = 0.08;
/// Limit on the candidates of a list, and their score.
pub(super) const LISTED_MAX: usize = 4;
pub(super) const LISTED: f32 = 0.5;
/// Turns after which a kind noun does not reach back, unless only one entity fits.
const TURNS_MAX: usize = 8;
/// Turns that an everyday noun reaches back to what a text calls by it.
const SAID_TURNS_MAX: usize = 4;
/// Turns that a noun of no kind reaches back.
const OTHER_TURNS_MAX: usize = 12;

impl Resolver<'_> {
    pub(super) fn noun(&self, at: usize) -> Phrase {
        let is_near = matches!(self.word(at), "that" | "this" | "these" | "those" | "said");
        let is_article =
            is_near || matches!(self.word(at), "the" | "their" | "his" | "her" | "same");
        if !is_article || !self.words.joins(at) {
            return None;
        }
        let skipped = 1 + usize::from(matches!(self.word(at + 1), "same" | "very"));
        if self.asks_who(at) {
            return Some((1, Outcome::Open));
        }
        if let Some((modifiers, noun, count)) = self.kind_phrase(at + skipped) {
            let end = at + skipped + count;
            // "the device sw-1" names it; "that is", "the switch-over" are no such phrase.
            if self.words.is_name(end) && self.words.joins(end - 1) {
                return None;
            }
            let outcome = self.of_kind(&modifiers, &noun, is_near);
            if !matches!(outcome, Outcome::Open) {
                return Some((skipped + count, outcome));
            }
            if modifiers.is_empty() {
                return Some((skipped + count, Outcome::Open));
            }
        }
        self.other_noun(at, skipped)
    }

    /// Returns whether "who is" or "who are" stands before a word: the question is for the people that the noun calls.
    fn asks_who(&self, at: usize) -> bool {
        let before = |back: usize| at.checked_sub(back).map_or("", |at| self.word(at));
        matches!(before(1), "is" | "are" | "was" | "were" | "s" | "re") && before(2) == "who"
    }

    /// "her badge", "their prefixes": whose the thing is, which is a person, an organisation or a list.
    pub(super) fn owner(&self, at: usize) -> Option<Outcome> {
        let next = self.word(at + 1);
        let is_owner =
            self.words.joins(at) && !self.words.ends(at) && !next.is_empty() && !is_function(next);
        match self.word(at) {
            "his" | "her" if is_owner => Some(self.person(self.word(at))),
            "their" if is_owner => self.owners(at),
            _ => None,
        }
    }

    /// Returns the only organisation that the last turn is about. Beside a list, "their" may mean what is listed.
    fn owners(&self, at: usize) -> Option<Outcome> {
        let recent = self
            .discourse
            .ranked(&|one| one.is_organisation() && one.turn <= 1 && !one.is_nested);
        let [(only, _)] = recent.as_slice() else {
            return None;
        };
        let organisation = self.referent(*only)?;
        if !organisation.is_focus && organisation.in_answer.is_none() {
            return None;
        }
        let mut lists = self.discourse.groups.iter();
        let beside = lists
            .find(|group| group.turn <= organisation.turn && group.source != TextSource::Result);
        match beside {
            None => Some(Outcome::one(*only, 0.7)),
            // Another noun leaves "their" to the pronouns.
            Some(list) => self.kind_phrase(at + 1).map(|_| {
                let listed = list.members.iter().take(LISTED_MAX);
                Outcome::Possible(listed.map(|at| (*at, LISTED)).collect())
            }),
        }
    }

    /// Resolves a noun of a kind.
    fn of_kind(&self, modifiers: &[String], noun: &str, is_near: bool) -> Outcome {
        if is_plural(noun)
            && self
                .discourse
                .packs
                .kind_words
                .get(noun)
                .is_none_or(|word| word.plural)
        {
            return self.plural(modifiers, noun);
        }
        let noun = self.discourse.noun(noun);
        let fit = |one: &Referent<'_>| {
            if one.is_absent {
                0
            } else {
                self.discourse.fits(one, &noun)
            }
        };
        let best_fit = self.discourse.referents.iter().map(fit).max().unwrap_or(0);
        if best_fit == 0 {
            return Outcome::Open;
        }
        let described = |one: &Referent<'_>| modifiers.iter().all(|word| self.describes(one, word));
        let with_modifiers = self
            .discourse
            .ranked(&|one| fit(one) == best_fit && described(one));
        if let Some(by_age) = self.by_age(modifiers, &|one| fit(one) == best_fit) {
            return by_age;
        }
        let is_described = !with_modifiers.is_empty();
        let mut ranked = if is_described {
            with_modifiers
        } else {
            self.discourse.ranked(&|one| fit(one) == best_fit)
        };
        // Unknown modifiers weaken the phrase: it may mean something that was never mentioned.
        if !is_described {
            let is_recent =
                |(at, _): &(usize, f32)| self.referent(*at).is_some_and(|one| one.turn <= 1);
            if ranked.iter().any(is_recent) {
                ranked.retain(is_recent);
            }
            return Outcome::best_of(&ranked);
        }
        if !modifiers.is_empty()
            && let [(only, _)] = ranked.as_slice()
        {
            return Outcome::one(*only, 0.9);
        }
        let is_here = |at: usize| self.referent(at).is_some_and(|one| one.is_here);
        let here: Vec<usize> = ranked
            .iter()
            .map(|(at, _)| *at)
            .filter(|at| is_here(*at))
            .collect();
        if let [only] = here.as_slice() {
            return Outcome::one(*only, 0.9);
        }
        let in_answer = |at: usize| self.referent(at).is_some_and(|one| one.in_answer.is_some());
        let answered: Vec<usize> = ranked
            .iter()
            .map(|(at, _)| *at)
            .filter(|at| in_answer(*at))
            .collect();
        if let [only] = answered.as_slice() {
            return Outcome::one(*only, 0.95);
        }
        if answered.is_empty()
            && let Some(related) = self.related(&ranked)
        {
            return Outcome::one(related, 0.8);
        }
        if is_near {
            let is_recent =
                |(at, _): &(usize, f32)| self.referent(*at).is_some_and(|one| one.turn <= 3);
            if !ranked.iter().any(is_recent) {
                return Outcome::best_of(&ranked);
            }
            ranked.retain(is_recent);
        }
        if let [(only, _)] = ranked.as_slice() {
            return Outcome::one(*only, 0.85);
        }
        for (at, salience) in &mut ranked {
            *salience += if answered == [*at] { ONLY } else { 0.0 };
        }
        match ranked.as_slice() {
            [(first, best), (_, next), ..]
                if best - next >= MARGIN
                    && *best >= THRESHOLD
                    && self
                        .referent(*first)
                        .is_some_and(|one| one.turn <= TURNS_MAX) =>
            {
                Outcome::one(*first, 0.75)
            }
            all => Outcome::best_of(all),
        }
    }

    /// "the new booking", "the old branch": of two things of a kind, the one that came up later or earlier, as possible ones.
    pub(super) fn by_age(
        &self,
        modifiers: &[String],
        is_wanted: &dyn Fn(&Referent<'_>) -> bool,
    ) -> Option<Outcome> {
        let [modifier] = modifiers else {
            return None;
        };
        let is_new = match modifier.as_str() {
            "new" | "newer" | "newest" | "latest" => true,
            "old" | "older" | "previous" | "earlier" | "original" => false,
            _ => return None,
        };
        let says = |one: &Referent<'_>| one.words.contains(&modifier.as_str());
        // Entities stand in the order in which they came up.
        let mut all: Vec<usize> = (0..self.discourse.referents.len())
            .filter(|at| {
                self.referent(*at)
                    .is_some_and(|one| is_wanted(one) && !one.is_nested)
            })
            .collect();
        if all.len() < 2 || all.iter().any(|at| self.referent(*at).is_some_and(says)) {
            return None;
        }
        all.reverse();
        if !is_new {
            all.swap(0, 1);
        }
        let scores = [LISTED, LISTED / 2.0];
        Some(Outcome::Possible(all.into_iter().zip(scores).collect()))
    }

    /// "Chen's paper": a thing of a kind that a person or another name describes.
    pub(super) fn possessed(&self, at: usize) -> Phrase {
        if self.word(at + 1) != "s" || self.word(at).len() < 3 {
            return None;
        }
        let owner = self.word(at);
        let (modifiers, noun, count) = self.kind_phrase(at + 2)?;
        let noun = self.discourse.noun(&noun);
        let ranked = self.discourse.ranked(&|one| {
            self.discourse.fits(one, &noun) > 0
                && (one.is_described(owner) || self.describes(one, owner))
                && modifiers.iter().all(|word| self.describes(one, word))
        });
        match ranked.as_slice() {
            [] => None,
            [(only, _)] => Some((2 + count, Outcome::one(*only, 0.8))),
            all => Some((2 + count, Outcome::best_of(all))),
        }
    }

    /// "the firewalls": the newest list of the kind.
    fn plural(&self, modifiers: &[String], noun: &str) -> Outcome {
        let noun = self.discourse.noun(noun);
        for group in self.discourse.groups.iter().filter(|group| group.turn <= 2) {
            let fits = |at: &usize| {
                self.referent(*at).is_some_and(|one| {
                    self.discourse.fits(one, &noun) > 0
                        && modifiers.iter().all(|word| self.describes(one, word))
                })
            };
            let members: Vec<usize> = group.members.iter().copied().filter(fits).collect();
            if members.len() > 1 {
                return Outcome::Meant(members, 0.75);
            }
        }
        Outcome::Open
    }

    /// Returns the only candidate that the focus belongs to, or that belongs to the focus.
    fn related(&self, ranked: &[(usize, f32)]) -> Option<usize> {
        let focus: Vec<&Referent<'_>> = self
            .discourse
            .referents
            .iter()
            .filter(|one| one.is_focus || one.in_answer == Some(0) || one.is_here)
            .collect();
        let belongs = |child: &Referent<'_>, parent: &Referent<'_>| {
            let is = |(kind, key): &&(String, String)| {
                *kind == *parent.mention.kind && *key == parent.mention.key
            };
            child.parents.iter().any(is)
        };
        let mut found = ranked.iter().map(|(at, _)| *at).filter(|at| {
            self.referent(*at).is_some_and(|one| {
                focus
                    .iter()
                    .any(|focus| belongs(focus, one) || belongs(one, focus))
            })
        });
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }

    /// "the encoder", "the pump", "their gateway": a noun that describes something, or a part of its name.
    fn other_noun(&self, at: usize, skipped: usize) -> Phrase {
        let noun = self.word(at + skipped);
        if noun.len() < 3 || is_function(noun) || self.words.is_name(at + skipped) {
            return None;
        }
        // "the attention paper" and "the currency thing" are two nouns; a longer phrase is left alone.
        let single = singular(noun);
        let is_everyday_noun = is_everyday(&single);
        // A part that is like a noun begins as it does, and most parts do not.
        let begins = |part: &str| part.as_bytes().first() == single.as_bytes().first();
        let fits = |one: &Referent<'_>, by_name: bool, is_far: bool| {
            // A part of an order or a list that its name names, or something said long ago, is only possible.
            let is_near = one.turn <= OTHER_TURNS_MAX && !one.is_nested;
            if one.is_absent || !(is_near || (is_far && one.is_thing())) {
                return false;
            }
            if by_name {
                let is_part = |part: &String| {
                    begins(part) && (singular(part) == single || is_short_for(part, &single))
                };
                return one.parts.iter().any(is_part);
            }
            // An everyday word says much of what was mentioned just now, and little of what is far back.
            let is_telling = !is_everyday_noun || (!is_far && one.turn <= SAID_TURNS_MAX);
            let says = |word: &&str| begins(word) && singular(word) == single;
            is_telling && one.words.iter().any(says)
        };
        let ranked = self.discourse.ranked(&|one| fits(one, true, false));
        if ranked.is_empty() {
            // What a text says of a thing is weaker than a part of its name.
            let weaker = [(true, true), (false, false), (false, true)];
            let mut weaker = weaker
                .into_iter()
                .map(|(by_name, is_far)| self.discourse.ranked(&|one| fits(one, by_name, is_far)));
            let found = weaker.find(|found| !found.is_empty())?;
            return Some((skipped + 1, Outcome::best_of(&found)));
        }
        let outcome = match ranked.as_slice() {
            [] => return None,
            [(only, _)] => {
                match is_everyday(noun) && self.referent(*only).is_some_and(|one| one.turn > 1) {
                    true => Outcome::best_of(&ranked),
                    false => Outcome::one(*only, 0.8),
                }
            }
            [(first, best), (_, next), ..] if best - next >= MARGIN * 2.0 && !is_everyday(noun) => {
                Outcome::one(*first, 0.7)
            }
            all => Outcome::best_of(all),
        };
        Some((skipped + 1, outcome))
    }
}
