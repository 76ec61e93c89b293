//! Reports a missing section: where it belongs, and which heading probably misspells it.

use super::FlawKind;
use super::diagnostics::PendingDiagnostic;
use super::lines::quoted;
use crate::projects::fix::{Edit, section_place};
use crate::projects::outline::{Heading, Outline, SECTION_LEVEL_MAX, key_of};
use crate::projects::template::{SectionSchema, Template};
use std::collections::HashMap;

/// Limit on the headings that are compared with a missing section's name.
const MEANT_MAX: usize = 200;
/// Deepest level of a heading that can be a misplaced section.
const MEANT_LEVEL_MAX: u8 = 4;
/// Limit on a heading that is compared with a section's name, in bytes.
const MEANT_BYTES_MAX: usize = 128;

/// Returns the diagnostic of a missing section; `hidden` are the [`headings_in_code`].
pub(super) fn missing(
    outline: &Outline<'_>,
    template: &Template,
    schema: &SectionSchema,
    hidden: &HashMap<String, u32>,
) -> PendingDiagnostic {
    let key = &schema.key;
    let message = format!("Missing required section: {key}");
    let kind = FlawKind::MissingSection;
    if let Some(near) = target(outline, template, key) {
        return renamed(near, schema);
    }
    let is_blank = outline.text().trim().is_empty();
    let at = if is_blank {
        0
    } else {
        section_place(outline, template, key)
    };
    let skeleton = template.section_skeleton(schema);
    let edit = if is_blank {
        Edit {
            range: 0..outline.text().len(),
            text: format!("# {}\n\n{skeleton}", template.title),
        }
    } else {
        Edit::insert(outline.text(), at, &skeleton)
    };
    match hidden.get(key) {
        Some(line) => PendingDiagnostic::section(kind, key, *line, message).edit(edit).prompt(format!(
            "take the heading `## {}` of line {line} and what follows it out of the code block: close or remove the fence before it, or its indentation",
            schema.name
        )),
        None => PendingDiagnostic::section(kind, key, outline.line(at), message).edit(edit),
    }
}

/// Suggests to rename a similar heading. The heading keeps its level if sections can have it.
fn renamed(near: &Heading, schema: &SectionSchema) -> PendingDiagnostic {
    let Heading {
        level, line, range, ..
    } = near;
    let (key, name) = (&schema.key, &schema.name);
    let message = format!("Missing required section: {key}");
    let hashes = if *level == 1 { "#" } else { "##" };
    let prompt = format!(
        "rename the heading `{}` on line {line} to `{hashes} {name}`, or add a section of that name",
        quoted(&near.title)
    );
    PendingDiagnostic::section(FlawKind::MissingSection, key, *line, message)
        .prompt(prompt)
        .renames()
        .edit(Edit {
            range: range.clone(),
            text: format!("{hashes} {name}\n"),
        })
}

/// Finds a heading that is probably the section: a similar name, or the same name at a deeper level.
fn target<'o>(outline: &'o Outline<'_>, template: &Template, key: &str) -> Option<&'o Heading> {
    let far = key.len() / 4;
    let is_near = |title: &str| {
        let near = key_of(&title.replace(['-', '_', '/', '&'], " "));
        near.len().abs_diff(key.len()) <= far && strsim::osa_distance(&near, key) <= far
    };
    let mut headings = outline.headings().iter().take(MEANT_MAX);
    headings.find(|heading| {
        let may_be = if heading.level <= SECTION_LEVEL_MAX {
            template.section(&heading.key).is_none()
        } else {
            // Deeper headings are entries and their fields.
            heading.level <= MEANT_LEVEL_MAX && template.entries.is_none()
        };
        may_be && heading.title.len() < MEANT_BYTES_MAX && is_near(&heading.title)
    })
}

/// Lists the keys of lines that would be headings outside of code, each with its first line number.
pub(super) fn headings_in_code(outline: &Outline<'_>) -> HashMap<String, u32> {
    let mut hidden = HashMap::new();
    for (start, line) in outline.lines(&outline.whole()) {
        let indent = line.len() - line.trim_start().len();
        let title = line.trim().trim_start_matches('#');
        if title.len() < line.trim().len() && title.len() < 128 && outline.is_quiet(start + indent)
        {
            hidden
                .entry(key_of(title))
                .or_insert_with(|| outline.line(start));
        }
    }
    hidden
}
