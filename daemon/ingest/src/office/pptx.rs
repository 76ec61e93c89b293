//! Converts a presentation to Markdown: one section per slide, with its title, points, tables and notes.

use super::archive::Archive;
use super::xml::{Element, Node, walk};
use crate::IngestError;
use crate::blocks::BlockKind;
use crate::builder::{Draft, short};
use crate::limits::Budget;
use crate::table::Table;
use std::collections::BTreeMap;

/// Limit on the indentation of nested points.
const POINT_DEPTH_MAX: usize = 8;
/// Placeholder types without content: slide numbers, dates, footers, headers, images.
const FURNITURE: &[&str] = &["sldNum", "dt", "ftr", "hdr", "sldImg"];

pub(super) fn read<'b>(
    archive: &mut Archive<'_>,
    budget: &'b Budget<'b>,
) -> Result<Draft<'b>, IngestError> {
    let mut draft = Draft::over(String::new(), budget);
    let slides = slides(archive, budget)?;
    let most = budget.limits.pages;
    if slides.len() > most {
        draft.warn(None, format!("slides after the {most}th are left out"));
    }
    for (at, path) in slides.iter().take(most).enumerate() {
        let number = at + 1;
        let slide = match slide(archive, path, budget) {
            Ok(slide) => slide,
            Err(refused @ (IngestError::Inflates { .. } | IngestError::TooSlow { .. })) => {
                return Err(refused);
            }
            Err(refused) => {
                draft.warn(None, format!("slide {number} is left out: {refused}"));
                continue;
            }
        };
        let notes = notes(archive, path, budget)?;
        let title = slide.title.split_whitespace().collect::<Vec<_>>().join(" ");
        if draft.title.is_none() && !title.is_empty() {
            draft.title = Some(short(&title));
        }
        match title.is_empty() {
            true => draft.heading(1, &format!("Slide {number}")),
            false => draft.heading(1, &format!("Slide {number}: {title}")),
        }
        draft.put(BlockKind::List, &slide.points);
        for table in slide.tables {
            draft.put(BlockKind::Rows, &table);
        }
        if !notes.is_empty() {
            draft.put(BlockKind::Prose, &format!("Notes: {notes}"));
        }
    }
    Ok(draft)
}

/// Returns the paths of the slides in presentation order.
fn slides(archive: &mut Archive<'_>, budget: &Budget<'_>) -> Result<Vec<String>, IngestError> {
    let mut order = Vec::new();
    if let Some(bytes) = archive.read("ppt/presentation.xml")? {
        walk(bytes, "pptx", budget, |node| {
            if let Node::Start(element) = node
                && element.name() == "sldId"
            {
                // A slide has two `id` attributes: the slide number, which is numeric, and the relation's id with a prefix.
                order.extend(
                    element
                        .attributes("id")
                        .into_iter()
                        .find(|id| !is_number(id)),
                );
            }
            Ok(())
        })?;
    }
    let targets = relations(archive, "ppt/presentation.xml", budget)?;
    let found: Vec<String> = order
        .iter()
        .filter_map(|id| targets.get(id).cloned())
        .collect();
    if !found.is_empty() {
        return Ok(found);
    }
    // Without relations, the order follows the numbers in the file names.
    let is_slide = |name: &&str| name.starts_with("ppt/slides/slide") && name.ends_with(".xml");
    let mut named: Vec<String> = archive
        .names()
        .filter(is_slide)
        .map(str::to_owned)
        .collect();
    named.sort_by_key(|name| (name.len(), name.clone()));
    Ok(named)
}

fn is_number(id: &str) -> bool {
    id.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the targets of a part's relations by id, as paths in the archive.
fn relations(
    archive: &mut Archive<'_>,
    part: &str,
    budget: &Budget<'_>,
) -> Result<BTreeMap<String, String>, IngestError> {
    let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
    let mut targets = BTreeMap::new();
    if let Some(bytes) = archive.read(&format!("{folder}/_rels/{file}.rels"))? {
        walk(bytes, "pptx", budget, |node| {
            if let Node::Start(element) = node
                && element.name() == "Relationship"
                && let (Some(id), Some(target)) =
                    (element.attribute("Id"), element.attribute("Target"))
            {
                targets.insert(id, resolved(folder, &target));
            }
            Ok(())
        })?;
    }
    Ok(targets)
}

/// Resolves a target relative to a folder of the archive.
fn resolved(folder: &str, target: &str) -> String {
    if let Some(absolute) = target.strip_prefix('/') {
        return absolute.to_owned();
    }
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in target.split('/') {
        match part {
            ".." => {
                parts.pop();
            }
            "." | "" => {}
            name => parts.push(name),
        }
    }
    parts.join("/")
}

fn notes(
    archive: &mut Archive<'_>,
    slide: &str,
    budget: &Budget<'_>,
) -> Result<String, IngestError> {
    let targets = relations(archive, slide, budget)?;
    let Some(path) = targets
        .values()
        .find(|target| target.starts_with("ppt/notesSlides/"))
    else {
        return Ok(String::new());
    };
    let path = path.clone();
    let notes = self::slide(archive, &path, budget)?;
    let lines = notes
        .points
        .lines()
        .map(|line| line.trim_start().trim_start_matches("- "));
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

/// The content of a slide.
#[derive(Default)]
struct Slide {
    title: String,
    points: String,
    tables: Vec<String>,
}

fn slide(archive: &mut Archive<'_>, path: &str, budget: &Budget<'_>) -> Result<Slide, IngestError> {
    let bytes = archive.read(path)?.unwrap_or_default();
    let mut reader = Reader::default();
    walk(bytes, "pptx", budget, |node| {
        reader.node(node);
        Ok(())
    })?;
    Ok(reader.slide)
}

#[derive(Default)]
struct Reader {
    slide: Slide,
    /// Nesting depth within a skipped `Fallback` element, whose text appears elsewhere; 0 outside of one.
    skipped: usize,
    is_title: bool,
    is_furniture: bool,
    is_text: bool,
    depth: usize,
    paragraph: String,
    table: Option<Table>,
}

impl Reader {
    fn node(&mut self, node: Node<'_>) {
        match node {
            Node::Start(element) if self.skipped > 0 || element.name() == "Fallback" => {
                self.skipped += 1;
            }
            Node::End(_) if self.skipped > 0 => self.skipped -= 1,
            Node::Start(element) => self.start(&element),
            Node::End(name) => self.end(name),
            Node::Text(text) if self.is_text && self.skipped == 0 => self.paragraph.push_str(text),
            Node::Text(_) => {}
        }
    }

    fn start(&mut self, element: &Element<'_>) {
        match element.name() {
            "sp" => {
                self.is_title = false;
                self.is_furniture = false;
            }
            "ph" => {
                let kind = element.attribute("type").unwrap_or_default();
                self.is_title = matches!(kind.as_str(), "title" | "ctrTitle");
                self.is_furniture = FURNITURE.contains(&kind.as_str());
            }
            "pPr" => {
                let depth = element
                    .attribute("lvl")
                    .and_then(|depth| depth.parse().ok());
                self.depth = depth.unwrap_or_default();
            }
            "t" => self.is_text = true,
            "br" => self.paragraph.push(' '),
            "tbl" => self.table = Some(Table::default()),
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        match name {
            "t" => self.is_text = false,
            "p" => self.end_paragraph(),
            "tc" => {
                if let Some(table) = &mut self.table {
                    table.end_cell();
                }
            }
            "tr" => {
                if let Some(table) = &mut self.table {
                    table.end_row();
                }
            }
            "tbl" => self
                .slide
                .tables
                .extend(self.table.take().map(Table::into_markdown)),
            _ => {}
        }
    }

    fn end_paragraph(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        let depth = std::mem::take(&mut self.depth).min(POINT_DEPTH_MAX);
        let text = paragraph.trim();
        if text.is_empty() || self.is_furniture {
            return;
        }
        if let Some(table) = &mut self.table {
            table.line(text);
        } else if self.is_title {
            self.slide.title.push_str(text);
            self.slide.title.push(' ');
        } else {
            let indent = "  ".repeat(depth);
            self.slide.points.push_str(&format!("{indent}- {text}\n"));
        }
    }
}
