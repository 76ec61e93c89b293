//! Sets: "both", "all three firewalls", "the two", "of them".

use super::{Outcome, Phrase, Resolver};
use crate::discourse::Referent;
use crate::past::TextSource;

/// Turns within which a set looks for its members.
pub(super) const TURNS_MAX: usize = 3;
/// Limit on the members of a list that a set may be a part of.
const PART_MAX: usize = 3;
/// Limit on the members of a list of which a comparison selects some.
const SOME_MAX: usize = 4;
/// Numbers of two and more.
pub(super) const NUMBERS: [&str; 9] = [
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
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
            return self.which_compared(at);
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
            let people = self.people_of(at + count, size.unwrap_or(2));
            let outcome = match people {
                _ if is_named => Outcome::Open,
                Some(people) => Outcome::Meant(people, 0.75),
                None => self.members(size, None, &[]),
            };
            return Some((count + 1, outcome));
        }
        size?;
        if is_superlative(self.word(at + count)) && self.words.joins(at + count - 1) {
            return Some((count + 1, self.some_of_newest()));
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

    /// Returns the entities that the last answer introduced, as possible referents, unless they form a list of one kind and of
    /// the right size.
    fn newcomers(&self, size: usize) -> Option<Outcome> {
        let newcomers = self.discourse.answer.iter().copied();
        let newcomers: Vec<usize> = newcomers
            .filter(|at| {
                self.referent(*at)
                    .is_some_and(|one| one.is_newcomer && one.is_thing())
            })
            .collect();
        let mut groups = self.discourse.groups.iter();
        let has_list = groups.any(|group| group.turn == 0 && group.members.len() == size);
        let all = newcomers
            .into_iter()
            .map(|at| (at, 0.5))
            .collect::<Vec<_>>();
        (!has_list && all.len() == size).then_some(Outcome::Possible(all))
    }

    /// "which one is cited the most", "which is older": the members of the newest list as possible ones.
    fn which_compared(&self, at: usize) -> Phrase {
        if self.word(at) != "which" {
            return None;
        }
        let is_one = matches!(self.word(at + 1), "one" | "ones");
        let compares = |word: &str| {
            is_superlative(word) || (word.len() > 4 && word.ends_with("er") && word != "other")
        };
        let is_compared = matches!(self.word(at + 1), "is" | "are" | "was" | "has" | "s")
            && (2..=3).any(|offset| compares(self.word(at + offset)));
        (is_one || is_compared).then(|| (2, self.some_of_newest()))
    }

    /// Returns the members of the newest list as possible ones: "the two smallest" does not tell which.
    fn some_of_newest(&self) -> Outcome {
        let mut groups = self.discourse.groups.iter();
        let newest = groups.find(|group| group.turn <= 1 && group.source != TextSource::Result);
        newest.map_or(Outcome::Open, |group| {
            let some = group.members.iter().take(SOME_MAX).map(|at| (*at, 0.5));
            Outcome::Possible(some.collect())
        })
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
        let noun = noun.map(|noun| self.discourse.noun(noun));
        let noun = noun.as_ref();
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
        if let Some(newcomers) = size
            .filter(|_| noun.is_none())
            .and_then(|size| self.newcomers(size))
        {
            return newcomers;
        }
        let groups: Vec<_> = self
            .discourse
            .groups
            .iter()
            .filter(|group| group.turn <= TURNS_MAX)
            .collect();
        // A part of the newest list is nearer than an old list of the right size.
        let part_of_newest = || {
            let newest = groups.first().filter(|group| group.turn <= 1)?;
            let is_longer = size.is_some_and(|size| newest.members.len() > size);
            let part = newest.members.iter().take(PART_MAX).map(|at| (*at, 0.4));
            is_longer.then(|| Outcome::Possible(part.collect()))
        };
        let mut is_recent_seen = false;
        for (index, group) in groups.iter().enumerate() {
            if group.turn > 0 && noun.is_none() && !is_recent_seen {
                // Two things of one kind that the last texts mention singly are later than an older list.
                is_recent_seen = true;
                if let Some(recent) = size.and_then(|size| self.recent_of_one_kind(size)) {
                    return self.in_order(recent);
                }
            }
            if group.turn > 1
                && groups
                    .first()
                    .is_some_and(|newest| newest.turn < group.turn)
                && noun.is_none()
                && let Some(part) = part_of_newest()
            {
                return part;
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
        if noun.is_none()
            && let Some(part) = part_of_newest()
        {
            return part;
        }
        // No list has this size: the last ones of the kind.
        let wanted = |referent: &Referent<'_>| {
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

    fn latest(&self, is_wanted: &dyn Fn(&Referent<'_>) -> bool) -> Vec<usize> {
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
}

/// Returns whether a word compares: "smallest", "newest".
fn is_superlative(word: &str) -> bool {
    word.len() > 5
        && word.ends_with("est")
        && !matches!(
            word,
            "request" | "latest" | "forest" | "interest" | "harvest"
        )
        || matches!(word, "best" | "worst" | "most" | "least" | "oldest")
}
