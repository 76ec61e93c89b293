//! Detects distinctive lines of the examples that were left in a file.

use crate::projects::outline::Outline;
use std::collections::HashMap;

/// Shorter lines are ignored, because they may match by accident, in bytes.
const LINE_BYTES_MIN: usize = 24;
/// Lines with fewer words are ignored.
const WORDS_MIN: usize = 4;

/// The distinctive lines of a template's examples.
#[derive(Clone, Debug, Default)]
pub(in crate::projects) struct Samples {
    /// The examples that contain each line, one bit per example.
    lines: HashMap<String, u8>,
    /// The number of distinctive lines in each example.
    totals: Vec<usize>,
}

impl Samples {
    pub(super) fn of(examples: &[String]) -> Self {
        let mut samples = Self::default();
        for (at, example) in examples.iter().enumerate() {
            let outline = Outline::of(example);
            let mut total = 0;
            for (start, line) in outline.lines(&outline.whole()) {
                let bit = 1_u8.checked_shl(u32::try_from(at).unwrap_or(u32::MAX));
                let reported = telling(line).filter(|_| !outline.is_quiet(start));
                if let (Some(line), Some(bit)) = (reported, bit) {
                    let examples = samples.lines.entry(line).or_default();
                    total += usize::from(*examples & bit == 0);
                    *examples |= bit;
                }
            }
            samples.totals.push(total);
        }
        samples
    }

    /// Returns the start of each line of a text that is left over from an example. Lines of an example that is included
    /// completely do not count, because that is intended.
    pub(in crate::projects) fn left_over(&self, outline: &Outline<'_>) -> Vec<usize> {
        let mut seen: HashMap<&str, u8> = HashMap::new();
        let mut places = Vec::new();
        for (start, line) in outline.lines(&outline.whole()) {
            let Some(line) = telling(line) else { continue };
            let Some((line, examples)) = self.lines.get_key_value(&line) else {
                continue;
            };
            if !outline.is_quiet(start) {
                seen.insert(line, *examples);
                places.push((start, *examples));
            }
        }
        let mut whole = 0_u8;
        for (at, total) in self.totals.iter().enumerate() {
            let bit = 1_u8.checked_shl(u32::try_from(at).unwrap_or(u32::MAX));
            let bit = bit.unwrap_or_default();
            let count = seen
                .values()
                .filter(|examples| **examples & bit != 0)
                .count();
            if count == *total {
                whole |= bit;
            }
        }
        places.retain(|(_, examples)| examples & whole == 0);
        places.into_iter().map(|(start, _)| start).collect()
    }
}

/// Normalises a line without its marker and spacing; `None` if it is not distinctive.
fn telling(line: &str) -> Option<String> {
    let line = line.trim_start_matches(|c: char| {
        c.is_whitespace() || matches!(c, '-' | '*' | '+' | '>' | '_')
    });
    if line.len() < LINE_BYTES_MIN || line.len() > 1024 || line.starts_with('#') {
        return None;
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    (words.len() >= WORDS_MIN).then(|| words.join(" "))
}
