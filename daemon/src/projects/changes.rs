//! Compares the sections of two versions of a file.

use super::outline::Outline;
use std::collections::HashMap;

/// Returns the keys of the sections that were added, removed or changed between two texts: in the order of the
/// newer text, then of the older one. The text before the first section has the empty key. Line endings and
/// trailing white space are ignored.
#[must_use]
pub fn changed_sections(base: &str, one: &str) -> Vec<String> {
    let (base, one) = (Parts::of(base), Parts::of(one));
    let keys = one.order.iter().chain(&base.order);
    let mut seen = std::collections::HashSet::new();
    keys.filter(|key| seen.insert(key.as_str()) && base.part(key) != one.part(key))
        .cloned()
        .collect()
}

/// Returns the keys of the sections that both texts changed differently, so that one would undo the other.
#[must_use]
pub fn both_changed(base: &str, theirs: &str, yours: &str) -> Vec<String> {
    let by_them = changed_sections(base, theirs);
    let by_them: std::collections::HashSet<&String> = by_them.iter().collect();
    let (theirs, mine) = (Parts::of(theirs), Parts::of(yours));
    let by_you = changed_sections(base, yours).into_iter();
    by_you
        .filter(|key| by_them.contains(key) && theirs.part(key) != mine.part(key))
        .collect()
}

/// The text of each section. Sections with the same key are joined.
struct Parts {
    order: Vec<String>,
    by_key: HashMap<String, String>,
}

impl Parts {
    fn of(text: &str) -> Self {
        let outline = Outline::of(text);
        let mut parts = Self {
            order: Vec::new(),
            by_key: HashMap::new(),
        };
        let preamble = outline.slice(&outline.preamble());
        parts.add("", preamble.trim_start_matches('\u{feff}'));
        for section in outline.sections() {
            let whole = section.heading.start..section.body.end;
            parts.add(&section.key, outline.slice(&whole));
        }
        parts
    }

    fn add(&mut self, key: &str, text: &str) {
        let lines = text.trim().lines().map(str::trim_end);
        let text = lines.collect::<Vec<&str>>().join("\n");
        match self.by_key.get_mut(key) {
            Some(known) => {
                known.push('\n');
                known.push_str(&text);
            }
            None => {
                self.order.push(key.to_owned());
                self.by_key.insert(key.to_owned(), text);
            }
        }
    }

    /// Returns a section. A missing section differs from an empty one; an empty preamble counts as missing.
    fn part(&self, key: &str) -> Option<&str> {
        let part = self.by_key.get(key).map(String::as_str);
        part.filter(|part| !(key.is_empty() && part.is_empty()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "intro\n\n# T\n\n## A\n\none\n\n## B\n\ntwo\n\n## C\n\nthree\n";

    #[test]
    fn added_removed_and_changed_are_told() {
        let one = BASE.replace("one", "1").replace("## C", "## D");
        assert_eq!(changed_sections(BASE, &one), ["a", "d", "c"]);
        assert_eq!(
            changed_sections(BASE, &BASE.replace("intro", "hello")),
            [""]
        );
        assert_eq!(changed_sections(BASE, BASE), [""; 0]);
        assert_eq!(changed_sections("", BASE), ["", "t", "a", "b", "c"]);
        assert_eq!(changed_sections(BASE, ""), ["", "t", "a", "b", "c"]);
    }

    #[test]
    fn line_ends_do_not_count_and_duplicates_do() {
        assert_eq!(
            changed_sections(BASE, &BASE.replace('\n', "  \r\n")),
            [""; 0]
        );
        assert_eq!(
            changed_sections(BASE, &format!("\u{feff}{BASE}\n\n")),
            [""; 0]
        );
        assert_eq!(
            changed_sections(BASE, &format!("{BASE}\n## A\n\nagain\n")),
            ["a"]
        );
        // The text under a level 3 heading belongs to its section.
        assert_eq!(
            changed_sections(BASE, &BASE.replace("two", "### x\n\ntwo")),
            ["b"]
        );
        // An empty section differs from a missing one.
        assert_eq!(changed_sections("## A\n", "## A\n## B\n"), ["b"]);
    }

    #[test]
    fn only_what_both_changed_in_different_ways_is_in_conflict() {
        let theirs = BASE.replace("one", "1").replace("two", "2");
        let yours = BASE.replace("two", "II").replace("three", "III");
        assert_eq!(both_changed(BASE, &theirs, &yours), ["b"]);
        assert_eq!(both_changed(BASE, &theirs, &theirs), [""; 0]);
        assert_eq!(both_changed(BASE, &theirs, BASE), [""; 0]);
        let removed = BASE.replace("## B\n\ntwo\n\n", "");
        assert_eq!(both_changed(BASE, &theirs, &removed), ["b"]);
        let (here, there) = (
            format!("{BASE}\n## N\n\nx\n"),
            format!("{BASE}\n## N\n\ny\n"),
        );
        assert_eq!(both_changed(BASE, &here, &there), ["n"]);
    }
}
