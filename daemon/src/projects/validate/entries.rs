//! Checks the position and the structure of a file's entries.

use super::diagnostics::{Diagnostics, PendingDiagnostic};
use super::fields::{self, FieldFinding, FieldOwner};
use super::lines::quoted;
use super::{FlawKind, Severity};
use crate::projects::fix::Edit;
use crate::projects::outline::{Heading, Outline, SECTION_LEVEL_MAX, Section, key_of};
use crate::projects::template::{EntrySchema, Field, Pattern, Template, skeleton};
use std::collections::HashMap;

/// An entry of a file.
pub(in crate::projects) struct Entry<'o> {
    pub(in crate::projects) heading: &'o Heading,
    /// Key of its section; if the entry is a section, its own key.
    under: &'o str,
    /// End of the entry, in bytes of the text.
    pub(in crate::projects) end: usize,
}

/// Returns the entries of a text, in order.
pub(in crate::projects) fn entries_of<'o>(
    outline: &'o Outline<'_>,
    template: &Template,
) -> Vec<Entry<'o>> {
    match &template.entries {
        Some(schema) => sorted(outline, template, schema).0,
        None => Vec::new(),
    }
}

/// A heading at a wrong level or in a wrong section.
enum MisplacedHeading<'o> {
    /// The heading looks like an entry's.
    Entry(&'o Heading),
    /// The heading is a field's, but at the level of entries.
    Field(&'o Heading),
}

/// Returns the entries and the misplaced headings.
fn sorted<'o>(
    outline: &'o Outline<'_>,
    template: &Template,
    schema: &EntrySchema,
) -> (Vec<Entry<'o>>, Vec<MisplacedHeading<'o>>) {
    let (mut entries, mut misplaced) = (Vec::<Entry<'o>>::new(), Vec::new());
    let mut under = "";
    for heading in outline.headings() {
        if heading.level <= SECTION_LEVEL_MAX {
            under = &heading.key;
        }
        let is_here = if schema.under.is_empty() {
            template.section(&heading.key).is_none()
        } else {
            schema.under.iter().any(|key| key == under)
        };
        let looks_so = |(pattern, _): &(Pattern, String)| pattern.matches(&heading.title);
        let is_like_one = schema.heading.as_ref().is_some_and(looks_so);
        if heading.level == schema.level && is_here {
            if !is_like_one
                && schema
                    .fields
                    .iter()
                    .any(|field| field.goes_by(&heading.key))
            {
                misplaced.push(MisplacedHeading::Field(heading));
                continue;
            }
            let end = outline.end_of(heading);
            entries.push(Entry {
                heading,
                under,
                end,
            });
            continue;
        }
        let is_inside = entries
            .last()
            .is_some_and(|last| heading.range.start < last.end);
        if !is_inside && is_like_one {
            misplaced.push(MisplacedHeading::Entry(heading));
        }
    }
    if entries.is_empty() && misplaced.is_empty() && schema.under.is_empty() {
        misplaced = at_one_other_level(outline, template, schema);
    }
    (entries, misplaced)
}

/// Returns the headings of a text whose entries all have another level: the highest ones below the title.
fn at_one_other_level<'o>(
    outline: &'o Outline<'_>,
    template: &Template,
    schema: &EntrySchema,
) -> Vec<MisplacedHeading<'o>> {
    let title = key_of(&template.title);
    let is_entry = |heading: &&Heading| {
        let mut fields = schema.fields.iter();
        heading.key != title
            && template.section(&heading.key).is_none()
            && !fields.any(|field| field.goes_by(&heading.key))
    };
    let headings = outline.headings().iter();
    let mut headings: Vec<&Heading> = headings.filter(is_entry).collect();
    // A title in other words stands alone above the entries.
    if let [first, rest @ ..] = headings.as_slice()
        && first.level == 1
        && rest.iter().all(|heading| heading.level > 1)
    {
        headings.remove(0);
    }
    let Some(level) = headings.iter().map(|heading| heading.level).min() else {
        return Vec::new();
    };
    headings.retain(|heading| heading.level == level);
    headings.into_iter().map(MisplacedHeading::Entry).collect()
}

pub(super) fn check(outline: &Outline<'_>, template: &Template, diagnostics: &mut Diagnostics<'_>) {
    let Some(schema) = &template.entries else {
        return;
    };
    let (entries, misplaced) = sorted(outline, template, schema);
    for misplaced in &misplaced {
        diagnostics.add(match misplaced {
            MisplacedHeading::Entry(heading) => entry_astray(template, schema, heading),
            MisplacedHeading::Field(heading) => field_astray(schema, heading),
        });
    }
    none(
        outline,
        template,
        schema,
        (&entries, !misplaced.is_empty()),
        diagnostics,
    );
    duplicates(schema, &entries, diagnostics);
    for entry in &entries {
        self::entry(outline, template, schema, entry, diagnostics);
    }
}

/// Creates a diagnostic of an entry.
fn found(kind: FlawKind, key: &str, line: u32, message: String) -> PendingDiagnostic {
    PendingDiagnostic::section(kind, key, line, message).subject("entries")
}

fn entry_astray(template: &Template, schema: &EntrySchema, heading: &Heading) -> PendingDiagnostic {
    let Heading {
        level,
        title,
        key,
        line,
        ..
    } = heading;
    let name = &schema.name;
    if *level != schema.level {
        return other_level(heading, schema.level, &format!("a {name}"));
    }
    let names = schema.under.iter().filter_map(|key| template.section(key));
    let names: Vec<String> = names.map(|one| format!("`## {}`", one.name)).collect();
    let names = names.join(" or ");
    let message = format!("`{}` is not under {names}", quoted(title));
    found(FlawKind::SchemaViolation, key, *line, message)
        .prompt(format!("move the {name} of line {line} under {names}"))
}

fn field_astray(schema: &EntrySchema, heading: &Heading) -> PendingDiagnostic {
    let what = format!("in a {} it", schema.name);
    other_level(heading, schema.level + 1, &what)
}

/// Creates a diagnostic of a heading at a wrong level.
fn other_level(heading: &Heading, wanted: u8, what: &str) -> PendingDiagnostic {
    let Heading {
        level,
        title,
        key,
        line,
        range,
    } = heading;
    let hashes = "#".repeat(usize::from(wanted));
    let message = format!(
        "`{}` is a heading of level {level}; {what} is one of level {wanted}",
        quoted(title)
    );
    found(FlawKind::FormatError, key, *line, message)
        .prompt(format!("begin line {line} with `{hashes} `"))
        .example(format!("{hashes} {title}"))
        .edit(Edit {
            range: range.clone(),
            text: format!("{hashes} {title}\n"),
        })
}

/// Reports text without entries in a section for entries, and a file without any entry.
fn none(
    outline: &Outline<'_>,
    template: &Template,
    schema: &EntrySchema,
    (entries, has_others): (&[Entry<'_>], bool),
    diagnostics: &mut Diagnostics<'_>,
) {
    let name = &schema.name;
    let hashes = "#".repeat(usize::from(schema.level));
    let says = match &schema.heading {
        Some((_, says)) => format!("`{hashes} ` and {says}"),
        None => format!("`{hashes} ` and its name"),
    };
    let is_empty = |section: &&Section| !entries.iter().any(|entry| entry.under == section.key);
    for key in &schema.under {
        let Some(section) = outline.section(key).filter(is_empty) else {
            continue;
        };
        let none = template
            .section(key)
            .is_some_and(|one| one.is_none(outline.slice(&section.body)));
        if none || !outline.says_something(&section.body) {
            continue;
        }
        let title = &section.title;
        let message = format!("Section {title} has text and no {name}: each begins with {says}");
        diagnostics.add(found(FlawKind::FormatError, key, section.line, message));
    }
    let all = outline.whole();
    if schema.under.is_empty() && entries.is_empty() && !has_others {
        let message = format!("No {name} found: each begins with {says}");
        let at = outline.text().len();
        let found = found(FlawKind::FormatError, "entries", outline.line(at), message);
        if outline.says_something(&all) || !outline.headings().is_empty() {
            let edit = Edit::insert(outline.text(), at, &skeleton::entry(template));
            diagnostics.add(found.edit(edit));
        } else {
            let text = format!("# {}\n\n{}\n", template.title, skeleton::entry(template));
            diagnostics.add(found.edit(Edit { range: 0..at, text }));
        }
    }
}

/// Lists the ids of entries that must be unique, with the line and the key of each heading.
pub(in crate::projects) fn entry_ids(
    outline: &Outline<'_>,
    template: &Template,
) -> Vec<(String, u32, String)> {
    let Some(schema) = template.entries.as_ref().filter(|schema| schema.unique) else {
        return Vec::new();
    };
    let entries = entries_of(outline, template);
    let ids = entries.iter().map(|entry| {
        let heading = entry.heading;
        (id_of(schema, heading), heading.line, heading.key.clone())
    });
    ids.collect()
}

/// Returns the id in an entry's heading, or else the key of the heading.
pub(in crate::projects) fn id_of(schema: &EntrySchema, heading: &Heading) -> String {
    let pattern = schema.heading.as_ref().map(|(pattern, _)| pattern);
    let id = pattern.and_then(|pattern| pattern.group(&heading.title, "id"));
    id.map_or_else(|| heading.key.clone(), key_of)
}

fn duplicates(schema: &EntrySchema, entries: &[Entry<'_>], diagnostics: &mut Diagnostics<'_>) {
    if !schema.unique {
        return;
    }
    let mut first: HashMap<String, u32> = HashMap::new();
    for entry in entries {
        let Heading { key, line, .. } = entry.heading;
        let id = id_of(schema, entry.heading);
        match first.get(&id) {
            None => {
                first.insert(id, *line);
            }
            Some(first) => {
                let message = format!(
                    "Duplicate {}: {id}; the first is on line {first}",
                    schema.name
                );
                diagnostics.add(found(FlawKind::SchemaViolation, key, *line, message).prompt(format!(
                    "give the {} of line {line} an id of its own, or put what it says into that of line {first}",
                    schema.name
                )));
            }
        }
    }
}

fn entry(
    outline: &Outline<'_>,
    template: &Template,
    schema: &EntrySchema,
    entry: &Entry<'_>,
    diagnostics: &mut Diagnostics<'_>,
) {
    let Heading {
        title,
        key,
        line,
        range,
        level,
    } = entry.heading;
    if let Some((pattern, says)) = &schema.heading
        && !pattern.matches(title)
        && template.gap_in(title).is_none()
    {
        diagnostics.add(other_heading(schema, entry.heading, says));
    }
    let name = format!("the {} `{}`", schema.name, quoted(title));
    let body = range.end..entry.end;
    if !outline.says_something(&body) {
        let message = format!("The {} `{}` is empty", schema.name, quoted(title));
        let entry = skeleton::entry(template);
        let fields = entry.split_once('\n').map_or("", |(_, rest)| rest.trim());
        let edit = Edit {
            range: range.end..outline.trimmed_end(&body).max(range.end),
            text: format!("\n{fields}\n\n"),
        };
        // A heading says enough if no field has to be there.
        let mut required = schema
            .fields
            .iter()
            .filter(|field| field.required)
            .peekable();
        let is_enough = schema.at_least_one_of.is_empty()
            && required.peek().is_some()
            && required.all(|field| field.missing == Severity::Warning);
        let severity = if is_enough {
            Severity::Warning
        } else {
            Severity::Error
        };
        let found = found(FlawKind::ContentQuality, key, *line, message);
        diagnostics.add(found.severity(severity).edit(edit));
        return;
    }
    let owner = FieldOwner {
        section: key,
        subject: "entries",
        name,
        line: *line,
        range: body,
        level: *level,
        indent: String::new(),
        is_entry: true,
    };
    let said = fields::check(outline, template, &owner, &schema.fields, diagnostics);
    at_least_one(outline, schema, &owner, &said, diagnostics);
    // The section's fields are checked as well, except fields that the entry's own check reported already.
    let Some(section) = template.section(entry.under) else {
        return;
    };
    let is_told = |field: &&Field| {
        let mut own = schema.fields.iter().zip(&said);
        own.any(|(own, said)| *said == FieldFinding::Wrong && own.name == field.name)
    };
    let fields = section.fields.iter().filter(|field| !is_told(field));
    let fields: Vec<Field> = fields.cloned().collect();
    fields::check(outline, template, &owner, &fields, diagnostics);
}

/// Creates a diagnostic of an entry's heading that does not match the pattern.
fn other_heading(schema: &EntrySchema, heading: &Heading, says: &str) -> PendingDiagnostic {
    let Heading {
        title,
        key,
        line,
        range,
        ..
    } = heading;
    let message = format!("The heading `{}` is not {says}", quoted(title));
    let example = schema.sample.lines().next().unwrap_or_default();
    found(FlawKind::FormatError, key, *line, message)
        .prompt(format!("rewrite the heading of line {line} as {says}"))
        .example(example)
        .edit(Edit {
            range: range.clone(),
            text: format!(
                "{} {title} {}\n",
                "#".repeat(usize::from(schema.level)),
                skeleton::heading(schema)
            ),
        })
}

fn at_least_one(
    outline: &Outline<'_>,
    schema: &EntrySchema,
    owner: &FieldOwner<'_>,
    said: &[FieldFinding],
    diagnostics: &mut Diagnostics<'_>,
) {
    let choices = &schema.at_least_one_of;
    let is_one = |field: &Field| choices.iter().any(|name| field.goes_by(&key_of(name)));
    let mut fields = schema.fields.iter().zip(said);
    if choices.is_empty()
        || fields.any(|(field, said)| *said != FieldFinding::Nothing && is_one(field))
    {
        return;
    }
    let (name, names) = (&owner.name, choices.join(", "));
    let message = format!("{} has none of {names}", owner.called());
    let kind = FlawKind::SchemaViolation;
    let diagnostic = found(kind, owner.section, owner.line, message)
        .prompt(format!("add to {name} at least one of {names}"));
    let first = schema.fields.iter().find(|field| is_one(field));
    diagnostics.add(match first {
        Some(field) => {
            let end = outline.trimmed_end(&owner.range);
            let text = skeleton::field(schema, field, field.hint());
            diagnostic.edit(Edit::insert(outline.text(), end, &text))
        }
        None => diagnostic,
    });
}
