//! What was recorded to be remembered in a project: it stays, however many sessions came since.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::known::KnownSentence;
use super::reading::beginning;
use crate::error::Refusal;
use crate::events;
use crate::events::messages::{MessageMeta, MessageRecorded};
use crate::locks::lock_unpoisoned;
use crate::log::Position;
use crate::messages;
use crate::operation::Context;
use crate::state::State;

/// Items of a project that are given to agents, the newest ones.
const ITEMS_MAX: usize = 500;
/// Bytes of an item that are read; longer ones are not recorded.
const ITEM_BYTES_MAX: usize = 2 << 10;
/// Projects that are kept in memory; beyond it all are read again.
const PROJECTS_MAX: usize = 32;

/// Something to be remembered, with its session.
#[derive(Clone, Debug)]
pub struct RememberedItem {
    /// The session in which it was said.
    pub session: String,
    /// What was said.
    pub known: KnownSentence,
}

/// What is to be remembered, by project.
#[derive(Debug, Default)]
pub struct RememberedItems(Mutex<HashMap<Option<String>, CachedItems>>);

#[derive(Debug, Default)]
struct CachedItems {
    /// The oldest first.
    items: Arc<Vec<RememberedItem>>,
    read_up_to: Position,
    /// State of the trails: it changes when something was forgotten.
    generation: u64,
}

impl RememberedItems {
    /// Returns what is to be remembered in a project, the oldest first.
    ///
    /// Reads the log; do not call it on the event loop.
    ///
    /// # Errors
    /// When a row or record cannot be read.
    pub fn of(
        &self,
        cx: &Context,
        state: &State,
        project: Option<&str>,
        generation: u64,
    ) -> Result<Arc<Vec<RememberedItem>>, Refusal> {
        let mut cached = lock_unpoisoned(&self.0);
        if cached.len() >= PROJECTS_MAX && !cached.contains_key(&project.map(str::to_owned)) {
            cached.clear();
        }
        let cached = cached.entry(project.map(str::to_owned)).or_default();
        if cached.generation != generation {
            *cached = CachedItems {
                generation,
                ..CachedItems::default()
            };
        }
        if cached.read_up_to < state.position() {
            let new = read_since(cx, state, project, cached.read_up_to)?;
            if !new.is_empty() {
                let items = Arc::make_mut(&mut cached.items);
                items.extend(new);
                items.drain(..items.len().saturating_sub(ITEMS_MAX));
            }
            cached.read_up_to = state.position();
        }
        Ok(Arc::clone(&cached.items))
    }
}

fn read_since(
    cx: &Context,
    state: &State,
    project: Option<&str>,
    position: Position,
) -> Result<Vec<RememberedItem>, Refusal> {
    let rows = messages::remembered_since(state, project, position, ITEMS_MAX)?;
    let read = |row: messages::RememberedRow| -> Result<RememberedItem, Refusal> {
        let event = state.log().event(row.record, row.position)?;
        let (said, body): (MessageMeta, MessageRecorded) = events::both(&event)?;
        let text = beginning(&cx.blobs, body.content, ITEM_BYTES_MAX)?;
        Ok(RememberedItem {
            session: row.session,
            known: KnownSentence::remembered(&event.header, &said, (&text, body.replaces), 0),
        })
    };
    let mut items = Vec::new();
    for row in rows {
        let item = read(row)?;
        let item = RememberedItem {
            known: item.known.judged(state, &item.session)?,
            ..item
        };
        if !item.known.is_left_out(state, &item.session)? {
            items.push(item);
        }
    }
    Ok(items)
}
