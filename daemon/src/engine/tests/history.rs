//! Random histories of commands in random groups, from which any failure can be repeated.

use proptest::prelude::*;

use super::checkpoints::{Checkpoint, checkpoint};
use super::{Ask, Bench};
use crate::clock::Clock;
use crate::engine::Fold;
use crate::log::{Body, codec};
use crate::rooms::Rooms;
use crate::sessions::{Choice, CreateSession, SessionCreated, Wish};
use crate::steps::{
    ExtractorRegistered, FieldMappingRegistered, Reach, RecordStep, Register, Registration,
    StepRecorded, Text,
};
use crate::store::{Changes, Memory};

/// What a random caller wants. Ids are few, so that histories run into each other.
#[derive(Clone, Debug)]
pub(crate) enum Want {
    Create {
        session: u8,
    },
    Record {
        session: Option<u8>,
        step: Option<u32>,
        success: bool,
        length: u16,
    },
    Register {
        session: u8,
        scope: u8,
        mapping: bool,
    },
    Checkpoint(Checkpoint),
}

/// A want with who wants it and under which key.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    want: Want,
    agent: u8,
    key: Option<u8>,
}

/// Groups of wants.
pub(crate) type History = Vec<Vec<Wanted>>;

fn wanted() -> impl Strategy<Value = Wanted> {
    let session = 0..4_u8;
    let want = prop_oneof![
        1 => session.clone().prop_map(|session| Want::Create { session }),
        6 => (
            proptest::option::weighted(0.8, session.clone()),
            proptest::option::weighted(0.4, prop_oneof![1..6_u32, Just(1_000_000), Just(0)]),
            any::<bool>(),
            prop_oneof![9 => 0..40_u16, 1 => 0..9000_u16],
        )
            .prop_map(|(session, step, success, length)| Want::Record {
                session, step, success, length,
            }),
        6 => checkpoint().prop_map(Want::Checkpoint),
        2 => (session, 0..3_u8, any::<bool>())
            .prop_map(|(session, scope, mapping)| Want::Register { session, scope, mapping }),
    ];
    (want, 0..3_u8, proptest::option::weighted(0.3, 0..12_u8))
        .prop_map(|(want, agent, key)| Wanted { want, agent, key })
}

/// Up to twenty groups of up to eight commands.
pub(crate) fn histories() -> impl Strategy<Value = History> {
    proptest::collection::vec(proptest::collection::vec(wanted(), 1..8), 1..20)
}

fn clock() -> Clock {
    Clock::fixed(super::START, 3)
}

pub(crate) fn create(session: &str) -> CreateSession {
    CreateSession {
        session: session.to_owned(),
        project: None,
        body: SessionCreated::default().prepare([1; 16]),
    }
}

fn choice(session: Option<&str>, clock: &Clock) -> Choice {
    let wish = Wish {
        session: session.map(str::to_owned),
        project: None,
    };
    Choice::prepare(wish, clock)
}

/// The session of this id.
pub(crate) fn choice_of(session: &str) -> Choice {
    choice(Some(session), &clock())
}

pub(crate) fn record(session: Option<&str>, step: Option<u32>, success: bool) -> Ask {
    record_of(choice(session, &clock()), step, success, 10)
}

fn record_of(choice: Choice, step: Option<u32>, success: bool, length: u16) -> Ask {
    let recorded = StepRecorded {
        tool: "tool".to_owned(),
        parameters: None,
        purpose: None,
        result: Some(Text::Inline("x".repeat(length.into()))),
        error: None,
    };
    Ask::new(RecordStep {
        choice,
        step,
        success,
        body: Some(Body::new(codec::encode(&recorded), [2; 16])),
        blobs: Vec::new(),
    })
}

/// In the session, the project `p-1`, or everywhere: scope 0, 1 or 2.
pub(crate) fn register(scope: u8, session: &str, what: Registration) -> Ask {
    let bytes = match what {
        Registration::Extractor => codec::encode(&ExtractorRegistered {
            name: "ticket".to_owned(),
            pattern: Some("T-[0-9]+".to_owned()),
            group: None,
            fields: Vec::new(),
        }),
        Registration::Mapping => codec::encode(&FieldMappingRegistered {
            field: "email".to_owned(),
            aliases: vec!["mail".to_owned()],
        }),
    };
    Ask::new(Register {
        reach: match scope {
            0 => Reach::Session(choice(Some(session), &clock())),
            1 => Reach::Project("p-1".to_owned()),
            _ => Reach::Global,
        },
        what,
        body: Body::new(bytes, [3; 16]),
    })
}

impl Wanted {
    fn ask(&self, clock: &Clock) -> Ask {
        let name = |session: u8| format!("s-{session}");
        let ask = match &self.want {
            Want::Create { session } => {
                // Odd sessions belong to a project.
                let project = (session % 2 == 1).then(|| "p-1".to_owned());
                Ask::new(CreateSession {
                    project,
                    ..create(&name(*session))
                })
            }
            Want::Record {
                session,
                step,
                success,
                length,
            } => {
                let session = session.map(name);
                record_of(choice(session.as_deref(), clock), *step, *success, *length)
            }
            Want::Register {
                session,
                scope,
                mapping,
            } => {
                let what = if *mapping {
                    Registration::Mapping
                } else {
                    Registration::Extractor
                };
                register(*scope, &name(*session), what)
            }
            Want::Checkpoint(checkpoint) => checkpoint.ask(clock),
        };
        let ask = ask.by(&format!("agent-{}", self.agent));
        match self.key {
            Some(key) => ask.key(&format!("key-{key}"), &format!("{:?}", self.want)),
            None => ask,
        }
    }
}

/// Lives a history; the changes of each group come back.
pub(crate) fn live(history: &History) -> (Bench, Vec<Changes>) {
    let mut bench = Bench::new();
    let mut commits = Vec::new();
    for group in history {
        let asks = group
            .iter()
            .map(|wanted| wanted.ask(&bench.clock))
            .collect();
        let now = bench.clock.now();
        let (_, changes) = bench.group_at(now, asks);
        commits.push(changes);
    }
    (bench, commits)
}

/// A history that makes no use of groups: each command in one of its own.
pub(crate) fn ungrouped(history: &History) -> History {
    history
        .iter()
        .flatten()
        .map(|wanted| vec![wanted.clone()])
        .collect()
}

impl Memory {
    /// Every row but those of the log itself, to compare what was folded.
    pub(crate) fn rows_of_views(&self) -> Vec<(&'static str, Vec<u8>, Vec<u8>)> {
        let spaces = Rooms.spaces().iter();
        spaces
            .flat_map(|space| {
                self.rows(*space)
                    .map(|(key, value)| (space.name(), key.to_vec(), value.to_vec()))
            })
            .collect()
    }
}
