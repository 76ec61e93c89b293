//! The candidates for the history of a pack, in order of importance: the newest few, then what a search found, then
//! older messages.

use std::collections::HashSet;

use super::history::History;
use super::search_hits::FoundHistory;
use crate::entities::EntityRef;
use crate::events::packs::Item;
use crate::log::Position;
use crate::packs::assembly::{Omission, PackMessage};
use crate::store::Error;

/// Number of newest tool results that come before anything that is found.
const RESULTS_FIRST: usize = 1;
/// Number of found pieces that come before the other newest tool results of a session.
pub const FOUND_FIRST: usize = 8;
/// Number of newest messages of several sessions that come before anything that is found.
const NEWEST_OF_ALL: usize = 4;
/// Number of found pieces whose entities belong to the topic.
const TOPIC_FOUND: usize = 8;

/// The question for a search: a message, with the names of the entities that it only refers to.
pub fn question(
    message: &str,
    named: &[EntityRef],
    name_of: impl Fn(&EntityRef) -> Result<Option<String>, Error>,
) -> Result<String, Error> {
    let mut question = message.to_owned();
    let lower = message.to_lowercase();
    for entity in named {
        if let Some(name) = name_of(entity)?
            && !lower.contains(&name.to_lowercase())
        {
            question.push(' ');
            question.push_str(&name);
        }
    }
    Ok(question)
}

/// What the last turns and the question are about, for the choice of entities.
pub struct Topic {
    /// Position of the oldest of the last turns.
    since: Position,
    /// The texts that were found, in lower case.
    found: Vec<String>,
}

impl Topic {
    /// Collects the topic from the newest messages and from what was found.
    pub fn of(newest: &[PackMessage], found: &FoundHistory) -> Self {
        let positions = newest.iter().map(|one| one.source.position);
        let found = match found.has_relevant {
            true => found.pieces.iter().take(TOPIC_FOUND),
            false => found.pieces.iter().take(0),
        };
        Self {
            since: positions.min().unwrap_or(Position(u64::MAX)),
            found: found.map(|one| one.text.to_lowercase()).collect(),
        }
    }

    /// Returns whether an entity was mentioned in the last turns, or in what was found.
    pub fn has(&self, name: &str, last_mentioned: Position) -> bool {
        let name = name.to_lowercase();
        last_mentioned >= self.since || self.found.iter().any(|text| text.contains(&name))
    }
}

/// The history of a pack, most important first.
pub struct RankedHistory {
    /// The pieces, each once.
    pub pieces: Vec<PackMessage>,
    /// Whether a search found something relevant.
    pub has_relevant: bool,
    /// Pieces that are not included for other reasons than the budget.
    pub left_out: Vec<Omission>,
}

/// Orders the newest history of sessions and what a search found. Each piece comes once; a fork and its parent both
/// have the history that they share.
pub fn ranked(newest: Vec<History>, found: FoundHistory) -> RankedHistory {
    let is_one_session = newest.len() == 1;
    let newest_max = match is_one_session {
        true => usize::MAX,
        false => NEWEST_OF_ALL,
    };
    let (mut messages, mut results, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    let mut left_out = Vec::new();
    for one in newest {
        messages.extend(one.messages);
        results.extend(one.results);
        rest.extend(one.rest);
        left_out.extend(one.left_out);
    }
    left_out.extend(found.left_out);
    messages.sort_by_key(|one| std::cmp::Reverse(one.source.position));
    results.sort_by_key(|one| std::cmp::Reverse(one.source.position));
    let older = messages.split_off(messages.len().min(newest_max));
    let later_results = results.split_off(results.len().min(RESULTS_FIRST));
    let mut best = found.pieces;
    let others = best.split_off(best.len().min(FOUND_FIRST));
    // The newest results of one session are its work at hand; those of all sessions would use up the budget of a task.
    let (at_hand, elsewhere) = match is_one_session {
        true => (later_results, Vec::new()),
        false => (Vec::new(), later_results),
    };
    let all = messages.into_iter().chain(results).chain(best);
    let all = all.chain(at_hand).chain(others).chain(elsewhere);
    let all = all.chain(older).chain(rest);
    let (mut seen, mut said) = (HashSet::new(), HashSet::new());
    let mut pieces = Vec::new();
    for piece in all {
        // An item can be read from a session and from its fork.
        let place: (Position, Item, usize) = (
            piece.source.position,
            piece.source.item.clone(),
            piece.place,
        );
        let text = (piece.who.clone(), piece.text.trim().to_owned());
        if seen.insert(place) && said.insert(text) {
            pieces.push(piece);
        }
    }
    RankedHistory {
        pieces,
        has_relevant: found.has_relevant,
        left_out,
    }
}
