//! Converts a Word document to Markdown: headings by style, paragraphs, lists, tables, footnotes.

use super::archive::Archive;
use super::xml::{Element, Node, walk};
use crate::IngestError;
use crate::blocks::BlockKind;
use crate::builder::{Draft, short};
use crate::limits::Budget;
use crate::table::Table;
use std::collections::BTreeMap;

/// Limit on the indentation of nested lists.
const LIST_DEPTH_MAX: usize = 8;
/// Elements whose text is deleted, or repeated elsewhere in the document.
const SKIPPED: &[&str] = &["Fallback", "moveFrom", "del"];

pub(super) fn read<'b>(
    archive: &mut Archive<'_>,
    budget: &'b Budget<'b>,
) -> Result<Draft<'b>, IngestError> {
    let mut draft = Draft::over(String::new(), budget);
    let styles = match archive.read("word/styles.xml") {
        Ok(styles) => {
            styles.map_or_else(|| Ok(Styles::default()), |bytes| styles_of(bytes, budget))
        }
        Err(refused) => Err(refused),
    };
    let styles = styles.unwrap_or_else(|refused| {
        draft.warn(
            None,
            format!("headings are known by their styles' ids alone: {refused}"),
        );
        Styles::default()
    });
    let main = archive
        .names()
        .find(|name| name.starts_with("word/document") && name.ends_with(".xml"));
    let main = main.unwrap_or("word/document.xml").to_owned();
    let bytes = archive.read(&main)?.unwrap_or_default();
    let mut reader = Reader::new(draft, &styles);
    walk(bytes, "docx", budget, |node| reader.node(node))?;
    reader.end_list();
    for (part, title) in [
        ("word/footnotes.xml", "Footnotes"),
        ("word/endnotes.xml", "Endnotes"),
    ] {
        match archive.read(part) {
            Ok(None) => {}
            Ok(Some(bytes)) => {
                reader.coming = Some(title);
                walk(bytes, "docx", budget, |node| reader.node(node))?;
                reader.end_list();
            }
            Err(refused) => reader
                .draft
                .warn(None, format!("the notes are left out: {refused}")),
        }
    }
    Ok(reader.draft)
}

/// The role that a style gives to its paragraphs.
#[derive(Clone, Copy)]
enum Style {
    Heading(u32),
    List,
}

type Styles = BTreeMap<String, Style>;

fn styles_of(bytes: Vec<u8>, budget: &Budget<'_>) -> Result<Styles, IngestError> {
    let mut styles = Styles::new();
    let mut id = None;
    walk(bytes, "docx", budget, |node| {
        let Node::Start(element) = node else {
            return Ok(());
        };
        match element.name() {
            "style" => id = element.attribute("styleId"),
            // Built-in styles have English names in every language.
            "name" => {
                let style = element.attribute("val").and_then(|name| by_name(&name));
                if let (Some(id), Some(style)) = (&id, style) {
                    styles.insert(id.clone(), style);
                }
            }
            "outlineLvl" => {
                if let (Some(id), Some(level)) = (&id, outline(&element)) {
                    styles.entry(id.clone()).or_insert(Style::Heading(level));
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(styles)
}

/// Returns the role that a style's name implies. The id is used if a style has no name.
fn by_name(name: &str) -> Option<Style> {
    let name = name.to_ascii_lowercase();
    if name == "title" {
        return Some(Style::Heading(1));
    }
    if name.starts_with("list bullet") || name.starts_with("list number") {
        return Some(Style::List);
    }
    let level = name.strip_prefix("heading")?.trim().parse().ok()?;
    (1..=9).contains(&level).then_some(Style::Heading(level))
}

/// Returns an outline level, from 1; the stored level 9 means body text.
fn outline(element: &Element<'_>) -> Option<u32> {
    let level: u32 = element.attribute("val")?.parse().ok()?;
    (level < 9).then_some(level + 1)
}

struct Reader<'b, 's> {
    draft: Draft<'b>,
    styles: &'s Styles,
    /// Nesting depth within a skipped element; 0 outside of one.
    skipped: usize,
    is_text: bool,
    paragraph: String,
    style: Option<Style>,
    item: Option<usize>,
    list: String,
    tables: usize,
    table: Table,
    /// A heading that is written only if content follows it.
    coming: Option<&'static str>,
}

impl<'b, 's> Reader<'b, 's> {
    fn new(draft: Draft<'b>, styles: &'s Styles) -> Self {
        Self {
            draft,
            styles,
            skipped: 0,
            is_text: false,
            paragraph: String::new(),
            style: None,
            item: None,
            list: String::new(),
            tables: 0,
            table: Table::default(),
            coming: None,
        }
    }

    fn node(&mut self, node: Node<'_>) -> Result<(), IngestError> {
        match node {
            Node::Start(element) if self.skipped > 0 || SKIPPED.contains(&element.name()) => {
                self.skipped += 1;
            }
            Node::End(_) if self.skipped > 0 => self.skipped -= 1,
            Node::Start(element) => self.start(&element),
            Node::End(name) => self.end(name),
            Node::Text(text) if self.is_text && self.skipped == 0 => self.paragraph.push_str(text),
            Node::Text(_) => {}
        }
        Ok(())
    }

    fn start(&mut self, element: &Element<'_>) {
        match element.name() {
            // A nested paragraph (in a text box) ends the outer one.
            "p" => self.end_paragraph(),
            "pStyle" => {
                let id = element.attribute("val").unwrap_or_default();
                self.style = self.styles.get(&id).copied().or_else(|| by_name(&id));
                if let Some(Style::List) = self.style {
                    self.item = self.item.or(Some(0));
                }
            }
            "outlineLvl" => self.style = outline(element).map(Style::Heading).or(self.style),
            "ilvl" => {
                let depth = element
                    .attribute("val")
                    .and_then(|depth| depth.parse().ok());
                self.item = Some(depth.unwrap_or_default());
            }
            "numPr" => self.item = self.item.or(Some(0)),
            "t" => self.is_text = true,
            "tab" => self.paragraph.push(' '),
            "br" | "cr" => self.paragraph.push('\n'),
            "noBreakHyphen" => self.paragraph.push('-'),
            "tbl" => {
                self.end_paragraph();
                self.end_list();
                self.tables += 1;
            }
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        match name {
            "p" => self.end_paragraph(),
            "t" => self.is_text = false,
            "tc" if self.tables == 1 => self.table.end_cell(),
            "tr" if self.tables == 1 => self.table.end_row(),
            "tbl" => {
                self.tables = self.tables.saturating_sub(1);
                if self.tables == 0 {
                    self.end_table();
                }
            }
            _ => {}
        }
    }

    fn end_paragraph(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        let text = paragraph.trim();
        let style = self.style.take();
        let item = self.item.take();
        if text.is_empty() {
            return;
        }
        if self.tables > 0 {
            self.table.line(text);
            return;
        }
        match (style, item) {
            (Some(Style::Heading(level)), _) => {
                self.end_list();
                self.draft.heading(level, text);
                if self.draft.title.is_none() {
                    self.draft.title = Some(short(text));
                }
            }
            (_, Some(depth)) => {
                let indent = "  ".repeat(depth.min(LIST_DEPTH_MAX));
                self.list
                    .push_str(&format!("{indent}- {}\n", text.replace('\n', " ")));
            }
            (_, None) => {
                self.end_list();
                self.put(BlockKind::Prose, text);
            }
        }
    }

    fn end_list(&mut self) {
        let list = std::mem::take(&mut self.list);
        self.put(BlockKind::List, &list);
    }

    fn end_table(&mut self) {
        let table = std::mem::take(&mut self.table);
        if table.is_layout() {
            for line in table.into_lines() {
                self.put(BlockKind::Prose, &line);
            }
        } else {
            self.put(BlockKind::Rows, &table.into_markdown());
        }
    }

    fn put(&mut self, sort: BlockKind, block: &str) {
        if block.trim().is_empty() {
            return;
        }
        if let Some(title) = self.coming.take() {
            self.draft.heading(1, title);
        }
        self.draft.put(sort, block);
    }
}
