//! Parses the text of a template; errors name the line.

use super::error::{Reason, TemplateError};
use super::samples::Samples;
use super::shape;
use super::{
    EXAMPLES_MAX, NAME_BYTES_MAX, SECTIONS_MAX, SENTENCE_BYTES_MAX, SectionSchema,
    TEMPLATE_BYTES_MAX, Template, WORDS_MAX,
};
use crate::projects::outline::Outline;
use crate::projects::validate::{FlawKind, Severity, validate};
use lored_tables::{Located, Source, shortened};
use std::collections::BTreeMap;

pub(super) type Table<'s, 't> = lored_tables::Table<'s, 't, Reason>;

const TEMPLATE_KEYS: [&str; 10] = [
    "name",
    "title",
    "description",
    "required_sections",
    "section_schemas",
    "entries",
    "format_rules",
    "appends",
    "correction_prompts",
    "examples",
];

/// Maximum number of correction prompts of a template.
const PROMPTS_MAX: usize = 500;

pub(super) fn read(text: &str, file: &str) -> Result<Template, TemplateError> {
    let file = Source { name: file, text };
    let bytes = text.len();
    if bytes > TEMPLATE_BYTES_MAX {
        return Err(file.error(0, Reason::TooLong { bytes }));
    }
    file.read(&TEMPLATE_KEYS, |table| template(&file, table))
}

fn template(file: &Source<'_>, table: &Table<'_, '_>) -> Result<Template, TemplateError> {
    let name = name(table)?;
    let entries = shape::entries(table)?;
    let title = table.owned("title", NAME_BYTES_MAX)?;
    let mut template = Template {
        title: title.unwrap_or_else(|| titled(&name)),
        name,
        description: table
            .needed("description", SENTENCE_BYTES_MAX)?
            .value
            .to_owned(),
        sections: sections(table)?,
        entries,
        format_rules: shape::rules(table)?,
        correction_prompts: BTreeMap::new(),
        examples: Vec::new(),
        appends: shape::appends(table)?,
        samples: Samples::default(),
        gaps: std::collections::HashSet::new(),
        source: file.text.into(),
    };
    fits(table, &template)?;
    template.correction_prompts = prompts(table, &template)?;
    examples(file, table, &mut template)?;
    template.samples = Samples::of(&template.examples);
    Ok(template)
}

fn name(table: &Table<'_, '_>) -> Result<String, TemplateError> {
    let name = table.needed("name", TEMPLATE_BYTES_MAX)?;
    let rest = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let is_name = name.value.len() <= NAME_BYTES_MAX
        && name.value.starts_with(|c: char| c.is_ascii_lowercase())
        && name.value.chars().all(rest);
    if is_name {
        return Ok(name.value.to_owned());
    }
    let value = shortened(name.value);
    Err(table.error(name.at, Reason::Name { value }))
}

/// Converts a key to a heading: `data_flow` becomes `Data Flow`.
fn titled(key: &str) -> String {
    let words = key.split('_').map(|word| {
        let mut rest = word.chars();
        let first = rest.next().map(char::to_uppercase);
        first.into_iter().flatten().chain(rest).collect::<String>()
    });
    words.collect::<Vec<String>>().join(" ")
}

/// Reads the sections: the required ones in their order, then the others in the order of the file.
fn sections(table: &Table<'_, '_>) -> Result<Vec<SectionSchema>, TemplateError> {
    let mut declared = Vec::new();
    let schemas = table.named_tables("section_schemas", &shape::SECTION_KEYS, SECTIONS_MAX)?;
    for (key, schema) in &schemas {
        declared.push(shape::section(schema, key, titled(key.value))?);
    }
    let mut sections: Vec<SectionSchema> = Vec::new();
    for key in table.texts("required_sections", WORDS_MAX, NAME_BYTES_MAX)? {
        if let Some(twice) = sections.iter().position(|one| one.key == key.value) {
            let first = table.texts("required_sections", WORDS_MAX, NAME_BYTES_MAX)?;
            let first = first.get(twice).map_or(key.at, |first| first.at);
            return Err(table.error(
                key.at,
                Reason::Twice {
                    name: key.value.to_owned(),
                    first: table.line(first),
                },
            ));
        }
        let Some(at) = declared.iter().position(|one| one.key == key.value) else {
            return Err(no_section(table, key, &declared));
        };
        let mut schema = declared.remove(at);
        if schema.required == Some(false) {
            let reason = format!(
                "`{}` is in `required_sections`, and its schema says `required = false`",
                key.value
            );
            return Err(table.error(key.at, Reason::Unfit(reason)));
        }
        schema.required = Some(true);
        sections.push(schema.schema());
    }
    sections.extend(declared.into_iter().map(shape::SectionDeclaration::schema));
    Ok(sections)
}

fn no_section(
    table: &Table<'_, '_>,
    key: Located<&str>,
    left: &[shape::SectionDeclaration],
) -> TemplateError {
    let keys: Vec<&str> = left.iter().map(|one| one.key.as_str()).collect();
    let declared = if keys.is_empty() {
        "none more".to_owned()
    } else {
        keys.join(", ")
    };
    let key_name = shortened(key.value);
    table.error(
        key.at,
        Reason::NoSection {
            key: key_name,
            declared,
        },
    )
}

/// Checks that the declarations are consistent: every referenced section is declared, and every `structured`
/// section has fields or contains entries.
fn fits(table: &Table<'_, '_>, template: &Template) -> Result<(), TemplateError> {
    let named = |key: &str, place: &str| {
        if template.section(key).is_some() {
            return Ok(());
        }
        let keys: Vec<&str> = template.sections.iter().map(|one| &*one.key).collect();
        let reason = Reason::NoSection {
            key: shortened(key),
            declared: keys.join(", "),
        };
        Err(table.error(table.place(place), reason))
    };
    for key in template.entries.iter().flat_map(|entries| &entries.under) {
        named(key, "entries")?;
    }
    for rule in &template.format_rules {
        rule.section
            .iter()
            .try_for_each(|key| named(key, "format_rules"))?;
    }
    let under = template.appends.iter().filter_map(|to| to.under.as_ref());
    for key in under {
        named(key, "appends")?;
    }
    for section in &template.sections {
        let has_form = !section.fields.is_empty() || template.holds_entries(&section.key);
        if section.format == super::Format::Structured && !has_form {
            let reason = format!(
                "the section `{}` is `structured` and has no fields: declare `[[section_schemas.{}.fields]]`",
                section.key, section.key
            );
            let at = table.place("section_schemas");
            return Err(table.error(at, Reason::Unfit(reason)));
        }
    }
    Ok(())
}

/// Reads the correction prompts, each of which must have a subject.
fn prompts(
    table: &Table<'_, '_>,
    template: &Template,
) -> Result<BTreeMap<String, String>, TemplateError> {
    let sections = template.sections.iter().map(|section| &*section.key);
    let rules = template.format_rules.iter().map(|rule| &*rule.name);
    let entries = template.entries.iter().map(|_| "entries");
    let subjects: Vec<&str> = sections.chain(rules).chain(entries).collect();
    let mut prompts = BTreeMap::new();
    let bounds = (PROMPTS_MAX, SENTENCE_BYTES_MAX);
    for (key, prompt) in table.named_texts("correction_prompts", bounds)? {
        let known = || {
            FlawKind::ALL.iter().flat_map(|kind| {
                let prefix = kind.prefix();
                subjects.iter().map(move |one| format!("{prefix}_{one}"))
            })
        };
        if known().any(|one| one == key.value) {
            // The prompt becomes part of a sentence, which adds the full stop.
            let prompt = prompt.trim().trim_end_matches('.');
            prompts.insert(key.value.to_owned(), prompt.to_owned());
            continue;
        }
        let written = shortened(key.value);
        let nearest = known().min_by_key(|one| strsim::damerau_levenshtein(&written, one));
        let nearest = nearest.map(|nearest| format!("; did you mean `{nearest}`?"));
        let reason = Reason::Prompt {
            key: written,
            nearest: nearest.unwrap_or_default(),
        };
        return Err(table.error(key.at, reason));
    }
    Ok(prompts)
}

/// Reads the examples, which must be valid, and cuts the samples of sections and entries from them.
fn examples(
    file: &Source<'_>,
    table: &Table<'_, '_>,
    template: &mut Template,
) -> Result<(), TemplateError> {
    let examples = table.texts("examples", EXAMPLES_MAX, TEMPLATE_BYTES_MAX)?;
    if examples.is_empty() {
        return Err(table.error(
            table.place("examples"),
            lored_tables::Reason::Missing { key: "examples" },
        ));
    }
    for (at, example) in examples.iter().enumerate() {
        let validation = validate(example.value, template);
        let mut errors = validation.errors.iter();
        if let Some(diagnostic) = errors.find(|diagnostic| diagnostic.severity == Severity::Error) {
            let reason = Reason::Example {
                number: at + 1,
                message: diagnostic.message.clone(),
            };
            return Err(TemplateError {
                line: line_within(file, example.at, diagnostic.line),
                ..file.error(example.at, reason)
            });
        }
        template.examples.push(example.value.to_owned());
    }
    let outlines: Vec<Outline<'_>> = examples.iter().map(|one| Outline::of(one.value)).collect();
    shape::take_samples(template, &outlines);
    Ok(())
}

/// Converts a line within a TOML string to the line of the file.
fn line_within(file: &Source<'_>, at: usize, line: u32) -> u32 {
    let begin = file.text.get(at..).unwrap_or_default();
    let quotes = ["\"\"\"", "'''"];
    let is_long = quotes.iter().find_map(|quote| begin.strip_prefix(quote));
    let Some(rest) = is_long else {
        return file.line(at); // a string on one line
    };
    // A line end directly after the opening quotes is not part of the text.
    let skipped = u32::from(rest.starts_with('\n') || rest.starts_with("\r\n"));
    file.line(at) + skipped + line.saturating_sub(1)
}
