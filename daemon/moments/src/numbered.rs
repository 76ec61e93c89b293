//! Numbered replies to numbered questions: "1. the latter 2. yes, grams".

use std::ops::Range;

use crate::budget::one_line;
use crate::choice::{is_evasive, is_work};
use crate::durable::{CUE_CANDIDATE, DurableKind, DurableSentence};
use crate::text::language::language;
use crate::text::tokens::tokens;
use crate::text::{beginning, ending};

/// Bytes of an answer, from its end, in which questions are looked for.
const ANSWER_BYTES_MAX: usize = 4_000;

/// Bytes of a prompt in which replies are looked for, of one reply, and of a question with its reply.
const PROMPT_BYTES_MAX: usize = 2_000;
const REPLY_BYTES_MAX: usize = 240;
const QUESTION_BYTES_MAX: usize = 400;

/// How sure a numbered reply is: most of them are about the work at hand.
const NUMBERED: f32 = CUE_CANDIDATE;

/// The highest number.
const NUMBER_MAX: usize = 20;

/// Returns each numbered reply with its question. A single reply needs a number of its own, too.
pub(crate) fn numbered_choices(answer: &str, prompt: &str) -> Vec<DurableSentence> {
    let prompt = beginning(prompt, PROMPT_BYTES_MAX);
    let replies = numbered(prompt);
    if replies.is_empty() {
        return Vec::new();
    }
    let answer = ending(answer.trim_end(), ANSWER_BYTES_MAX);
    let questions = numbered(answer);
    let pairs = replies.into_iter().filter_map(|(number, span)| {
        let reply = one_line(prompt.get(span.clone())?);
        // The last list of the answer counts.
        let asked = questions.iter().rev().find(|(other, _)| *other == number)?;
        let question = question(answer.get(asked.1.clone())?)?;
        let is_said = !reply.is_empty() && reply.len() <= REPLY_BYTES_MAX && !reply.contains('?');
        if !is_said || is_evasive(&reply) || is_work(&question) {
            return None;
        }
        let text = format!("{question} → {reply}");
        Some(DurableSentence {
            language: language(&text, &tokens(&text)),
            text,
            span,
            kind: DurableKind::Choice,
            cue: NUMBERED,
        })
    });
    pairs.collect()
}

/// Returns what asks in an item of a list, up to its last question mark.
fn question(item: &str) -> Option<String> {
    let end = item.rfind(['?', '？'])?;
    let text = one_line(item.get(..end)?).replace("**", "") + "?";
    (text.len() <= QUESTION_BYTES_MAX).then_some(text)
}

/// Returns the numbers of a list with the places of what follows each. Numbers stand at the beginning of a line, or, with a
/// bracket, after a space.
fn numbered(text: &str) -> Vec<(usize, Range<usize>)> {
    let bytes = text.as_bytes();
    let mut marks: Vec<(usize, usize, usize)> = Vec::new();
    let mut at = 0;
    while let Some(found) = text
        .get(at..)
        .and_then(|rest| rest.find(|c: char| c.is_ascii_digit()))
    {
        let start = at + found;
        let digits = bytes
            .iter()
            .skip(start)
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let end = start + digits;
        at = end;
        let before = text.get(..start).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let begins_line = line
            .trim_matches([' ', '\t', '*', '-', '#', '('])
            .is_empty();
        let mark = bytes.get(end).copied();
        let is_spaced = bytes
            .get(end + 1)
            .is_none_or(|byte| byte.is_ascii_whitespace() || *byte == b'*');
        let is_mark = match mark {
            Some(b')') => begins_line || line.ends_with([' ', '(']),
            Some(b'.' | b':') => begins_line,
            _ => false,
        };
        let number = text.get(start..end).and_then(|digits| digits.parse().ok());
        if let Some(number) = number.filter(|number| is_mark && is_spaced && *number <= NUMBER_MAX)
        {
            marks.push((number, start, end + 1));
        }
    }
    let ends = marks
        .iter()
        .skip(1)
        .map(|(_, start, _)| *start)
        .chain([text.len()]);
    let items = marks.iter().zip(ends).map(|((number, _, from), end)| {
        // The last item ends at an empty line: what follows is another paragraph.
        let body = text.get(*from..end).unwrap_or_default();
        let end = body.find("\n\n").map_or(end, |at| from + at);
        (*number, *from..end)
    });
    items.collect()
}
