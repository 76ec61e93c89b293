//! Events as they are listed, and a buffer of the newest.

use std::collections::VecDeque;
use std::sync::Arc;

use lore::event_words;
use lore::protocol::log::Event;
use lore::sanitize;

use super::mark::Mark;
use crate::clock::UnixMicros;

/// Limit on stored events.
pub const KEPT: usize = 2_000;

/// Longest stored description, in characters.
const SUMMARY_CHARS: usize = 160;
/// Longest stored name, in characters.
const NAME_CHARS: usize = 128;

/// An event without its payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Log position.
    pub position: u64,
    /// Time of writing.
    pub at: UnixMicros,
    /// Event kind.
    pub kind: String,
    /// Agent that caused it; empty when unnamed.
    pub agent: String,
    /// Client program that sent it.
    pub client: String,
    /// Session id.
    pub session: Option<String>,
    /// Whether it is bookkeeping.
    pub is_internal: bool,
    /// What it is on a time axis.
    pub mark: Mark,
    /// What was said or done, in words.
    pub summary: String,
}

impl Entry {
    /// Converts an event: shortened, and safe for a terminal.
    pub fn of(event: &Event) -> Self {
        let name = |text: &str| sanitize::sanitize(text, NAME_CHARS);
        let payload = event.payload.to_value();
        Self {
            position: event.position.0,
            at: UnixMicros::read(&event.time).unwrap_or_default(),
            kind: name(&event.kind),
            agent: name(&event.agent),
            client: name(&event.client),
            session: event.session.as_ref().map(|session| name(session.as_str())),
            is_internal: event_words::is_internal(&event.kind, &event.client, &payload),
            mark: Mark::of(&event.kind, &payload),
            summary: event_words::event_words(&event.kind, &payload, SUMMARY_CHARS),
        }
    }
}

/// The newest events, newest first.
#[derive(Debug, Default)]
pub struct Events {
    ring: VecDeque<Arc<Entry>>,
}

impl Events {
    /// Adds an event; drops the oldest one at the limit.
    pub fn push(&mut self, entry: Arc<Entry>) {
        if self.ring.len() == KEPT {
            self.ring.pop_back();
        }
        self.ring.push_front(entry);
    }

    /// Iterates over the events, newest first.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.ring.iter()
    }

    /// Removes all events.
    pub fn clear(&mut self) {
        self.ring.clear();
    }
}
