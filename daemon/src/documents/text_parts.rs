//! Locations of a document's parts, packed in 20 bytes each, because the row of a long document has thousands
//! of parts and is rewritten for each new one.

use serde::{Deserialize, Serialize};

use crate::log::{Position, RecordKey};

/// Bytes of a packed part: position and record (u64), first chunk (u32), big-endian.
const PART_BYTES: usize = 20;

/// The location of a part of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartRow {
    /// Position of its event.
    pub position: u64,
    /// Record that contains the event.
    pub record: u64,
    /// Number of the part's first chunk.
    pub first_chunk: u32,
}

impl PartRow {
    /// Returns the location of its event.
    #[must_use]
    pub fn place(&self) -> (RecordKey, Position) {
        (RecordKey(Position(self.record)), Position(self.position))
    }

    fn unpacked(bytes: &[u8; PART_BYTES]) -> Self {
        let split = bytes.split_last_chunk::<4>();
        let (numbers, first_chunk) = split.unwrap_or((&[], &[0; 4]));
        let mut numbers = numbers.as_chunks().0.iter();
        let mut next = || numbers.next().copied().map_or(0, u64::from_be_bytes);
        Self {
            position: next(),
            record: next(),
            first_chunk: u32::from_be_bytes(*first_chunk),
        }
    }
}

/// The parts of a document, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Parts(#[serde(with = "serde_bytes")] Vec<u8>);

impl Parts {
    /// Appends a part.
    pub fn push(&mut self, part: PartRow) {
        self.0.extend(part.position.to_be_bytes());
        self.0.extend(part.record.to_be_bytes());
        self.0.extend(part.first_chunk.to_be_bytes());
    }

    /// Iterates over all parts.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = PartRow> + ExactSizeIterator {
        self.0.as_chunks().0.iter().map(PartRow::unpacked)
    }

    /// Returns the part that contains a chunk, by the chunk's number in the document.
    #[must_use]
    pub fn of_chunk(&self, chunk: u32) -> Option<PartRow> {
        let parts = self.0.as_chunks().0;
        let behind = parts.partition_point(|part| PartRow::unpacked(part).first_chunk <= chunk);
        let part = parts.get(behind.checked_sub(1)?)?;
        Some(PartRow::unpacked(part))
    }
}

impl FromIterator<PartRow> for Parts {
    fn from_iter<I: IntoIterator<Item = PartRow>>(parts: I) -> Self {
        let mut all = Self::default();
        parts.into_iter().for_each(|part| all.push(part));
        all
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::log::codec;

    proptest! {
        /// Parts survive packing and a round trip through a row. A chunk is in the last part that begins at or
        /// before it.
        #[test]
        fn parts_are_kept(
            sizes in prop::collection::vec((any::<u64>(), any::<u64>(), 1..9_u32), 0..40),
            chunk in 0..200_u32,
        ) {
            let mut next = 0;
            let parts = sizes.into_iter().map(|(position, record, chunks)| {
                let first_chunk = next;
                next += chunks;
                PartRow { position, record, first_chunk }
            });
            let parts: Vec<PartRow> = parts.collect();
            let packed: Parts = parts.iter().copied().collect();
            let read: Parts = codec::decode(&codec::encode(&packed)).unwrap();
            prop_assert_eq!(read.iter().collect::<Vec<_>>(), &parts[..]);
            let holds = parts.iter().rfind(|part| part.first_chunk <= chunk).copied();
            prop_assert_eq!(packed.of_chunk(chunk), holds);
        }

        /// Trailing bytes of an incomplete part are ignored, without a panic.
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let parts = Parts(bytes);
            prop_assert_eq!(parts.iter().len(), parts.0.len() / PART_BYTES);
            let _ = parts.of_chunk(7);
        }
    }
}
