//! Collects diagnostics and builds the validation.

use super::{Diagnostic, FLAWS_MAX, FlawKind, Severity, Validation};
use crate::projects::fix::Edit;
use crate::projects::outline::Outline;
use crate::projects::template::{Field, FieldForm, Format, SectionSchema, Template, skeleton};

/// Limit on the collected diagnostics; further ones are only counted.
const KEPT_MAX: usize = 10_000;
/// Maximum length of a diagnostic's example, in bytes.
const EXAMPLE_BYTES_MAX: usize = 2 << 10;

/// A diagnostic before the common parts of its section are added.
pub(super) struct PendingDiagnostic {
    kind: FlawKind,
    severity: Severity,
    /// Suffix of its prompt keys: a section's key, `entries`, or a rule's name.
    subject: Option<String>,
    section: Option<String>,
    line: u32,
    message: String,
    prompt: Option<String>,
    example: Option<String>,
    edit: Option<Edit>,
    /// Text that is missing in the section, with gaps.
    lacks: Option<String>,
    renames: bool,
}

impl PendingDiagnostic {
    /// Creates a diagnostic of the whole text.
    pub(super) fn file(kind: FlawKind, line: u32, message: impl Into<String>) -> Self {
        Self {
            kind,
            severity: Severity::Error,
            subject: None,
            section: None,
            line,
            message: message.into(),
            prompt: None,
            example: None,
            edit: None,
            lacks: None,
            renames: false,
        }
    }

    /// Creates a diagnostic of a section of the template.
    pub(super) fn section(
        kind: FlawKind,
        key: &str,
        line: u32,
        message: impl Into<String>,
    ) -> Self {
        Self {
            subject: Some(key.to_owned()),
            section: Some(key.to_owned()),
            ..Self::file(kind, line, message)
        }
    }

    /// Sets the section to an entry, or to a section that the template does not have.
    pub(super) fn within(mut self, key: &str) -> Self {
        self.section = Some(key.to_owned());
        self
    }

    /// Sets the suffix of its prompt keys, if it is not the section.
    pub(super) fn subject(mut self, subject: &str) -> Self {
        self.subject = Some(subject.to_owned());
        self
    }

    pub(super) fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// Sets an instruction that is more exact than the template's.
    pub(super) fn prompt(mut self, prompt: impl Into<String>) -> Self {
        self.prompt = Some(prompt.into());
        self
    }

    pub(super) fn example(mut self, example: impl Into<String>) -> Self {
        self.example = Some(example.into());
        self
    }

    /// Sets the text that fixes it at the end of the section, with gaps.
    pub(super) fn lacks(mut self, text: impl Into<String>) -> Self {
        self.lacks = Some(text.into());
        self
    }

    /// Marks that another heading is to be renamed.
    pub(super) fn renames(mut self) -> Self {
        self.renames = true;
        self
    }

    pub(super) fn edit(mut self, edit: Edit) -> Self {
        self.edit = Some(edit);
        self
    }
}

/// Collects diagnostics.
pub(super) struct Diagnostics<'a> {
    outline: &'a Outline<'a>,
    template: &'a Template,
    found: Vec<PendingDiagnostic>,
    errors: usize,
    warnings: usize,
}

impl<'a> Diagnostics<'a> {
    pub(super) fn new(outline: &'a Outline<'a>, template: &'a Template) -> Self {
        Self {
            outline,
            template,
            found: Vec::new(),
            errors: 0,
            warnings: 0,
        }
    }

    pub(super) fn add(&mut self, found: PendingDiagnostic) {
        match found.severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
        }
        if self.found.len() < KEPT_MAX {
            self.found.push(found);
        }
    }

    /// Builds the validation, with the worst diagnostics if there are many, ordered by line.
    pub(super) fn finish(mut self) -> Validation {
        if self.found.len() > FLAWS_MAX {
            self.found
                .sort_by_key(|one| (one.severity, one.kind, one.line));
            self.found.truncate(FLAWS_MAX);
        }
        self.found
            .sort_by_key(|one| (one.line, one.severity, one.kind));
        let found = std::mem::take(&mut self.found);
        let errors = found.into_iter().map(|one| self.diagnostic(one)).collect();
        Validation {
            valid: self.errors == 0,
            errors,
            error_count: self.errors,
            warning_count: self.warnings,
            confidence: confidence(self.errors, self.warnings),
        }
    }

    fn diagnostic(&self, found: PendingDiagnostic) -> Diagnostic {
        let prompt = found.prompt.clone().or_else(|| self.prompt(&found));
        let example = found.example.clone().or_else(|| self.example(&found));
        let example = example.unwrap_or_else(|| self.template.skeleton());
        let edit = found.edit.clone().or_else(|| self.addition(&found));
        Diagnostic {
            renames: found.renames,
            kind: found.kind,
            section: found.section,
            line: found.line,
            correction_prompt: prompt.unwrap_or_else(|| format!("correct this: {}", found.message)),
            message: found.message,
            severity: found.severity,
            template_example: bounded(example),
            edit,
        }
    }

    fn prompt(&self, found: &PendingDiagnostic) -> Option<String> {
        let subject = found.subject.as_deref()?;
        if let Some(prompt) = self.template.prompt(found.kind.prefix(), subject) {
            return Some(prompt.to_owned());
        }
        let schema = self.template.section(subject)?;
        Some(by_itself(found.kind, schema))
    }

    fn example(&self, found: &PendingDiagnostic) -> Option<String> {
        let subject = found.subject.as_deref()?;
        match (self.template.section(subject), &self.template.entries) {
            (Some(schema), _) => Some(self.template.section_sample(schema)),
            (None, Some(entries)) if subject == "entries" => Some(entries.sample.clone()),
            (None, _) => None,
        }
    }

    /// Returns an edit that adds the missing text at the end of the section.
    fn addition(&self, found: &PendingDiagnostic) -> Option<Edit> {
        let text = found.lacks.as_deref()?;
        let schema = self.template.section(found.subject.as_deref()?)?;
        let section = self.outline.section(&schema.key)?;
        let end = self.outline.trimmed_end(&section.body);
        let at = end.max(section.heading.end);
        Some(Edit::insert(self.outline.text(), at, text))
    }
}

/// Returns the default instruction for a diagnostic of a section.
fn by_itself(kind: FlawKind, schema: &SectionSchema) -> String {
    let (name, says) = (&schema.name, &schema.says);
    match kind {
        FlawKind::MissingSection => format!("add a section `## {name}` that describes {says}"),
        FlawKind::FormatError => {
            let form = match schema.format {
                Format::MarkdownList => "a list, one item per line that begins with `- `",
                Format::MarkdownTable => "a table, with a line of dashes below its header",
                Format::Freeform => "text",
                Format::Structured => "one line `- **Name**: value` per field",
            };
            format!("write the section `{name}` as {form}")
        }
        FlawKind::ContentQuality => format!("say more in the section `{name}`: {says}"),
        FlawKind::SchemaViolation => {
            format!("give every part of the section `{name}` the fields of the template")
        }
    }
}

/// Renders a field with a value, in the form of an entry or an item.
pub(super) fn field_line(
    template: &Template,
    is_entry: bool,
    field: &Field,
    value: String,
) -> (String, FieldForm) {
    match &template.entries {
        Some(entries) if is_entry => (skeleton::field(entries, field, value), entries.field_form),
        _ => (format!("- **{}**: {value}", field.name), FieldForm::Line),
    }
}

pub(super) fn confidence(errors: usize, warnings: usize) -> f64 {
    // Counted in hundredths, which is exact up to the division.
    let lost = errors
        .saturating_mul(10)
        .saturating_add(warnings.saturating_mul(2));
    let left = 100_usize.saturating_sub(lost);
    u32::try_from(left).map_or(0.0, |left| f64::from(left) / 100.0)
}

fn bounded(mut example: String) -> String {
    if example.len() > EXAMPLE_BYTES_MAX {
        let mut end = EXAMPLE_BYTES_MAX;
        while !example.is_char_boundary(end) {
            end -= 1;
        }
        example.truncate(end);
        example.push_str("\n…");
    }
    example
}
