//! The `url` extractor: http and https URLs, without the punctuation of the surrounding sentence.

use super::span::{Spans, before, is_alphanumeric};

/// Finds URLs as they are written in the text.
pub(super) fn find(text: &str) -> Spans {
    let bytes = text.as_bytes();
    let mut finds: Spans = Vec::new();
    for (colon, _) in text.match_indices("://") {
        let Some(start) = scheme_start(bytes, colon) else {
            continue;
        };
        if finds.last().is_some_and(|last| start < last.end) {
            continue;
        }
        let host = colon + 3;
        let quoted = before(bytes, start) == Some(b'\'');
        let end = trimmed(text, host, extent(text, host, quoted));
        if end > host && text.get(host..end).is_some_and(has_host) {
            finds.push(start..end);
        }
    }
    finds
}

/// Returns the start of `http` or `https` before the colon, if it is a whole word.
fn scheme_start(bytes: &[u8], colon: usize) -> Option<usize> {
    [5, 4].into_iter().find_map(|length| {
        let start = colon.checked_sub(length)?;
        let scheme = bytes.get(start..colon)?;
        let known = scheme.eq_ignore_ascii_case(b"https") || scheme.eq_ignore_ascii_case(b"http");
        (known && !is_alphanumeric(before(bytes, start))).then_some(start)
    })
}

/// Returns the end of a URL: the first character that no URL contains, or the first unmatched closing bracket.
fn extent(text: &str, host: usize, quoted: bool) -> usize {
    let (mut round, mut square) = (0_usize, 0_usize);
    for (at, c) in text.get(host..).unwrap_or_default().char_indices() {
        match c {
            '(' => round += 1,
            '[' => square += 1,
            ')' if round > 0 => round -= 1,
            ']' if square > 0 => square -= 1,
            '\'' if !quoted => {}
            ')' | ']' | '<' | '>' | '"' | '`' | '{' | '}' | '|' | '\\' | '^' | '\'' => {
                return host + at;
            }
            c if c.is_whitespace() || c.is_control() => return host + at,
            _ => {}
        }
    }
    text.len()
}

/// Returns the end without trailing punctuation.
fn trimmed(text: &str, host: usize, end: usize) -> usize {
    let address = text.get(host..end).unwrap_or_default();
    let kept = address.trim_end_matches([
        '.', ',', ';', ':', '$', '!', '?', '\'', '*', '_', '~', '…', '(', '[', '’', '”', '»',
    ]);
    host + kept.len()
}

fn has_host(address: &str) -> bool {
    address.starts_with(|c: char| c.is_alphanumeric() || c == '[')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::extract::span::texts;

    fn urls(text: &str) -> Vec<&str> {
        texts(text, find(text))
    }

    #[test]
    fn addresses_are_found_whole() {
        for url in [
            "https://example.com",
            "http://api.example.com/data",
            "HTTPS://Example.com:8443/a/b?x=1&y=a,b#frag",
            "https://en.example.org/wiki/Rust_(language)",
            "http://[2001:db8::1]:80/",
            "https://user:pw@example.com/",
            "https://bücher.example/ä",
        ] {
            for text in [
                url.to_owned(),
                format!("see {url}, then"),
                format!("({url})."),
                format!("<{url}>"),
                format!("[x]({url})"),
                format!("'{url}'"),
                format!("\"{url}\""),
            ] {
                assert_eq!(urls(&text), [url], "{text}");
            }
        }
    }

    #[test]
    fn what_is_no_address_is_left() {
        for text in [
            "file:///home/dev",
            "https://",
            "http:// x",
            "ftp://example.com",
            "xhttps://example.com",
            "https://{host}/",
        ] {
            assert!(urls(text).is_empty(), "{text}");
        }
        assert_eq!(
            urls("https://a.example/x, https://b.example/y?"),
            ["https://a.example/x", "https://b.example/y"]
        );
    }
}
