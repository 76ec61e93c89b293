//! Reads the parts of a template: sections, fields, entries, rules.

use super::error::{Reason, TemplateError};
use super::read::Table;
use super::{
    AppendOrder, Check, EntrySchema, FIELDS_MAX, Field, FieldForm, Format, FormatRule,
    NAME_BYTES_MAX, Pattern, RULES_MAX, SENTENCE_BYTES_MAX, SectionPlacement, SectionSchema,
    Template, WORDS_MAX, skeleton,
};
use crate::projects::outline::{Outline, key_of};
use crate::projects::validate::{Severity, entries_of};
use lored_tables::Located;

pub(super) const SECTION_KEYS: [&str; 10] = [
    "name",
    "says",
    "required",
    "format",
    "min_length",
    "min_items",
    "pattern",
    "pattern_says",
    "fields",
    "if_none",
];
const FIELD_KEYS: [&str; 9] = [
    "name", "also", "says", "required", "severity", "missing", "one_of", "pattern", "example",
];
const ENTRY_KEYS: [&str; 9] = [
    "name",
    "level",
    "under",
    "heading",
    "heading_says",
    "unique",
    "field_form",
    "at_least_one_of",
    "fields",
];
const RULE_KEYS: [&str; 7] = [
    "name",
    "says",
    "section",
    "severity",
    "must",
    "must_not",
    "max_bytes",
];
const APPENDS_KEYS: [&str; 2] = ["under", "at"];

/// Maximum number of characters, items or bytes that a template can require.
const NUMBER_MAX: usize = 1 << 30;

/// A section as declared.
pub(super) struct SectionDeclaration {
    pub(super) key: String,
    pub(super) required: Option<bool>,
    rest: SectionSchema,
}

impl SectionDeclaration {
    pub(super) fn schema(self) -> SectionSchema {
        SectionSchema {
            required: self.required.unwrap_or(false),
            ..self.rest
        }
    }
}

pub(super) fn section(
    table: &Table<'_, '_>,
    key: &Located<&str>,
    titled: String,
) -> Result<SectionDeclaration, TemplateError> {
    let name = table.owned("name", NAME_BYTES_MAX)?.unwrap_or(titled);
    let found = key_of(&name);
    if found != key.value {
        let key_name = key.value.to_owned();
        let reason = Reason::SectionKey {
            key: key_name,
            name,
            found,
        };
        return Err(table.error(key.at, reason));
    }
    let words = Format::ALL.map(Format::word);
    let Some(word) = table.choice("format", &words)? else {
        return Err(table.error(table.at, lored_tables::Reason::Missing { key: "format" }));
    };
    let format = Format::ALL.into_iter().find(|one| one.word() == word);
    let format = format.unwrap_or(Format::Freeform);
    let min_items = table.number("min_items", (1, NUMBER_MAX))?;
    if min_items.is_some() && matches!(format, Format::Freeform | Format::Structured) {
        let reason = format!(
            "`min_items` counts items of a list or rows of a table; the format here is {word}"
        );
        return Err(table.error(table.place("min_items"), Reason::Unfit(reason)));
    }
    let fields = fields(table)?;
    if format == Format::Freeform && !fields.is_empty() {
        let reason =
            "`fields` need a format with parts: markdown_list, markdown_table or structured";
        return Err(table.error(table.place("fields"), Reason::Unfit(reason.to_owned())));
    }
    Ok(SectionDeclaration {
        key: key.value.to_owned(),
        required: table.flag("required")?,
        rest: SectionSchema {
            key: key.value.to_owned(),
            says: says(table, &name)?,
            name,
            required: false,
            format,
            min_length: table.number("min_length", (1, NUMBER_MAX))?,
            min_items,
            pattern: explained(table, "pattern", "pattern_says")?,
            fields,
            if_none: table.owned("if_none", SENTENCE_BYTES_MAX)?,
            sample: String::new(),
        },
    })
}

/// Reads the description of a part; the default is its name.
fn says(table: &Table<'_, '_>, name: &str) -> Result<String, TemplateError> {
    let says = table.owned("says", SENTENCE_BYTES_MAX)?;
    Ok(says.unwrap_or_else(|| name.to_lowercase()))
}

/// Reads a pattern and its description.
fn explained(
    table: &Table<'_, '_>,
    key: &'static str,
    says: &'static str,
) -> Result<Option<(Pattern, String)>, TemplateError> {
    let Some(pattern) = Pattern::read(table, key)? else {
        return Ok(None);
    };
    // A description is required, because diagnostics show it instead of the pattern.
    let says = table.needed(says, SENTENCE_BYTES_MAX)?;
    Ok(Some((pattern, says.value.to_owned())))
}

fn severity(table: &Table<'_, '_>) -> Result<Severity, TemplateError> {
    Ok(severity_of(table, "severity")?.unwrap_or(Severity::Error))
}

fn severity_of(
    table: &Table<'_, '_>,
    key: &'static str,
) -> Result<Option<Severity>, TemplateError> {
    let words = Severity::ALL.map(Severity::word);
    let word = table.choice(key, &words)?;
    let mut all = Severity::ALL.into_iter();
    Ok(word.and_then(|word| all.find(|one| one.word() == word)))
}

fn fields(table: &Table<'_, '_>) -> Result<Vec<Field>, TemplateError> {
    let mut fields: Vec<Field> = Vec::new();
    let mut lines = Vec::new();
    for table in table.tables("fields", &FIELD_KEYS, FIELDS_MAX)? {
        let name = table.needed("name", NAME_BYTES_MAX)?;
        let mut keys = vec![key_of(name.value)];
        keys.extend(words(&table, "also")?.iter().map(|one| key_of(one)));
        for key in &keys {
            if let Some(at) = fields.iter().position(|one| one.goes_by(key)) {
                let first = lines.get(at).copied().unwrap_or_default();
                let name = key.clone();
                return Err(table.error(table.at, Reason::Twice { name, first }));
            }
        }
        lines.push(table.line(table.at));
        fields.push(Field {
            name: name.value.to_owned(),
            keys,
            says: says(&table, name.value)?,
            required: table.flag("required")?.unwrap_or(false),
            severity: severity(&table)?,
            missing: match severity_of(&table, "missing")? {
                Some(missing) => missing,
                None => severity(&table)?,
            },
            one_of: words(&table, "one_of")?,
            pattern: Pattern::read(&table, "pattern")?,
            example: table.owned("example", SENTENCE_BYTES_MAX)?,
        });
    }
    Ok(fields)
}

pub(super) fn entries(table: &Table<'_, '_>) -> Result<Option<EntrySchema>, TemplateError> {
    let Some(table) = table.table("entries", &ENTRY_KEYS)? else {
        return Ok(None);
    };
    let under = words(&table, "under")?;
    let level = table.number("level", (2, 3))?.unwrap_or(2);
    if (level == 3) == under.is_empty() {
        let reason =
            "entries of level 3 are `under` sections of level 2, and those of level 2 are not";
        let at = table.place("level");
        return Err(table.error(at, Reason::Unfit(reason.to_owned())));
    }
    let fields = fields(&table)?;
    let at_least_one_of = words(&table, "at_least_one_of")?;
    for name in &at_least_one_of {
        if !fields.iter().any(|field| field.goes_by(&key_of(name))) {
            let reason = format!("`at_least_one_of` names {name:?}, which is not a field");
            let at = table.place("at_least_one_of");
            return Err(table.error(at, Reason::Unfit(reason)));
        }
    }
    let form = table.choice("field_form", &["line", "heading"])?;
    Ok(Some(EntrySchema {
        name: table.needed("name", NAME_BYTES_MAX)?.value.to_owned(),
        level: u8::try_from(level).unwrap_or(2),
        under,
        heading: explained(&table, "heading", "heading_says")?,
        unique: table.flag("unique")?.unwrap_or(false),
        field_form: match form {
            Some("heading") => FieldForm::Heading,
            _ => FieldForm::Line,
        },
        fields,
        at_least_one_of,
        sample: String::new(),
    }))
}

pub(super) fn rules(table: &Table<'_, '_>) -> Result<Vec<FormatRule>, TemplateError> {
    let tables = table.tables("format_rules", &RULE_KEYS, RULES_MAX)?;
    tables.iter().map(rule).collect()
}

fn rule(table: &Table<'_, '_>) -> Result<FormatRule, TemplateError> {
    let must = Pattern::read(table, "must")?.map(Check::Must);
    let must_not = Pattern::read(table, "must_not")?.map(Check::MustNot);
    let bytes = table.number("max_bytes", (1, NUMBER_MAX))?;
    let mut checks = [must, must_not, bytes.map(Check::MaxBytes)]
        .into_iter()
        .flatten();
    let (Some(check), None) = (checks.next(), checks.next()) else {
        let reason = "a format rule has one of `must`, `must_not` and `max_bytes`";
        return Err(table.error(table.at, Reason::Unfit(reason.to_owned())));
    };
    Ok(FormatRule {
        name: table.needed("name", NAME_BYTES_MAX)?.value.to_owned(),
        says: table.needed("says", SENTENCE_BYTES_MAX)?.value.to_owned(),
        section: table.owned("section", NAME_BYTES_MAX)?,
        severity: severity(table)?,
        check,
    })
}

pub(super) fn appends(table: &Table<'_, '_>) -> Result<Option<AppendOrder>, TemplateError> {
    let Some(table) = table.table("appends", &APPENDS_KEYS)? else {
        return Ok(None);
    };
    let at = match table.choice("at", &["end", "top"])? {
        Some("top") => SectionPlacement::Top,
        _ => SectionPlacement::End,
    };
    let under = table.owned("under", NAME_BYTES_MAX)?;
    Ok(Some(AppendOrder { under, at }))
}

/// Cuts the samples of each section and of an entry from the examples.
pub(super) fn take_samples(template: &mut Template, examples: &[Outline<'_>]) {
    let samples: Vec<String> = template
        .sections
        .iter()
        .map(|schema| match &schema.if_none {
            Some(none) if template.holds_entries(&schema.key) => none.clone(),
            _ => section_sample(template, schema, examples),
        })
        .collect();
    for (section, sample) in template.sections.iter_mut().zip(samples) {
        section.sample = sample;
    }
    let entry = examples.iter().find_map(|example| {
        let entry = entries_of(example, template).into_iter().next()?;
        let range = entry.heading.range.start..entry.end;
        Some(example.slice(&range).trim().to_owned())
    });
    let shown = skeleton::entry(template);
    if let Some(entries) = &mut template.entries {
        entries.sample = entry.unwrap_or(shown);
    }
    template.gaps = skeleton::gaps(template);
}

fn section_sample(template: &Template, schema: &SectionSchema, examples: &[Outline<'_>]) -> String {
    let reported = examples.iter().find_map(|example| {
        let section = example.section(&schema.key)?;
        let body = example.slice(&section.body).trim();
        (!body.is_empty()).then(|| body.to_owned())
    });
    reported.unwrap_or_else(|| skeleton::body(template, schema))
}

fn words(table: &Table<'_, '_>, key: &'static str) -> Result<Vec<String>, TemplateError> {
    let words = table.texts(key, WORDS_MAX, NAME_BYTES_MAX)?;
    Ok(words
        .into_iter()
        .map(|word| word.value.to_owned())
        .collect())
}
