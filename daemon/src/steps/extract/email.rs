//! The `email` extractor: addresses of the usual `local@domain.tld` form.

use super::span::{Spans, before, byte};
use std::ops::Range;

/// Maximum length of the local part and of the domain, in bytes, as in the mail standards.
const LOCAL_MAX: usize = 64;
const DOMAIN_MAX: usize = 255;

/// Finds email addresses. `urls` are the URLs in the text; their user part is not an address.
pub(super) fn find(text: &str, urls: &Spans) -> Spans {
    let bytes = text.as_bytes();
    let mut finds: Spans = Vec::new();
    for (at, _) in text.match_indices('@') {
        let Some(found) = around(bytes, at) else {
            continue;
        };
        let overlaps = finds.last().is_some_and(|last| found.start < last.end);
        if !overlaps && !is_user_of_url(text, urls, &found) {
            finds.push(found);
        }
    }
    finds
}

fn around(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let head = bytes.get(at.saturating_sub(LOCAL_MAX + 1)..at)?;
    let local = head
        .iter()
        .rev()
        .take_while(|byte| is_local(**byte))
        .count();
    if local == 0 || local > LOCAL_MAX {
        return None;
    }
    let mut start = at - local;
    while start < at && matches!(bytes.get(start), Some(b'.' | b'-' | b'\'' | b'+' | b'%')) {
        start += 1;
    }
    let ends_well = !matches!(before(bytes, at), Some(b'.'));
    // After a non-ASCII letter, the match would be a truncated address.
    if start == at || !ends_well || before(bytes, start).is_some_and(|byte| byte >= 0x80) {
        return None;
    }
    let end = domain_end(bytes, at + 1)?;
    // `git@host.tld:path` is a Git remote.
    let is_remote = byte(bytes, Some(end)) == Some(b':')
        && byte(bytes, Some(end + 1))
            .is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, b'/' | b'~'));
    (!is_remote).then_some(start..end)
}

fn is_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._%+-'".contains(&byte)
}

/// Returns the end of the domain at `start`: labels of letters, digits and inner hyphens, the last of letters only.
fn domain_end(bytes: &[u8], start: usize) -> Option<usize> {
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    let ahead = bytes.get(start..)?;
    let length = ahead
        .iter()
        .take(DOMAIN_MAX)
        .take_while(|byte| allowed(byte))
        .count();
    let domain = ahead.get(..length)?;
    let last = domain
        .iter()
        .rposition(|byte| !matches!(byte, b'.' | b'-'))?;
    let domain = domain.get(..=last)?;
    let mut labels = domain.split(|byte| *byte == b'.').peekable();
    let mut count = 0;
    while let Some(label) = labels.next() {
        count += 1;
        if label.is_empty() || label.starts_with(b"-") || label.ends_with(b"-") {
            return None;
        }
        let is_last = labels.peek().is_none();
        if is_last && (label.len() < 2 || !label.iter().all(u8::is_ascii_alphabetic)) {
            return None;
        }
    }
    let end = start + domain.len();
    let goes_on =
        byte(bytes, Some(end)).is_some_and(|next| next >= 0x80 || next == b'_' || next == b'@');
    (count >= 2 && !goes_on).then_some(end)
}

/// Returns whether the match is between `//` and the first `/` of a URL.
fn is_user_of_url(text: &str, urls: &Spans, found: &Range<usize>) -> bool {
    let after = urls.partition_point(|url| url.end <= found.start);
    let Some(url) = urls.get(after).filter(|url| url.start < found.start) else {
        return false;
    };
    let between = text.get(url.start..found.start).unwrap_or_default();
    let host = between.split_once("://").map_or("", |(_, host)| host);
    !host.contains(['/', '?', '#'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::extract::{span::texts, url};

    fn emails(text: &str) -> Vec<&str> {
        texts(text, find(text, &url::find(text)))
    }

    #[test]
    fn addresses_are_found_whole() {
        for email in [
            "user@example.com",
            "admin@company.org",
            "seun+orders@ade.example",
            "john.o'neill@mail.example.ie",
            "a_b-c%d@x-y.example",
        ] {
            for text in [
                email.to_owned(),
                format!("Zoë <{email}>,"),
                format!("mailto:{email}."),
                format!("({email})"),
                format!("\"{email}\""),
                format!("mail {email}: hello"),
            ] {
                assert_eq!(emails(&text), [email], "{text}");
            }
        }
        assert_eq!(emails("https://x.example/?to=a@b.example"), ["a@b.example"]);
    }

    #[test]
    fn what_is_no_address_is_left() {
        for text in [
            "@user",
            "a@b",
            "a@1.2.3",
            "itoa@1.0.18",
            "git@gitlab.example.com:shop/orderdesk.git",
            "https://user:pw@example.com/",
            "a@b..com",
            "x@.com",
            "müller@example.com",
            "a@b.c",
        ] {
            assert!(emails(text).is_empty(), "{text}: {:?}", emails(text));
        }
    }
}
