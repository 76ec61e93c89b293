//! Turns of a session: what one was about, and whether it is over.

use std::collections::BTreeSet;

use crate::capture::memory::{CallEnd, Trail, TrailEvent};

/// Bytes of a prompt that stand for what an item was said about.
const CONTEXT_BYTES_MAX: usize = 400;

/// Returns whether a turn of a session is over.
pub(super) fn over(trail: &Trail) -> impl Fn(u32) -> bool + use<> {
    let is_idle = trail.happened.iter().rev().find_map(|one| match one.event {
        TrailEvent::TurnEnded | TrailEvent::Ended => Some(true),
        TrailEvent::Prompt { .. } | TrailEvent::Called(_) => Some(false),
        _ => None,
    });
    let current = trail.turn;
    move |turn: u32| turn < current || is_idle == Some(true)
}

/// What a turn was about.
#[derive(Default)]
pub(super) struct TurnFacts<'t> {
    /// The beginning of its prompt.
    pub prompt: String,
    /// The files that it read or edited.
    pub files: BTreeSet<String>,
    /// Its calls, in their order.
    pub calls: Vec<&'t CallEnd>,
}

impl<'t> TurnFacts<'t> {
    /// Reads them from the trail.
    pub fn of(trail: &'t Trail, turn: u32) -> Self {
        let mut facts = Self::default();
        for one in trail.happened.iter().filter(|one| one.turn == turn) {
            match &one.event {
                TrailEvent::Prompt {
                    text,
                    is_users: true,
                    ..
                } => {
                    let end = text.floor_char_boundary(CONTEXT_BYTES_MAX);
                    let beginning = text.get(..end).unwrap_or_default();
                    beginning.clone_into(&mut facts.prompt);
                }
                TrailEvent::Called(call) => {
                    let files = call.edits.iter().chain(&call.reads);
                    facts.files.extend(files.cloned());
                    facts.calls.push(call);
                }
                _ => {}
            }
        }
        facts
    }
}
