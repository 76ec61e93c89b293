//! The `date` extractor: RFC 3339 and ISO 8601 dates and date-times.

use super::span::{Spans, before, byte, digit_runs, is_alphanumeric, is_digit};
use std::ops::Range;

/// Field names that hold a date and match none of the suffixes.
const FIELDS: [&str; 5] = [
    "date",
    "closeddate",
    "createddate",
    "completeddate",
    "completedate",
];

/// Returns whether a JSON field of this name holds a date: `date`, `closedAt`, `created_at`, `dueDate`, `due_date`.
pub(super) fn is_field(key: &str) -> bool {
    FIELDS.iter().any(|field| field.eq_ignore_ascii_case(key))
        || ["At", "Date"]
            .iter()
            .any(|end| key.ends_with(end) && key.len() > end.len())
        || ["_at", "_date"].iter().any(|end| {
            let start = key.len().checked_sub(end.len());
            let tail = start.and_then(|start| key.get(start..));
            start != Some(0) && tail.is_some_and(|tail| tail.eq_ignore_ascii_case(end))
        })
}

/// Finds dates with their time, fraction and offset.
pub(super) fn find(text: &str) -> Spans {
    let bytes = text.as_bytes();
    let mut finds: Spans = Vec::new();
    for run in digit_runs(bytes).filter(|run| matches!(run.len(), 4 | 8)) {
        if finds.last().is_some_and(|last| run.start < last.end) || !begins(bytes, run.start) {
            continue;
        }
        let end = match run.len() {
            4 => extended(bytes, run.start),
            _ => basic(bytes, run.start),
        };
        if let Some(end) = end {
            finds.push(run.start..end);
        }
    }
    finds
}

/// Returns whether a date may begin here: not within a word, nor after a digit and a hyphen.
fn begins(bytes: &[u8], start: usize) -> bool {
    let two_before = byte(bytes, start.checked_sub(2));
    match before(bytes, start) {
        Some(b'-' | b'.') => !is_digit(two_before),
        left => !is_alphanumeric(left),
    }
}

/// Matches `2025-01-15`, with or without a time after it.
fn extended(bytes: &[u8], start: usize) -> Option<usize> {
    let (year, at) = (digits(bytes, start, 4)?, start + 4);
    let (month, at) = (part(bytes, at, b'-')?, at + 3);
    let (day, at) = (part(bytes, at, b'-')?, at + 3);
    if !is_day(year, month, day) {
        return None;
    }
    let end = time(bytes, at).unwrap_or(at);
    ends(bytes, end).then_some(end)
}

/// Matches `20250115T103000Z`. The time is required, because eight digits alone are not a date.
fn basic(bytes: &[u8], start: usize) -> Option<usize> {
    let (year, month, day) = (
        digits(bytes, start, 4)?,
        digits(bytes, start + 4, 2)?,
        digits(bytes, start + 6, 2)?,
    );
    if !is_day(year, month, day) || byte(bytes, Some(start + 8)) != Some(b'T') {
        return None;
    }
    let (hour, minute) = (digits(bytes, start + 9, 2)?, digits(bytes, start + 11, 2)?);
    let (second, at) = match digits(bytes, start + 13, 2) {
        Some(second) => (second, start + 15),
        None => (0, start + 13),
    };
    let at = fraction(bytes, at);
    let end = offset(bytes, at).unwrap_or(at);
    (is_time(hour, minute, second) && ends(bytes, end)).then_some(end)
}

/// Returns whether a date may end here: no word, number or further part follows.
fn ends(bytes: &[u8], end: usize) -> bool {
    let next = byte(bytes, Some(end + 1));
    match byte(bytes, Some(end)) {
        Some(b'-') => !is_digit(next),
        right => !is_alphanumeric(right),
    }
}

/// Matches `T10:30`, ` 10:30:00.5+02:00`, ` 10:30:00 +0200`, and returns the end.
fn time(bytes: &[u8], at: usize) -> Option<usize> {
    if !matches!(byte(bytes, Some(at))?, b'T' | b't' | b' ') {
        return None;
    }
    let (hour, minute, at) = (
        digits(bytes, at + 1, 2)?,
        part(bytes, at + 3, b':')?,
        at + 6,
    );
    let (second, at) = match part(bytes, at, b':') {
        Some(second) => (second, fraction(bytes, at + 3)),
        None => (0, at),
    };
    if !is_time(hour, minute, second) {
        return None;
    }
    let spaced = (byte(bytes, Some(at)) == Some(b' ')
        && !matches!(byte(bytes, Some(at + 1)), Some(b'Z' | b'z')))
    .then(|| offset(bytes, at + 1))
    .flatten();
    let end = offset(bytes, at)
        .or(spaced.filter(|end| ends(bytes, *end)))
        .unwrap_or(at);
    ends(bytes, end).then_some(end)
}

fn fraction(bytes: &[u8], at: usize) -> usize {
    match (byte(bytes, Some(at)), is_digit(byte(bytes, Some(at + 1)))) {
        (Some(b'.' | b','), true) => super::span::digits_end(bytes, at + 1),
        _ => at,
    }
}

/// Matches `Z`, `+02:00`, `+0200` or `+02`, and returns the end.
fn offset(bytes: &[u8], at: usize) -> Option<usize> {
    match byte(bytes, Some(at))? {
        b'Z' | b'z' => Some(at + 1),
        b'+' | b'-' => {
            digits(bytes, at + 1, 2).filter(|hours| *hours <= 23)?;
            if part(bytes, at + 3, b':').is_some() {
                return Some(at + 6);
            }
            Some(if digits(bytes, at + 3, 2).is_some() {
                at + 5
            } else {
                at + 3
            })
        }
        _ => None,
    }
}

/// Parses the two digits after a separator.
fn part(bytes: &[u8], at: usize, separator: u8) -> Option<u32> {
    if byte(bytes, Some(at)) != Some(separator) {
        return None;
    }
    digits(bytes, at + 1, 2)
}

/// Parses exactly `count` digits.
fn digits(bytes: &[u8], at: usize, count: usize) -> Option<u32> {
    let run: Range<usize> = at..at + count;
    bytes.get(run)?.iter().try_fold(0, |number, byte| {
        byte.is_ascii_digit()
            .then(|| number * 10 + u32::from(byte - b'0'))
    })
}

fn is_day(year: u32, month: u32, day: u32) -> bool {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// Second 60 is a leap second, hour 24 the end of a day.
fn is_time(hour: u32, minute: u32, second: u32) -> bool {
    (hour < 24 && minute < 60 && second <= 60) || (hour == 24 && minute == 0 && second == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_found_whole() {
        for date in [
            "2025-01-15",
            "2025-01-15T10:30:00Z",
            "2025-01-15T10:30",
            "2025-01-15t10:30:00z",
            "2025-10-21 10:00:59+00:00",
            "2025-09-02 17:20:10 +0200",
            "2025-09-02 17:20:10",
            "2025-01-15T10:30:00.123456789+05:30",
            "2025-01-15T10:30:00,5-08",
            "2024-02-29",
            "20251021T100059Z",
            "20251021T1000+0200",
            "2016-12-31T23:59:60Z",
        ] {
            for text in [
                date.to_owned(),
                format!("at ({date}), then"),
                format!("backup_{date}.tar"),
                format!("\"{date}\""),
            ] {
                let finds = find(&text);
                let found: Vec<_> = finds.into_iter().map(|range| text.get(range)).collect();
                assert_eq!(found, [Some(date)], "{text}");
            }
        }
    }

    #[test]
    fn other_digits_are_no_dates() {
        for text in [
            "2025-13-01",
            "2025-02-29",
            "2025-00-10",
            "2025-1-5",
            "12025-01-15",
            "2025-01-155",
            "2025-01-15-22",
            "1234-2025-01-15",
            "x2025-01-15",
            "2025-01-15abc",
            "2025-07",
            "20250115",
            "10.2025-01-15",
        ] {
            assert!(find(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_wrong_time_leaves_the_date() {
        let text = "2025-01-15 25:99 and 2025-01-16 7 items";
        let found: Vec<_> = find(text)
            .into_iter()
            .map(|range| text.get(range))
            .collect();
        assert_eq!(found, [Some("2025-01-15"), Some("2025-01-16")]);
    }

    #[test]
    fn fields_that_hold_a_date() {
        for key in [
            "date",
            "closedDate",
            "createdAt",
            "created_at",
            "due_date",
            "DATE",
            "PLACED_AT",
        ] {
            assert!(is_field(key), "{key}");
        }
        for key in ["format", "at", "update", "flat", "dates"] {
            assert!(!is_field(key), "{key}");
        }
    }
}
