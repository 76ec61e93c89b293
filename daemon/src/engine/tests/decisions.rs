//! Given events, when a command, then events or a refusal.

use super::history::ViewRows;
use super::history::{create, record, register, register_named};
use super::{Fixture, START, TestCall, agent, folded_anew};
use crate::engine::{Command, DecisionContext};
use crate::error::{Code, Refusal};
use crate::events::sessions::{SessionEvent, SessionOrigin};
use crate::events::steps::StepAssigned;
use crate::events::{self, NewEvent, empty_body};
use crate::log::{Body, Position};
use crate::steps::Registration;

fn step_of(outcome: &Result<super::Outcome, Refusal>) -> (u32, u32) {
    let assigned: StepAssigned = events::meta(&outcome.as_ref().unwrap().event).unwrap();
    (assigned.step, assigned.attempt)
}

/// A step without a session begins one: both events are in one commit, and the reply is the step's.
#[test]
fn a_first_step_begins_a_session() {
    let mut fixture = Fixture::new();
    let outcome = fixture.one(record(None, None, true));
    assert_eq!(step_of(&outcome), (1, 1));
    assert_eq!(fixture.kinds(), ["SessionCreated", "StepRecorded"]);
    let events = fixture.events();
    assert_eq!(events[0].header.session, events[1].header.session);
    assert_eq!(events[0].header.time, events[1].header.time);
}

/// Commands of one group see each other: numbers continue, the second command finds a session that the first
/// created, and another attempt is counted.
#[test]
fn commands_of_one_group_see_each_other() {
    let mut fixture = Fixture::new();
    let outcomes = fixture.group(vec![
        TestCall::new(create("s-1")),
        record(Some("s-1"), None, true),
        record(Some("s-1"), None, true),
        record(Some("s-1"), Some(2), false),
        record(Some("s-1"), Some(9), true),
        record(Some("s-1"), None, true),
        record(None, None, true),
        record(None, None, true).by("b"),
        TestCall::new(create("s-1")),
    ]);
    let steps: Vec<(u32, u32)> = outcomes[1..8].iter().map(step_of).collect();
    let wanted = [(1, 1), (2, 1), (2, 2), (9, 1), (10, 1), (11, 1), (1, 1)];
    assert_eq!(steps, wanted);
    assert_eq!(outcomes[8].as_ref().unwrap_err().code, Code::Conflict);
    // A caller without a session continues its last one; another agent begins a new one.
    let session = |at: usize| outcomes[at].as_ref().unwrap().event.header.session.clone();
    assert_eq!(session(6).as_deref(), Some("s-1"));
    assert_ne!(session(7).as_deref(), Some("s-1"));
    assert_eq!(
        folded_anew(&fixture).rows_of_views(),
        fixture.rows.rows_of_views()
    );
}

/// A scope has a maximum number of names of each kind, also within one group. Replacing an existing name is always
/// possible, and scopes are counted separately.
#[test]
fn a_scope_holds_so_many_registrations() {
    let mut fixture = Fixture::new();
    let many = |kind, names: std::ops::Range<usize>| -> Vec<TestCall> {
        let one = |n| register_named(2, "s-1", kind, &format!("kind-{n}"));
        names.map(one).collect()
    };
    let outcomes = fixture.group(many(Registration::Extractor, 0..40));
    assert!(outcomes.iter().all(Result::is_ok));
    let outcomes = fixture.group(many(Registration::Extractor, 40..65));
    assert!(outcomes[..24].iter().all(Result::is_ok));
    let refusal = outcomes[24].as_ref().unwrap_err();
    assert_eq!(refusal.code, Code::StorageQuotaExceeded);
    let wanted = "everywhere there are 64 extractors of other names, which is as many as a scope may \
                  have; `kind-64` was not registered";
    assert_eq!(refusal.message, wanted);
    for _ in 0..3 {
        let again = fixture.group(many(Registration::Extractor, 0..64));
        assert!(again.iter().all(Result::is_ok));
    }
    fixture
        .one(register_named(2, "s-1", Registration::Extractor, "KIND_63"))
        .unwrap();
    fixture.one(TestCall::new(create("s-1"))).unwrap();
    fixture
        .one(register_named(0, "s-1", Registration::Extractor, "kind-64"))
        .unwrap();
    fixture
        .one(register_named(1, "s-1", Registration::Extractor, "kind-64"))
        .unwrap();
    let outcomes = fixture.group(many(Registration::Mapping, 0..65));
    assert!(outcomes[..64].iter().all(Result::is_ok));
    assert_eq!(
        outcomes[64].as_ref().unwrap_err().code,
        Code::StorageQuotaExceeded
    );
}

/// The same key with the same body returns the first event, in the same group and long after.
#[test]
fn a_repeated_key_gives_the_first_event() {
    let mut fixture = Fixture::new();
    let ask = || record(None, None, true).key("k", "body");
    let outcomes = fixture.group(vec![ask(), ask()]);
    let first = outcomes[0].as_ref().unwrap();
    let second = outcomes[1].as_ref().unwrap();
    assert!(!first.replayed && second.replayed);
    assert_eq!(first.event, second.event);
    fixture.one(record(None, None, true)).unwrap();
    let before = fixture.rows.clone();
    let third = fixture.one(ask()).unwrap();
    assert!(third.replayed);
    assert_eq!(third.event, first.event);
    assert_eq!(third.event.key.as_deref(), Some("k"));
    assert_eq!(fixture.rows, before, "a repeated key writes nothing");
    assert_eq!(fixture.tail.position, Position(3));
}

/// The same key with another body is refused, also within a group. The same key text of another agent is a
/// different key.
#[test]
fn a_key_for_another_body_is_refused() {
    let mut fixture = Fixture::new();
    let ask = |body: &str| record(None, None, true).key("k", body);
    let outcomes = fixture.group(vec![ask("one"), ask("two")]);
    assert_eq!(
        outcomes[1].as_ref().unwrap_err().code,
        Code::IdempotencyConflict
    );
    let refused = fixture.one(ask("two")).unwrap_err();
    assert_eq!(refused.code, Code::IdempotencyConflict);
    assert!(refused.hint.is_some());
    assert!(!fixture.one(ask("two").by("b")).unwrap().replayed);
}

/// Appends events, then fails, like a command that reads a damaged row half way.
struct FailingCommand;

impl Command for FailingCommand {
    fn decide(&mut self, _: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let created = SessionEvent::Created(SessionOrigin::default());
        let good = NewEvent::in_session("s-1", None, created, empty_body([0; 16]));
        // An update without a body does not fold.
        let body = Body::new(Vec::new(), [0; 16]);
        let bad = NewEvent::in_session("s-1", None, SessionEvent::Updated, body);
        Ok(vec![good, bad])
    }
}

/// A refused command leaves no changes, not even of events that it had already folded. The rest of its group is
/// unaffected.
#[test]
fn a_refused_command_leaves_no_trace() {
    let ask = |at: u32| record(Some("s-1"), Some(at), true).key(&format!("k{at}"), "body");
    let run = |with_failures: bool| {
        let mut fixture = Fixture::new();
        let mut asks = vec![TestCall::new(create("s-1")), ask(1)];
        if with_failures {
            asks.push(TestCall::new(FailingCommand).key("k9", "body"));
            asks.push(record(Some("unknown"), None, true).key("k8", "body"));
            asks.push(record(Some("s-1"), Some(1_000_001), true));
        }
        asks.push(ask(2));
        let outcomes = fixture.group_at(START, asks).0;
        let refused = outcomes.iter().filter(|outcome| outcome.is_err()).count();
        assert_eq!(refused, if with_failures { 3 } else { 0 });
        fixture
    };
    let (with, without) = (run(true), run(false));
    assert_eq!(with.rows, without.rows);
    assert_eq!(with.tail, without.tail);
}

/// A group of only refusals commits nothing.
#[test]
fn a_group_of_refusals_commits_nothing() {
    let mut fixture = Fixture::new();
    let (outcomes, changes) = fixture.group_at(START, vec![record(Some("none"), None, true)]);
    let refused = outcomes[0].as_ref().unwrap_err();
    assert_eq!(refused.code, Code::SessionNotFound);
    assert!(changes.is_empty());
    assert_eq!(fixture.rows, crate::store::MemoryStore::new());
}

/// The log's time never runs backwards, even if the clock does.
#[test]
fn time_never_runs_backwards() {
    let mut fixture = Fixture::new();
    for now in [START, START - 5_000_000, 0, START + 1, START] {
        let (outcomes, _) = fixture.group_at(now, vec![record(None, None, true)]);
        outcomes[0].as_ref().unwrap();
    }
    let times: Vec<u64> = fixture
        .events()
        .iter()
        .map(|event| event.header.time)
        .collect();
    assert!(times.is_sorted(), "{times:?}");
    assert_eq!(times.last(), Some(&(START + 1)));
}

/// Registrations are events of their session, of their project, or global.
#[test]
fn registrations_stand_where_they_hold() {
    let mut fixture = Fixture::new();
    fixture.one(TestCall::new(create("s-1"))).unwrap();
    for (scope, session, project) in [
        (0, Some("s-1"), None),
        (1, None, Some("p-1")),
        (2, None, None),
    ] {
        let outcome = fixture
            .one(register(scope, "s-1", Registration::Extractor))
            .unwrap();
        assert_eq!(outcome.event.header.session.as_deref(), session);
        assert_eq!(outcome.event.header.project.as_deref(), project);
    }
    assert_eq!(fixture.events().len(), 4);
    assert_eq!(fixture.events()[1].header.actor, agent("a"));
    assert_eq!(
        folded_anew(&fixture).rows_of_views(),
        fixture.rows.rows_of_views()
    );
}
