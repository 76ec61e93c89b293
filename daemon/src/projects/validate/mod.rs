//! Validates a text against its template and reports every diagnostic with its line.

mod blank;
mod diagnostics;
mod entries;
mod fields;
mod lines;
mod lists;
mod missing;
mod placeholders;
mod rules;
mod sections;
mod tables;
#[cfg(test)]
mod tests;

pub(super) use blank::is_placeholder;
pub(super) use entries::{entries_of, entry_ids, id_of};
pub(super) use fields::first_field;
pub(super) use lines::{marker_bytes, plain};

use super::fix::Edit;
use super::outline::Outline;
use super::template::Template;
use diagnostics::{Diagnostics, PendingDiagnostic};

/// Limit on the diagnostics that are reported; all are counted.
pub const FLAWS_MAX: usize = 200;

/// Result of validating a text against its template.
#[derive(Clone, Debug, PartialEq)]
pub struct Validation {
    /// Whether there are no errors; warnings are allowed.
    pub valid: bool,
    /// Errors and warnings in the order of their lines, at most [`FLAWS_MAX`]. If there are more, errors
    /// are preferred.
    pub errors: Vec<Diagnostic>,
    /// Number of errors.
    pub error_count: usize,
    /// Number of warnings.
    pub warning_count: usize,
    /// 1 - errors/10 - warnings/50, at least 0.
    pub confidence: f64,
}

impl Validation {
    /// Creates the validation of these diagnostics.
    pub(super) fn of(errors: Vec<Diagnostic>) -> Self {
        let is_error = |one: &&Diagnostic| one.severity == Severity::Error;
        let error_count = errors.iter().filter(is_error).count();
        let warning_count = errors.len() - error_count;
        Self {
            valid: error_count == 0,
            confidence: diagnostics::confidence(error_count, warning_count),
            errors,
            error_count,
            warning_count,
        }
    }
}

/// An error or a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Kind of the diagnostic.
    pub kind: FlawKind,
    /// Key of the section or entry; `None` if the diagnostic is about the whole text.
    pub section: Option<String>,
    /// Line number, from 1. For missing text, the line where it belongs.
    pub line: u32,
    /// Description of the problem.
    pub message: String,
    /// Whether the diagnostic makes the text invalid.
    pub severity: Severity,
    /// Instruction that continues "Take your original content and ".
    pub correction_prompt: String,
    /// Example of valid text.
    pub template_example: String,
    /// Edit that fixes the problem, with gaps where the content is unknown.
    pub(super) edit: Option<Edit>,
    /// Whether the fix is to rename another heading.
    pub(super) renames: bool,
}

/// Kind of a diagnostic, the most severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FlawKind {
    /// A section is missing.
    MissingSection,
    /// The layout is wrong.
    FormatError,
    /// The text is too short, or has no content of its own.
    ContentQuality,
    /// A field is missing or invalid, or something is duplicated.
    SchemaViolation,
}

impl FlawKind {
    /// All kinds, the most severe first.
    pub const ALL: [Self; 4] = [
        Self::MissingSection,
        Self::FormatError,
        Self::ContentQuality,
        Self::SchemaViolation,
    ];

    /// Name in replies.
    #[cfg(test)]
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::MissingSection => "missing_section",
            Self::FormatError => "format_error",
            Self::ContentQuality => "content_quality",
            Self::SchemaViolation => "schema_violation",
        }
    }

    /// Start of the correction prompts of this kind.
    pub(super) const fn prefix(self) -> &'static str {
        match self {
            Self::MissingSection => "missing",
            Self::FormatError => "format",
            Self::ContentQuality => "content",
            Self::SchemaViolation => "schema",
        }
    }
}

/// Whether a diagnostic makes a text invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Makes the text invalid.
    Error,
    /// Leaves the text valid.
    Warning,
}

impl Severity {
    /// All severities.
    pub const ALL: [Self; 2] = [Self::Error, Self::Warning];

    /// Name in templates and replies.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// Validates a text, in time proportional to its length.
#[must_use]
pub fn validate(content: &str, template: &Template) -> Validation {
    let outline = Outline::of(content);
    let mut diagnostics = Diagnostics::new(&outline, template);
    if outline.is_wrapped() {
        // Nothing else can be checked, because all of the text is code.
        diagnostics.add(wrapped(&outline));
        return diagnostics.finish();
    }
    whole(&outline, &mut diagnostics);
    sections::check(&outline, template, &mut diagnostics);
    entries::check(&outline, template, &mut diagnostics);
    rules::check(&outline, template, &mut diagnostics);
    placeholders::check(&outline, template, &mut diagnostics);
    diagnostics.finish()
}

/// Suggests to remove the fence around the text.
fn wrapped(outline: &Outline<'_>) -> PendingDiagnostic {
    let fence = outline.slice(&outline.whole()).trim();
    let inner = fence.split_once('\n').map_or("", |(_, rest)| rest);
    let inner = match inner.rsplit_once('\n') {
        Some((inner, last)) if last.trim_end().ends_with(['`', '~']) => inner,
        _ => inner,
    };
    let edit = Edit {
        range: 0..outline.text().len(),
        text: format!("{inner}\n"),
    };
    PendingDiagnostic::file(
        FlawKind::FormatError,
        1,
        "The whole content is inside a code fence",
    )
    .prompt("remove the code fence around it: its first line and its last one")
    .example("# Title\n\n## First Section\n\n…")
    .edit(edit)
}

/// Checks the text as a whole.
fn whole(outline: &Outline<'_>, diagnostics: &mut Diagnostics<'_>) {
    let quality = FlawKind::ContentQuality;
    let all = outline.whole();
    if outline.slice(&all).trim().is_empty() {
        diagnostics.add(
            PendingDiagnostic::file(quality, 1, "The content is empty")
                .prompt("write what you know, in the form of the template"),
        );
    } else if !outline.says_something(&all) {
        diagnostics.add(
            PendingDiagnostic::file(
                quality,
                1,
                "The content has only headings and no text below them",
            )
            .prompt("write what you know below the headings"),
        );
    }
    if let Some(at) = outline.open_fence() {
        let line = outline.line(at);
        let mark = outline.slice(&(at..outline.text().len()));
        let mark: String = mark.chars().take(3).collect();
        let message = format!(
            "The code fence that begins on line {line} is never closed: all behind it is code"
        );
        diagnostics.add(
            PendingDiagnostic::file(FlawKind::FormatError, line, message)
                .prompt(format!(
                    "close the code fence of line {line} with a line `{mark}`"
                ))
                .example(format!("{mark}\nsome code\n{mark}")),
        );
    }
}
