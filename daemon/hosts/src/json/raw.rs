//! Raw strings of JSON, as they stand between their quotes: where they may be divided, and what they say.

use super::{HEAD_BYTES, NOTE_BYTES_MAX, TEXT_BYTES_MAX};

/// The longest escape: a pair of surrogates.
pub(super) const ESCAPE_BYTES_MAX: usize = 12;

const NOTE_BEGIN: &[u8] = b"\\n[... ";
const NOTE_END: &[u8] = b" bytes left out ...]\\n";

/// Returns what stands in place of a middle that was left out, in a raw string.
pub(super) fn note(bytes: usize) -> String {
    format!("\\n[... {bytes} bytes left out ...]\\n")
}

/// Returns how many bytes are missing where a raw string loses what is between two places. If it was shortened before,
/// the note there says how many it lost then.
pub(super) fn left_out_between(raw: &[u8], from: usize, to: usize) -> usize {
    let bytes = to - from;
    // What was shortened is not longer, whatever became of its escapes.
    let is_searched = raw.len() <= 4 * TEXT_BYTES_MAX;
    let middle = raw.get(from..to).filter(|_| is_searched);
    middle.and_then(earlier_note).map_or(bytes, |note| {
        (bytes - note.length).saturating_add(note.bytes)
    })
}

/// Returns how many bytes a string has lost that a [`Shortener`](super::Shortener) has shortened.
pub(super) fn shortened_before(raw: &[u8]) -> Option<usize> {
    if raw.len() <= TEXT_BYTES_MAX - 2 * NOTE_BYTES_MAX {
        return None;
    }
    let place = HEAD_BYTES - 2 * ESCAPE_BYTES_MAX..HEAD_BYTES + NOTE_BYTES_MAX;
    earlier_note(raw.get(place)?).map(|note| note.bytes)
}

/// What a note about bytes that were left out says.
struct EarlierCut {
    /// The bytes that it reports.
    bytes: usize,
    /// Bytes of the note itself.
    length: usize,
}

/// Finds the first note in a raw text.
fn earlier_note(text: &[u8]) -> Option<EarlierCut> {
    let from = memchr::memmem::find(text, NOTE_BEGIN)?;
    let rest = text.get(from + NOTE_BEGIN.len()..)?;
    let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = rest.split_at_checked(count)?;
    rest.starts_with(NOTE_END).then_some(())?;
    let bytes = std::str::from_utf8(digits).ok()?.parse().ok()?;
    let length = NOTE_BEGIN.len() + count + NOTE_END.len();
    Some(EarlierCut { bytes, length })
}

/// Returns the last place up to `at` that is neither within an escape nor within a character.
pub(super) fn end_of_head(raw: &[u8], at: usize) -> usize {
    let mut at = at.min(raw.len());
    if let Some((from, _)) = escape_around(raw, at) {
        at = from;
    }
    for _ in 0..3 {
        at -= usize::from(at > 0 && is_continuation(raw, at));
    }
    at
}

/// Returns the first place from `at` on that is neither within an escape nor within a character.
pub(super) fn start_of_tail(raw: &[u8], at: usize) -> usize {
    let mut at = at.min(raw.len());
    if let Some((_, to)) = escape_around(raw, at) {
        at = to.min(raw.len());
    }
    for _ in 0..3 {
        at += usize::from(is_continuation(raw, at));
    }
    at
}

/// Returns the place where the backslashes before `at` begin; `at` if there are none.
pub(super) fn backslashes_before(raw: &[u8], at: usize) -> usize {
    let before = raw.get(..at).unwrap_or_default();
    let count = before.iter().rev().take_while(|byte| **byte == b'\\');
    at - count.count()
}

/// Returns begin and end of the escape that `at` is in the middle of.
fn escape_around(raw: &[u8], at: usize) -> Option<(usize, usize)> {
    let near = at.saturating_sub(ESCAPE_BYTES_MAX - 1);
    let last = near + memchr::memrchr(b'\\', raw.get(near..at)?)?;
    if !begins_escape(raw, last) {
        return None;
    }
    // The second half of a pair of surrogates belongs to the first one.
    let pair = last
        .checked_sub(6)
        .filter(|first| length_at(raw, *first) == ESCAPE_BYTES_MAX && begins_escape(raw, *first));
    let from = pair.unwrap_or(last);
    let to = from + length_at(raw, from);
    (from < at && at < to).then_some((from, to))
}

/// Returns whether the backslash at this place begins an escape, and is not the second one of an escaped backslash.
fn begins_escape(raw: &[u8], at: usize) -> bool {
    raw.get(at) == Some(&b'\\') && (at - backslashes_before(raw, at)).is_multiple_of(2)
}

fn length_at(raw: &[u8], at: usize) -> usize {
    escape_length(raw.get(at..).unwrap_or_default())
}

fn is_continuation(raw: &[u8], at: usize) -> bool {
    raw.get(at).is_some_and(|byte| (0x80..0xC0).contains(byte))
}

/// Length of the escape at the beginning of `raw`: a pair of surrogates is one.
fn escape_length(raw: &[u8]) -> usize {
    if raw.get(1) != Some(&b'u') {
        return 2;
    }
    match (hex(raw.get(2..6)), hex(raw.get(8..12))) {
        (Some(0xD800..0xDC00), Some(0xDC00..0xE000)) if raw.get(6..8) == Some(b"\\u") => 12,
        _ => 6,
    }
}

fn hex(digits: Option<&[u8]>) -> Option<u32> {
    let digits = std::str::from_utf8(digits?).ok()?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex
        .then(|| u32::from_str_radix(digits, 16).ok())
        .flatten()
}

/// Decodes escapes; what is not valid becomes U+FFFD.
pub(super) fn decode(raw: &[u8]) -> String {
    if memchr::memchr(b'\\', raw).is_none() {
        return String::from_utf8_lossy(raw).into_owned();
    }
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(place) = memchr::memchr(b'\\', rest) {
        let (plain, escape) = rest.split_at(place);
        text.push_str(&String::from_utf8_lossy(plain));
        let length = escape_length(escape);
        text.push(match escape.get(1) {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(*byte),
            Some(b'u') => unicode(escape, length),
            _ => char::REPLACEMENT_CHARACTER,
        });
        rest = escape.get(length..).unwrap_or_default();
    }
    text.push_str(&String::from_utf8_lossy(rest));
    text
}

fn unicode(escape: &[u8], length: usize) -> char {
    let Some(first) = hex(escape.get(2..6)) else {
        return char::REPLACEMENT_CHARACTER;
    };
    let code = match hex(escape.get(8..12)) {
        Some(second) if length == 12 => 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00),
        _ => first,
    };
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}
