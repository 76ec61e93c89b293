//! Which lines of a project's files were written by which session, as far as hooks and transcripts reported what was written.
//!
//! Pure: from what edits wrote, in their order, and what files have now, to ranges of lines. A line belongs to the newest edit
//! that wrote it as it is now. Short lines, such as a closing brace, belong to what is around them.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Characters from which on a line is taken for the work of its author.
const TELLING_CHARS: usize = 3;

/// What an edit wrote into a file.
#[derive(Clone, Debug)]
pub struct WrittenText {
    /// The file.
    pub path: String,
    /// Who wrote it: a place in the caller's list.
    pub author: usize,
    /// The text, or a patch in Codex's format: several files may share one.
    pub text: Arc<str>,
}

/// Lines of a file that were written by one author.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthoredRange {
    /// The author.
    pub author: usize,
    /// The first line, from 1.
    pub first: usize,
    /// The last line.
    pub last: usize,
}

fn is_patch(text: &str) -> bool {
    text.contains("*** Begin Patch")
}

/// Returns the lines that an edit wrote into a file: of a patch, those that it adds to that file.
fn written_lines(written: &WrittenText) -> Vec<&str> {
    if !is_patch(&written.text) {
        return written.text.lines().collect();
    }
    let mut is_of_file = false;
    let mut lines = Vec::new();
    for line in written.text.lines() {
        let begun = ["*** Add File: ", "*** Update File: ", "*** Delete File: "];
        if let Some(path) = begun.iter().find_map(|begun| line.strip_prefix(begun)) {
            let path = path.trim();
            is_of_file = written.path == path || written.path.ends_with(&format!("/{path}"));
        } else if let Some(added) = line.strip_prefix('+').filter(|_| is_of_file) {
            lines.push(added);
        }
    }
    lines
}

/// Returns the ranges of a file's lines that edits wrote, in order. `written` are the edits of this file, the oldest first.
#[must_use]
pub fn ranges(written: &[WrittenText], content: &str) -> Vec<AuthoredRange> {
    let mut newest: HashMap<&str, usize> = HashMap::new();
    // By line: the newest edit that wrote a part of it.
    let mut parts: HashMap<usize, usize> = HashMap::new();
    let begins = line_begins(content);
    for (one, order) in written.iter().zip(0..) {
        for line in written_lines(one) {
            newest.insert(line.trim_end(), order);
        }
        for line in lines_of_part(one, content, &begins) {
            parts.insert(line, order);
        }
    }
    let author_of = |line: &str, number: usize| {
        let whole = newest.get(line.trim_end());
        let order = whole.max(parts.get(&number)).copied()?;
        written.get(order).map(|one| one.author)
    };
    let is_telling = |line: &str| line.trim().chars().count() >= TELLING_CHARS;
    let mut ranges: Vec<AuthoredRange> = Vec::new();
    // Short lines that may belong to the range before them.
    let mut open = false;
    for (line, number) in content.lines().zip(1..) {
        if !is_telling(line) {
            continue;
        }
        let author = author_of(line, number);
        match (author, ranges.last_mut()) {
            (Some(author), Some(range)) if open && range.author == author => range.last = number,
            (Some(author), _) => ranges.push(AuthoredRange {
                author,
                first: number,
                last: number,
            }),
            (None, _) => {}
        }
        open = author.is_some();
    }
    ranges
}

/// Returns the offset of each line's first byte.
fn line_begins(content: &str) -> Vec<usize> {
    let breaks = content.match_indices('\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(breaks).collect()
}

/// Returns the lines, from 1, that an edit wrote a part of: hosts name what is replaced by a text that need not begin with a
/// line. A text that stands in several places is left out.
fn lines_of_part(written: &WrittenText, content: &str, begins: &[usize]) -> Range<usize> {
    let text = written.text.trim();
    if is_patch(text) || text.chars().count() < TELLING_CHARS {
        return 0..0;
    }
    let mut places = content.match_indices(text);
    let (Some((begin, _)), None) = (places.next(), places.next()) else {
        return 0..0;
    };
    let line_at = |offset: usize| begins.partition_point(|line| *line <= offset);
    line_at(begin)..line_at(begin + text.len() - 1) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(author: usize, text: &str) -> WrittenText {
        WrittenText {
            path: "/w/src/a.rs".to_owned(),
            author,
            text: text.into(),
        }
    }

    fn range(author: usize, first: usize, last: usize) -> AuthoredRange {
        AuthoredRange {
            author,
            first,
            last,
        }
    }

    #[test]
    fn lines_belong_to_the_newest_edit_that_wrote_them() {
        let content =
            "use x;\n\nfn one() {\n    first();\n}\n\nfn two() {\n    second();\n}\nby hand\n";
        let edits = [
            edit(0, "fn one() {\n    first();\n}\n"),
            edit(1, "fn two() {\n    second();\n}\n"),
        ];
        assert_eq!(ranges(&edits, content), [range(0, 3, 4), range(1, 7, 8)]);
        // The second one wrote the first one's lines again.
        let again = [edits.to_vec(), vec![edit(1, "fn one() {\n    first();\n}")]].concat();
        assert_eq!(ranges(&again, content), [range(1, 3, 8)]);
        assert_eq!(ranges(&[], content), []);
        assert_eq!(ranges(&edits, ""), []);
        assert_eq!(ranges(&edits, "nothing of it\n}\n"), []);
    }

    #[test]
    fn an_edit_within_a_line_wrote_the_line() {
        let content = "let a = 1;\nlet limit = 20;\nlet b = 1;\n";
        let edits = [edit(0, "let limit = 10;"), edit(1, "limit = 20")];
        assert_eq!(ranges(&edits, content), [range(1, 2, 2)]);
        // It may be any of two.
        assert_eq!(ranges(&[edit(0, "= 1;")], content), []);
        let across = edit(2, "20;\nlet b");
        assert_eq!(ranges(&[across], content), [range(2, 2, 3)]);
    }

    #[test]
    fn a_patch_wrote_the_lines_that_it_adds_to_the_file() {
        let patch = "*** Begin Patch\n*** Update File: src/b.rs\n+other();\n*** Update File: src/a.rs\n old();\n-gone();\n+new();\n*** End Patch\n";
        let content = "old();\nnew();\nother();\n";
        assert_eq!(ranges(&[edit(3, patch)], content), [range(3, 2, 2)]);
    }

    proptest::proptest! {
        /// Ranges are in order, apart from each other, and within the file.
        #[test]
        fn ranges_are_lines_of_the_file(
            texts in proptest::collection::vec("[a-d\n ]{0,30}", 0..5), content in "[a-d\n ]{0,60}",
        ) {
            let edits: Vec<WrittenText> = texts.iter().zip(0..).map(|(text, author)| edit(author, text)).collect();
            let mut end = 0;
            for range in ranges(&edits, &content) {
                proptest::prop_assert!(end < range.first && range.first <= range.last);
                end = range.last;
            }
            proptest::prop_assert!(end <= content.lines().count());
        }
    }
}
