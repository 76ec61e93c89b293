//! One file: read, compared with what the log has of it, and made a command when that is something else.

use std::path::PathBuf;
use std::sync::Arc;

use super::scan_plan::Task;
use crate::documents::command::{FileState, IngestDocument};
use crate::documents::feature::Documents;
use crate::documents::prepare::Document;
use crate::documents::sources::{
    Content, FileFingerprint, ReadFailure, SourceDefaults, read, take,
};
use crate::documents::view::{self, DocumentRow, FailureRow, SourceRow};
use crate::error::Refusal;
use crate::events::documents::{
    DocumentRemoved, DocumentRestatted, FileFailed, IngestFailureCleared,
};
use crate::operation::Context;
use crate::state::State;

/// A file of a source.
#[derive(Clone, Debug)]
pub struct File {
    /// The source.
    pub source: String,
    /// The source's settings.
    pub row: Arc<SourceRow>,
    /// The folder that its path begins at.
    pub base: PathBuf,
    /// What is to be looked at.
    pub task: Task,
}

/// What a look at a file found.
#[derive(Debug)]
pub struct FileInspection {
    /// Its content, or why there is none.
    pub read: Result<Content, ReadFailure>,
    /// The document that the log has at this path.
    pub document: Option<(String, DocumentRow)>,
    /// The failure that the log has at this path.
    pub failure: Option<FailureRow>,
}

/// What there is to record of a file.
pub enum Outcome {
    /// Nothing: the log has it all.
    Nothing,
    /// A document.
    Take(Box<IngestDocument>),
    /// Something about it.
    Notes(Vec<FileState>),
    /// The same, and it is binary.
    Skipped(Vec<FileState>),
    /// It is written to all the time: later.
    Later,
}

impl File {
    /// Reads it, and what the log has of it.
    ///
    /// # Errors
    /// What is known cannot be read.
    pub fn inspect(&self, cx: &Context, state: State) -> Result<FileInspection, Refusal> {
        let bytes_max = Documents::of(cx)?.settings.reading.file_bytes as u64;
        let (source, path) = (&self.source, &self.task.path);
        let document = match view::document_at(&state, source, path)? {
            Some(id) => view::document(&state, &id)?.map(|row| (id, row)),
            None => None,
        };
        let failure = view::failure(&state, source, path)?;
        drop(state); // Reading may take long.
        Ok(FileInspection {
            read: read(&self.base, path, bytes_max, cx.engine.clock()),
            document,
            failure,
        })
    }

    /// What there is to record. `moved`: the document whose file this was under another name.
    ///
    /// # Errors
    /// A part of a long text cannot be put away.
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
            &SourceDefaults::of(&self.row.added),
            (&documents.settings, &documents.workers),
            &cx.redactor,
        ) {
            Ok(taken) => taken,
            Err(unread) => return Ok(self.untaken(unread, looked.document, looked.failure)),
        };
        let document = Document::of(&self.source, &taken, moved);
        Ok(Outcome::Take(Box::new(document.prepare(cx)?)))
    }

    /// It cannot be taken in as it is.
    pub fn failed(&self, reason: String) -> Outcome {
        Outcome::Notes(vec![FileState::Failed(FileFailed {
            path: self.task.path.clone(),
            reason,
            stamp: self.task.stamp,
        })])
    }

    /// The document has these bytes.
    fn unchanged(
        &self,
        id: &str,
        row: &DocumentRow,
        content: &Content,
        has_failed: bool,
    ) -> Outcome {
        let mut notes = Vec::new();
        if row.taken.stamp != content.stamp {
            notes.push(FileState::Touched(DocumentRestatted {
                document: id.to_owned(),
                stamp: content.stamp,
            }));
        }
        if has_failed {
            notes.push(self.failure_gone());
        }
        recorded(notes)
    }

    /// Why no document comes of it. What it was before stays only if it may be that still.
    fn untaken(
        &self,
        unread: ReadFailure,
        document: Option<(String, DocumentRow)>,
        failure: Option<FailureRow>,
    ) -> Outcome {
        let (reason, stamp) = match unread {
            // That is for the next look to find.
            ReadFailure::Gone => return Outcome::Nothing,
            ReadFailure::Unsettled => return Outcome::Later,
            ReadFailure::Skipped(_) => {
                let gone =
                    document.map(|(document, _)| FileState::Gone(DocumentRemoved { document }));
                let forgotten = failure.map(|_| self.failure_gone());
                return Outcome::Skipped(gone.into_iter().chain(forgotten).collect());
            }
            // It is tried each time: nothing about the file tells when it may be read.
            ReadFailure::Barred(reason) => (reason, FileFingerprint::default()),
            ReadFailure::Failed(reason) => (reason, self.task.stamp),
        };
        if failure.is_some_and(|known| known.reason == reason && known.stamp == stamp) {
            return Outcome::Nothing;
        }
        recorded(vec![FileState::Failed(FileFailed {
            path: self.task.path.clone(),
            reason,
            stamp,
        })])
    }

    fn failure_gone(&self) -> FileState {
        FileState::FailureCleared(IngestFailureCleared {
            path: self.task.path.clone(),
        })
    }
}

fn recorded(notes: Vec<FileState>) -> Outcome {
    match notes.is_empty() {
        true => Outcome::Nothing,
        false => Outcome::Notes(notes),
    }
}
