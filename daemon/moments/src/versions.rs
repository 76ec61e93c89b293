//! Statements with their versions: a later one that contradicts an earlier one replaces it, unless someone else said that
//! one; then both stand until a person or a newer statement settles it.

use rustc_hash::FxHashMap;

use crate::contradiction::{Relation, Statement};
use crate::durable::Speaker;

/// Earlier statements with a word in common that a new one is compared with, the newest ones.
const COMPARED_MAX: usize = 200;

/// What became of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VersionState {
    /// It stands.
    #[default]
    Current,
    /// This one says the same and stands for it.
    Repeated(usize),
    /// This one replaced it.
    Replaced(usize),
}

/// What a statement would do to those before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VersionEffect {
    /// Statements that it replaces.
    pub replaces: Vec<usize>,
    /// Statements of others that it contradicts.
    pub contradicts: Vec<usize>,
    /// Statements that say the same.
    pub repeats: Vec<usize>,
}

#[derive(Debug)]
struct Entry {
    statement: Statement,
    speaker: Speaker,
    author: String,
    state: VersionState,
    /// Those that it replaced, the last one last.
    replaces: Vec<usize>,
    /// Those of others that it contradicts, while neither is settled.
    disputes: Vec<usize>,
}

/// Statements in the order in which they were made.
#[derive(Debug, Default)]
pub struct Versions {
    entries: Vec<Entry>,
    by_word: FxHashMap<u64, Vec<usize>>,
}

impl Versions {
    /// Returns what a statement would do. `author` is the agent that said it, or in whose session a user said it.
    #[must_use]
    pub fn effect(&self, text: &str, speaker: Speaker, author: &str) -> VersionEffect {
        self.effect_of(&Statement::new(text), speaker, author)
    }

    fn effect_of(&self, statement: &Statement, speaker: Speaker, author: &str) -> VersionEffect {
        let mut effect = VersionEffect::default();
        for at in self.candidates(statement) {
            let Some(earlier) = self.entries.get(at) else {
                continue;
            };
            match earlier.statement.relation(statement) {
                Some(Relation::Same) => effect.repeats.push(at),
                Some(Relation::Contradicts) if earlier.gives_way_to(speaker, author) => {
                    effect.replaces.push(at);
                }
                Some(Relation::Contradicts) => effect.contradicts.push(at),
                None => {}
            }
        }
        effect
    }

    /// Adds a statement, which also replaces `replaces`, and returns its place.
    pub fn add(&mut self, text: &str, speaker: Speaker, author: &str, replaces: &[usize]) -> usize {
        let statement = Statement::new(text);
        let effect = self.effect_of(&statement, speaker, author);
        let place = self.entries.len();
        for word in statement.words() {
            self.by_word.entry(word).or_default().push(place);
        }
        self.entries.push(Entry {
            statement,
            speaker,
            author: author.to_owned(),
            state: VersionState::Current,
            replaces: Vec::new(),
            disputes: Vec::new(),
        });
        for earlier in effect.repeats {
            self.repeat(earlier, place);
        }
        for earlier in effect.replaces.into_iter().chain(replaces.iter().copied()) {
            self.replace(earlier, place);
        }
        for earlier in effect.contradicts {
            // What it says may have been settled by the above.
            if self.is_current(earlier) {
                self.dispute(earlier, place);
            }
        }
        place
    }

    /// Notes that a person accepted a statement: it settles what it was in dispute with.
    pub fn accept(&mut self, place: usize) {
        let disputes = self.disputes(place).to_vec();
        for other in disputes {
            self.replace(other, place);
        }
    }

    /// Number of statements.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the list is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns what became of a statement.
    #[must_use]
    pub fn state(&self, place: usize) -> VersionState {
        self.entries
            .get(place)
            .map_or(VersionState::Current, |entry| entry.state)
    }

    /// Whether a statement stands: it is neither replaced, nor is there one that says the same for it.
    #[must_use]
    pub fn is_current(&self, place: usize) -> bool {
        self.state(place) == VersionState::Current
    }

    /// Returns the statements that a statement replaced, the last one last.
    #[must_use]
    pub fn replaced_by(&self, place: usize) -> &[usize] {
        self.entries.get(place).map_or(&[], |entry| &entry.replaces)
    }

    /// Returns the statements of others that contradict a statement that stands.
    #[must_use]
    pub fn disputes(&self, place: usize) -> &[usize] {
        self.entries.get(place).map_or(&[], |entry| &entry.disputes)
    }

    /// Returns statements that stand and have a word in common with this one, in their order.
    fn candidates(&self, statement: &Statement) -> Vec<usize> {
        // A bit for each statement: words have many statements in common.
        let mut marks = vec![0_u64; self.entries.len().div_ceil(64)];
        let of_words = statement
            .words()
            .filter_map(|word| self.by_word.get(&word))
            .flat_map(|places| places.iter().rev().take(COMPARED_MAX));
        for place in of_words {
            if let Some(mark) = marks.get_mut(place / 64) {
                *mark |= 1 << (place % 64);
            }
        }
        let mut found = Vec::new();
        for (at, mark) in marks.iter().enumerate().rev() {
            let mut left = *mark;
            while left != 0 && found.len() < COMPARED_MAX {
                let bit = 63 - left.leading_zeros() as usize;
                left &= !(1 << bit);
                if self.is_current(at * 64 + bit) {
                    found.push(at * 64 + bit);
                }
            }
        }
        found.reverse();
        found
    }

    fn repeat(&mut self, earlier: usize, later: usize) {
        let (Some(one), Some(two)) = (self.entries.get(earlier), self.entries.get(later)) else {
            return;
        };
        let settles = two.speaker == Speaker::User || one.author != two.author;
        let disputes = one.disputes.clone();
        // The words of the user count for more than those of an agent who repeats them.
        let is_users = one.speaker == Speaker::User && two.speaker == Speaker::Agent;
        let (stays, goes) = match is_users {
            true => (earlier, later),
            false => (later, earlier),
        };
        let mut replaced = self.replaced_by(goes).to_vec();
        if let Some(entry) = self.entries.get_mut(goes) {
            entry.state = VersionState::Repeated(stays);
            entry.disputes.clear();
        }
        if let Some(entry) = self.entries.get_mut(stays) {
            replaced.retain(|one| !entry.replaces.contains(one));
            entry.replaces.splice(0..0, replaced);
        }
        let of = |place: usize| self.entries.get(place).map(|entry| entry.speaker);
        let by_user = of(stays) == Some(Speaker::User);
        let users: Vec<bool> = disputes
            .iter()
            .map(|other| of(*other) == Some(Speaker::User))
            .collect();
        for (other, is_users) in disputes.into_iter().zip(users) {
            // Agents who agree do not settle what the user said.
            if settles && (by_user || !is_users) {
                self.replace(other, stays);
            } else if stays != earlier {
                self.drop_dispute(other, earlier);
                self.dispute(other, stays);
            }
        }
    }

    fn replace(&mut self, earlier: usize, later: usize) {
        if earlier == later || !self.is_current(earlier) {
            return;
        }
        for other in self.disputes(earlier).to_vec() {
            self.drop_dispute(other, earlier);
        }
        let by = self.standing(later);
        if let Some(entry) = self.entries.get_mut(earlier) {
            entry.state = VersionState::Replaced(by);
            entry.disputes.clear();
        }
        if let Some(entry) = self.entries.get_mut(by) {
            entry.disputes.retain(|one| *one != earlier);
            entry.replaces.push(earlier);
        }
    }

    /// Returns the statement that stands for one that it repeats.
    fn standing(&self, place: usize) -> usize {
        match self.state(place) {
            VersionState::Repeated(stays) => stays,
            VersionState::Current | VersionState::Replaced(_) => place,
        }
    }

    fn dispute(&mut self, one: usize, other: usize) {
        let (one, other) = (self.standing(one), self.standing(other));
        if one == other || !self.is_current(one) || !self.is_current(other) {
            return;
        }
        for (one, other) in [(one, other), (other, one)] {
            if let Some(entry) = self.entries.get_mut(one)
                && !entry.disputes.contains(&other)
            {
                entry.disputes.push(other);
            }
        }
    }

    fn drop_dispute(&mut self, of: usize, with: usize) {
        if let Some(entry) = self.entries.get_mut(of) {
            entry.disputes.retain(|one| *one != with);
        }
    }
}

impl Entry {
    /// Whether a later statement of this speaker replaces it. An agent does not settle what the user or another agent said.
    fn gives_way_to(&self, speaker: Speaker, author: &str) -> bool {
        speaker == Speaker::User || (self.speaker == Speaker::Agent && self.author == author)
    }
}
