//! Groups of digits that belong together and have no type: telephone numbers, MAC and IPv6 addresses.

use super::span::{
    Spans, before, byte, digit_runs, digits_end, is_alphanumeric, is_digit, is_word,
};

/// Minimum and maximum number of digits of a telephone number.
const PHONE_DIGITS: std::ops::RangeInclusive<usize> = 8..=15;

/// Finds telephone numbers in the international form: `+48 22 555 01 77`.
pub(super) fn phones(text: &str) -> Spans {
    let bytes = text.as_bytes();
    let mut finds: Spans = Vec::new();
    for (plus, _) in text.match_indices('+') {
        if is_word(before(bytes, plus)) {
            continue;
        }
        let (mut end, mut digits, mut groups) = (plus + 1, 0, 0);
        let mut next = end;
        loop {
            let group_end = digits_end(bytes, next);
            if group_end == next {
                break;
            }
            digits += group_end - next;
            groups += 1;
            end = group_end;
            next = match byte(bytes, Some(end)) {
                Some(b' ' | b'-') => end + 1,
                _ => break,
            };
        }
        if groups >= 3 && PHONE_DIGITS.contains(&digits) {
            finds.push(plus..end);
        }
    }
    finds
}

/// Finds MAC addresses, IPv6 addresses with their prefix length, and fingerprints.
pub(super) fn hardware(text: &str) -> Spans {
    let bytes = text.as_bytes();
    let mut finds: Spans = Vec::new();
    for (colon, _) in text.match_indices(':') {
        if finds.last().is_some_and(|last| colon < last.end) {
            continue;
        }
        let is_part = |byte: &u8| byte.is_ascii_hexdigit() || *byte == b':';
        let start = colon - groups_before(bytes, colon);
        let rest = bytes.get(start..).unwrap_or_default();
        let length = rest
            .iter()
            .take(ADDRESS_MAX)
            .take_while(|byte| is_part(byte))
            .count();
        let end = start + length;
        let address = rest.get(..length).unwrap_or_default();
        if is_alphanumeric(before(bytes, start))
            || is_word(byte(bytes, Some(end)))
            || !is_address(address)
        {
            continue;
        }
        let is_network =
            byte(bytes, Some(end)) == Some(b'/') && is_digit(byte(bytes, Some(end + 1)));
        finds.push(
            start..if is_network {
                digits_end(bytes, end + 1)
            } else {
                end
            },
        );
    }
    finds
}

/// Maximum length of an address, in bytes: a SHA-256 fingerprint.
const ADDRESS_MAX: usize = 96;

/// Counts the hexadecimal digits directly before a colon. More than four are not a group.
fn groups_before(bytes: &[u8], colon: usize) -> usize {
    let head = bytes
        .get(colon.saturating_sub(5)..colon)
        .unwrap_or_default();
    head.iter()
        .rev()
        .take_while(|byte| byte.is_ascii_hexdigit())
        .count()
}

fn is_address(text: &[u8]) -> bool {
    let groups: Vec<&[u8]> = text.split(|byte| *byte == b':').collect();
    let gaps = text.windows(2).filter(|pair| pair == b"::").count();
    let is_pairs = groups.len() >= 6 && groups.iter().all(|group| group.len() == 2);
    let is_ipv6 = groups.len() <= 9 && groups.iter().all(|group| group.len() <= 4);
    let is_full = groups.len() == 8 && groups.iter().all(|group| !group.is_empty());
    is_pairs || (is_ipv6 && (gaps == 1 || (gaps == 0 && is_full)))
}

/// Finds spans whose digits are never ids or numbers.
pub(super) fn find(text: &str) -> Spans {
    let mut finds = phones(text);
    if digit_runs(text.as_bytes()).next().is_some() {
        finds.extend(hardware(text));
    }
    finds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::extract::span::texts;

    fn found(text: &str) -> Vec<&str> {
        texts(text, find(text))
    }

    #[test]
    fn whole_groups_are_found() {
        assert_eq!(
            found("Phone: +48 22 555 01 77, or +55-11-5550-0143."),
            ["+48 22 555 01 77", "+55-11-5550-0143"]
        );
        assert_eq!(
            found("inet6 2001:db8:10:100::22/64 ::1/128 fe80::1 link 7a:91:62:af:a0:7c brd"),
            [
                "2001:db8:10:100::22/64",
                "::1/128",
                "fe80::1",
                "7a:91:62:af:a0:7c"
            ]
        );
    }

    #[test]
    fn other_colons_and_signs_are_left() {
        for text in [
            "10:20:30 12345",
            "+1,5 +1,10 @@ 1234",
            "+5 items 70010",
            "a: 12345",
            "core::fmt 1234",
            "x:1:2 1234",
        ] {
            assert!(found(text).is_empty(), "{text}: {:?}", found(text));
        }
    }
}
