//! Events that others record between the selection for forgetting, or the lookup of an entity, and the decision.

use super::documents::{put, sent};
use super::history::ViewRows;
use super::history::{choice_of, create, erase, forget, record};
use super::partial_forgetting::erase_parts;
use super::session_actions::Action;
use super::{Fixture, TestCall, folded_anew};
use crate::clock::Clock;
use crate::documents;
use crate::documents::decided::{RemoveSource, source_id};
use crate::entities::decided::{RecordEntityEvent, RecordResolution};
use crate::entities::{EntityData, EntityRef, EntityResolved, Mention, MentionSource};
use crate::error::{Code, Refusal};
use crate::events::entities::EntityEvent;
use crate::forgetting::decided::{
    ContentOrigin, Forget, ForgetSelector, Selection, SelectionContext,
};
use crate::log::{Actor, Body, LOG, Log, codec};
use crate::packs::decided::{MakePack, TaskScope};
use crate::packs::{Item, PackBuilt, PackDependency, PackEvent, PackPurpose};
use crate::sessions;
use crate::steps;

fn is_as_folded(fixture: &Fixture) {
    fixture.events();
    assert_eq!(
        folded_anew(fixture).rows_of_views(),
        fixture.rows.rows_of_views()
    );
}

/// Selects the current targets, as a caller does.
fn select(fixture: &Fixture, selector: &ForgetSelector) -> Selection {
    let looking = SelectionContext {
        rows: &fixture.rows,
        event_lookup: &Log::new(&fixture.rows),
        blobs: None,
        looked_at: &|_| None,
        examined: None,
        now: super::START,
        events_max: usize::MAX,
    };
    looking.select(selector, fixture.tail.position).unwrap()
}

fn of_agent(agent: &str) -> ForgetSelector {
    ForgetSelector {
        of_agent: Some(agent.to_owned()),
        ..ForgetSelector::default()
    }
}

/// Checks that the selection is refused and must be repeated.
fn is_refused(fixture: &mut Fixture, selected: Selection) -> Refusal {
    let forget = Forget::new(selected, [7; 16]);
    let refused = fixture.one(TestCall::new(forget)).unwrap_err();
    assert!(refused.is_stale);
    refused
}

fn steps_of(fixture: &Fixture, session: &str) -> Vec<u32> {
    let own = sessions::lineage(&fixture.rows, session).unwrap();
    let steps = steps::list(&fixture.rows, &own, 1, 10).unwrap();
    steps.iter().map(|step| step.attempt.step).collect()
}

/// A session with one recording agent is forgotten whole by that agent's name, unless another agent records in it
/// before the decision. After a new selection, it is forgotten in part.
#[test]
fn what_another_agent_records_meanwhile_stays() {
    let mut fixture = Fixture::new();
    fixture.group(vec![
        TestCall::new(create("s-1")).by("b"),
        record(Some("s-1"), None, true).by("b"),
    ]);
    let selected = select(&fixture, &of_agent("b"));
    assert_eq!((selected.sessions.len(), selected.parts.len()), (1, 0));
    fixture
        .one(record(Some("s-1"), None, true).by("ada"))
        .unwrap();
    let refused = is_refused(&mut fixture, selected);
    assert_eq!(refused.code, Code::Conflict, "{refused}");
    assert_eq!(steps_of(&fixture, "s-1"), [1, 2]);
    let selected = select(&fixture, &of_agent("b"));
    assert_eq!((selected.sessions.len(), selected.parts.len()), (0, 1));
    fixture
        .one(TestCall::new(Forget::new(selected, [7; 16])))
        .unwrap();
    assert_eq!(steps_of(&fixture, "s-1"), [2]);
    is_as_folded(&fixture);
}

/// Events that the agent itself records meanwhile are forgotten with its session. The same holds for all events in
/// a session selected by name.
#[test]
fn what_is_meant_and_recorded_meanwhile_goes() {
    let named = ForgetSelector {
        session: Some("s-1".to_owned()),
        ..ForgetSelector::default()
    };
    for (selector, agent) in [(of_agent("b"), "b"), (named, "ada")] {
        let mut fixture = Fixture::new();
        fixture.group(vec![
            TestCall::new(create("s-1")).by("b"),
            record(Some("s-1"), None, true).by("b"),
        ]);
        let selected = select(&fixture, &selector);
        fixture
            .one(record(Some("s-1"), None, true).by(agent))
            .unwrap();
        fixture
            .one(TestCall::new(Forget::new(selected, [7; 16])))
            .unwrap();
        assert!(sessions::forgotten(&fixture.rows, "s-1").unwrap().is_some());
        is_as_folded(&fixture);
    }
}

/// A removed source is forgotten whole, unless a document is sent to it before the decision.
#[test]
fn a_source_that_began_anew_stays() {
    let source = source_id("sent");
    let mut fixture = Fixture::new();
    let send = |fixture: &mut Fixture, content| {
        let (ask, _) = put(&source, content, "one", sent("sent"));
        fixture.one(ask).unwrap();
    };
    send(&mut fixture, 1);
    let remove = RemoveSource {
        source: source.clone(),
        salt: [2; 16],
    };
    fixture.one(TestCall::new(remove)).unwrap();
    let selector = ForgetSelector {
        origin: Some(ContentOrigin::Source(source.clone())),
        ..ForgetSelector::default()
    };
    let selected = select(&fixture, &selector);
    assert!(selected.parts[0].is_whole);
    send(&mut fixture, 2);
    let refused = is_refused(&mut fixture, selected);
    assert_eq!(refused.code, Code::Conflict, "{refused}");
    assert!(documents::source(&fixture.rows, &source).unwrap().is_some());
    let paths = documents::decided::paths(&fixture.rows, &source).unwrap();
    assert_eq!(paths.len(), 1);
    is_as_folded(&fixture);
}

fn switch() -> EntityRef {
    EntityRef {
        kind: "device".to_owned(),
        key: "switch-9".to_owned(),
    }
}

/// Records a message that mentions the switch.
fn mention(by: &str) -> TestCall {
    let EntityRef { kind, key } = switch();
    let mention = Mention {
        kind,
        name: key.clone(),
        key,
        how: MentionSource::Pattern,
        span: None,
        id: None,
        slug: None,
        parents: Vec::new(),
        nested: false,
        score: 0,
        weight: 0,
        aliases: Vec::new(),
        words: Vec::new(),
    };
    let talk = Action::Say {
        sender: 0,
        kind: 0,
        tokens: 1,
        tools: 0,
        mentions: vec![mention],
        is_fenced: false,
    };
    talk.request(1, &Clock::fixed(super::START, 3)).by(by)
}

/// Records the daemon's resolver result for the switch.
fn found_out() -> TestCall {
    let resolved = EntityResolved {
        name: "Switch 9 in the vault".to_owned(),
        entity: switch(),
        id: None,
        slug: None,
        resolver: "r".to_owned(),
        expires: 1,
        parents: Vec::new(),
        around: Vec::new(),
    };
    let data = EntityData {
        data: "{}".to_owned(),
    };
    let note = RecordEntityEvent {
        choice: choice_of("s-1"),
        event: EntityEvent::Resolved(resolved),
        body: Body::new(codec::encode(&data), [5; 16]),
    };
    TestCall {
        by: Actor::daemon(),
        ..TestCall::new(RecordResolution {
            session: "s-1".to_owned(),
            entity: switch(),
            note,
        })
    }
}

/// Builds a pack with the current state of the session's switch.
fn packed(fixture: &Fixture, id: &str, among: TaskScope) -> MakePack {
    let session = (among != TaskScope::Session("s-1".to_owned())).then(|| "s-1".to_owned());
    let item = Item::Entity(switch());
    resting(fixture, id, among, PackDependency { session, item })
}

/// Builds a pack that depends on the current state of one source.
fn resting(fixture: &Fixture, id: &str, among: TaskScope, one: PackDependency) -> MakePack {
    let made = PackBuilt {
        id: id.to_owned(),
        made_for: PackPurpose::Task,
        wanted: vec![7; 32],
        budget: 100,
        tokens: 10,
        sections: Vec::new(),
        rests_on: vec![one],
        pieces: vec![1; 8],
    };
    MakePack {
        among,
        made,
        read_at: fixture.tail.position,
        body: Body::new(codec::EMPTY.to_vec(), [6; 16]),
        text: None,
    }
}

/// Builds a session of two agents, one of which mentioned the switch.
fn mentioned() -> Fixture {
    let mut fixture = Fixture::new();
    let outcomes = fixture.group(vec![
        TestCall::new(create("s-1")),
        record(Some("s-1"), None, true),
        mention("b"),
    ]);
    assert!(outcomes.iter().all(Result::is_ok));
    fixture
}

/// A resolver result is recorded while something mentions the entity, and not after that was forgotten.
#[test]
fn what_is_found_out_late_is_not_noted() {
    let mut fixture = mentioned();
    fixture.one(found_out()).unwrap();
    fixture.one(super::forgetting_of("b")).unwrap();
    let refused = fixture.one(found_out()).unwrap_err();
    assert_eq!(refused.code, Code::Conflict, "{refused}");
    fixture.one(mention("ada")).unwrap();
    fixture.one(found_out()).unwrap();
    is_as_folded(&fixture);
}

/// A pack that was built before a forget is not recorded after it, but rebuilt. This holds for packs of the session
/// or its project, and when the whole session is forgotten.
#[test]
fn a_pack_of_what_is_gone_is_not_recorded() {
    let own = TaskScope::Session("s-1".to_owned());
    let across = TaskScope::Project("p-1".to_owned());
    let whole = ForgetSelector {
        session: Some("s-1".to_owned()),
        ..ForgetSelector::default()
    };
    for (among, selector) in [
        (own, of_agent("b")),
        (across.clone(), of_agent("b")),
        (across, whole),
    ] {
        let mut fixture = mentioned();
        fixture
            .one(TestCall::new(packed(&fixture, "k-1", among.clone())))
            .unwrap();
        let late = packed(&fixture, "k-2", among.clone());
        let selected = select(&fixture, &selector);
        fixture
            .one(TestCall::new(Forget::new(selected, [7; 16])))
            .unwrap();
        let refused = fixture.one(TestCall::new(late)).unwrap_err();
        assert_eq!(refused.code, Code::Conflict, "{refused}");
        assert!(refused.is_stale);
        is_as_folded(&fixture);
    }
}

/// Returns whether any row, of views or of the log, contains a text.
fn is_in_rows(fixture: &Fixture, text: &str) -> bool {
    let log = fixture
        .rows
        .rows(LOG)
        .map(|(key, value)| (key.to_vec(), value.to_vec()));
    let views = fixture.rows.rows_of_views().into_iter();
    let all = log.chain(views.map(|(_, key, value)| (key, value)));
    let is_in = |bytes: &[u8]| {
        bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    };
    all.into_iter()
        .any(|(key, value)| is_in(&key) || is_in(&value))
}

/// Lists the remaining packs.
fn packs_left(fixture: &Fixture) -> Vec<String> {
    let made = fixture
        .events()
        .into_iter()
        .filter_map(|event| match PackEvent::of(&event) {
            Ok(Some(PackEvent::Built(made))) => Some(made.id),
            _ => None,
        });
    made.collect()
}

/// A pack across a project names entities of its source sessions. It is removed with any of them, and with any part
/// that it may quote; packs with other sources stay.
#[test]
fn packs_across_a_project_go_with_what_they_rest_on() {
    let across = TaskScope::Project("p-1".to_owned());
    let whole = ForgetSelector {
        session: Some("s-1".to_owned()),
        ..ForgetSelector::default()
    };
    for selector in [None, Some(whole), Some(of_agent("b"))] {
        let mut fixture = mentioned();
        fixture.one(TestCall::new(create("s-2"))).unwrap();
        let topic = PackDependency {
            session: Some("s-2".to_owned()),
            item: Item::Topic,
        };
        let other = resting(&fixture, "k-1", across.clone(), topic);
        fixture.one(TestCall::new(other)).unwrap();
        fixture
            .one(TestCall::new(packed(&fixture, "k-2", across.clone())))
            .unwrap();
        assert!(is_in_rows(&fixture, "switch-9"));
        match selector {
            None => drop(fixture.one(forget("s-1")).unwrap()),
            Some(selector) => {
                let selected = select(&fixture, &selector);
                // Another event arrives before the decision.
                fixture
                    .one(TestCall::new(packed(&fixture, "k-3", across.clone())))
                    .unwrap();
                fixture
                    .one(TestCall::new(Forget::new(selected, [7; 16])))
                    .unwrap();
            }
        }
        is_as_folded(&fixture);
        erase(&mut fixture, "s-1");
        erase_parts(&mut fixture);
        assert_eq!(packs_left(&fixture), ["k-1"]);
        assert!(!is_in_rows(&fixture, "switch-9"));
        is_as_folded(&fixture);
    }
}

/// A replaced document that an agent sent is forgotten with the agent, with the packs that quote it. A current
/// document of the agent is reported.
#[test]
fn documents_that_an_agent_sent_go() {
    let source = source_id("sent");
    let across = TaskScope::Project("p-1".to_owned());
    let mut fixture = Fixture::new();
    let document = documents::decided::id_of(&source, "a.md", 0);
    for (content, pack) in [(1, "k-1"), (2, "k-2")] {
        let (ask, _) = put(&source, content, "one", sent("sent"));
        fixture.one(ask.by("b")).unwrap();
        let item = Item::Document {
            document: document.clone(),
            chunk: 0,
        };
        let one = PackDependency {
            session: None,
            item,
        };
        let made = resting(&fixture, pack, across.clone(), one);
        fixture.one(TestCall::new(made)).unwrap();
    }
    let selected = select(&fixture, &of_agent("b"));
    assert_eq!((selected.reported.documents, selected.parts.len()), (1, 2));
    let [kept] = &selected.kept[..] else {
        panic!("{:?}", selected.kept);
    };
    assert!(
        kept.contains(&document) && kept.contains("remove_document"),
        "{kept}"
    );
    fixture
        .one(TestCall::new(Forget::new(selected, [7; 16])))
        .unwrap();
    is_as_folded(&fixture);
    erase_parts(&mut fixture);
    assert_eq!(packs_left(&fixture), ["k-2"]);
    let gone = fixture.events().into_iter();
    let gone = gone.filter(|event| event.payload.is_none());
    let kinds: Vec<String> = gone.map(|event| event.header.kind.to_string()).collect();
    assert_eq!(kinds, ["DocumentTaken", "DocumentContinued", "PackMade"]);
    is_as_folded(&fixture);
}
