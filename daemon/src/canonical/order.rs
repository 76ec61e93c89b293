//! The order of keys, and a text's members brought into it.

use std::cmp::Ordering;
use std::ops::Range;

use super::text::unescaped;
use super::{Canonical, Entry};

/// The order of unescaped keys in a canonical object: by UTF-16 code units (RFC 8785, section 3.2.3).
#[must_use]
pub fn key_order(a: &str, b: &str) -> Ordering {
    a.bytes().map(weight).cmp(b.bytes().map(weight))
}

/// UTF-8 is in the order of UTF-16 but for this: there, characters beyond the first plane (first
/// bytes from 0xf0 to 0xf4) are surrogates, which come before U+E000 (first bytes 0xee and 0xef).
fn weight(byte: u8) -> u8 {
    match byte {
        0xee | 0xef => byte | 0xf0,
        _ => byte,
    }
}

/// A key and its value in a text whose objects are not yet in order: offsets in bytes.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// Where the key's opening quote is.
    pub start: usize,
    /// Behind the key's closing quote, at the colon.
    pub key_end: usize,
    /// Behind the value.
    pub end: usize,
    /// Where the key begins in the text as it came.
    pub came_at: usize,
}

impl Member {
    /// The key as it is written, without quotes.
    fn key<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.start + 1..self.key_end - 1)
            .unwrap_or_default()
    }

    /// The key itself.
    pub(super) fn unescaped_key(&self, text: &str) -> String {
        let key = self.key(text);
        if !key.contains('\\') {
            return key.to_owned();
        }
        let key: Vec<u8> = unescaped(key).collect();
        String::from_utf8_lossy(&key).into_owned()
    }

    /// The order of this key and another's.
    pub(super) fn order(&self, other: &Self, text: &str) -> Ordering {
        let (own, other) = (self.key(text), other.key(text));
        // Most keys are plain: nothing in them is escaped or in another order than its bytes.
        let is_plain = |key: &str| key.bytes().all(|byte| byte < 0xee && byte != b'\\');
        if is_plain(own) && is_plain(other) {
            return own.cmp(other);
        }
        unescaped(own).map(weight).cmp(unescaped(other).map(weight))
    }
}

/// An object inside the outermost one whose members came in another order.
#[derive(Debug)]
pub(super) struct UnsortedObject {
    /// Where the object is in the text.
    pub span: Range<usize>,
    /// How many of the objects inside it are shuffled too.
    pub inside: usize,
    /// Its members in their right order.
    pub members: Vec<Member>,
}

/// What a reader leaves: a text that is canonical but for the order of members.
#[derive(Debug)]
pub(super) struct UnsortedText {
    /// The text.
    pub text: String,
    /// Members of the outermost object in their right order.
    pub members: Vec<Member>,
    /// Whether the text has them in that order.
    pub in_order: bool,
    /// The objects to be rewritten, those inside before those around them.
    pub shuffled: Vec<UnsortedObject>,
}

impl UnsortedText {
    /// The text in order; it is copied at most once, however deep the objects lie.
    pub(super) fn arrange(mut self) -> Canonical {
        if self.in_order && self.shuffled.is_empty() {
            let entry = |member| entry(member, &self.text, member.start, member.end);
            let entries = self.members.iter().map(entry).collect();
            return Canonical {
                text: self.text,
                entries,
            };
        }
        // Objects begin in the order in which they are written, around before inside.
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

    /// Appends a span of the text, the shuffled objects inside it in order. Goes as deep as objects
    /// lie within each other.
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

/// The entry of a member that lies elsewhere in the text in order.
fn entry(member: &Member, unordered: &str, start: usize, end: usize) -> Entry {
    let colon = start + (member.key_end - member.start);
    Entry {
        key: member.unescaped_key(unordered),
        member: start..end,
        value: colon + 1..end,
    }
}
