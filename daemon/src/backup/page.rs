//! What a store gives to a backup, from one state of its rows.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::audit::verify::blobs_of;
use crate::checkpoints;
use crate::engine::{Fold, Tail};
use crate::log::objects::{self, Object};
use crate::log::{Hash, Log, OBJECTS, Position, RecordKey, Stamped, encode_record};
use crate::store::{BlobRef, Blobs, Error, Rows, StoreId};

/// A page ends after about so many bytes of records, when the caller does not say.
pub const PAGE_BYTES: u64 = 4 << 20;
/// The most that a caller may say.
pub const PAGE_BYTES_MAX: u64 = 16 << 20;
/// Objects given at once.
pub const OBJECTS_MAX: usize = 256;
/// The most of a blob that is given at once, in bytes.
pub const PIECE_BYTES_MAX: usize = 8 << 20;

/// Tells one way of keeping an object from another: the beginning of the SHA-256 of its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag(pub [u8; 8]);

impl Tag {
    /// Of a row.
    #[must_use]
    pub fn of(row: &[u8]) -> Self {
        let [a, b, c, d, e, f, g, h, ..] = Hash::of(row).0;
        Self([a, b, c, d, e, f, g, h])
    }
}

/// One state of a store.
pub struct Shelf<'s> {
    /// Its rows.
    pub rows: &'s dyn Rows,
    /// Large texts.
    pub blobs: &'s Blobs,
    /// Tells what was forgotten.
    pub fold: &'s dyn Fold,
    /// The end of its log.
    pub tail: Tail,
    /// Which store it is.
    pub store: StoreId,
}

/// Some records, and what their events name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Which store they are of.
    pub store: StoreId,
    /// The link of the event before them; none where the log does not reach so far.
    pub link: Option<Hash>,
    /// The records.
    pub records: Vec<Vec<u8>>,
    /// The last position in them.
    pub last: Position,
    /// Objects that are kept.
    pub objects: Vec<(Hash, Tag)>,
    /// Objects that no longer are.
    pub objects_gone: u64,
    /// Blobs.
    pub blobs: Vec<BlobRef>,
    /// The end of the log that was read.
    pub position: Position,
}

impl Shelf<'_> {
    /// The records behind a position, until they have so many bytes; of what was forgotten, header and
    /// links alone.
    ///
    /// # Errors
    /// [`Error`] when a record cannot be read.
    pub fn page(&self, after: Position, bytes_max: u64) -> Result<Page, Error> {
        let mut gathering = Gathering {
            shelf: self,
            page: Page {
                store: self.store,
                link: self.link(after)?,
                records: Vec::new(),
                last: after,
                objects: Vec::new(),
                objects_gone: 0,
                blobs: Vec::new(),
                position: self.tail.position,
            },
            record: None,
            events: Vec::new(),
            bytes: 0,
            objects: BTreeMap::new(),
            blobs: BTreeMap::new(),
        };
        if gathering.page.link.is_some() && after < self.tail.position {
            let from = Position(after.0.saturating_add(1));
            Log::new(self.rows).walk(from, &mut |event, record| {
                gathering.add(event, record, bytes_max)
            })?;
            gathering.close();
        }
        gathering.done()
    }

    /// The link at a position.
    fn link(&self, at: Position) -> Result<Option<Hash>, Error> {
        if at == Position(0) {
            return Ok(Some(Hash::default()));
        }
        if at > self.tail.position {
            return Ok(None);
        }
        Ok(Log::new(self.rows).at(at)?.map(|event| event.link))
    }

    /// The rows of those of these objects that are kept.
    ///
    /// # Errors
    /// [`Error`] when a row cannot be read.
    pub fn objects(&self, wanted: &[Hash]) -> Result<Vec<(Hash, Vec<u8>)>, Error> {
        let mut found = Vec::new();
        for hash in wanted {
            if let Some(row) = self.rows.get(OBJECTS, &hash.0)? {
                found.push((*hash, row.to_vec()));
            }
        }
        Ok(found)
    }

    /// A piece of a blob; none when it is not there and nothing in these rows needs it.
    ///
    /// # Errors
    /// [`Error`] when it cannot be read, though it is needed.
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

struct Gathering<'g> {
    shelf: &'g Shelf<'g>,
    page: Page,
    /// The record that is gathered, and its events.
    record: Option<RecordKey>,
    events: Vec<Stamped>,
    bytes: u64,
    /// Each once, though many events name it.
    objects: BTreeMap<[u8; 32], Hash>,
    blobs: BTreeMap<[u8; 32], BlobRef>,
}

impl Gathering<'_> {
    fn add(
        &mut self,
        mut event: Stamped,
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
            self.objects.insert(object.0, object);
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
            match self.shelf.rows.get(OBJECTS, &object.0)? {
                Some(row) => self.page.objects.push((*object, Tag::of(&row))),
                None => self.page.objects_gone += 1,
            }
        }
        self.page.blobs = self.blobs.into_values().collect();
        Ok(self.page)
    }
}

/// The blob that an object's row says it is in.
///
/// # Errors
/// A sentence, when the bytes are no row.
pub fn blob_of_row(row: &[u8]) -> Result<Option<BlobRef>, String> {
    let object = Object::decode(row).ok_or("not the row of an object")?;
    Ok(match object.place {
        objects::Place::Inline(_) => None,
        objects::Place::Blob(blob) => Some(blob),
    })
}
