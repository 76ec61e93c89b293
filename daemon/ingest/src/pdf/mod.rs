//! PDF: the text of its pages. It is read by a reader of our own, because those there are run out of
//! stack or memory on files made for that, or take longer to build than all else here together.
//! Files with a password, and text that is only drawn as an image, are not read.

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

/// Nodes of the tree of pages within each other.
const TREE_DEPTH_MAX: usize = 64;
/// More characters without a known text than one of so many are told about.
const UNKNOWN_SHARE: usize = 10;

/// Reads a PDF; each page is a section.
///
/// # Errors
/// It has no pages, is encrypted, or takes too long.
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

/// A page by its object's number, and the node of the tree whose resources it has. Only numbers are
/// kept: what a thousand pages share is read for one at a time.
#[derive(Clone, Copy)]
struct PageNode {
    number: u32,
    resources_of: u32,
}

/// The pages in their order, and whether there are more of them.
fn pages(store: &Store<'_>, budget: &Budget<'_>) -> Result<(Vec<PageNode>, bool), IngestError> {
    let most = budget.limits.pages;
    let mut pages = Vec::new();
    let root = store
        .catalog()
        .and_then(|catalog| match catalog.get(&b"Pages"[..]) {
            Some(Object::Reference(number)) => Some(*number),
            _ => None,
        });
    // What is still to be looked at, the next one last.
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
    // Without a tree: every object that says it is a page.
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

/// The content streams of a page after each other, and whether all could be read.
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

/// A text without the hyphens that only the ends of its lines made.
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
