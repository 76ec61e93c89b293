//! One rule of a kind: its compiled pattern and its search.

use super::check::Check;
use super::error::Reason;
use super::facts::PatternFacts;
use super::{COMPILED_BYTES_MAX, PATTERN_BYTES_MAX};
use crate::edges::{Edges, without_punctuation};
use crate::{BREAK, NAME_BYTES_MAX};
use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};
use std::ops::Range;
use std::sync::OnceLock;

/// When patterns are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CompileMode {
    /// While reading, so that faults are reported.
    Now,
    /// At the first use. Built-in patterns are known to be valid, and most texts need few of them.
    AtFirstUse,
}

/// A pattern, compiled on demand because each compilation takes some hundred kilobytes and milliseconds.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    text: Box<str>,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    fn new(text: &str) -> Self {
        Self {
            text: text.into(),
            compiled: OnceLock::new(),
        }
    }

    /// Returns the regex; `None` only for a pattern that [`CompileMode::Now`] would reject.
    fn regex(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| build(&self.text)).as_ref()
    }

    fn is_match(&self, text: &str) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(text))
    }
}

fn build(pattern: &str) -> Option<Regex> {
    let config = Regex::config()
        .nfa_size_limit(Some(COMPILED_BYTES_MAX))
        .hybrid_cache_capacity(COMPILED_BYTES_MAX);
    Regex::builder().configure(config).build(pattern).ok()
}

/// A pattern that finds names of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    /// Index of the kind in the set.
    pub(crate) kind: usize,
    pub(crate) confidence: f32,
    pub(super) pattern: Pattern,
    /// Facts about every match.
    pub(super) facts: PatternFacts,
    /// The group that holds the name. By default, the first group that took part, or the whole match.
    pub(super) group: Option<usize>,
    pub(super) check: Option<Check>,
    /// Pattern of texts that are not names; it matches the whole text.
    pub(super) except: Option<Pattern>,
    pub(super) edges: Edges,
}

/// A match of a pattern.
pub(super) struct RuleMatch {
    /// Offset where the next search starts.
    pub(super) end: usize,
    /// The span of the name, unless a check rejected it.
    pub(super) name: Option<(usize, usize)>,
}

impl Rule {
    /// Returns the spans of all names within a range of a text, in order. Boundaries consider the text around the
    /// range. The search is one pass: a match that a check rejects is not searched again.
    pub(super) fn find<'a>(
        &'a self,
        text: &'a str,
        within: Range<usize>,
    ) -> impl Iterator<Item = (usize, usize)> + 'a {
        let mut from = within.start;
        std::iter::from_fn(move || {
            while from <= within.end {
                let matched = self.matched(text, &Input::new(text).range(from..within.end))?;
                from = matched.end;
                if matched.name.is_some() {
                    return matched.name;
                }
            }
            None
        })
    }

    /// Returns the match that begins at an offset.
    pub(super) fn find_at(&self, text: &str, at: usize) -> Option<RuleMatch> {
        self.matched(text, &Input::new(text).range(at..).anchored(Anchored::Yes))
    }

    fn matched(&self, text: &str, input: &Input<'_>) -> Option<RuleMatch> {
        let regex = self.pattern.regex()?;
        let (whole, span) = if regex.captures_len() > 1 {
            let mut captures = regex.create_captures();
            regex.search_captures(input, &mut captures);
            let whole = captures.get_match()?.range();
            let name = match self.group {
                Some(group) => captures.get_group(group),
                None => captures
                    .iter()
                    .skip(1)
                    .flatten()
                    .next()
                    .or(Some(whole.clone().into())),
            };
            (whole, name.map(|name| name.range()))
        } else {
            let whole = regex.search(input)?.range();
            (whole.clone(), Some(whole))
        };
        let name = span
            .filter(|_| self.edges.allow(text, whole.start, whole.end))
            .filter(|_| {
                !text
                    .get(whole.clone())
                    .is_some_and(|text| text.contains(BREAK))
            })
            .and_then(|span| self.name_within(text, span));
        // A match may be empty, such as a boundary; the search then continues at the next character.
        let mut end = whole.end.max(input.start() + 1);
        while end < text.len() && !text.is_char_boundary(end) {
            end += 1;
        }
        Some(RuleMatch { end, name })
    }

    /// Returns whether a name from a field fails this rule's check.
    pub(crate) fn refuses(&self, name: &str) -> bool {
        self.check.is_some_and(|check| !check.passes(name))
    }

    /// Trims punctuation from a span; `None` if the rest cannot be a name.
    fn name_within(&self, text: &str, span: std::ops::Range<usize>) -> Option<(usize, usize)> {
        let name = text.get(span.clone())?;
        if name.len() > NAME_BYTES_MAX {
            return None;
        }
        let name = without_punctuation(name);
        let is_name = name.chars().any(char::is_alphanumeric)
            && self.check.is_none_or(|check| check.passes(name))
            && !self
                .except
                .as_ref()
                .is_some_and(|except| except.is_match(name));
        is_name.then_some((span.start, span.start + name.len()))
    }
}

/// Parses a pattern within the limits, and returns it with the facts about its matches.
pub(super) fn read(text: &str, compiling: CompileMode) -> Result<(Pattern, PatternFacts), Reason> {
    let bytes = text.len();
    if bytes > PATTERN_BYTES_MAX {
        return Err(Reason::PatternTooLong { bytes });
    }
    let parsed = regex_syntax::parse(text).map_err(|error| fault(&error))?;
    let pattern = Pattern::new(text);
    if compiling == CompileMode::Now && pattern.regex().is_none() {
        return Err(Reason::PatternTooLarge);
    }
    let could_be_empty = parsed.properties().minimum_len() == Some(0);
    if could_be_empty && pattern.is_match("") {
        return Err(Reason::PatternEmpty);
    }
    Ok((pattern, PatternFacts::of(&parsed)))
}

/// Returns the number of capture groups in a pattern.
pub(super) fn groups(text: &str) -> usize {
    regex_syntax::parse(text).map_or(0, |parsed| parsed.properties().explicit_captures_len())
}

/// Parses a pattern that must match a whole name.
pub(super) fn read_whole(pattern: &str, compiling: CompileMode) -> Result<Pattern, Reason> {
    regex_syntax::parse(pattern).map_err(|error| fault(&error))?;
    let whole = Pattern::new(&format!("^(?:{pattern})$"));
    if compiling == CompileMode::Now && whole.regex().is_none() {
        return Err(Reason::PatternTooLarge);
    }
    Ok(whole)
}

/// Returns the position and reason of an invalid pattern.
fn fault(error: &regex_syntax::Error) -> Reason {
    let (start, message) = match error {
        regex_syntax::Error::Parse(error) => (error.span().start.offset, error.kind().to_string()),
        regex_syntax::Error::Translate(error) => {
            (error.span().start.offset, error.kind().to_string())
        }
        other => (0, other.to_string()),
    };
    Reason::Pattern {
        position: start,
        message,
    }
}
