//! Whether a text is as its template asks, and what is wrong with it where.

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

pub(super) use entries::entries_of;

use super::fix::Edit;
use super::outline::Outline;
use super::template::Template;
use diagnostics::{Diagnostics, PendingDiagnostic};

/// Most flaws told at once; all are counted.
pub const FLAWS_MAX: usize = 200;

/// What a text is like by its template.
#[derive(Clone, Debug, PartialEq)]
pub struct Validation {
    /// Whether there is no error; warnings do not matter.
    pub valid: bool,
    /// Errors and warnings in the order of their lines, at most [`FLAWS_MAX`], errors before warnings
    /// if there are more.
    pub errors: Vec<Diagnostic>,
    /// How many errors there are.
    pub error_count: usize,
    /// How many warnings there are.
    pub warning_count: usize,
    /// 1 - errors/10 - warnings/50, at least 0.
    pub confidence: f64,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Of what sort.
    pub kind: FlawKind,
    /// The key of the section or entry; `None` if it is about the whole text.
    pub section: Option<String>,
    /// The line, from 1; of what is missing, where it belongs.
    pub line: u32,
    /// What is wrong.
    pub message: String,
    /// Whether it makes the text invalid.
    pub severity: Severity,
    /// What to do, as it goes on from "Take your original content and ".
    pub correction_prompt: String,
    /// How it looks when it is right.
    pub template_example: String,
    /// What would mend it.
    pub(super) edit: Option<Edit>,
}

/// What sort of flaw, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlawKind {
    /// A section is not there.
    MissingSection,
    /// It is laid out in another way.
    FormatError,
    /// It says too little, or nothing of its own.
    ContentQuality,
    /// A field is missing or has a wrong value, or something is there twice.
    SchemaViolation,
}

impl FlawKind {
    /// All kinds, the worst first.
    pub const ALL: [Self; 4] = [
        Self::MissingSection,
        Self::FormatError,
        Self::ContentQuality,
        Self::SchemaViolation,
    ];

    /// Its name in replies.
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

    /// What its correction prompts begin with.
    pub(super) const fn prefix(self) -> &'static str {
        match self {
            Self::MissingSection => "missing",
            Self::FormatError => "format",
            Self::ContentQuality => "content",
            Self::SchemaViolation => "schema",
        }
    }
}

/// Whether a flaw makes a text invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It does.
    Error,
    /// It does not.
    Warning,
}

impl Severity {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Error, Self::Warning];

    /// Its name in templates and replies.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// Checks a text: all that is wrong with it, in time proportional to its length.
#[must_use]
pub fn validate(content: &str, template: &Template) -> Validation {
    let outline = Outline::of(content);
    let mut diagnostics = Diagnostics::new(&outline, template);
    if outline.is_wrapped() {
        // Nothing else can be said: all of it is code.
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

/// The text without the fence around it.
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

/// What is wrong with the text as a whole.
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
