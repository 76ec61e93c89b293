//! The view of sources, their documents, and the files that could not be ingested.
//!
//! | key | value |
//! | --- | --- |
//! | `s` source | [`SourceRow`] |
//! | `d` document | [`DocumentRow`] |
//! | `p` source 0 path | the document's id |
//! | `f` source 0 path | [`FailureRow`] |
//! | `c` context 0 folder | number of documents of the context in the folder (u64) |
//! | `t` | position of the last event that changed any of these (u64) |
//!
//! Values are CBOR; numbers are big-endian. Ids and paths contain no zero byte.
//! All functions fail if a row cannot be read or is damaged.

use std::ops::ControlFlow;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::folder_context::key_of;
use super::sources::FileFingerprint;
use super::text_parts::{PartRow, Parts};
use crate::clock::Micros;
use crate::events::documents::{DocumentEvent, DocumentMeta, SourceAdded};
use crate::log::{LoggedEvent, Position, RecordKey, codec};
use crate::store::{Direction, Error, Keyspace, Rows, RowsMut, after_prefix};

/// Keyspace of this view, version 3.
pub const SPACE: Keyspace = Keyspace::new("documents.3");

/// Stored row of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRow {
    /// Current path and settings.
    pub added: SourceAdded,
    /// Time when the source was first added.
    pub added_at: Micros,
    /// Position of the event with the settings.
    pub position: u64,
    /// Position of the event that last changed the document metadata in the settings. Documents that were
    /// ingested before it have outdated metadata.
    #[serde(rename = "told")]
    pub reported: u64,
}

/// Stored row of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentRow {
    /// Id of the source.
    pub source: String,
    /// Metadata of its event, with the most recent fingerprint.
    pub taken: DocumentMeta,
    /// Time of ingestion.
    pub at: Micros,
    /// Parts of the document, in order.
    pub parts: Parts,
}

impl DocumentRow {
    /// Returns the position of its first part's event, which identifies the version.
    #[must_use]
    pub fn version(&self) -> Position {
        Position(self.parts.iter().next().map_or(0, |part| part.position))
    }

    /// Reports whether all parts are stored. A document from another store can take several commits.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.parts.iter().len() >= self.taken.parts as usize
    }

    /// Returns the name of its file.
    #[must_use]
    pub fn file_name(&self) -> &str {
        file_name(&self.taken.path)
    }
}

/// Returns the last component of a path in a source.
#[must_use]
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A file that could not be ingested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureRow {
    /// Reason of the failure.
    pub reason: String,
    /// Fingerprint of the file at the failure.
    pub stamp: FileFingerprint,
    /// Time of the failure.
    pub at: Micros,
}

fn key(tag: u8, first: &str, second: Option<&str>) -> Vec<u8> {
    let mut key = vec![tag];
    key.extend(first.as_bytes());
    if let Some(second) = second {
        key.push(0);
        key.extend(second.as_bytes());
    }
    key
}

fn get<T: DeserializeOwned>(rows: &dyn Rows, key: &[u8]) -> Result<Option<T>, Error> {
    let Some(value) = rows.get(SPACE, key)? else {
        return Ok(None);
    };
    decode(key, &value).map(Some)
}

fn decode<T: DeserializeOwned>(key: &[u8], value: &[u8]) -> Result<T, Error> {
    codec::decode(value)
        .map_err(|reason| Error::corrupt(SPACE.name(), key, format!("not a row: {reason}")))
}

fn put<T: Serialize>(rows: &mut dyn RowsMut, key: &[u8], row: &T) {
    rows.put(SPACE, key, &codec::encode(row));
}

/// Folds an event of this feature.
pub fn apply(
    rows: &mut dyn RowsMut,
    event: &LoggedEvent,
    change: &DocumentEvent,
    record: RecordKey,
) -> Result<(), Error> {
    let Some(source) = &event.header.project else {
        return Ok(());
    };
    rows.put(SPACE, b"t", &event.position().0.to_be_bytes());
    match change {
        DocumentEvent::SourceAdded(added) => {
            let own = key(b's', source, None);
            let known: Option<SourceRow> = get(rows, &own)?;
            let position = event.position().0;
            let reported = known
                .as_ref()
                .filter(|known| known.added.says_the_same(added))
                .map_or(position, |known| known.reported);
            let row = SourceRow {
                added: added.clone(),
                added_at: known.map_or(event.header.happened_at(), |known| known.added_at),
                position,
                reported,
            };
            put(rows, &own, &row);
        }
        DocumentEvent::SourceRemoved => remove_source(rows, source)?,
        DocumentEvent::Ingested(taken) => {
            return apply_taken(rows, event, source, DocumentMeta::clone(taken), record);
        }
        DocumentEvent::PartAdded(continued) => {
            let own = key(b'd', &continued.document, None);
            if let Some(mut row) = get::<DocumentRow>(rows, &own)? {
                row.parts.push(PartRow {
                    position: event.position().0,
                    record: record.0.0,
                    first_chunk: continued.first_chunk,
                });
                put(rows, &own, &row);
            }
        }
        DocumentEvent::Restatted(touched) => {
            let own = key(b'd', &touched.document, None);
            if let Some(mut row) = get::<DocumentRow>(rows, &own)? {
                row.taken.stamp = touched.stamp;
                put(rows, &own, &row);
            }
        }
        DocumentEvent::Removed(gone) => {
            let own = key(b'd', &gone.document, None);
            if let Some(row) = get::<DocumentRow>(rows, &own)? {
                rows.remove(SPACE, &key(b'p', &row.source, Some(&row.taken.path)));
                rows.remove(SPACE, &own);
                count_context(rows, &row, false)?;
            }
        }
        DocumentEvent::FileFailed(failed) => {
            let row = FailureRow {
                reason: failed.reason.clone(),
                stamp: failed.stamp,
                at: event.header.time,
            };
            put(rows, &key(b'f', source, Some(&failed.path)), &row);
        }
        DocumentEvent::FailureCleared(gone) => {
            rows.remove(SPACE, &key(b'f', source, Some(&gone.path)));
        }
    }
    Ok(())
}

fn apply_taken(
    rows: &mut dyn RowsMut,
    event: &LoggedEvent,
    source: &str,
    taken: DocumentMeta,
    record: RecordKey,
) -> Result<(), Error> {
    let own = key(b'd', &taken.document, None);
    if let Some(before) = get::<DocumentRow>(rows, &own)? {
        if before.taken.path != taken.path {
            rows.remove(SPACE, &key(b'p', &before.source, Some(&before.taken.path)));
        }
        count_context(rows, &before, false)?;
    }
    let at_path = key(b'p', source, Some(&taken.path));
    rows.put(SPACE, &at_path, taken.document.as_bytes());
    rows.remove(SPACE, &key(b'f', source, Some(&taken.path)));
    let row = DocumentRow {
        source: source.to_owned(),
        at: event.header.happened_at(),
        parts: Parts::from_iter([PartRow {
            position: event.position().0,
            record: record.0.0,
            first_chunk: 0,
        }]),
        taken,
    };
    put(rows, &own, &row);
    count_context(rows, &row, true)
}

/// Counts a document of its context and folder, or counts it no longer.
fn count_context(rows: &mut dyn RowsMut, row: &DocumentRow, is_there: bool) -> Result<(), Error> {
    let of_source = source(rows, &row.source)?.map_or_else(String::new, |row| row.added.path);
    let folder = key_of(&of_source, &row.taken.path);
    let own = key(b'c', &row.taken.context_id, Some(&folder));
    let count = context_count(rows, &row.taken.context_id, &folder)?;
    match (is_there, count) {
        (true, count) => put(rows, &own, &(count + 1)),
        (false, 0..=1) => rows.remove(SPACE, &own),
        (false, count) => put(rows, &own, &(count - 1)),
    }
    Ok(())
}

/// Returns the number of documents of a context in a folder.
pub fn context_count(rows: &dyn Rows, context: &str, folder: &str) -> Result<u64, Error> {
    let count = get(rows, &key(b'c', context, Some(folder)))?;
    Ok(count.unwrap_or_default())
}

/// Returns whether a context has documents, in any folder.
pub fn has_context(rows: &dyn Rows, context: &str) -> Result<bool, Error> {
    let prefix = key(b'c', context, Some(""));
    let (mut found, high) = (false, after_prefix(&prefix));
    rows.scan(SPACE, &prefix, &high, Direction::Forward, &mut |_, _| {
        found = true;
        Ok(ControlFlow::Break(()))
    })?;
    Ok(found)
}

fn remove_source(rows: &mut dyn RowsMut, source: &str) -> Result<(), Error> {
    let documents: Vec<(String, String)> = paths(rows, source)?;
    for (path, document) in documents {
        let own = key(b'd', &document, None);
        if let Some(row) = get::<DocumentRow>(rows, &own)? {
            count_context(rows, &row, false)?;
        }
        rows.remove(SPACE, &own);
        rows.remove(SPACE, &key(b'p', source, Some(&path)));
    }
    for (path, _) in failures(rows, source)? {
        rows.remove(SPACE, &key(b'f', source, Some(&path)));
    }
    rows.remove(SPACE, &key(b's', source, None));
    Ok(())
}

/// Removes all rows of a source, on behalf of the event at a position.
pub fn forget(rows: &mut dyn RowsMut, source: &str, by: Position) -> Result<(), Error> {
    remove_source(rows, source)?;
    rows.put(SPACE, b"t", &by.0.to_be_bytes());
    Ok(())
}

/// Returns the position of the last event that changed any of these rows.
pub fn changed(rows: &dyn Rows) -> Result<Position, Error> {
    let value = rows.get(SPACE, b"t")?;
    let bytes = value.and_then(|value| <[u8; 8]>::try_from(&value[..]).ok());
    Ok(Position(bytes.map_or(0, u64::from_be_bytes)))
}

/// Returns a source, if it is known.
pub fn source(rows: &dyn Rows, source: &str) -> Result<Option<SourceRow>, Error> {
    get(rows, &key(b's', source, None))
}

/// Lists all sources with their ids.
pub fn sources(rows: &dyn Rows) -> Result<Vec<(String, SourceRow)>, Error> {
    under(rows, b"s")
}

/// Returns a document, if it is known.
pub fn document(rows: &dyn Rows, document: &str) -> Result<Option<DocumentRow>, Error> {
    get(rows, &key(b'd', document, None))
}

/// Returns the position of the event that stored a chunk of a document's current version.
pub fn position_of(rows: &dyn Rows, id: &str, chunk: u32) -> Result<Option<Position>, Error> {
    let row = document(rows, id)?;
    Ok(row.and_then(|row| {
        let part = row.parts.of_chunk(chunk);
        part.map(|part| Position(part.position))
    }))
}

/// Visits all documents with their ids, one at a time.
pub fn documents(rows: &dyn Rows, visit: &mut dyn FnMut(String, DocumentRow)) -> Result<(), Error> {
    each(rows, b"d", &mut |document, key, value| {
        visit(document, decode(key, value)?);
        Ok(())
    })
}

/// Returns the id of the document at a path of a source.
pub fn document_at(rows: &dyn Rows, source: &str, path: &str) -> Result<Option<String>, Error> {
    let own = key(b'p', source, Some(path));
    let value = rows.get(SPACE, &own)?;
    value.map(|value| text(&own, &value)).transpose()
}

/// Lists the paths of a source that have a document, with its id.
pub fn paths(rows: &dyn Rows, source: &str) -> Result<Vec<(String, String)>, Error> {
    paths_below(rows, source, "")
}

/// Lists the paths of a source that begin with a prefix and have a document, with its id.
pub fn paths_below(
    rows: &dyn Rows,
    source: &str,
    start: &str,
) -> Result<Vec<(String, String)>, Error> {
    let mut found = Vec::new();
    let prefix = key(b'p', source, Some(start));
    each(rows, &prefix, &mut |rest, key, value| {
        found.push((format!("{start}{rest}"), text(key, value)?));
        Ok(())
    })?;
    Ok(found)
}

/// Lists at most `most` documents of a source whose paths sort after a path: path and id, sorted by path.
pub fn paths_behind(
    rows: &dyn Rows,
    source: &str,
    behind: &str,
    most: usize,
) -> Result<Vec<(String, String)>, Error> {
    let prefix = key(b'p', source, Some(""));
    let low = match behind {
        "" => prefix.clone(),
        // The least key that is greater.
        behind => [&key(b'p', source, Some(behind))[..], &[0]].concat(),
    };
    let high = after_prefix(&prefix);
    let mut found = Vec::new();
    rows.scan(SPACE, &low, &high, Direction::Forward, &mut |key, value| {
        if found.len() >= most {
            return Ok(ControlFlow::Break(()));
        }
        let path = text(key, key.get(prefix.len()..).unwrap_or_default())?;
        found.push((path, text(key, value)?));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// Returns the failure of a file of a source.
pub fn failure(rows: &dyn Rows, source: &str, path: &str) -> Result<Option<FailureRow>, Error> {
    get(rows, &key(b'f', source, Some(path)))
}

/// Lists the failures of a source, with their paths.
pub fn failures(rows: &dyn Rows, source: &str) -> Result<Vec<(String, FailureRow)>, Error> {
    under(rows, &key(b'f', source, Some("")))
}

fn text(key: &[u8], value: &[u8]) -> Result<String, Error> {
    String::from_utf8(value.to_vec())
        .map_err(|_| Error::corrupt(SPACE.name(), key, "not a row of this view"))
}

/// Lists every row below a prefix, with the text that follows the prefix in its key.
fn under<T: DeserializeOwned>(rows: &dyn Rows, prefix: &[u8]) -> Result<Vec<(String, T)>, Error> {
    let mut found = Vec::new();
    each(rows, prefix, &mut |name, key, value| {
        found.push((name, decode(key, value)?));
        Ok(())
    })?;
    Ok(found)
}

/// A visitor of rows; receives the text that follows a prefix, the key and the value.
type RowVisitor<'v> = &'v mut dyn FnMut(String, &[u8], &[u8]) -> Result<(), Error>;

/// Visits every row below a prefix.
fn each(rows: &dyn Rows, prefix: &[u8], visit: RowVisitor<'_>) -> Result<(), Error> {
    let high = after_prefix(prefix);
    rows.scan(
        SPACE,
        prefix,
        &high,
        Direction::Forward,
        &mut |key, value| {
            let rest = key.get(prefix.len()..).unwrap_or_default();
            visit(text(key, rest)?, key, value)?;
            Ok(ControlFlow::Continue(()))
        },
    )
}
