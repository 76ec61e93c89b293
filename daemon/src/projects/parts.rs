//! Splits a context file into its parts: the text before the first heading, sections, and entries.
//!
//! A part ends where the next one begins, so that the parts joined are the file. Parts of two versions are the same
//! part if their keys are equal: the id of an entry, or else the key of the heading.

use std::collections::HashMap;

use super::outline::{Heading, Outline, SECTION_LEVEL_MAX};
use super::template::Template;
use super::validate::{entries_of, id_of};

/// A part of a context file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part<'t> {
    /// Identifies the part among those of a file; empty for the text before the first heading.
    pub key: String,
    /// Title of its heading.
    pub title: String,
    /// The text, with its heading.
    pub text: &'t str,
    /// Start in the file, in bytes.
    pub start: usize,
    /// Whether it is an entry of the template, or without a template any part with a heading.
    pub is_entry: bool,
}

impl Part<'_> {
    /// Returns whether two parts have the same text, up to line ends and white space at the ends of lines.
    pub fn is_like(&self, other: &Part<'_>) -> bool {
        plain_lines(self.text).eq(plain_lines(other.text))
    }
}

/// Returns the lines that are not blank, without trailing white space.
pub fn plain_lines(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.trim_start_matches('\u{feff}').lines();
    lines.map(str::trim_end).filter(|line| !line.is_empty())
}

/// Splits a file into its parts, in order.
pub fn parts<'t>(text: &'t str, template: Option<&Template>) -> Vec<Part<'t>> {
    let outline = Outline::of(text);
    let entries: HashMap<usize, String> = match template {
        None => HashMap::new(),
        Some(template) => entries_of(&outline, template)
            .iter()
            .map(|entry| {
                let schema = template.entries.as_ref();
                let id = schema.map_or_else(String::new, |schema| id_of(schema, entry.heading));
                (entry.heading.range.start, format!("entry {id}"))
            })
            .collect(),
    };
    let is_part = |heading: &&Heading| {
        heading.level <= SECTION_LEVEL_MAX || entries.contains_key(&heading.range.start)
    };
    let begins: Vec<&Heading> = outline.headings().iter().filter(is_part).collect();
    let mut found = Vec::with_capacity(begins.len() + 1);
    let first = begins
        .first()
        .map_or(text.len(), |heading| heading.range.start);
    if first > 0 {
        found.push(Part {
            key: String::new(),
            title: String::new(),
            text: text.get(..first).unwrap_or_default(),
            start: 0,
            is_entry: false,
        });
    }
    for (at, heading) in begins.iter().enumerate() {
        let end = begins
            .get(at + 1)
            .map_or(text.len(), |next| next.range.start);
        let start = heading.range.start;
        let entry = entries.get(&start);
        found.push(Part {
            key: entry
                .cloned()
                .unwrap_or_else(|| format!("{} {}", heading.level, heading.key)),
            title: heading.title.clone(),
            text: text.get(start..end).unwrap_or_default(),
            start,
            is_entry: match template {
                Some(_) => entry.is_some(),
                None => heading.level == SECTION_LEVEL_MAX,
            },
        });
    }
    found
}

/// Pairs the parts of a version with those of another one: for each part the index of its counterpart. Of parts with
/// equal keys, those with equal texts go together, the others in their order.
pub fn pairs(of: &[Part<'_>], with: &[Part<'_>]) -> Vec<Option<usize>> {
    let mut by_key: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, part) in with.iter().enumerate() {
        by_key.entry(&part.key).or_default().push(at);
    }
    let mut found: Vec<Option<usize>> = vec![None; of.len()];
    for is_exact in [true, false] {
        for (part, pair) in of.iter().zip(&mut found) {
            let Some(open) = by_key.get_mut(part.key.as_str()).filter(|_| pair.is_none()) else {
                continue;
            };
            let fits = |at: &usize| !is_exact || with.get(*at).is_some_and(|one| one.is_like(part));
            if let Some(place) = open.iter().position(fits) {
                *pair = Some(open.remove(place));
            }
        }
    }
    found
}

/// Lists the titles of the entries of a version that another one does not have.
pub fn missing_entries(before: &str, after: &str, template: Option<&Template>) -> Vec<String> {
    let (before, after) = (parts(before, template), parts(after, template));
    let pairs = pairs(&before, &after);
    let missing = before
        .iter()
        .zip(pairs)
        .filter(|(part, pair)| part.is_entry && pair.is_none());
    missing.map(|(part, _)| part.title.clone()).collect()
}
