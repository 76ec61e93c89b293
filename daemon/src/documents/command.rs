//! Commands that decide about sources and documents.

use std::sync::{Arc, Mutex, MutexGuard};

use super::folder_context::FolderContexts;
use super::view::{self, DocumentRow, SourceRow};
use crate::engine::{Command, DecisionContext};
use crate::error::{Code, Refusal};
use crate::events::documents::{
    DocumentEvent, DocumentMeta, DocumentRemoved, DocumentRestatted, PartMeta, SourceAdded,
};
use crate::events::{NewEvent, empty_body};
use crate::hint::{Tool, hint};
use crate::locks::lock_unpoisoned;
use crate::log::{Body, Hash, codec};
use crate::store::{PendingBlob, Rows};

/// Hexadecimal digits of a hash in an id: enough to make collisions on one machine unlikely.
const ID_DIGITS: usize = 16;

/// Returns the id of the source at a path.
#[must_use]
pub fn source_id(path: &str) -> String {
    format!("source-{}", digits(&Hash::of(path.as_bytes())))
}

fn digits(hash: &Hash) -> String {
    hash.to_string().chars().take(ID_DIGITS).collect()
}

/// Returns the id of a new document, from its source, its path and the number of earlier documents with both.
pub(super) fn document_id(rows: &dyn Rows, source: &str, path: &str) -> Result<String, Refusal> {
    let mut again = 0_u64;
    loop {
        let id = id_of(source, path, again);
        // A document that moved away keeps the id of its first path.
        if view::document(rows, &id)?.is_none() {
            return Ok(id);
        }
        again += 1;
    }
}

/// Returns the id of the `again`th document of a source and path, counted from 0.
pub(crate) fn id_of(source: &str, path: &str, again: u64) -> String {
    let mut named = source.as_bytes().to_vec();
    named.push(0);
    named.extend(path.as_bytes());
    named.extend(again.to_be_bytes());
    format!("doc-{}", digits(&Hash::of(&named)))
}

/// Set if a command records nothing because the state is already as requested; shared with the caller.
#[derive(Clone, Default)]
pub struct UnchangedFlag(Arc<Mutex<bool>>);

impl UnchangedFlag {
    /// Locks the flag.
    pub fn unchanged(&self) -> MutexGuard<'_, bool> {
        lock_unpoisoned(&self.0)
    }
}

/// Creates an event of a source whose payload is empty.
fn without_body(source: &str, event: DocumentEvent, salt: [u8; 16]) -> NewEvent {
    NewEvent::in_project(source, event, empty_body(salt))
}

fn nothing_recorded() -> Refusal {
    Refusal::new(Code::Conflict, "nothing was recorded")
}

/// Returns the refusal for an unknown source id.
#[must_use]
pub fn unknown_source(source: &str) -> Refusal {
    Refusal::new(Code::NotFound, format!("source `{source}` not found"))
        .hint(hint![Tool::ListSources, " lists them."; Tool::AddSource, " makes a folder one."])
}

/// Adds a folder or file as a source.
pub struct AddSource {
    /// Id of the source.
    pub source: String,
    /// Path and settings of the source.
    pub added: SourceAdded,
    /// Random salt.
    pub salt: [u8; 16],
    /// Set if nothing is recorded.
    pub unchanged: UnchangedFlag,
}

impl Command for AddSource {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let known = view::source(on.rows, &self.source)?;
        if known.is_some_and(|known| known.added == self.added) {
            *self.unchanged.unchanged() = true;
            return Err(nothing_recorded());
        }
        let added = DocumentEvent::SourceAdded(self.added.clone());
        Ok(vec![without_body(&self.source, added, self.salt)])
    }
}

/// Removes a source.
pub struct RemoveSource {
    /// Id of the source.
    pub source: String,
    /// Random salt.
    pub salt: [u8; 16],
}

impl Command for RemoveSource {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        if view::source(on.rows, &self.source)?.is_none() {
            return Err(unknown_source(&self.source));
        }
        let removed = DocumentEvent::SourceRemoved;
        Ok(vec![without_body(&self.source, removed, self.salt)])
    }
}

/// Ingests a file.
pub struct IngestDocument {
    /// Id of the source.
    pub source: String,
    /// Metadata of the document; the decision sets its id.
    pub taken: DocumentMeta,
    /// Contexts by the document's folder, unless it or its source names one.
    pub contexts: Option<FolderContexts>,
    /// Document that moved to this path, if any.
    pub moved: Option<String>,
    /// Payload of the first event; the decision takes it.
    pub body: Option<Body>,
    /// Further parts of the document.
    pub further: Vec<AddPart>,
    /// Random salt.
    pub salt: [u8; 16],
    /// Blobs of the payloads, protected from the sweep until the events are committed.
    pub _pending: Vec<PendingBlob>,
}

/// A further part of a document.
pub struct AddPart {
    /// Number of the first chunk.
    pub first_chunk: u32,
    /// Hashes of the blobs.
    pub blobs: Vec<serde_bytes::ByteArray<32>>,
    /// Payload of the part.
    pub body: Body,
}

impl Command for IngestDocument {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        if view::source(on.rows, &self.source)?.is_none() {
            return Err(unknown_source(&self.source));
        }
        self.events(on.rows)
    }
}

impl IngestDocument {
    /// Returns the approximate size of the command in memory, in bytes: payloads with inline texts, and metadata.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let further = self.further.iter().map(|further| &further.body);
        let bodies = self.body.iter().chain(further);
        // Each further part repeats the title.
        let facts = codec::encode(&self.taken).len() + self.further.len() * self.taken.title.len();
        bodies.map(|body| body.bytes.len()).sum::<usize>() + facts
    }

    /// Returns the events to record in an existing source.
    fn events(&mut self, rows: &dyn Rows) -> Result<Vec<NewEvent>, Refusal> {
        let moved = match self.moved.take() {
            Some(moved) => view::document(rows, &moved)?
                .filter(|row| row.source == self.source)
                .map(|row| (moved, row.taken.context_id)),
            None => None,
        };
        let (moved, moved_from) = moved.unzip();
        let at_path = view::document_at(rows, &self.source, &self.taken.path)?;
        let before = match &at_path {
            Some(document) if moved.is_none() => view::document(rows, document)?,
            Some(_) | None => None,
        };
        let before = before.map(|row| row.taken.context_id);
        self.choose_context(rows, before.as_deref(), moved_from.as_deref())?;
        // The document that was at this path before another document moved over it.
        let over = at_path
            .clone()
            .filter(|_| moved.is_some())
            .filter(|at| moved.as_ref() != Some(at));
        self.taken.document = match moved.or(at_path) {
            Some(known) => known,
            None => document_id(rows, &self.source, &self.taken.path)?,
        };
        let over = over.map(|document| {
            let gone = DocumentEvent::Removed(DocumentRemoved { document });
            without_body(&self.source, gone, self.salt)
        });
        let Some(body) = self.body.take() else {
            return Err(Refusal::new(Code::Internal, "a command was decided twice"));
        };
        let ingested = DocumentEvent::Ingested(Box::new(self.taken.clone()));
        let first = NewEvent::in_project(&self.source, ingested, body);
        let further = self.further.drain(..).map(|further| {
            let continued = PartMeta {
                document: self.taken.document.clone(),
                title: self.taken.title.clone(),
                first_chunk: further.first_chunk,
                blobs: further.blobs,
            };
            NewEvent::in_project(
                &self.source,
                DocumentEvent::PartAdded(continued),
                further.body,
            )
        });
        Ok(over
            .into_iter()
            .chain(std::iter::once(first))
            .chain(further)
            .collect())
    }
}

impl IngestDocument {
    /// Sets the context by the document's folder, given its context `before`, at this path or where it was
    /// `moved_from`.
    fn choose_context(
        &mut self,
        rows: &dyn Rows,
        before: Option<&str>,
        moved_from: Option<&str>,
    ) -> Result<(), Refusal> {
        let Some(contexts) = self.contexts.take() else {
            return Ok(());
        };
        let Some(chosen) = contexts.choose(rows, before, moved_from)? else {
            return Ok(());
        };
        if self.taken.context_name == self.taken.context_id {
            self.taken.context_name.clone_from(&chosen);
        }
        self.taken.context_id = chosen;
        Ok(())
    }
}

/// Stores sent bytes as a document.
pub struct PutDocument {
    /// Command that ingests the document.
    pub take: IngestDocument,
    /// Settings of the source with which the document was prepared.
    pub under: SourceAdded,
    /// Whether a missing source is created.
    pub may_begin: bool,
    /// Whether the call has an idempotency key. Then an event is always recorded, so that a late repetition
    /// does not undo later changes.
    pub has_key: bool,
    /// Set if nothing is recorded.
    pub unchanged: UnchangedFlag,
}

impl Command for PutDocument {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let source = &self.take.source;
        let begun = match view::source(on.rows, source)? {
            Some(row) => {
                check_sent(source, &row)?;
                if !row.added.says_the_same(&self.under) {
                    let message = format!("the settings of `{source}` changed meanwhile");
                    return Err(Refusal::new(Code::Conflict, message).hint("Repeat the call."));
                }
                if let Some((document, known)) = self.there(on.rows, &row)? {
                    if !self.has_key {
                        *self.unchanged.unchanged() = true;
                        return Err(nothing_recorded());
                    }
                    let stamp = known.taken.stamp;
                    let same = DocumentEvent::Restatted(DocumentRestatted { document, stamp });
                    return Ok(vec![without_body(source, same, self.take.salt)]);
                }
                None
            }
            None if self.may_begin => {
                let added = DocumentEvent::SourceAdded(self.under.clone());
                Some(without_body(source, added, self.take.salt))
            }
            None => return Err(unknown_source(source)),
        };
        let taken = self.take.events(on.rows)?;
        Ok(begun.into_iter().chain(taken).collect())
    }
}

impl PutDocument {
    /// Returns the stored document of this name if it has the same content and is current for its source.
    fn there(
        &self,
        rows: &dyn Rows,
        source: &SourceRow,
    ) -> Result<Option<(String, DocumentRow)>, Refusal> {
        let taken = &self.take.taken;
        let Some(id) = view::document_at(rows, &self.take.source, &taken.path)? else {
            return Ok(None);
        };
        let known = view::document(rows, &id)?.filter(|known| {
            known.version().0 >= source.reported
                && known.is_whole()
                && known.taken.hash == taken.hash
                && known.taken.title == taken.title
        });
        Ok(known.map(|known| (id, known)))
    }
}

/// Refuses sent documents if the documents of the source are files.
pub fn check_sent(source: &str, row: &SourceRow) -> Result<(), Refusal> {
    if row.added.sent {
        return Ok(());
    }
    let path = &row.added.path;
    let message = format!("the documents of `{source}` are the files in {path}");
    Err(Refusal::invalid(message).hint(
        "Change the file, or name a source that was added with `sent`; without `source` there is one.",
    ))
}

/// Removes a sent document.
pub struct RemoveDocument {
    /// Id of the document.
    pub document: String,
    /// Random salt.
    pub salt: [u8; 16],
}

impl Command for RemoveDocument {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let Some(known) = view::document(on.rows, &self.document)? else {
            return Err(unknown_document(&self.document));
        };
        if let Some(row) = view::source(on.rows, &known.source)? {
            check_sent(&known.source, &row)?;
        }
        let document = self.document.clone();
        let gone = DocumentEvent::Removed(DocumentRemoved { document });
        Ok(vec![without_body(&known.source, gone, self.salt)])
    }
}

/// Returns the refusal for an unknown document id.
#[must_use]
pub fn unknown_document(id: &str) -> Refusal {
    let shown: String = id.chars().take(80).collect();
    let message = format!("document `{shown}` not found; it may have been removed");
    Refusal::new(Code::NotFound, message).hint(
        hint![Tool::SearchDocuments, " gives ids."; Tool::ExploreDocumentStructure, " lists them."],
    )
}

/// Records the state of a file that is not ingested.
pub struct RecordFileState {
    /// Id of the source.
    pub source: String,
    /// The event: the file was rewritten with the same content, is missing, or could not be ingested, or a file that
    /// could not be ingested is missing.
    pub change: DocumentEvent,
    /// Random salt.
    pub salt: [u8; 16],
}

impl Command for RecordFileState {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        if view::source(on.rows, &self.source)?.is_none() {
            return Err(unknown_source(&self.source));
        }
        let document = match &self.change {
            DocumentEvent::Restatted(touched) => Some(&touched.document),
            DocumentEvent::Removed(gone) => Some(&gone.document),
            DocumentEvent::FileFailed(_)
            | DocumentEvent::FailureCleared(_)
            | DocumentEvent::SourceAdded(_)
            | DocumentEvent::SourceRemoved
            | DocumentEvent::Ingested(_)
            | DocumentEvent::PartAdded(_) => None,
        };
        if let Some(document) = document
            && view::document(on.rows, document)?.is_none()
        {
            return Err(nothing_recorded());
        }
        let change = self.change.clone();
        Ok(vec![without_body(&self.source, change, self.salt)])
    }
}
