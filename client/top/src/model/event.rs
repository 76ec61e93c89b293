//! An event as it is listed, and the last of them.

use std::collections::VecDeque;
use std::sync::Arc;

use lore::protocol::log::Event;
use lore::sanitize;

use crate::clock::UnixMicros;

/// So many events are kept.
pub const KEPT: usize = 2_000;

/// The longest name that is kept of an event, in characters.
const NAME_CHARS: usize = 128;

/// An event, without what it carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its place in the log.
    pub position: u64,
    /// When it was written.
    pub at: UnixMicros,
    /// What happened.
    pub kind: String,
    /// Who caused it; empty when nobody gave a name.
    pub agent: String,
    /// The program that sent it.
    pub client: String,
    /// Its session.
    pub session: Option<String>,
    /// The fields of its payload that say something at a glance.
    pub summary: String,
}

impl Entry {
    /// What is kept of an event: short, and harmless to a terminal.
    pub fn of(event: &Event) -> Self {
        let name = |text: &str| sanitize::sanitize(text, NAME_CHARS);
        Self {
            position: event.position.0,
            at: UnixMicros::read(&event.time).unwrap_or_default(),
            kind: name(&event.kind),
            agent: name(&event.agent),
            client: name(&event.client),
            session: event.session.as_ref().map(|session| name(session.as_str())),
            summary: sanitize::summary(&event.payload),
        }
    }
}

/// The last events, the newest first.
#[derive(Debug, Default)]
pub struct Events {
    ring: VecDeque<Arc<Entry>>,
}

impl Events {
    /// One more; the oldest one goes when there are too many.
    pub fn push(&mut self, entry: Arc<Entry>) {
        if self.ring.len() == KEPT {
            self.ring.pop_back();
        }
        self.ring.push_front(entry);
    }

    /// The newest first.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.ring.iter()
    }

    /// Forgets them all.
    pub fn clear(&mut self) {
        self.ring.clear();
    }
}
