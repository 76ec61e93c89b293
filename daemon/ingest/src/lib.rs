//! Document ingestion for lored: converts a file's bytes to text, metadata and chunks. Input is untrusted:
//! any bytes give a text or an error, within limits of size, depth and time, and never a panic.
//!
//! - [`extract`] detects the kind of a file, reads it, and finds its sections and blocks.
//! - [`chunks`] cuts the text into the pieces that are indexed, found and quoted; [`mod@sentences`] and
//!   [`quotable`] cut it into sentences.
//!
//! This crate opens no files and stores nothing. The daemon decides which files are read and what is recorded
//! about them (`daemon/src/documents`).

mod blocks;
mod builder;
mod chunk;
mod csv;
mod decode;
mod front_matter;
mod html;
mod json;
mod kind;
mod limits;
mod markdown;
mod office;
mod pdf;
mod plain;
mod rst;
mod sentences;
mod table;
mod toml;
pub mod worker;
mod yaml;

#[cfg(test)]
mod tests;

pub use blocks::{Block, BlockKind, Blocks};
pub use builder::Section;
pub use chunk::{Chunk, Sizes, chunks};
pub use kind::Kind;
pub use limits::{IngestError, Limits};
pub use sentences::{quotable, sentences};

use kind::Signature;
use limits::Budget;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Text and metadata extracted from a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExtractedText {
    /// Kind of document.
    pub kind: Kind,
    /// The file name's extension in lower case, or the usual extension of the kind if there is none.
    pub file_type: String,
    /// The text, with `\n` line ends: unchanged, or as Markdown if the file was not text.
    pub text: String,
    /// Sections by headings; contiguous.
    pub sections: Vec<Section>,
    /// Paragraphs, lists, tables and code: in order, without overlaps; they cover all text except blank ranges.
    pub blocks: Blocks,
    /// Title from the front matter, else from the first heading, else from the file name.
    pub title: String,
    /// Metadata from the document's front matter.
    pub front_matter: FrontMatter,
    /// Problems while reading.
    pub warnings: Vec<Warning>,
}

/// Front matter: the metadata before a document's text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FrontMatter {
    /// `title`.
    pub title: Option<String>,
    /// `category`.
    pub category: Option<String>,
    /// `tags`, a list or a comma-separated text, without duplicates.
    pub tags: Vec<String>,
    /// `context_id`.
    pub context_id: Option<String>,
    /// `context_name`.
    pub context_name: Option<String>,
    /// All other fields, with their types; timestamps as ISO 8601 texts.
    pub custom: Map<String, Value>,
}

/// A problem while reading a file, and how it was handled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// Line in the file, from 1, if known.
    pub line: Option<usize>,
    /// Description of the problem.
    pub reason: String,
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.reason),
            None => f.write_str(&self.reason),
        }
    }
}

/// Extracts the text of a file of any kind. Owned bytes are freed, or reused as the text, as early as possible.
pub fn extract<'b>(
    bytes: impl Into<Cow<'b, [u8]>>,
    file_name: &str,
    limits: &Limits,
) -> Result<ExtractedText, IngestError> {
    guarded(bytes.into(), file_name, true, limits)
}

/// Extracts a text that is not from a file: front matter is not parsed but is part of the text.
pub fn extract_whole(
    text: &str,
    file_name: &str,
    limits: &Limits,
) -> Result<ExtractedText, IngestError> {
    guarded(text.as_bytes().into(), file_name, false, limits)
}

/// Extracts a text and catches panics. `has_front_matter` is false if front matter is part of the text.
fn guarded(
    bytes: Cow<'_, [u8]>,
    file_name: &str,
    has_front_matter: bool,
    limits: &Limits,
) -> Result<ExtractedText, IngestError> {
    if bytes.len() > limits.file_bytes {
        return Err(IngestError::TooLarge {
            bytes: bytes.len(),
            most: limits.file_bytes,
        });
    }
    let named = kind::by_name(file_name);
    // Format readers are third-party code and files are untrusted, so panics are caught.
    let read = || read(bytes, file_name, (named, has_front_matter), limits);
    let read = catch_unwind(AssertUnwindSafe(read));
    read.unwrap_or_else(|panic| {
        let why = panic.downcast_ref::<&str>().map(|why| (*why).to_owned());
        let why = why.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(IngestError::Fault {
            what: named.map_or("file", Kind::name).into(),
            why: why.unwrap_or_else(|| "it panicked".to_owned()),
        })
    })
}

/// Whether a file's name implies a kind of document.
#[must_use]
pub fn is_promised(file_name: &str) -> bool {
    kind::by_name(file_name).is_some()
}

/// Returns a description of a file that is surely not a document by its first bytes, and whose name does not
/// promise one. It need not be read further. A few thousand bytes are enough; more make the result more certain.
#[must_use]
pub fn passed_over(head: &[u8], file_name: &str) -> Option<&'static str> {
    if is_promised(file_name) {
        return None;
    }
    if head.starts_with(kind::OLE) {
        return Some("an Office document of before 2007");
    }
    match kind::mark(head) {
        Some(Signature::Other(what)) => Some(what),
        Some(Signature::Zip) => Some("a zip archive"),
        Some(Signature::Pdf) => None,
        None => decode::is_binary(head).then_some("not text"),
    }
}

fn read(
    bytes: Cow<'_, [u8]>,
    file_name: &str,
    (named, has_front_matter): (Option<Kind>, bool),
    limits: &Limits,
) -> Result<ExtractedText, IngestError> {
    let budget = Budget::new(limits);
    if bytes.starts_with(kind::OLE) {
        return Err(match named {
            Some(Kind::Docx | Kind::Pptx | Kind::Xlsx) => IngestError::Encrypted {
                what: "document".into(),
            },
            _ => IngestError::Binary {
                what: "an Office document of before 2007".into(),
            },
        });
    }
    match kind::mark(&bytes) {
        Some(Signature::Other(what)) => Err(IngestError::Binary { what: what.into() }),
        Some(Signature::Pdf) => {
            let draft = pdf::read(&bytes, &budget)?;
            Ok(draft.finish(Kind::Pdf, FrontMatter::default(), file_name))
        }
        Some(Signature::Zip) => {
            let (kind, draft) = office::read(&bytes, &budget)?;
            Ok(draft.finish(kind, FrontMatter::default(), file_name))
        }
        None => read_text(bytes, file_name, (named, has_front_matter), &budget),
    }
}

fn read_text(
    bytes: Cow<'_, [u8]>,
    file_name: &str,
    (named, has_front_matter): (Option<Kind>, bool),
    budget: &Budget<'_>,
) -> Result<ExtractedText, IngestError> {
    let Some(decoded) = decode::decode(bytes) else {
        return Err(match named {
            Some(kind) if !kind.is_text() => IngestError::Broken {
                what: kind.name().into(),
                why: "it does not begin as one".to_owned(),
            },
            _ => IngestError::Binary {
                what: "not text".into(),
            },
        });
    };
    let mut text = decoded.text;
    let kind = match named {
        Some(kind) if kind.is_text() => kind,
        _ => kind::by_text(&text),
    };
    let mut warnings = Vec::new();
    warnings.extend(decoded.warning.map(|reason| Warning { line: None, reason }));
    if let Some(named) = named.filter(|named| !named.is_text()) {
        let reason = format!("it is text, though its name says {}", named.name());
        warnings.push(Warning { line: None, reason });
    }
    let mut front = FrontMatter::default();
    let can_have_it = matches!(kind, Kind::Markdown | Kind::Text | Kind::Rst | Kind::Html);
    if has_front_matter && can_have_it {
        let found = front_matter::read(&text);
        front = found.front;
        warnings.extend(found.warnings);
        text.drain(..found.content);
    }
    let mut draft = match kind {
        Kind::Markdown => markdown::read(text, budget)?,
        Kind::Rst => rst::read(text, budget),
        Kind::Html => html::read(&text, budget)?,
        Kind::Code => plain::code(text, budget),
        Kind::Json => json::read(text, budget)?,
        Kind::Yaml => yaml::read(text, budget)?,
        Kind::Toml => toml::read(text, budget),
        Kind::Csv => csv::read(text, budget)?,
        Kind::Text | Kind::Docx | Kind::Pptx | Kind::Xlsx | Kind::Ods | Kind::Epub | Kind::Pdf => {
            plain::text(text, budget)
        }
    };
    warnings.append(&mut draft.warnings);
    draft.warnings = warnings;
    Ok(draft.finish(kind, front, file_name))
}
