//! From the content of a file to a document: its text, its chunks, and what is said about it.

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

/// The longest that names and tags of a document may be, in bytes.
const NAME_BYTES_MAX: usize = 256;
/// The longest title, in bytes.
pub const TITLE_BYTES_MAX: usize = 1024;
/// Tags of a document.
const TAGS_MAX: usize = 100;

/// What a source says about its documents, where they do not say it themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceDefaults {
    /// `context_id`; none is the name of the file's folder.
    pub context_id: Option<String>,
    /// `context_name`; none is the context's id.
    pub context_name: Option<String>,
    /// `category`.
    pub category: Option<String>,
    /// Tags of every document.
    pub tags: Vec<String>,
}

impl SourceDefaults {
    /// What the settings of a source say.
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
    /// The file's path below the source's folder.
    pub path: String,
    /// The file's size, time and place.
    pub stamp: FileFingerprint,
    /// Of the file's bytes.
    pub hash: Hash,
    /// The file's name.
    pub file_name: String,
    /// Its extension in lower case, or the usual one of its kind.
    pub file_type: String,
    /// From the front matter, else the first heading, else the file's name.
    pub title: String,
    /// What it belongs to.
    pub context_id: String,
    /// What that is called.
    pub context_name: String,
    /// What sort of document it is, where somebody says so.
    pub category: Option<String>,
    /// Its own, the source's, and its file type; each once, whatever its case.
    pub tags: Vec<String>,
    /// All else that its front matter says.
    pub custom_metadata: Map<String, Value>,
    /// What it says.
    pub text: String,
    /// The pieces of that to be indexed, found and quoted.
    pub chunks: Vec<Chunk>,
    /// What could not be read as it should.
    pub warnings: Vec<Warning>,
}

/// Makes a document of a file below a folder.
///
/// # Errors
/// [`ReadFailure::Skipped`] for binary files, and [`ReadFailure::Failed`] for those that promised to be documents.
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

/// The bytes of a file without secrets, where they are text: all that is made of them has none, then.
fn without_secrets(bytes: Vec<u8>, redactor: &Redactor, found: &mut SecretCounts) -> Vec<u8> {
    let redacted = match std::str::from_utf8(&bytes).map(|text| redactor.text(text, found)) {
        Ok(Cow::Owned(redacted)) => Some(redacted.into_bytes()),
        Ok(Cow::Borrowed(_)) | Err(_) => None,
    };
    redacted.unwrap_or(bytes)
}

/// Takes out what only shows once a file is read: in archives, other encodings, entities.
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

/// The name of the folder that a file is in.
fn folder_of<'p>(base: &'p Path, path: &'p str) -> &'p str {
    let folder = path.rsplit_once('/').map(|(folder, _)| folder);
    let name = folder.and_then(|folder| folder.rsplit('/').next());
    name.or_else(|| base.file_name()?.to_str()).unwrap_or("/")
}

/// What is said about a document: by itself first, then by its source.
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
        // The source's name is of the source's context, and of no other.
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

    /// Adds a tag, unless it is there in whatever case.
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

    /// A text as it may be, cut where it is longer.
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
