//! The builder of a document: its text so far, with the ranges of its sections and blocks.

use serde::{Deserialize, Serialize};

use super::blocks::{Block, BlockKind, Blocks};
use super::kind::{self, Kind};
use super::limits::Budget;
use super::{ExtractedText, FrontMatter, Warning};
use std::ops::Range;

/// Limit on a section's title, in characters; the rest is cut off.
const TITLE_MAX: usize = 200;
/// Limit on nested headings; deeper ones stay as text.
const LEVELS_MAX: usize = 6;
/// Written after each block.
const END: &str = "\n\n";

/// The text under one heading, up to the next heading of any level. Sections are contiguous and cover the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// The headings from the outermost to the section's own; empty before the first heading.
    pub path: Vec<String>,
    /// Byte range in the text, including the heading.
    pub range: Range<usize>,
}

struct OpenHeading {
    level: u32,
    title: String,
}

/// A document that is being built.
pub(super) struct Draft<'b> {
    pub text: String,
    pub title: Option<String>,
    pub warnings: Vec<Warning>,
    sections: Vec<Section>,
    blocks: Blocks,
    open: Vec<OpenHeading>,
    is_full: bool,
    budget: &'b Budget<'b>,
}

impl<'b> Draft<'b> {
    /// Creates a draft over `text`, which may be empty.
    pub fn over(text: String, budget: &'b Budget<'b>) -> Self {
        Self {
            text,
            title: None,
            warnings: Vec::new(),
            sections: Vec::new(),
            blocks: Blocks::default(),
            open: Vec::new(),
            is_full: false,
            budget,
        }
    }

    pub fn warn(&mut self, line: Option<usize>, reason: impl Into<String>) {
        self.warnings.push(Warning {
            line,
            reason: reason.into(),
        });
    }

    /// Whether the text limit is reached.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Returns the remaining room for text, in bytes.
    pub fn room(&self) -> usize {
        let most = self.budget.limits.text_bytes;
        most.saturating_sub(self.text.len())
    }

    /// Begins a section at a text offset. Returns `false` if it does not, and the heading stays as text.
    pub fn section(&mut self, level: u32, title: &str, at: usize) -> bool {
        let title = short(title);
        while self.open.last().is_some_and(|open| open.level >= level) {
            self.open.pop();
        }
        if title.is_empty()
            || self.sections.len() >= self.budget.limits.sections
            || self.open.len() >= LEVELS_MAX
        {
            return false;
        }
        self.open.push(OpenHeading { level, title });
        let path = self.open.iter().map(|open| open.title.clone()).collect();
        self.begin(path, at);
        true
    }

    /// Begins a section with a known path; returns whether it did.
    pub fn section_of(&mut self, path: &[String], at: usize) -> bool {
        if self.sections.len() >= self.budget.limits.sections {
            return false;
        }
        let path = path.iter().take(LEVELS_MAX).map(|key| short(key));
        self.begin(path.collect(), at);
        true
    }

    fn begin(&mut self, path: Vec<String>, at: usize) {
        self.close_section(at);
        let end = self.text.len();
        self.sections.push(Section {
            path,
            range: at..end,
        });
    }

    /// Marks a range of the text as a block.
    pub fn mark(&mut self, sort: BlockKind, range: Range<usize>) {
        if range.start < range.end {
            self.blocks.push(Block { sort, range });
        }
    }

    /// Writes a heading and begins its section.
    pub fn heading(&mut self, level: u32, title: &str) {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        if title.is_empty() {
            return;
        }
        let at = self.text.len();
        let marks = "#".repeat(level.clamp(1, 6) as usize);
        let is_section = self.section(level, &title, at);
        let sort = if is_section {
            BlockKind::Heading
        } else {
            BlockKind::Prose
        };
        self.put(sort, &format!("{marks} {title}"));
    }

    /// Writes a block, cut to the remaining room; a blank block is ignored.
    pub fn put(&mut self, sort: BlockKind, block: &str) {
        let block = block.trim_end();
        if block.trim().is_empty() || self.is_full {
            return;
        }
        let room = self.room();
        let taken = block.floor_char_boundary(room);
        if taken < block.len() {
            self.is_full = true;
            let most = self.budget.limits.text_bytes;
            self.warn(None, format!("the text is cut after {most} bytes"));
        }
        let start = self.text.len();
        let wanted = taken + END.len();
        if self.text.capacity() - start < wanted {
            // Double the capacity, but not beyond the limit.
            self.text.reserve_exact(wanted.max(start.min(room)));
        }
        self.text.push_str(block.get(..taken).unwrap_or_default());
        self.mark(sort, start..self.text.len());
        self.text.push_str(END);
    }

    /// Closes the sections, turns text between blocks, unless blank, into prose, and adds the metadata.
    pub fn finish(
        mut self,
        kind: Kind,
        front_matter: FrontMatter,
        file_name: &str,
    ) -> ExtractedText {
        let end = self.text.len();
        self.close_section(end);
        let first = self.sections.first().map_or(end, |first| first.range.start);
        if first > 0 || self.sections.is_empty() {
            let (path, range) = (Vec::new(), 0..first);
            self.sections.insert(0, Section { path, range });
        }
        let blocks = self.whole();
        let usual = || kind.usual_extension().to_owned();
        let title = front_matter.title.clone().or(self.title);
        ExtractedText {
            kind,
            file_type: kind::extension(file_name).unwrap_or_else(usual),
            text: self.text,
            sections: self.sections,
            blocks,
            title: title.unwrap_or_else(|| kind::stem(file_name).to_owned()),
            front_matter,
            warnings: self.warnings,
        }
    }

    fn close_section(&mut self, at: usize) {
        if let Some(last) = self.sections.last_mut() {
            last.range.end = at;
        }
    }

    /// Returns the blocks with their gaps filled, each within one section.
    fn whole(&mut self) -> Blocks {
        let found = std::mem::take(&mut self.blocks);
        let mut whole = Blocks::default();
        let mut sections = self.sections.iter().peekable();
        let mut done = 0;
        let end = Block {
            sort: BlockKind::Prose,
            range: self.text.len()..self.text.len(),
        };
        for block in found.iter().chain([end]) {
            let gap = Block {
                sort: BlockKind::Prose,
                range: done..block.range.start.max(done),
            };
            for mut part in [gap, block] {
                part.range.start = part.range.start.max(done);
                // A part that crosses a section boundary is cut there.
                while let Some(section) = sections.peek() {
                    if section.range.end >= part.range.end {
                        break;
                    }
                    let head = part.range.start..section.range.end;
                    self.keep(&mut whole, part.sort, head);
                    part.range.start = part.range.start.max(section.range.end);
                    sections.next();
                }
                done = done.max(part.range.end);
                self.keep(&mut whole, part.sort, part.range);
            }
        }
        whole
    }

    /// Adds a range as a block, without surrounding white space, unless it is blank.
    fn keep(&self, whole: &mut Blocks, sort: BlockKind, range: Range<usize>) {
        let range = trimmed(&self.text, range);
        if range.start < range.end {
            whole.push(Block { sort, range });
        }
    }
}

/// Trims a range's white space, except for the indentation of its first line.
pub(super) fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let Some(inner) = text.get(range.clone()) else {
        return range.start..range.start;
    };
    let end = range.start + inner.trim_end().len();
    let lead = inner.len() - inner.trim_start().len();
    let blank = inner.get(..lead).unwrap_or_default();
    let start = range.start + blank.rfind('\n').map_or(0, |line| line + 1);
    start.min(end)..end
}

/// Returns a title on one line, with limited length.
pub(super) fn short(title: &str) -> String {
    let mut short = String::new();
    for word in title.split_whitespace() {
        if !short.is_empty() {
            short.push(' ');
        }
        let room = TITLE_MAX.saturating_sub(short.chars().count());
        short.extend(word.chars().take(room));
        if room == 0 {
            break;
        }
    }
    short.trim_end().to_owned()
}
