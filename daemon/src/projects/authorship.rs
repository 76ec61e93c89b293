//! Finds the versions of a context file that hold text of other versions: a version is a whole file, so text that one
//! agent added is also in the versions that others made of it.

use std::collections::HashMap;

use super::parts::{parts, plain_lines};

/// Shorter lines may be equal by chance, in bytes; they only count within their part of the file.
const LINE_BYTES_MIN: usize = 24;
/// Lines with fewer words count likewise.
const WORDS_MIN: usize = 4;

/// The lines of a file by the version that introduced them, from its first version on.
#[derive(Debug, Default)]
pub struct FileLines {
    /// Whether a marked version introduced a line, by the key of its part and the line.
    in_parts: HashMap<(String, String), bool>,
    /// The same for lines that are not equal by chance, wherever they are.
    anywhere: HashMap<String, bool>,
}

impl FileLines {
    /// Adds the next version. Returns whether it holds lines that a marked version introduced.
    pub fn add(&mut self, content: &str, is_marked: bool) -> bool {
        let mut holds = false;
        for part in parts(content, None) {
            for line in plain_lines(part.text) {
                let place = (part.key.clone(), line.to_owned());
                holds |= *self.in_parts.entry(place).or_insert(is_marked);
                if is_distinctive(line) {
                    let of = self.anywhere.entry(line.trim().to_owned());
                    holds |= *of.or_insert(is_marked);
                }
            }
        }
        holds
    }

    /// Returns whether a text that is not a version, such as a draft, holds lines that a marked version introduced.
    #[must_use]
    pub fn is_in(&self, content: &str) -> bool {
        parts(content, None).iter().any(|part| {
            plain_lines(part.text).any(|line| {
                let place = (part.key.clone(), line.to_owned());
                self.in_parts.get(&place) == Some(&true)
                    || self.anywhere.get(line.trim()) == Some(&true)
            })
        })
    }

    /// Returns a text without the lines that marked versions introduced, and without the parts whose headings they did.
    #[must_use]
    pub fn without(&self, content: &str) -> String {
        let mut rest = String::with_capacity(content.len());
        for part in parts(content, None) {
            let is_marked = |line: &str| {
                let line = line.trim_end();
                let place = (part.key.clone(), line.to_owned());
                !line.is_empty()
                    && (self.in_parts.get(&place) == Some(&true)
                        || self.anywhere.get(line.trim()) == Some(&true))
            };
            let is_headed = !part.title.is_empty();
            if is_headed && part.text.lines().next().is_some_and(is_marked) {
                continue;
            }
            let lines = part.text.split_inclusive('\n');
            rest.extend(lines.filter(|line| !is_marked(line)));
        }
        rest
    }
}

fn is_distinctive(line: &str) -> bool {
    line.trim().len() >= LINE_BYTES_MIN && line.split_whitespace().count() >= WORDS_MIN
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADA: &str = "# Features\n\n## Search\n\n- **Status**: Active\n- **Description**: Finds products by name\n";
    const BOB: &str = "\n## Gift cards\n\n- **Status**: Planned\n- **Description**: A card that pays for anything\n";

    #[test]
    fn a_version_holds_what_an_earlier_one_introduced() {
        let mut lines = FileLines::default();
        assert!(!lines.add(ADA, false));
        assert!(lines.add(&format!("{ADA}{BOB}"), true));
        assert!(lines.add(&format!("{ADA}\nMore.\n{BOB}"), false), "merged");
        assert_eq!(
            lines.without(&format!("{ADA}More.\n{BOB}")).trim_end(),
            format!("{ADA}More.")
        );
        let part = "# Features\n\n## Cards\n\n  - **Description**: A card that pays for anything\n";
        assert!(!lines.is_in(ADA) && lines.is_in(BOB));
        let moved = part.replace("  - ", "- ");
        assert!(lines.add(&moved, false), "under another heading");
        let other = "# Features\n\n## Refunds\n\n- **Status**: Planned\n- **Description**: Gives money back\n";
        assert!(
            !lines.add(&format!("{ADA}{other}"), false),
            "equal by chance"
        );
    }
}
