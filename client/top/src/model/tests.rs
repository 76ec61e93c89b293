//! Tests of the model's updates.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use lore::protocol::sessions::{ListSessionsReply, SessionState, SessionSummary};
use lore::protocol::status::{Follower, Resolver, StatusReply};
use lore::protocol::{Position, SessionId};

use super::event::{Entry, KEPT};
use super::{ConnectionLoss, ConnectionState, DELIVERY, Model, Page, Update};
use crate::clock::UnixMicros;

/// Current time in the tests: 2026-11-20, 12:00:00 UTC.
pub const NOON: UnixMicros = UnixMicros(1_795_176_000_000_000);

/// Returns the moment this many seconds after noon.
pub const fn noon_and(seconds: i64) -> UnixMicros {
    UnixMicros(NOON.0 + seconds * 1_000_000)
}

/// Returns the status of a healthy daemon.
pub fn status() -> StatusReply {
    let named = |pairs: &[(&str, u64)]| -> BTreeMap<String, u64> {
        let pairs = pairs.iter();
        pairs
            .map(|(name, figure)| ((*name).to_owned(), *figure))
            .collect()
    };
    let follower = |name: &str, lag| Follower {
        name: name.to_owned(),
        position: Position(12_345 - lag),
        lag,
    };
    StatusReply {
        verified: None,
        version: "0.1.0".to_owned(),
        pid: 4_711,
        store: "5f0c".to_owned(),
        position: Position(12_345),
        durable: true,
        writable: true,
        origin: None,
        uptime: 11_100,
        clients: 5,
        socket: "/run/user/1000/lore/lore.sock".to_owned(),
        data: "/home/ada/.local/share/lore".to_owned(),
        counts: named(&[("events", 12_345), ("sessions", 3), ("steps", 210)]),
        sizes: named(&[("blob_bytes", 1 << 20), ("store_bytes", 12 << 20)]),
        embedding: None,
        followers: vec![follower("entities", 0), follower("search", 17)],
        resolvers: vec![Resolver {
            name: "netbox".to_owned(),
            state: "idle".to_owned(),
            calls: 40,
            failures: 2,
            cached: 11,
        }],
        confinement: None,
        redactions: BTreeMap::new(),
        retention: None,
        prometheus: None,
        limits: named(&[("checkpoint_bytes", 1 << 30)]),
        warnings: Vec::new(),
    }
}

/// Returns a session that was last active this many seconds after noon.
pub fn session(id: &str, title: &str, agents: &[&str], steps: u64, at: i64) -> SessionSummary {
    SessionSummary {
        session: SessionId::new(id).expect("an id"),
        state: SessionState::Active,
        user: None,
        project: Some("lore".to_owned()),
        title: Some(title.to_owned()),
        topic: None,
        first_message: None,
        tags: Vec::new(),
        agents: agents.iter().map(|agent| (*agent).to_owned()).collect(),
        created_at: "2026-11-20T11:00:00Z".to_owned(),
        last_activity: format!("2026-11-20T12:00:{at:02}Z"),
        steps,
        parent: None,
    }
}

/// Returns a complete session list.
pub fn sessions(sessions: Vec<SessionSummary>) -> ListSessionsReply {
    ListSessionsReply {
        sessions,
        next: None,
        position: Position(12_345),
        durable: true,
        warnings: Vec::new(),
    }
}

/// Returns an event, this many seconds after noon.
pub fn event(position: u64, at: i64, agent: &str, kind: &str, session: Option<&str>) -> Entry {
    Entry {
        position,
        at: noon_and(at),
        kind: kind.to_owned(),
        agent: agent.to_owned(),
        client: "lore/0.1.0".to_owned(),
        session: session.map(str::to_owned),
        is_internal: false,
        mark: super::mark::Mark::Step,
        summary: format!("step={position}"),
    }
}

/// Returns an update with new events.
pub fn page(entries: Vec<Entry>) -> Update {
    Update::Events(Page {
        entries,
        skipped: 0,
        live: None,
    })
}

/// Returns a model with a daemon, three sessions and some events.
pub fn model() -> Model {
    lore::local_time::use_utc();
    let mut model = Model::new("/run/user/1000/lore/lore.sock".to_owned(), NOON);
    let took = Duration::from_micros(420);
    let mut learn = |learned, at| model.learn(learned, noon_and(at));
    learn(Update::Status(Box::new(status()), took), 0);
    learn(
        Update::Sessions(
            sessions(vec![
                session("release-42", "Release 42", &["claude", "codex"], 120, 9),
                session("outage", "Uplinks in New York", &["claude"], 88, 4),
                session("notes", "Café, 漢字 and others", &["cursor"], 2, 1),
            ]),
            took * 2,
        ),
        1,
    );
    let entries = vec![
        event(12_341, 1, "cursor", "MessageRecorded", Some("notes")),
        event(12_342, 4, "claude", "StepRecorded", Some("outage")),
        event(12_343, 8, "codex", "CheckpointSaved", Some("release-42")),
        event(12_344, 9, "", "ContextUpdated", None),
        event(12_345, 9, "claude", "StepRecorded", Some("release-42")),
    ];
    learn(page(entries), 9);
    let mut later = status();
    later.position = Position(12_365);
    learn(Update::Status(Box::new(later), took * 3), 10);
    model
}

#[test]
fn the_rate_is_that_of_the_last_looks() {
    let mut model = model();
    assert_eq!(model.events_per_second(), Some(2.0));
    for second in 11..40 {
        let mut now = status();
        now.position = Position(12_365 + 100 * u64::try_from(second - 10).expect("later"));
        model.learn(
            Update::Status(Box::new(now), Duration::ZERO),
            noon_and(second),
        );
    }
    assert_eq!(model.events_per_second(), Some(100.0));
    // Another process restarts its counts.
    let mut other = status();
    other.pid = 9;
    model.learn(
        Update::Status(Box::new(other), Duration::ZERO),
        noon_and(40),
    );
    assert_eq!(model.events_per_second(), None);
}

#[test]
fn agents_and_sessions_are_known_by_their_events() {
    let model = model();
    let agents: Vec<_> = model.agents.iter().map(|(name, _)| name).collect();
    assert_eq!(agents, ["", "claude", "codex", "cursor"]);
    let (_, claude) = model.agents.iter().nth(1).expect("claude");
    assert_eq!(claude.events, 2);
    assert_eq!(claude.session.as_deref(), Some("release-42"));
    assert_eq!(claude.tally.count(model.now), 2);
    assert_eq!(model.recent("release-42"), 2);
    assert_eq!(model.recent("unknown"), 0);
}

#[test]
fn no_event_is_listed_twice() {
    let mut model = model();
    let again = event(12_344, 9, "", "ContextUpdated", None);
    let next = event(12_346, 9, "", "ContextUpdated", None);
    model.learn(page(vec![again, next]), noon_and(9));
    let positions: Vec<_> = model.events.iter().map(|entry| entry.position).collect();
    assert_eq!(positions.get(..2), Some([12_346, 12_345].as_slice()));
    assert_eq!(positions.len(), 6);
}

#[test]
fn memory_is_bounded_whatever_comes() {
    let mut model = model();
    for number in 0..5_000_u64 {
        let name = format!("n-{number}");
        let entry = event(20_000 + number, 20, &name, "StepRecorded", Some(&name));
        model.learn(page(vec![entry]), noon_and(20));
    }
    assert_eq!(model.events.iter().count(), KEPT);
    assert_eq!(model.agents.iter().count(), super::agents::KEPT);
    assert_eq!(model.tallies.len(), super::TALLIES_MAX);
    let newest: Option<&Arc<Entry>> = model.events.iter().next();
    assert_eq!(newest.map(|entry| entry.position), Some(24_999));
}

#[test]
fn a_daemon_that_is_lost_stays_lost_since_then() {
    let mut model = model();
    let lost = |why: &str| ConnectionLoss {
        why: why.to_owned(),
        hint: None,
        is_not_running: true,
    };
    model.learn(Update::Lost(lost("broken")), noon_and(20));
    model.learn(Update::Lost(lost("nobody serves")), noon_and(25));
    assert_eq!(
        model.link,
        ConnectionState::Lost(noon_and(20), lost("nobody serves"))
    );
    assert!(model.status.is_some(), "what was known is still shown");
    model.learn(
        Update::Status(Box::new(status()), Duration::ZERO),
        noon_and(30),
    );
    assert_eq!(model.link, ConnectionState::Reached(noon_and(30)));
    model.learn(Update::OtherLog, noon_and(30));
    assert_eq!(
        (model.events.iter().count(), model.agents.iter().count()),
        (0, 0)
    );
}

#[test]
fn only_news_says_how_long_delivery_takes() {
    let mut model = model();
    assert!(!model.latency.contains_key(DELIVERY));
    let live = Page {
        entries: vec![event(12_346, 20, "claude", "StepRecorded", None)],
        skipped: 0,
        live: Some(noon_and(21)),
    };
    model.learn(Update::Events(live), noon_and(21));
    let quantiles = model
        .latency
        .get(DELIVERY)
        .and_then(super::Latency::quantiles);
    assert_eq!(
        quantiles.map(|known| known.max),
        Some(Duration::from_secs(1))
    );
}
