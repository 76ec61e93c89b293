//! Formats texts and numbers for cells: short, and safe whatever was recorded.

use std::time::Duration;

use lore::sanitize;
use ratatui::style::{Color, Modifier, Style};
use unicode_width::UnicodeWidthChar;

/// Longest processed text, in characters: no terminal is wider.
const CHARS_MAX: usize = 500;
/// Limit on combining marks per character; more would overlap other lines.
const MARKS_MAX: usize = 2;

/// Style of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Normal text.
    Plain,
    /// Less important text.
    Faint,
    /// A name.
    Name,
    /// A good state.
    Good,
    /// An unusual state.
    Odd,
    /// An error state.
    Bad,
    /// The current selection.
    Chosen,
}

/// Whether colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColourMode {
    /// The terminal's colours.
    Colours,
    /// Only bold, faint and reversed.
    Plain,
}

impl ColourMode {
    /// Returns the style of a tone.
    pub fn style(self, tone: Tone) -> Style {
        let style = Style::new();
        let colour = |colour| match self {
            Self::Colours => style.fg(colour),
            Self::Plain => style,
        };
        match tone {
            Tone::Plain => style,
            Tone::Faint => style.add_modifier(Modifier::DIM),
            Tone::Name => colour(Color::Cyan),
            Tone::Good => colour(Color::Green),
            Tone::Odd => colour(Color::Yellow),
            Tone::Bad => colour(Color::Red).add_modifier(Modifier::BOLD),
            Tone::Chosen => style.add_modifier(Modifier::REVERSED),
        }
    }
}

/// Sanitizes a text: removes characters that move the cursor, hide or pile up. The result is as wide as [`width`]
/// reports.
pub fn harmless(text: &str) -> String {
    let mut marks = 0;
    let mut is_first = true;
    let mut kept = sanitize::sanitize(text, CHARS_MAX);
    kept.retain(|character| {
        let is_mark = character.width().unwrap_or(0) == 0;
        marks = if is_mark { marks + 1 } else { 0 };
        // A variation selector changes how wide some terminals draw the preceding character.
        let is_selector = matches!(character, '\u{fe00}'..='\u{fe0f}');
        let keeps = !is_selector && (!is_mark || (marks <= MARKS_MAX && !is_first));
        is_first = false;
        keeps
    });
    kept
}

/// Returns the width of a sanitized text, in terminal columns.
pub fn width(text: &str) -> usize {
    text.chars().filter_map(UnicodeWidthChar::width).sum()
}

/// Truncates a sanitized text to at most `columns`; `…` marks a cut.
pub fn fit(text: &str, columns: usize) -> String {
    let mut text = harmless(text);
    if width(&text) <= columns {
        return text;
    }
    let mut taken = 1;
    let end = text.char_indices().find_map(|(at, character)| {
        taken += character.width().unwrap_or(0);
        (taken > columns).then_some(at)
    });
    text.truncate(end.unwrap_or(0));
    if columns > 0 {
        text.push('…');
    }
    text
}

/// Formats an age in one unit.
pub fn age(passed: Duration) -> String {
    let seconds = passed.as_secs();
    match seconds {
        0 => "now".to_owned(),
        1..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// Formats a short duration with about three digits.
pub fn took(time: Duration) -> String {
    let us = time.as_micros();
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..10_000 => format!("{}.{:02} ms", us / 1_000, us % 1_000 / 10),
        10_000..100_000 => format!("{}.{} ms", us / 1_000, us % 1_000 / 100),
        100_000..10_000_000 => format!("{} ms", us / 1_000),
        _ => format!("{} s", us / 1_000_000),
    }
}

/// Formats a number with thousands separators.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut apart = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            apart.push(' ');
        }
        apart.push(digit);
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_by_what_a_terminal_shows() {
        assert_eq!(fit("漢字漢字", 8), "漢字漢字");
        assert_eq!(fit("漢字漢字", 7), "漢字漢…");
        assert_eq!(fit("漢字漢字", 6), "漢字…");
        assert_eq!(fit("abc", 1), "…");
        assert_eq!(fit("abc", 0), "");
        assert_eq!(width("漢é"), 3);
    }

    #[test]
    fn nothing_moves_hides_or_piles_up() {
        assert_eq!(
            harmless("a\x1b[2Jb\r\n\u{202e}c\u{9b}"),
            "a\\u{1b}[2Jb\\r\\n\\u{202e}c\\u{9b}"
        );
        let pile = format!("e{}x", "\u{301}".repeat(50));
        assert_eq!(harmless(&pile), "e\u{301}\u{301}x");
        assert_eq!(harmless("\u{301}a"), "a");
        assert_eq!(harmless("☂\u{fe0f}!"), "☂!");
        assert_eq!(harmless("👩\u{200d}💻"), "👩\\u{200d}💻");
        assert!(harmless(&"x".repeat(1 << 20)).len() < 1_000);
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(count(0), "0");
        assert_eq!(count(1_234_567), "1 234 567");
        assert_eq!(age(Duration::from_secs(59)), "59 s");
        assert_eq!(age(Duration::from_secs(90_000)), "1 d");
        assert_eq!(took(Duration::from_micros(870)), "870 µs");
        assert_eq!(took(Duration::from_micros(1_250)), "1.25 ms");
        assert_eq!(took(Duration::from_micros(45_678)), "45.6 ms");
        assert_eq!(took(Duration::from_millis(5_678)), "5678 ms");
    }
}
