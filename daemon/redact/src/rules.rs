//! The rules in force, and the replacement of finds.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use regex_automata::meta::Regex;

use super::custom::{self, CustomRule};
use super::find::{FINDER, Span};
use super::{Error, Finding, SecretCounts, Settings};

/// Beginning of a redaction mark; the kind and `]` follow.
pub(super) const MARK: &str = "[redacted:";
/// Limit on passes over a text with finds: a replacement may reveal another secret.
pub(super) const PASSES_MAX: usize = 4;

/// The enabled kinds and the allowed values.
#[derive(Debug)]
pub struct Rules {
    pub(super) is_enabled: bool,
    /// Whether a kind is disabled, by its index in the lists.
    pub(super) off: Vec<bool>,
    pub(super) allowed: HashSet<String>,
    pub(super) allowed_patterns: Vec<Regex>,
    pub(super) own: Vec<CustomRule>,
    /// Names of all kinds, the built-in ones first.
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
    /// Compiles the rules from settings.
    ///
    /// # Errors
    /// When the settings name an unknown kind or an invalid pattern.
    pub fn new(settings: &Settings) -> Result<Self, Error> {
        custom::rules(settings)
    }

    /// Returns the secrets of a text, ordered and without overlap.
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

    /// Redacts a named text.
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

    /// Returns for each span the new position of the text after its replacement.
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

    /// Returns the spans to replace: ordered, without overlap, and excluding redaction marks.
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
/// Returns the ranges of redaction marks.
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

/// Sorts spans and merges overlapping ones, using the kind of the first and longest. For equal spans, the kind that comes
/// first in the lists wins.
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
