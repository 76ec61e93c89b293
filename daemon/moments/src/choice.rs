//! Choices: a question of an agent and the short reply that decided it, which say nothing apart.

use crate::text::list::WordList;
use std::ops::Range;

use crate::text::beginning;
use crate::text::split::sentences;
use crate::text::tokens::{Token, tokens};
use crate::text::words::is_imperative;

/// Words of a reply at most.
pub const REPLY_WORDS_MAX: usize = 14;

/// Bytes of the options before a question that are stored with it.
const OPTIONS_BYTES_MAX: usize = 240;

/// What an agent may ask without that anything is decided: leave to go on with its work.
static ROUTINE: WordList = WordList::new(
    "continue proceed run commit push start go begin retry look check anything else show explain help apply merge \
    open try next weitermachen committen fortfahren starten ausführen anfangen continuer lancer continúe continuar \
    ejecute commiten summarize summarise tweaks changes questions thoughts feedback",
);

/// Replies that say nothing about a question.
static EVASIVE: WordList = WordList::new(
    "what why how explain show wait hm hmm later thanks thank great warum was wie pourquoi qué continue weiter stop \
    dunno idk",
);

/// Replies that agree, whatever was asked.
static ASSENT: WordList = WordList::new("ok okay yes yep yeah sure fine alright ja oui sí si");

/// Words that replies and questions share without that a thing is named.
static EVERYDAY: WordList = WordList::new(
    "the a an and or to of in on for with it this that these those i you we us let's lets do should would could can \
    ok okay yes add new be is are as by from use",
);

/// A question with its reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnsweredQuestion {
    /// The question, with the options that precede it, in one line.
    pub question: String,
    /// The reply in one line.
    pub reply: String,
    /// The reply's bytes in the prompt.
    pub reply_span: Range<usize>,
}

impl AnsweredQuestion {
    /// Returns both in one line.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{} → {}", self.question, self.reply)
    }
}

/// Returns the choice that a prompt makes, if the answer before it ends with a question and the prompt is a short reply.
///
/// ```
/// let choice = lored_moments::choice("Should I use Redis or Memcached?", "Redis, we know it").unwrap();
/// assert_eq!(choice.text(), "Should I use Redis or Memcached? → Redis, we know it");
/// assert_eq!(lored_moments::choice("Shall I continue?", "yes"), None);
/// ```
#[must_use]
pub fn choice(previous_answer: &str, prompt: &str) -> Option<AnsweredQuestion> {
    let reply = prompt.trim();
    let words = reply.split_whitespace().count();
    let is_short = words <= REPLY_WORDS_MAX && reply.len() <= 200 && !reply.contains("```");
    if reply.is_empty() || !is_short || reply.ends_with(['?', '？']) {
        return None;
    }
    let words = tokens(reply);
    let first = words.iter().find(|token| !token.is_mark())?;
    if EVASIVE.has(&first.text) || orders_this(&words) {
        return None;
    }
    let end = crate::text::ending(previous_answer.trim_end(), 4_000);
    let said = sentences(end);
    let last = said.len().checked_sub(1)?;
    // A polite sentence, or the options, may follow the question.
    let at = (last.saturating_sub(1)..=last)
        .rev()
        .find(|at| said.get(*at).is_some_and(|one| one.is_question))?;
    let question = said.get(at)?;
    let asked = tokens(&question.text);
    let is_routine = asked
        .iter()
        .filter(|token| !token.is_mark())
        .take(9)
        .any(|token| ROUTINE.has(&token.text));
    let offers = asked.iter().any(|token| {
        matches!(
            token.text.as_str(),
            "or" | "oder"
                | "ou"
                | "o"
                | "which"
                | "welche"
                | "welcher"
                | "quelle"
                | "quel"
                | "cuál"
        )
    }) || question.text.contains("还是");
    if (is_routine || is_leave(&question.text)) && !offers {
        return None;
    }
    // "Yes" to one of two options does not say which.
    let is_assent = ASSENT.has(&first.text) || goes_ahead(reply);
    if offers && is_assent && !names_a_thing_of(reply, &asked) {
        return None;
    }
    let mut whole = question.text.clone();
    // "Which one?" needs what stands before it.
    let mut before = at;
    while (whole.len() < 40 || refers_back(&question.text)) && before > 0 {
        before -= 1;
        let Some(sentence) = said.get(before) else {
            break;
        };
        if whole.len() + sentence.text.len() > OPTIONS_BYTES_MAX {
            break;
        }
        whole = format!("{} {whole}", sentence.text);
    }
    let start = prompt.len() - prompt.trim_start().len();
    Some(AnsweredQuestion {
        question: beginning(&whole, 2 * OPTIONS_BYTES_MAX).to_owned(),
        reply: reply.split_whitespace().collect::<Vec<_>>().join(" "),
        reply_span: start..start + reply.len(),
    })
}

/// Whether a reply says nothing about any question.
pub(crate) fn is_evasive(reply: &str) -> bool {
    let first = tokens(reply).into_iter().find(|token| !token.is_mark());
    first.is_none_or(|first| EVASIVE.has(&first.text))
}

/// Whether a question is about the next piece of work alone.
pub(crate) fn is_work(question: &str) -> bool {
    let asked = tokens(question);
    let mut words = asked.iter().filter(|token| !token.is_mark()).take(9);
    words.any(|token| ROUTINE.has(&token.text)) || is_leave(question)
}

/// Whether a reply lets the agent go on, whatever it asked.
fn goes_ahead(reply: &str) -> bool {
    let lower = reply.to_lowercase();
    ["go ahead", "go for it", "do it", "sounds good", "proceed"]
        .iter()
        .any(|phrase| lower.starts_with(phrase))
}

/// Whether a reply orders a piece of work instead, about what is at hand: "create a new task with this spec".
fn orders_this(reply: &[Token]) -> bool {
    let mut words = reply
        .iter()
        .filter(|token| !token.is_mark())
        .skip_while(|token| EVERYDAY.has(&token.text) && !is_imperative(&token.text));
    words.next().is_some_and(|first| is_imperative(&first.text))
        && words.any(|token| matches!(token.text.as_str(), "this" | "these" | "that" | "those"))
}

/// Whether an agent asks for leave to do a piece of work: the answer decides nothing that lasts.
fn is_leave(question: &str) -> bool {
    const ASKS: [&str; 6] = [
        "would you like me to",
        "would you like to",
        "do you want me to",
        "want me to",
        "shall i",
        "should i go",
    ];
    const WORK: [&str; 12] = [
        "create",
        "fix",
        "update",
        "write",
        "review",
        "implement",
        "make",
        "draft",
        "test",
        "close",
        "delete",
        "refactor",
    ];
    let lower = question.to_lowercase();
    let asked = ASKS.iter().find_map(|ask| lower.split_once(ask));
    asked.is_some_and(|(_, work)| {
        let verb = work.split_whitespace().next().unwrap_or_default();
        WORK.contains(&verb)
    })
}

/// Whether a reply has a word of its question that names something.
fn names_a_thing_of(reply: &str, asked: &[Token]) -> bool {
    tokens(reply).iter().any(|word| {
        !word.is_mark()
            && !EVERYDAY.has(&word.text)
            && asked.iter().any(|token| token.text == word.text)
    })
}

/// Whether a question refers to what stands before it.
fn refers_back(question: &str) -> bool {
    let lower = question.to_lowercase();
    [
        "which one",
        "which of",
        "do you prefer",
        "your preference",
        "welche davon",
        "lequel",
        "laquelle",
        "cuál",
    ]
    .iter()
    .any(|phrase| lower.contains(phrase))
}
