//! Renders an empty file: headings, with descriptions of the content in angle brackets.

use super::{EntrySchema, Field, FieldForm, Format, SectionSchema, Template, gap};
use std::collections::HashSet;

pub(super) fn file(template: &Template) -> String {
    let mut parts = vec![format!("# {}\n", template.title)];
    let sections = template.sections.iter();
    parts.extend(sections.map(|section| self::section(template, section)));
    if template
        .entries
        .as_ref()
        .is_some_and(|one| one.under.is_empty())
    {
        parts.push(entry(template) + "\n");
    }
    parts.join("\n")
}

pub(super) fn section(template: &Template, section: &SectionSchema) -> String {
    let (name, body) = (&section.name, body(template, section));
    format!("## {name}\n\n{body}\n")
}

pub(in crate::projects) fn body(template: &Template, section: &SectionSchema) -> String {
    if template.holds_entries(&section.key) {
        return entry(template);
    }
    let says = &section.says;
    let fields = section.fields.iter();
    match section.format {
        Format::Freeform => match section.min_length {
            Some(least) => gap(&format!("{says}; at least {least} characters")),
            None => gap(says),
        },
        Format::Structured => {
            let lines: Vec<String> = fields.map(line).collect();
            format!("{}\n\n{}", gap(says), lines.join("\n"))
        }
        Format::MarkdownList if section.fields.is_empty() => format!("- {}", gap(says)),
        Format::MarkdownList => format!("{}\n\n{}", gap(says), item(section)),
        Format::MarkdownTable if section.fields.is_empty() => {
            format!("| {} | |\n| --- | --- |\n| | |", gap(says))
        }
        Format::MarkdownTable => {
            let names: Vec<&str> = section.fields.iter().map(|field| &*field.name).collect();
            let cells: Vec<String> = fields.map(Field::hint).collect();
            let dashes = vec!["---"; names.len()].join(" | ");
            let (names, cells) = (names.join(" | "), cells.join(" | "));
            format!("| {names} |\n| {dashes} |\n| {cells} |")
        }
    }
}

/// Renders one item of a list, with its fields.
pub(in crate::projects) fn item(section: &SectionSchema) -> String {
    if section.fields.is_empty() {
        return format!("- {}", gap(&section.says));
    }
    let lines = section.fields.iter();
    let lines: Vec<String> = lines.map(|field| format!("  {}", line(field))).collect();
    format!("- **<name>**\n{}", lines.join("\n"))
}

/// Lists the gaps of a template's skeleton and of its fixes.
pub(super) fn gaps(template: &Template) -> HashSet<String> {
    let mut gaps = HashSet::from(["<name>".to_owned()]);
    let text = file(template);
    for (at, _) in text.match_indices('<') {
        let rest = text.get(at..).unwrap_or_default();
        if let Some(end) = rest.find('>') {
            gaps.extend(rest.get(..=end).map(str::to_owned));
        }
    }
    for section in &template.sections {
        gaps.extend(section.fields.iter().map(Field::hint));
        gaps.extend(section.pattern.iter().map(|(_, says)| gap(says)));
        gaps.insert(gap(&section.says));
    }
    if let Some(entries) = &template.entries {
        gaps.extend(entries.fields.iter().map(Field::hint));
        gaps.insert(heading(entries));
    }
    gaps
}

/// Renders the heading of an entry, as a gap.
pub(in crate::projects) fn heading(entries: &EntrySchema) -> String {
    match &entries.heading {
        Some((_, says)) => gap(says),
        None => gap(&format!("name of the {}", entries.name)),
    }
}

/// Renders one entry; empty if the file does not consist of entries.
pub(in crate::projects) fn entry(template: &Template) -> String {
    let Some(entries) = &template.entries else {
        return String::new();
    };
    let heading = heading(entries);
    let hashes = "#".repeat(usize::from(entries.level));
    let fields = entries.fields.iter();
    let fields: Vec<String> = fields.map(|one| field(entries, one, one.hint())).collect();
    let between = match entries.field_form {
        FieldForm::Heading => "\n\n",
        FieldForm::Line => "\n",
    };
    format!("{hashes} {heading}\n\n{}", fields.join(between))
}

/// Renders a field of an entry with a value, in the template's form.
pub(in crate::projects) fn field(entries: &EntrySchema, field: &Field, value: String) -> String {
    let name = &field.name;
    match entries.field_form {
        FieldForm::Heading => {
            let hashes = "#".repeat(usize::from(entries.level) + 1);
            format!("{hashes} {name}\n\n{value}")
        }
        FieldForm::Line => format!("- **{name}**: {value}"),
    }
}

fn line(field: &Field) -> String {
    format!("- **{}**: {}", field.name, field.hint())
}
