//! Templates: the declared structure of a context file, in TOML.
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
//! missing = "warning"                     # what a missing one is; default: as `severity`
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
//! `examples` is a list of at least one complete file; each must be valid by the template. The samples shown for
//! sections and entries are cut from the examples.

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
pub(super) use skeleton::heading as heading_gap;

use super::outline::{Outline, key_of};
use super::validate::Severity;
use serde_json::{Map, Value};
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashSet};

/// Maximum length of a template file, in bytes.
pub const TEMPLATE_BYTES_MAX: usize = 256 << 10;
/// Maximum number of sections of a template.
pub const SECTIONS_MAX: usize = 100;
/// Maximum number of fields of a section or an entry.
pub const FIELDS_MAX: usize = 64;
/// Maximum number of format rules of a template.
pub const RULES_MAX: usize = 64;
/// Maximum number of examples of a template.
pub const EXAMPLES_MAX: usize = 8;
/// Maximum number of words in a list of a template.
pub const WORDS_MAX: usize = 64;
/// Maximum length of a name or word in a template, in bytes.
pub const NAME_BYTES_MAX: usize = 64;
/// Maximum length of a sentence in a template, in bytes.
pub const SENTENCE_BYTES_MAX: usize = 2048;
/// Maximum length of a pattern, in bytes.
pub const PATTERN_BYTES_MAX: usize = 1024;
/// Maximum number of templates of one layer.
pub const TEMPLATES_MAX: usize = 64;

/// The required structure of a context file.
#[derive(Clone, Debug)]
pub struct Template {
    /// The file type: `[a-z][a-z0-9_]{0,63}`.
    pub name: String,
    /// The first heading of a new file.
    pub title: String,
    /// Purpose of the file type.
    pub description: String,
    /// Sections: the required ones in their order, then the others as declared.
    pub sections: Vec<SectionSchema>,
    /// Structure of the entries, if the file consists of entries.
    pub entries: Option<EntrySchema>,
    /// Rules for the whole text or one section.
    pub format_rules: Vec<FormatRule>,
    /// Instructions to fix a diagnostic, by `missing_<section>` and so on.
    pub correction_prompts: BTreeMap<String, String>,
    /// Complete valid files; at least one.
    pub examples: Vec<String>,
    /// Position of new entries; `None` if the file type does not allow appends.
    pub appends: Option<AppendOrder>,
    pub(super) source: Box<str>,
    /// Distinctive lines of the examples, to detect example text that was left in a file.
    pub(super) samples: samples::Samples,
    /// All gaps of this template, see [`gap`].
    pub(super) gaps: HashSet<String>,
}

/// The layout of a section's content.
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

/// The required structure of a section.
#[derive(Clone, Debug)]
pub struct SectionSchema {
    /// Key that identifies the section: [`key_of`] the name.
    pub key: String,
    /// Heading of the section.
    pub name: String,
    /// Description of the content.
    pub says: String,
    /// Whether a file without the section is invalid.
    pub required: bool,
    /// Layout of the content.
    pub format: Format,
    /// Minimum number of characters.
    pub min_length: Option<usize>,
    /// Minimum number of list items or table rows.
    pub min_items: Option<usize>,
    /// Pattern that must match in the section, and its description.
    pub pattern: Option<(Pattern, String)>,
    /// Fields of the section, of each item, or of each entry in it; columns of a table.
    pub fields: Vec<Field>,
    /// Text that states that the section has no content; if set, the section may also be empty.
    pub if_none: Option<String>,
    /// The section's content in an example.
    pub sample: String,
}

/// A named value of a section, item or entry.
#[derive(Clone, Debug)]
pub struct Field {
    /// Name of the field.
    pub name: String,
    /// Keys of all accepted names, that of `name` first.
    pub keys: Vec<String>,
    /// Description of the value.
    pub says: String,
    /// Whether the field must be present.
    pub required: bool,
    /// Severity of an invalid field.
    pub severity: Severity,
    /// Severity of a missing field.
    pub missing: Severity,
    /// Accepted beginnings of the value, case-insensitive; empty if any value is accepted.
    pub one_of: Vec<String>,
    /// Pattern that the value must match.
    pub pattern: Option<Pattern>,
    /// Example of a value.
    pub example: Option<String>,
}

/// The form of fields in examples and edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldForm {
    /// Headings one level below the entry's.
    Heading,
    /// List items that begin with the name in bold.
    Line,
}

/// The required structure of the entries of a file.
#[derive(Clone, Debug)]
pub struct EntrySchema {
    /// Name of the kind of entry: `bug`.
    pub name: String,
    /// Heading level of the entries: 2 or 3.
    pub level: u8,
    /// Keys of the sections that contain entries; empty if the whole file does.
    pub under: Vec<String>,
    /// Pattern that a heading must match, and its description.
    pub heading: Option<(Pattern, String)>,
    /// Whether the ids, or else the headings, must be unique.
    pub unique: bool,
    /// Form in which missing fields are shown.
    pub field_form: FieldForm,
    /// Fields of an entry.
    pub fields: Vec<Field>,
    /// Names of fields of which an entry must have at least one; empty if there is no such rule.
    pub at_least_one_of: Vec<String>,
    /// An entry from an example, with its heading.
    pub sample: String,
}

/// A rule for the whole text or one section.
#[derive(Clone, Debug)]
pub struct FormatRule {
    /// Name of the rule.
    pub name: String,
    /// Description of the rule.
    pub says: String,
    /// Key of the section; `None` for the whole file.
    pub section: Option<String>,
    /// Severity of a violation.
    pub severity: Severity,
    /// The check.
    pub check: Check,
}

/// The check of a format rule.
#[derive(Clone, Debug)]
pub enum Check {
    /// The pattern must match.
    Must(Pattern),
    /// The pattern must not match outside of code.
    MustNot(Pattern),
    /// Maximum length of the text, in bytes.
    MaxBytes(usize),
}

/// The position of new entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendOrder {
    /// Key of the section; `None` for the whole file.
    pub under: Option<String>,
    /// Position relative to the existing entries.
    pub at: SectionPlacement,
}

/// A position relative to the existing entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionPlacement {
    /// Before all other entries: the newest first.
    Top,
    /// After all other entries.
    End,
}

impl Template {
    /// Parses a template; `file` is its name in errors.
    ///
    /// # Errors
    /// The template is invalid; the error names the line.
    pub fn parse(text: &str, file: &str) -> Result<Self, TemplateError> {
        read::read(text, file)
    }

    /// Returns the built-in templates: file name and text.
    #[must_use]
    pub fn built_in() -> [(&'static str, &'static str); 4] {
        built_in::BUILT_IN
    }

    /// Returns the schema of a section by its key.
    #[must_use]
    pub fn section(&self, key: &str) -> Option<&SectionSchema> {
        self.sections.iter().find(|section| section.key == key)
    }

    /// Returns the keys of the required sections, in order.
    pub fn required_sections(&self) -> impl Iterator<Item = &str> {
        let required = self.sections.iter().filter(|section| section.required);
        required.map(|section| section.key.as_str())
    }

    /// Renders an empty file of this type: every heading, with a description of the content in angle brackets.
    #[must_use]
    pub fn skeleton(&self) -> String {
        skeleton::file(self)
    }

    /// Renders one empty section, with its heading.
    #[must_use]
    pub fn section_skeleton(&self, section: &SectionSchema) -> String {
        skeleton::section(self, section)
    }

    /// Returns the template's TOML text.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the declared sections, entries and rules as JSON, without prompts and examples.
    #[must_use]
    pub fn schema(&self) -> Map<String, Value> {
        // The text was parsed before, so it is valid TOML.
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

    /// Returns the first gap in a text: one of this template's, or `<...>` that stands for itself. What is in code is
    /// text.
    pub(super) fn gap_in<'t>(&self, text: &'t str) -> Option<&'t str> {
        let outline = OnceCell::new();
        self.gap_outside(text, |at| {
            outline.get_or_init(|| Outline::of(text)).is_quiet(at)
        })
    }

    /// Returns the first gap in a text that is not in code, of which `is_code` tells by the position.
    pub(super) fn gap_outside<'t>(
        &self,
        text: &'t str,
        is_code: impl Fn(usize) -> bool,
    ) -> Option<&'t str> {
        let mut places = text.match_indices('<');
        places.find_map(|(at, _)| {
            let rest = text.get(at..)?;
            let found = rest.get(..=rest.find('>')?)?;
            // `Vec<...>` is code.
            let is_bare = matches!(found, "<...>" | "<…>")
                && !text.get(..at)?.ends_with(char::is_alphanumeric);
            ((is_bare || self.gaps.contains(found)) && !is_code(at)).then_some(found)
        })
    }

    /// Returns whether a section contains entries.
    pub(super) fn holds_entries(&self, key: &str) -> bool {
        let entries = self.entries.as_ref();
        entries.is_some_and(|entries| entries.under.iter().any(|under| under == key))
    }

    /// Returns a section from an example, with its heading.
    pub(super) fn section_sample(&self, section: &SectionSchema) -> String {
        format!("## {}\n\n{}\n", section.name, section.sample.trim())
    }

    /// Returns the template's instruction to fix a kind of diagnostic, if there is one.
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

    /// Returns the format's name in templates.
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
    /// Returns whether a body only states that there is no content, in the template's words or others: `None yet.`,
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
    /// Returns whether the field accepts a name with this key.
    pub(super) fn goes_by(&self, key: &str) -> bool {
        self.keys.iter().any(|one| one == key)
    }

    /// Renders a sample value: the example, or the description in angle brackets.
    pub(super) fn render(&self) -> String {
        match (&self.example, self.one_of.first()) {
            (Some(example), _) => example.clone(),
            (None, Some(choice)) => choice.clone(),
            (None, None) => self.hint(),
        }
    }

    /// Renders the description as a gap.
    pub(super) fn hint(&self) -> String {
        if self.one_of.is_empty() {
            gap(&self.says)
        } else {
            gap(&format!("{}: {}", self.says, self.one_of.join(", ")))
        }
    }
}

/// Maximum length of a gap's description, in characters.
const GAP_CHARS_MAX: usize = 160;

/// Renders a gap: a description of missing text in angle brackets. Validation rejects a text while it remains.
pub(super) fn gap(says: &str) -> String {
    let says = says.chars().filter(|c| !matches!(c, '<' | '>'));
    let says = says.map(|c| if c.is_control() { ' ' } else { c });
    let says: String = says.take(GAP_CHARS_MAX).collect();
    format!("<{}>", says.trim())
}
