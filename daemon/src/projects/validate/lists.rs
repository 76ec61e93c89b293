//! Checks that a section is a list and that its items have their fields.

use super::FlawKind;
use super::diagnostics::{Diagnostics, PendingDiagnostic};
use super::fields::{self, FieldOwner, Fields};
use super::lines::{label, marker_bytes, plain, quoted};
use super::sections::counted;
use crate::projects::fix::Edit;
use crate::projects::outline::{Outline, Section, key_of};
use crate::projects::template::{Field, SectionSchema, Template, skeleton};
use std::ops::Range;

/// Checks a section that must be a list.
pub(super) fn check(
    outline: &Outline<'_>,
    template: &Template,
    schema: &SectionSchema,
    section: &Section,
    diagnostics: &mut Diagnostics<'_>,
) {
    let (key, name) = (&schema.key, &schema.name);
    let owners = items(outline, schema, section);
    if owners.is_empty() {
        let message = format!("Section {name} must be a Markdown list; it has no list items");
        let end = outline.trimmed_end(&section.body);
        let edit = Edit {
            range: section.body.start..end,
            text: as_list(outline.slice(&(section.body.start..end))),
        };
        let found = PendingDiagnostic::section(FlawKind::FormatError, key, section.line, message);
        diagnostics.add(if schema.fields.is_empty() {
            found.edit(edit)
        } else {
            found.lacks(skeleton::item(schema))
        });
        return;
    }
    if let Some(least) = schema.min_items
        && owners.len() < least
    {
        let count = counted(owners.len(), "item");
        let message = format!("Section {name} has {count}; it needs at least {least}");
        let kind = FlawKind::ContentQuality;
        diagnostics.add(
            PendingDiagnostic::section(kind, key, section.line, message)
                .lacks(skeleton::item(schema)),
        );
    }
    if !schema.fields.is_empty() {
        for owner in &owners {
            fields::check(outline, template, owner, &schema.fields, diagnostics);
        }
    }
}

/// Lists the items of a section: its subsections if any of them has a declared field, else its list items.
fn items<'a>(
    outline: &Outline<'_>,
    schema: &'a SectionSchema,
    section: &Section,
) -> Vec<FieldOwner<'a>> {
    let owner = |name: &str, line, range, level, indent| FieldOwner {
        section: &schema.key,
        subject: &schema.key,
        name: format!("{}, `{}`", schema.name, quoted(name)),
        line,
        range,
        level,
        indent,
        is_entry: false,
    };
    let headings = outline.headings_in(&section.body).iter();
    let mut headings: Vec<_> = headings
        .filter(|heading| heading.level == section.level.max(2) + 1)
        .map(|heading| {
            (
                heading,
                heading.range.end..outline.end_of(heading).min(section.body.end),
            )
        })
        .collect();
    let is_item = |range: &Range<usize>, level| {
        !schema.fields.is_empty() && !Fields::of(outline, range, level, &schema.fields).is_empty()
    };
    if headings.iter().any(|(heading, range)| {
        let has_items = outline.items_in(range).iter().any(|item| item.depth == 1);
        is_item(range, heading.level) && !(has_items && is_split(outline, schema, range))
    }) {
        headings.retain(|(_, range)| outline.says_something(range));
        let items = headings.into_iter().map(|(heading, range)| {
            owner(
                &heading.title,
                heading.line,
                range,
                heading.level,
                String::new(),
            )
        });
        return items.collect();
    }
    let items = outline.items_in(&section.body).iter();
    items
        .filter(|item| item.depth == 1)
        .map(|item| {
            let (start, line) = outline
                .lines(&(line_start(outline, item.range.start)..item.range.end))
                .next()
                .unwrap_or((item.range.start, ""));
            let indent = " ".repeat(content_column(line));
            let name = item_name(line, &schema.fields);
            // The item's own line is included, because a field can be on it.
            let range = start..item.range.end;
            owner(name, outline.line(start), range, section.level, indent)
        })
        .collect()
}

/// Returns the name at the start of an item: what is bold there, or else the text before its first field.
///
/// An item that begins with a field, or with the label `Name`, goes by that value.
pub(super) fn item_name<'t>(line: &'t str, fields: &[Field]) -> &'t str {
    let first = line.get(marker_bytes(line)..).unwrap_or_default();
    let ends = [": ", " - ", " – ", " — ", "; ", " (", " | "];
    let until = |text: &'t str| -> &'t str {
        let end = ends.iter().filter_map(|end| text.find(end)).min();
        plain(text.get(..end.unwrap_or(text.len())).unwrap_or_default()).trim_end_matches(':')
    };
    for mark in ["**", "__"] {
        let inner = first
            .strip_prefix(mark)
            .and_then(|bold| bold.split_once(mark));
        if let Some((name, _)) = inner
            && !is_label(name, fields)
        {
            return plain(name).trim_end_matches(':');
        }
    }
    match label(first) {
        Some(found) if is_label(found.name, fields) => {
            until(first.get(found.value..).unwrap_or_default().trim_start())
        }
        Some(_) | None => until(first),
    }
}

fn is_label(name: &str, fields: &[Field]) -> bool {
    let key = key_of(name);
    key == "name" || fields.iter().any(|field| field.goes_by(&key))
}

/// Returns the indentation of an item's content.
fn content_column(line: &str) -> usize {
    let item = line.trim_start();
    let digits = item.bytes().take_while(u8::is_ascii_digit).count();
    // The bullet and a space, or the digits, their point and a space.
    line.len() - item.len() + digits + 2
}

/// Reports whether the fields below a heading belong to the items of a list there, not to the heading.
fn is_split(outline: &Outline<'_>, schema: &SectionSchema, range: &Range<usize>) -> bool {
    let deep = outline
        .items_in(range)
        .iter()
        .filter(|item| item.depth == 2);
    deep.into_iter().any(|item| {
        let start = line_start(outline, item.range.start);
        !Fields::of(outline, &(start..item.range.end), 6, &schema.fields).is_empty()
    })
}

/// Returns the start of the line that contains a byte.
fn line_start(outline: &Outline<'_>, at: usize) -> usize {
    let before = outline.text().get(..at).unwrap_or_default();
    before.rfind(['\n', '\r']).map_or(0, |end| end + 1)
}

/// Turns each line into a list item.
fn as_list(body: &str) -> String {
    let line = |line: &str| {
        if line.trim().is_empty() {
            line.to_owned()
        } else {
            format!("- {}", line.trim())
        }
    };
    let lines: Vec<String> = body.lines().map(line).collect();
    lines.join("\n")
}
