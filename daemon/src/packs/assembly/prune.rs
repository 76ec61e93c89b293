//! Pruning: reduces a session's working set so that its context stays small. Nothing is deleted.

use std::collections::BTreeSet;

use crate::events::packs::Strategy;
use crate::log::Position;

/// The limits of a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StrategyLimits {
    /// At most this many tokens, a session is not pruned.
    tokens: u64,
    /// Number of newest messages to retain.
    messages: usize,
    /// Number of newest important messages to retain: messages with tool uses or entities.
    important: usize,
    /// Number of entities to retain, by pruning score.
    entities: usize,
    /// Number of newest tool uses to retain, in addition to the tool uses of retained messages.
    tools: usize,
}

/// Returns the limits of a strategy.
#[must_use]
const fn numbers(strategy: Strategy) -> StrategyLimits {
    let (times, by) = match strategy {
        Strategy::Comprehensive => (1, 1),
        Strategy::Conservative => (2, 1),
        Strategy::Aggressive => (1, 2),
    };
    StrategyLimits {
        tokens: 4000 * times as u64 / by as u64,
        messages: 10 * times / by,
        important: 5 * times / by,
        entities: 20 * times / by,
        tools: 20 * times / by,
    }
}

/// A message of the working set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoredMessage {
    pub position: Position,
    pub tokens: u64,
    /// Whether it has tool uses or entities.
    pub is_important: bool,
}

/// The working set of a session before a pruning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkingMessages<E> {
    /// Messages, in time order.
    pub messages: Vec<ScoredMessage>,
    /// Tool uses, in time order: steps, tool executions, and messages with tool uses.
    pub tools: Vec<Position>,
    /// Entities, highest pruning score first.
    pub entities: Vec<E>,
}

/// The part of a working set that a pruning retains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrunedSet<E> {
    /// Messages, in time order.
    pub messages: Vec<Position>,
    /// Tool uses, in time order.
    pub tools: Vec<Position>,
    /// Entities, highest score first.
    pub entities: Vec<E>,
    /// Tokens of the retained messages.
    pub tokens: u64,
}

/// Sums the tokens of messages.
#[must_use]
pub fn tokens_of(messages: &[ScoredMessage]) -> u64 {
    let all = messages.iter().map(|message| message.tokens);
    all.fold(0, u64::saturating_add)
}

/// Selects the part of a working set that a strategy retains; `None` if the messages have at most `target`
/// tokens. If the strategy's limits do not reach the target, the oldest messages are dropped, too, but never the
/// newest one.
#[must_use]
pub fn retain<E>(
    working: WorkingMessages<E>,
    strategy: Strategy,
    target: Option<u64>,
) -> Option<PrunedSet<E>> {
    let numbers = numbers(strategy);
    if tokens_of(&working.messages) <= target.unwrap_or(numbers.tokens) {
        return None;
    }
    let mut messages = kept_messages(&working.messages, &numbers);
    let mut tokens = tokens_of(&messages);
    while messages.len() > 1 && target.is_some_and(|target| tokens > target) {
        tokens -= messages.remove(0).tokens;
    }
    let messages: Vec<Position> = messages.iter().map(|message| message.position).collect();
    let mut entities = working.entities;
    entities.truncate(numbers.entities);
    Some(PrunedSet {
        tools: kept_tools(&working.tools, &messages, numbers.tools),
        messages,
        entities,
        tokens,
    })
}

/// Selects the newest messages and the newest important ones, each once, in time order.
fn kept_messages(all: &[ScoredMessage], numbers: &StrategyLimits) -> Vec<ScoredMessage> {
    let recent = all.iter().rev().take(numbers.messages);
    let important = all.iter().rev().filter(|message| message.is_important);
    let positions: BTreeSet<Position> = recent
        .chain(important.take(numbers.important))
        .map(|message| message.position)
        .collect();
    let mut kept = all.to_vec();
    kept.retain(|message| positions.contains(&message.position));
    kept
}

/// Selects the newest tool uses and the tool uses of retained messages, in time order.
fn kept_tools(all: &[Position], messages: &[Position], newest: usize) -> Vec<Position> {
    let first = all.len().saturating_sub(newest);
    let kept = all.iter().enumerate();
    let kept = kept.filter(|(at, tool)| *at >= first || messages.contains(tool));
    kept.map(|(_, tool)| *tool).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Thirty messages of 200 tokens at positions 1, 3, 5 …; the messages 1, 3, 5, 7, 9, 11 and 25 (from 0) are
    /// important. Tools are used at 2, 4, 6 … and for message 5. There are fifty entities.
    fn working() -> WorkingMessages<usize> {
        let message = |at: u64| ScoredMessage {
            position: Position(2 * at + 1),
            tokens: 200,
            is_important: [1, 3, 5, 7, 9, 11, 25].contains(&at),
        };
        let mut tools: Vec<_> = (0..30).map(|at| Position(2 * at + 2)).collect();
        tools.push(Position(11));
        tools.sort();
        WorkingMessages {
            messages: (0..30).map(message).collect(),
            tools,
            entities: (0..50).collect(),
        }
    }

    fn messages(numbers: impl IntoIterator<Item = u64>) -> Vec<Position> {
        let positions = numbers.into_iter().map(|at| Position(2 * at + 1));
        positions.collect()
    }

    fn tools(numbers: impl IntoIterator<Item = u64>) -> Vec<Position> {
        let positions = numbers.into_iter().map(|at| Position(2 * at + 2));
        positions.collect()
    }

    #[test]
    fn comprehensive_has_the_numbers_of_the_source() {
        let kept = retain(working(), Strategy::Comprehensive, None).unwrap();
        assert_eq!(
            kept.messages,
            messages([5, 7, 9, 11].into_iter().chain(20..30))
        );
        let of_message = [Position(11)].into_iter();
        let expected: Vec<_> = of_message.chain(tools(10..30)).collect();
        assert_eq!(kept.tools, expected);
        assert_eq!(kept.entities, (0..20).collect::<Vec<_>>());
        assert_eq!(kept.tokens, 14 * 200);
    }

    #[test]
    fn conservative_keeps_twice_as_much_and_aggressive_half() {
        let mut working = working();
        let many = |working: &WorkingMessages<usize>| {
            retain(working.clone(), Strategy::Conservative, None)
        };
        assert_eq!(many(&working), None, "6000 of 8000");
        working.messages.last_mut().unwrap().tokens = 3_000;
        let many = many(&working).unwrap();
        assert_eq!(
            many.messages,
            messages([1, 3, 5, 7, 9].into_iter().chain(10..30))
        );
        assert_eq!((many.tools.len(), many.entities.len()), (31, 40));
        let few = retain(working, Strategy::Aggressive, None).unwrap();
        assert_eq!(few.messages, messages([11].into_iter().chain(25..30)));
        assert_eq!((few.tools.len(), few.entities.len()), (10, 10));
    }

    #[test]
    fn a_small_session_is_left_as_it_is() {
        let mut working = working();
        working.messages.truncate(20);
        assert_eq!(tokens_of(&working.messages), 4_000);
        assert_eq!(retain(working.clone(), Strategy::Comprehensive, None), None);
        assert!(retain(working, Strategy::Aggressive, None).is_some());
        let nothing = WorkingMessages::<usize>::default();
        assert_eq!(retain(nothing, Strategy::Aggressive, Some(0)), None);
    }

    #[test]
    fn a_target_is_reached_as_far_as_the_newest_message_allows() {
        let to = |target| retain(working(), Strategy::Comprehensive, Some(target));
        assert_eq!(to(6_000), None);
        assert_eq!(
            to(5_999).unwrap().messages.len(),
            14,
            "the numbers are enough"
        );
        let kept = to(1_000).unwrap();
        assert_eq!((kept.tokens, kept.messages), (1_000, messages(25..30)));
        assert_eq!(
            kept.tools,
            tools(10..30),
            "the use of a message goes with it"
        );
        let kept = to(1).unwrap();
        assert_eq!((kept.tokens, kept.messages), (200, messages([29])));
    }
}
