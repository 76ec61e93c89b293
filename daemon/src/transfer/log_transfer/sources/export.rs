//! Converts stored events of uploaded documents to lines.

use lore::protocol::RawObject;

use super::lines::{Document, DocumentPart, DocumentPiece};
use crate::documents::events::{DocumentIngested, DocumentMeta};
use crate::documents::{self, DocumentEvent, DocumentRow};
use crate::events;
use crate::log::{Hash, LOG, LoggedEvent, Position};
use crate::store::{Error, Rows};
use crate::transfer::log_transfer::lines::Source;
use crate::transfer::session::ExportSource;

/// Whether there is a source of uploaded documents.
pub fn is_any_sent(rows: &dyn Rows) -> Result<bool, Error> {
    let all = documents::all_sources(rows)?;
    Ok(all.iter().any(|(_, row)| row.added.sent))
}

/// Export result of an event of a source.
pub enum ExportedSource {
    /// Not exported: it was replaced or removed later, or its document is a local file.
    Nothing,
    /// A source.
    Source(Source),
    /// A document with its first part.
    Document(Box<Document>),
    /// A further part of a document.
    Part(Box<DocumentPart>),
    /// Not exported, with a reason to report.
    Left(String),
}

/// Exports events of sources in their current state.
pub struct SourceExporter<'t> {
    /// The data source.
    pub shelf: ExportSource<'t>,
    /// The last exported position.
    pub up_to: Position,
}

impl SourceExporter<'_> {
    /// Converts an event of a source for the export.
    pub fn export(&self, event: &LoggedEvent, source: &str) -> Result<ExportedSource, Error> {
        let document = match DocumentEvent::of(event)? {
            Some(DocumentEvent::SourceAdded(_)) => return self.source(event, source),
            Some(DocumentEvent::Ingested(taken)) => taken.document,
            Some(DocumentEvent::PartAdded(continued)) => continued.document,
            Some(
                DocumentEvent::SourceRemoved
                | DocumentEvent::Restatted(_)
                | DocumentEvent::Removed(_)
                | DocumentEvent::FileFailed(_)
                | DocumentEvent::FailureCleared(_),
            )
            | None => return Ok(ExportedSource::Nothing),
        };
        let Some(of) = documents::source(self.shelf.rows, source)?.filter(|row| row.added.sent)
        else {
            return Ok(ExportedSource::Nothing);
        };
        let Some(row) = documents::document(self.shelf.rows, &document)? else {
            return Ok(ExportedSource::Nothing);
        };
        if row.version() > self.up_to {
            return Ok(ExportedSource::Left(format!(
                "the document {} of {} was replaced meanwhile and is left out: export again",
                row.taken.path, of.added.path
            )));
        }
        let at = event.position().0;
        let parts = row.parts.iter();
        let Some((index, own)) = parts.enumerate().find(|(_, part)| part.position == at) else {
            return Ok(ExportedSource::Nothing);
        };
        let part = documents::part_of(event)?
            .ok_or_else(|| corrupt(event, "a part of a document without text"))?;
        let piece = DocumentPiece::of(part, self.shelf.blobs)?;
        if index == 0 {
            let is_stale = row.version().0 < of.reported;
            let reported = first(event, of.added.path, row, is_stale, piece)?;
            return Ok(ExportedSource::Document(Box::new(reported)));
        }
        Ok(ExportedSource::Part(Box::new(DocumentPart {
            source: of.added.path,
            name: row.taken.path,
            number: u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1),
            first_chunk: own.first_chunk,
            part: piece,
        })))
    }

    /// Exports a source once, where it was declared, before its documents. Its settings are the current ones.
    fn source(&self, event: &LoggedEvent, source: &str) -> Result<ExportedSource, Error> {
        let row = documents::source(self.shelf.rows, source)?;
        let row = row.filter(|row| row.added_at == event.header.happened_at());
        Ok(row.map_or(ExportedSource::Nothing, |row| {
            ExportedSource::Source(Source::of(row.added))
        }))
    }
}

fn first(
    event: &LoggedEvent,
    source: String,
    row: DocumentRow,
    is_stale: bool,
    part: DocumentPiece,
) -> Result<Document, Error> {
    let body: DocumentIngested = events::body(event)?;
    let DocumentMeta {
        path,
        stamp,
        hash,
        file_type,
        title,
        context_id,
        context_name,
        category,
        tags,
        custom,
        chunks,
        parts,
        text_bytes,
        document: _,
        suspect: _,
        blobs: _,
    } = row.taken;
    let custom = custom.map(|custom| RawObject::parse(&custom));
    let custom = custom
        .transpose()
        .map_err(|reason| corrupt(event, &reason.to_string()))?;
    let hash = Hash(hash.into_array());
    let is_told = !is_stale && hash != Hash::default();
    Ok(Document {
        source,
        name: path,
        bytes: stamp.bytes,
        sha256: is_told.then(|| hash.to_string()),
        modified: Document::modified(stamp),
        file_type,
        title,
        context_id,
        context_name,
        category,
        tags,
        custom,
        warnings: body.warnings,
        chunks,
        parts,
        text_bytes,
        part,
    })
}

fn corrupt(event: &LoggedEvent, reason: &str) -> Error {
    let key = event.position().0.to_be_bytes();
    Error::corrupt(LOG.name(), &key, reason)
}
