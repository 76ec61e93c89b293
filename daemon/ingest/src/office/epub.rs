//! Converts an EPUB to Markdown: its chapters in reading order, read as HTML (EPUB 3.3, W3C; EPUB 2 does not
//! differ in the parts that are read).

use std::collections::HashMap;

use super::archive::Archive;
use super::xml::{Node, walk};
use crate::IngestError;
use crate::builder::{Draft, short};
use crate::limits::Budget;

/// The part that names the package document.
pub(super) const CONTAINER: &str = "META-INF/container.xml";
const WHAT: &str = "EPUB";
/// File extensions of chapters. Images and styles in the reading order are skipped.
const CHAPTERS: &[&str] = &["xhtml", "html", "htm", "xml"];

pub(super) fn read<'b>(
    archive: &mut Archive<'_>,
    budget: &'b Budget<'b>,
) -> Result<Draft<'b>, IngestError> {
    let package = Package::read(archive, budget)?;
    let mut html = String::new();
    let mut warnings = Vec::new();
    let most = budget.limits.pages;
    if package.chapters.len() > most {
        warnings.push(format!("chapters after the {most}th are left out"));
    }
    for path in package.chapters.iter().take(most) {
        if html.len() >= budget.limits.text_bytes {
            warnings.push(format!(
                "chapters from {path} on are left out: the book is too long"
            ));
            break;
        }
        match archive.read(path) {
            Ok(Some(bytes)) => match crate::decode::decode(bytes.into()) {
                Some(chapter) => html.push_str(&chapter.text),
                None => warnings.push(format!("{path} is left out: it is not text")),
            },
            Ok(None) => warnings.push(format!("{path} is missing from the archive")),
            Err(refused @ (IngestError::Inflates { .. } | IngestError::TooSlow { .. })) => {
                return Err(refused);
            }
            Err(refused) => warnings.push(format!("{path} is left out: {refused}")),
        }
        html.push('\n');
    }
    let mut draft = crate::html::read(&html, budget)?;
    if !package.title.is_empty() {
        draft.title = Some(short(&package.title));
    }
    for warning in warnings {
        draft.warn(None, warning);
    }
    Ok(draft)
}

/// The package document: title and reading order.
#[derive(Default)]
struct Package {
    title: String,
    /// Paths of the chapters in the archive.
    chapters: Vec<String>,
}

impl Package {
    fn read(archive: &mut Archive<'_>, budget: &Budget<'_>) -> Result<Self, IngestError> {
        let broken = |why: &str| IngestError::Broken {
            what: WHAT.into(),
            why: why.to_owned(),
        };
        let container = archive
            .read(CONTAINER)?
            .ok_or_else(|| broken("it has no container"))?;
        let mut path = None;
        walk(container, WHAT, budget, |node| {
            if let Node::Start(element) = node
                && element.name() == "rootfile"
                && path.is_none()
            {
                path = element.attribute("full-path");
            }
            Ok(())
        })?;
        let path = path.ok_or_else(|| broken("its container names no package document"))?;
        let bytes = archive
            .read(&path)?
            .ok_or_else(|| broken("its package document is missing"))?;
        let (mut files, mut order) = (HashMap::new(), Vec::new());
        let mut package = Self::default();
        let (mut in_title, mut has_title) = (false, false);
        walk(bytes, WHAT, budget, |node| {
            match node {
                Node::Start(element) => match element.name() {
                    "title" => in_title = !has_title,
                    "item" => {
                        if let (Some(id), Some(file)) =
                            (element.attribute("id"), element.attribute("href"))
                        {
                            files.insert(id, file);
                        }
                    }
                    "itemref" => order.extend(element.attribute("idref")),
                    _ => {}
                },
                Node::Text(text) if in_title => package.title.push_str(text),
                Node::End("title") => {
                    has_title |= in_title;
                    in_title = false;
                }
                Node::Text(_) | Node::End(_) => {}
            }
            Ok(())
        })?;
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let of_chapters = order.iter().filter_map(|id| files.get(id));
        package.chapters = of_chapters
            .filter_map(|file| within(folder, file))
            .collect();
        package.title = package
            .title
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        match package.chapters.is_empty() {
            true => Err(broken("its reading order names no chapter")),
            false => Ok(package),
        }
    }
}

/// Resolves a chapter's relative URL to a path in the archive; `None` for files that are not chapters.
fn within(folder: &str, file: &str) -> Option<String> {
    let file = file.split(['#', '?']).next().unwrap_or_default();
    let extension = file.rsplit_once('.')?.1.to_ascii_lowercase();
    if !CHAPTERS.contains(&extension.as_str()) {
        return None;
    }
    let decoded = percent_decoded(file);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in decoded.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let code = behind
            .get(..2)
            .and_then(|code| std::str::from_utf8(code).ok());
        let byte = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        match (first, byte) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = behind.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
