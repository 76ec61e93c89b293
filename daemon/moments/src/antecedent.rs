//! What a sentence points back at.

use crate::cues;
use crate::durable::{DurableKind, DurableSentence};
use crate::text::list::WordList;
use crate::text::split::Sentence;
use crate::text::tokens::{Token, tokens};

/// Bytes of a sentence that is put before the one that points at it.
const ANTECEDENT_BYTES_MAX: usize = 200;

/// Puts the sentence before a durable one in front of it if that one says nothing alone: "The server runs at 30 ticks. Don't touch
/// that." What was found in it becomes a part of the two.
pub(crate) fn join_with_antecedent(
    durable: &mut DurableSentence,
    before: &Sentence,
    found: &mut Vec<DurableSentence>,
) {
    let is_fit = !before.is_question && before.text.len() <= ANTECEDENT_BYTES_MAX;
    if !is_fit || durable.kind == DurableKind::Choice || !points_back(&tokens(&durable.text)) {
        return;
    }
    durable.text = format!("{} {}", before.text, durable.text);
    durable.span.start = before.span.start;
    if let Some(first) = found.pop_if(|last| last.span.end == before.span.end) {
        durable.cue = durable.cue.max(first.cue);
        durable.kind = first.kind;
        durable.span.start = first.span.start;
        durable.text = format!(
            "{} {}",
            first.text,
            durable.text.split_off(before.text.len() + 1)
        );
    }
}

/// Words that stand for something that was said before, and those that do so unless a noun follows.
static BACK: WordList = WordList::new("it it's its they they're them that's these those");
static BACK_ALONE: WordList = WordList::new("that this");

/// Words of a sentence of which one has to point back.
const BACK_WORDS: usize = 4;

/// Whether a sentence is about what was said before it, by one of its first words.
fn points_back(tokens: &[Token]) -> bool {
    let words = tokens.iter().enumerate().take(BACK_WORDS);
    words.into_iter().any(|(at, token)| {
        let is_alone = || {
            tokens.get(at + 1).is_none_or(|next| {
                next.is_mark() || cues::is_state(&next.text) || next.text == "was"
            })
        };
        BACK.has(&token.text) || (BACK_ALONE.has(&token.text) && is_alone())
    })
}
