//! Converts HTML to Markdown: headings, paragraphs, lists, tables and code. Scripts and styles are left out.

mod tag;

use super::IngestError;
use super::blocks::BlockKind;
use super::builder::{Draft, short};
use super::limits::Budget;
use super::table::Table;
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use tag::{Tag, tag_of};

/// Tags and texts between two checks of the time limit.
const TOKENS_PER_CHECK: usize = 10_000;
/// Limit on the indentation of nested lists.
const LIST_DEPTH_MAX: usize = 8;

pub(super) fn read<'b>(text: &str, budget: &'b Budget<'b>) -> Result<Draft<'b>, IngestError> {
    let mut page = Page::new(Draft::over(String::new(), budget));
    let mut emitter =
        CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| page.event(event));
    emitter.naively_switch_states(true);
    // The callback collects the text; a token is yielded only for a check of the time limit.
    for Ok(()) in Tokenizer::new_with_emitter(text, emitter) {
        budget.check()?;
    }
    page.finish();
    Ok(page.draft)
}

struct Page<'b> {
    draft: Draft<'b>,
    tokens: usize,
    /// The current tag.
    tag: Tag,
    is_alt: bool,
    /// The tag whose content is being skipped.
    skipped: Option<Tag>,
    /// Text of the open block, with collapsed white space.
    inline: String,
    is_title: bool,
    heading: Option<u32>,
    is_pre: bool,
    /// Last item numbers of the open lists; `None` for a bullet list.
    lists: Vec<Option<usize>>,
    /// Lines of the outermost list.
    list: String,
    /// Marker of the open item, until its first text.
    bullet: Option<String>,
    tables: usize,
    table: Table,
    is_cell: bool,
}

impl<'b> Page<'b> {
    fn new(draft: Draft<'b>) -> Self {
        Self {
            draft,
            tokens: 0,
            tag: Tag::Inline,
            is_alt: false,
            skipped: None,
            inline: String::new(),
            is_title: false,
            heading: None,
            is_pre: false,
            lists: Vec::new(),
            list: String::new(),
            bullet: None,
            tables: 0,
            table: Table::default(),
            is_cell: false,
        }
    }

    fn event(&mut self, event: CallbackEvent<'_>) -> Option<()> {
        match event {
            CallbackEvent::OpenStartTag { name } => self.tag = tag_of(name),
            CallbackEvent::AttributeName { name } => {
                self.is_alt = self.tag == Tag::Image && name == b"alt";
            }
            CallbackEvent::AttributeValue { value } if self.is_alt && self.skipped.is_none() => {
                self.text(&String::from_utf8_lossy(value));
            }
            CallbackEvent::CloseStartTag { self_closing } if self.skipped.is_none() => {
                self.start(self.tag, self_closing);
            }
            CallbackEvent::EndTag { name } => self.end(tag_of(name)),
            CallbackEvent::String { value } if self.skipped.is_none() => {
                self.text(&String::from_utf8_lossy(value));
            }
            CallbackEvent::AttributeValue { .. }
            | CallbackEvent::CloseStartTag { .. }
            | CallbackEvent::String { .. }
            | CallbackEvent::Comment { .. }
            | CallbackEvent::Doctype { .. }
            | CallbackEvent::Error(_) => {}
        }
        self.tokens += 1;
        self.tokens.is_multiple_of(TOKENS_PER_CHECK).then_some(())
    }

    fn start(&mut self, tag: Tag, is_closed: bool) {
        match tag {
            Tag::Silent(_) if !is_closed => self.skipped = Some(tag),
            Tag::Silent(_) | Tag::Inline | Tag::Image => {}
            Tag::Break => match self.heading.is_some() || self.tables > 0 {
                true => self.text(" "),
                false => self.line_end(),
            },
            Tag::Title => self.is_title = self.draft.title.is_none(),
            Tag::Block => self.flush(),
            Tag::Heading(level) => {
                self.flush();
                // A table that contains a heading is used for layout.
                self.spill(true);
                self.heading = Some(level);
            }
            Tag::Pre => {
                self.flush();
                self.is_pre = true;
            }
            Tag::List => self.begin_list(None),
            Tag::NumberedList => self.begin_list(Some(0)),
            Tag::Item => self.begin_item(),
            Tag::Table => {
                self.flush();
                // In nested tables, the outer one is used for layout.
                self.spill(true);
                self.tables += 1;
            }
            Tag::Row => {
                self.flush();
                self.table.end_row();
                self.is_cell = false;
            }
            Tag::Cell => {
                self.flush();
                // End tags of cells are optional.
                if std::mem::replace(&mut self.is_cell, true) {
                    self.table.end_cell();
                }
            }
        }
    }

    fn end(&mut self, tag: Tag) {
        if self.skipped.is_some() {
            self.skipped = self.skipped.filter(|skipped| *skipped != tag);
            return;
        }
        match tag {
            Tag::Silent(_) | Tag::Inline | Tag::Image => {}
            Tag::Break => self.line_end(),
            Tag::Title => {
                if std::mem::take(&mut self.is_title) {
                    let title = short(&std::mem::take(&mut self.inline));
                    self.draft.title = Some(title).filter(|title| !title.is_empty());
                }
            }
            Tag::Block | Tag::Heading(_) | Tag::Item | Tag::Pre => self.flush(),
            Tag::List | Tag::NumberedList => {
                self.flush();
                self.lists.pop();
                self.end_list();
            }
            Tag::Table => {
                self.flush();
                self.tables = self.tables.saturating_sub(1);
                self.spill(false);
            }
            Tag::Cell => {
                self.flush();
                if std::mem::take(&mut self.is_cell) {
                    self.table.end_cell();
                }
            }
            Tag::Row => {
                self.flush();
                self.table.end_row();
                self.is_cell = false;
            }
        }
    }

    fn text(&mut self, text: &str) {
        if self.is_pre {
            self.inline.push_str(text);
            return;
        }
        for (at, word) in text.split(char::is_whitespace).enumerate() {
            let is_open = !self.inline.is_empty() && !self.inline.ends_with([' ', '\n']);
            if at > 0 && is_open {
                self.inline.push(' ');
            }
            self.inline.push_str(word);
        }
    }

    fn line_end(&mut self) {
        self.inline
            .truncate(self.inline.trim_end_matches(' ').len());
        if !self.inline.is_empty() {
            self.inline.push('\n');
        }
    }

    /// Closes the open block and writes it to its cell, list or document.
    fn flush(&mut self) {
        let inline = std::mem::take(&mut self.inline);
        if std::mem::take(&mut self.is_title) {
            self.draft.title = Some(short(&inline)).filter(|title| !title.is_empty());
            return;
        }
        if std::mem::take(&mut self.is_pre) {
            self.put_code(&inline);
            return;
        }
        let text = inline.trim();
        if let Some(level) = self.heading.take() {
            self.draft.heading(level, text);
            if self.draft.title.is_none() {
                self.draft.title = Some(short(text)).filter(|title| !title.is_empty());
            }
        } else if self.tables > 0 {
            let bullet = self.bullet.take_if(|_| !text.is_empty());
            self.table.line(&(bullet.unwrap_or_default() + text));
        } else if !self.lists.is_empty() {
            self.put_item(text);
        } else {
            self.draft.put(BlockKind::Prose, text);
        }
    }

    fn put_code(&mut self, code: &str) {
        let code = code.strip_prefix('\n').unwrap_or(code).trim_end();
        if code.is_empty() {
            return;
        }
        if self.lists.is_empty() && self.tables == 0 {
            self.draft
                .put(BlockKind::Code, &format!("```\n{code}\n```"));
        } else if self.tables > 0 {
            self.table.line(code);
        } else {
            self.put_item(code);
        }
    }

    fn begin_list(&mut self, number: Option<usize>) {
        self.flush();
        self.lists.push(number);
    }

    fn begin_item(&mut self) {
        self.flush();
        let bullet = match self.lists.last_mut() {
            Some(Some(number)) => {
                *number += 1;
                format!("{number}. ")
            }
            Some(None) => "- ".to_owned(),
            None => return,
        };
        self.bullet = Some(bullet);
    }

    fn put_item(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let depth = self.lists.len().saturating_sub(1).min(LIST_DEPTH_MAX);
        let indent = "  ".repeat(depth);
        let bullet = self.bullet.take().unwrap_or_else(|| "  ".to_owned());
        for (at, line) in text.lines().enumerate() {
            let lead = if at == 0 { bullet.as_str() } else { "  " };
            self.list.push_str(&indent);
            self.list.push_str(lead);
            self.list.push_str(line);
            self.list.push('\n');
        }
    }

    fn end_list(&mut self) {
        if self.lists.is_empty() {
            self.draft
                .put(BlockKind::List, &std::mem::take(&mut self.list));
            self.bullet = None;
        }
    }

    /// Writes the pending rows of a table and items of a list.
    fn spill(&mut self, is_layout: bool) {
        let table = std::mem::take(&mut self.table);
        match is_layout || table.is_layout() {
            true => self.put_lines(&table.into_lines()),
            false => self.draft.put(BlockKind::Rows, &table.into_markdown()),
        }
        if self.tables == 0 {
            self.draft
                .put(BlockKind::List, &std::mem::take(&mut self.list));
        }
    }

    /// Writes the content of a layout table, as paragraphs and lists.
    fn put_lines(&mut self, lines: &[String]) {
        let runs = lines.chunk_by(|a, b| is_item(a) && is_item(b));
        for run in runs {
            let is_list = run.first().is_some_and(|line| is_item(line));
            let sort = if is_list {
                BlockKind::List
            } else {
                BlockKind::Prose
            };
            self.draft.put(sort, &run.join("\n"));
        }
    }

    fn finish(&mut self) {
        self.flush();
        self.tables = 0;
        self.lists.clear();
        self.spill(false);
    }
}

fn is_item(line: &str) -> bool {
    line.starts_with("- ")
        || line
            .split_once(". ")
            .is_some_and(|(number, _)| number.parse::<usize>().is_ok())
}
