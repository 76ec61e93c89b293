//! The durable head: how far the log was known to be synced, kept in a small file outside the store's folder.
//!
//! fjall cannot say that it lost the end of its journal; this file can. It has two slots ([`super::slots`]), written in
//! turn after each synced group.
//!
//! A slot is 96 bytes, little-endian: magic (8), format version u32, zero u32, store id (16), sequence u64,
//! position u64, link (32), zero u64, XXH3 of the 88 bytes before it.

use std::os::unix::fs::FileExt;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

pub use super::slots::Error;
use super::slots::{SLOT_DISTANCE, Slot, SlotFile, SlotFormat, options};

const MAGIC: [u8; 8] = *b"lorehead";
const VERSION: u32 = 1;
const SLOT_BYTES: usize = 96;
const SUMMED_BYTES: usize = 88;
const STORE_ID_OFFSET: u64 = 16;

/// The durable end of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DurableHead {
    /// Last synced position; 0 before the first event.
    pub position: u64,
    /// Chain link at that position.
    pub link: [u8; 32],
}

/// An open watermark file.
#[derive(Debug)]
pub struct WatermarkFile(SlotFile<OfStore>);

/// The slots of one store's watermark.
#[derive(Debug)]
struct OfStore([u8; 16]);

impl WatermarkFile {
    /// Creates or replaces the file, durably.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn create(path: &Path, store_id: [u8; 16], head: DurableHead) -> Result<Self, Error> {
        SlotFile::create(path, OfStore(store_id), head).map(Self)
    }

    /// Opens the file of a store and reads its newest valid slot.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::Broken`], [`Error::Foreign`], [`Error::Newer`] or [`Error::Io`].
    pub fn open(path: &Path, store_id: [u8; 16]) -> Result<(Self, DurableHead), Error> {
        SlotFile::open(path, OfStore(store_id)).map(|(file, head)| (Self(file), head))
    }

    /// Reads the newest good slot of a file.
    ///
    /// # Errors
    /// As [`WatermarkFile::open`].
    pub fn read(path: &Path, store_id: [u8; 16]) -> Result<DurableHead, Error> {
        Self::open(path, store_id).map(|(_, head)| head)
    }

    /// Reads the newest good slot of a file, whichever store it belongs to: what is known of a store
    /// that has gone.
    ///
    /// # Errors
    /// As [`WatermarkFile::open`], but for [`Error::Foreign`].
    pub fn peek(path: &Path) -> Result<DurableHead, Error> {
        let mut id = [0; 16];
        let io = |source| Error::Io {
            what: OfStore::WHAT,
            path: path.to_path_buf(),
            source,
        };
        let file = options().open(path).map_err(io)?;
        for slot in [0, SLOT_DISTANCE] {
            file.read_exact_at(&mut id, slot + STORE_ID_OFFSET)
                .map_err(io)?;
            if let Ok(head) = Self::read(path, id) {
                return Ok(head);
            }
        }
        Err(Error::Broken {
            what: OfStore::WHAT,
            path: path.to_path_buf(),
        })
    }

    /// Writes the head into the slot that is not the newest. Not durable before [`WatermarkFile::sync`], but it survives
    /// the end of the process.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn record(&mut self, head: DurableHead) -> Result<(), Error> {
        self.0.record(head)
    }

    /// Makes the recorded watermark durable.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn sync(&self) -> Result<(), Error> {
        self.0.sync()
    }
}

impl SlotFormat for OfStore {
    type Value = DurableHead;
    const WHAT: &'static str = "head file";
    const BYTES: usize = SLOT_BYTES;

    fn encode(&self, sequence: u64, head: DurableHead) -> Vec<u8> {
        encode(self.0, sequence, head)
    }

    fn decode(&self, bytes: &[u8]) -> Slot<DurableHead> {
        decode(bytes, self.0).unwrap_or(Slot::Bad)
    }
}

fn encode(store_id: [u8; 16], sequence: u64, head: DurableHead) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(SLOT_BYTES);
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(0_u32.to_le_bytes());
    bytes.extend(store_id);
    bytes.extend(sequence.to_le_bytes());
    bytes.extend(head.position.to_le_bytes());
    bytes.extend(head.link);
    bytes.extend(0_u64.to_le_bytes());
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    bytes
}

/// Decodes a slot; `None` when it is damaged.
fn decode(bytes: &[u8], store_id: [u8; 16]) -> Option<Slot<DurableHead>> {
    let (magic, rest) = bytes.split_first_chunk::<8>()?;
    let (version, rest) = rest.split_first_chunk::<4>()?;
    let (_, rest) = rest.split_first_chunk::<4>()?;
    let (id, rest) = rest.split_first_chunk::<16>()?;
    let (sequence, rest) = rest.split_first_chunk::<8>()?;
    let (position, rest) = rest.split_first_chunk::<8>()?;
    let (link, _) = rest.split_first_chunk::<32>()?;
    let (summed, sum) = bytes.split_first_chunk::<SUMMED_BYTES>()?;
    let is_whole = sum == xxh3_64(summed).to_le_bytes();
    let version = u32::from_le_bytes(*version);
    // The checksum's place in newer formats is unknown, so a flipped version bit also looks newer. Then the other slot
    // is used, or nothing is written.
    if *magic == MAGIC && version > VERSION {
        return Some(Slot::Newer(version));
    }
    if *magic != MAGIC || !is_whole || version != VERSION {
        return None;
    }
    if *id != store_id {
        return Some(Slot::Foreign);
    }
    Some(Slot::Good {
        sequence: u64::from_le_bytes(*sequence),
        value: DurableHead {
            position: u64::from_le_bytes(*position),
            link: *link,
        },
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]

    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    use super::*;

    const ID: [u8; 16] = [7; 16];

    fn watermark(position: u64) -> DurableHead {
        DurableHead {
            position,
            link: [position as u8; 32],
        }
    }

    fn written(folder: &Path, positions: std::ops::RangeInclusive<u64>) -> PathBuf {
        let path = folder.join("head");
        let mut file = WatermarkFile::create(&path, ID, watermark(0)).unwrap();
        for position in positions {
            file.record(watermark(position)).unwrap();
        }
        file.sync().unwrap();
        path
    }

    /// The last recorded watermark is read, also after reopening, and only the owner can read the file.
    #[test]
    fn the_newest_slot_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path(), 1..=5);
        assert_eq!(WatermarkFile::read(&path, ID).unwrap(), watermark(5));
        for position in 6..=9 {
            let (mut file, before) = WatermarkFile::open(&path, ID).unwrap();
            assert_eq!(before, watermark(position - 1));
            file.record(watermark(position)).unwrap();
        }
        assert_eq!(WatermarkFile::read(&path, ID).unwrap(), watermark(9));
        assert_eq!(
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        WatermarkFile::create(&path, ID, watermark(3)).unwrap();
        assert_eq!(WatermarkFile::read(&path, ID).unwrap(), watermark(3));
    }

    /// Any flipped bit leaves the newest watermark or the previous one, never anything else.
    #[test]
    fn a_flipped_bit_costs_one_slot() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path(), 1..=4);
        let whole = std::fs::read(&path).unwrap();
        let in_slot = |byte: &usize| *byte < SLOT_BYTES || *byte as u64 >= SLOT_DISTANCE;
        for byte in (0..whole.len()).filter(|byte| in_slot(byte) || byte % 97 == 0) {
            for bit in 0..8 {
                let mut bytes = whole.clone();
                bytes[byte] ^= 1 << bit;
                std::fs::write(&path, bytes).unwrap();
                let (mut file, read) = WatermarkFile::open(&path, ID).unwrap();
                assert!(
                    read == watermark(4) || read == watermark(3),
                    "byte {byte} bit {bit}: {read:?}"
                );
                file.record(watermark(5)).unwrap();
                assert_eq!(WatermarkFile::read(&path, ID).unwrap(), watermark(5));
            }
        }
    }

    /// A torn write of the newest slot, at every length, leaves the previous one.
    #[test]
    fn a_torn_write_leaves_the_other_slot() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path(), 1..=4);
        let whole = std::fs::read(&path).unwrap();
        let new = encode(ID, 6, watermark(5));
        let (_, newest) = WatermarkFile::open(&path, ID).unwrap();
        assert_eq!(newest, watermark(4));
        for cut in 0..=SLOT_BYTES {
            let mut bytes = whole.clone();
            // Six slots were written, two of them at creation: the next one is the first.
            bytes[..cut].copy_from_slice(&new[..cut]);
            std::fs::write(&path, bytes).unwrap();
            let read = WatermarkFile::read(&path, ID).unwrap();
            assert!(
                read == watermark(4) || cut == SLOT_BYTES && read == watermark(5),
                "cut {cut}: {read:?}"
            );
        }
    }

    /// Each error has a separate variant.
    #[test]
    fn every_kind_of_damage_has_its_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path(), 1..=2);
        let whole = std::fs::read(&path).unwrap();
        assert!(matches!(
            WatermarkFile::read(&folder.path().join("none"), ID),
            Err(Error::Missing { .. })
        ));
        assert!(matches!(
            WatermarkFile::read(&path, [8; 16]),
            Err(Error::Foreign { .. })
        ));
        for len in [0, 1, SLOT_BYTES - 1] {
            std::fs::write(&path, &whole[..len]).unwrap();
            assert!(
                matches!(WatermarkFile::read(&path, ID), Err(Error::Broken { .. })),
                "length {len}"
            );
        }
        std::fs::write(&path, vec![0; whole.len()]).unwrap();
        assert!(matches!(
            WatermarkFile::read(&path, ID),
            Err(Error::Broken { .. })
        ));
        let mut newer = whole.clone();
        newer[8] = 2;
        newer[SLOT_DISTANCE as usize + 8] = 2;
        std::fs::write(&path, &newer).unwrap();
        assert!(matches!(
            WatermarkFile::read(&path, ID),
            Err(Error::Newer { version: 2, .. })
        ));
        let target = folder.path().join("target");
        std::fs::write(&target, &whole).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&target, &path).unwrap();
        assert!(matches!(
            WatermarkFile::read(&path, ID),
            Err(Error::Io { .. })
        ));
    }

    /// A killed creation leaves a temporary file that the next one replaces.
    #[test]
    fn a_left_over_creation_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".head.creating"), b"half").unwrap();
        let path = written(folder.path(), 1..=1);
        assert_eq!(WatermarkFile::read(&path, ID).unwrap(), watermark(1));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
