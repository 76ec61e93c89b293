//! Saves: checked against the latest checkpoint and the limits, with the current chain of every object.

use serde_bytes::ByteArray;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::nothing_recorded;
use super::{Report, SaveSkipped, decided_twice, deleted, empty_body, holders, marked, release};
use crate::checkpoints::limits::Limits;
use crate::checkpoints::object_uses;
use crate::checkpoints::view::{self, CheckpointRow};
use crate::engine::{Command, DecisionContext};
use crate::error::{Code, Refusal};
use crate::events::NewEvent;
use crate::events::checkpoints::{
    CheckpointEvent, CheckpointKey, CheckpointSaved, CheckpointsDeleted, ContextPart,
    DeletedCheckpoint, DeletionCause, DeltaLink, KeyMarked,
};
use crate::log::objects::{self, Object, ObjectLocation};
use crate::log::{Body, Hash};
use crate::rows::until;
use crate::sessions::{PreparedSession, ResolvedSession};
use crate::store::{Direction, Error, PendingBlob, Rows, RowsMut};

/// A piece of a context that is saved.
pub struct ContextPiece {
    /// The key; `None` for the object of all small values.
    pub key: Option<String>,
    /// SHA-256 of its canonical text.
    pub hash: Hash,
    /// The chain from its object to a keyframe, as known when it was prepared.
    pub chain: Vec<DeltaLink>,
    /// Number of values of this key since that keyframe.
    pub since: u32,
    /// The object, if it is new.
    pub packed: Option<PackedObject>,
}

/// A new object.
pub struct PackedObject {
    pub object: Object,
    /// Whether it replaces a damaged object of the same value.
    pub is_repair: bool,
    /// Held so that no sweep removes the blob before the event is published.
    pub blob: Option<PendingBlob>,
}

/// Command: saves a context.
pub struct SaveCheckpoint {
    pub choice: PreparedSession,
    pub checkpoint: CheckpointKey,
    /// SHA-256 of the context's canonical text.
    pub hash: Hash,
    /// Top-level keys of the context.
    pub keys: BTreeSet<String>,
    pub pieces: Vec<ContextPiece>,
    /// Whether it has a name or tags.
    pub is_kept: bool,
    /// Whether it is saved even if it equals the latest checkpoint.
    pub is_forced: bool,
    /// Expected latest checkpoint of the session.
    pub expected: Option<CheckpointKey>,
    pub fork: Option<Fork>,
    /// The payload of the event; taken when it is decided.
    pub body: Option<Body>,
    /// Salt of the event that deletes older checkpoints.
    pub deletion_salt: [u8; 16],
    pub limits: Limits,
    pub report: Report,
    /// Objects of checkpoints that are deleted for this one.
    pub let_go: Vec<Hash>,
}

/// The source of a forked checkpoint.
pub struct Fork {
    pub from: CheckpointKey,
    /// Critical keys of its session, each with the payload of an event.
    pub marks: Vec<(String, Body)>,
}

impl Command for SaveCheckpoint {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let ResolvedSession {
            session,
            project,
            created,
        } = self.choice.decide(on)?;
        let of = view::of_session_row(on.rows, &session)?;
        let latest = view::at(on.rows, &session, of.latest)?;
        self.check_latest(&session, latest)?;
        let parts = self.parts(on.rows)?;
        let chains = parts.iter().map(|part| &part.chain);
        let (stored_bytes, new_bytes) = sizes(on.rows, chains, &mut HashSet::new())?;
        let totals = object_uses::totals(on.rows)?;
        self.limits
            .allow(&session, stored_bytes, new_bytes, of.bytes, totals.bytes)?;
        let gone = self.make_room(on, &session, of.count)?;
        let body = self.body.take().ok_or_else(decided_twice)?;
        let saved = CheckpointSaved {
            checkpoint: self.checkpoint,
            hash: ByteArray::new(self.hash.0),
            stored_bytes,
            new_bytes,
            is_kept: self.is_kept,
            critical: self.critical(on.rows, &session)?,
            parts,
            forked_from: self.fork.as_ref().map(|fork| fork.from),
        };
        let event = |(event, body): UnassignedEvent| {
            NewEvent::in_session(&session, project.clone(), event, body)
        };
        let created = created.into_iter();
        let before = self.deletion(gone).into_iter().chain(self.marks());
        let saved = (CheckpointEvent::Saved(Box::new(saved)), body);
        Ok(created.chain(before.chain([saved]).map(event)).collect())
    }

    fn keep(&mut self, rows: &mut dyn RowsMut) -> Result<(), Error> {
        release(rows, &self.let_go, &self.report)?;
        for piece in &self.pieces {
            let Some(packed) = &piece.packed else {
                continue;
            };
            if packed.is_repair {
                self.take_place(rows, &piece.hash, &packed.object)?;
            } else if !objects::is_kept(rows, &piece.hash)? {
                objects::put(rows, &piece.hash, &packed.object);
            }
        }
        Ok(())
    }
}

/// Metadata and body of an event that has no session yet.
type UnassignedEvent = (CheckpointEvent, Body);

impl SaveCheckpoint {
    /// Replaces a damaged object.
    fn take_place(&self, rows: &mut dyn RowsMut, hash: &Hash, with: &Object) -> Result<(), Error> {
        let before = objects::remove(rows, hash)?;
        objects::put(rows, hash, with);
        if let Some(ObjectLocation::Blob(blob)) = before.map(|object| object.place)
            && with.place != ObjectLocation::Blob(blob)
        {
            self.report.result().freed_blobs.push(blob);
        }
        Ok(())
    }

    /// Returns its approximate size in memory, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let packed = self.pieces.iter().filter_map(|piece| piece.packed.as_ref());
        let bytes: u64 = packed.map(|packed| packed.object.place.bytes()).sum();
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }

    /// Keys of the context that are marked critical in the session.
    fn critical(&self, rows: &dyn Rows, session: &str) -> Result<Vec<String>, Error> {
        let mut critical = match &self.fork {
            Some(fork) => fork.marks.iter().map(|(key, _)| key.clone()).collect(),
            None => marked(rows, session)?,
        };
        critical.retain(|key| self.keys.contains(key));
        Ok(critical)
    }

    /// The event of those that go for this one, if any do.
    fn deletion(&self, gone: Vec<DeletedCheckpoint>) -> Option<UnassignedEvent> {
        let deleted = CheckpointsDeleted {
            cause: DeletionCause::Count,
            holders: Vec::new(),
            gone,
        };
        let body = empty_body(self.deletion_salt);
        (!deleted.gone.is_empty()).then_some((CheckpointEvent::Deleted(deleted), body))
    }

    /// The events of the marks that a fork brings along.
    fn marks(&mut self) -> Vec<UnassignedEvent> {
        let marks = self.fork.iter_mut().flat_map(|fork| fork.marks.drain(..));
        let event = |(key, body)| {
            let marked = KeyMarked {
                key,
                is_unmarked: false,
                held_by: None,
            };
            (CheckpointEvent::KeyMarked(marked), body)
        };
        marks.map(event).collect()
    }

    /// Checks the save on an earlier state as the decision would, before anything large is written.
    ///
    /// # Errors
    /// `CONFLICT` or `STORAGE_QUOTA_EXCEEDED`.
    pub fn foresee(&self, rows: &dyn Rows, session: &str) -> Result<(), Refusal> {
        let of = view::of_session_row(rows, session)?;
        self.check_latest(session, view::at(rows, session, of.latest)?)?;
        let chains = self.pieces.iter().map(|piece| &piece.chain);
        let (stored_bytes, new_bytes) = sizes(rows, chains, &mut HashSet::new())?;
        let totals = object_uses::totals(rows)?;
        self.limits
            .allow(session, stored_bytes, new_bytes, of.bytes, totals.bytes)
    }

    fn check_latest(&self, session: &str, latest: Option<CheckpointRow>) -> Result<(), Refusal> {
        let theirs = latest.as_ref().map(|row| row.checkpoint);
        if let Some(expected) = self.expected
            && theirs != Some(expected)
        {
            return Err(conflict(session, expected, theirs));
        }
        match latest {
            Some(row) if row.hash == self.hash && !self.is_forced => {
                self.report.result().instead = Some(SaveSkipped::Unchanged(row));
                Err(nothing_recorded())
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the manifest's parts, each with its current chain to a keyframe.
    fn parts(&self, rows: &dyn Rows) -> Result<Vec<ContextPart>, Refusal> {
        let mut new: HashMap<Hash, Vec<DeltaLink>> = HashMap::new();
        let mut parts = Vec::with_capacity(self.pieces.len());
        for piece in &self.pieces {
            let known = match new.get(&piece.hash) {
                Some(chain) => Some(chain.clone()),
                None => object_uses::chain(rows, &piece.hash)?,
            };
            let chain = match known {
                Some(chain) if is_same_way(&chain, &piece.chain) => as_kept(&piece.chain, &chain),
                Some(chain) => chain,
                None => {
                    let chain = self.new_chain(rows, piece)?;
                    new.insert(piece.hash, chain.clone());
                    chain
                }
            };
            parts.push(ContextPart {
                key: piece.key.clone(),
                chain,
                since: piece.since,
            });
        }
        Ok(parts)
    }

    fn new_chain(&self, rows: &dyn Rows, piece: &ContextPiece) -> Result<Vec<DeltaLink>, Refusal> {
        let base = match &piece.packed {
            Some(packed) => packed.object.base(),
            None => return Err(self.stale()),
        };
        let Some(base) = base else {
            return Ok(piece.chain.clone());
        };
        let now = object_uses::chain(rows, &base)?.unwrap_or_default();
        match piece.chain.split_first() {
            Some((own, prepared)) if is_same_way(&now, prepared) => {
                let mut chain = vec![*own];
                chain.extend(as_kept(prepared, &now));
                Ok(chain)
            }
            Some(_) | None => Err(self.stale()),
        }
    }

    fn stale(&self) -> Refusal {
        self.report.result().instead = Some(SaveSkipped::Stale);
        nothing_recorded()
    }

    /// Selects the oldest checkpoints to delete, to make room for this one.
    fn make_room(
        &mut self,
        on: &DecisionContext<'_>,
        session: &str,
        count: u64,
    ) -> Result<Vec<DeletedCheckpoint>, Refusal> {
        let max = self.limits.per_session_max;
        let mut surplus = (count + 1).saturating_sub(max);
        if surplus == 0 {
            return Ok(Vec::new());
        }
        let held = holders(on.rows, session)?;
        let mut rows = Vec::new();
        view::walk(on.rows, session, None, Direction::Forward, &mut |row| {
            if !row.is_kept && !held.contains(&row.position.0) {
                rows.push(row);
                surplus -= 1;
            }
            Ok(until(surplus == 0))
        })?;
        if surplus > 0 {
            return Err(self.limits.too_many(session, count));
        }
        let (gone, objects) = deleted(on, &rows)?;
        self.let_go = objects;
        Ok(gone)
    }
}

/// Returns the size of all objects of these chains, and the size of the new ones that are not in `counted` yet, in
/// bytes.
pub fn sizes<'w>(
    rows: &dyn Rows,
    chains: impl Iterator<Item = &'w Vec<DeltaLink>>,
    counted: &mut HashSet<Hash>,
) -> Result<(u64, u64), Error> {
    let mut seen = HashSet::new();
    let (mut stored, mut new) = (0, 0);
    for link in chains.flatten().filter(|link| seen.insert(link.hash)) {
        stored += link.stored_bytes;
        if object_uses::object(rows, &link.hash)?.is_none() && counted.insert(link.hash) {
            new += link.stored_bytes;
        }
    }
    Ok((stored, new))
}

/// Returns whether two chains have the same objects.
fn is_same_way(a: &[DeltaLink], b: &[DeltaLink]) -> bool {
    a.iter()
        .map(|link| link.hash)
        .eq(b.iter().map(|link| link.hash))
}

/// Returns a prepared chain with the stored sizes of its objects, so that the manifests of all sessions agree on them.
fn as_kept(prepared: &[DeltaLink], kept: &[DeltaLink]) -> Vec<DeltaLink> {
    let both = prepared.iter().zip(kept);
    both.map(|(prepared, kept)| DeltaLink {
        spent_bytes: prepared.spent_bytes,
        ..*kept
    })
    .collect()
}

fn conflict(session: &str, base: CheckpointKey, theirs: Option<CheckpointKey>) -> Refusal {
    if session.is_empty() {
        return Refusal::new(
            Code::Conflict,
            format!(
                "without a session the save makes a new one, which has no checkpoint, not the expected `{base}`; \
                 nothing was saved"
            ),
        )
        .hint("Name the session of the expected checkpoint as `sessionId`.");
    }
    let is_now = match theirs {
        Some(theirs) => format!("`{theirs}`"),
        None => "none".to_owned(),
    };
    Refusal::new(
        Code::Conflict,
        format!(
            "the latest checkpoint of the session `{session}` is {is_now}, not the expected \
             `{base}`; nothing was saved"
        ),
    )
    .hint("Load the latest one, put your change into it, and save with its id as expected.")
}
