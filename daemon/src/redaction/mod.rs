//! Secrets taken out of what comes in, before it is recorded: keys, tokens, passwords are replaced by
//! `[redacted:KIND]`, and what surrounds them stays.
//!
//! Pure: texts go in and come out. What is found depends on the text and the settings alone; a text
//! that was redacted comes out as it is. There is no way back, and nothing remembers what was there.

mod address;
mod assignment;
mod find;
mod found;
mod json;
mod keywords;
pub mod kinds;
mod names;
mod own;
#[cfg(test)]
mod tests;
mod value;
mod values;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use regex_automata::meta::Regex;
use serde_json::Value;

use find::{FINDER, Span};
use own::Own;

pub use found::Found;
pub use own::{Error, OwnRule, Settings};

/// What a replaced secret begins with; its kind and `]` follow.
const MARK: &str = "[redacted:";
/// Passes over a text in which something was found: what the first one took away may have stood in the
/// way of another find.
const PASSES_MAX: usize = 4;

/// Replaces secrets by the names of their kinds, and counts them.
#[derive(Debug)]
pub struct Redactor {
    is_enabled: bool,
    /// Kinds that are not looked for, by their places in the lists.
    off: Vec<bool>,
    allowed: HashSet<String>,
    allowed_patterns: Vec<Regex>,
    own: Vec<Own>,
    /// Every kind's name, the built-in ones first.
    kinds: Vec<Arc<str>>,
    counts: Vec<AtomicU64>,
}

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its kind.
    pub kind: Arc<str>,
    /// Where it is, in bytes.
    pub range: Range<usize>,
}

/// Where the places of a text are after it was redacted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// For each pass what was replaced, and where the text behind it is since then.
    passes: Vec<Vec<(Range<usize>, usize)>>,
}

impl Places {
    /// Where a place is now. Those within a secret are behind what stands for it.
    #[must_use]
    pub fn now(&self, at: usize) -> usize {
        self.passes.iter().fold(at, |at, moves| {
            let next = moves.partition_point(|(was, _)| was.start < at);
            match next.checked_sub(1).and_then(|last| moves.get(last)) {
                Some((was, now)) => now + at.saturating_sub(was.end),
                None => at,
            }
        })
    }
}

impl Default for Redactor {
    fn default() -> Self {
        Self {
            is_enabled: true,
            off: vec![false; FINDER.ids.len()],
            allowed: HashSet::new(),
            allowed_patterns: Vec::new(),
            own: Vec::new(),
            kinds: FINDER.ids.iter().map(|id| Arc::from(*id)).collect(),
            counts: FINDER.ids.iter().map(|_| AtomicU64::new(0)).collect(),
        }
    }
}

impl Redactor {
    /// With these settings.
    ///
    /// # Errors
    /// When they name a kind that is none, or a pattern that cannot be used.
    pub fn new(settings: &Settings) -> Result<Self, Error> {
        own::redactor(settings)
    }

    /// Whether anything is looked for.
    #[must_use]
    pub const fn is_enabled(&self) -> bool {
        self.is_enabled
    }

    /// How many of which kind were replaced, of those that were.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<String, u64> {
        let counted = self.kinds.iter().zip(&self.counts);
        counted
            .map(|(kind, count)| (kind.to_string(), count.load(Ordering::Relaxed)))
            .filter(|(_, count)| *count > 0)
            .collect()
    }

    /// A text without its secrets; what was replaced is added to `found`.
    pub fn text<'t>(&self, text: &'t str, found: &mut Found) -> Cow<'t, str> {
        self.counting(found, |found| self.under(None, text, found))
    }

    /// The same for a text of which places are known: where each of them is now. `None` when nothing was
    /// found.
    pub fn text_with_places(&self, text: &str, found: &mut Found) -> Option<(String, Places)> {
        let mut places = Places::default();
        let redacted = self.counting(found, |found| {
            let mut now = Cow::Borrowed(text);
            for _ in 0..PASSES_MAX {
                let spans = self.spans(None, &now);
                if spans.is_empty() {
                    break;
                }
                places.passes.push(self.moves(&spans));
                now = Cow::Owned(self.replaced(&now, &spans, found));
            }
            now
        });
        match redacted {
            Cow::Borrowed(_) => None,
            Cow::Owned(text) => Some((text, places)),
        }
    }

    /// A JSON text without the secrets in its strings, which are judged as they read and by the names
    /// they stand under; several JSON texts may follow each other. Keys stay in their order and numbers
    /// in their digits. What is no JSON stays as it is.
    pub fn json<'j>(&self, json: &'j [u8], found: &mut Found) -> Cow<'j, [u8]> {
        match std::str::from_utf8(json) {
            Ok(text) if self.is_enabled => {
                match self.counting(found, |found| json::redact(self, text, found)) {
                    Some(Cow::Owned(text)) => Cow::Owned(text.into_bytes()),
                    Some(Cow::Borrowed(_)) | None => Cow::Borrowed(json),
                }
            }
            Ok(_) | Err(_) => Cow::Borrowed(json),
        }
    }

    /// The same for JSON that was taken apart, in its place.
    pub fn value(&self, value: &mut Value, found: &mut Found) {
        if self.is_enabled {
            self.counting(found, |found| value::redact(self, value, found));
        }
    }

    /// Where the secrets of a text are, in their order; nothing is counted.
    #[must_use]
    pub fn findings(&self, text: &str) -> Vec<Finding> {
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

    /// Counts what some work finds.
    fn counting<T>(&self, found: &mut Found, work: impl FnOnce(&mut Found) -> T) -> T {
        let mut own = Found::default();
        let done = work(&mut own);
        for (kind, count) in own.iter() {
            let place = self.kinds.iter().position(|known| **known == *kind);
            if let Some(counted) = place.and_then(|place| self.counts.get(place)) {
                counted.fetch_add(count, Ordering::Relaxed);
            }
        }
        found.add_all(own);
        done
    }

    /// A text that stands under a name, without its secrets.
    fn under<'t>(&self, name: Option<&str>, text: &'t str, found: &mut Found) -> Cow<'t, str> {
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

    fn replaced(&self, text: &str, spans: &[Span], found: &mut Found) -> String {
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
    fn moves(&self, spans: &[Span]) -> Vec<(Range<usize>, usize)> {
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
    fn spans(&self, name: Option<&str>, text: &str) -> Vec<Span> {
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
