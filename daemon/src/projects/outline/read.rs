//! Parses a Markdown text into an outline.

use super::{Heading, Item, Outline, Row, SECTION_LEVEL_MAX, Section, Table, key_of};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use std::cell::OnceCell;
use std::ops::Range;

/// Longer front matter is not recognised, in lines.
const FRONT_MATTER_LINES_MAX: usize = 200;

pub(super) fn read(text: &str) -> Outline<'_> {
    let begin = begin_of(text);
    let mut reader = Reader::new(text, begin);
    let markdown = text.get(begin..).unwrap_or_default();
    let options = Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS;
    for (event, range) in Parser::new_ext(markdown, options).into_offset_iter() {
        reader.event(event, begin + range.start..begin + range.end);
    }
    reader.finish()
}

/// Returns the start of the Markdown, after byte order mark and front matter.
fn begin_of(text: &str) -> usize {
    let rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.len() - rest.len() + front_matter_bytes(rest)
}

/// Returns the length of YAML between two lines of three dashes at the start, which Markdown would parse as a rule
/// and a heading.
fn front_matter_bytes(text: &str) -> usize {
    let mut bytes = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        bytes += line.len();
        let is_end = number > 1 && matches!(line.trim_end(), "---" | "...");
        let is_none = match number {
            0 => line.trim_end() != "---",
            // YAML begins on the next line; a rule is followed by a blank line.
            1 => line.trim().is_empty() || line.starts_with('#'),
            _ => number > FRONT_MATTER_LINES_MAX,
        };
        if is_none {
            return 0;
        }
        if is_end {
            return bytes;
        }
    }
    0
}

struct Reader<'t> {
    out: Outline<'t>,
    /// End of the text without trailing white space.
    end: usize,
    /// Number of open quotations, footnotes and lists.
    containers: u32,
    lists: u32,
    /// The open heading and its text so far.
    heading: Option<(u8, Range<usize>, String)>,
    /// The text of the open cell; `row` collects the finished ones.
    cell: Option<String>,
    row: Row,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, begin: usize) -> Self {
        let row = Row {
            at: 0,
            cells: Vec::new(),
        };
        let out = Outline {
            text,
            begin,
            starts: starts(text),
            headings: Vec::new(),
            sections: Vec::new(),
            items: Vec::new(),
            tables: Vec::new(),
            code: Vec::new(),
            comments: Vec::new(),
            links: Vec::new(),
            open_fence: None,
            is_wrapped: false,
            is_open_at_end: OnceCell::new(),
        };
        Self {
            out,
            end: text.trim_end().len(),
            containers: 0,
            lists: 0,
            heading: None,
            cell: None,
            row,
        }
    }

    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(&tag, range),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.push(&text),
            Event::Code(text) => {
                self.push(&text);
                self.out.code.push(range);
            }
            Event::SoftBreak | Event::HardBreak => self.push(" "),
            Event::InlineHtml(html) if html.starts_with("<!--") => self.out.comments.push(range),
            Event::InlineHtml(html) => self.push(&html),
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Heading { level, .. } if self.containers == 0 => {
                self.heading = Some((*level as u8, range, String::new()));
            }
            Tag::BlockQuote(_) | Tag::FootnoteDefinition(_) => self.containers += 1,
            Tag::List(_) => {
                self.containers += 1;
                self.lists += 1;
            }
            Tag::Item => self.out.items.push(Item {
                depth: self.lists,
                range,
            }),
            Tag::CodeBlock(kind) => self.code(matches!(kind, CodeBlockKind::Fenced(_)), range),
            Tag::Link { .. } => self.out.links.push(range),
            Tag::HtmlBlock => self.comments(range),
            Tag::Table(_) => self.out.tables.push(Table {
                range,
                header: Vec::new(),
                rows: Vec::new(),
            }),
            Tag::TableRow => self.row.at = range.start,
            Tag::TableCell => self.cell = Some(String::new()),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                if let Some((level, range, title)) = self.heading.take() {
                    self.heading(level, &range, title);
                }
            }
            TagEnd::BlockQuote(_) | TagEnd::FootnoteDefinition => {
                self.containers = self.containers.saturating_sub(1);
            }
            TagEnd::List(_) => {
                self.containers = self.containers.saturating_sub(1);
                self.lists = self.lists.saturating_sub(1);
            }
            TagEnd::TableCell => self.row.cells.extend(self.cell.take()),
            TagEnd::TableHead => {
                let cells = std::mem::take(&mut self.row.cells);
                if let Some(table) = self.out.tables.last_mut() {
                    table.header = cells;
                }
            }
            TagEnd::TableRow => {
                let cells = std::mem::take(&mut self.row.cells);
                let at = self.row.at;
                if let Some(table) = self.out.tables.last_mut() {
                    table.rows.push(Row { at, cells });
                }
            }
            _ => {}
        }
    }

    fn push(&mut self, text: &str) {
        let heading = self.heading.as_mut().map(|(_, _, title)| title);
        if let Some(open) = self.cell.as_mut().or(heading) {
            open.push_str(text);
        }
    }

    fn heading(&mut self, level: u8, range: &Range<usize>, title: String) {
        let line = self.out.line(range.start);
        let range = self.whole_lines(range);
        self.out.headings.push(Heading {
            level,
            key: key_of(&title),
            title: title.trim().to_owned(),
            line,
            range,
        });
    }

    /// Extends a range to the start of its first line and the end of its last one.
    fn whole_lines(&self, range: &Range<usize>) -> Range<usize> {
        let trimmed = self.out.trimmed_end(range);
        let first = self.out.starts.partition_point(|at| *at <= range.start);
        let start = first.checked_sub(1).and_then(|at| self.out.starts.get(at));
        let next = self.out.starts.partition_point(|at| *at < trimmed);
        let end = self.out.starts.get(next).copied();
        let start = start.copied().unwrap_or_default().max(self.out.begin);
        start..end.unwrap_or(self.out.text.len())
    }

    fn code(&mut self, is_fenced: bool, range: Range<usize>) {
        if is_fenced && self.containers == 0 {
            let block = self.out.slice(&range);
            let to_the_end = self.end <= range.end;
            let is_closed = is_closed(block);
            if to_the_end && !is_closed {
                self.out.open_fence = Some(range.start);
            }
            let before = self.out.slice(&(self.out.begin..range.start));
            let inner = block.lines().skip(1).any(|line| line.starts_with('#'));
            self.out.is_wrapped = to_the_end && inner && before.trim().is_empty();
        }
        self.out.code.push(range);
    }

    fn comments(&mut self, block: Range<usize>) {
        let text = self.out.slice(&block);
        let mut from = 0;
        while let Some(begin) = text.get(from..).and_then(|rest| rest.find("<!--")) {
            let begin = from + begin;
            let end = text.get(begin..).and_then(|rest| rest.find("-->"));
            let end = end.map_or(text.len(), |end| begin + end + 3);
            self.out
                .comments
                .push(block.start + begin..block.start + end);
            from = end;
        }
    }

    fn finish(mut self) -> Outline<'t> {
        let headings = self.out.headings.iter();
        let begin: Vec<&Heading> = headings
            .filter(|heading| heading.level <= SECTION_LEVEL_MAX)
            .collect();
        let ends = begin.iter().skip(1).map(|next| next.range.start);
        let ends = ends.chain([self.out.text.len()]);
        let sections = begin.iter().zip(ends).map(|(heading, end)| Section {
            level: heading.level,
            title: heading.title.clone(),
            key: heading.key.clone(),
            line: heading.line,
            heading: heading.range.clone(),
            body: heading.range.end..end,
        });
        self.out.sections = sections.collect();
        self.out
    }
}

/// Returns the start of each line; a line ends with LF, CRLF or CR.
fn starts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut starts = vec![0];
    for (at, byte) in bytes.iter().enumerate() {
        let ends = *byte == b'\n'
            || (*byte == b'\r' && bytes.get(at + 1).is_none_or(|next| *next != b'\n'));
        if ends && at + 1 < bytes.len() {
            starts.push(at + 1);
        }
    }
    starts
}

/// Returns whether the last line of a fenced block closes it.
fn is_closed(block: &str) -> bool {
    let block = block.trim();
    let Some(mark) = block.chars().next() else {
        return false;
    };
    let opening = block.chars().take_while(|c| *c == mark).count();
    let Some((_, last)) = block.rsplit_once(['\n', '\r']) else {
        return false;
    };
    let last = last.trim();
    last.chars().all(|c| c == mark) && last.chars().count() >= opening
}
