//! One rule of a kind: a pattern made ready, and what it finds.

use super::check::Check;
use super::error::Reason;
use super::facts::PatternFacts;
use super::{COMPILED_BYTES_MAX, PATTERN_BYTES_MAX};
use crate::NAME_BYTES_MAX;
use crate::edges::{Edges, without_punctuation};
use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};
use std::ops::Range;
use std::sync::OnceLock;

/// Whether patterns are compiled when they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CompileMode {
    /// At once, so that what is wrong with one is told.
    Now,
    /// Each at its first use: of those that are built in, and known to be right, most texts need few.
    AtFirstUse,
}

/// A pattern that is compiled when it is needed: some hundred kilobytes and milliseconds each.
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

    /// The regex; `None` only for a pattern that [`CompileMode::Now`] would have refused.
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
    /// The kind, by its place in the set.
    pub(crate) kind: usize,
    pub(crate) confidence: f32,
    pub(super) pattern: Pattern,
    /// What every match has.
    pub(super) facts: PatternFacts,
    /// Which group is the name; without it the first group that took part, or all of the match.
    pub(super) group: Option<usize>,
    pub(super) check: Option<Check>,
    /// Names that are none, matched whole.
    pub(super) except: Option<Pattern>,
    pub(super) edges: Edges,
}

/// A match of a pattern.
pub(super) struct RuleMatch {
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
            .and_then(|span| self.name_within(text, span));
        // A pattern may match nothing, such as a boundary: then the next character is tried.
        let mut end = whole.end.max(input.start() + 1);
        while end < text.len() && !text.is_char_boundary(end) {
            end += 1;
        }
        Some(RuleMatch { end, name })
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

/// A pattern within its bounds, and what every match of it has.
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

/// How many groups a pattern has.
pub(super) fn groups(text: &str) -> usize {
    regex_syntax::parse(text).map_or(0, |parsed| parsed.properties().explicit_captures_len())
}

/// The whole text of a name matches `pattern`.
pub(super) fn read_whole(pattern: &str, compiling: CompileMode) -> Result<Pattern, Reason> {
    regex_syntax::parse(pattern).map_err(|error| fault(&error))?;
    let whole = Pattern::new(&format!("^(?:{pattern})$"));
    if compiling == CompileMode::Now && whole.regex().is_none() {
        return Err(Reason::PatternTooLarge);
    }
    Ok(whole)
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
