//! Random histories of commands in random groups; any failure can be repeated.

use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;

use super::checkpoints::{Checkpoint, checkpoint};
use super::documents::{Document, document};
use super::packs::{Pack, pack};
use super::partial_forgetting::{self, ForgetTarget, erase_parts, part};
use super::projects::{Project, project};
use super::session_actions::{Action as SessionAction, name, suspect, talk};
use super::{Fixture, TestCall, agent};
use crate::clock::Clock;
use crate::engine::{Fold, erasure};
use crate::forgetting::decided::{ForgetSession, RecordErasure, SessionCounts};
use crate::log::{Body, EventScope, Position, codec};
use crate::projections::Projections;
use crate::sessions::{
    CreateSession, HostSession, PreparedSession, SessionCreated, SessionSelector,
};
use crate::steps::{
    ExtractorRegistered, FieldMappingRegistered, RecordStep, Register, Registration,
    RegistrationScope, StepRecorded, Text,
};
use crate::store::{Changes, MemoryStore, PendingBlob};

/// A random request. IDs are few, so that histories conflict.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Create {
        session: u8,
    },
    Record {
        session: Option<u8>,
        step: Option<u32>,
        success: bool,
        length: u16,
        blob: Option<u8>,
    },
    Register {
        session: u8,
        scope: u8,
        mapping: bool,
    },
    Checkpoint(Checkpoint),
    Pack(Pack),
    Project(Project),
    Document(Document),
    /// Forgets, and possibly erases at once.
    Forget {
        session: u8,
        is_erased: bool,
    },
    /// Records the erasure of forgotten content.
    Note {
        session: u8,
    },
    /// Forgets the events that a selector matches, and possibly erases them at once.
    ForgetPart {
        part: ForgetTarget,
        is_erased: bool,
    },
    /// Records the erasure of the oldest partial tombstone.
    NotePart,
    Talk {
        session: u8,
        talk: SessionAction,
    },
}

/// A request with its caller and key.
#[derive(Clone, Debug)]
pub(crate) struct ActionBy {
    want: Action,
    agent: u8,
    key: Option<u8>,
}

/// Groups of requests.
pub(crate) type History = Vec<Vec<ActionBy>>;

/// A step whose agent is forgotten, and then its session, in one group.
pub(crate) fn a_step_forgotten_twice() -> History {
    let by = |agent: u8, want: Action| ActionBy {
        want,
        agent,
        key: None,
    };
    let step = Action::Record {
        session: Some(2),
        step: None,
        success: true,
        length: 100,
        blob: None,
    };
    let part = Action::ForgetPart {
        part: ForgetTarget::of_agent(1),
        is_erased: false,
    };
    let whole = Action::Forget {
        session: 2,
        is_erased: false,
    };
    vec![
        vec![by(2, Action::Create { session: 2 })],
        vec![by(1, step), by(0, part), by(0, whole)],
    ]
}

fn actions() -> impl Strategy<Value = ActionBy> {
    // Includes forks, less often.
    let session = prop_oneof![3 => 0..4_u8, 1 => 4..8_u8];
    let want = prop_oneof![
        2 => (0..4_u8).prop_map(|session| Action::Create { session }),
        6 => (
            proptest::option::weighted(0.8, session.clone()),
            proptest::option::weighted(0.4, prop_oneof![1..6_u32, Just(1_000_000), Just(0)]),
            any::<bool>(),
            prop_oneof![9 => 0..40_u16, 1 => 0..9000_u16],
            proptest::option::weighted(0.4, 0..4_u8),
        )
            .prop_map(|(session, step, success, length, blob)| Action::Record {
                session, step, success, length, blob,
            }),
        6 => checkpoint().prop_map(Action::Checkpoint),
        12 => (session.clone(), talk()).prop_map(|(session, talk)| Action::Talk { session, talk }),
        3 => pack().prop_map(Action::Pack),
        6 => project().prop_map(Action::Project),
        6 => document().prop_map(Action::Document),
        1 => (session.clone(), any::<bool>())
            .prop_map(|(session, is_erased)| Action::Forget { session, is_erased }),
        1 => session.clone().prop_map(|session| Action::Note { session }),
        2 => (part(), any::<bool>())
            .prop_map(|(part, is_erased)| Action::ForgetPart { part, is_erased }),
        1 => Just(Action::NotePart),
        2 => (session, 0..3_u8, any::<bool>())
            .prop_map(|(session, scope, mapping)| Action::Register { session, scope, mapping }),
    ];
    (want, 0..3_u8, proptest::option::weighted(0.3, 0..12_u8))
        .prop_map(|(want, agent, key)| ActionBy { want, agent, key })
}

/// Generates up to twenty groups of up to eight commands.
pub(crate) fn histories() -> impl Strategy<Value = History> {
    proptest::collection::vec(proptest::collection::vec(actions(), 1..8), 1..20)
}

/// Returns a clock with ids of its own, because each caller has other random numbers.
fn clock() -> Clock {
    static CALLERS: AtomicU64 = AtomicU64::new(3);
    Clock::fixed(super::START, CALLERS.fetch_add(1, Ordering::Relaxed))
}

pub(crate) fn create(session: &str) -> CreateSession {
    CreateSession {
        session: session.to_owned(),
        project: None,
        user: None,
        parent: None,
        host: Some(HostSession::of_agent(&agent("a"), None)),
        body: SessionCreated::default().prepare([1; 16]),
    }
}

fn choice(session: Option<&str>, clock: &Clock) -> PreparedSession {
    let selector = SessionSelector {
        session: session.map(str::to_owned),
        ..SessionSelector::default()
    };
    PreparedSession::prepare(selector, clock)
}

/// Selects the session with this ID.
pub(crate) fn choice_of(session: &str) -> PreparedSession {
    choice(Some(session), &clock())
}

pub(crate) fn record(session: Option<&str>, step: Option<u32>, success: bool) -> TestCall {
    record_of(choice(session, &clock()), step, success, 10, None)
}

/// Records a step with a result of `length` bytes.
pub(crate) fn record_long(session: &str, length: u16) -> TestCall {
    record_of(choice_of(session), None, true, length, None)
}

fn record_of(
    choice: PreparedSession,
    step: Option<u32>,
    success: bool,
    length: u16,
    blob: Option<PendingBlob>,
) -> TestCall {
    let recorded = StepRecorded {
        tool: "tool".to_owned(),
        parameters: None,
        purpose: None,
        result: Some(Text::Inline("x".repeat(length.into()))),
        error: None,
    };
    TestCall::new(RecordStep {
        choice,
        step,
        success,
        suspect: suspect(length),
        body: Some(Body::new(codec::encode(&recorded), [2; 16])),
        blobs: blob.into_iter().collect(),
    })
}

/// Registers in the session, the project `p-1`, or globally: scope 0, 1 or 2.
pub(crate) fn register(scope: u8, session: &str, what: Registration) -> TestCall {
    let name = match what {
        Registration::Extractor => "ticket",
        Registration::Mapping => "email",
    };
    register_named(scope, session, what, name)
}

pub(crate) fn register_named(scope: u8, session: &str, what: Registration, name: &str) -> TestCall {
    let bytes = match what {
        Registration::Extractor => codec::encode(&ExtractorRegistered {
            name: name.to_owned(),
            pattern: Some("T-[0-9]+".to_owned()),
            group: None,
            fields: Vec::new(),
        }),
        Registration::Mapping => codec::encode(&FieldMappingRegistered {
            field: name.to_owned(),
            aliases: vec!["mail".to_owned()],
        }),
    };
    TestCall::new(Register {
        reach: match scope {
            0 => RegistrationScope::Session(choice(Some(session), &clock())),
            1 => RegistrationScope::Project("p-1".to_owned()),
            _ => RegistrationScope::Global,
        },
        what,
        name: name.to_owned(),
        body: Body::new(bytes, [3; 16]),
    })
}

pub(crate) fn forget(session: &str) -> TestCall {
    TestCall::new(ForgetSession::new(
        session,
        SessionCounts::default(),
        [8; 16],
    ))
}

/// Erases the forgotten content of a session and returns the changes of each batch.
pub(crate) fn erase(fixture: &mut Fixture, session: &str) -> Vec<Changes> {
    erase_stream(fixture, EventScope::Session(session))
}

/// Erases the forgotten content of any stream and returns the changes of each batch.
pub(crate) fn erase_stream(fixture: &mut Fixture, stream: EventScope<'_>) -> Vec<Changes> {
    let mut commits = Vec::new();
    let mut after = Some(Position(0));
    while let Some(from) = after {
        let batch = erasure::batch(&fixture.rows, &Projections, stream, from).unwrap();
        fixture.commit(batch.changes());
        commits.push(batch.changes().clone());
        after = batch.next;
    }
    commits
}

impl ActionBy {
    fn request(&self, clock: &Clock) -> TestCall {
        let ask = match &self.want {
            Action::Create { session } => {
                // Odd sessions belong to a project.
                let project = (session % 2 == 1).then(|| "p-1".to_owned());
                TestCall::new(CreateSession {
                    project,
                    ..create(&name(*session))
                })
            }
            Action::Record {
                session,
                step,
                success,
                length,
                blob,
            } => {
                let session = session.map(name);
                let choice = choice(session.as_deref(), clock);
                let blob = blob.map(|blob| PendingBlob::nowhere(&[blob]));
                record_of(choice, *step, *success, *length, blob)
            }
            Action::Register {
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
            Action::Checkpoint(checkpoint) => checkpoint.request(clock),
            Action::Pack(pack) => pack.request(),
            Action::Project(project) => project.request(),
            Action::Document(document) => document.request(),
            Action::Forget { session, .. } => forget(&name(*session)),
            Action::Talk { session, talk } => talk.request(*session, clock),
            Action::ForgetPart { part, .. } => part.request(clock),
            Action::NotePart => partial_forgetting::note(),
            Action::Note { session } => TestCall::new(RecordErasure::new(&name(*session), [9; 16])),
        };
        let ask = ask.by(&format!("agent-{}", self.agent));
        match self.key {
            Some(key) => ask.key(&format!("key-{key}"), &format!("{:?}", self.want)),
            None => ask,
        }
    }
}

/// Runs a history and returns the changes of each group.
pub(crate) fn live(history: &History) -> (Fixture, Vec<Changes>) {
    let mut fixture = Fixture::new();
    let mut commits = Vec::new();
    for group in history {
        let asks = group
            .iter()
            .map(|wanted| wanted.request(&fixture.clock))
            .collect();
        let now = fixture.clock.now();
        let (outcomes, changes) = fixture.group_at(now, asks);
        commits.push(changes);
        for (wanted, outcome) in group.iter().zip(outcomes) {
            if let (
                Action::ForgetPart {
                    is_erased: true, ..
                },
                Ok(outcome),
            ) = (&wanted.want, &outcome)
            {
                if !outcome.replayed {
                    commits.extend(erase_parts(&mut fixture));
                }
                continue;
            }
            let is_erased = matches!(
                wanted.want,
                Action::Forget {
                    is_erased: true,
                    ..
                }
            );
            if let (true, Ok(outcome)) = (is_erased, outcome) {
                let session = outcome.event.header.session.clone().unwrap();
                commits.extend(erase(&mut fixture, &session));
            }
        }
    }
    (fixture, commits)
}

/// Returns the history with each command in a separate group.
pub(crate) fn ungrouped(history: &History) -> History {
    history
        .iter()
        .flatten()
        .map(|wanted| vec![wanted.clone()])
        .collect()
}

/// The rows of the views, to compare two folds.
pub(crate) trait ViewRows {
    /// Returns every row except those of the log itself.
    fn rows_of_views(&self) -> Vec<(&'static str, Vec<u8>, Vec<u8>)>;
}

impl ViewRows for MemoryStore {
    fn rows_of_views(&self) -> Vec<(&'static str, Vec<u8>, Vec<u8>)> {
        let spaces = Projections.keyspaces().iter();
        spaces
            .flat_map(|space| {
                self.rows(*space)
                    .map(|(key, value)| (space.name(), key.to_vec(), value.to_vec()))
            })
            .collect()
    }
}
