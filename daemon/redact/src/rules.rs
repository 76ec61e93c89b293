//! What is looked for, and how what is found is replaced.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use regex_automata::meta::Regex;

use super::custom::{self, CustomRule};
use super::find::{FINDER, Span};
use super::{Error, Finding, SecretCounts, Settings};

/// What a replaced secret begins with; its kind and `]` follow.
pub(super) const MARK: &str = "[redacted:";
/// Passes over a text in which something was found: what the first one took away may have stood in the
/// way of another find.
pub(super) const PASSES_MAX: usize = 4;

/// The kinds that are looked for, and what is never redacted.
#[derive(Debug)]
pub struct Rules {
    pub(super) is_enabled: bool,
    /// Kinds that are not looked for, by their places in the lists.
    pub(super) off: Vec<bool>,
    pub(super) allowed: HashSet<String>,
    pub(super) allowed_patterns: Vec<Regex>,
    pub(super) own: Vec<CustomRule>,
    /// Every kind's name, the built-in ones first.
    pub(super) kinds: Vec<Arc<str>>,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            is_enabled: true,
            off: vec![false; FINDER.ids.len()],
            allowed: HashSet::new(),
            allowed_patterns: Vec::new(),
            own: Vec::new(),
            kinds: FINDER.ids.iter().map(|id| Arc::from(*id)).collect(),
        }
    }
}

impl Rules {
    /// With these settings.
    ///
    /// # Errors
    /// When they name a kind that is none, or a pattern that cannot be used.
    pub fn new(settings: &Settings) -> Result<Self, Error> {
        custom::rules(settings)
    }

    /// Where the secrets of a text are, in their order; apart from each other.
    pub(super) fn findings(&self, text: &str) -> Vec<Finding> {
        let spans = self.spans(None, text).into_iter();
        let kind = |span: &Span| self.kinds.get(span.kind).map(Arc::clone);
        spans
            .filter_map(|span| {
                Some(Finding {
                    kind: kind(&span)?,
                    range: span.range,
                })
            })
            .collect()
    }

    /// A text that stands under a name, without its secrets.
    pub(super) fn under<'t>(
        &self,
        name: Option<&str>,
        text: &'t str,
        found: &mut SecretCounts,
    ) -> Cow<'t, str> {
        let mut now = Cow::Borrowed(text);
        for _ in 0..PASSES_MAX {
            let spans = self.spans(name, &now);
            if spans.is_empty() {
                break;
            }
            now = Cow::Owned(self.replaced(&now, &spans, found));
        }
        now
    }

    pub(super) fn replaced(&self, text: &str, spans: &[Span], found: &mut SecretCounts) -> String {
        let mut out = String::with_capacity(text.len());
        let mut from = 0;
        for span in spans {
            let Some(kind) = self.kinds.get(span.kind) else {
                continue;
            };
            out.push_str(text.get(from..span.range.start).unwrap_or_default());
            out.push_str(MARK);
            out.push_str(kind);
            out.push(']');
            from = span.range.end;
            found.add(kind);
        }
        out.push_str(text.get(from..).unwrap_or_default());
        out
    }

    /// Where the text behind each span is after its replacement.
    pub(super) fn moves(&self, spans: &[Span]) -> Vec<(Range<usize>, usize)> {
        let mut from = 0;
        let mut now = 0;
        let after = |span: &Span| {
            let kind = self.kinds.get(span.kind).map_or(0, |kind| kind.len());
            now += span.range.start - from + MARK.len() + kind + 1;
            from = span.range.end;
            (span.range.clone(), now)
        };
        spans.iter().map(after).collect()
    }

    /// What is to be replaced: in order, apart from each other, and no mark.
    pub(super) fn spans(&self, name: Option<&str>, text: &str) -> Vec<Span> {
        let mut spans = Vec::new();
        if !self.is_enabled {
            return spans;
        }
        FINDER.find(text, &mut spans);
        spans.extend(name.and_then(|name| FINDER.under(name, text)));
        spans.retain(|span| !self.off.get(span.kind).copied().unwrap_or_default());
        for (number, own) in self.own.iter().enumerate() {
            own.find(text, FINDER.ids.len() + number, &mut spans);
        }
        if spans.is_empty() {
            return spans;
        }
        spans.retain(|span| !self.is_allowed(text.get(span.range.clone()).unwrap_or_default()));
        let marks = marks(text);
        spans.retain(|span| {
            let next = marks.partition_point(|mark| mark.end <= span.range.start);
            marks
                .get(next)
                .is_none_or(|mark| span.range.end <= mark.start)
        });
        apart(spans)
    }

    fn is_allowed(&self, secret: &str) -> bool {
        self.allowed.contains(secret)
            || self.allowed_patterns.iter().any(|pattern| {
                pattern
                    .find(secret)
                    .is_some_and(|found| found.range() == (0..secret.len()))
            })
    }
}
/// Where marks of what was replaced are.
fn marks(text: &str) -> Vec<Range<usize>> {
    let is_of_kind =
        |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
    let begin = text.match_indices(MARK);
    let mark = |(start, _): (usize, &str)| {
        let kind = start + MARK.len();
        let length = text
            .as_bytes()
            .get(kind..)?
            .iter()
            .take(64)
            .take_while(|byte| is_of_kind(byte))
            .count();
        let end = kind + length;
        (text.as_bytes().get(end) == Some(&b']')).then_some(start..end + 1)
    };
    begin.filter_map(mark).collect()
}

/// Spans in order, where those that overlap are one, of the kind of the first and longest; of the same
/// span the kind that comes first in the lists.
fn apart(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| (span.range.start, usize::MAX - span.range.end, span.kind));
    let mut apart: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match apart.last_mut() {
            Some(last) if span.range.start < last.range.end => {
                last.range.end = last.range.end.max(span.range.end);
            }
            Some(_) | None => apart.push(span),
        }
    }
    apart
}
