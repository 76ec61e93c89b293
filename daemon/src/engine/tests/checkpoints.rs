//! Random saves, deletions and marks. IDs, contents and sessions are few, so that they share objects and conflict.

use proptest::prelude::*;

use super::TestCall;
use crate::checkpoints::Limits;
use crate::checkpoints::decided::{
    CheckpointKey, ContextPiece, DeleteCheckpoints, DeletionCause, DeltaLink, MarkKey,
    PackedObject, Report, SaveCheckpoint, empty_body, place_of,
};
use crate::clock::Clock;
use crate::engine::{Command, DecisionContext};
use crate::error::Refusal;
use crate::events::NewEvent;
use crate::log::Hash;
use crate::log::objects::{Object, ObjectForm, ObjectLocation};
use crate::sessions::{PreparedSession, SessionSelector};
use crate::store::{Error, RowsMut};

/// A random request for checkpoints.
#[derive(Clone, Debug)]
pub(crate) enum Checkpoint {
    Save {
        id: u8,
        session: Option<u8>,
        contents: [Option<u8>; 2],
        is_delta: bool,
        is_kept: bool,
        is_forced: bool,
    },
    Delete {
        session: u8,
        id: u8,
    },
    Mark {
        session: u8,
        key: u8,
        is_unmarked: bool,
    },
}

pub(crate) fn checkpoint() -> impl Strategy<Value = Checkpoint> {
    let session = 0..4_u8;
    let content = || proptest::option::weighted(0.8, 0..4_u8);
    prop_oneof![
        6 => (
            0..12_u8,
            proptest::option::weighted(0.9, session.clone()),
            [content(), content()],
            any::<bool>(),
            proptest::bool::weighted(0.2),
            proptest::bool::weighted(0.2),
        )
            .prop_map(|(id, session, contents, is_delta, is_kept, is_forced)| Checkpoint::Save {
                id, session, contents, is_delta, is_kept, is_forced,
            }),
        3 => (session.clone(), 0..12_u8).prop_map(|(session, id)| Checkpoint::Delete { session, id }),
        1 => (session, 0..2_u8, any::<bool>())
            .prop_map(|(session, key, is_unmarked)| Checkpoint::Mark { session, key, is_unmarked }),
    ]
}

/// Three checkpoints per session, so that saves evict older ones.
const LIMITS: Limits = Limits {
    checkpoint_bytes_max: 1 << 20,
    session_bytes_max: 60,
    total_bytes_max: 1 << 20,
    per_session_max: 3,
    warn_percent: 80,
    clean_percent: 90,
    inactive_days: 30,
    protected: Vec::new(),
};

fn name(session: u8) -> String {
    format!("s-{session}")
}

fn key_of(id: u8) -> CheckpointKey {
    CheckpointKey::of([id; 16])
}

fn hash_of(content: u8) -> Hash {
    Hash::of(&[content])
}

/// Builds the delta chain of a content; a delta depends on the previous contents.
fn chain(content: u8, is_delta: bool) -> Vec<DeltaLink> {
    let from = if is_delta { 0 } else { content };
    let link = |content: u8| DeltaLink::to(hash_of(content), 100, 10 + u64::from(content));
    (from..=content).rev().map(link).collect()
}

pub(crate) fn piece(key: usize, content: u8, is_delta: bool) -> ContextPiece {
    let chain = chain(content, is_delta);
    let object = Object {
        form: match chain.get(1) {
            Some(base) => ObjectForm::Delta { base: base.hash },
            None => ObjectForm::Whole,
        },
        bytes: 100,
        place: ObjectLocation::Inline(vec![content; chain[0].stored_bytes as usize]),
    };
    ContextPiece {
        key: Some(format!("key-{key}")),
        hash: hash_of(content),
        chain,
        since: 0,
        packed: Some(PackedObject {
            object,
            is_repair: false,
            blob: None,
        }),
    }
}

pub(crate) fn save(
    id: u8,
    choice: PreparedSession,
    contents: &[Option<u8>],
    is_delta: bool,
) -> SaveCheckpoint {
    let given = contents.iter().enumerate();
    let given = given.filter_map(|(key, content)| Some((key, (*content)?)));
    let pieces: Vec<ContextPiece> = given
        .map(|(key, content)| piece(key, content, is_delta))
        .collect();
    SaveCheckpoint {
        choice,
        checkpoint: key_of(id),
        hash: Hash::of(format!("{contents:?}").as_bytes()),
        keys: pieces
            .iter()
            .filter_map(|piece| piece.key.clone())
            .collect(),
        pieces,
        is_kept: false,
        is_forced: false,
        expected: None,
        fork: None,
        body: Some(empty_body([4; 16])),
        deletion_salt: [5; 16],
        limits: LIMITS,
        report: Report::default(),
        let_go: Vec::new(),
    }
}

/// Real IDs are random and unique; these few are reused only when they are free.
struct ReusedIds(SaveCheckpoint);

impl Command for ReusedIds {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        match place_of(on.rows, &self.0.checkpoint)? {
            Some(_) => Err(Refusal::invalid("the id is taken")),
            None => self.0.decide(on),
        }
    }

    fn keep(&mut self, rows: &mut dyn RowsMut) -> Result<(), Error> {
        self.0.keep(rows)
    }
}

impl Checkpoint {
    pub(crate) fn request(&self, clock: &Clock) -> TestCall {
        match self {
            Self::Save {
                id,
                session,
                contents,
                is_delta,
                is_kept,
                is_forced,
            } => {
                let choice = match session {
                    Some(session) => PreparedSession::prepare(
                        SessionSelector {
                            session: Some(name(*session)),
                            ..SessionSelector::default()
                        },
                        clock,
                    ),
                    None => PreparedSession::fresh(
                        Some(format!("s-new-{id}")),
                        SessionSelector::default(),
                        clock,
                    ),
                };
                TestCall::new(ReusedIds(SaveCheckpoint {
                    is_kept: *is_kept,
                    is_forced: *is_forced,
                    ..save(*id, choice, contents, *is_delta)
                }))
            }
            Self::Delete { session, id } => TestCall::new(DeleteCheckpoints {
                session: name(*session),
                checkpoints: vec![key_of(*id)],
                cause: DeletionCause::Asked,
                holders: vec![("key-0".to_owned(), 1)],
                body: Some(empty_body([6; 16])),
                report: Report::default(),
                let_go: Vec::new(),
            }),
            Self::Mark {
                session,
                key,
                is_unmarked,
            } => TestCall::new(MarkKey {
                session: name(*session),
                key: format!("key-{key}"),
                is_unmarked: *is_unmarked,
                body: Some(empty_body([7; 16])),
            }),
        }
    }
}
