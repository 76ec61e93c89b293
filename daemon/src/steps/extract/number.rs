//! The `number` extractor: integers and decimals with sign, exponent and digit grouping.

use super::span::{
    OccupiedSpans, Spans, before, byte, digit_runs, digits_end, is_alphanumeric, is_digit, is_word,
};

/// Finds numbers that are not part of a word, version, address, time or code with leading zeros.
pub(super) fn find(text: &str, taken: &OccupiedSpans) -> Spans {
    let bytes = text.as_bytes();
    let mut finds: Spans = Vec::new();
    let mut done = 0;
    for run in digit_runs(bytes) {
        if run.start < done || taken.touches(&run) {
            continue;
        }
        let (end, body_end) = extent(bytes, run.start, run.end);
        done = body_end;
        let start = sign(bytes, run.start);
        if body_end == end
            && begins(bytes, start)
            && ends(bytes, end)
            && !is_code(bytes, run.start, run.end)
        {
            finds.push(start..end);
        }
    }
    finds
}

/// Returns the digits as JSON writes them: without grouping or `+`.
pub(super) fn digits_of(found: &str) -> String {
    found.trim_start_matches('+').replace(',', "")
}

/// Returns the end of the number at `start`, and the end of the dotted group that it may be the head of.
fn extent(bytes: &[u8], start: usize, first_end: usize) -> (usize, usize) {
    let mut end = grouped(bytes, start, first_end);
    if byte(bytes, Some(end)) == Some(b'.') && is_digit(byte(bytes, Some(end + 1))) {
        end = digits_end(bytes, end + 1);
    }
    let mut whole = end;
    while byte(bytes, Some(whole)) == Some(b'.') && is_digit(byte(bytes, Some(whole + 1))) {
        whole = digits_end(bytes, whole + 1);
    }
    if whole > end {
        // A network prefix length belongs to its address: 10.0.0.0/8.
        let length_end = digits_end(bytes, whole + 1);
        let is_network = byte(bytes, Some(whole)) == Some(b'/') && length_end > whole + 1;
        return (end, if is_network { length_end } else { whole });
    }
    if matches!(byte(bytes, Some(end)), Some(b'e' | b'E')) {
        let signed = usize::from(matches!(byte(bytes, Some(end + 1)), Some(b'+' | b'-')));
        let exponent_end = digits_end(bytes, end + 1 + signed);
        if exponent_end > end + 1 + signed {
            end = exponent_end;
        }
    }
    (end, end)
}

/// Extends the match over `,000` groups.
///
/// Every group has three digits, and no comma stands on either side. A list without blanks (`7,100,200,5`) is
/// therefore not grouping.
fn grouped(bytes: &[u8], start: usize, first_end: usize) -> usize {
    let is_head = first_end - start <= 3
        && bytes.get(start) != Some(&b'0')
        && before(bytes, start) != Some(b',');
    let mut end = first_end;
    while is_head && byte(bytes, Some(end)) == Some(b',') && digits_end(bytes, end + 1) == end + 4 {
        end += 4;
    }
    if byte(bytes, Some(end)) == Some(b',')
        && !matches!(
            byte(bytes, Some(end + 1)),
            None | Some(b' ' | b'\n' | b'\r' | b'"' | b'\'')
        )
    {
        return first_end;
    }
    end
}

/// Extends the match over a sign, unless the sign belongs to a word before it.
fn sign(bytes: &[u8], start: usize) -> usize {
    let left = before(bytes, start);
    let is_sign = matches!(left, Some(b'-' | b'+'));
    let two_before = byte(bytes, start.checked_sub(2));
    let joined =
        is_word(two_before) || matches!(two_before, Some(b'-' | b'+' | b')' | b']' | b'.'));
    if is_sign && !joined { start - 1 } else { start }
}

fn begins(bytes: &[u8], start: usize) -> bool {
    let two_before = byte(bytes, start.checked_sub(2));
    match before(bytes, start) {
        Some(b'-' | b'+') => !(is_word(two_before) || two_before == Some(b'-')),
        Some(b'.') => !is_alphanumeric(two_before),
        Some(b':') => !is_digit(two_before),
        // A path or a version: `/orders/42`, `HTTP/1.1`.
        Some(b'/') => is_digit(two_before) || !is_word(two_before),
        left => !is_word(left),
    }
}

fn ends(bytes: &[u8], end: usize) -> bool {
    let next = byte(bytes, Some(end + 1));
    match byte(bytes, Some(end)) {
        Some(b'-') => !is_alphanumeric(next),
        Some(b':') => !is_digit(next),
        Some(b'.') => !is_word(next),
        right => !is_word(right),
    }
}

/// Returns whether leading zeros make the digits a code instead of a number: `007`, `00010`.
fn is_code(bytes: &[u8], start: usize, first_end: usize) -> bool {
    first_end - start > 1 && bytes.get(start) == Some(&b'0')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::extract::span::texts;

    fn numbers(text: &str) -> Vec<&str> {
        texts(text, find(text, &OccupiedSpans::default()))
    }

    #[test]
    fn every_form_is_found_whole() {
        for number in [
            "42",
            "3.14",
            "1000",
            "-3.5",
            "+7",
            "4.1e1",
            "1E-9",
            "1,000",
            "12,345,678.90",
            "0",
            "-0.5",
            "123456789012345678901234567890123456789",
        ] {
            for text in [
                number.to_owned(),
                format!("x = {number}, then"),
                format!("({number})"),
                format!("about {number}."),
                format!("{number}%"),
            ] {
                assert_eq!(numbers(&text), [number], "{text}");
            }
        }
        assert_eq!(digits_of("12,345,678.90"), "12345678.90");
        assert_eq!(digits_of("+7"), "7");
    }

    #[test]
    fn parts_of_other_things_are_no_numbers() {
        for text in [
            "web-02",
            "v0.3.0",
            "1.4.0",
            "10.10.100.21",
            "INC0048213",
            "CHG-20418",
            "4kB",
            "0x1f",
            "utf-8",
            "10:20:30",
            "00010",
            "2025-07",
            "x1",
            "a.5",
            "1-2",
            "1.0.229",
        ] {
            assert!(numbers(text).is_empty(), "{text}: {:?}", numbers(text));
        }
    }

    #[test]
    fn a_list_is_not_one_number() {
        assert_eq!(numbers("7,100,200,5"), ["7", "100", "200", "5"]);
        assert_eq!(numbers("10231,Mina,12995,EUR"), ["10231", "12995"]);
        assert_eq!(numbers("1, 2, 300"), ["1", "2", "300"]);
    }
}
