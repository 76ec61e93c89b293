//! Context files as sources for other modules: lists them, reads their content and splits it into passages.

use super::operations;
use super::outline::{Heading, Outline, SECTION_LEVEL_MAX};
use super::view::{self, FileRow};
use crate::error::Refusal;
use crate::log::Position;
use crate::operation::Context;
use crate::projects::FileVersion;
use crate::state::State;
use crate::store::{Error, Rows};

/// Limit on the source files of a project; the last written ones are used.
const FILES: usize = 16;
/// Limit on the passages of a session summary; the newest dated entries are used.
const SUMMARIES: usize = 5;
/// The file type whose entries are below its sections, and their heading level.
const BUGS: (&str, u8) = ("bugs", 3);
/// The file type whose entries are dated.
const SUMMARY: &str = "session_summary";
/// Separator between the heading of a section and that of an entry below it.
const BETWEEN: &str = " / ";

/// A self-contained part of a context file: a section or, in a file of entries, an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage<'t> {
    /// The passage's heading, prefixed with the section's for an entry in a section. Empty for the text before the
    /// first heading.
    pub heading: String,
    /// The key of the passage's heading.
    pub key: String,
    /// The text below the heading.
    pub text: &'t str,
}

/// Lists the context files of a project that have content, the last written first.
pub fn drawn_on(rows: &dyn Rows, project: &str) -> Result<Vec<FileRow>, Error> {
    let files = view::files(rows, project)?.into_iter();
    let mut files: Vec<FileRow> = files.map(|(_, row)| row).collect();
    files.retain(FileRow::is_written);
    files.sort_by_key(|row| std::cmp::Reverse(row.position));
    files.truncate(FILES);
    Ok(files)
}

/// Reads the content of a version of a context file.
pub fn content(cx: &Context, state: &State, row: &FileRow) -> Result<String, Refusal> {
    operations::content_of(cx, state, row.place())
}

/// Returns the log position of a version of a context file.
pub fn position_of(rows: &dyn Rows, file: &FileVersion) -> Result<Option<Position>, Error> {
    let row = view::version(rows, &file.project, &file.file_type, file.version)?;
    Ok(row.map(|row| Position(row.position)))
}

/// Splits a file into passages, in order. In `bugs`, every bug is a passage. In `session_summary`, each of the
/// newest dated entries is one, the newest first. In other files, every section is one. Parts without text are
/// skipped.
#[must_use]
pub fn passages<'t>(file_type: &str, content: &'t str) -> Vec<Passage<'t>> {
    // With a byte order mark, the first line would begin before the Markdown.
    let content = content.strip_prefix('\u{feff}').unwrap_or(content);
    let outline = Outline::of(content);
    let deepest = match file_type {
        of if of == BUGS.0 => BUGS.1,
        _ => SECTION_LEVEL_MAX,
    };
    let headings = outline.headings().iter();
    let headings: Vec<&Heading> = headings.filter(|one| one.level <= deepest).collect();
    let start_of = |at: usize| headings.get(at).map(|heading| heading.range.start);
    let end = content.len();
    let mut found = Vec::new();
    let mut add = |heading: String, key: &str, range: std::ops::Range<usize>| {
        if outline.says_something(&range) {
            found.push(Passage {
                heading,
                key: key.to_owned(),
                text: outline.slice(&range).trim_matches(['\n', '\r']).trim_end(),
            });
        }
    };
    let begin = outline.whole().start;
    add(String::new(), "", begin..start_of(0).unwrap_or(end));
    let mut section = "";
    for (at, heading) in headings.iter().enumerate() {
        let title = if heading.level <= SECTION_LEVEL_MAX || section.is_empty() {
            heading.title.clone()
        } else {
            format!("{section}{BETWEEN}{}", heading.title)
        };
        if heading.level <= SECTION_LEVEL_MAX {
            section = &heading.title;
        }
        let range = heading.range.end..start_of(at + 1).unwrap_or(end);
        add(title, &heading.key, range);
    }
    if file_type == SUMMARY {
        // The sort is stable: of one day, the file has the newest first.
        found
            .sort_by_key(|passage| std::cmp::Reverse(date_in(&passage.heading).map(str::to_owned)));
        found.truncate(SUMMARIES);
    }
    found
}

/// Returns the date in a heading, such as `2025-11-21`.
fn date_in(heading: &str) -> Option<&str> {
    let is_date = |text: &str| {
        text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
    };
    let mut windows = heading
        .char_indices()
        .filter_map(|(at, _)| heading.get(at..at + 10));
    windows.find(|text| is_date(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(file_type: &str, content: &str) -> Vec<(String, String)> {
        let passages = passages(file_type, content).into_iter();
        passages
            .map(|passage| (passage.heading, passage.text.to_owned()))
            .collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        let pairs = pairs.iter();
        pairs
            .map(|(heading, text)| ((*heading).to_owned(), (*text).to_owned()))
            .collect()
    }

    #[test]
    fn a_section_is_a_passage_with_all_below_it() {
        let content = "\u{feff}Intro.\n\n# Model\n\n## System Overview\n\nA shop.\n\n### More\n\nx\n\n\
            ## Empty\n\n<!-- nothing -->\n\n## Data Flow\r\n\r\n    code\r\n";
        assert_eq!(
            describe("mental_model", content),
            pairs(&[
                ("", "Intro."),
                ("System Overview", "A shop.\n\n### More\n\nx"),
                ("Data Flow", "    code"),
            ])
        );
        let keys: Vec<_> = passages("mental_model", content)
            .into_iter()
            .map(|passage| passage.key)
            .collect();
        assert_eq!(keys, ["", "system_overview", "data_flow"]);
    }

    #[test]
    fn a_bug_is_a_passage_below_its_section() {
        let content = "# Bugs\n\n## Open Issues\n\nBy date.\n\n### BUG-2: b (2025-01-02)\n\ntwo\n\n\
            #### Steps\n\n1. go\n\n### BUG-1: a (2025-01-01)\n\none\n\n## Resolved Issues\n\nNone.\n";
        assert_eq!(
            describe("bugs", content),
            pairs(&[
                ("Open Issues", "By date."),
                (
                    "Open Issues / BUG-2: b (2025-01-02)",
                    "two\n\n#### Steps\n\n1. go"
                ),
                ("Open Issues / BUG-1: a (2025-01-01)", "one"),
                ("Resolved Issues", "None."),
            ])
        );
    }

    #[test]
    fn of_sessions_the_newest_are_drawn_on() {
        let days = ["2025-01-04", "2025-01-02", "2025-01-07: x", "2025-01-03"];
        let more = ["Notes", "2025-01-06", "2025-01-07: y"];
        let content: String = days
            .iter()
            .chain(&more)
            .map(|day| format!("## {day}\n\n### Added\n\n- {day}\n\n"))
            .collect();
        let headings: Vec<_> = describe("session_summary", &content)
            .into_iter()
            .map(|(heading, _)| heading)
            .collect();
        assert_eq!(
            headings,
            [
                "2025-01-07: x",
                "2025-01-07: y",
                "2025-01-06",
                "2025-01-04",
                "2025-01-03"
            ]
        );
    }

    #[test]
    fn what_has_no_headings_is_one_passage() {
        assert_eq!(
            describe("bugs", "just\ntext\n"),
            pairs(&[("", "just\ntext")])
        );
        assert_eq!(describe("bugs", ""), pairs(&[]));
        assert_eq!(describe("features", "# A\n\n## B\n"), pairs(&[]));
    }
}
