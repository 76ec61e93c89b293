//! Questions that say what should have been done: "why didn't you use the shared client?"

use crate::cues::is_declarative;
use crate::text::language::Language;
use crate::text::list::WordList;
use crate::text::tokens::Token;

/// Words before a question that are no part of it.
static LEADS: WordList =
    WordList::new("but and so hm hmm no ok okay wait also aber und mais et pero y");

static WHY: WordList = WordList::new("why warum wieso weshalb pourquoi");

static NEGATIONS: WordList = WordList::new(
    "didn't didnt don't dont haven't havent aren't arent not nicht kein keine keinen pas",
);

static ADDRESSED: WordList = WordList::new("you du ihr sie tu vous n'as n'avez as-tu avez-vous");

/// Verbs of talk and thought: such a question is about the agent, not about the work.
static TALK: WordList = WordList::new(
    "say tell mention just know see think answer ask stop finish continue like want sagen gesagt dit",
);

/// Words that name nothing.
static EMPTY: WordList =
    WordList::new("it this that these those do done it's now yet before too here there anything");

static POINTERS: WordList = WordList::new("this these those");

/// Starts of a statement about how things are.
static STATEMENTS: WordList = WordList::new("we our all every there everything the");

/// Whether a user's question corrects what an agent did.
pub(crate) fn is_reproach(tokens: &[Token], language: Language) -> bool {
    let Some((rest, addressed)) = asked_agent(tokens) else {
        return false;
    };
    // "Why didn't you follow this rule?" names nothing either.
    let points = tokens.iter().any(|token| POINTERS.has(&token.text));
    !points && (misses(&rest, addressed) || adds_a_statement(tokens, language))
}

/// Whether a prompt asks an agent for the reasons of what it did: no record of the project has them.
pub(crate) fn asks_for_reasons(prompt: &str) -> bool {
    asked_agent(&crate::text::tokens::tokens(prompt)).is_some()
}

/// Returns the words after "why", and the place of the one who is asked among them.
fn asked_agent(tokens: &[Token]) -> Option<(Vec<&Token>, usize)> {
    let mut words = tokens
        .iter()
        .skip_while(|token| token.is_mark() || LEADS.has(&token.text));
    words.next().filter(|why| WHY.has(&why.text))?;
    let rest: Vec<&Token> = words.collect();
    let mut first = rest.iter().take(4);
    let addressed = first.position(|token| ADDRESSED.has(&token.text))?;
    Some((rest, addressed))
}

/// Whether it asks why something was not done: after the one who is addressed come a verb and what it is done to.
fn misses(rest: &[&Token], addressed: usize) -> bool {
    let is_negative = rest
        .iter()
        .take(addressed + 4)
        .any(|token| NEGATIONS.has(&token.text));
    let mut done = rest
        .iter()
        .skip(addressed + 1)
        .filter(|token| !token.is_mark() && !NEGATIONS.has(&token.text));
    let is_talk = done.next().is_none_or(|verb| TALK.has(&verb.text));
    let names_a_thing = done.any(|token| !EMPTY.has(&token.text) && token.text.chars().count() > 2);
    is_negative && !is_talk && names_a_thing
}

/// Whether a statement follows: "why are you using axios, we have our own wrapper".
fn adds_a_statement(tokens: &[Token], language: Language) -> bool {
    let comma = tokens.iter().rposition(|token| token.text == ",");
    let rest = comma
        .and_then(|at| tokens.get(at + 1..))
        .unwrap_or_default();
    let is_ours = rest
        .first()
        .is_some_and(|first| STATEMENTS.has(&first.text));
    is_ours
        && rest.len() >= 4
        && (is_declarative(rest, language) || rest.iter().any(|token| token.text == "have"))
}
