//! What became of what was added to contexts: whether the turn that was given an item used it, in its answer, its commands or
//! what it wrote. Used items are worth more the next time, and those that are added in vain sink.

use std::collections::HashMap;

use crate::capture::memory::{Trail, TrailEvent};
use crate::events::packs::{Item, PackPurpose};
use crate::log::Position;

/// Bytes of what a turn said and did that are read.
const AFTER_BYTES_MAX: usize = 12 << 10;
/// Bytes of a prompt that are read.
const PROMPT_BYTES_MAX: usize = 2 << 10;

/// What a turn was given, and what it did then.
pub(super) struct Receipt {
    /// Sources of what was added: session and message.
    pub given: Vec<(String, String)>,
    /// The prompt of the turn.
    pub prompt: String,
    /// What was said and done after it.
    pub after: String,
}

/// Returns the receipts after a position, of turns that are over, and moves it on.
pub(super) fn receipts(
    trail: &Trail,
    since: &mut Position,
    is_over: impl Fn(u32) -> bool,
) -> Vec<Receipt> {
    let mut turns: HashMap<u32, Receipt> = HashMap::new();
    let mut prompt = "";
    let new_to = *since;
    for one in trail.happened.iter().filter(|one| is_over(one.turn)) {
        match &one.event {
            TrailEvent::Prompt {
                text,
                is_users: true,
                ..
            } => prompt = beginning(text, PROMPT_BYTES_MAX),
            TrailEvent::Shown(pack) if one.position > new_to && is_chosen(pack.made_for) => {
                *since = one.position;
                let given = pack
                    .rests_on
                    .iter()
                    .filter_map(|source| match &source.item {
                        Item::Message(id) => {
                            let session = source.session.as_ref().unwrap_or(&trail.session);
                            Some((session.clone(), id.clone()))
                        }
                        _ => None,
                    });
                let receipt = turns.entry(one.turn).or_insert_with(|| Receipt {
                    given: Vec::new(),
                    prompt: prompt.to_owned(),
                    after: String::new(),
                });
                receipt.given.extend(given);
            }
            TrailEvent::Answer { text, .. } => note(&mut turns, one.turn, &[text]),
            TrailEvent::Called(call) => {
                let command = call.command.as_deref().unwrap_or_default();
                note(&mut turns, one.turn, &[command, &call.new_text]);
            }
            _ => {}
        }
    }
    turns.into_values().collect()
}

/// Whether a pack has items that were chosen for one moment: a brief has what is left of all.
const fn is_chosen(purpose: PackPurpose) -> bool {
    matches!(purpose, PackPurpose::Prompt | PackPurpose::BeforeEdit)
}

fn note(turns: &mut HashMap<u32, Receipt>, turn: u32, texts: &[&str]) {
    if let Some(receipt) = turns.get_mut(&turn) {
        for text in texts {
            let room = AFTER_BYTES_MAX.saturating_sub(receipt.after.len());
            receipt.after.push_str(beginning(text, room));
            receipt.after.push('\n');
        }
    }
}

fn beginning(text: &str, bytes_max: usize) -> &str {
    let end = text.floor_char_boundary(bytes_max);
    text.get(..end).unwrap_or_default()
}
