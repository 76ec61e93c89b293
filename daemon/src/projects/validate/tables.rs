//! Checks that a section is a table and that its rows have valid values in the declared columns.

use super::FlawKind;
use super::blank::is_placeholder;
use super::diagnostics::{Diagnostics, PendingDiagnostic};
use super::fields;
use super::lines::plain;
use super::sections::counted;
use crate::projects::outline::{Outline, Section, key_of};
use crate::projects::template::{SectionSchema, Template, skeleton};

/// Checks a section that must be a table.
pub(super) fn check(
    outline: &Outline<'_>,
    template: &Template,
    schema: &SectionSchema,
    section: &Section,
    diagnostics: &mut Diagnostics<'_>,
) {
    let (key, name) = (&schema.key, &schema.name);
    let found = |kind, line, message: String| PendingDiagnostic::section(kind, key, line, message);
    let tables = outline.tables_in(&section.body);
    let Some(first) = tables.first() else {
        let mut lines = outline.lines(&section.body);
        let row = lines.find(|(_, line)| line.trim_start().starts_with('|'));
        let message = match row {
            Some((at, _)) => format!(
                "Section {name} must be a Markdown table; below the header on line {} there is no line of dashes `| --- |` with as many cells",
                outline.line(at)
            ),
            None => format!("Section {name} must be a Markdown table; it has none"),
        };
        diagnostics.add(
            found(FlawKind::FormatError, section.line, message)
                .lacks(skeleton::body(template, schema)),
        );
        return;
    };
    let rows: usize = tables.iter().map(|table| table.rows.len()).sum();
    let least = schema.min_items.unwrap_or(1);
    if rows < least {
        let rows = counted(rows, "row");
        let message = format!("Section {name} has {rows}; it needs at least {least}");
        diagnostics.add(
            found(FlawKind::ContentQuality, section.line, message)
                .lacks(skeleton::body(template, schema)),
        );
    }
    let line = outline.line(first.range.start);
    for field in &schema.fields {
        let column = first
            .header
            .iter()
            .position(|cell| field.goes_by(&key_of(cell)));
        let Some(column) = column else {
            if field.required {
                let message = format!("{name}: the table has no column `{}`", field.name);
                let diagnostic = found(FlawKind::SchemaViolation, line, message);
                diagnostics.add(diagnostic.severity(field.severity));
            }
            continue;
        };
        for row in &first.rows {
            let written = row.cells.get(column).map_or("", String::as_str);
            let value = plain(written);
            let line = outline.line(row.at);
            let (kind, message) = if value.is_empty() && field.required {
                (
                    FlawKind::ContentQuality,
                    Some(format!("`{}` is empty", field.name)),
                )
            } else if value.is_empty() || is_placeholder(written) {
                continue;
            } else {
                (FlawKind::SchemaViolation, fields::wrong(field, value))
            };
            if let Some(message) = message {
                let diagnostic = found(kind, line, format!("{name}: {message}"));
                diagnostics.add(diagnostic.severity(field.severity));
            }
        }
    }
}
