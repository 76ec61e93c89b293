//! The structure of a Markdown text with positions: headings, sections, list items, tables, code, comments.
//!
//! Headings follow CommonMark; text in a code fence, a list or a quotation is not a heading. A byte order mark and
//! YAML front matter are skipped. All line endings are accepted.

mod read;
#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::ops::Range;

/// Deepest level of a heading that begins a section.
pub const SECTION_LEVEL_MAX: u8 = 2;

/// Maximum length of a key, in characters; every diagnostic repeats it.
const KEY_CHARS_MAX: usize = 200;

/// The key of a heading without text. The empty key denotes the text before the first section.
const UNTITLED: &str = "_";

/// A heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// Level, 1 to 6.
    pub level: u8,
    /// Text of the heading, without markup.
    pub title: String,
    /// The title as a key, see [`key_of`].
    pub key: String,
    /// First line of the heading, from 1.
    pub line: u32,
    /// Lines of the heading with their line ends, in bytes of the text.
    pub range: Range<usize>,
}

/// A section: a heading of level 1 or 2 and the text up to the next such heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Level, 1 or 2.
    pub level: u8,
    /// Text of the heading, without markup.
    pub title: String,
    /// The title as a key, see [`key_of`].
    pub key: String,
    /// Line of the heading, from 1.
    pub line: u32,
    /// Lines of the heading with their line ends, in bytes of the text.
    pub heading: Range<usize>,
    /// The text after the heading, in bytes of the text.
    pub body: Range<usize>,
}

/// An item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// Number of lists around the item, from 1.
    pub(super) depth: u32,
    pub(super) range: Range<usize>,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) range: Range<usize>,
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Row>,
}

/// A row of a table below its header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// Start of the row, in bytes of the text.
    pub(super) at: usize,
    pub(super) cells: Vec<String>,
}

/// The structure of a Markdown text.
#[derive(Clone, Debug)]
pub struct Outline<'t> {
    text: &'t str,
    /// Start of the Markdown, after byte order mark and front matter.
    begin: usize,
    /// Start of each line.
    starts: Vec<usize>,
    headings: Vec<Heading>,
    sections: Vec<Section>,
    items: Vec<Item>,
    tables: Vec<Table>,
    /// Code blocks and code spans, in order.
    code: Vec<Range<usize>>,
    /// HTML comments, in order.
    comments: Vec<Range<usize>>,
    /// Links, in order.
    links: Vec<Range<usize>>,
    /// Start of a fence that is never closed.
    open_fence: Option<usize>,
    is_wrapped: bool,
    is_open_at_end: OnceCell<bool>,
}

impl<'t> Outline<'t> {
    /// Parses a text, in time proportional to its length.
    #[must_use]
    pub fn of(text: &'t str) -> Self {
        read::read(text)
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// Returns all headings, in order.
    #[must_use]
    pub fn headings(&self) -> &[Heading] {
        &self.headings
    }

    /// Returns all sections, in order; several may have the same key.
    #[must_use]
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// Returns the range before the first section, in bytes of the text.
    #[must_use]
    pub fn preamble(&self) -> Range<usize> {
        let end = self.sections.first().map(|section| section.heading.start);
        0..end.unwrap_or(self.text.len())
    }

    /// Returns the first section with this key.
    pub(super) fn section(&self, key: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.key == key)
    }

    /// Returns a part of the text; empty if the range is invalid.
    pub(super) fn slice(&self, range: &Range<usize>) -> &'t str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    /// Returns the line of a byte, from 1.
    pub(super) fn line(&self, at: usize) -> u32 {
        let line = self.starts.partition_point(|start| *start <= at);
        u32::try_from(line.max(1)).unwrap_or(u32::MAX)
    }

    /// Returns the start of a line, which is counted from 1.
    pub(super) fn start_of(&self, line: u32) -> usize {
        let at = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
        self.starts.get(at).copied().unwrap_or(self.text.len())
    }

    /// Returns the lines that begin within a range: the start of each, and its text without the line end.
    pub(super) fn lines(&self, range: &Range<usize>) -> impl Iterator<Item = (usize, &'t str)> {
        let first = self.starts.partition_point(|start| *start < range.start);
        let last = self.starts.partition_point(|start| *start < range.end);
        (first..last).filter_map(|at| {
            let start = *self.starts.get(at)?;
            let end = self.starts.get(at + 1).copied();
            let line = self.text.get(start..end.unwrap_or(self.text.len()))?;
            Some((start, line.trim_end_matches(['\n', '\r'])))
        })
    }

    /// Returns the range of the Markdown.
    pub(super) fn whole(&self) -> Range<usize> {
        self.begin..self.text.len()
    }

    /// Returns the headings that begin within a range.
    pub(super) fn headings_in(&self, range: &Range<usize>) -> &[Heading] {
        within(&self.headings, range, |heading| heading.range.start)
    }

    /// Returns the list items that begin within a range, at any depth.
    pub(super) fn items_in(&self, range: &Range<usize>) -> &[Item] {
        within(&self.items, range, |item| item.range.start)
    }

    /// Returns the tables that begin within a range.
    pub(super) fn tables_in(&self, range: &Range<usize>) -> &[Table] {
        within(&self.tables, range, |table| table.range.start)
    }

    /// Returns the heading that contains the line with this start.
    pub(super) fn heading_at(&self, at: usize) -> Option<&Heading> {
        let next = self.headings.partition_point(|one| one.range.start <= at);
        let last = self.headings.get(next.checked_sub(1)?)?;
        (at < last.range.end).then_some(last)
    }

    /// Returns whether a byte is in code or in a comment, which are never placeholders.
    pub(super) fn is_quiet(&self, at: usize) -> bool {
        covers(&self.code, at) || covers(&self.comments, at)
    }

    /// Returns whether a byte is in a link.
    pub(super) fn is_link(&self, at: usize) -> bool {
        covers(&self.links, at)
    }

    /// Counts the characters in a range, without headings, comments, and white space around lines.
    pub(super) fn characters(&self, range: &Range<usize>) -> usize {
        let said = |(start, line): (usize, &str)| {
            let indent = line.len() - line.trim_start().len();
            let is_said =
                !covers(&self.comments, start + indent) && self.heading_at(start).is_none();
            if is_said {
                line.trim().chars().count()
            } else {
                0
            }
        };
        self.lines(range).map(said).sum()
    }

    /// Returns whether a range has text other than headings and comments.
    pub(super) fn says_something(&self, range: &Range<usize>) -> bool {
        self.lines(range).any(|(start, line)| {
            let indent = line.len() - line.trim_start().len();
            !line.trim().is_empty()
                && !covers(&self.comments, start + indent)
                && self.heading_at(start).is_none()
        })
    }

    /// Returns the end of a range without trailing white space.
    pub(super) fn trimmed_end(&self, range: &Range<usize>) -> usize {
        range.start + self.slice(range).trim_end().len()
    }

    /// Returns the end of a heading's text: the next heading of the same or a higher level.
    pub(super) fn end_of(&self, heading: &Heading) -> usize {
        let after = self
            .headings
            .partition_point(|one| one.range.start <= heading.range.start);
        let rest = self.headings.iter().skip(after);
        rest.filter(|one| one.level <= heading.level)
            .map(|one| one.range.start)
            .next()
            .unwrap_or(self.text.len())
    }

    /// Returns the start of a code fence that is never closed: everything after it is code.
    pub(super) fn open_fence(&self) -> Option<usize> {
        self.open_fence
    }

    /// Returns whether appended text would become part of an open code fence or comment.
    pub(super) fn is_open_at_end(&self) -> bool {
        *self.is_open_at_end.get_or_init(|| {
            let longer = format!("{}\n\n# x\n", self.text);
            Outline::of(&longer).headings.len() == self.headings.len()
        })
    }

    /// Returns whether the whole text is in one code fence, as in an answer copied with its fence.
    pub(super) fn is_wrapped(&self) -> bool {
        self.is_wrapped
    }
}

/// Converts a title to a key: lower case, with an underscore for each run of white space.
///
/// Decoration at both ends is skipped: numbering, emoji, colons, emphasis.
#[must_use]
pub fn key_of(title: &str) -> String {
    let core = undecorated(without_number(undecorated(title)));
    let core = if core.is_empty() { title.trim() } else { core };
    let words: Vec<String> = core.split_whitespace().map(str::to_lowercase).collect();
    match words
        .join("_")
        .chars()
        .take(KEY_CHARS_MAX)
        .collect::<String>()
    {
        key if key.is_empty() => UNTITLED.to_owned(),
        key => key,
    }
}

fn undecorated(title: &str) -> &str {
    title.trim_matches(|c: char| {
        c.is_whitespace()
            || matches!(c, ':' | '#' | '*' | '_' | '-' | '.' | ',' | ';' | '~' | '=')
            || (!c.is_ascii() && !c.is_alphanumeric())
    })
}

/// Removes a leading `1.` or `1)` from a title.
fn without_number(title: &str) -> &str {
    let rest = title.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = rest.len() < title.len();
    match rest.strip_prefix(['.', ')']) {
        Some(rest) if is_numbered && rest.starts_with(char::is_whitespace) => rest.trim_start(),
        _ => title,
    }
}

/// Returns the elements of an ordered list that begin within a range.
fn within<'a, T>(all: &'a [T], range: &Range<usize>, at: impl Fn(&T) -> usize) -> &'a [T] {
    let first = all.partition_point(|one| at(one) < range.start);
    let last = all.partition_point(|one| at(one) < range.end);
    all.get(first..last).unwrap_or_default()
}

/// Returns whether a byte is in one of the ranges, which are ordered and do not overlap.
fn covers(ranges: &[Range<usize>], at: usize) -> bool {
    let next = ranges.partition_point(|range| range.start <= at);
    let last = next.checked_sub(1).and_then(|last| ranges.get(last));
    last.is_some_and(|range| at < range.end)
}
