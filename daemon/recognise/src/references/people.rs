//! Pronouns for people and for several: "she", "they", "tell both of them".

use super::nouns::{LISTED, LISTED_MAX};
use super::{Outcome, Resolver};
use crate::discourse::Referent;
use crate::first_names::{self, NameMatch};
use crate::past::TextSource;

/// Turns that a pronoun for a person reaches back, and the gain of a first name that fits it.
const PERSON_TURNS: usize = 4;
const NAME_FITS: f32 = 0.25;
/// Turns that a pronoun reaches back to a person whose first name does not say whether it fits.
const UNNAMED_TURNS_MAX: usize = 1;
/// Least lead of a person over the next one.
const PERSON_GAP: f32 = 0.2;
/// Turns that people among "them" reach back.
const PEOPLE_TURNS_MAX: usize = 8;
/// Verbs before a pronoun for those who get to know or to have something.
const INFORMED: [&str; 14] = [
    "send", "tell", "ask", "email", "mail", "inform", "invite", "remind", "thank", "let", "notify",
    "give", "cc", "message",
];
/// What people do, behind a pronoun.
const DONE_BY_PEOPLE: [&str; 16] = [
    "free",
    "available",
    "busy",
    "coming",
    "commented",
    "replied",
    "answered",
    "agree",
    "agreed",
    "know",
    "knows",
    "confirmed",
    "complained",
    "travel",
    "work",
    "live",
];
impl Resolver<'_> {
    /// "he", "her": a person whose first name the pronoun may stand for.
    pub(super) fn person(&self, pronoun: &str) -> Outcome {
        let fit = |one: &Referent<'_>| first_names::fits(&one.mention.name, pronoun);
        // A customer whose name begins with a first name is a person, too.
        let is_person = |one: &Referent<'_>| {
            one.is_person() || (one.is_organisation() && fit(one) == NameMatch::Yes)
        };
        // Whose first name fits may be mentioned longer ago.
        let mut ranked = self.discourse.ranked(&|one| {
            let turns = match fit(one) {
                NameMatch::No => return false,
                NameMatch::Perhaps => PERSON_TURNS,
                NameMatch::Yes => PERSON_TURNS * 2,
            };
            is_person(one) && one.turn <= turns
        });
        for (at, score) in &mut ranked {
            if self
                .referent(*at)
                .is_some_and(|one| fit(one) == NameMatch::Yes)
            {
                *score += NAME_FITS;
            }
        }
        ranked.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        match ranked.as_slice() {
            // A customer may be a person or a company.
            [] => Outcome::best_of(
                &self
                    .discourse
                    .ranked(&|one| one.is_organisation() && one.turn <= 4),
            ),
            // A person of an unknown first name, mentioned some turns ago: it may be another one, too.
            [(only, _)] | [(only, _), ..]
                if ranked.len() == 1
                    && self.referent(*only).is_some_and(|one| {
                        one.turn > UNNAMED_TURNS_MAX && fit(one) != NameMatch::Yes
                    }) =>
            {
                Outcome::best_of(&ranked)
            }
            [(only, _)] => Outcome::one(*only, 0.8),
            [(first, best), (_, next), ..] if best - next >= PERSON_GAP => {
                Outcome::one(*first, 0.7)
            }
            all => Outcome::best_of(all),
        }
    }

    /// "they", "their", "them": a list that the last texts name, or an organisation.
    pub(super) fn several(&self, at: usize) -> Outcome {
        if let Some(people) = self.people_of(at, 2) {
            return Outcome::Meant(people, 0.65);
        }
        let newest = self
            .discourse
            .groups
            .iter()
            .find(|group| group.turn == 0 && group.source != TextSource::Result);
        if let Some(group) = newest {
            let alone = self
                .discourse
                .groups
                .iter()
                .filter(|group| group.turn == 0 && group.source != TextSource::Result);
            if alone.count() == 1 {
                return Outcome::Meant(group.members.clone(), 0.65);
            }
            let listed = group.members.iter().take(LISTED_MAX);
            return Outcome::Possible(listed.map(|at| (*at, LISTED)).collect());
        }
        let organisation = self
            .discourse
            .ranked(&|one| one.is_organisation() && one.turn <= 2);
        if let [(only, _)] = organisation.as_slice()
            && self
                .referent(*only)
                .is_some_and(|one| one.is_focus || one.in_answer.is_some())
        {
            return Outcome::one(*only, 0.7);
        }
        let mut possible: Vec<(usize, f32)> = organisation.into_iter().take(1).collect();
        if let Some(group) = self.discourse.groups.iter().find(|group| group.turn <= 2) {
            possible.extend(group.members.iter().take(2).map(|at| (*at, 0.4)));
        } else {
            possible.extend(
                self.discourse
                    .ranked(&|one| one.is_thing() && !one.is_place())
                    .into_iter()
                    .take(2),
            );
        }
        Outcome::best_of(&possible)
    }

    /// Returns the last people of a number, if the words around a pronoun say that people are meant: "tell both of
    /// them", "has either of them replied?".
    pub(super) fn people_of(&self, at: usize, size: usize) -> Option<Vec<usize>> {
        let before = (1..=4).filter_map(|back| at.checked_sub(back));
        let before = before.take_while(|at| !self.words.ends(*at));
        let is_informed = before
            .map(|at| self.word(at))
            .find(|word| {
                !matches!(
                    *word,
                    "both" | "either" | "of" | "all" | "two" | "the" | "each"
                )
            })
            .is_some_and(|word| INFORMED.contains(&word));
        let is_done = !self.words.ends(at) && DONE_BY_PEOPLE.contains(&self.word(at + 1));
        if !is_informed && !is_done {
            return None;
        }
        let people = self
            .discourse
            .ranked(&|one| one.is_person() && one.turn <= PEOPLE_TURNS_MAX && !one.is_nested);
        let mut people: Vec<usize> = people.into_iter().map(|(at, _)| at).take(size).collect();
        people.sort_by_key(|at| self.referent(*at).map_or(0, |one| one.order));
        (people.len() == size).then_some(people)
    }
}
