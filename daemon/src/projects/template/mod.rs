//! Templates: what form a context file has. Declared in TOML.
//!
//! ```toml
//! name = "runbook"                        # the file type
//! title = "Runbook"                       # the first heading of a new file
//! description = "How to operate the service"
//! required_sections = ["steps"]           # by key: the heading in lower case, `_` for white space
//!
//! [section_schemas.steps]
//! name = "Steps"                          # the heading
//! says = "what to do, in order"           # shown where the section is to be written
//! format = "markdown_list"                # or markdown_table, freeform, structured
//! min_items = 2                           # items of a list, rows of a table
//! min_length = 40                         # characters
//! pattern = '(?i)roll ?back'              # has to match somewhere in the section
//! pattern_says = "a step that rolls back"
//! if_none = "None."                       # the section may be empty; this says so
//! [[section_schemas.steps.fields]]        # of the section if it is `structured`, else of each item
//! name = "Owner"                          # `Owner: …`, `**Owner**: …` or a heading of that name
//! also = ["Who"]                          # other names that mean the same
//! says = "who is asked"
//! required = true
//! severity = "warning"                    # what a missing or wrong one is; default "error"
//! one_of = ["Ops", "Dev"]                 # how its value begins
//! pattern = '^\w+'                        # what its value matches
//! example = "Ops"
//!
//! [entries]                               # a file that is made of entries
//! name = "run"
//! level = 3                               # of their headings: 2 or 3
//! under = ["steps"]                       # the sections they are in; without it, the whole file
//! heading = '^\d{4}-\d{2}-\d{2}'          # what an entry's heading matches
//! heading_says = "the date"
//! unique = true                           # no two with the same group `id`, or else heading
//! field_form = "heading"                  # or "line": how fields are shown where they are missing
//! at_least_one_of = ["Done", "Failed"]    # fields
//! [[entries.fields]]
//! name = "Done"
//!
//! [[format_rules]]
//! name = "dates"
//! says = "dates are written 2025-06-30"
//! must_not = '\d+/\d+/\d+'                # or must = '…', or max_bytes = 65536
//! section = "steps"                       # default: the whole file
//! severity = "warning"
//!
//! [appends]                               # where a new entry goes; without it, nothing is appended
//! under = "steps"                         # default: the whole file
//! at = "top"                              # or "end"
//!
//! [correction_prompts]                    # go on from "Take your original content and "
//! missing_steps = "add a section `## Steps` with the steps in order"
//! # also format_…, content_… and schema_…, of a section, of `entries`, of a format rule
//! ```
//!
//! `examples` is a list of whole files, at least one; each has to be valid by the template. What is
//! shown of a section or an entry is cut out of them.

mod built_in;
mod error;
mod layers;
mod pattern;
mod read;
mod samples;
mod shape;
pub(super) mod skeleton;
#[cfg(test)]
mod tests;

pub use error::TemplateError;
pub use layers::{ActiveTemplate, Layer, Layers, Source};
pub use pattern::Pattern;

use super::outline::key_of;
use super::validate::Severity;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Longest template file, in bytes.
pub const TEMPLATE_BYTES_MAX: usize = 256 << 10;
/// Most sections of a template.
pub const SECTIONS_MAX: usize = 100;
/// Most fields of a section or an entry.
pub const FIELDS_MAX: usize = 64;
/// Most format rules of a template.
pub const RULES_MAX: usize = 64;
/// Most examples of a template.
pub const EXAMPLES_MAX: usize = 8;
/// Most words in a list of a template.
pub const WORDS_MAX: usize = 64;
/// Longest name and word in a template, in bytes.
pub const NAME_BYTES_MAX: usize = 64;
/// Longest sentence in a template, in bytes.
pub const SENTENCE_BYTES_MAX: usize = 2048;
/// Longest pattern, in bytes.
pub const PATTERN_BYTES_MAX: usize = 1024;
/// Most templates of one layer.
pub const TEMPLATES_MAX: usize = 64;

/// What a context file has to look like.
#[derive(Clone, Debug)]
pub struct Template {
    /// The file type: `[a-z][a-z0-9_]{0,63}`.
    pub name: String,
    /// The first heading of a new file.
    pub title: String,
    /// What such a file is for.
    pub description: String,
    /// Its sections: the required ones in their order, then the others as declared.
    pub sections: Vec<SectionSchema>,
    /// If the file is made of entries: what each is like.
    pub entries: Option<EntrySchema>,
    /// Rules for the whole text.
    pub format_rules: Vec<FormatRule>,
    /// What to do about a flaw, by `missing_<section>` and so on.
    pub correction_prompts: BTreeMap<String, String>,
    /// Whole files that are valid; at least one.
    pub examples: Vec<String>,
    /// Where a new entry goes; `None` if nothing is appended to such files.
    pub appends: Option<AppendOrder>,
    pub(super) source: Box<str>,
    /// What is left over from an example, and is nobody's own.
    pub(super) samples: samples::Samples,
}

/// How a section's content is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A list with at least one item.
    MarkdownList,
    /// A table.
    MarkdownTable,
    /// Any text.
    Freeform,
    /// Named fields.
    Structured,
}

/// What a section has to look like.
#[derive(Clone, Debug)]
pub struct SectionSchema {
    /// By which it is found: [`key_of`] its name.
    pub key: String,
    /// Its heading.
    pub name: String,
    /// What it is to say.
    pub says: String,
    /// Whether a file without it is invalid.
    pub required: bool,
    /// How it is laid out.
    pub format: Format,
    /// Fewest characters.
    pub min_length: Option<usize>,
    /// Fewest items of the list, or rows of the table.
    pub min_items: Option<usize>,
    /// What has to match in it, and what that means.
    pub pattern: Option<(Pattern, String)>,
    /// Fields of the section, of each item, of each entry in it; columns of a table.
    pub fields: Vec<Field>,
    /// Says that there is nothing; with it the section may also be empty.
    pub if_none: Option<String>,
    /// What the section holds in an example.
    pub sample: String,
}

/// A named value of a section, item or entry.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// The keys of all names it may have, its own first.
    pub keys: Vec<String>,
    /// What it is to say.
    pub says: String,
    /// Whether it has to be there.
    pub required: bool,
    /// What a missing or wrong one is.
    pub severity: Severity,
    /// How its value begins, in any case of letters; empty if it may be anything.
    pub one_of: Vec<String>,
    /// What its value matches.
    pub pattern: Option<Pattern>,
    /// A value.
    pub example: Option<String>,
}

/// How fields are written where they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldForm {
    /// As headings one level below the entry's.
    Heading,
    /// As list items that begin with the name in bold.
    Line,
}

/// What the entries of a file are like.
#[derive(Clone, Debug)]
pub struct EntrySchema {
    /// What one is called: `bug`.
    pub name: String,
    /// The level of their headings: 2 or 3.
    pub level: u8,
    /// The keys of the sections they are in; empty if they are anywhere.
    pub under: Vec<String>,
    /// What a heading matches, and what that means.
    pub heading: Option<(Pattern, String)>,
    /// Whether no two may have the same id, or the same heading.
    pub unique: bool,
    /// How missing fields are shown.
    pub field_form: FieldForm,
    /// Their fields.
    pub fields: Vec<Field>,
    /// Names of fields of which an entry has one or more; empty if it need not.
    pub at_least_one_of: Vec<String>,
    /// An entry out of an example, with its heading.
    pub sample: String,
}

/// A rule for the whole text or one section of it.
#[derive(Clone, Debug)]
pub struct FormatRule {
    /// Its name.
    pub name: String,
    /// What it asks for.
    pub says: String,
    /// The section it is about; `None` for the whole file.
    pub section: Option<String>,
    /// What breaking it is.
    pub severity: Severity,
    /// What it looks at.
    pub check: Check,
}

/// What a format rule looks at.
#[derive(Clone, Debug)]
pub enum Check {
    /// Matches somewhere.
    Must(Pattern),
    /// Matches nowhere outside code.
    MustNot(Pattern),
    /// Longest text, in bytes.
    MaxBytes(usize),
}

/// Where new entries go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendOrder {
    /// The key of the section; `None` for the whole file.
    pub under: Option<String>,
    /// Before or behind the entries that are there.
    pub at: SectionPlacement,
}

/// Before or behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionPlacement {
    /// Before all other entries: the newest first.
    Top,
    /// Behind all other entries.
    End,
}

impl Template {
    /// Reads a template; `file` is how errors call it.
    ///
    /// # Errors
    /// What is wrong with it and on which line.
    pub fn parse(text: &str, file: &str) -> Result<Self, TemplateError> {
        read::read(text, file)
    }

    /// The templates that are part of the program: file name and text.
    #[must_use]
    pub fn built_in() -> [(&'static str, &'static str); 4] {
        built_in::BUILT_IN
    }

    /// The schema of a section by its key.
    #[must_use]
    pub fn section(&self, key: &str) -> Option<&SectionSchema> {
        self.sections.iter().find(|section| section.key == key)
    }

    /// The keys of the sections that a file must have, in order.
    pub fn required_sections(&self) -> impl Iterator<Item = &str> {
        let required = self.sections.iter().filter(|section| section.required);
        required.map(|section| section.key.as_str())
    }

    /// An empty file of this type: every heading, and in angle brackets what is to be written there.
    #[must_use]
    pub fn skeleton(&self) -> String {
        skeleton::file(self)
    }

    /// One section of such a file, with its heading.
    #[must_use]
    pub fn section_skeleton(&self, section: &SectionSchema) -> String {
        skeleton::section(self, section)
    }

    /// Its text, as it was read.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Sections, entries and rules as the text declares them, as JSON; without prompts and examples.
    #[must_use]
    pub fn schema(&self) -> Map<String, Value> {
        // It was read before, so it is TOML.
        let mut schema: Map<String, Value> = toml::from_str(&self.source).unwrap_or_default();
        for key in [
            "name",
            "title",
            "description",
            "correction_prompts",
            "examples",
        ] {
            schema.shift_remove(key);
        }
        schema
    }

    /// Whether a section is one that holds entries.
    pub(super) fn holds_entries(&self, key: &str) -> bool {
        let entries = self.entries.as_ref();
        entries.is_some_and(|entries| entries.under.iter().any(|under| under == key))
    }

    /// A section as an example has it, with its heading.
    pub(super) fn section_sample(&self, section: &SectionSchema) -> String {
        format!("## {}\n\n{}\n", section.name, section.sample.trim())
    }

    /// What to do about a flaw, if the template says so.
    pub(super) fn prompt(&self, prefix: &str, subject: &str) -> Option<&str> {
        let prompt = self.correction_prompts.get(&format!("{prefix}_{subject}"));
        prompt.map(String::as_str)
    }
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 4] = [
        Self::MarkdownList,
        Self::MarkdownTable,
        Self::Freeform,
        Self::Structured,
    ];

    /// Its name in templates.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::MarkdownList => "markdown_list",
            Self::MarkdownTable => "markdown_table",
            Self::Freeform => "freeform",
            Self::Structured => "structured",
        }
    }
}

impl SectionSchema {
    /// Whether a body says only that there is nothing, in the section's words or in its own: `None yet.`,
    /// `No open bugs`.
    pub(super) fn is_none(&self, body: &str) -> bool {
        const NONE_BYTES_MAX: usize = 80;
        let (Some(none), body) = (&self.if_none, body.trim()) else {
            return false;
        };
        if body.len() > none.len().max(NONE_BYTES_MAX) || body.contains(['\n', '\r']) {
            return false;
        }
        let said = key_of(body.trim_matches(['(', ')', '*', '_', '`', '"']));
        let first = said.split(['_', ',', ':', '.']).next().unwrap_or_default();
        said == key_of(none) || matches!(first, "no" | "none" | "nothing" | "n/a" | "empty")
    }
}

impl Field {
    /// Whether it goes by this key.
    pub(super) fn goes_by(&self, key: &str) -> bool {
        self.keys.iter().any(|one| one == key)
    }

    /// A value to show: the example, or what it is to say, in angle brackets.
    pub(super) fn render(&self) -> String {
        match (&self.example, self.one_of.first()) {
            (Some(example), _) => example.clone(),
            (None, Some(choice)) => choice.clone(),
            (None, None) => self.hint(),
        }
    }

    /// What it is to say, in angle brackets.
    pub(super) fn hint(&self) -> String {
        if self.one_of.is_empty() {
            format!("<{}>", self.says)
        } else {
            format!("<{}: {}>", self.says, self.one_of.join(", "))
        }
    }
}
