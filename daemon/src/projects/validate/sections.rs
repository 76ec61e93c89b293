//! Checks that the sections of the template exist, once each, and as declared.

use super::diagnostics::{Diagnostics, PendingDiagnostic};
use super::fields::{self, FieldOwner};
use super::lines::quoted;
use super::{FlawKind, Severity, lists, missing, tables};
use crate::projects::fix::Edit;
use crate::projects::outline::{Outline, Section};
use crate::projects::template::{Format, SectionSchema, Template, gap, skeleton};
use std::cell::OnceCell;
use std::collections::HashMap;

/// Limit on a text that is moved in a suggested edit, in bytes.
const MOVED_BYTES_MAX: usize = 16 << 10;

pub(super) fn check(outline: &Outline<'_>, template: &Template, diagnostics: &mut Diagnostics<'_>) {
    let hidden = OnceCell::new();
    for schema in &template.sections {
        if outline.section(&schema.key).is_none() && schema.required {
            let hidden = hidden.get_or_init(|| missing::headings_in_code(outline));
            diagnostics.add(missing::missing(outline, template, schema, hidden));
        }
    }
    duplicates(outline, template, diagnostics);
    for schema in &template.sections {
        if let Some(section) = outline.section(&schema.key) {
            self::section(outline, template, schema, section, diagnostics);
        }
    }
}

/// Reports duplicate sections. Entries are checked separately.
fn duplicates(outline: &Outline<'_>, template: &Template, diagnostics: &mut Diagnostics<'_>) {
    let has_entries = template.entries.as_ref().is_some_and(|one| one.level == 2);
    let mut seen: HashMap<&str, &Section> = HashMap::new();
    for section in outline.sections() {
        let is_known = template.section(&section.key).is_some();
        if has_entries && !is_known {
            continue;
        }
        match seen.get(section.key.as_str()) {
            None => {
                seen.insert(&section.key, section);
            }
            Some(first) => diagnostics.add(duplicate(outline, first, section, is_known)),
        }
    }
}

fn duplicate(
    outline: &Outline<'_>,
    first: &Section,
    section: &Section,
    is_known: bool,
) -> PendingDiagnostic {
    let (key, line) = (&section.key, section.line);
    let message = format!(
        "Duplicate section: {key}; the first is on line {}",
        first.line
    );
    let kind = FlawKind::SchemaViolation;
    // A lookup by name returns only one of the two sections.
    let severity = if is_known {
        Severity::Error
    } else {
        Severity::Warning
    };
    let heading = format!("## {}", quoted(&first.title));
    let found = PendingDiagnostic::section(kind, key, line, message)
        .severity(severity)
        .example(heading)
        .prompt(format!(
            "move what is below the heading of line {line} to the end of the section of line {}, and remove the second heading",
            first.line
        ));
    let range = first.body.end..section.body.end;
    // A copy for each of many duplicates would take quadratic space.
    if range.len() > MOVED_BYTES_MAX {
        return found;
    }
    let (body, between) = (
        outline.slice(&section.body),
        outline.slice(&(first.body.end..section.heading.start)),
    );
    let text = format!("{}\n\n{between}", body.trim_matches(['\n', '\r']));
    found.edit(Edit { range, text })
}

fn section(
    outline: &Outline<'_>,
    template: &Template,
    schema: &SectionSchema,
    section: &Section,
    diagnostics: &mut Diagnostics<'_>,
) {
    let (key, name) = (&schema.key, &schema.name);
    let quality = |message: String, lacks: String| {
        let found =
            PendingDiagnostic::section(FlawKind::ContentQuality, key, section.line, message);
        found.lacks(lacks)
    };
    let body = outline.slice(&section.body);
    if schema.is_none(body) {
        return;
    }
    let holds_entries = template.holds_entries(key);
    if !outline.says_something(&section.body) {
        let has_entries = holds_entries && !outline.headings_in(&section.body).is_empty();
        if schema.if_none.is_none() && !has_entries {
            let body = skeleton::body(template, schema);
            diagnostics.add(quality(format!("Section {name} is empty"), body));
        }
        return;
    }
    if let Some(least) = schema.min_length {
        let count = outline.characters(&section.body);
        if count < least {
            let count = counted(count, "character");
            let message = format!("Section {name} has {count}; it needs at least {least}");
            diagnostics.add(quality(message, gap(&schema.says)));
        }
    }
    // While there is a gap, that is reported.
    if let Some((pattern, says)) = &schema.pattern
        && !pattern.matches(body)
        && template.gap_in(body).is_none()
    {
        let message = format!("Section {name} does not have {says}");
        let found = PendingDiagnostic::section(FlawKind::FormatError, key, section.line, message);
        let text = match schema.format {
            Format::MarkdownList => format!("- {}", gap(says)),
            Format::MarkdownTable | Format::Freeform | Format::Structured => gap(says),
        };
        diagnostics.add(
            found
                .prompt(format!("add to the section `{name}` {says}"))
                .lacks(text),
        );
    }
    match schema.format {
        Format::MarkdownList => lists::check(outline, template, schema, section, diagnostics),
        Format::MarkdownTable => tables::check(outline, template, schema, section, diagnostics),
        Format::Structured if !holds_entries => {
            let owner = FieldOwner {
                section: key,
                subject: key,
                name: name.clone(),
                line: section.line,
                range: section.body.clone(),
                level: section.level,
                indent: String::new(),
                is_entry: false,
            };
            fields::check(outline, template, &owner, &schema.fields, diagnostics);
        }
        Format::Structured | Format::Freeform => {}
    }
}

/// Formats a count with its noun.
pub(super) fn counted(count: usize, what: &str) -> String {
    match count {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}
