//! The `id` extractor: identifying JSON fields, UUIDs, references like `#123`, and long runs of digits.

use super::span::{
    Spans, before, byte, digit_runs, digits_end, is_alphanumeric, is_digit, is_word,
};

/// Minimum length of a run of digits that is an id by itself.
const RUN_DIGITS_MIN: usize = 4;

/// Returns whether a JSON field of this name holds an id: `id`, `userId`, `user_id`, `number`.
pub(super) fn is_field(key: &str) -> bool {
    let stem = key.strip_suffix("Id").or_else(|| key.strip_suffix("ID"));
    let is_camel =
        stem.is_some_and(|stem| stem.ends_with(|c: char| c.is_lowercase() || c.is_ascii_digit()));
    let has_suffix = key
        .len()
        .checked_sub(3)
        .and_then(|at| key.get(at..))
        .is_some_and(|suffix| key.len() > 3 && suffix.eq_ignore_ascii_case("_id"));
    is_camel || has_suffix || key.eq_ignore_ascii_case("id") || key.eq_ignore_ascii_case("number")
}

/// Finds hyphenated UUIDs.
pub(super) fn uuids(text: &str) -> Spans {
    let bytes = text.as_bytes();
    let mut finds = Spans::new();
    let mut at = 0;
    while let Some(hyphen) = next(bytes, at, b'-') {
        at = hyphen + 1;
        let Some(start) = hyphen.checked_sub(8) else {
            continue;
        };
        let end = start + 36;
        if is_uuid(bytes.get(start..end)) && !is_word(before(bytes, start)) && !is_tail(bytes, end)
        {
            finds.push(start..end);
            at = end;
        }
    }
    finds
}

fn next(bytes: &[u8], from: usize, wanted: u8) -> Option<usize> {
    let ahead = bytes.get(from..)?;
    ahead
        .iter()
        .position(|byte| *byte == wanted)
        .map(|at| from + at)
}

fn is_uuid(candidate: Option<&[u8]>) -> bool {
    candidate.is_some_and(|candidate| {
        candidate.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
    })
}

/// Returns whether a word continues at `at`.
fn is_tail(bytes: &[u8], at: usize) -> bool {
    is_word(byte(bytes, Some(at)))
        || (byte(bytes, Some(at)) == Some(b'-') && is_word(byte(bytes, Some(at + 1))))
}

/// Finds the digits of `#123`, `PR 123`, `PR #123`, `Pull Request 123`.
pub(super) fn references(text: &str) -> Spans {
    let bytes = text.as_bytes();
    let is_reference = |start: usize| {
        let head = bytes.get(..start).unwrap_or_default();
        let (head, hash) = match head.strip_suffix(b"#") {
            Some(head) => (head, true),
            None => (head, false),
        };
        // `&#39;` is an HTML character reference, `a#1` a fragment, `##1` a heading.
        if hash
            && !is_word(head.last().copied())
            && !matches!(head.last(), Some(b'&' | b'#' | b'/'))
        {
            return true;
        }
        let trimmed = head.trim_ascii_end();
        let gap = head.len() - trimmed.len();
        gap <= 1 && (hash || gap == 1) && ends_with_word(trimmed)
    };
    let mut finds: Spans = digit_runs(bytes)
        .filter(|run| is_reference(run.start))
        .collect();
    finds.retain(|run| !is_tail(bytes, run.end) && !is_decimal(bytes, run.end));
    finds
}

/// Returns whether `head` ends with `PR` or `pull request`, as a whole word.
fn ends_with_word(head: &[u8]) -> bool {
    [b"pr".as_slice(), b"pull request"].into_iter().any(|word| {
        let start = head.len().checked_sub(word.len());
        let tail = start.and_then(|start| head.get(start..));
        let matches = tail.is_some_and(|tail| tail.eq_ignore_ascii_case(word));
        matches && start.is_some_and(|start| !is_word(before(head, start)))
    })
}

/// Returns whether a fraction begins at `at`.
fn is_decimal(bytes: &[u8], at: usize) -> bool {
    byte(bytes, Some(at)) == Some(b'.') && is_digit(byte(bytes, Some(at + 1)))
}

/// Finds runs of four or more digits that stand alone.
pub(super) fn runs(text: &str) -> Spans {
    let bytes = text.as_bytes();
    let long = digit_runs(bytes).filter(|run| run.len() >= RUN_DIGITS_MIN);
    long.filter(|run| stands_alone(bytes, run.start, run.end))
        .collect()
}

/// Returns whether a run is not part of a word, a decimal or dotted number, a hyphenated name, a number
/// with a sign (`-`, `+`, `$`, `%`) or a date in words.
fn stands_alone(bytes: &[u8], start: usize, end: usize) -> bool {
    let left = before(bytes, start);
    let left2 = byte(bytes, start.checked_sub(2));
    let right = byte(bytes, Some(end));
    let right2 = byte(bytes, Some(end + 1));
    let joined_left = match left {
        Some(b'-' | b'+' | b'$') => true,
        Some(b'.') => is_digit(left2),
        Some(b':') => is_port(bytes, start - 1),
        // A process id or an index: `CRON[3053]`.
        Some(b'[') => is_word(left2),
        left => is_word(left),
    };
    let joined_right = match right {
        Some(b'-') => is_alphanumeric(right2),
        Some(b'.' | b':') => is_digit(right2),
        Some(b'%') => true,
        right => is_word(right),
    };
    let is_zero = bytes
        .get(start..end)
        .is_some_and(|run| run.iter().all(|digit| *digit == b'0'));
    !joined_left
        && !joined_right
        && !is_zero
        && !counts_something_else(bytes, start)
        && !is_year_of_date(bytes, start, end)
}

/// Returns whether the word before makes the number a line, a port or a file mode
/// (`index 6f5f4e9..9f46b2c 100644`).
fn counts_something_else(bytes: &[u8], start: usize) -> bool {
    const HEAD_MAX: usize = 48;
    let head = bytes
        .get(start.saturating_sub(HEAD_MAX)..start)
        .and_then(|head| head.strip_suffix(b" "))
        .unwrap_or_default();
    let word = head
        .rsplit(|byte| !byte.is_ascii_alphanumeric())
        .next()
        .unwrap_or_default();
    let earlier = head.strip_suffix(word).unwrap_or_default();
    earlier.ends_with(b"..") && word.len() >= 7
        || [b"line".as_slice(), b"lines", b"port", b"mode"]
            .into_iter()
            .any(|other| other.eq_ignore_ascii_case(word))
}

/// Returns whether the colon follows a host, an address or a file, so that a port or a line number comes next.
fn is_port(bytes: &[u8], colon: usize) -> bool {
    /// How far back to look for a host or file, in bytes.
    const HOST_MAX: usize = 64;
    let head = bytes
        .get(colon.saturating_sub(HOST_MAX)..colon)
        .unwrap_or_default();
    let is_host = |byte: &u8| byte.is_ascii_alphanumeric() || b".-_/]".contains(byte);
    let host = head
        .rsplit(|byte| !is_host(byte))
        .next()
        .unwrap_or_default();
    is_digit(host.last().copied())
        || host.iter().any(|byte| matches!(byte, b'.' | b']'))
        || host.eq_ignore_ascii_case(b"localhost")
}

/// Returns whether the run is the year in `Tue Oct 21 10:00:59 2025`, `21 Nov 2025`, `30/Oct/2025:22:40` or
/// `Nov 21 21:53:12 2026 GMT`.
fn is_year_of_date(bytes: &[u8], start: usize, end: usize) -> bool {
    let year = bytes.get(start..end).unwrap_or_default();
    if year.len() != 4 || !(year.starts_with(b"19") || year.starts_with(b"20")) {
        return false;
    }
    let head = bytes
        .get(start.saturating_sub(16)..start)
        .unwrap_or_default();
    let head = match head.last() {
        Some(b' ') => head.trim_ascii_end(),
        Some(b'/') => head.strip_suffix(b"/").unwrap_or_default(),
        _ => return false,
    };
    let word_start = head
        .iter()
        .rposition(|byte| matches!(byte, b' ' | b'/' | b'[' | b'"'));
    let word = head
        .get(word_start.map_or(0, |at| at + 1)..)
        .unwrap_or_default();
    is_month(word) || is_clock(word) || is_day_after_month(head, word)
}

fn is_month(word: &[u8]) -> bool {
    const MONTHS: [&[u8]; 12] = [
        b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov",
        b"dec",
    ];
    let head = word.get(..3).unwrap_or_default();
    word.iter().all(u8::is_ascii_alphabetic)
        && MONTHS.iter().any(|month| month.eq_ignore_ascii_case(head))
}

fn is_clock(word: &[u8]) -> bool {
    let digits_or_colon = |byte: &u8| byte.is_ascii_digit() || *byte == b':';
    word.contains(&b':') && word.iter().all(digits_or_colon)
}

/// Returns whether `word` is a day that follows a month, as in `Nov 21, 2026`.
fn is_day_after_month(head: &[u8], word: &[u8]) -> bool {
    let day = word.strip_suffix(b",").unwrap_or(word);
    if day.is_empty() || day.len() > 2 || digits_end(day, 0) != day.len() {
        return false;
    }
    let earlier = head
        .get(..head.len() - word.len())
        .unwrap_or_default()
        .trim_ascii_end();
    let month = earlier.rsplit(|byte| !byte.is_ascii_alphabetic()).next();
    month.is_some_and(|month| month.len() >= 3 && is_month(month))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::extract::span::texts;

    #[test]
    fn fields_that_hold_an_id() {
        for key in [
            "id",
            "ID",
            "userId",
            "userID",
            "order_id",
            "ORDER_ID",
            "pullRequestId",
            "requestId",
            "number",
        ] {
            assert!(is_field(key), "{key}");
        }
        for key in [
            "valid", "paid", "VOID", "_id_", "hidden", "numbers", "ids", "Id2",
        ] {
            assert!(!is_field(key), "{key}");
        }
    }

    #[test]
    fn uuids_are_found_whole() {
        let text = "r 550e8400-e29b-41d4-a716-446655440000, (9F0C2F4E-77AA-4B1D-8C3E-112233445566) x550e8400-e29b-41d4-a716-446655440000 550e8400-e29b-41d4-a716-4466554400001";
        assert_eq!(
            texts(text, uuids(text)),
            [
                "550e8400-e29b-41d4-a716-446655440000",
                "9F0C2F4E-77AA-4B1D-8C3E-112233445566"
            ]
        );
    }

    #[test]
    fn references_are_found() {
        let text =
            "Merge #12 (PR 57), pull request 1234; PR #9 pr\n77 &#39; a#5 ## 3 #4.5 APR 12 #1a";
        assert_eq!(
            texts(text, references(text)),
            ["12", "57", "1234", "9", "77"]
        );
    }

    #[test]
    fn runs_stand_alone() {
        let text = "order 12345, /orders/70145. (8430) =9999 INC0048213 CHG-20418 INV-2025-00010 3.14159 7,70013,113.61 127.0.0.1:8430 a.example:8080 localhost:9090 main.rs:1234:5 65010:1000 id:70011 line 1922 port 8443 CRON[3053] 0000000 6f5f4e9..9f46b2c 100644 123 v1.2345 +0000 1234kB";
        assert_eq!(
            texts(text, runs(text)),
            ["12345", "70145", "8430", "9999", "70013", "70011"]
        );
    }

    #[test]
    fn the_year_of_a_date_in_words_is_no_id() {
        let text = "Tue Oct 21 10:00:59 2025 +0000; [30/Oct/2025:22:40:42 +0000]; Nov 21, 2026; 21 November 2026; May 20  2026 f; in 2024";
        assert_eq!(texts(text, runs(text)), ["2024"]);
    }
}
