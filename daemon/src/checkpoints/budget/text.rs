//! Cuts texts that are too long alone.

/// Encodes a text as JSON.
pub(super) fn text_json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The part of a text that a cut keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeptPart {
    /// The beginning and the end, half of it each.
    Ends,
    /// The end, from the beginning of a line if possible: a log's newest lines.
    Tail,
}

/// Returns the beginning and the end of a text with together at most `chars` characters.
pub(super) fn cut(text: &str, chars: usize, part: KeptPart) -> (&str, &str) {
    match part {
        KeptPart::Ends => ends(text, chars.div_ceil(2), chars / 2),
        KeptPart::Tail => {
            let (_, tail) = ends(text, 0, chars);
            // The rest of a cut line goes unless it is most of the tail.
            let line = tail
                .find('\n')
                .map(|end| end + 1)
                .filter(|start| *start <= tail.len() / 2);
            ("", tail.get(line.unwrap_or(0)..).unwrap_or_default())
        }
    }
}

fn ends(text: &str, head: usize, tail: usize) -> (&str, &str) {
    let head_end = text
        .char_indices()
        .nth(head)
        .map_or(text.len(), |(at, _)| at);
    let mut from_the_end = text.char_indices().rev();
    let tail_start = match tail.checked_sub(1) {
        Some(others) => from_the_end.nth(others).map_or(0, |(at, _)| at),
        None => text.len(),
    };
    let head = text.get(..head_end).unwrap_or_default();
    (head, text.get(tail_start..).unwrap_or_default())
}

/// Returns the largest of the sizes from 0 to below `too_large` that fits, to within a few percent, with its result;
/// `None` if not even 0 fits.
pub(super) fn largest<T>(too_large: usize, fits: impl Fn(usize) -> Option<T>) -> Option<T> {
    let mut best = fits(0)?;
    let (mut low, mut high) = (0_usize, too_large);
    while high > low + 1 + low / 32 {
        // Sizes differ by orders of magnitude: the middle is the geometric one.
        let middle = low
            .max(1)
            .saturating_mul(high)
            .isqrt()
            .clamp(low + 1, high - 1);
        match fits(middle) {
            Some(fit) => (best, low) = (fit, middle),
            None => high = middle,
        }
    }
    Some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_keep_characters_and_lines_whole() {
        assert_eq!(cut("aéîøu", 3, KeptPart::Ends), ("aé", "u"));
        assert_eq!(cut("aéîøu", 0, KeptPart::Ends), ("", ""));
        assert_eq!(cut("aéîøu", 2, KeptPart::Tail), ("", "øu"));
        assert_eq!(
            cut("first\nsecond\nthird", 8, KeptPart::Tail),
            ("", "third")
        );
        assert_eq!(
            cut("first\nsecond third\n", 9, KeptPart::Tail),
            ("", "nd third\n")
        );
    }

    #[test]
    fn the_largest_size_that_fits() {
        for limit in [0, 1, 2, 7, 100, 12_345] {
            let found = largest(1_000_000, |size| (size <= limit).then_some(size));
            let found = found.unwrap_or(usize::MAX);
            assert!(
                found <= limit && found + found / 32 + 1 >= limit,
                "{found} of {limit}"
            );
        }
        assert_eq!(largest(5, |_| None::<usize>), None);
    }
}
