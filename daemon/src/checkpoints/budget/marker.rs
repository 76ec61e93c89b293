//! Markers: what a view left out, and how to load it.

use std::fmt;

/// Maximum number of characters of a key in a marker.
const KEY_CHARS_MAX: usize = 60;
/// Maximum number of ranges of left-out messages that a marker lists.
const RANGES_MAX: usize = 6;

/// How to load the whole value of a top-level key.
#[derive(Clone, Copy, Debug)]
pub(super) struct MarkerOrigin<'a> {
    /// The top-level key.
    pub key: &'a str,
    /// The checkpoint with the value.
    pub checkpoint: &'a str,
}

impl fmt::Display for MarkerOrigin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key: String = self.key.chars().take(KEY_CHARS_MAX).collect();
        let rest = if key.len() < self.key.len() {
            "…"
        } else {
            ""
        };
        let checkpoint = self.checkpoint;
        write!(f, "; load key \"{key}{rest}\" of checkpoint {checkpoint}")
    }
}

/// Returns the text of a marker.
pub(super) fn marker(what: &str, origin: Option<&MarkerOrigin<'_>>) -> String {
    match origin {
        Some(origin) => format!("…[{what} left out{origin}]…"),
        None => format!("…[{what} left out]…"),
    }
}

/// Names the left-out messages by their numbers, from 1: `3 of 9 messages (2, 5-6)`. Many ranges are omitted.
pub(super) fn messages_left_out(is_kept: &[bool]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    let mut left_out = 0;
    for (at, _) in is_kept.iter().enumerate().filter(|(_, kept)| !**kept) {
        left_out += 1;
        match ranges.last_mut() {
            Some((_, end)) if *end == at => *end = at + 1,
            _ => ranges.push((at + 1, at + 1)),
        }
    }
    let count = is_kept.len();
    if ranges.len() > RANGES_MAX {
        return format!("{left_out} of {count} messages");
    }
    let ranges = ranges.iter().map(|(start, end)| match start == end {
        true => start.to_string(),
        false => format!("{start}-{end}"),
    });
    let ranges = ranges.collect::<Vec<_>>().join(", ");
    format!("{left_out} of {count} messages ({ranges})")
}

/// Returns a text that is at least as long as any result of [`messages_left_out`] for so many messages.
pub(super) fn longest_messages_left_out(count: usize) -> String {
    let ranges = vec![format!("{count}-{count}"); RANGES_MAX.min(count.div_ceil(2))];
    format!("{count} of {count} messages ({})", ranges.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn left_out_messages_are_named_by_their_numbers() {
        let named = |kept: &str| {
            let kept: Vec<bool> = kept.chars().map(|kept| kept == '#').collect();
            messages_left_out(&kept)
        };
        assert_eq!(named("#.#"), "1 of 3 messages (2)");
        assert_eq!(named("..#..."), "5 of 6 messages (1-2, 4-6)");
        assert_eq!(
            named(&"#.".repeat(6)),
            "6 of 12 messages (2, 4, 6, 8, 10, 12)"
        );
        assert_eq!(named(&"#.".repeat(7)), "7 of 14 messages");
        for kept in ["#.", "#.#.#.#.#.#.", ".#.#.#.#.#.", "......"] {
            let longest = longest_messages_left_out(kept.len());
            assert!(named(kept).len() <= longest.len(), "{kept}");
        }
    }
}
