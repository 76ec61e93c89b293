//! Events of forgotten sessions and forgotten parts of streams.

use lored::clock::Clock;
use lored::forgetting::ContentForgotten;
use lored::log::{Body, EncodedEvent, EventKind, EventsErased, EventsForgotten, codec};
use lored::sessions::SessionForgotten;

use super::TIME;

/// Returns the events.
pub fn events() -> Vec<(&'static str, EncodedEvent)> {
    let clock = Clock::fixed(TIME, 9);
    let of = |kind, fact: Vec<u8>| EncodedEvent {
        kind,
        session: Some("s-1".to_owned()),
        project: Some("p-1".to_owned()),
        meta: fact,
        body: Body::new(codec::EMPTY.to_vec(), clock.random()),
        origin: None,
    };
    let forgotten = SessionForgotten {
        events: 17,
        bytes: 70_000,
    };
    let some = EventsForgotten {
        ranges: vec![(3, 9), (12, 12)],
        events: 5,
        bytes: 4_000,
        last_step: 7,
    };
    let all = ContentForgotten {
        events: 22,
        bytes: 74_000,
        sessions: 1,
        sessions_in_part: 2,
        projects: 3,
        context_versions: 4,
        sources: 5,
        documents: 6,
    };
    vec![
        (
            "session_forgotten",
            of(EventKind::SessionForgotten, codec::encode(&forgotten)),
        ),
        (
            "session_erased",
            of(EventKind::SessionErased, codec::EMPTY.to_vec()),
        ),
        (
            "events_forgotten",
            of(EventKind::EventsForgotten, codec::encode(&some)),
        ),
        (
            "events_erased",
            of(
                EventKind::EventsErased,
                codec::encode(&EventsErased { tombstone: 41 }),
            ),
        ),
        (
            "content_forgotten_told",
            of(EventKind::ContentForgotten, codec::encode(&all)),
        ),
    ]
}
