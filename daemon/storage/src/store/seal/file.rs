//! The file with the newest seal of a store, outside of its data folder.
//!
//! It has two slots ([`super::super::slots`]) of 192 bytes, little-endian: magic (8), format version u32, origin u32,
//! store id (16), sequence u64, position u64, link (32), position of the newest forgetting u64, first sealed position
//! u64, position of the origin u64, time of the origin u64 (microseconds since 1970), place (16), 32 zeros, and an
//! HMAC-SHA-256 of everything before it (32).

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::super::StoreId;
use super::super::creation::sync_above;
use super::super::slots::{self, Slot, SlotFile, SlotFormat};
use super::key::{SealKey, private_folder};
use super::newest::Seal;
use crate::clock::Micros;

/// The reason why a seal cannot be read.
pub type SealFileError = slots::Error;

const MAGIC: [u8; 8] = *b"loreseal";
const VERSION: u32 = 1;
const CODE_BYTES: usize = 32;
const CODED_BYTES: usize = 160;
const SLOT_BYTES: usize = CODED_BYTES + CODE_BYTES;

/// How a log came to be what it is at its [`SealedEnd::origin_position`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It began here, empty.
    Created,
    /// A release without seals wrote it up to there.
    Adopted,
    /// A backup was restored up to there.
    Restored,
    /// A person accepted it as it was, with `lored repair --accept`.
    Accepted,
}

const ORIGINS: [Origin; 4] = [
    Origin::Created,
    Origin::Adopted,
    Origin::Restored,
    Origin::Accepted,
];

/// What is recorded about the end of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealedEnd {
    /// Last durable position.
    pub position: u64,
    /// Chain link at that position.
    pub link: [u8; 32],
    /// Position of the newest event that forgot something; 0 if nothing was forgotten. An older copy of the log would
    /// bring it back.
    pub forgotten: u64,
    /// First position at which every event has a code.
    pub from: u64,
    /// How the log came to be what it was at [`Self::origin_position`].
    pub origin: Origin,
    /// End of the log at that moment.
    pub origin_position: u64,
    /// The moment, in microseconds since 1970.
    pub origin_time: Micros,
    /// Where the data folder is, as [`place`] returns it.
    pub place: [u8; 16],
}

/// Returns a mark of a data folder's path.
#[must_use]
pub fn place(data: &Path) -> [u8; 16] {
    let digest: [u8; 32] = Sha256::digest(data.as_os_str().as_encoded_bytes()).into();
    let mut mark = [0; 16];
    mark.iter_mut()
        .zip(digest)
        .for_each(|(to, from)| *to = from);
    mark
}

/// An open seal file.
#[derive(Debug)]
pub struct SealFile {
    slots: SlotFile<Coded>,
    end: SealedEnd,
}

#[derive(Debug)]
struct Coded {
    key: SealKey,
    store: StoreId,
}

impl SealFile {
    /// Returns the path of a store's seal in the folder of seals.
    #[must_use]
    pub fn path(folder: &Path, store: StoreId) -> PathBuf {
        folder.join(store.to_string())
    }

    /// Creates or replaces the seal of a store, durably.
    ///
    /// # Errors
    /// [`SealFileError::Io`].
    pub fn create(
        folder: &Path,
        key: &SealKey,
        store: StoreId,
        end: SealedEnd,
    ) -> Result<Self, SealFileError> {
        let format = Coded {
            key: key.clone(),
            store,
        };
        let path = Self::path(folder, store);
        let io = |source| SealFileError::Io {
            what: Coded::WHAT,
            path: path.clone(),
            source,
        };
        private_folder(folder).map_err(io)?;
        let slots = SlotFile::create(&path, format, end)?;
        // The folders may be as new as the seal.
        sync_above(folder).map_err(io)?;
        Ok(Self { slots, end })
    }

    /// Opens the seal of a store and reads its newest valid slot.
    ///
    /// # Errors
    /// [`SealFileError`]; a slot whose code this key did not make is damaged.
    pub fn open(folder: &Path, key: &SealKey, store: StoreId) -> Result<Self, SealFileError> {
        let format = Coded {
            key: key.clone(),
            store,
        };
        let (slots, end) = SlotFile::open(&Self::path(folder, store), format)?;
        Ok(Self { slots, end })
    }

    /// Finds the store whose seal names this place: it was in that data folder last.
    #[must_use]
    pub fn store_at(folder: &Path, key: &SealKey, place: [u8; 16]) -> Option<StoreId> {
        let entries = std::fs::read_dir(folder).ok()?;
        entries
            .flatten()
            .filter_map(|entry| StoreId::parse(entry.file_name().to_str()?))
            .find(|store| Self::open(folder, key, *store).is_ok_and(|file| file.end.place == place))
    }

    /// Returns the recorded end.
    #[must_use]
    pub fn end(&self) -> SealedEnd {
        self.end
    }

    /// Records a new end. Not durable before [`Self::sync`], but it survives the end of the process.
    ///
    /// # Errors
    /// [`SealFileError::Io`].
    pub fn record(
        &mut self,
        position: u64,
        link: [u8; 32],
        forgotten: u64,
    ) -> Result<(), SealFileError> {
        self.end = SealedEnd {
            position,
            link,
            forgotten: forgotten.max(self.end.forgotten),
            ..self.end
        };
        self.slots.record(self.end)
    }

    /// Returns whether the file holds the recorded end.
    #[must_use]
    pub fn is_there(&self) -> bool {
        let (folder, format) = (self.slots.folder(), self.slots.format());
        let read = Self::open(folder, &format.key, format.store);
        read.is_ok_and(|read| read.end == self.end)
    }

    /// Writes the file again, because another program has changed or removed it.
    ///
    /// # Errors
    /// [`SealFileError::Io`].
    pub fn write_again(&mut self) -> Result<(), SealFileError> {
        let (folder, format) = (self.slots.folder(), self.slots.format());
        *self = Self::create(folder, &format.key, format.store, self.end)?;
        Ok(())
    }

    /// Makes the recorded end durable.
    ///
    /// # Errors
    /// [`SealFileError::Io`].
    pub fn sync(&self) -> Result<(), SealFileError> {
        self.slots.sync()
    }
}

impl SealedEnd {
    /// Returns the seal of this end, for people.
    #[must_use]
    pub fn seal(&self, key: &SealKey, store: StoreId) -> Seal {
        Seal::of(key, store, self.position, self.link)
    }
}

impl SlotFormat for Coded {
    type Value = SealedEnd;
    const WHAT: &'static str = "seal";
    const BYTES: usize = SLOT_BYTES;

    fn encode(&self, sequence: u64, end: SealedEnd) -> Vec<u8> {
        let origin = ORIGINS.iter().position(|one| *one == end.origin);
        let mut bytes = Vec::with_capacity(SLOT_BYTES);
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((origin.unwrap_or_default() as u32).to_le_bytes());
        bytes.extend(self.store.0);
        bytes.extend(sequence.to_le_bytes());
        bytes.extend(end.position.to_le_bytes());
        bytes.extend(end.link);
        for number in [
            end.forgotten,
            end.from,
            end.origin_position,
            end.origin_time,
        ] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(end.place);
        bytes.resize(CODED_BYTES, 0);
        bytes.extend(self.key.code(&[b"lore seal file\0", &bytes]));
        bytes
    }

    fn decode(&self, bytes: &[u8]) -> Slot<SealedEnd> {
        self.decoded(bytes).unwrap_or(Slot::Bad)
    }
}

impl Coded {
    /// Decodes a slot; `None` when it is damaged.
    fn decoded(&self, bytes: &[u8]) -> Option<Slot<SealedEnd>> {
        let (coded, code) = bytes.split_at_checked(CODED_BYTES)?;
        let (magic, rest) = coded.split_first_chunk::<8>()?;
        let (version, rest) = rest.split_first_chunk::<4>()?;
        let version = u32::from_le_bytes(*version);
        if *magic == MAGIC && version > VERSION {
            return Some(Slot::Newer(version));
        }
        if *magic != MAGIC || version != VERSION {
            return None;
        }
        let (origin, rest) = rest.split_first_chunk::<4>()?;
        let (store, rest) = rest.split_first_chunk::<16>()?;
        let (sequence, rest) = number(rest)?;
        let (position, rest) = number(rest)?;
        let (link, rest) = rest.split_first_chunk::<32>()?;
        let (forgotten, rest) = number(rest)?;
        let (from, rest) = number(rest)?;
        let (origin_position, rest) = number(rest)?;
        let (origin_time, rest) = number(rest)?;
        let (place, _) = rest.split_first_chunk::<16>()?;
        if self.key.code(&[b"lore seal file\0", coded]) != *code {
            return None;
        }
        if *store != self.store.0 {
            return Some(Slot::Foreign);
        }
        Some(Slot::Good {
            sequence,
            value: SealedEnd {
                position,
                link: *link,
                forgotten,
                from,
                origin: *ORIGINS.get(u32::from_le_bytes(*origin) as usize)?,
                origin_position,
                origin_time,
                place: *place,
            },
        })
    }
}

fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (number, rest) = bytes.split_first_chunk::<8>()?;
    Some((u64::from_le_bytes(*number), rest))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    const ID: StoreId = StoreId([7; 16]);

    fn key() -> SealKey {
        SealKey::new([1; 32])
    }

    fn end(position: u64) -> SealedEnd {
        SealedEnd {
            position,
            link: [position as u8; 32],
            forgotten: 2,
            from: 1,
            origin: Origin::Restored,
            origin_position: 3,
            origin_time: 4,
            place: place(Path::new("/data")),
        }
    }

    /// The newest end is read; a forgetting is never recorded as older; a place leads to its store.
    #[test]
    fn the_newest_end_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = SealFile::create(folder.path(), &key(), ID, end(5)).unwrap();
        file.record(6, [6; 32], 1).unwrap();
        file.sync().unwrap();
        let read = SealFile::open(folder.path(), &key(), ID).unwrap();
        assert_eq!(read.end(), end(6));
        let found = |path: &str| SealFile::store_at(folder.path(), &key(), place(Path::new(path)));
        assert_eq!(found("/data"), Some(ID));
        assert_eq!(found("/other"), None);
        let seal = read.end().seal(&key(), ID);
        assert!(seal.is_made_with(&key()) && seal.position == 6);
    }

    /// Every flipped bit costs one slot at most, and nothing but this key makes a slot.
    #[test]
    fn only_the_key_makes_a_seal() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = SealFile::create(folder.path(), &key(), ID, end(5)).unwrap();
        file.record(6, [6; 32], 2).unwrap();
        let path = SealFile::path(folder.path(), ID);
        let whole = std::fs::read(&path).unwrap();
        let second = slots::SLOT_DISTANCE as usize;
        for byte in (0..SLOT_BYTES).chain(second..whole.len()) {
            let mut bytes = whole.clone();
            bytes[byte] ^= 4;
            std::fs::write(&path, &bytes).unwrap();
            let read = SealFile::open(folder.path(), &key(), ID).unwrap().end();
            assert!(read == end(6) || read == end(5), "byte {byte}: {read:?}");
        }
        std::fs::write(&path, &whole).unwrap();
        let other = SealFile::open(folder.path(), &SealKey::new([2; 32]), ID);
        assert!(matches!(other, Err(SealFileError::Broken { .. })));
        let moved = SealFile::path(folder.path(), StoreId([8; 16]));
        std::fs::rename(&path, moved).unwrap();
        let other = SealFile::open(folder.path(), &key(), StoreId([8; 16]));
        assert!(matches!(other, Err(SealFileError::Foreign { .. })));
        let gone = SealFile::open(folder.path(), &key(), ID);
        assert!(matches!(gone, Err(SealFileError::Missing { .. })));
    }
}
