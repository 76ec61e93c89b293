//! Sentences that say nothing without their turn, whatever cues they have: proposals, rows of lists, and what points at
//! something else by a bare pronoun.

use crate::durable::{Message, Speaker};
use crate::text::list::WordList;
use crate::text::split::Sentence;
use crate::text::tokens::Token;
use crate::text::words::is_imperative;

/// Pronouns that stand for something that was said before.
static PRONOUNS: WordList = WordList::new("it it's its this that that's these those");

/// What an agent puts before a proposal.
static PROPOSALS: WordList = WordList::new(
    "suggestion suggestions option options proposal proposed recommendation recommended alternative alternatively todo",
);

/// Verbs with which a proposal about behaviour begins, beside those of requests.
static BEHAVIOUR: WordList = WordList::new(
    "fail reject warn allow default support require raise return log skip accept refuse",
);

fn is_proposed(verb: &str) -> bool {
    is_imperative(verb) || BEHAVIOUR.has(verb)
}

/// Verbs that say something only with what they are done to: "record this", but not "keep it below 80 columns".
static DEICTIC_VERBS: WordList = WordList::new(
    "record add specify mention do fix change update call rename move remove delete revert undo commit review check note",
);

/// States of a row in a list of work.
const ROW_STATES: [&str; 8] = [
    "status:",
    "(todo)",
    "(done)",
    "[ ]",
    "[x]",
    "in-progress",
    "in_progress",
    "in-review",
];

/// Words before a verb that are no part of what is asked.
static LEADS: WordList = WordList::new("let's lets please ok okay now also and then just so");

/// Words about the work at hand.
const AT_HAND: [&str; 9] = [
    "we're working on",
    "we are working on",
    "you're working on",
    "this task",
    "this session",
    "right now",
    "at the moment",
    "specify this here",
    "now that we've",
];

/// Whether a sentence of a message is passing.
pub(crate) fn is_passing(sentence: &Sentence, tokens: &[Token], message: &Message<'_>) -> bool {
    let words = tokens.iter().filter(|token| !token.is_mark());
    let mut words = words.skip_while(|token| LEADS.has(&token.text));
    let (Some(first), Some(second)) = (words.next(), words.next()) else {
        return false;
    };
    let lower = sentence.text.to_lowercase().replace('\u{2019}', "'");
    if AT_HAND.iter().any(|words| lower.contains(words))
        || (DEICTIC_VERBS.has(&first.text) && PRONOUNS.has(&second.text))
    {
        return true;
    }
    let points = PRONOUNS.has(&first.text) || is_proposed(&first.text);
    message.speaker == Speaker::Agent
        && ((points && !gives_a_cause(tokens))
            || (is_proposed(&first.text) && ends_in_a_question(message.text))
            || PROPOSALS.has(&first.text)
            || is_row(&lower)
            // It introduces what follows.
            || lower.trim_end().ends_with(':'))
}

/// Whether a sentence says why: "This happens because React batches the updates" names what it is about.
fn gives_a_cause(tokens: &[Token]) -> bool {
    let causes = ["because", "weil", "denn", "parce", "car", "porque"];
    tokens
        .iter()
        .any(|token| causes.contains(&token.text.as_str()))
}

/// Whether a sentence is a row of a list of work: it names a state, or begins with a number of a task.
fn is_row(lower: &str) -> bool {
    let is_numbered = lower
        .strip_prefix("task ")
        .unwrap_or(lower)
        .strip_prefix('#')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    is_numbered || ROW_STATES.iter().any(|state| lower.contains(state))
}

/// Whether an answer asks at its end: what it says before is a proposal.
fn ends_in_a_question(answer: &str) -> bool {
    answer.trim_end().ends_with(['?', '？'])
}
