//! The order of keys, and sorting the members of a text.

use std::cmp::Ordering;
use std::ops::Range;

use super::text::unescaped;
use super::{Canonical, Entry};

/// Compares unescaped keys by UTF-16 code units, the order of a canonical object (RFC 8785, section 3.2.3).
#[must_use]
pub fn key_order(a: &str, b: &str) -> Ordering {
    a.bytes().map(weight).cmp(b.bytes().map(weight))
}

/// UTF-8 order equals UTF-16 order with one exception. Characters beyond the first plane (first bytes 0xf0 to 0xf4)
/// are surrogates in UTF-16, which come before U+E000 (first bytes 0xee and 0xef).
fn weight(byte: u8) -> u8 {
    match byte {
        0xee | 0xef => byte | 0xf0,
        _ => byte,
    }
}

/// A key and its value in a text whose objects are not sorted yet; offsets in bytes.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// Offset of the key's opening quote.
    pub start: usize,
    /// Offset after the key's closing quote, at the colon.
    pub key_end: usize,
    /// Offset after the value.
    pub end: usize,
    /// Offset of the key in the original text.
    pub came_at: usize,
}

impl Member {
    /// Returns the key as written, without quotes.
    fn key<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.start + 1..self.key_end - 1)
            .unwrap_or_default()
    }

    /// Returns the unescaped key.
    pub(super) fn unescaped_key(&self, text: &str) -> String {
        let key = self.key(text);
        if !key.contains('\\') {
            return key.to_owned();
        }
        let key: Vec<u8> = unescaped(key).collect();
        String::from_utf8_lossy(&key).into_owned()
    }

    /// Compares this key with another.
    pub(super) fn order(&self, other: &Self, text: &str) -> Ordering {
        let (own, other) = (self.key(text), other.key(text));
        // Most keys are plain: no escapes, and byte order equals UTF-16 order.
        let is_plain = |key: &str| key.bytes().all(|byte| byte < 0xee && byte != b'\\');
        if is_plain(own) && is_plain(other) {
            return own.cmp(other);
        }
        unescaped(own).map(weight).cmp(unescaped(other).map(weight))
    }
}

/// A nested object whose members were not in order.
#[derive(Debug)]
pub(super) struct UnsortedObject {
    /// Range of the object in the text.
    pub span: Range<usize>,
    /// Number of shuffled objects inside it.
    pub inside: usize,
    /// Sorted members.
    pub members: Vec<Member>,
}

/// Output of the reader: a text that is canonical except for the order of members.
#[derive(Debug)]
pub(super) struct UnsortedText {
    pub text: String,
    /// Sorted members of the outermost object.
    pub members: Vec<Member>,
    /// Whether the text already has that order.
    pub in_order: bool,
    /// Objects to rewrite, inner ones before outer ones.
    pub shuffled: Vec<UnsortedObject>,
}

impl UnsortedText {
    /// Sorts the text; it is copied at most once, at any nesting depth.
    pub(super) fn arrange(mut self) -> Canonical {
        if self.in_order && self.shuffled.is_empty() {
            let entry = |member| entry(member, &self.text, member.start, member.end);
            let entries = self.members.iter().map(entry).collect();
            return Canonical {
                text: self.text,
                entries,
            };
        }
        // Ordered by their beginning: outer objects before inner ones.
        self.shuffled
            .sort_unstable_by_key(|object| object.span.start);
        let mut text = String::with_capacity(self.text.len());
        let mut entries = Vec::with_capacity(self.members.len());
        text.push('{');
        for member in &self.members {
            if text.len() > 1 {
                text.push(',');
            }
            let start = text.len();
            self.write(member.start..member.end, &self.shuffled, &mut text);
            entries.push(entry(member, &self.text, start, text.len()));
        }
        text.push('}');
        Canonical { text, entries }
    }

    /// Appends a span of the text with its shuffled objects sorted. The recursion depth equals the nesting depth.
    fn write(&self, span: Range<usize>, shuffled: &[UnsortedObject], out: &mut String) {
        let first = shuffled.partition_point(|object| object.span.start < span.start);
        let mut rest = shuffled.get(first..).unwrap_or_default();
        let mut at = span.start;
        while let Some((object, after)) = rest.split_first()
            && object.span.start < span.end
        {
            let (inside, after) = after.split_at_checked(object.inside).unwrap_or_default();
            self.copy(at..object.span.start, out);
            let mut separator = '{';
            for member in &object.members {
                out.push(separator);
                self.write(member.start..member.end, inside, out);
                separator = ',';
            }
            out.push('}');
            at = object.span.end;
            rest = after;
        }
        self.copy(at..span.end, out);
    }

    fn copy(&self, span: Range<usize>, out: &mut String) {
        out.push_str(self.text.get(span).unwrap_or_default());
    }
}

/// Builds the entry of a member that was moved by sorting.
fn entry(member: &Member, unordered: &str, start: usize, end: usize) -> Entry {
    let colon = start + (member.key_end - member.start);
    Entry {
        key: member.unescaped_key(unordered),
        member: start..end,
        value: colon + 1..end,
    }
}
