//! Random forget requests with every selector, and the remainder of a session, a project and a source.

use super::history::ViewRows;
use proptest::prelude::*;

use super::history::{choice_of, create, erase_stream, record};
use super::session_actions::{DeferredCommand, name};
use super::{Fixture, TestCall, folded_anew, save};
use crate::checkpoints::of_session_row;
use crate::clock::Clock;
use crate::engine::{Command, DecisionContext};
use crate::entities::{self, EntityRef};
use crate::error::{Code, Refusal};
use crate::events::steps::StepAssigned;
use crate::events::{self, NewEvent};
use crate::forgetting::ContentForgotten;
use crate::forgetting::decided::{
    ContentOrigin, Forget, ForgetSelector, RecordEventErasure, Selection, SelectionContext,
    SessionCounts,
};
use crate::log::{Actor, EventKind, OBJECTS, Position, StreamName, forgotten};
use crate::operation::Moment;
use crate::sessions;
use crate::store::{Changes, Error, RowsMut};
use crate::{messages, steps};

/// A random forget request.
#[derive(Clone, Debug)]
pub(crate) struct ForgetTarget {
    session: Option<u8>,
    project: Option<u8>,
    agent: Option<u8>,
    origin: Option<u8>,
    /// A part of the log, in thousandths of its length.
    from: Option<u16>,
    to: Option<u16>,
}

impl ForgetTarget {
    /// All that an agent recorded.
    pub(crate) const fn of_agent(agent: u8) -> Self {
        Self {
            session: None,
            project: None,
            agent: Some(agent),
            origin: None,
            from: None,
            to: None,
        }
    }
}

pub(crate) fn part() -> impl Strategy<Value = ForgetTarget> {
    let rarely = |range: std::ops::Range<u8>| proptest::option::weighted(0.3, range);
    let moment = || proptest::option::weighted(0.4, 0..1000_u16);
    (
        rarely(0..8),
        rarely(0..3),
        rarely(0..3),
        rarely(0..7),
        moment(),
        moment(),
    )
        .prop_map(|(session, project, agent, origin, from, to)| ForgetTarget {
            session,
            project,
            agent,
            origin,
            from,
            to,
        })
}

impl ForgetTarget {
    fn selector(&self, end: Position) -> ForgetSelector {
        let moment = |part: u16| Moment::Position(Position(end.0 * u64::from(part) / 1000));
        ForgetSelector {
            session: self.session.map(name),
            project: self.project.map(|number| format!("p-{number}")),
            of_agent: self.agent.map(|number| format!("agent-{number}")),
            origin: self.origin.map(|origin| match origin {
                0..2 => ContentOrigin::Source(format!("source-{origin}")),
                2 => ContentOrigin::File("/source-0".to_owned()),
                3 => ContentOrigin::File("/source-1/f-1.md".to_owned()),
                4 => ContentOrigin::Tool("tool".to_owned()),
                5 => ContentOrigin::Resolver("r".to_owned()),
                _ => ContentOrigin::Import,
            }),
            from: self.from.map(moment),
            to: self.to.map(moment),
            rule: None,
        }
    }

    pub(crate) fn request(&self, _clock: &Clock) -> TestCall {
        let part = self.clone();
        TestCall::new(DeferredForget {
            selector: Box::new(move |end| part.selector(end)),
            forget: None,
        })
    }
}

/// Returns the position of the last event that a command can see, of any stream.
fn last(on: &DecisionContext<'_>) -> Result<Position, Refusal> {
    let mut last = Position(0);
    let sessions = crate::log::index::sessions(on.rows)?.into_iter();
    let projects = crate::log::index::projects(on.rows)?.into_iter();
    let streams = sessions
        .map(StreamName::Session)
        .chain(projects.map(StreamName::Project))
        .chain([StreamName::Global]);
    let log = crate::log::Log::new(on.rows);
    let end = Position(u64::MAX - 1);
    for stream in streams {
        let places = log.stream(stream.scope(), last, end, usize::MAX)?;
        last = places.last().map_or(last, |(position, _)| *position);
    }
    Ok(last)
}

/// A request that is resolved on the writer, so that the result does not depend on grouping.
struct DeferredForget {
    selector: Box<dyn Fn(Position) -> ForgetSelector + Send>,
    forget: Option<Forget>,
}

impl Command for DeferredForget {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let end = last(on)?;
        let looking = SelectionContext {
            rows: on.rows,
            event_lookup: on,
            blobs: None,
            looked_at: &|_| None,
            examined: None,
            now: on.now,
            events_max: usize::MAX,
        };
        let selected = looking.select(&(self.selector)(end), end)?;
        let forget = self.forget.insert(Forget::new(selected, [7; 16]));
        forget.decide(on)
    }

    fn keep(&mut self, rows: &mut dyn RowsMut) -> Result<(), Error> {
        self.forget
            .as_mut()
            .map_or(Ok(()), |forget| forget.keep(rows))
    }
}

/// Decides a request unchanged.
fn selector(selector: ForgetSelector) -> TestCall {
    TestCall::new(DeferredForget {
        selector: Box::new(move |_| selector.clone()),
        forget: None,
    })
}

/// Requests to forget everything that an agent recorded.
pub(crate) fn forgetting_of(agent: &str) -> TestCall {
    selector(of_agent(agent))
}

/// Erases the forgotten content of continuing streams from the records.
pub(crate) fn erase_parts(fixture: &mut Fixture) -> Vec<Changes> {
    let unerased = forgotten::unerased(&fixture.rows).unwrap();
    let streams = unerased.into_iter().map(|(_, stream)| stream);
    streams
        .flat_map(|stream| erase_stream(fixture, stream.scope()))
        .collect()
}

/// Records that the oldest tombstone is erased.
pub(crate) fn note() -> TestCall {
    TestCall::new(DeferredCommand(|on: &DecisionContext<'_>| {
        let mut unerased = forgotten::unerased(on.rows)?.into_iter();
        let (tombstone, stream) = unerased
            .next()
            .ok_or_else(|| Refusal::new(Code::Conflict, "nothing is left to erase"))?;
        Ok(RecordEventErasure::new(tombstone, stream, [9; 16]))
    }))
}

fn is_as_folded(fixture: &Fixture) {
    fixture.events();
    assert_eq!(
        folded_anew(fixture).rows_of_views(),
        fixture.rows.rows_of_views()
    );
}

fn of_agent(agent: &str) -> ForgetSelector {
    ForgetSelector {
        of_agent: Some(agent.to_owned()),
        ..ForgetSelector::default()
    }
}

fn reported(fixture: &mut Fixture, ask: TestCall) -> ContentForgotten {
    let outcome = fixture.one(ask).unwrap();
    crate::forgetting::decided::forgotten_by(&outcome).unwrap()
}

/// In a session of two agents, one agent's events are forgotten with their objects. The other agent's steps and
/// checkpoints stay, and numbers of forgotten steps are not reused.
#[test]
fn what_an_agent_recorded_goes() {
    let mut fixture = Fixture::new();
    let saved =
        |id: u8, content: u8| TestCall::new(save(id, choice_of("s-1"), &[Some(content)], false));
    let outcomes = fixture.group(vec![
        TestCall::new(create("s-1")),
        record(Some("s-1"), None, true),
        record(Some("s-1"), None, true).by("b"),
        saved(1, 1),
        saved(2, 2).by("b"),
        record(Some("s-1"), None, true).by("b").key("k", "body"),
    ]);
    assert!(outcomes.iter().all(Result::is_ok));
    let own = sessions::lineage(&fixture.rows, "s-1").unwrap();
    assert_eq!(fixture.rows.len(OBJECTS), 2);
    let reported = reported(&mut fixture, selector(of_agent("b")));
    assert_eq!(
        (
            reported.events,
            reported.sessions,
            reported.sessions_in_part
        ),
        (3, 0, 1)
    );
    for is_erased in [false, true] {
        if is_erased {
            assert!(!erase_parts(&mut fixture).is_empty());
        }
        let left: Vec<u32> = steps::list(&fixture.rows, &own, 1, 10)
            .unwrap()
            .iter()
            .map(|step| step.attempt.step)
            .collect();
        assert_eq!(left, [1]);
        assert_eq!(of_session_row(&fixture.rows, "s-1").unwrap().count, 1);
        assert_eq!(fixture.rows.len(OBJECTS), 1);
        assert_eq!(messages::totals(&fixture.rows, &own).unwrap().uses, 1);
        let repeated = fixture.one(record(Some("s-1"), None, true).by("b").key("k", "body"));
        assert_eq!(repeated.unwrap_err().code, Code::NotFound);
        is_as_folded(&fixture);
    }
    for event in fixture.events() {
        let is_theirs = event.header.actor.agent == "b";
        assert_eq!(event.payload.is_none(), is_theirs, "{}", event.position());
    }
    let again = fixture.one(selector(of_agent("b"))).unwrap_err();
    assert_eq!(again.code, Code::Conflict, "nothing of it is left");
    fixture.one(note()).unwrap();
    assert!(forgotten::unerased(&fixture.rows).unwrap().is_empty());
    let next = fixture.one(record(Some("s-1"), None, true)).unwrap();
    let next: StepAssigned = events::meta(&next.event).unwrap();
    assert_eq!(next.step, 4);
    is_as_folded(&fixture);
}

/// A session with one recording agent is forgotten whole; a session with a remaining fork is not.
#[test]
fn whole_sessions_go_before_those_they_share() {
    let mut fixture = Fixture::new();
    fixture.group(vec![
        TestCall::new(create("s-1")).by("b"),
        record(Some("s-1"), None, true).by("b"),
        TestCall::new(create("s-2")),
        record(Some("s-2"), None, true),
    ]);
    let reported = reported(&mut fixture, selector(of_agent("b")));
    assert_eq!(
        (
            reported.events,
            reported.sessions,
            reported.sessions_in_part
        ),
        (2, 1, 0)
    );
    assert!(sessions::forgotten(&fixture.rows, "s-1").unwrap().is_some());
    assert!(sessions::exists(&fixture.rows, "s-2").unwrap());
    is_as_folded(&fixture);
}

/// A tool's results are forgotten with the entities found in them; the counts then cover only the rest.
#[test]
fn what_a_tool_returned_goes() {
    let mut fixture = Fixture::new();
    let talk = super::session_actions::Action::Find {
        mentions: Vec::new(),
    };
    let clock = Clock::fixed(super::START, 3);
    fixture.group(vec![
        TestCall::new(create("s-1")),
        record(Some("s-1"), None, true),
        TestCall::new(save(1, choice_of("s-1"), &[Some(1)], false)),
        talk.request(1, &clock),
    ]);
    let reported = reported(
        &mut fixture,
        selector(ForgetSelector {
            origin: Some(ContentOrigin::Tool("tool".to_owned())),
            ..ForgetSelector::default()
        }),
    );
    assert_eq!(reported.sessions_in_part, 1);
    let own = sessions::lineage(&fixture.rows, "s-1").unwrap();
    assert!(steps::list(&fixture.rows, &own, 1, 10).unwrap().is_empty());
    assert!(entities::kinds(&fixture.rows, &own).unwrap().is_empty());
    assert_eq!(of_session_row(&fixture.rows, "s-1").unwrap().count, 1);
    is_as_folded(&fixture);
    let gone: Vec<String> = fixture
        .events()
        .into_iter()
        .filter(|event| event.payload.is_none() && !event.header.kind.records_forgetting())
        .map(|event| event.header.kind.to_string())
        .collect();
    let mut tombstones = fixture.events().into_iter();
    let tombstone = tombstones.find(|event| event.header.kind == EventKind::EventsForgotten);
    assert!(
        tombstone.is_some() && gone.contains(&"StepRecorded".to_owned()),
        "{gone:?}"
    );
}

/// A resolver's data is forgotten whether the daemon or a caller asked, before or after the other.
#[test]
fn what_a_resolver_said_goes() {
    let mut fixture = Fixture::new();
    let clock = Clock::fixed(super::START, 3);
    let resolved = |key: &str| {
        let entity = EntityRef {
            kind: "device".to_owned(),
            key: key.to_owned(),
        };
        let talk = super::session_actions::Action::Resolve {
            entity,
            id: 1,
            parents: Vec::new(),
            around: Vec::new(),
        };
        talk.request(1, &clock)
    };
    let by_itself = |key: &str| TestCall {
        by: Actor::daemon(),
        ..resolved(key)
    };
    let outcomes = fixture.group(vec![
        TestCall::new(create("s-1")),
        by_itself("before"),
        record(Some("s-1"), None, true),
        resolved("asked"),
        by_itself("after"),
    ]);
    assert!(outcomes.iter().all(Result::is_ok));
    let reported = reported(
        &mut fixture,
        selector(ForgetSelector {
            origin: Some(ContentOrigin::Resolver("r".to_owned())),
            ..ForgetSelector::default()
        }),
    );
    assert_eq!((reported.events, reported.sessions_in_part), (3, 1));
    erase_parts(&mut fixture);
    let left = fixture.events().into_iter();
    let left = left.filter(|event| event.payload.is_some() && event.header.session.is_some());
    let kinds: Vec<String> = left.map(|event| event.header.kind.to_string()).collect();
    assert_eq!(kinds, ["SessionCreated", "StepRecorded", "EventsForgotten"]);
    is_as_folded(&fixture);
}

/// Builds a retention rule's selection: sessions, each with its number of events, up to a position.
fn by_rule(sessions: &[(&str, u64)], up_to: Position) -> Forget {
    let counted = |events| SessionCounts {
        events,
        bytes: 10 * events,
        alone: 0,
        up_to,
    };
    let sessions = sessions.iter();
    let sessions: Vec<(String, SessionCounts)> = sessions
        .map(|(session, events)| ((*session).to_owned(), counted(*events)))
        .collect();
    let events = sessions.iter().map(|(_, counted)| counted.events).sum();
    let reported = ContentForgotten {
        events,
        bytes: 10 * events,
        sessions: sessions.len() as u64,
        ..ContentForgotten::default()
    };
    let selected = Selection {
        sessions,
        reported,
        up_to,
        ..Selection::default()
    };
    Forget::by_rule(selected, [7; 16])
}

/// A session that got an event after a rule had selected it stays. A session whose past it shares stays, too; the
/// others are forgotten. When all stay, nothing is forgotten.
#[test]
fn a_rule_spares_what_was_used_since_it_was_selected() {
    let mut fixture = Fixture::new();
    let fork = super::session_actions::Action::Fork { at: 0, into: 3 };
    let outcomes = fixture.group(vec![
        TestCall::new(create("s-1")),
        TestCall::new(create("s-2")),
        fork.request(2, &Clock::fixed(super::START, 3)),
    ]);
    assert!(outcomes.iter().all(Result::is_ok));
    let (counted, up_to) = ([("s-3", 1), ("s-2", 1), ("s-1", 1)], fixture.tail.position);
    fixture.one(record(Some("s-3"), None, true)).unwrap();
    let reported = reported(&mut fixture, TestCall::new(by_rule(&counted, up_to)));
    assert_eq!(
        (reported.sessions, reported.events, reported.bytes),
        (1, 1, 10)
    );
    assert_eq!(sessions::ids(&fixture.rows, 10).unwrap(), ["s-2", "s-3"]);
    let again = fixture
        .one(TestCall::new(by_rule(&counted, up_to)))
        .unwrap_err();
    assert_eq!(again.code, Code::Conflict);
    let asked = by_rule(&[("s-3", 1)], up_to).selected;
    fixture
        .one(TestCall::new(Forget::new(asked, [7; 16])))
        .unwrap();
    assert_eq!(
        sessions::ids(&fixture.rows, 10).unwrap(),
        ["s-2"],
        "who asks for it means also what came since"
    );
    is_as_folded(&fixture);
}
