//! What a Markdown text is made of, by place: headings, sections, list items, tables, code, comments.
//!
//! CommonMark decides what is a heading: what is in a code fence, a list or a quotation is none. A byte
//! order mark and YAML front matter are passed over; any line ends will do.

mod read;
#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::ops::Range;

/// The deepest level of heading that begins a section.
pub const SECTION_LEVEL_MAX: u8 = 2;

/// Longest key, in characters: keys are told in every flaw.
const KEY_CHARS_MAX: usize = 200;

/// The key of a heading that says nothing; the empty key is that of what precedes the first section.
const UNTITLED: &str = "_";

/// A heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// Its text, without markup.
    pub title: String,
    /// Its title as a key, see [`key_of`].
    pub key: String,
    /// The line it begins on, from 1.
    pub line: u32,
    /// Its lines, with their ends, in bytes of the text.
    pub range: Range<usize>,
}

/// A section: a heading of level 1 or 2 and all up to the next such heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// 1 or 2.
    pub level: u8,
    /// The heading's text, without markup.
    pub title: String,
    /// The title as a key, see [`key_of`].
    pub key: String,
    /// The line of the heading, from 1.
    pub line: u32,
    /// The heading's lines, with their ends, in bytes of the text.
    pub heading: Range<usize>,
    /// What follows it, in bytes of the text.
    pub body: Range<usize>,
}

/// An item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// How many lists it is in, from 1.
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
    /// Where it begins, in bytes of the text.
    pub(super) at: usize,
    pub(super) cells: Vec<String>,
}

/// A Markdown text and what it is made of.
#[derive(Clone, Debug)]
pub struct Outline<'t> {
    text: &'t str,
    /// Where the Markdown begins: behind byte order mark and front matter.
    begin: usize,
    /// Where each line begins.
    starts: Vec<usize>,
    headings: Vec<Heading>,
    sections: Vec<Section>,
    items: Vec<Item>,
    tables: Vec<Table>,
    /// Blocks and spans of code, in order.
    code: Vec<Range<usize>>,
    /// HTML comments, in order.
    comments: Vec<Range<usize>>,
    /// Links, in order.
    links: Vec<Range<usize>>,
    /// Where a fence begins that is never closed.
    open_fence: Option<usize>,
    is_wrapped: bool,
    is_open_at_end: OnceCell<bool>,
}

impl<'t> Outline<'t> {
    /// The outline of a text; takes time in proportion to its length.
    #[must_use]
    pub fn of(text: &'t str) -> Self {
        read::read(text)
    }

    /// The text itself.
    #[must_use]
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// All headings, in order.
    #[must_use]
    pub fn headings(&self) -> &[Heading] {
        &self.headings
    }

    /// All sections, in order; several may have one key.
    #[must_use]
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// What precedes the first section, in bytes of the text.
    #[must_use]
    pub fn preamble(&self) -> Range<usize> {
        let end = self.sections.first().map(|section| section.heading.start);
        0..end.unwrap_or(self.text.len())
    }

    /// The first section of a key.
    pub(super) fn section(&self, key: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.key == key)
    }

    /// A part of the text; empty if there is no such part.
    pub(super) fn slice(&self, range: &Range<usize>) -> &'t str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    /// The line of a byte, from 1.
    pub(super) fn line(&self, at: usize) -> u32 {
        let line = self.starts.partition_point(|start| *start <= at);
        u32::try_from(line.max(1)).unwrap_or(u32::MAX)
    }

    /// The lines that begin within a range: where each begins, and it without its end.
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

    /// All of the text that is Markdown.
    pub(super) fn whole(&self) -> Range<usize> {
        self.begin..self.text.len()
    }

    /// The headings that begin within a range.
    pub(super) fn headings_in(&self, range: &Range<usize>) -> &[Heading] {
        within(&self.headings, range, |heading| heading.range.start)
    }

    /// The list items that begin within a range, at any depth.
    pub(super) fn items_in(&self, range: &Range<usize>) -> &[Item] {
        within(&self.items, range, |item| item.range.start)
    }

    /// The tables that begin within a range.
    pub(super) fn tables_in(&self, range: &Range<usize>) -> &[Table] {
        within(&self.tables, range, |table| table.range.start)
    }

    /// The heading that a line belongs to, by where the line begins.
    pub(super) fn heading_at(&self, at: usize) -> Option<&Heading> {
        let next = self.headings.partition_point(|one| one.range.start <= at);
        let last = self.headings.get(next.checked_sub(1)?)?;
        (at < last.range.end).then_some(last)
    }

    /// Whether a byte is in code or in a comment, which nobody fills in.
    pub(super) fn is_quiet(&self, at: usize) -> bool {
        covers(&self.code, at) || covers(&self.comments, at)
    }

    /// Whether a byte is in a link.
    pub(super) fn is_link(&self, at: usize) -> bool {
        covers(&self.links, at)
    }

    /// How many characters a range says, apart from headings, comments and white space at the ends of
    /// lines.
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

    /// Whether a range says anything, apart from headings and comments.
    pub(super) fn says_something(&self, range: &Range<usize>) -> bool {
        self.lines(range).any(|(start, line)| {
            let indent = line.len() - line.trim_start().len();
            !line.trim().is_empty()
                && !covers(&self.comments, start + indent)
                && self.heading_at(start).is_none()
        })
    }

    /// Where a range ends without the white space at its end.
    pub(super) fn trimmed_end(&self, range: &Range<usize>) -> usize {
        range.start + self.slice(range).trim_end().len()
    }

    /// Where what a heading heads ends: at the next heading of its level or above.
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

    /// Where a code fence begins that is never closed: all behind it is code.
    pub(super) fn open_fence(&self) -> Option<usize> {
        self.open_fence
    }

    /// Whether what is put behind the text becomes part of something that was never closed: a code
    /// fence, a comment.
    pub(super) fn is_open_at_end(&self) -> bool {
        *self.is_open_at_end.get_or_init(|| {
            let longer = format!("{}\n\n# x\n", self.text);
            Outline::of(&longer).headings.len() == self.headings.len()
        })
    }

    /// Whether all of the text is in one code fence, as it is when an answer is copied with its fence.
    pub(super) fn is_wrapped(&self) -> bool {
        self.is_wrapped
    }
}

/// A title as a key: in lower case, each run of white space an underscore.
///
/// What only decorates is passed over at both ends: numbering, emoji, colons, emphasis.
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

/// A title without the `1.` or `1)` in front.
fn without_number(title: &str) -> &str {
    let rest = title.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = rest.len() < title.len();
    match rest.strip_prefix(['.', ')']) {
        Some(rest) if is_numbered && rest.starts_with(char::is_whitespace) => rest.trim_start(),
        _ => title,
    }
}

/// Those of an ordered list that begin within a range.
fn within<'a, T>(all: &'a [T], range: &Range<usize>, at: impl Fn(&T) -> usize) -> &'a [T] {
    let first = all.partition_point(|one| at(one) < range.start);
    let last = all.partition_point(|one| at(one) < range.end);
    all.get(first..last).unwrap_or_default()
}

/// Whether a byte is in one of some ranges, which are in order and do not overlap.
fn covers(ranges: &[Range<usize>], at: usize) -> bool {
    let next = ranges.partition_point(|range| range.start <= at);
    let last = next.checked_sub(1).and_then(|last| ranges.get(last));
    last.is_some_and(|range| at < range.end)
}
