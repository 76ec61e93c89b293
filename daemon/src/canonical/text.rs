//! Strings and numbers in canonical JSON.

use std::fmt::Write;

/// Counts the leading plain bytes: neither the end of a string, an escape nor a control character. Whole chunks are
/// checked at once: large chunks for long strings.
pub(super) fn plain_bytes(bytes: &[u8]) -> usize {
    let start = plain_chunks::<128>(bytes);
    let rest = bytes.get(start..).unwrap_or_default();
    let more = plain_chunks::<16>(rest);
    let rest = rest.get(more..).unwrap_or_default();
    start + more + rest.iter().position(is_special).unwrap_or(rest.len())
}

/// Counts the leading bytes in whole plain chunks.
fn plain_chunks<const CHUNK: usize>(bytes: &[u8]) -> usize {
    // No early exit within the chunk, so that the compiler vectorises the comparison.
    let any_special = |chunk: &[u8; CHUNK]| chunk.iter().fold(false, |any, b| any | is_special(b));
    let (chunks, _) = bytes.as_chunks();
    CHUNK
        * chunks
            .iter()
            .take_while(|chunk| !any_special(chunk))
            .count()
}

fn is_special(byte: &u8) -> bool {
    *byte < b' ' || *byte == b'"' || *byte == b'\\'
}

/// Appends a character of a string, escaped where RFC 8785 escapes it.
pub(super) fn push_escaped(out: &mut String, character: char) {
    match character {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\u{8}' => out.push_str("\\b"),
        '\t' => out.push_str("\\t"),
        '\n' => out.push_str("\\n"),
        '\u{c}' => out.push_str("\\f"),
        '\r' => out.push_str("\\r"),
        control @ '\0'..'\u{20}' => {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{:04x}", u32::from(control));
        }
        plain => out.push(plain),
    }
}

/// Iterates over the UTF-8 bytes of a canonical string, given without its quotes.
pub(super) fn unescaped(inner: &str) -> impl Iterator<Item = u8> {
    let mut rest = inner.bytes();
    std::iter::from_fn(move || {
        let first = rest.next()?;
        if first != b'\\' {
            return Some(first);
        }
        Some(match rest.next()? {
            b'b' => 0x8,
            b't' => b'\t',
            b'n' => b'\n',
            b'f' => 0xc,
            b'r' => b'\r',
            // Only control characters have this form: two zeros come first.
            b'u' => {
                let digits = rest.by_ref().take(4).map(|digit| match digit {
                    b'a'..=b'f' => digit - b'a' + 10,
                    _ => digit & 0xf,
                });
                digits.fold(0, |byte, digit| (byte << 4) | digit)
            }
            itself => itself,
        })
    })
}

/// Returns whether bytes are a number in JSON's grammar (RFC 8259, section 6).
pub(super) fn is_number(number: &[u8]) -> bool {
    let (integer, rest) = digits(number.strip_prefix(b"-").unwrap_or(number));
    let starts_well = match integer {
        [] => false,
        [b'0', more @ ..] => more.is_empty(),
        _ => true,
    };
    let (fraction_well, rest) = match rest {
        [b'.', rest @ ..] => {
            let (fraction, rest) = digits(rest);
            (!fraction.is_empty(), rest)
        }
        _ => (true, rest),
    };
    let ends_well = match rest {
        [] => true,
        [b'e' | b'E', b'+' | b'-', exponent @ ..] | [b'e' | b'E', exponent @ ..] => {
            !exponent.is_empty() && digits(exponent).1.is_empty()
        }
        _ => false,
    };
    starts_well && fraction_well && ends_well
}

/// Splits off the leading decimal digits.
fn digits(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes.iter().position(|byte| !byte.is_ascii_digit());
    bytes.split_at(end.unwrap_or(bytes.len()))
}
