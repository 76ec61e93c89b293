//! Sanitizes recorded text for models and people: characters that are invisible, or that change how others are
//! displayed, are escaped.

use std::borrow::Cow;
use std::fmt::Write;

pub use lore::sanitize::is_hidden;

/// Sanitizes a text of several lines. Line breaks and tabs stay; other characters that [`is_hidden`] are written as
/// `\u{202e}`. A carriage return before a line break is removed.
///
/// ```
/// assert_eq!(lored::sanitize::text("a\u{202e}b\r\n\tc"), "a\\u{202e}b\n\tc");
/// ```
#[must_use]
pub fn text(text: &str) -> Cow<'_, str> {
    written_out(text, |character| matches!(character, '\n' | '\t'))
}

/// Sanitizes a name or a title, which is one line: line breaks and tabs are escaped, too.
///
/// ```
/// assert_eq!(lored::sanitize::line("a\nb"), "a\\nb");
/// ```
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    written_out(text, |_| false)
}

/// Returns the beginning of a text of at most `max` bytes, without a partial character.
#[must_use]
pub fn head(text: &str, max: usize) -> &str {
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

fn written_out(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_plain = |character| stays(character) || !is_hidden(character);
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\r' if stays('\n') && rest.peek() == Some(&'\n') => {}
            _ if is_plain(character) => out.push(character),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Writing to a string cannot fail.
            _ => drop(write!(out, "\\u{{{:x}}}", u32::from(character))),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_seen_stays_as_it_is() {
        for plain in [
            "",
            "switch-nyc-01",
            "naïve café — 漢字 ☕\u{fe0f} 🦀",
            "a\n\tb",
        ] {
            assert!(matches!(text(plain), Cow::Borrowed(shown) if shown == plain));
        }
    }

    #[test]
    fn a_head_ends_with_a_character() {
        for (max, shown) in [(0, ""), (1, "a"), (2, "a"), (3, "aé"), (9, "aéb")] {
            assert_eq!(head("aéb", max), shown);
        }
    }

    #[test]
    fn what_hides_is_written_out() {
        for (hidden, shown) in [
            ("nyc\u{202e}10-hctiws", "nyc\\u{202e}10-hctiws"),
            (
                "a\u{200b}b\u{2066}c\u{feff}",
                "a\\u{200b}b\\u{2066}c\\u{feff}",
            ),
            ("\u{1b}[31mred\u{7}\u{9b}", "\\u{1b}[31mred\\u{7}\\u{9b}"),
            ("tag\u{e0041}\u{e0100}", "tag\\u{e0041}\\u{e0100}"),
            ("one\r\ntwo\rthree", "one\ntwo\\rthree"),
            ("line\u{2028}break", "line\\u{2028}break"),
        ] {
            assert_eq!(text(hidden), shown);
            assert!(!text(hidden).chars().any(|c| is_hidden(c) && c != '\n'));
        }
        assert_eq!(line("one\r\n\ttwo"), "one\\r\\n\\ttwo");
    }
}
