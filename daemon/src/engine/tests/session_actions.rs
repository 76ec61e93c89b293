//! Random sessions: fields, ends, leases, forks; messages and tool calls; entities found, related and resolved.
//! Names are few, so that they conflict.

use proptest::prelude::*;

use super::TestCall;
use crate::clock::Clock;
use crate::engine::{Command, DecisionContext};
use crate::entities::decided::{RecordEntityEvent as NoteEntity, RecordExtraction, searched};
use crate::entities::{
    EntitiesRelated, EntityData, EntityRef, EntityResolved, Mention, MentionSource, Source,
    TextEntities,
};
use crate::error::Refusal;
use crate::events::NewEvent;
use crate::events::entities::EntityEvent;
use crate::events::trust::{Judgement, SuspicionReviewed, UndoneEvents};
use crate::log::{Body, Position, StreamName, codec};
use crate::messages::decided::{RecordMessage, RecordTool};
use crate::messages::{
    self, Kind, MessageMeta, MessageRecorded, RememberedKind, Sender, Status, ToolCallMeta,
    ToolRecorded, ToolUse,
};
use crate::review::decided::RecordJudgement;
use crate::sessions::decided::{
    AcquireLease, RecordSessionChange, ReleaseLease, SessionChange, SessionClosed, SessionUpdated,
    lease,
};
use crate::sessions::{
    self, CreateSession, Line, Parent, PreparedSession, SessionCreated, SessionSelector, lineage,
};
use crate::steps::{self, Text};
use crate::undo::decided::{StreamChange, UndoEvents};

/// A random request in a session.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Update {
        field: u8,
        value: u8,
    },
    Close,
    Lease {
        name: u8,
        is_long: bool,
        is_renewed: bool,
    },
    Release {
        name: u8,
    },
    Say {
        sender: u8,
        kind: u8,
        tokens: u16,
        tools: u8,
        mentions: Vec<Mention>,
        is_fenced: bool,
    },
    Execute {
        id: u8,
        goes_on: bool,
        mentions: Vec<Mention>,
    },
    /// Records entities found in the steps that the follower has not searched yet.
    Find {
        mentions: Vec<Mention>,
    },
    Relate {
        from: EntityRef,
        relation: u8,
        to: EntityRef,
    },
    Resolve {
        entity: EntityRef,
        id: u8,
        parents: Vec<EntityRef>,
        around: Vec<Mention>,
    },
    /// A person judges the event at a position.
    Judge {
        event: u8,
        is_accepted: bool,
    },
    /// Undoes some events of the session, or redoes them.
    Undo {
        first: u8,
        length: u8,
        is_redo: bool,
    },
    /// Forks at a moment between the session's beginning and now.
    Fork {
        at: u16,
        into: u8,
    },
}

fn entity() -> impl Strategy<Value = EntityRef> {
    (0..2_usize, 0..5_u8).prop_map(|(kind, key)| EntityRef {
        kind: ["device", "site"][kind].to_owned(),
        key: format!("k{key}"),
    })
}

fn mention() -> impl Strategy<Value = Mention> {
    let how = prop_oneof![
        2 => Just(MentionSource::Pattern),
        1 => Just(MentionSource::Known),
        1 => Just(MentionSource::Near),
        1 => Just(MentionSource::Reference),
        1 => Just(MentionSource::Json),
    ];
    let parents = proptest::collection::vec(entity(), 0..3);
    let optional = || proptest::option::weighted(0.3, 0..3_u8);
    (
        entity(),
        how,
        any::<[bool; 2]>(),
        optional(),
        optional(),
        parents,
    )
        .prop_map(
            |(EntityRef { kind, key }, how, [is_upper, nested], id, slug, parents)| Mention {
                name: if is_upper {
                    key.to_uppercase()
                } else {
                    key.clone()
                },
                kind,
                key,
                how,
                span: Some((0, 2)),
                id: id.map(|id| id.to_string()),
                slug: slug.map(|slug| format!("slug-{slug}")),
                parents,
                nested,
                score: 0,
                weight: 0,
                aliases: slug.iter().map(|slug| format!("alias-{slug}")).collect(),
                words: Vec::new(),
            },
        )
}

fn mentions() -> impl Strategy<Value = Vec<Mention>> {
    proptest::collection::vec(mention(), 0..4)
}

pub(crate) fn talk() -> impl Strategy<Value = Action> {
    prop_oneof![
        2 => (0..8_u8, 0..4_u8).prop_map(|(field, value)| Action::Update { field, value }),
        1 => Just(Action::Close),
        2 => (0..2_u8, any::<bool>(), any::<bool>())
            .prop_map(|(name, is_long, is_renewed)| Action::Lease { name, is_long, is_renewed }),
        1 => (0..2_u8).prop_map(|name| Action::Release { name }),
        8 => (0..4_u8, 0..4_u8, any::<u16>(), 0..3_u8, mentions(), proptest::bool::weighted(0.1))
            .prop_map(|(sender, kind, tokens, tools, mentions, is_fenced)| Action::Say {
                sender, kind, tokens, tools, mentions, is_fenced,
            }),
        3 => (0..4_u8, any::<bool>(), mentions())
            .prop_map(|(id, goes_on, mentions)| Action::Execute { id, goes_on, mentions }),
        3 => mentions().prop_map(|mentions| Action::Find { mentions }),
        3 => (entity(), 0..3_u8, entity())
            .prop_map(|(from, relation, to)| Action::Relate { from, relation, to }),
        2 => (entity(), 0..3_u8, proptest::collection::vec(entity(), 0..2), mentions())
            .prop_map(|(entity, id, parents, around)| Action::Resolve { entity, id, parents, around }),
        3 => (1..60_u8, any::<bool>())
            .prop_map(|(event, is_accepted)| Action::Judge { event, is_accepted }),
        2 => (1..60_u8, 0..20_u8, any::<bool>())
            .prop_map(|(first, length, is_redo)| Action::Undo { first, length, is_redo }),
        3 => (any::<u16>(), 4..8_u8).prop_map(|(at, into)| Action::Fork { at, into }),
    ]
}

/// Returns one of four session IDs or four fork IDs.
pub(crate) fn name(session: u8) -> String {
    match session {
        0..4 => format!("s-{session}"),
        _ => format!("f-{session}"),
    }
}

/// A command that first reads its subject, on the writer, so that the result does not depend on grouping.
pub(crate) struct DeferredCommand<F>(pub F);

impl<C: Command, F: FnMut(&DecisionContext<'_>) -> Result<C, Refusal> + Send> Command
    for DeferredCommand<F>
{
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        (self.0)(on)?.decide(on)
    }
}

fn empty() -> Body {
    Body::new(codec::EMPTY.to_vec(), [11; 16])
}

fn named(session: &str, fence: Option<Position>, clock: &Clock) -> PreparedSession {
    let selector = SessionSelector {
        session: Some(session.to_owned()),
        fence,
        ..SessionSelector::default()
    };
    PreparedSession::prepare(selector, clock)
}

fn own(session: &str) -> Vec<Line> {
    vec![Line {
        session: session.to_owned(),
        up_to: Position(u64::MAX),
    }]
}

/// Returns the lines of a session up to a position.
pub(crate) fn lines_up_to(
    rows: &dyn crate::store::Rows,
    session: &str,
    up_to: Position,
) -> Vec<Line> {
    let mut lines = lineage(rows, session).unwrap();
    for line in &mut lines {
        line.up_to = line.up_to.min(up_to);
    }
    lines
}

fn updated(field: u8, value: u8) -> SessionUpdated {
    let mut updated = SessionUpdated::default();
    let text = if value == 0 {
        String::new()
    } else {
        format!("text {value}")
    };
    match field {
        0 => updated.title = Some(text),
        1 => updated.topic = Some(text),
        2 => updated.tags = Some(vec![format!("t{value}"), "t9".to_owned()]),
        3 => updated.add_tags = vec![format!("t{value}")],
        4 => updated.remove_tags = vec![format!("t{value}")],
        5 => updated.preferences = Some(format!(r#"{{"p{value}":null}}"#)),
        _ => updated.preferences = Some(format!(r#"{{"p{value}":{field}}}"#)),
    }
    updated
}

fn note(session: &str, what: SessionChange, body: Body, clock: &Clock) -> TestCall {
    TestCall::new(RecordSessionChange {
        choice: named(session, None, clock),
        what,
        body,
    })
}

fn record_message(session: String, said: MessageMeta, is_fenced: bool, clock: &Clock) -> TestCall {
    let choices = [
        named(&session, None, clock),
        // The first possible event is never a lease.
        named(&session, Some(Position(0)), clock),
    ];
    TestCall::new(DeferredCommand(move |on: &DecisionContext<'_>| {
        let choice = match lease(on.rows, &session, "l0")? {
            Some(lease) if is_fenced => {
                let mut choice = choices[0].clone();
                choice.fence = Some(Position(lease.token));
                choice
            }
            None if is_fenced => choices[1].clone(),
            Some(_) | None => choices[0].clone(),
        };
        // Forgetting lowers the count, so the id of that number may still be in use.
        let mut number = messages::totals(on.rows, &own(&session))?.messages;
        let mut id = format!("m-{session}-{number}");
        while messages::by_id(on.rows, &own(&session), &id)?.is_some() {
            number += 1;
            id = format!("m-{session}-{number}");
        }
        let tool = |number| ToolUse {
            name: format!("tool-{number}"),
            status: None,
            result: None,
        };
        let recorded = MessageRecorded {
            content: Text::Inline("said".to_owned()),
            tools: (0..said.tools).map(tool).collect(),
            pack: None,
            quoted: Vec::new(),
            evidence: Vec::new(),
            replaces: Vec::new(),
        };
        Ok(RecordMessage {
            choice,
            said: MessageMeta { id, ..said.clone() },
            body: Some(Body::new(codec::encode(&recorded), [12; 16])),
            blobs: Vec::new(),
        })
    }))
}

/// Makes every third text suspicious.
pub(crate) fn suspect(number: u16) -> Vec<String> {
    number
        .is_multiple_of(3)
        .then(|| "override".to_owned())
        .into_iter()
        .collect()
}

/// Records the same mentions for each step that the follower has not searched yet.
fn find(session: String, mentions: Vec<Mention>) -> TestCall {
    TestCall::new(DeferredCommand(move |on: &DecisionContext<'_>| {
        let after = searched(on.rows, &session)?;
        let steps = steps::list(on.rows, &own(&session), 1, 1000)?;
        let mut new: Vec<_> = steps.iter().map(|step| step.attempt).collect();
        new.retain(|attempt| attempt.position > after);
        new.sort_by_key(|attempt| attempt.position);
        let last = new.last().map_or(after, |attempt| attempt.position);
        let found = new.iter().map(|attempt| TextEntities {
            source: Source::Step {
                step: attempt.step,
                attempt: attempt.attempt,
            },
            mentions: mentions.clone(),
        });
        Ok(RecordExtraction {
            session: session.clone(),
            rules: Vec::new(),
            found: found.collect(),
            last,
            body: empty(),
        })
    }))
}

fn fork(of: String, at: u16, into: String) -> TestCall {
    TestCall::new(DeferredCommand(move |on: &DecisionContext<'_>| {
        let row = sessions::open(on.rows, &of)?;
        let position = row.created + u64::from(at) % (row.changed - row.created + 1);
        let lines = lines_up_to(on.rows, &of, Position(position));
        Ok(CreateSession {
            session: into.clone(),
            project: row.project,
            user: None,
            parent: Some(Parent {
                session: of.clone(),
                position,
                last_step: steps::last_before(on.rows, &lines, u32::MAX)?.unwrap_or(0),
            }),
            host: None,
            body: SessionCreated::default().prepare([13; 16]),
        })
    }))
}

impl Action {
    pub(crate) fn request(&self, session: u8, clock: &Clock) -> TestCall {
        let session = name(session);
        match self.clone() {
            Self::Update { field, value } => {
                let updated = updated(field, value);
                let body = Body::new(codec::encode(&updated), [14; 16]);
                note(
                    &session,
                    SessionChange::Updated(Box::new(updated)),
                    body,
                    clock,
                )
            }
            Self::Close => {
                let body = Body::new(codec::encode(&SessionClosed::default()), [14; 16]);
                note(&session, SessionChange::Closed, body, clock)
            }
            Self::Lease {
                name,
                is_long,
                is_renewed,
            } => {
                let choice = named(&session, None, clock);
                let name = format!("l{name}");
                TestCall::new(DeferredCommand(move |on: &DecisionContext<'_>| {
                    let held = lease(on.rows, &session, &name)?;
                    let token = held.filter(|_| is_renewed);
                    Ok(AcquireLease {
                        choice: choice.clone(),
                        name: name.clone(),
                        // Or expired at once, also for commands of the same group.
                        micros: if is_long { 1 << 40 } else { 0 },
                        token: token.map(|lease| Position(lease.token)),
                        body: empty(),
                    })
                }))
            }
            Self::Release { name } => {
                TestCall::new(DeferredCommand(move |on: &DecisionContext<'_>| {
                    let held = lease(on.rows, &session, &format!("l{name}"))?;
                    Ok(ReleaseLease {
                        session: session.clone(),
                        project: None,
                        token: Position(held.map_or(0, |lease| lease.token)),
                        body: empty(),
                    })
                }))
            }
            Self::Say {
                sender,
                kind,
                tokens,
                tools,
                mentions,
                is_fenced,
            } => {
                let said = MessageMeta {
                    id: String::new(),
                    sender: Sender::of_number(sender).unwrap(),
                    kind: Kind::of_number(kind).unwrap(),
                    tokens: tokens.into(),
                    tools: tools.into(),
                    rules: Vec::new(),
                    known_at: 0,
                    mentions,
                    possible: Vec::new(),
                    marked: Vec::new(),
                    remembered: RememberedKind::of_number(kind),
                    suspect: suspect(tokens),
                    blobs: Vec::new(),
                };
                record_message(session, said, is_fenced, clock)
            }
            Self::Execute {
                id,
                goes_on,
                mentions,
            } => {
                let recorded = ToolRecorded {
                    tool: "tool".to_owned(),
                    parameters: None,
                    result: None,
                    error: None,
                };
                TestCall::new(RecordTool {
                    choice: named(&session, None, clock),
                    executed: ToolCallMeta {
                        id: format!("t-{id}"),
                        status: Status::Running,
                        rules: Vec::new(),
                        mentions,
                        suspect: suspect(id.into()),
                        blobs: Vec::new(),
                    },
                    goes_on,
                    body: Some(Body::new(codec::encode(&recorded), [15; 16])),
                    blobs: Vec::new(),
                })
            }
            Self::Find { mentions } => find(session, mentions),
            Self::Undo {
                first,
                length,
                is_redo,
            } => {
                let (first, last) = (u64::from(first), u64::from(first) + u64::from(length));
                TestCall::new(UndoEvents {
                    changes: vec![StreamChange {
                        stream: StreamName::Session(session),
                        events: UndoneEvents {
                            ranges: vec![(first, last)],
                            events: last - first + 1,
                        },
                    }],
                    is_redo,
                    salt: [17; 16],
                })
            }
            Self::Judge { event, is_accepted } => TestCall::new(RecordJudgement {
                reviewed: SuspicionReviewed {
                    event: event.into(),
                    judgement: match is_accepted {
                        true => Judgement::Accepted,
                        false => Judgement::Rejected,
                    },
                },
                salt: [16; 16],
            }),
            Self::Relate { from, relation, to } => {
                let related = EntitiesRelated {
                    from_name: from.key.to_uppercase(),
                    from,
                    relation: ["parent", "mentioned_with", "beside"][usize::from(relation)].into(),
                    to_name: to.key.to_uppercase(),
                    to,
                };
                note_entity(&session, EntityEvent::Related(related), empty(), clock)
            }
            Self::Resolve {
                entity,
                id,
                parents,
                around,
            } => {
                let resolved = EntityResolved {
                    name: entity.key.to_uppercase(),
                    entity,
                    id: Some(id.to_string()),
                    slug: None,
                    resolver: "r".to_owned(),
                    expires: 1,
                    parents,
                    around,
                };
                let data = EntityData {
                    data: "{}".to_owned(),
                };
                let body = Body::new(codec::encode(&data), [16; 16]);
                note_entity(&session, EntityEvent::Resolved(resolved), body, clock)
            }
            Self::Fork { at, into } => fork(session, at, name(into)),
        }
    }
}

fn note_entity(session: &str, event: EntityEvent, body: Body, clock: &Clock) -> TestCall {
    TestCall::new(NoteEntity {
        choice: named(session, None, clock),
        event,
        body,
    })
}
