//! Import of a session's checkpoints and marks: contexts are packed before the queue, and all are decided at once.
//!
//! Every object is imported with its base, also if it may exist already. So none can be missing at the decision.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde_bytes::ByteArray;

use super::chain;
use super::command::{PackedObject, empty_body, sizes};
use super::contents;
use super::limits::Limits;
use super::metadata::Metadata;
use super::object_uses;
use super::prepare::{pack_delta, pack_object, write_blob};
use super::view;
use crate::canonical::Canonical;
use crate::clock::Clock;
use crate::error::{Code, Refusal};
use crate::events::checkpoints::{
    CheckpointDescribed, CheckpointEvent, CheckpointKey, CheckpointSaved, ContextPart, DeltaLink,
    KeyMarked, MarkHolder,
};
use crate::log::objects;
use crate::log::{Body, Hash, codec};
use crate::store::{Blobs, Error, Rows, RowsMut};

/// Collects the imported checkpoints and marks, in order.
pub struct ImportBuilder<'b> {
    blobs: &'b Blobs,
    clock: &'b Clock,
    imported: CheckpointImport,
    marks: BTreeSet<String>,
    /// The last part of each key: the base of the next delta.
    last: HashMap<Option<String>, ContextPart>,
    /// Values of the objects that were packed.
    values: HashMap<Hash, Arc<str>>,
    /// The number of the newest checkpoint that contains each key.
    holders: HashMap<String, usize>,
}

/// Imported checkpoints and marks, ready for the decision.
#[derive(Default)]
pub struct CheckpointImport {
    events: Vec<Event>,
    /// Number of checkpoints in `events`.
    saves: usize,
    objects: HashMap<Hash, PackedObject>,
    limits: Limits,
}

enum Event {
    /// An existing checkpoint.
    Known(CheckpointKey),
    Saved(Save),
    Marked(ImportedMark),
}

/// An imported checkpoint.
struct Save {
    checkpoint: CheckpointKey,
    /// Its id if the other one is taken.
    spare: CheckpointKey,
    forked_from: Option<CheckpointKey>,
    hash: Hash,
    is_kept: bool,
    critical: Vec<String>,
    /// Pieces of the context: key, value, and values of the key since its keyframe.
    pieces: Vec<(Option<String>, Hash, u32)>,
    body: Body,
}

/// An imported mark.
struct ImportedMark {
    key: String,
    is_unmarked: bool,
    /// The number of the newest checkpoint that contains the key, and whether it is the latest.
    holder: Option<(usize, bool)>,
    body: Body,
}

/// The decision on a checkpoint or mark.
pub struct ImportDecision {
    /// The event.
    pub event: CheckpointEvent,
    /// Its payload.
    pub body: Body,
    /// The original id of a checkpoint and its new id, if the original is taken.
    pub renamed: Option<(CheckpointKey, CheckpointKey)>,
}

impl<'b> ImportBuilder<'b> {
    /// Creates an empty import.
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

    /// Adds a checkpoint: its context and its metadata, a validated JSON object.
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

    /// Adds an existing checkpoint with the keys of its context; imported ones follow it.
    pub fn know(&mut self, checkpoint: CheckpointKey, keys: impl Iterator<Item = String>) {
        let number = self.imported.saves;
        self.holders.extend(keys.map(|key| (key, number)));
        self.imported.saves += 1;
        self.imported.events.push(Event::Known(checkpoint));
    }

    /// Adds an existing mark, or its removal.
    pub fn know_mark(&mut self, key: &str, is_unmarked: bool) {
        match is_unmarked {
            true => self.marks.remove(key),
            false => self.marks.insert(key.to_owned()),
        };
    }

    /// Adds an imported mark, or its removal.
    pub fn mark(&mut self, key: String, is_unmarked: bool) {
        self.know_mark(&key, is_unmarked);
        let holder = self.holders.get(&key).copied();
        let body = empty_body(self.clock.random());
        self.imported.events.push(Event::Marked(ImportedMark {
            key,
            is_unmarked,
            holder: holder.map(|number| (number, number + 1 == self.imported.saves)),
            body,
        }));
    }

    /// Returns the import.
    #[must_use]
    pub fn done(self) -> CheckpointImport {
        self.imported
    }

    /// Returns the part of a value. Its object is packed unless an equal one was packed already.
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
        let base_value = |base: &Hash| self.values.get(base).map(Arc::clone);
        let last = self.last.get(&key);
        let delta = last.and_then(|last| pack_delta(text.as_bytes(), last, base_value));
        let (object, chain, since) = pack_object(text.as_bytes(), hash, delta);
        let mut packed = PackedObject {
            object,
            is_repair: false,
            blob: None,
        };
        write_blob(self.blobs, &mut packed)?;
        self.imported.objects.insert(hash, packed);
        self.values.insert(hash, text.into());
        Ok(ContextPart { key, chain, since })
    }
}

impl CheckpointImport {
    /// Returns the number of events.
    #[must_use]
    pub fn count(&self) -> usize {
        self.events.len()
    }

    /// Returns its approximate size in memory, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let objects = self.objects.values();
        let bytes: u64 = objects.map(|packed| packed.object.place.bytes()).sum();
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }

    /// Decides the events, in import order. The session must have no other checkpoints than the known ones.
    ///
    /// # Errors
    /// `STORAGE_QUOTA_EXCEEDED`.
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

    /// Returns the chain of an imported object to its keyframe, with imported objects only.
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
    /// Stores the missing objects that the events need, after the events are folded.
    pub fn keep(&self, rows: &mut dyn RowsMut) -> Result<(), Error> {
        for (hash, packed) in &self.objects {
            // An existing delta may have another base than the imported one.
            let is_needed = object_uses::object(rows, hash)?.is_some();
            if is_needed && !objects::is_kept(rows, hash)? {
                objects::put(rows, hash, &packed.object);
            }
        }
        Ok(())
    }
}

/// The state of a decision, event by event.
struct DecisionState<'d> {
    rows: &'d dyn Rows,
    session: &'d str,
    limits: &'d Limits,
    objects: &'d HashMap<Hash, PackedObject>,
    /// New ids by original ids.
    ids: HashMap<CheckpointKey, CheckpointKey>,
    /// New ids by number.
    in_order: Vec<CheckpointKey>,
    /// The resulting chain of each object.
    chains: HashMap<Hash, Vec<DeltaLink>>,
    /// Objects that are counted as added.
    counted: HashSet<Hash>,
    /// Size of these, in bytes.
    added: u64,
    /// Size of all objects before the import, in bytes.
    total: u64,
}

impl DecisionState<'_> {
    fn know(&mut self, checkpoint: CheckpointKey) {
        self.ids.insert(checkpoint, checkpoint);
        self.in_order.push(checkpoint);
    }

    fn save(&mut self, save: Save) -> Result<ImportDecision, Refusal> {
        let is_taken = view::place_of(self.rows, &save.checkpoint)?.is_some();
        let checkpoint = match is_taken {
            true => save.spare,
            false => save.checkpoint,
        };
        self.ids.insert(save.checkpoint, checkpoint);
        self.in_order.push(checkpoint);
        let mut parts = Vec::with_capacity(save.pieces.len());
        for (key, hash, since) in save.pieces {
            let chain = self.chain(&hash)?;
            parts.push(ContextPart { key, chain, since });
        }
        let chains = parts.iter().map(|part| &part.chain);
        let (stored_bytes, new_bytes) = sizes(self.rows, chains, &mut self.counted)?;
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
            Some((number, false)) => {
                let holder = self.in_order.get(number);
                holder.map(|holder| MarkHolder::Checkpoint(*holder))
            }
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

    /// Returns the chain of an object: the existing one, otherwise the imported one.
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
