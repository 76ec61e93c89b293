//! One rule of a kind: a pattern made ready, and what it finds.

use super::check::Check;
use super::error::Reason;
use super::facts::Facts;
use super::{COMPILED_BYTES_MAX, PATTERN_BYTES_MAX};
use crate::entities::recognise::NAME_BYTES_MAX;
use crate::entities::recognise::edges::{Edges, without_punctuation};
use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};
use std::ops::Range;

/// A pattern that finds names of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    /// The kind, by its place in the set.
    pub(crate) kind: usize,
    pub(crate) confidence: f32,
    pub(super) regex: Regex,
    /// What every match has.
    pub(super) facts: Facts,
    /// Which group is the name; without it the first group that took part, or all of the match.
    pub(super) group: Option<usize>,
    pub(super) check: Option<Check>,
    /// Names that are none, matched whole.
    pub(super) except: Option<Regex>,
    pub(super) edges: Edges,
}

/// A match of a pattern.
pub(super) struct Matched {
    /// Where the next one is looked for.
    pub(super) end: usize,
    /// The span of the name, unless a check refused it.
    pub(super) name: Option<(usize, usize)>,
}

impl Rule {
    /// The spans of all names in a part of a text, in order; what is around it is seen. One pass: what a
    /// pattern matched and a check refused is not searched again.
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

    /// The match that begins at a place.
    pub(super) fn find_at(&self, text: &str, at: usize) -> Option<Matched> {
        self.matched(text, &Input::new(text).range(at..).anchored(Anchored::Yes))
    }

    fn matched(&self, text: &str, input: &Input<'_>) -> Option<Matched> {
        let (whole, span) = if self.regex.captures_len() > 1 {
            let mut captures = self.regex.create_captures();
            self.regex.search_captures(input, &mut captures);
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
            let whole = self.regex.search(input)?.range();
            (whole.clone(), Some(whole))
        };
        let name = span
            .filter(|_| self.edges.allow(text, whole.start, whole.end))
            .and_then(|span| self.name_within(text, span));
        // A pattern may match nothing, such as a boundary: then the next character is tried.
        let mut end = whole.end.max(input.start() + 1);
        while end < text.len() && !text.is_char_boundary(end) {
            end += 1;
        }
        Some(Matched { end, name })
    }

    /// Whether a name that a field holds fails this rule's check.
    pub(crate) fn refuses(&self, name: &str) -> bool {
        self.check.is_some_and(|check| !check.passes(name))
    }

    /// The span without punctuation, if what it holds may be a name.
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

/// A pattern, compiled within its bounds, and what every match of it has.
pub(super) fn compile(pattern: &str) -> Result<(Regex, Facts), Reason> {
    let bytes = pattern.len();
    if bytes > PATTERN_BYTES_MAX {
        return Err(Reason::PatternTooLong { bytes });
    }
    let parsed = regex_syntax::parse(pattern).map_err(|error| fault(&error))?;
    let config = Regex::config()
        .nfa_size_limit(Some(COMPILED_BYTES_MAX))
        .hybrid_cache_capacity(COMPILED_BYTES_MAX);
    let regex = Regex::builder()
        .configure(config)
        .build_from_hir(&parsed)
        .map_err(|_| Reason::PatternTooLarge)?;
    Ok((regex, Facts::of(&parsed)))
}

/// The whole text of a name matches `pattern`.
pub(super) fn compile_whole(pattern: &str) -> Result<Regex, Reason> {
    compile(pattern)?;
    compile(&format!("^(?:{pattern})$")).map(|(regex, _)| regex)
}

/// Where and why a pattern is no regex.
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
