//! Renders an empty file: headings, with descriptions of the content in angle brackets.

use super::{EntrySchema, Field, FieldForm, Format, SectionSchema, Template};

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

pub(super) fn body(template: &Template, section: &SectionSchema) -> String {
    if template.holds_entries(&section.key) {
        return entry(template);
    }
    let says = &section.says;
    let fields = section.fields.iter();
    match section.format {
        Format::Freeform => match section.min_length {
            Some(least) => format!("<{says}; at least {least} characters>"),
            None => format!("<{says}>"),
        },
        Format::Structured => {
            let lines: Vec<String> = fields.map(line).collect();
            format!("<{says}>\n\n{}", lines.join("\n"))
        }
        Format::MarkdownList if section.fields.is_empty() => format!("- <{says}>"),
        Format::MarkdownList => {
            let lines: Vec<String> = fields.map(|field| format!("  {}", line(field))).collect();
            format!("<{says}>\n\n- **<name>**\n{}", lines.join("\n"))
        }
        Format::MarkdownTable if section.fields.is_empty() => {
            format!("| <{says}> | |\n| --- | --- |\n| | |")
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

/// Renders one entry; empty if the file does not consist of entries.
pub(super) fn entry(template: &Template) -> String {
    let Some(entries) = &template.entries else {
        return String::new();
    };
    let heading = match &entries.heading {
        Some((_, says)) => format!("<{says}>"),
        None => format!("<name of the {}>", entries.name),
    };
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
