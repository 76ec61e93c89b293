//! PDF: extracts the text of the pages with a separate parser. Existing parsers exhaust the stack or memory on
//! hostile files, or take longer to build than the rest of the project. Files with a password, and text that is
//! only drawn as an image, are not read.

mod cmap;
mod content;
mod filter;
mod font;
mod glyphs;
mod matrix;
mod object;
mod store;

#[cfg(test)]
mod tests;

use super::IngestError;
use super::blocks::BlockKind;
use super::builder::Draft;
use super::limits::Budget;
use content::{Fonts, Page};
use object::{Dict, Object};
use std::collections::HashSet;
use store::{Store, is_type};

/// Limit on the depth of the page tree.
const TREE_DEPTH_MAX: usize = 64;
/// A warning is added if the unknown characters exceed one in this many of the known ones.
const UNKNOWN_SHARE: usize = 10;

/// Reads a PDF; each page is a section.
pub(super) fn read<'b>(bytes: &[u8], budget: &'b Budget<'b>) -> Result<Draft<'b>, IngestError> {
    let store = Store::open(bytes, budget)?;
    let mut draft = Draft::over(String::new(), budget);
    let (pages, is_cut) = pages(&store, budget)?;
    if pages.is_empty() {
        return Err(IngestError::Broken {
            what: "PDF".into(),
            why: "it has no pages".to_owned(),
        });
    }
    if is_cut {
        draft.warn(
            None,
            format!("pages after the {}th are left out", pages.len()),
        );
    }
    let mut fonts = Fonts::new();
    let (mut unknown, mut unread) = (0, 0);
    for (at, page) in pages.iter().enumerate() {
        budget.check()?;
        let (content, is_whole) = content_of(&store, page.number);
        unread += usize::from(!is_whole);
        let mut reader = Page::new(&store, &mut fonts, budget);
        reader.follow(&content, &resources_of(&store, page.resources_of))?;
        unknown += reader.unknown;
        let text = joined(&reader.finish());
        if !text.trim().is_empty() {
            let start = draft.text.len();
            draft.section_of(&[format!("Page {}", at + 1)], start);
            draft.put(BlockKind::Prose, &text);
        }
    }
    if unread > 0 {
        draft.warn(
            None,
            format!("parts of {unread} pages cannot be read or are too large"),
        );
    }
    let known = draft.text.chars().count();
    if known == 0 && unknown == 0 {
        draft.warn(None, "it holds no text; its pages may be images");
    } else if unknown * UNKNOWN_SHARE > known {
        draft.warn(
            None,
            format!("{unknown} characters have fonts that do not say what they are"),
        );
    }
    Ok(draft)
}

/// A page's object number, and the tree node whose resources it uses. Only numbers are stored: resources that a
/// thousand pages share are read for one page at a time.
#[derive(Clone, Copy)]
struct PageNode {
    number: u32,
    resources_of: u32,
}

/// Returns the pages in order, and whether the limit cut them off.
fn pages(store: &Store<'_>, budget: &Budget<'_>) -> Result<(Vec<PageNode>, bool), IngestError> {
    let most = budget.limits.pages;
    let mut pages = Vec::new();
    let root = store
        .catalog()
        .and_then(|catalog| match catalog.get(&b"Pages"[..]) {
            Some(Object::Reference(number)) => Some(*number),
            _ => None,
        });
    // A stack of the nodes still to visit.
    let mut open: Vec<(PageNode, usize)> = Vec::new();
    open.extend(root.map(|number| {
        (
            PageNode {
                number,
                resources_of: number,
            },
            0,
        )
    }));
    let mut seen = HashSet::new();
    while let Some((mut leaf, depth)) = open.pop() {
        budget.check()?;
        if !seen.insert(leaf.number) || depth > TREE_DEPTH_MAX {
            continue;
        }
        let Some(Object::Dict(dict)) = store.get(leaf.number) else {
            continue;
        };
        if dict.contains_key(&b"Resources"[..]) {
            leaf.resources_of = leaf.number;
        }
        match store.value(&dict, b"Kids") {
            Some(Object::Array(kids)) => {
                let kids = references(kids.get(..most.saturating_add(1)).unwrap_or(&kids));
                open.extend(
                    kids.into_iter()
                        .rev()
                        .map(|number| (PageNode { number, ..leaf }, depth + 1)),
                );
            }
            _ if pages.len() >= most => return Ok((pages, true)),
            _ => pages.push(leaf),
        }
    }
    if !pages.is_empty() {
        return Ok((pages, false));
    }
    // Without a page tree, every object of the type `Page` counts.
    for number in store.numbers() {
        budget.check()?;
        if let Some(Object::Dict(dict)) = store.get(number)
            && is_type(&dict, b"Page")
        {
            if pages.len() >= most {
                return Ok((pages, true));
            }
            pages.push(PageNode {
                number,
                resources_of: number,
            });
        }
    }
    Ok((pages, false))
}

fn resources_of(store: &Store<'_>, number: u32) -> Dict {
    let node = match store.get(number) {
        Some(Object::Dict(node)) => node,
        _ => Dict::new(),
    };
    store.dict(&node, b"Resources").unwrap_or_default()
}

/// Concatenates the content streams of a page; the flag reports whether all of them could be read.
fn content_of(store: &Store<'_>, page: u32) -> (Vec<u8>, bool) {
    let mut content = Vec::new();
    let Some(Object::Dict(page)) = store.get(page) else {
        return (content, false);
    };
    let numbers = match page.get(&b"Contents"[..]) {
        Some(Object::Reference(number)) => match store.get(*number) {
            Some(Object::Array(parts)) => references(&parts),
            _ => vec![*number],
        },
        Some(Object::Array(parts)) => references(parts),
        _ => Vec::new(),
    };
    for number in numbers {
        match store.stream(number) {
            Some(Ok((_, part))) if content.len() + part.len() <= store.stream_bytes() => {
                content.extend_from_slice(&part);
                content.push(b'\n');
            }
            _ => return (content, false),
        }
    }
    (content, true)
}

fn references(objects: &[Object]) -> Vec<u32> {
    let references = objects.iter().filter_map(|object| match object {
        Object::Reference(number) => Some(*number),
        _ => None,
    });
    references.collect()
}

/// Removes hyphens at line ends that split a word.
fn joined(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("-\n") {
        let before = rest.get(..at).unwrap_or_default();
        let behind = rest.get(at + 2..).unwrap_or_default();
        let is_word =
            before.ends_with(char::is_alphabetic) && behind.starts_with(char::is_lowercase);
        out.push_str(before);
        if !is_word {
            out.push_str("-\n");
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}
