//! What a save needs no decision for: canonical form, hashes, packing, blobs. Done in parallel,
//! before the queue.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, OnceLock};

use super::chain::{self, Plan};
use super::command::{ContextPiece, PackedObject};
use super::contents::{self, Content};
use super::values::Values;
use super::{object_uses, pack};
use crate::canonical::Canonical;
use crate::error::Refusal;
use crate::events::checkpoints::{CheckpointSaved, ContextPart, DeltaLink};
use crate::log::objects::{Object, ObjectForm, ObjectLocation};
use crate::log::{Hash, objects};
use crate::store::{Blobs, Error, Rows};

/// Packed bytes up to this many are committed with the event; more are a blob before it.
pub const INLINE_BYTES_MAX: usize = 64 * 1024;

/// A context ready to be decided on.
pub struct Context {
    /// Its canonical form.
    pub canonical: Arc<Canonical>,
    hash: OnceLock<Hash>,
    /// Those of its pieces.
    pieces: Vec<OnceLock<Hash>>,
}

/// Contexts longer than this are hashed beside being packed, in bytes.
const HASH_BESIDE_BYTES_MIN: usize = 64 * 1024;

impl Context {
    /// Takes a JSON text as a context.
    ///
    /// # Errors
    /// `INVALID_INPUT` that says where it is no JSON object with a canonical form.
    pub fn of(json: &str) -> Result<Self, Refusal> {
        let canonical = Canonical::of(json).map_err(|malformed| {
            Refusal::invalid(format!("`context` cannot be saved: {malformed}"))
                .hint("It is one JSON object, each key in it once.")
        })?;
        // All small values are one piece, so there is at most one more than there are keys.
        let pieces = canonical.entries.len() + 1;
        Ok(Self {
            canonical: Arc::new(canonical),
            hash: OnceLock::new(),
            pieces: vec![OnceLock::new(); pieces],
        })
    }

    /// SHA-256 of the canonical text. It takes a fifth of a save, so it is only made when it is
    /// needed, and by whichever thread needs it first.
    #[must_use]
    pub fn hash(&self) -> Hash {
        *self
            .hash
            .get_or_init(|| Hash::of(self.canonical.text.as_bytes()))
    }

    /// SHA-256 of a piece, by its number.
    fn piece_hash(&self, number: usize, content: &Content<'_>) -> Hash {
        let make = || Hash::of(content.text.as_bytes());
        match self.pieces.get(number) {
            Some(hash) => *hash.get_or_init(make),
            None => make(),
        }
    }

    /// Has the hashes of these pieces and of the whole made by another thread, at the same time as
    /// this one packs; whoever comes first to one makes it.
    fn hash_beside(self: &Arc<Self>, pieces: Vec<usize>) {
        if self.canonical.text.len() < HASH_BESIDE_BYTES_MIN {
            return;
        }
        let context = Arc::clone(self);
        drop(tokio::task::spawn_blocking(move || {
            for (number, content) in contents::split(&context.canonical).iter().enumerate() {
                if pieces.contains(&number) {
                    context.piece_hash(number, content);
                }
            }
            context.hash()
        }));
    }

    /// Whether this is the context of a hash. One that is in memory is compared, which is quicker
    /// than to make the hash of this one.
    #[must_use]
    pub fn is(&self, hash: &Hash, values: &Values<'_>) -> bool {
        match (self.hash.get(), values.known_context(*hash)) {
            (None, Some(known)) => known.text == self.canonical.text,
            _ => self.hash() == *hash,
        }
    }

    /// Its top-level keys.
    #[must_use]
    pub fn keys(&self) -> BTreeSet<String> {
        let entries = self.canonical.entries.iter();
        entries.map(|entry| entry.key.clone()).collect()
    }
}

/// Where objects are looked for and put.
pub struct ObjectPacker<'p> {
    /// The state that the save is prepared on.
    pub rows: &'p dyn Rows,
    /// Values in it.
    pub values: Values<'p>,
    /// Where large objects go.
    pub blobs: &'p Blobs,
    /// Bring every object, also those that are there: nothing can be missing then when it is
    /// decided.
    pub is_self_contained: bool,
}

impl ObjectPacker<'_> {
    /// The pieces of a context, all in memory: those are packed that are not there yet, against what
    /// the previous checkpoint has under the same key, where that is shorter.
    ///
    /// # Errors
    /// [`Error`] when a row cannot be read.
    pub fn pieces(
        &self,
        context: &Arc<Context>,
        previous: Option<&CheckpointSaved>,
    ) -> Result<Vec<ContextPiece>, Error> {
        let contents = contents::split(&context.canonical);
        let lasts: Vec<PreviousPiece<'_>> = contents
            .iter()
            .map(|content| self.last(content, previous))
            .collect();
        let is_to_hash =
            |number: &usize| !matches!(lasts.get(*number), Some(PreviousPiece::Same(_)));
        context.hash_beside((0..contents.len()).filter(is_to_hash).collect());
        let mut seen = HashSet::new();
        let mut pieces = Vec::new();
        for (number, (content, last)) in contents.iter().zip(lasts).enumerate() {
            // A value that changed is hardly ever there, so it need not wait for its hash.
            let early = match last {
                PreviousPiece::Changed(part) => self.delta(content.text.as_bytes(), part),
                PreviousPiece::Same(_) | PreviousPiece::Unknown(_) => None,
            };
            let hash = match last {
                PreviousPiece::Same(part) => part.hash(),
                PreviousPiece::Changed(_) | PreviousPiece::Unknown(_) => {
                    context.piece_hash(number, content)
                }
            };
            let is_there = !seen.insert(hash)
                || (!self.is_self_contained && objects::is_kept(self.rows, &hash)?);
            let piece = if is_there && !self.is_damaged(content, &hash, last) {
                self.shared(content, hash, last.part())?
            } else if is_there {
                self.repair(content, hash)
            } else {
                let delta = match last {
                    PreviousPiece::Unknown(Some(part)) => self.delta(content.text.as_bytes(), part),
                    PreviousPiece::Same(_)
                    | PreviousPiece::Changed(_)
                    | PreviousPiece::Unknown(None) => early,
                };
                self.fresh(content, hash, delta)
            };
            self.values.note(hash, || content.text.as_bytes().to_vec());
            pieces.push(piece);
        }
        Ok(pieces)
    }

    /// Whether the object that a piece would share cannot be read. What is in memory was read or
    /// written lately; anything else is read now, once.
    fn is_damaged(&self, content: &Content<'_>, hash: &Hash, last: PreviousPiece<'_>) -> bool {
        let is_known = matches!(last, PreviousPiece::Same(_)) || self.values.known(hash).is_some();
        let value = || self.values.get(hash);
        !is_known && !value().is_ok_and(|value| *value == content.text.as_bytes())
    }

    /// A piece that is kept whole in place of a damaged object.
    fn repair(&self, content: &Content<'_>, hash: Hash) -> ContextPiece {
        let mut piece = self.fresh(content, hash, None);
        if let Some(packed) = &mut piece.packed {
            packed.is_repair = true;
        }
        piece
    }

    /// What the previous checkpoint has in place of a piece.
    fn last<'s>(
        &self,
        content: &Content<'_>,
        previous: Option<&'s CheckpointSaved>,
    ) -> PreviousPiece<'s> {
        let Some(part) = previous.and_then(|saved| part_of(saved, content.key)) else {
            return PreviousPiece::Unknown(None);
        };
        match self.values.known(&part.hash()) {
            Some(value) if *value == content.text.as_bytes() => PreviousPiece::Same(part),
            Some(_) => PreviousPiece::Changed(part),
            None => PreviousPiece::Unknown(Some(part)),
        }
    }

    /// A piece whose object is there.
    fn shared(
        &self,
        content: &Content<'_>,
        hash: Hash,
        last: Option<&ContextPart>,
    ) -> Result<ContextPiece, Error> {
        let (chain, since) = match last {
            Some(last) if last.hash() == hash => (last.chain.clone(), last.since),
            // A value that was there before, or that another key or session has.
            Some(_) | None => (object_uses::chain(self.rows, &hash)?.unwrap_or_default(), 0),
        };
        Ok(ContextPiece {
            key: content.key.map(str::to_owned),
            hash,
            chain,
            since,
            packed: None,
        })
    }

    /// A piece with an object of its own: a delta where that is worth it, else a keyframe.
    fn fresh(
        &self,
        content: &Content<'_>,
        hash: Hash,
        delta: Option<(Vec<u8>, Plan)>,
    ) -> ContextPiece {
        let value = content.text.as_bytes();
        let bytes = value.len() as u64;
        let (form, packed, base, since) = match delta {
            Some((packed, plan)) => {
                let base = plan.base.first().map(|link| link.hash).unwrap_or_default();
                (ObjectForm::Delta { base }, packed, plan.base, plan.since)
            }
            None => match pack::pack(value) {
                Some(packed) => (ObjectForm::Whole, packed, Vec::new(), 0),
                None => (ObjectForm::Plain, value.to_vec(), Vec::new(), 0),
            },
        };
        let place = ObjectLocation::Inline(packed);
        let link = DeltaLink::to(hash, bytes, place.bytes());
        let object = Object { form, bytes, place };
        ContextPiece {
            key: content.key.map(str::to_owned),
            hash,
            chain: chain::extend(link, base),
            since,
            packed: Some(PackedObject {
                object,
                is_repair: false,
                blob: None,
            }),
        }
    }

    /// Writes what is too large for a row into blobs; to be done last.
    ///
    /// # Errors
    /// [`Error`] when a blob cannot be written.
    pub fn write_blobs(&self, pieces: &mut [ContextPiece]) -> Result<(), Error> {
        for packed in pieces.iter_mut().filter_map(|piece| piece.packed.as_mut()) {
            if let ObjectLocation::Inline(bytes) = &packed.object.place
                && bytes.len() > INLINE_BYTES_MAX
            {
                let blob = match packed.is_repair {
                    true => self.blobs.replace(bytes)?,
                    false => self.blobs.put(bytes)?,
                };
                packed.object.place = ObjectLocation::Blob(blob.reference());
                packed.blob = Some(blob);
            }
        }
        Ok(())
    }

    /// The value as a delta, where its key has a base and that is worth it. A damaged base is no
    /// reason to refuse a save: the value is kept whole then.
    fn delta(&self, value: &[u8], last: &ContextPart) -> Option<(Vec<u8>, Plan)> {
        if self.is_self_contained {
            return None;
        }
        let plan = chain::plan(last, value.len() as u64)?;
        let base = self.values.get(&plan.base.first()?.hash).ok()?;
        let room = usize::try_from(plan.room).unwrap_or(usize::MAX);
        Some((pack::pack_against(&base, value, room)?, plan))
    }
}

/// What the previous checkpoint has under the key of a piece.
#[derive(Clone, Copy)]
enum PreviousPiece<'s> {
    /// The same value.
    Same(&'s ContextPart),
    /// Another one.
    Changed(&'s ContextPart),
    /// One that is not in memory to compare with, or none.
    Unknown(Option<&'s ContextPart>),
}

impl<'s> PreviousPiece<'s> {
    fn part(self) -> Option<&'s ContextPart> {
        match self {
            Self::Same(part) | Self::Changed(part) => Some(part),
            Self::Unknown(part) => part,
        }
    }
}

fn part_of<'s>(saved: &'s CheckpointSaved, key: Option<&str>) -> Option<&'s ContextPart> {
    saved.parts.iter().find(|part| part.key.as_deref() == key)
}
