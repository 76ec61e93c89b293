//! Reads the sections and blocks of Markdown; the text stays unchanged.

use super::IngestError;
use super::blocks::BlockKind;
use super::builder::{Draft, short};
use super::limits::Budget;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// Parser events between two checks of the time limit.
const EVENTS_PER_CHECK: usize = 10_000;
/// Limit on a part that is parsed at once, in bytes: the parser needs up to fifty times as much memory.
const PART_BYTES: usize = 1 << 20;
/// Limit on the line ends and marks in a part, which need most of the parser's memory.
const PART_MARKS: usize = 1 << 17;
const MARKS: &[u8] = b"\n>[*_`<";

pub(super) fn read<'b>(text: String, budget: &'b Budget<'b>) -> Result<Draft<'b>, IngestError> {
    let mut reader = Reader {
        draft: Draft::over(String::new(), budget),
        depth: 0,
        sort: BlockKind::Prose,
        title: None,
    };
    let mut start = 0;
    while start < text.len() {
        let part = start..end_of_part(&text, start);
        reader.part(&text, &part, budget)?;
        start = part.end;
    }
    reader.draft.text = text;
    Ok(reader.draft)
}

/// Returns the end of a part: before the last heading in its second half, else at a blank line, else at a line end.
/// A block that crosses the end, such as a very long list, becomes two blocks.
fn end_of_part(text: &str, start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let head = rest.floor_char_boundary(PART_BYTES);
    let head = rest.get(..head).unwrap_or_default();
    let mut marks = head
        .bytes()
        .enumerate()
        .filter(|(_, byte)| MARKS.contains(byte));
    let most = marks.nth(PART_MARKS).map_or(head.len(), |(at, _)| at);
    if most == rest.len() {
        return text.len();
    }
    let part = rest.get(..most).unwrap_or_default();
    let places = [
        ("\n\n# ", 2),
        ("\n\n## ", 2),
        ("\n\n### ", 2),
        ("\n\n", 2),
        ("\n", 1),
    ];
    let mut found = places
        .iter()
        .filter_map(|(mark, length)| Some(part.rfind(mark)? + length));
    start + found.find(|end| *end > most / 2).unwrap_or(most)
}

struct Reader<'b> {
    draft: Draft<'b>,
    /// Number of open elements.
    depth: usize,
    /// Kind of the outermost open element.
    sort: BlockKind,
    /// Text of the open heading so far.
    title: Option<String>,
}

impl Reader<'_> {
    fn part(
        &mut self,
        text: &str,
        part: &Range<usize>,
        budget: &Budget<'_>,
    ) -> Result<(), IngestError> {
        let options =
            Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS | Options::ENABLE_FOOTNOTES;
        let inner = text.get(part.clone()).unwrap_or_default();
        let events = Parser::new_ext(inner, options).into_offset_iter();
        for (count, (event, range)) in events.enumerate() {
            if count.is_multiple_of(EVENTS_PER_CHECK) {
                budget.check()?;
            }
            self.event(event, part.start + range.start..part.start + range.end);
        }
        self.depth = 0;
        Ok(())
    }

    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => {
                if self.depth == 0 {
                    self.sort = sort_of(&tag);
                    self.title = (self.sort == BlockKind::Heading).then(String::new);
                }
                self.depth += 1;
            }
            Event::End(tag) => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth > 0 {
                    return;
                }
                match (tag, self.title.take()) {
                    (TagEnd::Heading(level), Some(title)) => {
                        self.heading(level as u32, &title, range)
                    }
                    _ => self.draft.mark(self.sort, range),
                }
            }
            Event::Text(part) | Event::Code(part) => self.push(&part),
            Event::InlineMath(part) | Event::DisplayMath(part) => self.push(&part),
            Event::SoftBreak | Event::HardBreak => self.push(" "),
            Event::Html(_)
            | Event::InlineHtml(_)
            | Event::FootnoteReference(_)
            | Event::Rule
            | Event::TaskListMarker(_) => {}
        }
    }

    fn push(&mut self, part: &str) {
        if let Some(title) = &mut self.title {
            title.push_str(part);
        }
    }

    fn heading(&mut self, level: u32, title: &str, range: Range<usize>) {
        if self.draft.title.is_none() {
            self.draft.title = Some(short(title)).filter(|title| !title.is_empty());
        }
        match self.draft.section(level, title, range.start) {
            true => self.draft.mark(BlockKind::Heading, range),
            false => self.draft.mark(BlockKind::Prose, range),
        }
    }
}

fn sort_of(tag: &Tag<'_>) -> BlockKind {
    match tag {
        Tag::Heading { .. } => BlockKind::Heading,
        Tag::CodeBlock(_) => BlockKind::Code,
        Tag::List(_) => BlockKind::List,
        Tag::Table(_) => BlockKind::Rows,
        _ => BlockKind::Prose,
    }
}
