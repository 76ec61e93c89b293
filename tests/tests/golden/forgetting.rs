//! Events of forgotten sessions and forgotten parts of streams.

use lored::forgetting::ContentForgotten;
use lored::log::{EncodedEvent, EventKind, EventsErased, EventsForgotten};
use lored::sessions::SessionForgotten;

use super::{Events, NoFields};

/// Returns the events.
pub fn events() -> Vec<(&'static str, EncodedEvent)> {
    let mut events = Events::new(9, Some("s-1"), "p-1");
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
    events.add_meta("session_forgotten", EventKind::SessionForgotten, &forgotten);
    events.add_meta("session_erased", EventKind::SessionErased, &NoFields {});
    events.add_meta("events_forgotten", EventKind::EventsForgotten, &some);
    let erased = EventsErased { tombstone: 41 };
    events.add_meta("events_erased", EventKind::EventsErased, &erased);
    events.add_meta("content_forgotten_told", EventKind::ContentForgotten, &all);
    events.found
}
