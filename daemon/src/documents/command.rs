//! Decisions about documents: that a folder is a source, what a file says, that it is gone.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::view::{self, DocumentRow, SourceRow};
use crate::engine::{Command, DecisionContext};
use crate::error::{Code, Refusal};
use crate::events::documents::{
    DocumentEvent, DocumentMeta, DocumentRemoved, DocumentRestatted, FileFailed,
    IngestFailureCleared, PartMeta, SourceAdded,
};
use crate::events::{NewEvent, empty_body};
use crate::log::{Body, Hash, codec};
use crate::store::{PendingBlob, Rows};

/// How many hexadecimal digits of a hash are an id: enough for no two to be alike on one machine.
const ID_DIGITS: usize = 16;

/// The id of the source at a path.
#[must_use]
pub fn source_id(path: &str) -> String {
    format!("source-{}", digits(&Hash::of(path.as_bytes())))
}

fn digits(hash: &Hash) -> String {
    hash.to_string().chars().take(ID_DIGITS).collect()
}

/// The id of a new document: of its source, its path, and how many had the same one before.
pub(super) fn document_id(rows: &dyn Rows, source: &str, path: &str) -> Result<String, Refusal> {
    let mut again = 0_u64;
    loop {
        let id = id_of(source, path, again);
        // One that moved away keeps the id that it got here.
        if view::document(rows, &id)?.is_none() {
            return Ok(id);
        }
        again += 1;
    }
}

/// The id of the document that is the `again`th one of its source and path, from 0.
pub(crate) fn id_of(source: &str, path: &str, again: u64) -> String {
    let mut named = source.as_bytes().to_vec();
    named.push(0);
    named.extend(path.as_bytes());
    named.extend(again.to_be_bytes());
    format!("doc-{}", digits(&Hash::of(&named)))
}

/// Whether a command recorded nothing because it is so already; shared with its caller.
#[derive(Clone, Default)]
pub struct UnchangedFlag(Arc<Mutex<bool>>);

impl UnchangedFlag {
    /// What was told.
    pub fn unchanged(&self) -> MutexGuard<'_, bool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn nothing_recorded() -> Refusal {
    Refusal::new(Code::Conflict, "nothing was recorded")
}

/// No source has this id.
#[must_use]
pub fn unknown_source(source: &str) -> Refusal {
    Refusal::new(Code::NotFound, format!("there is no source `{source}`"))
        .hint("`list_sources` lists them; `add_source` makes a folder one.")
}

/// Wants a folder or file to be a source.
pub struct AddSource {
    /// Its id.
    pub source: String,
    /// Path and settings.
    pub added: SourceAdded,
    /// Random.
    pub salt: [u8; 16],
    /// To the caller.
    pub unchanged: UnchangedFlag,
}

impl Command for AddSource {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let known = view::source(on.rows, &self.source)?;
        if known.is_some_and(|known| known.added == self.added) {
            *self.unchanged.unchanged() = true;
            return Err(nothing_recorded());
        }
        Ok(vec![NewEvent::in_project(
            &self.source,
            DocumentEvent::SourceAdded(self.added.clone()),
            empty_body(self.salt),
        )])
    }
}

/// Wants a source to be none any more.
pub struct RemoveSource {
    /// Its id.
    pub source: String,
    /// Random.
    pub salt: [u8; 16],
}

impl Command for RemoveSource {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        if view::source(on.rows, &self.source)?.is_none() {
            return Err(unknown_source(&self.source));
        }
        Ok(vec![NewEvent::in_project(
            &self.source,
            DocumentEvent::SourceRemoved,
            empty_body(self.salt),
        )])
    }
}

/// Wants a file taken in.
pub struct IngestDocument {
    /// Its source.
    pub source: String,
    /// What is known of it; its id is given by the decision.
    pub taken: DocumentMeta,
    /// The document that was moved to this path, if one was.
    pub moved: Option<String>,
    /// The payload of the first event; taken when it is decided.
    pub body: Option<Body>,
    /// Numbers of the first chunks, blobs and payloads of the further ones.
    pub further: Vec<AddPart>,
    /// Random.
    pub salt: [u8; 16],
    /// Blobs that the payloads name: no sweep takes them before the events are committed.
    pub _pending: Vec<PendingBlob>,
}

/// A further part of a document.
pub struct AddPart {
    /// The number of its first chunk.
    pub first_chunk: u32,
    /// Hashes of its blobs.
    pub blobs: Vec<serde_bytes::ByteArray<32>>,
    /// Its payload.
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
    /// What it holds in memory, in bytes, about: payloads with the texts that are in them, and facts.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let further = self.further.iter().map(|further| &further.body);
        let bodies = self.body.iter().chain(further);
        // Each further part repeats the title.
        let facts = codec::encode(&self.taken).len() + self.further.len() * self.taken.title.len();
        bodies.map(|body| body.bytes.len()).sum::<usize>() + facts
    }

    /// What is recorded, in a source that there is.
    fn events(&mut self, rows: &dyn Rows) -> Result<Vec<NewEvent>, Refusal> {
        let moved = match self.moved.take() {
            Some(moved) => view::document(rows, &moved)?
                .filter(|row| row.source == self.source)
                .map(|_| moved),
            None => None,
        };
        let at_path = view::document_at(rows, &self.source, &self.taken.path)?;
        // What was at this path before, if another document moved here over it.
        let over = at_path
            .clone()
            .filter(|_| moved.is_some())
            .filter(|at| moved.as_ref() != Some(at));
        self.taken.document = match moved.or(at_path) {
            Some(known) => known,
            None => document_id(rows, &self.source, &self.taken.path)?,
        };
        let over = over.map(|document| {
            let gone = DocumentRemoved { document };
            NewEvent::in_project(
                &self.source,
                DocumentEvent::Removed(gone),
                empty_body(self.salt),
            )
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

/// Wants bytes that were sent taken in as a document.
pub struct PutDocument {
    /// The document.
    pub take: IngestDocument,
    /// The settings of its source that it was made under.
    pub under: SourceAdded,
    /// Whether the source comes to be by this, where it is not there.
    pub may_begin: bool,
    /// Whether it has a key: then something is recorded in any case, so that a late repetition of it does
    /// not undo what came in between.
    pub has_key: bool,
    /// To the caller.
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
                    let same = DocumentRestatted { document, stamp };
                    let body = empty_body(self.take.salt);
                    return Ok(vec![NewEvent::in_project(
                        source,
                        DocumentEvent::Restatted(same.clone()),
                        body,
                    )]);
                }
                None
            }
            None if self.may_begin => {
                let body = empty_body(self.take.salt);
                Some(NewEvent::in_project(
                    source,
                    DocumentEvent::SourceAdded(self.under.clone()),
                    body,
                ))
            }
            None => return Err(unknown_source(source)),
        };
        let taken = self.take.events(on.rows)?;
        Ok(begun.into_iter().chain(taken).collect())
    }
}

impl PutDocument {
    /// The document of this name, if it says just this, as its source wants it said.
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

/// Refuses documents that are sent to a source whose documents are files.
///
/// # Errors
/// `INVALID_INPUT`.
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

/// Wants a document that was sent to be none any more.
pub struct RemoveDocument {
    /// Its id.
    pub document: String,
    /// Random.
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
        let gone = DocumentRemoved { document };
        let body = empty_body(self.salt);
        Ok(vec![NewEvent::in_project(
            &known.source,
            DocumentEvent::Removed(gone.clone()),
            body,
        )])
    }
}

/// No document has this id.
#[must_use]
pub fn unknown_document(id: &str) -> Refusal {
    let shown: String = id.chars().take(80).collect();
    let message = format!("there is no document `{shown}`, or not any more");
    Refusal::new(Code::NotFound, message)
        .hint("`search_documents` and `explore_document_structure` give ids.")
}

/// Wants something noted of a file that is not taken in.
pub struct RecordFileState {
    /// Its source.
    pub source: String,
    /// What: touched, gone, failed, or no failure any more.
    pub note: FileState,
    /// Random.
    pub salt: [u8; 16],
}

/// What is noted.
#[derive(Clone, Debug)]
pub enum FileState {
    /// It was written without being changed.
    Touched(DocumentRestatted),
    /// It is not there any more.
    Gone(DocumentRemoved),
    /// It could not be taken in.
    Failed(FileFailed),
    /// Such a file is not there any more.
    FailureCleared(IngestFailureCleared),
}

impl Command for RecordFileState {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        if view::source(on.rows, &self.source)?.is_none() {
            return Err(unknown_source(&self.source));
        }
        let (source, body) = (&self.source, empty_body(self.salt));
        let known = |document: &str| -> Result<(), Refusal> {
            view::document(on.rows, document)?
                .map(|_| ())
                .ok_or_else(nothing_recorded)
        };
        Ok(vec![match &self.note {
            FileState::Touched(touched) => {
                known(&touched.document)?;
                NewEvent::in_project(source, DocumentEvent::Restatted(touched.clone()), body)
            }
            FileState::Gone(gone) => {
                known(&gone.document)?;
                NewEvent::in_project(source, DocumentEvent::Removed(gone.clone()), body)
            }
            FileState::Failed(failed) => {
                NewEvent::in_project(source, DocumentEvent::FileFailed(failed.clone()), body)
            }
            FileState::FailureCleared(gone) => {
                NewEvent::in_project(source, DocumentEvent::FailureCleared(gone.clone()), body)
            }
        }])
    }
}
