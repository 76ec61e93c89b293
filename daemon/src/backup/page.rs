//! Pages of a backup, read from one state of the store.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::checkpoints::{self, ObjectNamed};
use crate::engine::{Fold, Tail};
use crate::events::blobs_of;
use crate::log::objects::{self, Object};
use crate::log::{Hash, Log, LoggedEvent, OBJECTS, Position, RecordKey, encode_record};
use crate::store::{BlobRef, Blobs, Error, Rows, StoreId};

/// Default size of a page in bytes of records.
pub const PAGE_BYTES: u64 = 4 << 20;
/// Maximum page size that a caller can request, in bytes.
pub const PAGE_BYTES_MAX: u64 = 16 << 20;
/// Maximum number of objects per request.
pub const OBJECTS_MAX: usize = 256;
/// Maximum size of a blob piece, in bytes.
pub const PIECE_BYTES_MAX: usize = 8 << 20;

/// Identifies the stored form of an object: a prefix of the SHA-256 of its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag(pub [u8; 8]);

impl Tag {
    /// Returns the tag of a row.
    #[must_use]
    pub fn of(row: &[u8]) -> Self {
        let [a, b, c, d, e, f, g, h, ..] = Hash::of(row).0;
        Self([a, b, c, d, e, f, g, h])
    }
}

/// One state of a store.
pub struct BackupSnapshot<'s> {
    /// Rows of the state.
    pub rows: &'s dyn Rows,
    /// Blobs of the store.
    pub blobs: &'s Blobs,
    /// Identifies forgotten events.
    pub fold: &'s dyn Fold,
    /// End of the log.
    pub tail: Tail,
    /// ID of the store.
    pub store: StoreId,
}

/// Some records, and the objects and blobs that their events name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// ID of the store.
    pub store: StoreId,
    /// Chain link of the event before the records; `None` when the log does not reach this position.
    pub link: Option<Hash>,
    /// The encoded records.
    pub records: Vec<Vec<u8>>,
    /// Last position in the records.
    pub last: Position,
    /// Stored objects.
    pub objects: Vec<(Hash, Tag)>,
    /// Number of objects that are no longer stored as the last event in this page says. They were deleted or saved
    /// again; later events record it.
    pub objects_gone: u64,
    /// Blobs that the events name.
    pub blobs: Vec<BlobRef>,
    /// End of the log at the time of the read.
    pub position: Position,
}

impl BackupSnapshot<'_> {
    /// Reads the records after a position until they have `bytes_max` bytes. For a forgotten event, only header and
    /// links are included.
    pub fn page(&self, after: Position, bytes_max: u64) -> Result<Page, Error> {
        let mut gathering = PageBuilder::of(self, self.link(after)?, after);
        if gathering.page.link.is_some() && after < self.tail.position {
            let from = Position(after.0.saturating_add(1));
            Log::new(self.rows).walk(from, &mut |event, record| {
                gathering.add(event, record, bytes_max)
            })?;
            gathering.close();
        }
        gathering.done()
    }

    /// Returns the chain link at a position.
    fn link(&self, at: Position) -> Result<Option<Hash>, Error> {
        if at == Position(0) {
            return Ok(Some(Hash::default()));
        }
        if at > self.tail.position {
            return Ok(None);
        }
        Ok(Log::new(self.rows).at(at)?.map(|event| event.link))
    }

    /// Returns the rows of the requested objects that are stored.
    pub fn objects(&self, wanted: &[Hash]) -> Result<Vec<(Hash, Vec<u8>)>, Error> {
        let mut found = Vec::new();
        for hash in wanted {
            if let Some(row) = self.rows.get(OBJECTS, &hash.0)? {
                found.push((*hash, row.to_vec()));
            }
        }
        Ok(found)
    }

    /// Reads a piece of a blob; `None` when the blob is missing and nothing in these rows needs it.
    pub fn piece(&self, blob: &BlobRef, from: u64) -> Result<Option<Vec<u8>>, Error> {
        let content = match self.blobs.get(blob) {
            Ok(content) => content,
            Err(Error::Corrupt { .. }) if !self.is_named(blob)? => return Ok(None),
            Err(error) => return Err(error),
        };
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let rest = content.get(from..).unwrap_or_default();
        let piece = rest.get(..PIECE_BYTES_MAX).unwrap_or(rest);
        Ok(Some(piece.to_vec()))
    }

    fn is_named(&self, blob: &BlobRef) -> Result<bool, Error> {
        let is_text = crate::log::index::is_blob_named(self.rows, &blob.hash)?;
        Ok(is_text || objects::is_blob_named(self.rows, &blob.hash)?)
    }
}

struct PageBuilder<'g> {
    shelf: &'g BackupSnapshot<'g>,
    page: Page,
    /// Key of the current record, whose events are being collected.
    record: Option<RecordKey>,
    events: Vec<LoggedEvent>,
    bytes: u64,
    /// Objects by hash, because many events can name the same object.
    objects: BTreeMap<[u8; 32], ObjectNamed>,
    blobs: BTreeMap<[u8; 32], BlobRef>,
}

impl<'g> PageBuilder<'g> {
    /// Starts an empty page after a position with this chain link.
    fn of(shelf: &'g BackupSnapshot<'g>, link: Option<Hash>, after: Position) -> Self {
        Self {
            shelf,
            page: Page {
                store: shelf.store,
                link,
                records: Vec::new(),
                last: after,
                objects: Vec::new(),
                objects_gone: 0,
                blobs: Vec::new(),
                position: shelf.tail.position,
            },
            record: None,
            events: Vec::new(),
            bytes: 0,
            objects: BTreeMap::new(),
            blobs: BTreeMap::new(),
        }
    }

    fn add(
        &mut self,
        mut event: LoggedEvent,
        record: RecordKey,
        bytes_max: u64,
    ) -> Result<ControlFlow<()>, Error> {
        if self.record != Some(record) {
            self.close();
            if self.bytes >= bytes_max {
                return Ok(ControlFlow::Break(()));
            }
            self.record = Some(record);
        }
        if event.payload.is_some()
            && self
                .shelf
                .fold
                .is_forgotten(self.shelf.rows, &event.header)?
        {
            event.payload = None;
            event.key = None;
        }
        for object in checkpoints::objects_named(&event)? {
            self.objects.insert(object.hash.0, object);
        }
        for blob in blobs_of(&event)? {
            self.blobs.insert(blob.hash, blob);
        }
        self.events.push(event);
        Ok(ControlFlow::Continue(()))
    }

    fn close(&mut self) {
        if let Some(last) = self.events.last() {
            self.page.last = last.position();
            let record = encode_record(&self.events);
            self.bytes += record.len() as u64;
            self.page.records.push(record);
            self.events.clear();
        }
        self.record = None;
    }

    fn done(mut self) -> Result<Page, Error> {
        for object in self.objects.values() {
            let row = self.shelf.rows.get(OBJECTS, &object.hash.0)?;
            let kept = row.as_deref().and_then(Object::decode);
            if !kept.is_some_and(|kept| object.is_kept_so(&kept)) {
                self.page.objects_gone += 1;
            }
            if let Some(row) = row {
                self.page.objects.push((object.hash, Tag::of(&row)));
            }
        }
        self.page.blobs = self.blobs.into_values().collect();
        Ok(self.page)
    }
}

/// Returns the blob that an object's row refers to.
pub fn blob_of_row(row: &[u8]) -> Result<Option<BlobRef>, String> {
    let object = Object::decode(row).ok_or("not the row of an object")?;
    Ok(match object.place {
        objects::ObjectLocation::Inline(_) => None,
        objects::ObjectLocation::Blob(blob) => Some(blob),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_bytes::ByteArray;

    use super::*;
    use crate::checkpoints::{CheckpointKey, CheckpointSaved, ContextPart, DeltaLink};
    use crate::log::objects::{ObjectForm, ObjectLocation};
    use crate::log::{Actor, Body, EncodedEvent, EventKind, codec};
    use crate::projections::Projections;
    use crate::store::MemoryStore;

    /// Builds a save of a value as a delta against a base that is stored whole.
    fn save(value: Hash, base: Hash, packed: u64) -> LoggedEvent {
        let chain = vec![
            DeltaLink::to(value, 40, packed),
            DeltaLink::to(base, 30, 20),
        ];
        let saved = CheckpointSaved {
            checkpoint: CheckpointKey::of([1; 16]),
            hash: ByteArray::new([2; 32]),
            stored_bytes: 0,
            new_bytes: 0,
            is_kept: false,
            critical: Vec::new(),
            parts: vec![ContextPart {
                key: None,
                chain,
                since: 1,
            }],
            forked_from: None,
        };
        let new = EncodedEvent {
            kind: EventKind::CheckpointSaved,
            session: Some("s".to_owned()),
            project: None,
            meta: codec::encode(&saved),
            body: Body::new(codec::EMPTY.to_vec(), [1; 16]),
            origin: None,
        };
        let before = Hash::default();
        LoggedEvent::stamp(new, &before, Position(1), 1, &Actor::default(), None)
    }

    fn object(form: ObjectForm, packed: usize) -> Object {
        Object {
            form,
            bytes: 40,
            place: ObjectLocation::Inline(vec![7; packed]),
        }
    }

    /// An object that was deleted and saved again in another form counts as gone, because only later events may name
    /// the objects that it now depends on.
    #[test]
    fn objects_that_came_back_in_another_form() {
        let [value, base, other] = [b"value", b"basis", b"other"].map(|name| Hash::of(name));
        let folder = tempfile::tempdir().unwrap();
        let blobs = Blobs::open(folder.path()).unwrap();
        let reported = |kept: Option<Object>| {
            let mut rows = MemoryStore::new();
            objects::put(&mut rows, &base, &object(ObjectForm::Whole, 20));
            if let Some(kept) = kept {
                objects::put(&mut rows, &value, &kept);
            }
            let shelf = BackupSnapshot {
                rows: &rows,
                blobs: &blobs,
                fold: &Projections,
                tail: Tail::default(),
                store: StoreId([7; 16]),
            };
            let mut gathering = PageBuilder::of(&shelf, None, Position(0));
            let event = save(value, base, 9);
            let record = RecordKey(Position(1));
            assert!(gathering.add(event, record, 100).unwrap().is_continue());
            let page = gathering.done().unwrap();
            (page.objects.len(), page.objects_gone)
        };
        assert_eq!(
            reported(Some(object(ObjectForm::Delta { base }, 9))),
            (2, 0)
        );
        assert_eq!(reported(None), (1, 1));
        assert_eq!(
            reported(Some(object(ObjectForm::Delta { base: other }, 9))),
            (2, 1)
        );
        assert_eq!(
            reported(Some(object(ObjectForm::Delta { base }, 8))),
            (2, 1)
        );
        assert_eq!(reported(Some(object(ObjectForm::Whole, 9))), (2, 1));
    }
}
