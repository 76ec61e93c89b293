//! Random packs and prunings, of sessions and of a project; their sources may or may not exist.

use proptest::prelude::*;

use super::TestCall;
use super::history::choice_of;
use crate::engine::{Command, DecisionContext};
use crate::entities::EntityRef;
use crate::error::Refusal;
use crate::events::NewEvent;
use crate::log::{Body, Position, codec};
use crate::packs::decided::{MakePack, TaskScope, UpdateWorkingSet};
use crate::packs::{
    ContextPruned, ContextUnpruned, Item, PackBuilt, PackDependency, PackEvent, PackPurpose,
    Strategy as Keeping,
};
use crate::projects::FileVersion;
use crate::sessions::{self, SessionSettings};

/// A random request for packs.
#[derive(Clone, Debug)]
pub(crate) enum Pack {
    /// For a session, or for the project.
    Make {
        id: u8,
        session: Option<u8>,
        of: Option<u8>,
        piece: u64,
    },
    Prune {
        session: u8,
        message: u8,
    },
    Unprune {
        session: u8,
    },
}

pub(crate) fn pack() -> impl Strategy<Value = Pack> {
    let session = 0..4_u8;
    prop_oneof![
        4 => (
            0..30_u8,
            proptest::option::weighted(0.7, session.clone()),
            proptest::option::weighted(0.4, session.clone()),
            0..6_u64,
        )
            .prop_map(|(id, session, of, piece)| Pack::Make { id, session, of, piece }),
        2 => (session.clone(), 0..4_u8)
            .prop_map(|(session, message)| Pack::Prune { session, message }),
        1 => session.prop_map(|session| Pack::Unprune { session }),
    ]
}

fn name(session: u8) -> String {
    format!("s-{session}")
}

/// A working set update, prepared on the rows on which it is decided.
struct UpdateNow {
    session: String,
    event: PackEvent,
}

impl Command for UpdateNow {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let row = sessions::get(on.rows, &self.session)?;
        let mut turn = UpdateWorkingSet {
            choice: choice_of(&self.session),
            event: self.event.clone(),
            changed: row.map_or(0, |row| row.changed),
            read_at: Position(u64::MAX),
            settings: SessionSettings::default(),
            body: body(),
        };
        turn.decide(on)
    }
}

fn body() -> Body {
    Body::new(codec::EMPTY.to_vec(), [6; 16])
}

impl Pack {
    pub(crate) fn request(&self) -> TestCall {
        match self {
            Self::Make {
                id,
                session,
                of,
                piece,
            } => TestCall::new(MakePack {
                among: match session {
                    Some(session) => TaskScope::Session(name(*session)),
                    None => TaskScope::Project("p-1".to_owned()),
                },
                made: made(*id, of.map(name), *piece),
                read_at: Position(u64::MAX),
                body: body(),
                text: None,
            }),
            Self::Prune { session, message } => TestCall::new(UpdateNow {
                session: name(*session),
                event: PackEvent::Pruned(ContextPruned {
                    strategy: Keeping::Aggressive,
                    tokens_before: 5_000,
                    tokens_after: 400,
                    messages: vec![format!("m-{message}")],
                    tools: vec![Item::Step {
                        step: 1,
                        attempt: 1,
                    }],
                    entities: Vec::new(),
                    went: [3, 2, 1],
                }),
            }),
            Self::Unprune { session } => TestCall::new(UpdateNow {
                session: name(*session),
                event: PackEvent::Unpruned(ContextUnpruned {
                    tokens_before: 400,
                    tokens_after: 5_000,
                }),
            }),
        }
    }
}

fn made(id: u8, session: Option<String>, piece: u64) -> PackBuilt {
    let entity = EntityRef {
        kind: "device".to_owned(),
        key: "switch-nyc-01".to_owned(),
    };
    let items = [
        Item::Message(format!("m-{piece}")),
        Item::Entity(entity),
        Item::Topic,
        Item::ContextFile(FileVersion {
            project: "p-1".to_owned(),
            file_type: "bugs".to_owned(),
            version: piece,
        }),
    ];
    PackBuilt {
        id: format!("p-{id}"),
        made_for: PackPurpose::Message,
        wanted: vec![7; 32],
        budget: 4_000,
        tokens: 120,
        sections: vec![("history".to_owned(), 100), ("message".to_owned(), 20)],
        rests_on: items
            .into_iter()
            .map(|item| PackDependency {
                session: session.clone(),
                item,
            })
            .collect(),
        pieces: piece.to_be_bytes().to_vec(),
    }
}
