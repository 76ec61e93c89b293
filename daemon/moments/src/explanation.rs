//! Explanations: sentences of an agent that give a cause.

use crate::cues;
use crate::text::language::Language;
use crate::text::list::WordList;
use crate::text::tokens::Token;
use crate::text::words::is_imperative;

/// Whether a sentence of an agent explains a thing by its cause, in the third person.
pub(crate) fn explains(tokens: &[Token], language: Language) -> bool {
    let conjunctions: &[&str] = match language {
        Language::English => &["because"],
        Language::German => &["weil", "denn"],
        Language::French => &["parce", "car"],
        Language::Spanish => &["porque"],
        Language::Chinese => return false,
    };
    let since = match language {
        Language::English => causal_since(tokens),
        Language::German | Language::French | Language::Spanish | Language::Chinese => None,
    };
    let Some(at) = tokens
        .iter()
        .position(|token| conjunctions.contains(&token.text.as_str()))
        .or(since)
        .or_else(|| causal_as(tokens, language))
    else {
        return false;
    };
    let main = tokens.get(..at).unwrap_or_default();
    let words = main.iter().filter(|token| !token.is_mark()).count();
    let is_personal = main.iter().any(|token| {
        matches!(
            token.text.as_str(),
            "i" | "i'm"
                | "i've"
                | "i'll"
                | "we"
                | "you"
                | "ich"
                | "wir"
                | "du"
                | "je"
                | "j'"
                | "tu"
                | "nous"
                | "yo"
        )
    });
    let starts_as_request = main.first().is_some_and(|first| is_imperative(&first.text));
    words >= 3 && !is_personal && !starts_as_request
}

/// Verbs of what happened once.
static PAST: WordList = WordList::new(
    "was were had did came got ran went took sent made kept lost read wrote met hit broke fell let found left put set saw gave",
);

/// Whether a word is a verb in the past tense: "applied", "came".
pub(crate) fn is_past(word: &str) -> bool {
    PAST.has(word) || (word.len() > 4 && word.ends_with("ed"))
}

/// Returns the place of a "since" that gives a cause: a clause with a verb of its own follows, not a time.
fn causal_since(tokens: &[Token]) -> Option<usize> {
    let at = tokens.iter().position(|token| token.text == "since")?;
    let clause = tokens.get(at + 1..)?;
    let is_time = clause
        .first()
        .is_none_or(|first| first.text == "last" || first.is_specific);
    let has_verb = clause
        .iter()
        .skip(1)
        .any(|token| cues::is_state(&token.text) || is_past(&token.text));
    (!is_time && has_verb && clause.len() >= 4).then_some(at)
}

/// Returns the place of an "as" that gives the cause of what happened: "... was shifted, as the importer applied it twice".
fn causal_as(tokens: &[Token], language: Language) -> Option<usize> {
    if language != Language::English {
        return None;
    }
    tokens.iter().enumerate().skip(3).find_map(|(at, token)| {
        let before = tokens.get(..at)?;
        let clause = tokens.get(at + 1..)?;
        let starts = matches!(
            clause.first()?.text.as_str(),
            "the" | "a" | "an" | "it" | "its" | "they" | "their" | "our" | "we"
        );
        let past = |tokens: &[Token]| tokens.iter().any(|token| is_past(&token.text));
        let is_cause = token.text == "as" && starts && clause.len() >= 4;
        (is_cause && past(before) && past(clause)).then_some(at)
    })
}
