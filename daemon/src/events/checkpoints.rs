//! What happens to checkpoints: saved, deleted, and keys of their context marked critical.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_bytes::ByteArray;

use super::Event;
use crate::log::objects::Object;
use crate::log::{Hash, LoggedEvent};
use crate::store::Error;

/// The id of a checkpoint: 128 random bits, written as a UUID of version 4 (RFC 9562).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CheckpointKey(ByteArray<16>);

impl CheckpointKey {
    /// A key of these random bytes.
    #[must_use]
    pub fn of(mut random: [u8; 16]) -> Self {
        let [.., version, _, variant, _, _, _, _, _, _, _] = &mut random;
        *version = *version & 0x0f | 0x40;
        *variant = *variant & 0x3f | 0x80;
        Self(ByteArray::new(random))
    }

    /// Its bytes, as rows have them.
    #[must_use]
    pub fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The key in a row.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        <[u8; 16]>::try_from(bytes)
            .ok()
            .map(|bytes| Self(ByteArray::new(bytes)))
    }

    /// Reads the text of an id; `None` when no checkpoint could have it.
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

/// An object on the way from a value to its keyframe, the one that is kept whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeltaLink {
    /// SHA-256 of the value.
    pub hash: Hash,
    /// Length of the value.
    pub bytes: u64,
    /// What the object takes on disk.
    pub stored_bytes: u64,
    /// What the deltas against it take, as far as this way knows.
    pub spent_bytes: u64,
}

impl DeltaLink {
    /// A link to an object that no delta rests on yet.
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

/// A link is stored as a list: manifests hold many.
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

/// One piece of a context: the value of a large key, or the object of all small ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextPart {
    /// The key; none for the small ones together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The object, then what it is a delta against, and so on to a keyframe.
    pub chain: Vec<DeltaLink>,
    /// Values of this key since that keyframe.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub since: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl ContextPart {
    /// The hash of the canonical text.
    #[must_use]
    pub fn hash(&self) -> Hash {
        self.chain.first().map(|link| link.hash).unwrap_or_default()
    }
}

/// A context was saved: the manifest. All that folding and loading need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointSaved {
    /// Its id.
    pub checkpoint: CheckpointKey,
    /// SHA-256 of the context's canonical text.
    pub hash: ByteArray<32>,
    /// What its objects take on disk, in bytes, shared ones included.
    pub stored_bytes: u64,
    /// Of these, what this save added.
    pub new_bytes: u64,
    /// It has a name or tags, so it never goes by itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_kept: bool,
    /// Keys of the context that are marked critical in this session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub critical: Vec<String>,
    /// The pieces of the context; a context without keys has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<ContextPart>,
    /// The checkpoint that this one was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<CheckpointKey>,
}

impl CheckpointSaved {
    /// SHA-256 of the context's canonical text.
    #[must_use]
    pub fn context_hash(&self) -> Hash {
        Hash(self.hash.into_array())
    }
}

/// What the caller brought to a save, besides the context.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointDescribed {
    /// JSON object, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<String>,
}

/// Why a checkpoint went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeletionCause {
    /// Someone asked for it.
    Asked,
    /// The session has as many as it may have, and this one was its oldest.
    Count,
    /// The store is nearly full, and its session was long untouched.
    Quota,
}

/// A checkpoint that went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeletedCheckpoint {
    /// Its id.
    pub checkpoint: CheckpointKey,
    /// The objects that its parts named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<ByteArray<32>>,
}

/// Checkpoints of one session were deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointsDeleted {
    /// Which.
    pub gone: Vec<DeletedCheckpoint>,
    /// Why.
    pub cause: DeletionCause,
    /// Critical keys whose newest holder went, each with the position of the newest one left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<(String, u64)>,
}

/// A key of a session's context was marked critical, or its mark was taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyMarked {
    /// The top-level key.
    pub key: String,
    /// The mark was taken back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unmarked: bool,
    /// The newest checkpoint that holds it, of a mark that was imported; absent: the latest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_by: Option<MarkHolder>,
}

/// What holds an imported critical key, when the session's latest checkpoint does not: others may have
/// been deleted before the export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkHolder {
    /// None that is there.
    Nobody,
    /// An earlier one of the same session.
    Checkpoint(CheckpointKey),
}

/// The metadata of an event of checkpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckpointEvent {
    /// A context was saved.
    Saved(Box<CheckpointSaved>),
    /// Checkpoints were deleted.
    Deleted(CheckpointsDeleted),
    /// A key was marked.
    KeyMarked(KeyMarked),
}

impl CheckpointEvent {
    /// The same without the objects that it takes or lets go, but for a save of a checkpoint that is still there:
    /// when a session is folded again, others have come to use them since, perhaps in another form.
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

/// An object that a save needs, and how it was kept when that was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectNamed {
    /// Which.
    pub hash: Hash,
    /// What it took on disk, in bytes.
    pub stored_bytes: u64,
    /// The object that it was a delta against.
    pub base: Option<Hash>,
}

impl ObjectNamed {
    /// Whether an object is kept as the save says: one that was in use nowhere for a while may have come back
    /// as a delta against another.
    #[must_use]
    pub fn is_kept_so(&self, kept: &Object) -> bool {
        (kept.place.bytes(), kept.base()) == (self.stored_bytes, self.base)
    }
}

/// The objects that an event needs: those of a save.
///
/// # Errors
/// [`Error::Corrupt`] when it does not decode.
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

    /// An id is written as a UUID of version 4 and reads back; anything else is no id.
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
