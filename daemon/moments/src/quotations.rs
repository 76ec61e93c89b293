//! Lines that tools printed, which may be quoted at a prompt, and where a command misses a name that one of them nearly has: only where nothing that was said fits, and to a question that asks
//! for them in their own words. A tool's words are data, and they age: a command that runs again replaces what it printed.

use std::ops::Range;

use crate::durable::DurableKind;
use crate::items::{Item, ItemSource, ItemText, Items};
use crate::missing::{MatchQuality, missing_names, nearest};
use crate::prompt::{PastScores, Query, select_for_prompt};
use crate::text::beginning;
use crate::text::split::sentences;
use crate::text::tokens::tokens;

/// Lines of one output that are kept, the first ones that say something.
const LINES_MAX: usize = 12;
/// Bytes of an output that are read.
const OUTPUT_BYTES_MAX: usize = 8 << 10;
/// Bytes of a line that may be quoted.
const LINE_BYTES: std::ops::RangeInclusive<usize> = 8..=160;
/// Letters that a line has at least: rows of numbers answer nothing.
const LETTERS_MIN: usize = 4;
/// Lines that are compared; with as many more, the oldest half goes.
const KEPT_MAX: usize = 300;

/// The score from which on a line is quoted, how far above the best of what was said, and the share of the question's words.
const SCORE: f32 = 0.35;
const AHEAD: f32 = 0.15;
const OVERLAP: f32 = 0.45;
/// Share of the question's words at which one telling word is enough.
const NEARLY_ALL: f32 = 0.55;
/// Words of the question that stand in the line or its command.
const WORDS_MIN: usize = 2;

/// Starts of questions, also without their mark.
const ASKS: [&str; 7] = ["what", "which", "where", "when", "who", "how", "whose"];

/// What tools printed, prepared for matching.
#[derive(Clone, Debug, Default)]
pub struct Quotations {
    items: Items,
    lines: Vec<QuotedLine>,
}

/// A line that may be quoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotedLine {
    /// The line.
    pub text: String,
    /// The command that printed it.
    pub command: String,
    is_replaced: bool,
}

impl Quotations {
    /// Adds the output of a command and returns the indexes of its lines. Earlier output of the same command is no longer
    /// quoted.
    pub fn push(&mut self, command: &str, output: &str) -> Range<usize> {
        let first = self.lines.len();
        for line in self.lines.iter_mut().filter(|line| line.command == command) {
            line.is_replaced = true;
        }
        for text in quotable(output) {
            self.items.push(Item::new(&ItemText {
                text,
                context: command,
                kind: DurableKind::Fact,
                cue: 1.0,
                source: ItemSource::Tool,
                turn: 0,
                files: &[],
            }));
            self.lines.push(QuotedLine {
                text: text.to_owned(),
                command: command.to_owned(),
                is_replaced: false,
            });
        }
        first..self.lines.len()
    }

    /// Returns how many outputs can be quoted, of outputs whose newest is the first: the lines of older ones are not compared.
    #[must_use]
    pub fn newest_compared<'o>(outputs: impl Iterator<Item = &'o str>) -> usize {
        let mut lines = 0;
        let is_room = |output: &&str| {
            let is_room = lines < KEPT_MAX;
            lines += quotable(output).count();
            is_room
        };
        outputs.take_while(is_room).count()
    }

    /// Whether the maximum number of lines is reached; then create a new collection.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.lines.len() >= 2 * KEPT_MAX
    }

    /// Returns a line.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&QuotedLine> {
        self.lines.get(index)
    }

    /// Returns the line that a question asks for, if nothing that was said fits nearly as well: `said` is the best score of that.
    #[must_use]
    pub fn select(
        &self,
        prompt: &str,
        said: f32,
        is_shown: &dyn Fn(usize) -> bool,
    ) -> Option<usize> {
        if self.items.is_empty() || !is_question(prompt) {
            return None;
        }
        let oldest = self.lines.len().saturating_sub(KEPT_MAX);
        let is_out = |at: usize| {
            at < oldest || is_shown(at) || self.lines.get(at).is_none_or(|line| line.is_replaced)
        };
        let past = PastScores::default();
        let found = select_for_prompt(prompt, &self.items, u64::MAX, &past, &is_out, &|_| None);
        let best = found.items.first()?;
        let features =
            Query::new(prompt, &self.items).features(self.items.get(best.index)?, &self.items);
        let is_meant = features.overlap >= OVERLAP
            && (features.words >= WORDS_MIN
                || features.overlap >= NEARLY_ALL && features.words > 0);
        let is_ahead = best.score >= SCORE && best.score >= said + AHEAD;
        (is_meant && is_ahead).then_some(best.index)
    }
}

impl Quotations {
    /// Returns the line that has the name which a failed command misses, nearly: if the error says that a name of the command
    /// is not there, and one like name alone was printed before. What the command itself printed does not count.
    ///
    /// ```
    /// let mut quotations = lored_moments::Quotations::default();
    /// quotations.push("docker compose ps", "harbour-db postgres:16 Up 3 hours");
    /// let error = "Error response from daemon: No such container: harbor-db";
    /// assert_eq!(quotations.select_for_failure("docker exec harbor-db psql", error, &|_| false), Some(0));
    /// ```
    #[must_use]
    pub fn select_for_failure(
        &self,
        command: &str,
        output: &str,
        is_shown: &dyn Fn(usize) -> bool,
    ) -> Option<usize> {
        let oldest = self.lines.len().saturating_sub(KEPT_MAX);
        let lines = || {
            let lines = self.lines.iter().enumerate().skip(oldest);
            lines.filter(|(_, line)| !line.is_replaced && line.command != command)
        };
        for name in missing_names(command, output) {
            let mut near: Vec<(MatchQuality, String, usize)> = Vec::new();
            let mut is_printed = false;
            for (at, line) in lines() {
                match nearest(&name, &line.text) {
                    Ok(Some((found, word))) => near.push((found, word.to_lowercase(), at)),
                    Ok(None) => {}
                    Err(()) => is_printed = true,
                }
            }
            near.sort();
            let Some((best, word, at)) = near.first() else {
                continue;
            };
            let is_one = near
                .iter()
                .all(|(quality, other, _)| quality != best || other == word);
            if is_one && !is_printed {
                return (!is_shown(*at)).then_some(*at);
            }
        }
        None
    }
}

/// Returns the lines of an output that are kept.
fn quotable(output: &str) -> impl Iterator<Item = &str> {
    let lines = beginning(output, OUTPUT_BYTES_MAX).lines().map(str::trim);
    lines.filter(|line| is_telling(line)).take(LINES_MAX)
}

/// Whether a line says a value of something.
fn is_telling(line: &str) -> bool {
    let letters = line.chars().filter(|c| c.is_alphabetic()).count();
    let has_value = line.contains([':', '=']) || line.contains(|c: char| c.is_ascii_digit());
    let is_code = line.starts_with(['{', '}', '<', '/', '#', '[', '(', '|', '+', '-', '*'])
        || line.ends_with(['{', ';', ',', '(']);
    LINE_BYTES.contains(&line.len()) && letters >= LETTERS_MIN && has_value && !is_code
}

fn is_question(prompt: &str) -> bool {
    sentences(prompt).iter().any(|one| {
        let first = tokens(&one.text).into_iter().find(|token| !token.is_mark());
        one.is_question || first.is_some_and(|first| ASKS.contains(&first.text.as_str()))
    })
}
