//! The items that texts come from, and those that a session was shown.

use std::collections::BTreeSet;

use crate::capture::memory::{CallEnd, KnownSentence, Trail, TrailEvent};
use crate::events::packs::{Item, PackPurpose};
use crate::log::Position;

/// Returns the item of a message.
pub(super) fn message_item(id: &str) -> Item {
    Item::Message(id.to_owned())
}

/// Returns the item of a step.
pub(super) const fn step_item(call: &CallEnd) -> Item {
    Item::Step {
        step: call.step,
        attempt: call.attempt,
    }
}

/// What is in the context of a session's model: what was said in the session since its last compaction, and what was
/// added to it.
#[derive(Debug, Default)]
pub(super) struct ShownItems {
    own: String,
    added: BTreeSet<(String, Item)>,
    /// Position of the last compaction: what was lost by it may come again.
    since: Position,
}

impl ShownItems {
    /// Returns what is in the context of this session's model.
    pub fn to(own: &Trail) -> Self {
        let mut shown = Self {
            own: own.session.clone(),
            ..Self::default()
        };
        for one in own.happened.iter().rev() {
            match &one.event {
                TrailEvent::Compacted => {
                    shown.since = one.position;
                    break;
                }
                // What is handed over goes to another model.
                TrailEvent::Shown(pack) if pack.made_for == PackPurpose::Handoff => {}
                TrailEvent::Shown(pack) => {
                    for source in &pack.rests_on {
                        let session = source.session.as_ref().unwrap_or(&own.session);
                        shown.added.insert((session.clone(), source.item.clone()));
                    }
                }
                _ => {}
            }
        }
        shown
    }

    /// Returns whether a context file was shown in this version.
    pub fn has_note(&self, file: &Item) -> bool {
        self.added.iter().any(|(_, item)| item == file)
    }

    /// Returns whether an item of a session was added.
    pub fn has(&self, session: &str, item: &Item) -> bool {
        self.added.contains(&(session.to_owned(), item.clone()))
    }

    /// Returns whether a sentence of a session is there.
    pub fn has_said(&self, session: &str, known: &KnownSentence) -> bool {
        (session == self.own && known.position > self.since)
            || self
                .added
                .contains(&(session.to_owned(), message_item(&known.message)))
    }

    /// Returns whether what a step returned is there.
    pub fn has_done(&self, session: &str, position: Position, step: &Item) -> bool {
        (session == self.own && position > self.since)
            || self.added.contains(&(session.to_owned(), step.clone()))
    }
}
