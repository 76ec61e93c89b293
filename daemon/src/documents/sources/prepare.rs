//! Converts the content of a file to a document: text, chunks and metadata.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use lored_ingest::{Block, Chunk, ExtractedText, FrontMatter, IngestError, Warning};
use lored_redact::{Redactor, SecretCounts};
use serde_json::{Map, Value};

use super::read::{Content, ReadFailure};
use crate::documents::Settings;
use crate::documents::ingest_worker::IngestWorkers;
use crate::events::documents::{FileFingerprint, SourceAdded};
use crate::log::Hash;

/// Limit on names and tags of a document, in bytes.
const NAME_BYTES_MAX: usize = 256;
/// Limit on a title, in bytes.
pub const TITLE_BYTES_MAX: usize = 1024;
/// Limit on the tags of a document.
const TAGS_MAX: usize = 100;

/// Metadata from the settings of a source, used where a document has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceDefaults {
    /// `context_id`; by default the name of the file's folder.
    pub context_id: Option<String>,
    /// `context_name`; by default the context's id.
    pub context_name: Option<String>,
    /// `category`.
    pub category: Option<String>,
    /// Tags that are added to every document.
    pub tags: Vec<String>,
}

impl SourceDefaults {
    /// Reads the defaults from the settings of a source.
    #[must_use]
    pub fn of(added: &SourceAdded) -> Self {
        Self {
            context_id: added.context_id.clone(),
            context_name: added.context_name.clone(),
            category: added.category.clone(),
            tags: added.tags.clone(),
        }
    }
}

/// A document that is ready to be recorded.
#[derive(Clone, Debug)]
pub struct PreparedDocument {
    /// Path of the file below the source's folder.
    pub path: String,
    /// Fingerprint of the file.
    pub stamp: FileFingerprint,
    /// Hash of the file's bytes.
    pub hash: Hash,
    /// Name of the file.
    pub file_name: String,
    /// Extension in lower case, or the usual extension of the file's kind.
    pub file_type: String,
    /// Title from the front matter, else the first heading, else the file's name.
    pub title: String,
    /// Id of the context.
    pub context_id: String,
    /// Display name of the context.
    pub context_name: String,
    /// Category, if the document or the source declares one.
    pub category: Option<String>,
    /// Tags of the document and of the source, and the file type; without duplicates, ignoring case.
    pub tags: Vec<String>,
    /// All other front matter.
    pub custom_metadata: Map<String, Value>,
    /// Extracted text.
    pub text: String,
    /// Chunks of the text, which are indexed, found and quoted.
    pub chunks: Vec<Chunk>,
    /// Warnings about content that was not read completely.
    pub warnings: Vec<Warning>,
}

/// Makes a document of a file below a folder.
///
/// # Errors
/// [`ReadFailure::Skipped`] for binary files; [`ReadFailure::Failed`] if the file has the name of a document
/// type but cannot be read as such.
pub fn take(
    content: Content,
    base: &Path,
    path: &str,
    given: &SourceDefaults,
    (settings, workers): (&Settings, &IngestWorkers),
    redactor: &Redactor,
) -> Result<PreparedDocument, ReadFailure> {
    let Content { bytes, stamp, hash } = content;
    let file_name = path.rsplit('/').next().unwrap_or(path);
    let mut found = SecretCounts::default();
    let bytes = without_secrets(bytes, redactor, &mut found);
    let mut extracted = workers
        .extract(bytes, file_name, &settings.reading)
        .map_err(|why| match why {
            IngestError::Binary { what } if !lored_ingest::is_promised(file_name) => {
                ReadFailure::Skipped(what)
            }
            other => ReadFailure::Failed(other.to_string()),
        })?;
    redact(&mut extracted, redactor, &mut found);
    let reported = found
        .sentence()
        .map(|reason| Warning { line: None, reason });
    extracted.warnings.extend(reported);
    let chunks = lored_ingest::chunks(&extracted, &settings.sizes);
    let front = std::mem::take(&mut extracted.front_matter);
    let mut said = DocumentDetails::new(front, given, folder_of(base, path), &extracted.file_type);
    said.warnings.append(&mut extracted.warnings);
    let title = said.short("title", extracted.title, TITLE_BYTES_MAX);
    Ok(PreparedDocument {
        path: path.to_owned(),
        stamp,
        hash,
        file_name: file_name.to_owned(),
        file_type: extracted.file_type,
        title,
        context_id: said.context_id,
        context_name: said.context_name,
        category: said.category,
        tags: said.tags,
        custom_metadata: said.custom,
        text: extracted.text,
        chunks,
        warnings: said.warnings,
    })
}

/// Redacts secrets in the bytes of a text file, so that nothing derived from them contains a secret.
fn without_secrets(bytes: Vec<u8>, redactor: &Redactor, found: &mut SecretCounts) -> Vec<u8> {
    let redacted = match std::str::from_utf8(&bytes).map(|text| redactor.text(text, found)) {
        Ok(Cow::Owned(redacted)) => Some(redacted.into_bytes()),
        Ok(Cow::Borrowed(_)) | Err(_) => None,
    };
    redacted.unwrap_or(bytes)
}

/// Redacts secrets that are visible only after extraction: in archives, other encodings, entities.
fn redact(extracted: &mut ExtractedText, redactor: &Redactor, found: &mut SecretCounts) {
    let mut short = |text: &mut String| {
        if let Cow::Owned(redacted) = redactor.text(text, found) {
            *text = redacted;
        }
    };
    short(&mut extracted.title);
    let front = &mut extracted.front_matter;
    let said = [
        &mut front.title,
        &mut front.category,
        &mut front.context_id,
        &mut front.context_name,
    ];
    said.into_iter().flatten().for_each(&mut short);
    front.tags.iter_mut().for_each(&mut short);
    let headings = extracted.sections.iter_mut();
    headings
        .flat_map(|section| &mut section.path)
        .for_each(short);
    let mut custom = Value::Object(std::mem::take(&mut front.custom));
    redactor.value(&mut custom, found);
    if let Value::Object(custom) = custom {
        front.custom = custom;
    }
    let Some((text, places)) = redactor.text_with_places(&extracted.text, found) else {
        return;
    };
    extracted.text = text;
    let now = |range: Range<usize>| places.now(range.start)..places.now(range.end);
    for section in &mut extracted.sections {
        section.range = now(section.range.clone());
    }
    let blocks = extracted.blocks.iter().map(|block| Block {
        range: now(block.range),
        ..block
    });
    extracted.blocks = blocks.collect();
}

/// Returns the name of the folder that contains a file.
fn folder_of<'p>(base: &'p Path, path: &'p str) -> &'p str {
    let folder = path.rsplit_once('/').map(|(folder, _)| folder);
    let name = folder.and_then(|folder| folder.rsplit('/').next());
    name.or_else(|| base.file_name()?.to_str()).unwrap_or("/")
}

/// Metadata of a document: its front matter takes precedence over its source's settings.
struct DocumentDetails {
    context_id: String,
    context_name: String,
    category: Option<String>,
    tags: Vec<String>,
    custom: Map<String, Value>,
    warnings: Vec<Warning>,
}

impl DocumentDetails {
    fn new(front: FrontMatter, given: &SourceDefaults, folder: &str, file_type: &str) -> Self {
        let mut said = Self {
            context_id: String::new(),
            context_name: String::new(),
            category: None,
            tags: Vec::new(),
            custom: front.custom,
            warnings: Vec::new(),
        };
        // The source's context name applies only to the source's own context.
        let given_name = given.context_name.clone();
        let given_name = given_name
            .filter(|_| front.context_id.is_none() || front.context_id == given.context_id);
        let id = front.context_id.or_else(|| given.context_id.clone());
        let id = id.unwrap_or_else(|| folder.to_owned());
        said.context_id = said.short("context_id", id, NAME_BYTES_MAX);
        let name = front.context_name.or(given_name);
        let name = name.unwrap_or_else(|| said.context_id.clone());
        said.context_name = said.short("context_name", name, NAME_BYTES_MAX);
        let category = front.category.or_else(|| given.category.clone());
        said.category = category.map(|it| said.short("category", it, NAME_BYTES_MAX));
        for tag in front.tags {
            said.tag(tag);
        }
        for tag in &given.tags {
            said.tag(tag.clone());
        }
        said.tag(file_type.to_owned());
        said
    }

    /// Adds a tag unless it is present, ignoring case.
    fn tag(&mut self, tag: String) {
        let tag = self.short("tag", tag, NAME_BYTES_MAX);
        let lower = tag.to_lowercase();
        if tag.is_empty() || self.tags.iter().any(|it| it.to_lowercase() == lower) {
            return;
        }
        if self.tags.len() < TAGS_MAX {
            self.tags.push(tag);
        } else {
            self.warn(format!("the tag {tag:?} is left out: {TAGS_MAX} are kept"));
        }
    }

    /// Truncates a text to the limit, with a warning.
    fn short(&mut self, what: &str, mut text: String, bytes_max: usize) -> String {
        if text.len() > bytes_max {
            self.warn(format!(
                "`{what}` is cut: it has more than {bytes_max} bytes"
            ));
            text.truncate(text.floor_char_boundary(bytes_max));
        }
        text
    }

    fn warn(&mut self, reason: String) {
        self.warnings.push(Warning { line: None, reason });
    }
}

#[cfg(test)]
mod tests;
