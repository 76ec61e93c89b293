//! Checkpoints and marks of a session that comes from elsewhere: contexts are packed before the
//! queue, and all of them are decided at once.
//!
//! Every object is brought, also one that may be there already, and its base with it: whatever
//! happens before the decision, nothing can be missing then.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde_bytes::ByteArray;

use super::chain;
use super::command::{PackedObject, empty_body};
use super::contents;
use super::limits::Limits;
use super::metadata::Metadata;
use super::object_uses;
use super::pack;
use super::prepare::INLINE_BYTES_MAX;
use super::view;
use crate::canonical::Canonical;
use crate::clock::Clock;
use crate::error::{Code, Refusal};
use crate::events::checkpoints::{
    CheckpointDescribed, CheckpointEvent, CheckpointKey, CheckpointSaved, ContextPart, DeltaLink,
    KeyMarked, MarkHolder,
};
use crate::log::objects::{self, Object, ObjectForm, ObjectLocation};
use crate::log::{Body, Hash, codec};
use crate::store::{Blobs, Error, Rows, RowsMut};

/// Gathers what is brought, in order.
pub struct ImportBuilder<'b> {
    blobs: &'b Blobs,
    clock: &'b Clock,
    imported: CheckpointImport,
    marks: BTreeSet<String>,
    /// The last part of each key; what the next one may be a delta against.
    last: HashMap<Option<String>, ContextPart>,
    /// Values of the objects that were packed.
    values: HashMap<Hash, Arc<str>>,
    /// The newest checkpoint that holds each key, by its number.
    holders: HashMap<String, usize>,
}

/// What is brought, ready to be decided.
#[derive(Default)]
pub struct CheckpointImport {
    events: Vec<Event>,
    /// How many checkpoints there are among them.
    saves: usize,
    objects: HashMap<Hash, PackedObject>,
    limits: Limits,
}

enum Event {
    /// A checkpoint that is there.
    Known(CheckpointKey),
    Saved(Save),
    Marked(ImportedMark),
}

/// A checkpoint on its way.
struct Save {
    checkpoint: CheckpointKey,
    /// Its id where the other one is taken.
    spare: CheckpointKey,
    forked_from: Option<CheckpointKey>,
    hash: Hash,
    is_kept: bool,
    critical: Vec<String>,
    /// Pieces of the context: key, value, and values of the key since its keyframe.
    pieces: Vec<(Option<String>, Hash, u32)>,
    body: Body,
}

/// A mark on its way.
struct ImportedMark {
    key: String,
    is_unmarked: bool,
    /// The newest checkpoint that holds the key, by its number, and whether it is the latest.
    holder: Option<(usize, bool)>,
    body: Body,
}

/// What was decided for one of them.
pub struct ImportDecision {
    /// The event.
    pub event: CheckpointEvent,
    /// Its payload.
    pub body: Body,
    /// The id that a checkpoint had, and the one that it gets since that one is taken.
    pub renamed: Option<(CheckpointKey, CheckpointKey)>,
}

impl<'b> ImportBuilder<'b> {
    /// Nothing yet.
    #[must_use]
    pub fn new(blobs: &'b Blobs, clock: &'b Clock, limits: &Limits) -> Self {
        Self {
            blobs,
            clock,
            imported: CheckpointImport {
                limits: limits.clone(),
                ..CheckpointImport::default()
            },
            marks: BTreeSet::new(),
            last: HashMap::new(),
            values: HashMap::new(),
            holders: HashMap::new(),
        }
    }

    /// Brings a checkpoint: its context and its metadata, a JSON object that was checked.
    ///
    /// # Errors
    /// [`Error`] when a large object cannot be written.
    pub fn save(
        &mut self,
        checkpoint: CheckpointKey,
        forked_from: Option<CheckpointKey>,
        context: &Canonical,
        metadata: Option<String>,
    ) -> Result<(), Error> {
        let mut pieces = Vec::new();
        for content in contents::split(context) {
            let key = content.key.map(str::to_owned);
            let part = self.part(key.clone(), &content.text)?;
            pieces.push((key.clone(), part.hash(), part.since));
            self.last.insert(key, part);
        }
        let number = self.imported.saves;
        let keys = context.entries.iter().map(|entry| &entry.key);
        let critical: Vec<String> = keys
            .clone()
            .filter(|key| self.marks.contains(*key))
            .cloned()
            .collect();
        self.holders.extend(keys.map(|key| (key.clone(), number)));
        let described = CheckpointDescribed { metadata };
        let is_kept = Metadata::stored(&described).is_kept();
        let body = Body::new(codec::encode(&described), self.clock.random());
        self.imported.saves += 1;
        self.imported.events.push(Event::Saved(Save {
            checkpoint,
            spare: CheckpointKey::of(self.clock.random()),
            forked_from,
            hash: Hash::of(context.text.as_bytes()),
            is_kept,
            critical,
            pieces,
            body,
        }));
        Ok(())
    }

    /// A checkpoint that is there, with the keys of its context: what is brought comes behind it.
    pub fn know(&mut self, checkpoint: CheckpointKey, keys: impl Iterator<Item = String>) {
        let number = self.imported.saves;
        self.holders.extend(keys.map(|key| (key, number)));
        self.imported.saves += 1;
        self.imported.events.push(Event::Known(checkpoint));
    }

    /// A mark that is there, or that it was taken back.
    pub fn know_mark(&mut self, key: &str, is_unmarked: bool) {
        match is_unmarked {
            true => self.marks.remove(key),
            false => self.marks.insert(key.to_owned()),
        };
    }

    /// Brings a mark, or that it was taken back.
    pub fn mark(&mut self, key: String, is_unmarked: bool) {
        if is_unmarked {
            self.marks.remove(&key);
        } else {
            self.marks.insert(key.clone());
        }
        let holder = self.holders.get(&key).copied();
        let body = empty_body(self.clock.random());
        self.imported.events.push(Event::Marked(ImportedMark {
            key,
            is_unmarked,
            holder: holder.map(|number| (number, number + 1 == self.imported.saves)),
            body,
        }));
    }

    /// All that was brought.
    #[must_use]
    pub fn done(self) -> CheckpointImport {
        self.imported
    }

    /// The part of a value; its object is packed unless an equal one was.
    fn part(&mut self, key: Option<String>, text: &str) -> Result<ContextPart, Error> {
        let hash = Hash::of(text.as_bytes());
        if self.imported.objects.contains_key(&hash) {
            return Ok(match self.last.get(&key) {
                Some(last) if last.hash() == hash => last.clone(),
                Some(_) | None => ContextPart {
                    key,
                    chain: self.imported.own_chain(&hash),
                    since: 0,
                },
            });
        }
        let delta = self.last.get(&key).and_then(|last| self.delta(last, text));
        let (form, packed, base, since) = match delta {
            Some((packed, plan)) => {
                let base = plan.base.first().map(|link| link.hash).unwrap_or_default();
                (ObjectForm::Delta { base }, packed, plan.base, plan.since)
            }
            None => match pack::pack(text.as_bytes()) {
                Some(packed) => (ObjectForm::Whole, packed, Vec::new(), 0),
                None => (ObjectForm::Plain, text.as_bytes().to_vec(), Vec::new(), 0),
            },
        };
        let bytes = text.len() as u64;
        let (place, blob) = if packed.len() > INLINE_BYTES_MAX {
            let blob = self.blobs.put(&packed)?;
            (ObjectLocation::Blob(blob.reference()), Some(blob))
        } else {
            (ObjectLocation::Inline(packed), None)
        };
        let link = DeltaLink::to(hash, bytes, place.bytes());
        let packed = PackedObject {
            object: Object { form, bytes, place },
            is_repair: false,
            blob,
        };
        self.imported.objects.insert(hash, packed);
        self.values.insert(hash, text.into());
        Ok(ContextPart {
            key,
            chain: chain::extend(link, base),
            since,
        })
    }

    fn delta(&self, last: &ContextPart, text: &str) -> Option<(Vec<u8>, chain::Plan)> {
        let plan = chain::plan(last, text.len() as u64)?;
        let base = self.values.get(&plan.base.first()?.hash)?;
        let room = usize::try_from(plan.room).unwrap_or(usize::MAX);
        let packed = pack::pack_against(base.as_bytes(), text.as_bytes(), room)?;
        Some((packed, plan))
    }
}

impl CheckpointImport {
    /// How many events it makes.
    #[must_use]
    pub fn count(&self) -> usize {
        self.events.len()
    }

    /// About how much it holds while it waits, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let objects = self.objects.values();
        let bytes: u64 = objects.map(|packed| packed.object.place.bytes()).sum();
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }

    /// The events, each of a session that has no checkpoints but those that are known, in the order in which
    /// they were brought.
    ///
    /// # Errors
    /// `STORAGE_QUOTA_EXCEEDED` when they are more than may be kept.
    pub fn decide(
        self,
        rows: &dyn Rows,
        session: &str,
    ) -> Result<(Vec<ImportDecision>, RetainedObjects), Refusal> {
        let max = self.limits.per_session_max;
        if self.saves as u64 > max {
            return Err(Refusal::new(
                Code::StorageQuotaExceeded,
                format!(
                    "{} checkpoints are brought; a session has at most {max}",
                    self.saves
                ),
            )
            .hint("Leave out the lines of some, or raise `checkpoints.per_session_max` in the config."));
        }
        let mut deciding = DecisionState {
            rows,
            session,
            limits: &self.limits,
            objects: &self.objects,
            ids: HashMap::new(),
            in_order: Vec::new(),
            chains: HashMap::new(),
            counted: HashSet::new(),
            added: 0,
            total: object_uses::totals(rows)?.bytes,
        };
        let mut decided = Vec::with_capacity(self.events.len());
        for event in self.events {
            match event {
                Event::Known(checkpoint) => deciding.know(checkpoint),
                Event::Saved(save) => decided.push(deciding.save(save)?),
                Event::Marked(mark) => decided.push(deciding.mark(mark)),
            }
        }
        let keeping = RetainedObjects {
            objects: self.objects,
        };
        Ok((decided, keeping))
    }

    /// The way from an object that is brought to its keyframe, over brought ones alone.
    fn own_chain(&self, hash: &Hash) -> Vec<DeltaLink> {
        let mut links = Vec::new();
        let mut next = Some(*hash);
        while let Some(hash) = next.take() {
            if let Some(packed) = self.objects.get(&hash) {
                let object = &packed.object;
                links.push(DeltaLink::to(hash, object.bytes, object.place.bytes()));
                next = object.base();
            }
        }
        links
    }
}

/// Objects that the decided events name.
#[derive(Default)]
pub struct RetainedObjects {
    objects: HashMap<Hash, PackedObject>,
}

impl RetainedObjects {
    /// Keeps those that the events need and that are not there; once the events are folded.
    ///
    /// # Errors
    /// [`Error`] when a row cannot be read.
    pub fn keep(&self, rows: &mut dyn RowsMut) -> Result<(), Error> {
        for (hash, packed) in &self.objects {
            // A delta that was there already may rest on another base than the one brought with it.
            let is_needed = object_uses::object(rows, hash)?.is_some();
            if is_needed && !objects::is_kept(rows, hash)? {
                objects::put(rows, hash, &packed.object);
            }
        }
        Ok(())
    }
}

/// What is known while the events are decided one after the other.
struct DecisionState<'d> {
    rows: &'d dyn Rows,
    session: &'d str,
    limits: &'d Limits,
    objects: &'d HashMap<Hash, PackedObject>,
    /// The ids that checkpoints had, and those that they get.
    ids: HashMap<CheckpointKey, CheckpointKey>,
    /// Those that they get, by their numbers.
    in_order: Vec<CheckpointKey>,
    /// The way to each object, as it will be.
    chains: HashMap<Hash, Vec<DeltaLink>>,
    /// Objects that count as added.
    counted: HashSet<Hash>,
    /// Bytes of these.
    added: u64,
    /// Bytes of all objects before.
    total: u64,
}

impl DecisionState<'_> {
    fn know(&mut self, checkpoint: CheckpointKey) {
        self.ids.insert(checkpoint, checkpoint);
        self.in_order.push(checkpoint);
    }

    fn save(&mut self, save: Save) -> Result<ImportDecision, Refusal> {
        let is_taken = view::place_of(self.rows, &save.checkpoint)?.is_some();
        let checkpoint = if is_taken {
            save.spare
        } else {
            save.checkpoint
        };
        self.ids.insert(save.checkpoint, checkpoint);
        self.in_order.push(checkpoint);
        let mut parts = Vec::with_capacity(save.pieces.len());
        let mut seen = HashSet::new();
        let (mut stored_bytes, mut new_bytes) = (0, 0);
        for (key, hash, since) in save.pieces {
            let chain = self.chain(&hash)?;
            for link in &chain {
                if !seen.insert(link.hash) {
                    continue;
                }
                stored_bytes += link.stored_bytes;
                let is_there = object_uses::object(self.rows, &link.hash)?.is_some();
                if !is_there && self.counted.insert(link.hash) {
                    new_bytes += link.stored_bytes;
                }
            }
            parts.push(ContextPart { key, chain, since });
        }
        let total = self.total.saturating_add(self.added);
        self.limits
            .allow(self.session, stored_bytes, new_bytes, self.added, total)?;
        self.added += new_bytes;
        let forked_from = save.forked_from;
        let saved = CheckpointSaved {
            checkpoint,
            hash: ByteArray::new(save.hash.0),
            stored_bytes,
            new_bytes,
            is_kept: save.is_kept,
            critical: save.critical,
            parts,
            forked_from: forked_from.map(|from| self.ids.get(&from).copied().unwrap_or(from)),
        };
        Ok(ImportDecision {
            event: CheckpointEvent::Saved(Box::new(saved)),
            body: save.body,
            renamed: is_taken.then_some((save.checkpoint, checkpoint)),
        })
    }

    fn mark(&self, mark: ImportedMark) -> ImportDecision {
        let held_by = match mark.holder {
            _ if mark.is_unmarked => None,
            Some((_, true)) => None,
            Some((number, false)) => self
                .in_order
                .get(number)
                .copied()
                .map(MarkHolder::Checkpoint),
            None => Some(MarkHolder::Nobody),
        };
        let marked = KeyMarked {
            key: mark.key,
            is_unmarked: mark.is_unmarked,
            held_by,
        };
        ImportDecision {
            event: CheckpointEvent::KeyMarked(marked),
            body: mark.body,
            renamed: None,
        }
    }

    /// The way to an object: as it is there, else as it is brought.
    fn chain(&mut self, hash: &Hash) -> Result<Vec<DeltaLink>, Refusal> {
        if let Some(chain) = self.chains.get(hash) {
            return Ok(chain.clone());
        }
        let chain = match (object_uses::chain(self.rows, hash)?, self.objects.get(hash)) {
            (Some(chain), _) => chain,
            (None, Some(packed)) => {
                let object = &packed.object;
                let link = DeltaLink::to(*hash, object.bytes, object.place.bytes());
                let base = object.base().map(|base| self.chain(&base)).transpose()?;
                chain::extend(link, base.unwrap_or_default())
            }
            (None, None) => {
                let what = format!("the object {hash} was to be brought and is not there");
                return Err(Refusal::new(Code::Internal, what));
            }
        };
        self.chains.insert(*hash, chain.clone());
        Ok(chain)
    }
}
