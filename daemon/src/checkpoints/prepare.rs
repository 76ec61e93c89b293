//! The part of a save that needs no decision: canonical form, hashes, packing, blobs. It runs in parallel, before the
//! queue.

use std::collections::HashSet;
use std::sync::Arc;

use super::chain::{self, Plan};
use super::command::{ContextPiece, PackedObject};
use super::contents::{self, Content};
use super::saved_context::{SavedContext, is_whole};
use super::values::Values;
use super::{object_uses, pack, script};
use crate::events::checkpoints::{CheckpointSaved, ContextPart, DeltaLink};
use crate::log::objects::{Object, ObjectForm, ObjectLocation};
use crate::log::{Hash, objects};
use crate::store::{Blobs, Error, Rows};

/// Objects of at most this many packed bytes are committed with the event; larger ones are blobs before it.
pub const INLINE_BYTES_MAX: usize = 64 * 1024;

/// Finds or packs the objects of a context.
pub struct ObjectPacker<'p> {
    /// The state that the save is prepared on.
    pub rows: &'p dyn Rows,
    pub values: Values<'p>,
    pub blobs: &'p Blobs,
    /// Pack every object, also existing ones, so that none can be missing at the decision.
    pub is_self_contained: bool,
}

impl ObjectPacker<'_> {
    /// Returns the pieces of a context. New values are packed, as a delta against the value of the same key in the
    /// previous checkpoint where that is shorter.
    pub fn pieces(
        &self,
        context: &Arc<SavedContext>,
        previous: Option<&CheckpointSaved>,
    ) -> Result<Vec<ContextPiece>, Error> {
        let contents = contents::split(&context.canonical);
        context.hash_beside();
        let lasts: Vec<PreviousPiece<'_>> = contents
            .iter()
            .map(|content| self.last(context, content, previous))
            .collect();
        let mut seen = HashSet::new();
        let mut pieces = Vec::new();
        for (number, (content, last)) in contents.iter().zip(lasts).enumerate() {
            // A value that changed is hardly ever there, so it need not wait for its hash.
            let delta = |part| self.delta(context, content, part);
            let early = match last {
                PreviousPiece::Changed(part) => delta(part),
                PreviousPiece::Same(_) | PreviousPiece::Unknown(_) => None,
            };
            let hash = match last {
                PreviousPiece::Same(part) => part.hash(),
                PreviousPiece::Changed(_) | PreviousPiece::Unknown(_) => {
                    context.piece_hash(number, content).hash
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
                    PreviousPiece::Unknown(part) => part.and_then(delta),
                    PreviousPiece::Same(_) | PreviousPiece::Changed(_) => early,
                };
                self.fresh(content, hash, delta)
            };
            // The values of large keys are in the context that is kept.
            if !context.is_kept() || content.key.is_none() {
                self.values.note(hash, || content.text.as_bytes().to_vec());
            }
            pieces.push(piece);
        }
        Ok(pieces)
    }

    /// Returns whether the object that a piece would share cannot be read. Cached values were read or written
    /// recently; others are read now.
    fn is_damaged(&self, content: &Content<'_>, hash: &Hash, last: PreviousPiece<'_>) -> bool {
        let is_known = matches!(last, PreviousPiece::Same(_)) || self.values.known(hash).is_some();
        let value = || self.values.get(hash);
        !is_known && !value().is_ok_and(|value| *value == content.text.as_bytes())
    }

    /// Packs a piece whole, to replace a damaged object.
    fn repair(&self, content: &Content<'_>, hash: Hash) -> ContextPiece {
        let mut piece = self.fresh(content, hash, None);
        if let Some(packed) = &mut piece.packed {
            packed.is_repair = true;
        }
        piece
    }

    /// Compares a piece with the previous checkpoint.
    fn last<'s>(
        &self,
        context: &SavedContext,
        content: &Content<'_>,
        previous: Option<&'s CheckpointSaved>,
    ) -> PreviousPiece<'s> {
        let Some(part) = previous.and_then(|saved| part_of(saved, content.key)) else {
            return PreviousPiece::Unknown(None);
        };
        if let Some((piece, edits)) = context.known_piece(content)
            && piece.hash.hash == part.hash()
        {
            return match is_whole(&edits, piece.range.len()) {
                true => PreviousPiece::Same(part),
                false => PreviousPiece::Changed(part),
            };
        }
        match self.values.known(&part.hash()) {
            Some(value) if *value == content.text.as_bytes() => PreviousPiece::Same(part),
            Some(_) => PreviousPiece::Changed(part),
            None => PreviousPiece::Unknown(Some(part)),
        }
    }

    /// Returns a piece whose object exists.
    fn shared(
        &self,
        content: &Content<'_>,
        hash: Hash,
        last: Option<&ContextPart>,
    ) -> Result<ContextPiece, Error> {
        let (chain, since) = match last {
            Some(last) if last.hash() == hash => (last.chain.clone(), last.since),
            // An older value, or a value of another key or session.
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

    /// Returns a piece with a new object: a delta if there is one, otherwise a keyframe.
    fn fresh(&self, content: &Content<'_>, hash: Hash, delta: Option<Delta>) -> ContextPiece {
        let (object, chain, since) = pack_object(content.text.as_bytes(), hash, delta);
        ContextPiece {
            key: content.key.map(str::to_owned),
            hash,
            chain,
            since,
            packed: Some(PackedObject {
                object,
                is_repair: false,
                blob: None,
            }),
        }
    }

    /// Writes objects that are too large for a row into blobs; must be done last.
    pub fn write_blobs(&self, pieces: &mut [ContextPiece]) -> Result<(), Error> {
        let mut packed = pieces.iter_mut().filter_map(|piece| piece.packed.as_mut());
        packed.try_for_each(|packed| write_blob(self.blobs, packed))
    }

    /// Packs a value as a delta if that is worth it. With a damaged base the value is stored whole.
    fn delta(
        &self,
        context: &SavedContext,
        content: &Content<'_>,
        last: &ContextPart,
    ) -> Option<Delta> {
        if self.is_self_contained {
            return None;
        }
        let value = content.text.as_bytes();
        let plan = chain::plan(last, value.len() as u64)?;
        let base = plan.base.first()?.hash;
        // Where the changes are known, nothing has to be searched.
        let script = || {
            let edits = context.edits_from(content, &base)?;
            let is_small = edits.new_bytes() <= value.len() / EDITS_PART_MAX;
            let packed = is_small.then(|| script::encode(value, &edits))??;
            (packed.len() as u64 <= plan.room).then_some(packed)
        };
        if let Some(packed) = script() {
            let form = ObjectForm::Edits { base };
            return Some(Delta { form, packed, plan });
        }
        pack_planned(value, plan, |base| self.values.get(base).ok())
    }
}

/// A value is packed against the whole text of its base if more than this part of it is new: one in this number.
const EDITS_PART_MAX: usize = 4;

/// A packed delta, and the plan that it follows.
pub struct Delta {
    form: ObjectForm,
    packed: Vec<u8>,
    plan: Plan,
}

/// Packs a value as a delta against an earlier value of its key, if that is worth it.
pub fn pack_delta<B: std::ops::Deref<Target: AsRef<[u8]>>>(
    value: &[u8],
    last: &ContextPart,
    base_value: impl FnOnce(&Hash) -> Option<B>,
) -> Option<Delta> {
    pack_planned(value, chain::plan(last, value.len() as u64)?, base_value)
}

fn pack_planned<B: std::ops::Deref<Target: AsRef<[u8]>>>(
    value: &[u8],
    plan: Plan,
    base_value: impl FnOnce(&Hash) -> Option<B>,
) -> Option<Delta> {
    let base = plan.base.first()?.hash;
    let text = base_value(&base)?;
    let room = usize::try_from(plan.room).unwrap_or(usize::MAX);
    let packed = pack::pack_against((*text).as_ref(), value, room)?;
    let form = ObjectForm::Delta { base };
    Some(Delta { form, packed, plan })
}

/// Returns the object of a value, its chain to a keyframe, and the number of values since that keyframe.
pub fn pack_object(
    value: &[u8],
    hash: Hash,
    delta: Option<Delta>,
) -> (Object, Vec<DeltaLink>, u32) {
    let bytes = value.len() as u64;
    let (form, packed, base, since) = match delta {
        Some(Delta { form, packed, plan }) => (form, packed, plan.base, plan.since),
        None => match pack::pack(value) {
            Some(packed) => (ObjectForm::Whole, packed, Vec::new(), 0),
            None => (ObjectForm::Plain, value.to_vec(), Vec::new(), 0),
        },
    };
    let place = ObjectLocation::Inline(packed);
    let link = DeltaLink::to(hash, bytes, place.bytes());
    (
        Object { form, bytes, place },
        chain::extend(link, base),
        since,
    )
}

/// Writes an object that is too large for a row into a blob.
pub fn write_blob(blobs: &Blobs, packed: &mut PackedObject) -> Result<(), Error> {
    if let ObjectLocation::Inline(bytes) = &packed.object.place
        && bytes.len() > INLINE_BYTES_MAX
    {
        let blob = match packed.is_repair {
            true => blobs.replace(bytes)?,
            false => blobs.put(bytes)?,
        };
        packed.object.place = ObjectLocation::Blob(blob.reference());
        packed.blob = Some(blob);
    }
    Ok(())
}

/// The previous checkpoint's value under the key of a piece.
#[derive(Clone, Copy)]
enum PreviousPiece<'s> {
    Same(&'s ContextPart),
    Changed(&'s ContextPart),
    /// A value that is not cached for comparison, or none.
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
