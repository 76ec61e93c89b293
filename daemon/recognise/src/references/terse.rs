//! Messages that leave out what they are about: "status?", "and now?", "what failed?", "show me".

use super::modifiers::is_function;
use super::{Outcome, Resolver, THRESHOLD};
use crate::discourse::Referent;

/// Limit on the words of such a question, and of any such message.
const QUESTION_WORDS_MAX: usize = 8;
const MESSAGE_WORDS_MAX: usize = 4;
/// Gain of what a word of the message describes.
const DESCRIBED: f32 = 0.3;
/// Turns within which a word may describe something.
const TURNS_MAX: usize = 3;
/// Shortest word that describes, in bytes.
const WORD_BYTES_MIN: usize = 4;
/// Words that only begin a message.
const OPENERS: [&str; 26] = [
    "ok", "okay", "and", "but", "so", "then", "hm", "hmm", "well", "good", "fine", "right", "yes",
    "no", "alright", "btw", "also", "please", "great", "perfect", "enough", "wait", "or", "cool",
    "actually", "anyway",
];
/// Words of messages that ask for nothing.
const CLOSINGS: [&str; 12] = [
    "thanks", "thank", "cheers", "hello", "hi", "hey", "bye", "welcome", "sorry", "morning",
    "evening", "later",
];
const QUESTIONS: [&str; 17] = [
    "why", "when", "who", "where", "what", "which", "how", "on", "since", "is", "does", "has",
    "by", "for", "in", "was", "did",
];

impl Resolver<'_> {
    /// Returns what a short message without a name or a reference is possibly about: what the last one was about.
    pub(super) fn ellipsis(&self) -> Option<Outcome> {
        let count = self.words.len();
        let last = (1..count).rev().find(|at| self.words.ends(at - 1));
        let mut from = last.unwrap_or(0);
        let opened = from;
        while OPENERS.contains(&self.word(from)) {
            from += 1;
        }
        let rest: Vec<&str> = (from..count).map(|at| self.word(at)).collect();
        let first = *rest.first()?;
        let is_question = QUESTIONS.contains(&first) || (from > opened && self.is_joined(opened));
        let most = if is_question {
            QUESTION_WORDS_MAX
        } else {
            MESSAGE_WORDS_MAX
        };
        let has_name = (from..count).any(|at| self.words.is_name(at));
        if has_name || rest.len() > most || rest.iter().any(|word| CLOSINGS.contains(word)) {
            return None;
        }
        let says: Vec<&str> = rest
            .iter()
            .copied()
            .filter(|word| word.len() >= WORD_BYTES_MIN && !is_function(word))
            .collect();
        let is_described = |one: &Referent<'_>| {
            one.turn <= TURNS_MAX && says.iter().any(|word| one.is_described(word))
        };
        let mut ranked = self.discourse.ranked(&|one| {
            !one.is_nested && !one.is_absent && (one.turn <= 1 || is_described(one))
        });
        for (at, score) in &mut ranked {
            let Some(one) = self.referent(*at) else {
                continue;
            };
            *score += self.kind_gain(one, &rest);
            if is_described(one) {
                *score += DESCRIBED;
            }
        }
        ranked.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        let is_clear = |(_, score): &(usize, f32)| *score >= THRESHOLD;
        if ranked.iter().any(is_clear) {
            ranked.retain(is_clear);
        }
        let outcome = Outcome::best_of(&ranked);
        (!matches!(outcome, Outcome::Open)).then_some(outcome)
    }

    /// Returns whether a message begins with "and" or "or", which join it to the last one.
    fn is_joined(&self, at: usize) -> bool {
        matches!(self.word(at), "and" | "or")
    }
}
