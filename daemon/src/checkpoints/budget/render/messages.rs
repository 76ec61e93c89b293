//! Which values are or have a conversation. The answer is remembered, because plans and renderings ask again for each room
//! that they try, and each look goes over the whole value once per level.

use std::cell::RefCell;
use std::collections::HashMap;

use serde_json::value::RawValue;

use super::{DEPTH_MAX, Members};
use crate::checkpoints::conversation;

/// Finds conversations in the values of one text, and in those within them.
#[derive(Debug, Default)]
pub(in crate::checkpoints::budget) struct ConversationFinder {
    /// By the address of a value's first byte: values begin at different bytes of the text.
    known: RefCell<HashMap<usize, bool>>,
}

impl ConversationFinder {
    /// Returns whether a value is or has a conversation, down to a depth. It must stay where it is while this lives.
    pub fn has_messages(&self, json: &str) -> bool {
        self.within(json, DEPTH_MAX)
    }

    fn within(&self, json: &str, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        let address = json.as_ptr().addr();
        if let Some(known) = self.known.borrow().get(&address) {
            return *known;
        }
        let has_messages = match json.as_bytes().first() {
            Some(b'[') => {
                let elements: Vec<&RawValue> = serde_json::from_str(json).unwrap_or_default();
                conversation::groups(&elements).is_some()
                    || elements
                        .iter()
                        .any(|element| self.within(element.get(), depth))
            }
            Some(b'{') => serde_json::from_str(json).is_ok_and(|Members(members)| {
                members
                    .iter()
                    .any(|(_, value)| self.within(value.get(), depth))
            }),
            Some(_) | None => return false,
        };
        self.known.borrow_mut().insert(address, has_messages);
        has_messages
    }
}
