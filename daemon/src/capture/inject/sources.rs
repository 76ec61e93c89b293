//! The items that texts come from, and those that a session was shown.

use std::collections::BTreeSet;

use crate::capture::memory::{CallEnd, Trail, TrailEvent};
use crate::events::packs::Item;

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

/// What a session's model was shown since its last compaction: session and item.
#[derive(Debug, Default)]
pub(super) struct ShownItems(BTreeSet<(String, Item)>);

impl ShownItems {
    /// Returns what the model of this session has been shown. A compaction empties it: what was lost may come again.
    pub fn to(own: &Trail) -> Self {
        let mut newest = own.happened.iter().rev();
        let mut shown = BTreeSet::new();
        for one in newest.by_ref() {
            match &one.event {
                TrailEvent::Compacted => break,
                TrailEvent::Shown(pack) => {
                    for source in &pack.rests_on {
                        let session = source.session.as_ref().unwrap_or(&own.session);
                        shown.insert((session.clone(), source.item.clone()));
                    }
                }
                _ => {}
            }
        }
        Self(shown)
    }

    /// Returns whether an item of a session was shown.
    pub fn has(&self, session: &str, item: &Item) -> bool {
        self.0.contains(&(session.to_owned(), item.clone()))
    }
}
