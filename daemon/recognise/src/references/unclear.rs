//! References that no other rule resolves.

use super::modifiers::is_function;
use super::{Outcome, Resolver, idle};
use crate::discourse::Referent;

/// Turns that an unclear reference reaches back.
const TURNS_MAX: usize = 1;
/// Share of the prominence that an unclear reference has as score.
const UNCLEAR: f32 = 0.5;
/// Gain of what a word of the message describes.
const DESCRIBED: f32 = 0.3;

impl Resolver<'_> {
    /// Returns the two most prominent things as possible ones, if a pronoun or a noun with an article refers to
    /// something that no rule finds.
    pub(super) fn unclear(&self) -> Option<Outcome> {
        if !self.refers() {
            return None;
        }
        let all: Vec<&str> = (0..self.words.len()).map(|at| self.word(at)).collect();
        let is_said = |word: &&&str| word.len() > 3 && !is_function(word);
        let says: Vec<&str> = all.iter().filter(is_said).copied().collect();
        let is_wanted = |one: &Referent<'_>| {
            one.turn <= TURNS_MAX && !one.is_nested && !one.is_absent && !one.is_here
        };
        let mut ranked = self.discourse.ranked(&is_wanted);
        for (at, score) in &mut ranked {
            let Some(one) = self.referent(*at) else {
                continue;
            };
            let is_described = says.iter().any(|word| one.is_described(word));
            let gain = self.kind_gain(one, &all) + if is_described { DESCRIBED } else { 0.0 };
            *score = (*score + gain) * UNCLEAR;
        }
        ranked.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        Some(Outcome::best_of(&ranked))
    }

    /// Returns whether a word refers to something: a pronoun, or without any name a noun with an article.
    fn refers(&self) -> bool {
        let has_name = (0..self.words.len()).any(|at| self.words.is_name(at));
        let mut at = 0;
        while at < self.words.len() {
            let word = self.word(at);
            let is_kept = matches!(word, "keep" | "leave" | "skip" | "will");
            if let Some(count) = idle::skipped(&self.words, at).filter(|_| !is_kept) {
                at += count;
                continue;
            }
            let next = self.word(at + 1);
            let is_noun = matches!(word, "the" | "that" | "this" | "these" | "those")
                && self.words.joins(at)
                && next.len() > 2
                && !is_function(next);
            let is_pronoun = matches!(
                word,
                "it" | "its" | "that" | "they" | "them" | "their" | "those" | "these" | "there"
            );
            if (is_noun && !has_name) || (is_pronoun && !is_noun) {
                return true;
            }
            at += 1;
        }
        false
    }
}
