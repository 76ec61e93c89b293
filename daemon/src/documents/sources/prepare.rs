//! Converts the content of a file to a document: text, chunks and metadata.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use lored_ingest::{Block, Chunk, ExtractedText, FrontMatter, IngestError, Warning};
use lored_redact::{Redactor, SecretCounts};
use serde_json::Value;

use super::read::{Content, ReadFailure};
use crate::documents::Settings;
use crate::documents::folder_context::FolderContexts;
use crate::documents::ingest_worker::IngestWorkers;
use crate::events::documents::{DocumentMeta, SourceAdded};

/// Limit on names and tags of a document, in bytes.
const NAME_BYTES_MAX: usize = 256;
/// Limit on a title, in bytes.
pub const TITLE_BYTES_MAX: usize = 1024;
/// Limit on the tags of a document.
const TAGS_MAX: usize = 100;

/// A document that is ready to be recorded.
#[derive(Clone, Debug, Default)]
pub struct PreparedDocument {
    /// Metadata of the document; id, chunks, parts and blobs are set when it is recorded.
    pub meta: DocumentMeta,
    /// Extracted text.
    pub text: String,
    /// Contexts by its folder, unless the document or its source names one.
    pub contexts: Option<FolderContexts>,
    /// Chunks of the text, which are indexed, found and quoted.
    pub chunks: Vec<Chunk>,
    /// Warnings about content that was not read completely.
    pub warnings: Vec<Warning>,
}

/// Makes a document of a file below a folder. Where it has no metadata, those of its source apply.
///
/// # Errors
/// [`ReadFailure::Skipped`] for binary files; [`ReadFailure::Failed`] if the file has the name of a document
/// type but cannot be read as such.
pub fn take(
    content: Content,
    base: &Path,
    path: &str,
    given: &SourceAdded,
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
    let mut document = PreparedDocument {
        meta: DocumentMeta {
            path: path.to_owned(),
            stamp,
            hash: hash.0.into(),
            file_type: extracted.file_type,
            ..DocumentMeta::default()
        },
        text: extracted.text,
        contexts: None,
        chunks,
        warnings: Vec::new(),
    };
    if front.context_id.is_none() && given.context_id.is_none() {
        let inner = path.rsplit_once('/').map(|(folder, _)| folder);
        let folder = inner.map_or_else(|| base.to_owned(), |folder| base.join(folder));
        let contexts = FolderContexts::of(&given.path, path, &folder, NAME_BYTES_MAX);
        document.contexts = Some(contexts);
    }
    document.describe(front, given, folder_of(base, path));
    document.warnings.append(&mut extracted.warnings);
    document.meta.title = document.short("title", extracted.title, TITLE_BYTES_MAX);
    Ok(document)
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

impl PreparedDocument {
    /// Sets the context, the category, the tags and the custom metadata: the front matter takes precedence over the
    /// settings of the source.
    fn describe(&mut self, front: FrontMatter, given: &SourceAdded, folder: &str) {
        // The source's context name applies only to the source's own context.
        let given_name = given.context_name.clone();
        let given_name = given_name
            .filter(|_| front.context_id.is_none() || front.context_id == given.context_id);
        let id = front.context_id.or_else(|| given.context_id.clone());
        let id = id.unwrap_or_else(|| folder.to_owned());
        self.meta.context_id = self.short("context_id", id, NAME_BYTES_MAX);
        let name = front.context_name.or(given_name);
        let name = name.unwrap_or_else(|| self.meta.context_id.clone());
        self.meta.context_name = self.short("context_name", name, NAME_BYTES_MAX);
        let category = front.category.or_else(|| given.category.clone());
        self.meta.category = category.map(|it| self.short("category", it, NAME_BYTES_MAX));
        let tags = front.tags.into_iter().chain(given.tags.iter().cloned());
        for tag in tags.chain([self.meta.file_type.clone()]) {
            self.tag(tag);
        }
        let custom = Some(front.custom).filter(|custom| !custom.is_empty());
        self.meta.custom = custom.map(|custom| Value::Object(custom).to_string());
    }

    /// Adds a tag unless it is present, ignoring case.
    fn tag(&mut self, tag: String) {
        let tag = self.short("tag", tag, NAME_BYTES_MAX);
        let lower = tag.to_lowercase();
        let tags = &mut self.meta.tags;
        if tag.is_empty() || tags.iter().any(|it| it.to_lowercase() == lower) {
            return;
        }
        if tags.len() < TAGS_MAX {
            tags.push(tag);
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
