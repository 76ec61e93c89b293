//! Processes one file: reads it, compares it with the log, and builds a command if they differ.

use std::path::PathBuf;
use std::sync::Arc;

use super::scan_plan::Task;
use crate::documents::command::IngestDocument;
use crate::documents::feature::Documents;
use crate::documents::sources::{Content, FileFingerprint, ReadFailure, read, take};
use crate::documents::view::{self, DocumentRow, FailureRow, SourceRow};
use crate::error::Refusal;
use crate::events::documents::{
    DocumentEvent, DocumentRemoved, DocumentRestatted, FileFailed, IngestFailureCleared,
};
use crate::operation::Context;
use crate::state::State;

/// A file of a source.
#[derive(Clone, Debug)]
pub struct File {
    /// Id of the source.
    pub source: String,
    /// Settings of the source.
    pub row: Arc<SourceRow>,
    /// Folder that the path is relative to.
    pub base: PathBuf,
    /// The file to process.
    pub task: Task,
}

/// Result of reading a file and its rows.
#[derive(Debug)]
pub struct FileInspection {
    /// Content, or the reason why there is none.
    pub read: Result<Content, ReadFailure>,
    /// Stored document at this path.
    pub document: Option<(String, DocumentRow)>,
    /// Stored failure at this path.
    pub failure: Option<FailureRow>,
}

/// The changes to record for a file.
pub enum Outcome {
    /// Nothing, because the log is up to date.
    Nothing,
    /// A document to ingest.
    Take(Box<IngestDocument>),
    /// States of the file to record.
    Notes(Vec<DocumentEvent>),
    /// The file is binary; states to record, if any.
    Skipped(Vec<DocumentEvent>),
    /// The file is written all the time, so it is tried later.
    Later,
}

impl File {
    /// Reads the file and its rows.
    pub fn inspect(&self, cx: &Context, state: State) -> Result<FileInspection, Refusal> {
        let bytes_max = Documents::of(cx)?.settings.reading.file_bytes as u64;
        let (source, path) = (&self.source, &self.task.path);
        let document = match view::document_at(&state, source, path)? {
            Some(id) => view::document(&state, &id)?.map(|row| (id, row)),
            None => None,
        };
        let failure = view::failure(&state, source, path)?;
        drop(state); // Reading can take long.
        Ok(FileInspection {
            read: read(&self.base, path, bytes_max, cx.engine.clock()),
            document,
            failure,
        })
    }

    /// Decides what to record. `moved` is the document whose file was renamed to this path.
    pub fn decide(
        &self,
        cx: &Context,
        looked: FileInspection,
        moved: Option<String>,
    ) -> Result<Outcome, Refusal> {
        let content = match looked.read {
            Ok(content) => content,
            Err(unread) => return Ok(self.untaken(unread, looked.document, looked.failure)),
        };
        if let Some((id, row)) = &looked.document
            && *row.taken.hash == content.hash.0
            && row.version().0 >= self.row.reported
        {
            return Ok(self.unchanged(id, row, &content, looked.failure.is_some()));
        }
        let documents = Documents::of(cx)?;
        let taken = match take(
            content,
            &self.base,
            &self.task.path,
            &self.row.added,
            (&documents.settings, &documents.workers),
            &cx.redactor,
        ) {
            Ok(taken) => taken,
            Err(unread) => return Ok(self.untaken(unread, looked.document, looked.failure)),
        };
        let command = taken.into_command(cx, &self.source, moved)?;
        Ok(Outcome::Take(Box::new(command)))
    }

    /// Records that the file cannot be ingested in its current state.
    pub fn failed(&self, reason: String, stamp: FileFingerprint) -> Outcome {
        let path = self.task.path.clone();
        Outcome::Notes(vec![DocumentEvent::FileFailed(FileFailed {
            path,
            reason,
            stamp,
        })])
    }

    /// Handles a file whose document has the same bytes.
    fn unchanged(
        &self,
        id: &str,
        row: &DocumentRow,
        content: &Content,
        has_failed: bool,
    ) -> Outcome {
        let mut notes = Vec::new();
        if row.taken.stamp != content.stamp {
            notes.push(DocumentEvent::Restatted(DocumentRestatted {
                document: id.to_owned(),
                stamp: content.stamp,
            }));
        }
        if has_failed {
            notes.push(self.failure_gone());
        }
        match notes.is_empty() {
            true => Outcome::Nothing,
            false => Outcome::Notes(notes),
        }
    }

    /// Handles a file that has no document. An earlier document is retained only if it may still be valid.
    fn untaken(
        &self,
        unread: ReadFailure,
        document: Option<(String, DocumentRow)>,
        failure: Option<FailureRow>,
    ) -> Outcome {
        let (reason, stamp) = match unread {
            // The next scan handles a missing file.
            ReadFailure::Gone => return Outcome::Nothing,
            ReadFailure::Unsettled => return Outcome::Later,
            ReadFailure::Skipped(_) => {
                let gone = document
                    .map(|(document, _)| DocumentEvent::Removed(DocumentRemoved { document }));
                let forgotten = failure.map(|_| self.failure_gone());
                return Outcome::Skipped(gone.into_iter().chain(forgotten).collect());
            }
            // Access is tried every time, because no fingerprint shows when the file becomes readable.
            ReadFailure::Barred(reason) => (reason, FileFingerprint::default()),
            ReadFailure::Failed(reason) => (reason, self.task.stamp),
        };
        if failure.is_some_and(|known| known.reason == reason && known.stamp == stamp) {
            return Outcome::Nothing;
        }
        self.failed(reason, stamp)
    }

    fn failure_gone(&self) -> DocumentEvent {
        DocumentEvent::FailureCleared(IngestFailureCleared {
            path: self.task.path.clone(),
        })
    }
}
