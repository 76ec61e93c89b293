//! Forgetting, from decision to erasure: what is removed, what stays, and what others observe.

use super::history::ViewRows;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::history::{choice_of, create, erase, forget, record};
use super::{Fixture, TestCall, folded_anew, save};
use crate::checkpoints::decided::{MarkKey, empty_body, of_session_row};
use crate::checkpoints::{self, CheckpointTotals};
use crate::engine::{Command, DecisionContext, erasure};
use crate::error::{Code, Refusal};
use crate::events::{Event, NewEvent};
use crate::forgetting::decided::RecordErasure;
use crate::log::{
    Actor, Body, EncodedEvent, EventKind, EventScope, FORGOTTEN, Hash, LOG, LoggedEvent, OBJECTS,
    Position, codec,
};
use crate::projections::Projections;
use crate::sessions::{self, SessionForgotten};

/// Builds a fixture with a session of three steps and a checkpoint, and a session with one step.
fn fixture() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.group(vec![
        TestCall::new(create("s-1")),
        record(Some("s-1"), None, true).key("k", "body"),
        TestCall::new(create("s-2")),
        record(Some("s-2"), None, true).by("b"),
        record(Some("s-1"), None, true),
        record(Some("s-1"), Some(2), false),
        TestCall::new(save(1, choice_of("s-1"), &[Some(1), Some(2)], false)),
    ]);
    fixture
}

fn code<T>(outcome: Result<T, Refusal>) -> Code {
    outcome.err().unwrap().code
}

fn is_as_folded(fixture: &Fixture) {
    fixture.events();
    assert_eq!(
        folded_anew(fixture).rows_of_views(),
        fixture.rows.rows_of_views()
    );
}

/// After the tombstone, and before any byte is erased, the session cannot be found by name, as the caller's current
/// session, or by key. Its ID cannot be used again.
#[test]
fn a_forgotten_session_is_gone_at_once() {
    let mut fixture = fixture();
    let tombstone = fixture.one(forget("s-1").key("f", "forget")).unwrap();
    let fact = &tombstone.event.payload.as_ref().unwrap().meta;
    let reported: SessionForgotten = crate::log::codec::decode(fact).unwrap();
    assert_eq!(reported.events, 5);
    for is_erased in [false, true] {
        if is_erased {
            erase(&mut fixture, "s-1");
        }
        let refused = fixture.one(record(Some("s-1"), None, true)).unwrap_err();
        assert_eq!(refused.code, Code::SessionNotFound);
        assert!(
            refused.message.contains("was forgotten on 2026-01-31"),
            "{refused}"
        );
        assert_eq!(code(fixture.one(forget("s-1"))), Code::SessionNotFound);
        let refused = fixture.one(TestCall::new(create("s-1"))).unwrap_err();
        assert_eq!(refused.code, Code::Conflict);
        assert!(refused.message.contains("forgotten"), "{refused}");
        let mark = MarkKey {
            session: "s-1".to_owned(),
            key: "key-0".to_owned(),
            is_unmarked: false,
            body: Some(empty_body([7; 16])),
        };
        assert_eq!(
            code(fixture.one(TestCall::new(mark))),
            Code::SessionNotFound
        );
        let key = record(Some("s-1"), None, true).key("k", "body");
        assert_eq!(code(fixture.one(key)), Code::NotFound);
        let again = fixture.one(forget("s-1").key("f", "forget")).unwrap();
        assert!(again.replayed && again.event == tombstone.event);
        assert_eq!(fixture.rows.len(OBJECTS), 0);
        assert_eq!(
            checkpoints::totals(&fixture.rows).unwrap(),
            CheckpointTotals::default()
        );
        assert_eq!(sessions::counts(&fixture.rows).unwrap().sessions, 1);
        assert_eq!(sessions::counts(&fixture.rows).unwrap().steps, 1);
        is_as_folded(&fixture);
    }
    let new = fixture.one(record(None, None, true)).unwrap();
    let session = new.event.header.session.clone();
    assert_ne!(
        session.as_deref(),
        Some("s-1"),
        "whose last one it was has none"
    );
    is_as_folded(&fixture);
}

/// After erasure, no record contains content of the session, and all content of others remains. The erasure is
/// recorded once.
#[test]
fn what_is_erased_is_in_no_record() {
    let mut fixture = fixture();
    fixture.one(forget("s-1")).unwrap();
    assert!(sessions::is_unerased(&fixture.rows, "s-1").unwrap());
    erase(&mut fixture, "s-1");
    for event in fixture.events() {
        let is_its = event.header.session.as_deref() == Some("s-1");
        let is_gone = event.payload.is_none() && event.key.is_none();
        let is_tombstone = sessions::is_tombstone(&event);
        assert_eq!(is_gone, is_its && !is_tombstone, "{}", event.position());
        assert_eq!(event.header.key.is_some(), event.position() == Position(2));
    }
    let note = || TestCall::new(RecordErasure::new("s-1", [9; 16]));
    fixture.one(note()).unwrap();
    assert!(!sessions::is_unerased(&fixture.rows, "s-1").unwrap());
    assert_eq!(code(fixture.one(note())), Code::Conflict);
    is_as_folded(&fixture);
}

/// Events of the same group, which are not in a record yet, are counted and forgotten too.
#[test]
fn a_session_of_the_same_group_is_forgotten() {
    let mut fixture = Fixture::new();
    let outcomes = fixture.group(vec![
        TestCall::new(create("s-1")),
        record(Some("s-1"), None, true).key("k", "body"),
        TestCall::new(save(1, choice_of("s-1"), &[Some(1), None], false)),
        forget("s-1"),
        record(Some("s-1"), None, true).key("k", "body"),
        TestCall::new(save(2, choice_of("s-1"), &[Some(1), None], false)),
        TestCall::new(create("s-1")),
    ]);
    let reported: SessionForgotten = {
        let event = &outcomes[3].as_ref().unwrap().event;
        crate::log::codec::decode(&event.payload.as_ref().unwrap().meta).unwrap()
    };
    assert_eq!(reported.events, 3);
    let codes: Vec<Code> = outcomes.into_iter().skip(4).map(code).collect();
    assert_eq!(
        codes,
        [Code::NotFound, Code::SessionNotFound, Code::Conflict]
    );
    assert_eq!(fixture.rows.len(OBJECTS), 0);
    is_as_folded(&fixture);
    erase(&mut fixture, "s-1");
    is_as_folded(&fixture);
}

/// Objects that another session needs stay with their bases, and then count for that session.
#[test]
fn what_others_share_stays_and_counts_for_them() {
    let mut fixture = Fixture::new();
    let save = |id: u8, session: &str, content: u8| {
        let is_delta = content > 0;
        TestCall::new(save(
            id,
            choice_of(session),
            &[Some(content), None],
            is_delta,
        ))
    };
    let outcomes = fixture.group(vec![
        TestCall::new(create("s-1")),
        TestCall::new(create("s-2")),
        TestCall::new(create("s-3")),
        // Each is a delta against the previous one; a content takes 10 bytes plus its number.
        save(1, "s-1", 0),
        save(2, "s-1", 1),
        save(3, "s-1", 2),
        save(4, "s-2", 1),
        save(5, "s-3", 0),
    ]);
    assert!(outcomes.iter().all(Result::is_ok));
    let alone = |fixture: &Fixture, session: &str| {
        let objects = checkpoints::objects_of(&fixture.rows, session).unwrap();
        let no_more = BTreeMap::from([(session, objects.into_iter().collect())]);
        checkpoints::freed_by(&fixture.rows, &no_more).unwrap()
    };
    let charged =
        |fixture: &Fixture, session| of_session_row(&fixture.rows, session).unwrap().bytes;
    let totals = |fixture: &Fixture| checkpoints::totals(&fixture.rows).unwrap();
    assert_eq!((alone(&fixture, "s-1"), alone(&fixture, "s-2")), (12, 0));
    assert_eq!(
        (charged(&fixture, "s-1"), charged(&fixture, "s-2")),
        (33, 0)
    );
    fixture.one(forget("s-1")).unwrap();
    is_as_folded(&fixture);
    erase(&mut fixture, "s-1");
    is_as_folded(&fixture);
    assert_eq!(
        (charged(&fixture, "s-2"), charged(&fixture, "s-3")),
        (21, 0)
    );
    assert_eq!((totals(&fixture).count, totals(&fixture).bytes), (2, 21));
    fixture.one(forget("s-2")).unwrap();
    is_as_folded(&fixture);
    assert_eq!(
        (charged(&fixture, "s-2"), charged(&fixture, "s-3")),
        (0, 10)
    );
    assert_eq!(fixture.rows.len(OBJECTS), 1);
    fixture.one(forget("s-3")).unwrap();
    assert_eq!(fixture.rows.len(OBJECTS), 0);
    is_as_folded(&fixture);
}

/// A long session is erased in several batches. After each batch the rows equal a fresh fold, and a restart after a
/// kill reaches the same end.
#[test]
fn a_long_session_is_erased_in_batches() {
    let mut fixture = Fixture::new();
    fixture.one(TestCall::new(create("s-1"))).unwrap();
    fixture.one(TestCall::new(create("s-2"))).unwrap();
    for _ in 0..60 {
        let long = |session| super::history::record_long(session, 9_000);
        fixture.group(vec![long("s-1"), long("s-1"), long("s-1"), long("s-2")]);
    }
    let others = |fixture: &Fixture| {
        let events = fixture.events().into_iter();
        let others = events.filter(|event| event.header.session.as_deref() == Some("s-2"));
        others.collect::<Vec<_>>()
    };
    let before = others(&fixture);
    fixture.one(forget("s-1")).unwrap();
    let records = fixture.rows.rows(LOG).count();
    let first = erasure::batch(
        &fixture.rows,
        &Projections,
        EventScope::Session("s-1"),
        Position(0),
    )
    .unwrap();
    assert!(first.next.is_some() && first.freed_bytes > 500_000);
    fixture.commit(first.changes());
    is_as_folded(&fixture);
    let commits = erase(&mut fixture, "s-1");
    assert!(!commits.is_empty());
    is_as_folded(&fixture);
    assert_eq!(fixture.rows.rows(LOG).count(), records);
    assert_eq!(others(&fixture), before);
    let left: usize = fixture.rows.rows(LOG).map(|(_, value)| value.len()).sum();
    assert!(left < 60 * 9_000 + 400 * 400, "{left} bytes are left");
    let again = erasure::batch(
        &fixture.rows,
        &Projections,
        EventScope::Session("s-1"),
        Position(0),
    )
    .unwrap();
    assert!(again.changes().is_empty() && again.next.is_none());
}

/// A command that records any feature module's event.
struct RawEvent {
    kind: &'static str,
    session: &'static str,
    fact: Value,
    body: Value,
}

impl Command for RawEvent {
    fn decide(&mut self, _on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let body = Body::new(codec::encode(&stored(&self.body)), [1; 16]);
        let encoded = EncodedEvent {
            kind: EventKind::parse(self.kind).unwrap(),
            session: None,
            project: None,
            meta: codec::encode(&stored(&self.fact)),
            body: body.clone(),
            origin: None,
        };
        let actor = Actor::default();
        let stamped = LoggedEvent::stamp(encoded, &Hash::default(), Position(1), 0, &actor, None);
        let event = Event::of(&stamped)?.unwrap();
        let project = Some("p-1".to_owned());
        Ok(vec![NewEvent::in_session(
            self.session,
            project,
            event,
            body,
        )])
    }
}

/// Converts a value to its stored form.
fn stored(value: &Value) -> ciborium::Value {
    match value {
        Value::Null => ciborium::Value::Null,
        Value::Bool(is) => (*is).into(),
        Value::Number(number) => number.as_u64().unwrap().into(),
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => ciborium::Value::Array(items.iter().map(stored).collect()),
        Value::Object(map) => {
            let entries = map.iter();
            let entries = entries.map(|(name, value)| (name.as_str().into(), stored(value)));
            ciborium::Value::Map(entries.collect())
        }
    }
}

fn raw_event(kind: &'static str, session: &'static str, fact: Value, body: Value) -> TestCall {
    TestCall::new(RawEvent {
        kind,
        session,
        fact,
        body,
    })
}

/// Records every kind of event in a session; another session records some of the same.
fn say_all(fixture: &mut Fixture, session: &'static str, prefers: &str) {
    let mention = |key: &str, parent: Value| {
        let mut mention = json!({"kind": "site", "key": key, "name": key, "how": "pattern"});
        if !parent.is_null() {
            mention["parent"] = parent;
        }
        mention
    };
    let mentions = json!([
        mention("berlin", Value::Null),
        mention("rack", json!({"kind": "site", "key": "berlin"})),
    ]);
    let created = json!({"title": "t", "user": "ada", "preferences": prefers});
    let said = json!({
        "id": format!("m-{session}"), "sender": "user", "type": "query", "tokens": 3,
        "tools": 1, "mentions": mentions,
    });
    let executed = json!({"id": format!("t-{session}"), "status": "running"});
    let resolved = json!({
        "entity": {"kind": "site", "key": "berlin"}, "name": "Berlin", "resolver": "r", "expires": 9,
    });
    let outcomes = fixture.group(vec![
        raw_event("SessionCreated", session, json!({}), created),
        raw_event("MessageRecorded", session, said, json!({})),
        raw_event("ToolRecorded", session, executed, json!({})),
        raw_event("EntityResolved", session, resolved, json!({"data": "{}"})),
        raw_event(
            "SessionUpdated",
            session,
            json!({}),
            json!({"preferences": prefers, "add_tags": ["x"]}),
        ),
        raw_event(
            "SessionLeased",
            session,
            json!({"name": "l", "until": 9}),
            json!({}),
        ),
        record(Some(session), None, true),
    ]);
    for outcome in outcomes {
        outcome.unwrap();
    }
}

/// All feature modules drop their rows of a forgotten session and keep those of others: lists, names of a project,
/// user preferences. A session with forks is not forgotten before its forks.
#[test]
fn every_room_forgets() {
    let mut fixture = Fixture::new();
    say_all(&mut fixture, "s-1", r#"{"a":1}"#);
    let before: Vec<_> = fixture.rows.rows_of_views();
    say_all(&mut fixture, "s-2", r#"{"a":2}"#);
    let fork = json!({"parent": {"session": "s-2", "position": 9, "last_step": 1}});
    fixture
        .one(raw_event("SessionCreated", "s-3", fork, json!({})))
        .unwrap();
    is_as_folded(&fixture);
    let refused = fixture.one(forget("s-2")).unwrap_err();
    assert_eq!(refused.code, Code::Conflict);
    assert!(refused.message.contains("`s-3`"), "{refused}");
    for session in ["s-3", "s-2"] {
        fixture.one(forget(session)).unwrap();
        is_as_folded(&fixture);
        erase(&mut fixture, session);
        is_as_folded(&fixture);
        fixture
            .one(TestCall::new(RecordErasure::new(session, [9; 16])))
            .unwrap();
    }
    // Excludes fold positions, last sessions, the log's own index and that something was forgotten.
    let is_told = |(space, key, _): &(&'static str, Vec<u8>, Vec<u8>)| {
        *space != "index"
            && *space != FORGOTTEN.name()
            && !matches!(key.first(), Some(0 | b'c' | b'f'))
    };
    let left: Vec<_> = fixture
        .rows
        .rows_of_views()
        .into_iter()
        .filter(is_told)
        .collect();
    let wanted: Vec<_> = before.into_iter().filter(is_told).collect();
    assert!(wanted.len() > 20, "{} rows", wanted.len());
    assert_eq!(left, wanted);
}
