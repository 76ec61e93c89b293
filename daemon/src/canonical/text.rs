//! Strings and numbers as canonical JSON writes them.

use std::fmt::Write;

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

/// The characters that a canonical string without its quotes stands for.
pub(super) fn unescaped(inner: &str) -> impl Iterator<Item = char> {
    let mut rest = inner.chars();
    std::iter::from_fn(move || {
        let first = rest.next()?;
        if first != '\\' {
            return Some(first);
        }
        Some(match rest.next()? {
            'b' => '\u{8}',
            't' => '\t',
            'n' => '\n',
            'f' => '\u{c}',
            'r' => '\r',
            'u' => {
                let unit = rest.by_ref().take(4);
                let unit = unit.fold(0, |unit, digit| unit * 16 + digit.to_digit(16).unwrap_or(0));
                char::from_u32(unit)?
            }
            itself => itself,
        })
    })
}

/// Whether bytes are a number in JSON's grammar (RFC 8259, section 6).
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

/// The decimal digits that bytes begin with, and what follows them.
fn digits(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes.iter().position(|byte| !byte.is_ascii_digit());
    bytes.split_at(end.unwrap_or(bytes.len()))
}
