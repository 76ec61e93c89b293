//! One batch of fjall's journal: its bytes are verified first, then its items are returned.
//!
//! A batch is `Start` (tag 1, item count u32, sequence number u64), its items (tag 2, kind, compression,
//! keyspace u64, key length u16, value length u32, stored length u32, key, value; or tag 4, keyspace u64, for a
//! cleared keyspace) and `End` (tag 3, XXH3 of all item bytes, magic). Numbers are little-endian.
//! The checksum covers only the items; count and sequence number must be checked in other ways.

use super::source::{Source, WINDOW_BYTES};
use std::{collections::BTreeSet, io, ops::Range};
use xxhash_rust::xxh3::Xxh3;

const START: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;
const CLEAR: u8 = 4;
const MAGIC: [u8; 4] = *b"FJL\x03";

pub(super) const START_BYTES: usize = 13;
const ITEM_HEADER_BYTES: usize = 21;
const END_BYTES: usize = 13;
const CLEAR_BYTES: usize = 9;

/// Maximum sequence number. They count batches, so a larger one is a flipped bit (fjall panics at 2^63).
const SEQNO_MAX: u64 = 1 << 56;

/// The effect of an item on its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemKind {
    /// Puts a value.
    Value,
    /// Removes the key.
    Tombstone,
    /// Removes the key, once.
    WeakTombstone,
    /// Clears the whole keyspace; key and value are empty.
    Clear,
}

/// An item of a verified batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalItem<'a> {
    /// fjall's keyspace number.
    pub keyspace: u64,
    /// Effect on the key.
    pub kind: ItemKind,
    /// The key.
    pub key: &'a [u8],
    /// The value; empty for removals.
    pub value: &'a [u8],
}

/// The location of a complete batch, and its header fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchExtent {
    /// Number in the journal's file name.
    pub journal: u64,
    /// Byte range in the file.
    pub range: Range<u64>,
    /// fjall's sequence number.
    pub seqno: u64,
    /// Number of items.
    pub items: u32,
}

/// The reason why bytes are not a complete batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// The file ends inside the batch.
    #[error("the file ends inside the batch")]
    Unfinished,
    /// A tag or field is invalid here.
    #[error("a batch part with an unexpected tag or field")]
    Shape,
    /// The items do not match the checksum after them.
    #[error("the checksum does not match")]
    Checksum,
    /// The sequence number is not greater than the previous ones.
    #[error("the sequence number does not grow")]
    Sequence,
}

/// A verified batch, and whether fjall would use any of it.
pub(super) struct ValidBatch {
    pub(super) end: u64,
    pub(super) seqno: u64,
    pub(super) items: u32,
    /// At least one item belongs to an existing keyspace.
    pub(super) live: bool,
}

/// The result of reading at an offset.
pub(super) enum Read {
    Whole(ValidBatch),
    /// A complete batch with compressed values, which this reader does not support.
    Compressed,
    /// Not a batch; with the number of bytes examined.
    Bad {
        batch_error: BatchError,
        seen_bytes: u64,
    },
}

/// Reads and verifies the batch at `at`, without its items.
pub(super) fn read(source: &mut Source, at: u64, live: &BTreeSet<u64>) -> io::Result<Read> {
    let mut walk = BatchWalk { at, hashed: 0 };
    let mut compressed = false;
    Ok(match walk.batch(source, live, &mut compressed)? {
        Ok(_) if compressed => Read::Compressed,
        Ok(whole) => Read::Whole(whole),
        Err(batch_error) => Read::Bad {
            batch_error,
            seen_bytes: walk.hashed.saturating_add(START_BYTES as u64),
        },
    })
}

struct BatchWalk {
    at: u64,
    hashed: u64,
}

/// The header of a batch part, with its type and the end of its bytes.
enum PartHeader {
    Item {
        keyspace: u64,
        compressed: bool,
        end: u64,
    },
    Clear {
        keyspace: u64,
        end: u64,
    },
    End {
        checksum: u64,
        end: u64,
    },
}

impl BatchWalk {
    fn batch(
        &mut self,
        source: &mut Source,
        live: &BTreeSet<u64>,
        compressed: &mut bool,
    ) -> io::Result<Result<ValidBatch, BatchError>> {
        let Some(head) = source.bytes(self.at, START_BYTES)? else {
            return Ok(Err(BatchError::Unfinished));
        };
        let (count, seqno) = match start(head) {
            Some(start) => start,
            None => return Ok(Err(BatchError::Shape)),
        };
        self.at += START_BYTES as u64;
        let mut hasher = Xxh3::new();
        let mut left = count;
        let mut is_live = false;
        loop {
            let part = match part(source, self.at)? {
                Ok(part) => part,
                Err(batch_error) => return Ok(Err(batch_error)),
            };
            let (keyspace, end) = match part {
                PartHeader::End { checksum, end } if left == 0 => {
                    let whole = ValidBatch {
                        end,
                        seqno,
                        items: count,
                        live: is_live,
                    };
                    return Ok(if hasher.digest() == checksum {
                        Ok(whole)
                    } else {
                        Err(BatchError::Checksum)
                    });
                }
                PartHeader::Item {
                    keyspace,
                    compressed: is_compressed,
                    end,
                } if left > 0 => {
                    *compressed |= is_compressed;
                    (keyspace, end)
                }
                PartHeader::Clear { keyspace, end } if left > 0 => (keyspace, end),
                PartHeader::End { .. } | PartHeader::Item { .. } | PartHeader::Clear { .. } => {
                    return Ok(Err(BatchError::Shape));
                }
            };
            left -= 1;
            is_live |= live.contains(&keyspace);
            source.hash(self.at..end, &mut hasher)?;
            self.hashed += end - self.at;
            self.at = end;
        }
    }
}

/// Parses item count and sequence number of a `Start`; `None` if fjall cannot have written it.
pub(super) fn start(head: &[u8]) -> Option<(u32, u64)> {
    let mut fields = Fields(head);
    let tag = fields.u8()?;
    let count = fields.u32()?;
    let seqno = fields.u64()?;
    (tag == START && count > 0 && seqno < SEQNO_MAX).then_some((count, seqno))
}

fn part(source: &mut Source, at: u64) -> io::Result<Result<PartHeader, BatchError>> {
    let len = source.len();
    let Some(tag) = source
        .bytes(at, 1)?
        .and_then(|bytes| bytes.first().copied())
    else {
        return Ok(Err(BatchError::Unfinished));
    };
    let header_bytes = match tag {
        ITEM => ITEM_HEADER_BYTES,
        END => END_BYTES,
        CLEAR => CLEAR_BYTES,
        _ => return Ok(Err(BatchError::Shape)),
    };
    let Some(header) = source.bytes(at, header_bytes)? else {
        return Ok(Err(BatchError::Unfinished));
    };
    let Some(part) = header_of(tag, header, at + header_bytes as u64) else {
        return Ok(Err(BatchError::Shape));
    };
    let (PartHeader::Item { end, .. }
    | PartHeader::Clear { end, .. }
    | PartHeader::End { end, .. }) = part;
    Ok(if end <= len {
        Ok(part)
    } else {
        Err(BatchError::Unfinished)
    })
}

fn header_of(tag: u8, header: &[u8], end: u64) -> Option<PartHeader> {
    let mut fields = Fields(header.get(1..)?);
    match tag {
        ITEM => {
            kind_of(fields.u8()?)?;
            let compressed = match fields.u8()? {
                0 => false,
                1 => true,
                _ => return None,
            };
            let keyspace = fields.u64()?;
            let key_bytes = fields.u16()?;
            let value_bytes = fields.u32()?;
            let stored_bytes = fields.u32()?;
            // Only these two fields state the value's length, so they must agree.
            if !compressed && value_bytes != stored_bytes {
                return None;
            }
            Some(PartHeader::Item {
                keyspace,
                compressed,
                end: end + u64::from(key_bytes) + u64::from(stored_bytes),
            })
        }
        CLEAR => Some(PartHeader::Clear {
            keyspace: fields.u64()?,
            end,
        }),
        _ => {
            let checksum = fields.u64()?;
            (fields.0 == MAGIC).then_some(PartHeader::End { checksum, end })
        }
    }
}

/// Visits the items of a batch that [`read`] verified, with one item in memory at a time.
///
/// # Errors
/// I/O; [`io::ErrorKind::InvalidData`] when the file has changed after the verification.
pub(super) fn items(
    source: &mut Source,
    range: Range<u64>,
    buffer: &mut Vec<u8>,
    visit: &mut dyn FnMut(&JournalItem<'_>),
) -> io::Result<()> {
    let mut at = range.start + START_BYTES as u64;
    while at < range.end {
        let part = part(source, at)?.map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        match part {
            PartHeader::End { .. } => return Ok(()),
            PartHeader::Clear { keyspace, end } => {
                visit(&JournalItem {
                    keyspace,
                    kind: ItemKind::Clear,
                    key: &[],
                    value: &[],
                });
                at = end;
            }
            PartHeader::Item { end, .. } => {
                let held = usize::try_from(end - at)
                    .ok()
                    .filter(|count| *count <= WINDOW_BYTES);
                let bytes = match held {
                    // Small items are read from the window; a system call for each would take most of the time.
                    Some(count) => source.bytes(at, count)?.unwrap_or_default(),
                    None => {
                        source.copy(at..end, buffer)?;
                        buffer.as_slice()
                    }
                };
                visit(&item_of(bytes).ok_or(io::ErrorKind::InvalidData)?);
                at = end;
            }
        }
    }
    Ok(())
}

fn item_of(bytes: &[u8]) -> Option<JournalItem<'_>> {
    let mut fields = Fields(bytes.get(1..)?);
    let kind = kind_of(fields.u8()?)?;
    fields.u8()?;
    let keyspace = fields.u64()?;
    let key_bytes = fields.u16()?;
    fields.u32()?;
    fields.u32()?;
    let (key, value) = fields.0.split_at_checked(usize::from(key_bytes))?;
    Some(JournalItem {
        keyspace,
        kind,
        key,
        value,
    })
}

fn kind_of(byte: u8) -> Option<ItemKind> {
    match byte {
        0 => Some(ItemKind::Value),
        1 => Some(ItemKind::Tombstone),
        2 => Some(ItemKind::WeakTombstone),
        // 4 is an indirection into a blob file, which never occurs in a journal.
        _ => None,
    }
}

/// A reader of little-endian fields at the front of a slice.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take::<1>().map(u8::from_le_bytes)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }
}
