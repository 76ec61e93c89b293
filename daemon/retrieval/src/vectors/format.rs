//! The file format of a segment: a header that describes its contents, then blocks, each complete or absent.
//!
//! A block has a head of [`HEAD`] bytes, a table (keys, then scales) and the rows. Head, table and rows have
//! separate checksums, so that opening a segment reads no rows. All numbers are little-endian.

use xxhash_rust::xxh3::xxh3_64;

use super::{Generation, MAX_DIMENSION, MAX_MODEL};

/// Length of a segment's header, in bytes.
pub(super) const HEADER: usize = 128;
/// Length of a block's head, in bytes.
pub(super) const HEAD: usize = 48;
/// Limit on the rows or keys of a block.
pub(super) const MAX_BLOCK: usize = 1024;
/// Length of a row's key and scale in the table, in bytes.
const TABLE_ROW: usize = 12;

const SEGMENT_MAGIC: &[u8; 8] = b"LOREVEC1";
const BLOCK_MAGIC: u32 = u32::from_le_bytes(*b"VBLK");

/// Encodes a segment's header; `None` if the generation exceeds the limits.
pub(super) fn header(generation: &Generation) -> Option<[u8; HEADER]> {
    let model = generation.model.as_bytes();
    if model.len() > MAX_MODEL || !(1..=MAX_DIMENSION).contains(&generation.dimension) {
        return None;
    }
    let mut bytes = Vec::with_capacity(HEADER);
    bytes.extend_from_slice(SEGMENT_MAGIC);
    bytes.extend_from_slice(&u32::try_from(generation.dimension).ok()?.to_le_bytes());
    bytes.extend_from_slice(&u32::try_from(model.len()).ok()?.to_le_bytes());
    bytes.extend_from_slice(&generation.number.to_le_bytes());
    bytes.extend_from_slice(model);
    bytes.resize(HEADER - 8, 0);
    bytes.extend_from_slice(&xxh3_64(&bytes).to_le_bytes());
    bytes.try_into().ok()
}

/// Decodes a header; `None` if it is damaged.
pub(super) fn read_header(bytes: &[u8; HEADER]) -> Option<Generation> {
    let mut reader = Reader::checked(bytes)?;
    if reader.take::<8>()? != *SEGMENT_MAGIC {
        return None;
    }
    let dimension = usize::try_from(reader.u32()?).ok()?;
    let length = usize::try_from(reader.u32()?)
        .ok()
        .filter(|length| *length <= MAX_MODEL)?;
    let number = reader.u64()?;
    let model = str::from_utf8(reader.0.get(..length)?).ok()?.to_owned();
    (1..=MAX_DIMENSION)
        .contains(&dimension)
        .then_some(Generation {
            model,
            dimension,
            number,
        })
}

/// Content of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// New rows, which replace earlier rows of the same keys.
    Rows,
    /// Keys whose rows are deleted.
    Deletions,
}

/// The head of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockHeader {
    pub kind: Kind,
    /// Number of rows or keys, at most [`MAX_BLOCK`].
    pub count: usize,
    /// Log position up to which events are applied, including this block.
    pub position: u64,
    pub table_hash: u64,
    pub rows_hash: u64,
}

impl BlockHeader {
    pub fn write(&self) -> Option<[u8; HEAD]> {
        let mut bytes = Vec::with_capacity(HEAD);
        let kind = match self.kind {
            Kind::Rows => 1u32,
            Kind::Deletions => 2,
        };
        bytes.extend_from_slice(&BLOCK_MAGIC.to_le_bytes());
        bytes.extend_from_slice(&kind.to_le_bytes());
        bytes.extend_from_slice(&u64::try_from(self.count).ok()?.to_le_bytes());
        for number in [self.position, self.table_hash, self.rows_hash] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&xxh3_64(&bytes).to_le_bytes());
        bytes.try_into().ok()
    }

    pub fn read(bytes: &[u8; HEAD]) -> Option<Self> {
        let mut reader = Reader::checked(bytes)?;
        if reader.u32()? != BLOCK_MAGIC {
            return None;
        }
        let kind = match reader.u32()? {
            1 => Kind::Rows,
            2 => Kind::Deletions,
            _ => return None,
        };
        let count = usize::try_from(reader.u64()?)
            .ok()
            .filter(|count| *count <= MAX_BLOCK)?;
        Some(Self {
            kind,
            count,
            position: reader.u64()?,
            table_hash: reader.u64()?,
            rows_hash: reader.u64()?,
        })
    }

    /// Returns the length of the table, in bytes.
    pub fn table(&self) -> usize {
        match self.kind {
            Kind::Rows => self.count * TABLE_ROW,
            Kind::Deletions => self.count * 8,
        }
    }

    /// Returns the length of the rows, in bytes.
    pub fn rows(&self, dimension: usize) -> usize {
        match self.kind {
            Kind::Rows => self.count * dimension,
            Kind::Deletions => 0,
        }
    }
}

/// Encodes a block of rows.
pub(super) fn rows_block(
    keys: &[u64],
    scales: &[f32],
    rows: &[u8],
    position: u64,
) -> Option<Vec<u8>> {
    let mut table: Vec<u8> = keys.iter().flat_map(|key| key.to_le_bytes()).collect();
    table.extend(scales.iter().flat_map(|scale| scale.to_le_bytes()));
    block(Kind::Rows, keys.len(), &table, rows, position)
}

/// Encodes a block of deletions.
pub(super) fn deletions_block(keys: &[u64], position: u64) -> Option<Vec<u8>> {
    let table: Vec<u8> = keys.iter().flat_map(|key| key.to_le_bytes()).collect();
    block(Kind::Deletions, keys.len(), &table, &[], position)
}

fn block(kind: Kind, count: usize, table: &[u8], rows: &[u8], position: u64) -> Option<Vec<u8>> {
    let head = BlockHeader {
        kind,
        count,
        position,
        table_hash: xxh3_64(table),
        rows_hash: xxh3_64(rows),
    };
    Some([&head.write()?, table, rows].concat())
}

/// Decodes the keys of a table and, in a block of rows, its scales.
pub(super) fn read_table(head: &BlockHeader, table: &[u8]) -> Option<(Vec<u64>, Vec<f32>)> {
    if xxh3_64(table) != head.table_hash {
        return None;
    }
    let (keys, scales) = table.split_at_checked(head.count * 8)?;
    let keys = keys
        .as_chunks::<8>()
        .0
        .iter()
        .map(|bytes| u64::from_le_bytes(*bytes))
        .collect();
    let scales: Vec<f32> = scales
        .as_chunks::<4>()
        .0
        .iter()
        .map(|bytes| f32::from_le_bytes(*bytes))
        .collect();
    scales
        .iter()
        .all(|scale| scale.is_finite())
        .then_some((keys, scales))
}

/// Reads numbers from the front of a slice.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Checks the hash in the last eight bytes, and reads the bytes before it.
    fn checked(bytes: &'a [u8]) -> Option<Self> {
        let (body, hash) = bytes.split_last_chunk::<8>()?;
        (xxh3_64(body) == u64::from_le_bytes(*hash)).then_some(Self(body))
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }
}
