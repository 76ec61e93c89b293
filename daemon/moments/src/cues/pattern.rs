//! Patterns of words, and how they match.
//!
//! A pattern is a sequence of words between spaces: `a|b` is one of both, a `*` at the end stands for any ending, `~` for up to
//! four words, `?word` for a word that may be missing, `#` for a number or a name. At the start `^` stands for the start of a
//! clause, and `<` for a place in the first clause.

use super::{By, CueSum};
use crate::durable::{DurableKind, Speaker};
use crate::text::list::WordList;
use crate::text::tokens::Token;

/// Words that `~` stands for at most.
const GAP_MAX: usize = 4;

/// Words that may stand before a clause without being a part of it.
static OPENERS: WordList = WordList::new(
    "yeah yep nope hmm hm no btw oh ah cool actually and but so then also please or just ok okay yes well right remember note important plus und aber bitte also \
    dann auch et mais alors aussi y pero por favor svp to be",
);

/// A line of a table of cues: kind (none for what speaks against), weight, who says it, and patterns, one a line.
pub type CueRow = (Option<DurableKind>, f32, By, &'static str);

enum Part {
    Word(Vec<(String, bool)>),
    Gap,
    Specific,
}

struct Pattern {
    parts: Vec<(Part, bool)>,
    is_anchored: bool,
    /// Whether it has to begin in the first clause.
    is_first: bool,
}

struct Cue {
    kind: Option<DurableKind>,
    weight: f32,
    by: By,
    pattern: Pattern,
}

/// The cues of a language.
pub struct Cues {
    cues: Vec<Cue>,
}

impl Cues {
    /// Reads a table.
    #[must_use]
    pub fn new(rows: &[CueRow]) -> Self {
        let cues = rows.iter().flat_map(|(kind, weight, by, patterns)| {
            patterns
                .lines()
                .map(str::trim)
                .filter(|line| !line.is_empty())
                .map(|line| Cue {
                    kind: *kind,
                    weight: *weight,
                    by: *by,
                    pattern: Pattern::new(line),
                })
        });
        Self {
            cues: cues.collect(),
        }
    }

    /// Adds up the cues of a sentence.
    #[must_use]
    pub fn sum(&self, tokens: &[Token], speaker: Speaker) -> CueSum {
        let (mut best, mut second) = ((0.0_f32, None), 0.0_f32);
        let (mut support, mut against) = (0.0_f32, 0.0_f32);
        for cue in self.cues.iter().filter(|cue| cue.by.includes(speaker)) {
            let is_needed = match cue.kind {
                Some(_) => cue.weight > second,
                None => cue.weight < against || cue.weight > support,
            };
            if !is_needed || !cue.pattern.is_in(tokens) {
                continue;
            }
            match cue.kind {
                Some(kind) if cue.weight > best.0 => {
                    if best.1 != Some(kind) {
                        second = best.0;
                    }
                    best = (cue.weight, Some(kind));
                }
                Some(kind) if best.1 != Some(kind) => second = cue.weight,
                Some(_) => {}
                None if cue.weight < 0.0 => against = cue.weight,
                None => support = cue.weight,
            }
        }
        CueSum {
            weight: best.0 + 0.5 * second + support + against,
            kind: best.1,
        }
    }
}

impl Pattern {
    fn new(line: &str) -> Self {
        let is_anchored = line.starts_with('^');
        let is_first = line.starts_with('<');
        let parts = line
            .trim_start_matches(['^', '<'])
            .split_whitespace()
            .map(|word| {
                let is_optional = word.len() > 1 && word.starts_with('?');
                let word = if is_optional {
                    word.trim_start_matches('?')
                } else {
                    word
                };
                let part = match word {
                    "~" => Part::Gap,
                    "#" => Part::Specific,
                    _ => Part::Word(word.split('|').map(alternative).collect()),
                };
                (part, is_optional)
            });
        Self {
            parts: parts.collect(),
            is_anchored,
            is_first,
        }
    }

    fn is_in(&self, tokens: &[Token]) -> bool {
        let end = if self.is_first {
            first_clause(tokens)
        } else {
            tokens.len()
        };
        (0..end).any(|at| {
            (!self.is_anchored || is_clause_start(tokens, at)) && matches(&self.parts, tokens, at)
        })
    }
}

fn alternative(word: &str) -> (String, bool) {
    match word.strip_suffix('*') {
        Some(stem) if !stem.is_empty() => (stem.to_owned(), true),
        _ => (word.to_owned(), false),
    }
}

/// Words of a clause at least: before, a comma follows an address or an answer.
const CLAUSE_WORDS_MIN: usize = 3;

/// Returns where the first clause ends. What follows often gives its reason, of whatever time: "X only, Y was slow last time".
fn first_clause(tokens: &[Token]) -> usize {
    let ends = |(at, token): (usize, &Token)| {
        at >= CLAUSE_WORDS_MIN && matches!(token.text.as_str(), "," | ";" | ":")
    };
    let end = tokens.iter().enumerate().position(ends);
    end.unwrap_or(tokens.len())
}

/// Whether a clause starts at a token.
fn is_clause_start(tokens: &[Token], at: usize) -> bool {
    match at.checked_sub(1).and_then(|before| tokens.get(before)) {
        None => true,
        Some(before) => before.is_mark() || OPENERS.has(&before.text),
    }
}

fn matches(parts: &[(Part, bool)], tokens: &[Token], at: usize) -> bool {
    let Some(((part, is_optional), rest)) = parts.split_first() else {
        return true;
    };
    if *is_optional && matches(rest, tokens, at) {
        return true;
    }
    if matches!(part, Part::Gap) {
        for skipped in 0..=GAP_MAX {
            if matches(rest, tokens, at + skipped) {
                return true;
            }
            // A gap does not go on in another clause.
            if tokens
                .get(at + skipped)
                .is_none_or(|token| matches!(token.text.as_str(), "," | ";" | "." | "(" | "?"))
            {
                return false;
            }
        }
        return false;
    }
    let Some(token) = tokens.get(at) else {
        return false;
    };
    let is_hit = match part {
        Part::Gap => false,
        Part::Specific => token.is_specific,
        Part::Word(words) => words.iter().any(|(word, is_stem)| {
            if *is_stem {
                token.text.starts_with(word.as_str())
            } else {
                token.text == *word
            }
        }),
    };
    is_hit && matches(rest, tokens, at + 1)
}
