//! Sentences that say nothing without their turn, whatever cues they have: proposals, rows of lists, and what points at
//! something else by a bare pronoun.

use crate::cues::is_declarative;
use crate::durable::{Message, Speaker};
use crate::text::language::Language;
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

/// Verbs of orders that are done once: what they change is not what lasts.
static ORDERS: WordList = WordList::new(
    "update change rename move remove delete add make create fix revert undo split merge extract refactor adjust extend implement \
    replace convert modify tweak insert reorder restructure reuse start begin",
);

/// Words by which an order holds for more than its turn.
static LASTING: WordList =
    WordList::new("always never every each whenever everywhere anywhere unless must");

/// Verbs and nouns of orders to write down what is to be done.
static FILING: WordList = WordList::new("create add make open file write");
static FILED: WordList = WordList::new("task ticket issue rule spec todo card story");

/// Words behind which a clause describes a thing: "a test that never fails" is one test.
static RELATIVES: WordList = WordList::new("that which who so");

/// What something shall be more or less of than it is now.
static COMPARATIVES: WordList = WordList::new(
    "shorter longer bigger smaller larger wider narrower simpler cleaner better faster slower darker lighter more less",
);

/// Words about the work at hand.
const AT_HAND: [&str; 27] = [
    "this time",
    "this one",
    "do this",
    "think about",
    "then go ahead",
    "switch back",
    "wanted you to",
    "asked you to",
    "just tell",
    "just show",
    "just answer",
    "just explain",
    "only tell",
    "only show",
    "the other file",
    "the other folder",
    "the other one",
    "the other branch",
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
    if message.speaker == Speaker::User && is_order(tokens, message) {
        return true;
    }
    // "It turned out that ..." is a phrase.
    let is_phrase = matches!(second.text.as_str(), "turns" | "turned");
    let points = (PRONOUNS.has(&first.text) && !is_phrase) || is_proposed(&first.text);
    message.speaker == Speaker::Agent
        && ((points && !gives_a_cause(tokens))
            || (is_proposed(&first.text) && ends_in_a_question(message.text))
            || PROPOSALS.has(&first.text)
            || is_row(&lower)
            // It introduces what follows.
            || lower.trim_end().ends_with(':'))
}

/// Whether a user's sentence orders what is done once, or compares with what is there now.
fn is_order(tokens: &[Token], message: &Message<'_>) -> bool {
    let is_lasting = tokens.iter().enumerate().any(|(at, token)| {
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        LASTING.has(&token.text) && !before.is_some_and(|before| RELATIVES.has(&before.text))
    });
    if files_work(tokens) {
        return true;
    }
    if is_lasting {
        return false;
    }
    let mut words = tokens
        .iter()
        .filter(|token| !token.is_mark())
        .skip_while(|token| LEADS.has(&token.text));
    let (Some(first), Some(second)) = (words.next(), words.next()) else {
        return false;
    };
    let is_change = ORDERS.has(&first.text) && !matches!(second.text.as_str(), "sure" | "certain");
    let last = tokens.iter().rev().find(|token| !token.is_mark());
    let is_here = last.is_some_and(|last| last.text == "here")
        && has_imperative_clause(tokens)
        && !is_declarative(tokens, Language::English);
    (is_change && !message.follows_edit) || is_here || is_compared(tokens)
}

/// Whether a clause orders a task or a rule to be written: what stands in it is not decided yet.
fn files_work(tokens: &[Token]) -> bool {
    tokens.split(|token| token.text == ",").any(|clause| {
        let mut words = clause
            .iter()
            .filter(|token| !token.is_mark())
            .skip_while(|token| LEADS.has(&token.text));
        words.next().is_some_and(|first| FILING.has(&first.text))
            && words.take(4).any(|token| FILED.has(&token.text))
    })
}

/// Whether a clause begins with an order: "instead of the list, use a map".
fn has_imperative_clause(tokens: &[Token]) -> bool {
    let is_verb = |token: &Token| is_imperative(&token.text) || ORDERS.has(&token.text);
    let clauses = tokens.split(|token| token.text == ",");
    let starts = clauses.map(|clause| clause.iter().find(|token| !LEADS.has(&token.text)));
    starts.flatten().any(is_verb)
}

/// Whether something "should be shorter", without a measure.
fn is_compared(tokens: &[Token]) -> bool {
    let has_measure = tokens
        .iter()
        .any(|token| token.text == "than" || token.is_specific);
    let follows = tokens.windows(3).any(|words| match words {
        [should, be, how] => {
            should.text == "should" && be.text == "be" && COMPARATIVES.has(&how.text)
        }
        _ => false,
    });
    follows && !has_measure
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

/// Verbs with which a clause orders what is done always.
static LASTING_VERBS: WordList =
    WordList::new("use keep prefer avoid stick never always don't do leave");

/// Whether a later clause orders a piece of work: ", profile it".
pub(crate) fn orders_once(tokens: &[Token]) -> bool {
    let is_boundary = |token: &Token| matches!(token.text.as_str(), "," | ";" | ":" | "." | "and");
    let clauses = tokens.split(is_boundary).skip(1);
    let mut starts = clauses.map(|clause| {
        let skipped = |token: &&Token| matches!(token.text.as_str(), "please" | "so" | "just");
        let mut words = clause.iter().skip_while(skipped);
        (words.next(), words.next())
    });
    starts.any(|(first, second)| {
        let Some(first) = first.filter(|first| !LASTING_VERBS.has(&first.text)) else {
            return false;
        };
        // A verb that no list has shows by its object: "repair the join".
        let has_object = second.is_some_and(|second| OBJECTS.has(&second.text));
        let is_verb = first.text.chars().all(|c| c.is_ascii_lowercase())
            && !["s", "ed", "ing", "ly"]
                .iter()
                .any(|end| first.text.ends_with(end))
            && !NO_VERBS.has(&first.text);
        is_imperative(&first.text) || (has_object && is_verb)
    })
}

/// Words that begin an object.
static OBJECTS: WordList = WordList::new("it them the a an this that these those");

/// Words before such ones that are no verbs.
static NO_VERBS: WordList = WordList::new(
    "because since so and but or nor if when while after before until unless for with without in into on onto at to from by of \
    off as than then that which who whom whose only not no all each any both also even else otherwise instead rather via per over \
    under between is are was were be been has have had does did can could may might must should shall will would half what where \
    how why like near about above below again it they we you he she i",
);
