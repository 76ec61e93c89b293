//! Finds the fields of a section, an item or an entry, and checks them against their declaration.

use super::blank::is_placeholder;
use super::diagnostics::{Diagnostics, PendingDiagnostic, field_line};
use super::lines::{label, parts, plain, quoted, weak_separators};
use super::{FlawKind, Severity};
use crate::projects::fix::Edit;
use crate::projects::outline::{Outline, key_of};
use crate::projects::template::{Field, FieldForm, Template};
use std::ops::Range;

/// Limit on the unknown field names that are retained for suggestions.
const STRANGERS_MAX: usize = 50;

/// The owner of fields: a section, an item of its list, or an entry.
pub(super) struct FieldOwner<'a> {
    /// Key of the section or entry, for diagnostics.
    pub(super) section: &'a str,
    /// Subject of the correction prompts.
    pub(super) subject: &'a str,
    /// Name within a sentence.
    pub(super) name: String,
    /// First line, from 1.
    pub(super) line: u32,
    /// Byte range of the fields.
    pub(super) range: Range<usize>,
    /// Level of the owner's heading; fields can be headings below it.
    pub(super) level: u8,
    /// Indentation of the owner's lines.
    pub(super) indent: String,
    pub(super) is_entry: bool,
}

impl FieldOwner<'_> {
    /// Returns the name in the form that begins a sentence.
    pub(super) fn called(&self) -> String {
        let mut rest = self.name.chars();
        let first = rest.next().map(char::to_uppercase);
        first.into_iter().flatten().chain(rest).collect()
    }
}

/// Location of a field and of its value, in bytes of the text.
struct FieldLocation {
    /// Index of the field; `None` for a heading that is not a field but ends the previous field.
    field: Option<usize>,
    /// Start of the field's line, or of its part of a line.
    at: usize,
    /// Start of the value.
    value: usize,
}

/// The fields of a range.
pub(super) struct Fields {
    places: Vec<FieldLocation>,
    /// Names that look like fields but are not declared, with their lines.
    strangers: Vec<(String, u32)>,
    end: usize,
}

impl Fields {
    /// Finds the fields in a range below a heading of this level.
    pub(super) fn of(
        outline: &Outline<'_>,
        range: &Range<usize>,
        level: u8,
        all: &[Field],
    ) -> Self {
        let mut fields = Self {
            places: Vec::new(),
            strangers: Vec::new(),
            end: range.end,
        };
        let which = |key: &str| all.iter().position(|field| field.goes_by(key));
        for (start, line) in outline.lines(range) {
            let indent = line.len() - line.trim_start().len();
            if let Some(heading) = outline.heading_at(start) {
                if heading.range.start != start || heading.level <= level {
                    continue;
                }
                let field = which(&heading.key);
                if field.is_none() {
                    fields.stranger(&heading.key, heading.line);
                }
                if field.is_some() || heading.level == level + 1 {
                    let (at, value) = (start, heading.range.end);
                    fields.places.push(FieldLocation { field, at, value });
                }
                continue;
            }
            if outline.is_quiet(start + indent) {
                continue;
            }
            for (at, part) in parts(line) {
                if at > 0 && outline.is_quiet(start + at) {
                    continue; // a separator in code
                }
                fields.part(outline, start + at, part, &which);
            }
        }
        fields
    }

    /// Adds the fields in a part of a line: at its start, after the name of an item, and after commas, dashes,
    /// brackets and full stops if a declared name follows there.
    fn part(
        &mut self,
        outline: &Outline<'_>,
        start: usize,
        part: &str,
        which: &dyn Fn(&str) -> Option<usize>,
    ) {
        let mut done = 0;
        for at in std::iter::once(0).chain(weak_separators(part)) {
            if at < done || (at > 0 && outline.is_quiet(start + at)) {
                continue;
            }
            let rest = part.get(at..).unwrap_or_default();
            let found = label(rest);
            let field = found.as_ref().and_then(|found| which(&key_of(found.name)));
            match (&found, field) {
                (Some(found), Some(field)) => {
                    done = at + found.value;
                    self.places.push(FieldLocation {
                        field: Some(field),
                        at: start + at,
                        value: start + done,
                    });
                }
                // The name of an item, before its first field.
                (Some(found), None) if at == 0 => {
                    self.stranger(&key_of(found.name), outline.line(start));
                    let inner = rest.get(found.value..).and_then(label);
                    let named = inner.and_then(|inner| {
                        Some((which(&key_of(inner.name))?, found.value + inner.value))
                    });
                    if let Some((field, value)) = named {
                        done = value;
                        self.places.push(FieldLocation {
                            field: Some(field),
                            at: start + found.value,
                            value: start + value,
                        });
                    }
                }
                (Some(_) | None, _) => {}
            }
        }
    }

    /// Reports whether the range contains no field.
    pub(super) fn is_empty(&self) -> bool {
        self.places.iter().all(|place| place.field.is_none())
    }

    /// Returns the range of a field's first value.
    fn value(&self, field: usize) -> Option<Range<usize>> {
        let at = self
            .places
            .iter()
            .position(|one| one.field == Some(field))?;
        let next = self.places.get(at + 1).map_or(self.end, |next| next.at);
        let start = self.places.get(at)?.value;
        Some(start.min(next)..next)
    }

    fn stranger(&mut self, key: &str, line: u32) {
        if self.strangers.len() < STRANGERS_MAX {
            self.strangers.push((key.to_owned(), line));
        }
    }

    /// Returns the unknown name that is probably a misspelling of a field.
    fn target(&self, field: &Field) -> Option<&(String, u32)> {
        let key = field.keys.first()?;
        let far = (key.len() / 3).max(1);
        let distance = |(name, _): &&(String, u32)| strsim::osa_distance(name, key);
        let near = self.strangers.iter().min_by_key(distance)?;
        (distance(&near) <= far).then_some(near)
    }
}

/// Returns the start of the first declared field on a line, in bytes.
pub(in crate::projects) fn first_field(line: &str, all: &[Field]) -> Option<usize> {
    let outline = Outline::of(line);
    let fields = Fields::of(&outline, &(0..line.len()), 6, all);
    let mut places = fields.places.iter().filter(|place| place.field.is_some());
    places.next().map(|place| place.at)
}

/// Result of checking a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldFinding {
    /// The field is missing or empty.
    Nothing,
    /// The value is invalid.
    Wrong,
    /// The value is valid.
    Fine,
}

/// Checks the fields of an owner and returns a finding for each.
pub(super) fn check(
    outline: &Outline<'_>,
    template: &Template,
    owner: &FieldOwner<'_>,
    all: &[Field],
    diagnostics: &mut Diagnostics<'_>,
) -> Vec<FieldFinding> {
    let fields = Fields::of(outline, &owner.range, owner.level, all);
    let rendered = |field: &Field| field_line(template, owner.is_entry, field, field.render()).0;
    let mut said = Vec::with_capacity(all.len());
    for (number, field) in all.iter().enumerate() {
        let Some(range) = fields.value(number) else {
            said.push(FieldFinding::Nothing);
            if field.required {
                diagnostics.add(missing(
                    outline,
                    template,
                    owner,
                    field,
                    fields.target(field),
                ));
            }
            continue;
        };
        let written = outline.slice(&range);
        let value = plain(written);
        let (state, diagnostic) = if value.is_empty() {
            (
                FieldFinding::Nothing,
                Some(empty(outline, owner, field, &range)),
            )
        } else if is_placeholder(written) || template.gap_in(written).is_some() {
            (FieldFinding::Wrong, None) // reported with the other placeholders
        } else {
            match wrong(field, value) {
                Some(message) => (
                    FieldFinding::Wrong,
                    Some(misfit(outline, owner, field, &range, &message)),
                ),
                None => (FieldFinding::Fine, None),
            }
        };
        said.push(state);
        if let Some(diagnostic) = diagnostic {
            diagnostics.add(diagnostic.example(rendered(field)));
        }
    }
    said
}

fn misfit(
    outline: &Outline<'_>,
    owner: &FieldOwner<'_>,
    field: &Field,
    range: &Range<usize>,
    message: &str,
) -> PendingDiagnostic {
    let (name, of) = (&field.name, &owner.name);
    // Under a heading the value begins on a later line.
    let value = outline.slice(range);
    let blank = value.len() - value.trim_start().len();
    let line = outline.line(range.start + blank);
    found(
        owner,
        FlawKind::SchemaViolation,
        line,
        format!("{}: {message}", owner.called()),
    )
    .severity(field.severity)
    .prompt(format!(
        "correct `{name}` of {of}: it must be {}",
        expected(field)
    ))
    .edit(replaced(outline, range, field))
}

/// Returns a message if a field's value is invalid.
pub(super) fn wrong(field: &Field, value: &str) -> Option<String> {
    let begins = |choice: &String| {
        let value = value.trim_start_matches(|c: char| !c.is_alphanumeric());
        let head = value.get(..choice.len());
        let rest = value.get(choice.len()..).unwrap_or_default();
        head.is_some_and(|head| head.eq_ignore_ascii_case(choice))
            && !rest.starts_with(char::is_alphanumeric)
    };
    let fits = (field.one_of.is_empty() || field.one_of.iter().any(begins))
        && field.pattern.as_ref().is_none_or(|one| one.matches(value));
    if fits {
        return None;
    }
    let (name, value) = (&field.name, quoted(value));
    Some(format!(
        "`{name}` is {value:?}; it must be {}",
        expected(field)
    ))
}

/// Describes the valid values of a field.
fn expected(field: &Field) -> String {
    if field.one_of.is_empty() {
        field.says.clone()
    } else {
        format!("one of {}", field.one_of.join(", "))
    }
}

fn found(owner: &FieldOwner<'_>, kind: FlawKind, line: u32, message: String) -> PendingDiagnostic {
    PendingDiagnostic::section(kind, owner.subject, line, message).within(owner.section)
}

fn missing(
    outline: &Outline<'_>,
    template: &Template,
    owner: &FieldOwner<'_>,
    field: &Field,
    targets: Option<&(String, u32)>,
) -> PendingDiagnostic {
    let (line, form) = field_line(template, owner.is_entry, field, field.hint());
    let end = outline.trimmed_end(&owner.range);
    let edit = match form {
        FieldForm::Heading => Edit::insert(outline.text(), end, &line),
        FieldForm::Line => Edit {
            range: end..end,
            text: format!("\n{}{line}", owner.indent),
        },
    };
    let (name, of, called) = (&field.name, &owner.name, owner.called());
    let message = match targets {
        Some((targets, at)) => {
            format!("{called} has no `{name}`; `{targets}` on line {at} looks like it")
        }
        None => format!("{called} has no `{name}`"),
    };
    let prompt = match targets {
        Some((targets, at)) => format!("rename `{targets}` on line {at} to `{name}`"),
        None => format!("add `{name}` to {of}: {}", expected(field)),
    };
    found(owner, FlawKind::SchemaViolation, owner.line, message)
        .severity(field.missing)
        .prompt(prompt)
        .example(field_line(template, owner.is_entry, field, field.render()).0)
        .edit(edit)
}

fn empty(
    outline: &Outline<'_>,
    owner: &FieldOwner<'_>,
    field: &Field,
    range: &Range<usize>,
) -> PendingDiagnostic {
    let (name, of) = (&field.name, &owner.name);
    // An optional field can be left out instead.
    let severity = if field.required {
        field.missing
    } else {
        Severity::Warning
    };
    let line = outline.line(range.start.saturating_sub(1));
    found(
        owner,
        FlawKind::ContentQuality,
        line,
        format!("{}: `{name}` is empty", owner.called()),
    )
    .severity(severity)
    .prompt(format!(
        "say `{name}` of {of} ({}), or leave it out",
        field.says
    ))
    .edit(replaced(outline, range, field))
}

/// Replaces the first line of a value with a gap.
fn replaced(outline: &Outline<'_>, range: &Range<usize>, field: &Field) -> Edit {
    let value = outline.slice(range);
    let blank = value.len() - value.trim_start().len();
    let first = value.trim().lines().next().unwrap_or_default();
    // What separates the value from the next field on its line stays.
    let first = first.trim_end_matches(|c: char| {
        c.is_whitespace() || matches!(c, ',' | ';' | '(' | '[' | '|' | '-' | '–' | '—')
    });
    let (start, text) = if first.is_empty() {
        (range.start, format!(" {}", field.hint()))
    } else {
        (range.start + blank, field.hint())
    };
    Edit {
        range: start..start + first.len(),
        text,
    }
}
