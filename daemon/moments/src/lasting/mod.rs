//! How likely a sentence holds for longer than its turn, by its form: which function words it has, with what it begins, whether it
//! orders something, its marks and its length. What it is about plays no part, so that the weights hold for any project.
//!
//! The weights are those of a logistic regression over the judging cases (`weights.txt`), which
//! `cargo run --release -p lored-moments --example train` makes. Cues say what a sentence is; this finds those that no cue knows.
//! It reads English and German.

mod features;

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use features::each_feature;

use crate::durable::Speaker;
use crate::text::language::Language;
use crate::text::tokens::{Token, tokens};

/// What a feature adds to the logit, for a user's sentence and for an agent's.
#[derive(Clone, Copy, Debug, Default)]
struct Weights {
    user: f32,
    agent: f32,
}

/// A line each: a feature's name, its weight for users and for agents.
static WEIGHTS: LazyLock<FxHashMap<u64, Weights>> = LazyLock::new(|| {
    include_str!("weights.txt")
        .lines()
        .filter_map(|line| {
            let mut parts = line.split_whitespace();
            let name = parts.next()?;
            let weights = Weights {
                user: parts.next()?.parse().ok()?,
                agent: parts.next()?.parse().ok()?,
            };
            Some((features::key_of_name(name), weights))
        })
        .collect()
});

/// Returns the logit of a sentence that holds for longer than its turn, or `None` for a language that the weights do not know.
#[must_use]
pub(crate) fn lasting(
    text: &str,
    tokens: &[Token],
    language: Language,
    speaker: Speaker,
) -> Option<f32> {
    if !matches!(language, Language::English | Language::German) {
        return None;
    }
    let mut logit = 0.0;
    each_feature(text, tokens, &mut |feature, value| {
        if let Some(weights) = WEIGHTS.get(&feature.key()) {
            logit += value
                * match speaker {
                    Speaker::User => weights.user,
                    Speaker::Agent => weights.agent,
                };
        }
    });
    Some(logit)
}

/// Returns the features of a sentence by name, with their values: what the weights are made from.
#[must_use]
pub fn sentence_features(sentence: &str) -> Vec<(String, f32)> {
    let mut all = Vec::new();
    each_feature(sentence, &tokens(sentence), &mut |feature, value| {
        all.push((feature.name(), value));
    });
    all
}
