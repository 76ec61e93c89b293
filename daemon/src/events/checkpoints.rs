//! Events of checkpoints: saves, deletions, and critical marks of context keys.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_bytes::ByteArray;

use super::Event;
use crate::log::objects::Object;
use crate::log::{Hash, LoggedEvent};
use crate::store::Error;

pub use super::CheckpointEvent;

/// The ID of a checkpoint: 128 random bits, written as a UUID of version 4 (RFC 9562).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CheckpointKey(ByteArray<16>);

impl CheckpointKey {
    /// Creates a key from random bytes.
    #[must_use]
    pub fn of(mut random: [u8; 16]) -> Self {
        let [.., version, _, variant, _, _, _, _, _, _, _] = &mut random;
        *version = *version & 0x0f | 0x40;
        *variant = *variant & 0x3f | 0x80;
        Self(ByteArray::new(random))
    }

    /// Returns the bytes, as stored in rows.
    #[must_use]
    pub fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Reads the key from a row.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        <[u8; 16]>::try_from(bytes)
            .ok()
            .map(|bytes| Self(ByteArray::new(bytes)))
    }

    /// Parses the text of an ID; `None` when it is not a valid checkpoint ID.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        const DASHES: [usize; 4] = [8, 13, 18, 23];
        if text.len() != 36 {
            return None;
        }
        let mut digits = Vec::with_capacity(32);
        for (at, character) in text.chars().enumerate() {
            match (DASHES.contains(&at), character) {
                (true, '-') => {}
                (false, digit) => digits.push(digit.to_digit(16)?),
                (true, _) => return None,
            }
        }
        let pair = |pair: &[u32]| match pair {
            [high, low] => u8::try_from(high << 4 | low).ok(),
            _ => None,
        };
        let bytes: Option<Vec<u8>> = digits.chunks(2).map(pair).collect();
        Self::from_bytes(&bytes?)
    }
}

impl fmt::Display for CheckpointKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            if matches!(at, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for CheckpointKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CheckpointKey({self})")
    }
}

/// An object in the delta chain from a value to its keyframe, which is stored whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeltaLink {
    /// SHA-256 of the value.
    pub hash: Hash,
    /// Length of the value, in bytes.
    pub bytes: u64,
    /// Size of the object on disk, in bytes.
    pub stored_bytes: u64,
    /// Size of the deltas against it, as far as this chain knows, in bytes.
    pub spent_bytes: u64,
}

impl DeltaLink {
    /// Creates a link to an object that no delta depends on yet.
    #[must_use]
    pub fn to(hash: Hash, bytes: u64, stored_bytes: u64) -> Self {
        Self {
            hash,
            bytes,
            stored_bytes,
            spent_bytes: 0,
        }
    }
}

/// The stored form of a link: a list, because manifests contain many links.
type StoredLink = (ByteArray<32>, u64, u64, u64);

impl Serialize for DeltaLink {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let hash = ByteArray::new(self.hash.0);
        let stored: StoredLink = (hash, self.bytes, self.stored_bytes, self.spent_bytes);
        stored.serialize(to)
    }
}

impl<'de> Deserialize<'de> for DeltaLink {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let (hash, bytes, stored_bytes, spent_bytes) = StoredLink::deserialize(from)?;
        Ok(Self {
            hash: Hash(hash.into_array()),
            bytes,
            stored_bytes,
            spent_bytes,
        })
    }
}

/// A part of a context: the value of a large key, or one object with all small keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextPart {
    /// The key; absent for the part with all small keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The object, then its delta base, and so on to a keyframe.
    pub chain: Vec<DeltaLink>,
    /// Number of values of this key after the keyframe.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub since: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_no_position(position: &u64) -> bool {
    *position == 0
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl ContextPart {
    /// Returns the hash of the canonical text.
    #[must_use]
    pub fn hash(&self) -> Hash {
        self.chain.first().map(|link| link.hash).unwrap_or_default()
    }
}

/// The manifest of a saved context: everything that folding and loading need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointSaved {
    /// The checkpoint's ID.
    pub checkpoint: CheckpointKey,
    /// SHA-256 of the context's canonical text.
    pub hash: ByteArray<32>,
    /// Size of its objects on disk, shared ones included, in bytes.
    pub stored_bytes: u64,
    /// Size of the objects that this save added, in bytes.
    pub new_bytes: u64,
    /// The checkpoint has a name or tags, so it is never deleted automatically.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_kept: bool,
    /// Context keys that are marked critical in this session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub critical: Vec<String>,
    /// The parts of the context; empty for a context without keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<ContextPart>,
    /// The checkpoint from which this one was forked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<CheckpointKey>,
}

impl CheckpointSaved {
    /// Returns the SHA-256 of the context's canonical text.
    #[must_use]
    pub fn context_hash(&self) -> Hash {
        Hash(self.hash.into_array())
    }
}

/// The arguments of a save other than the context.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointDescribed {
    /// Metadata as the text of a JSON object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<String>,
}

/// The cause of a checkpoint's deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeletionCause {
    /// A caller requested it.
    Asked,
    /// The session reached its maximum number of checkpoints, and this one was the oldest.
    Count,
    /// The store is nearly full, and the session was inactive for long.
    Quota,
}

/// A deleted checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeletedCheckpoint {
    /// The checkpoint's ID.
    pub checkpoint: CheckpointKey,
    /// Position at which it was saved; 0 in events of versions that did not record it.
    #[serde(default, skip_serializing_if = "is_no_position")]
    pub saved_at: u64,
    /// The objects of its parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<ByteArray<32>>,
}

/// Checkpoints of one session were deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointsDeleted {
    /// The deleted checkpoints.
    pub gone: Vec<DeletedCheckpoint>,
    /// Cause of the deletion.
    pub cause: DeletionCause,
    /// Critical keys whose newest holder was deleted, each with the position of the newest remaining holder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<(String, u64)>,
}

/// A key of a session's context was marked critical, or unmarked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyMarked {
    /// The top-level key.
    pub key: String,
    /// The mark was removed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unmarked: bool,
    /// For an imported mark: the newest checkpoint that contains the key; absent: the latest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_by: Option<MarkHolder>,
}

/// The holder of an imported critical key when the session's latest checkpoint does not contain the key, because
/// others were deleted before the export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkHolder {
    /// No existing checkpoint.
    Nobody,
    /// An earlier checkpoint of the same session.
    Checkpoint(CheckpointKey),
}

impl CheckpointEvent {
    /// Returns the metadata without the objects that it adds or releases, except for a save of an existing checkpoint.
    /// When a session is folded again, others may have used these objects since, perhaps in another form.
    #[must_use]
    pub fn with_objects_of(mut self, there: &BTreeSet<CheckpointKey>) -> Self {
        match &mut self {
            Self::Saved(saved) if there.contains(&saved.checkpoint) => {}
            Self::Saved(saved) => saved.parts.clear(),
            Self::Deleted(deleted) => {
                deleted
                    .gone
                    .iter_mut()
                    .for_each(|gone| gone.objects.clear());
            }
            Self::KeyMarked(_) => {}
        }
        self
    }
}

/// An object that a save needs, and its stored form when the save was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectNamed {
    /// Hash of the object.
    pub hash: Hash,
    /// Size on disk, in bytes.
    pub stored_bytes: u64,
    /// The delta base, if any.
    pub base: Option<Hash>,
}

impl ObjectNamed {
    /// Returns whether an object is stored as the save says. An object that was unused for a while may have been saved
    /// again as a delta against another base.
    #[must_use]
    pub fn is_kept_so(&self, kept: &Object) -> bool {
        (kept.place.bytes(), kept.base()) == (self.stored_bytes, self.base)
    }
}

/// Returns the objects that an event needs; only saves need any.
pub fn objects_named(event: &LoggedEvent) -> Result<Vec<ObjectNamed>, Error> {
    let Some(Event::Checkpoint(CheckpointEvent::Saved(saved))) = Event::of(event)? else {
        return Ok(Vec::new());
    };
    let named = |chain: &[DeltaLink]| -> Vec<ObjectNamed> {
        let bases = chain
            .iter()
            .skip(1)
            .map(|base| Some(base.hash))
            .chain([None]);
        let links = chain.iter().zip(bases);
        links
            .map(|(link, base)| ObjectNamed {
                hash: link.hash,
                stored_bytes: link.stored_bytes,
                base,
            })
            .collect()
    };
    Ok(saved
        .parts
        .iter()
        .flat_map(|part| named(&part.chain))
        .collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// An ID is written as a UUID of version 4 and reads back; any other text is refused.
    #[test]
    fn ids_are_uuids() {
        let key = CheckpointKey::of([0xff; 16]);
        assert_eq!(key.to_string(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(CheckpointKey::parse(&key.to_string()), Some(key));
        let key = CheckpointKey::of([0; 16]);
        assert_eq!(key.to_string(), "00000000-0000-4000-8000-000000000000");
        assert_eq!(
            CheckpointKey::parse(&key.to_string().to_uppercase()),
            Some(key)
        );
        for wrong in [
            "",
            "x",
            "00000000-0000-4000-8000-00000000000",
            "00000000-0000-4000-8000-0000000000000",
            "00000000+0000-4000-8000-000000000000",
            "00000000-0000-4000-8000-00000000000g",
            "0000000000-00-4000-8000-000000000000",
            "é0000000-0000-4000-8000-00000000000",
        ] {
            assert_eq!(CheckpointKey::parse(wrong), None, "{wrong}");
        }
    }
}
