//! A handoff: what another agent needs to continue the work of a session.

use std::fmt::Write;
use std::sync::MutexGuard;

use lored_hosts::Handoff;
use lored_moments::one_line;

use super::brief::{agent, last_answer};
use super::{BYTES_MAX, Draft, Writer, added, compaction};
use crate::capture::Capture;
use crate::capture::memory::{SharedTrail, Trail};
use crate::error::Refusal;
use crate::events::packs::PackPurpose;
use crate::locks::lock_unpoisoned;
use crate::log::Position;
use crate::operation::Context;
use crate::packs::AddedText;
use crate::projects::Coordination;
use crate::state::State;

/// Sessions of a chain of handoffs that are read.
const CHAIN_MAX: usize = 6;
/// Tokens of the last answer.
const ANSWER_TOKENS: usize = 250;
/// Tokens that are kept for the beginning.
const HEAD_TOKENS: usize = 80;

/// Returns the trails of the sessions whose work a session continues, the first one first, with its own at the end.
pub(super) fn chain(
    cx: &Context,
    state: &State,
    own: SharedTrail,
) -> Result<Vec<SharedTrail>, Refusal> {
    let trails = &Capture::of(cx)?.trails;
    let (mut chain, mut sessions) = (vec![own], Vec::new());
    while let Some(last) = chain.last().filter(|_| chain.len() < CHAIN_MAX) {
        let continues = {
            let last = lock_unpoisoned(last);
            sessions.push(last.session.clone());
            last.continues.clone()
        };
        let Some(before) = continues.filter(|one| !sessions.contains(&one.session)) else {
            break;
        };
        let Some(before) = trails.of(cx, state, &before.session)? else {
            break;
        };
        chain.push(before);
    }
    chain.reverse();
    Ok(chain)
}

/// Reads the trails of a chain together. They are locked in the order of their sessions, so that two readers of chains
/// never wait for each other.
pub(super) fn read_chain<T>(chain: &[SharedTrail], read: impl FnOnce(&[&Trail]) -> T) -> T {
    let name = |trail: &SharedTrail| lock_unpoisoned(trail).session.clone();
    let mut order: Vec<(String, usize)> = chain.iter().map(name).zip(0..).collect();
    order.sort_unstable();
    let mut locked: Vec<(usize, MutexGuard<'_, Trail>)> = Vec::new();
    for (_, at) in order {
        if let Some(trail) = chain.get(at) {
            locked.push((at, lock_unpoisoned(trail)));
        }
    }
    locked.sort_by_key(|(at, _)| *at);
    let trails: Vec<&Trail> = locked.iter().map(|(_, trail)| &**trail).collect();
    read(&trails)
}

/// Writes what another agent needs to continue the last of these sessions; `None` if nothing is known of it.
pub(super) fn write(
    writer: &Writer<'_>,
    trails: &[&Trail],
    at: Position,
    budget: usize,
) -> Option<Draft> {
    let own = trails.last()?;
    let mut head = Handoff {
        session: own.session.clone(),
        position: at.0,
    }
    .line();
    let _ = write!(head, "\nIt is the work of {}", agent(own));
    if let Some(last) = own.happened.back() {
        let _ = write!(head, ", last on {}", writer.day(last.at));
    }
    if let Some(folder) = &own.folder {
        let _ = write!(head, ", in {folder}");
    }
    if let Some(branch) = &own.branch {
        let _ = write!(head, " on branch {branch}");
    }
    head.push('.');
    let before: Vec<&str> = trails
        .iter()
        .rev()
        .skip(1)
        .map(|one| one.session.as_str())
        .collect();
    if !before.is_empty() {
        let _ = write!(
            head,
            " It continued session {}.",
            before.join(", and that session ")
        );
    }
    let mut draft = Draft {
        sessions: trails.iter().map(|one| one.session.clone()).collect(),
        ..Draft::default()
    };
    if let Some((message, answer)) = last_answer(own) {
        let answer = lored_moments::cut(&one_line(answer), ANSWER_TOKENS, &writer.count());
        head.push('\n');
        let start = head.len();
        let _ = write!(head, "The agent's last words: \"{answer}\"");
        let said = (own.session.clone(), super::sources::message_item(message));
        draft.rests_on(said, start..head.len());
    }
    let spent = writer.tokens.count(&head) + 1;
    let rest = budget.saturating_sub(spent).max(budget.min(HEAD_TOKENS));
    let work = compaction::write(writer, trails, rest);
    if work.is_none() && draft.sources.is_empty() {
        return None;
    }
    let mut text = head;
    if let Some(work) = work {
        text.push('\n');
        let start = text.len();
        text.push_str(&work.text);
        let parts = work.sources.into_iter();
        let parts = parts.map(|(one, range)| (one, start + range.start..start + range.end));
        draft.sources.extend(parts);
        draft.left_out = work.left_out;
    }
    text.truncate(text.floor_char_boundary(BYTES_MAX.max(budget * 8)));
    draft.sources.retain(|(_, range)| range.end <= text.len());
    Some(Draft { text, ..draft })
}

/// Returns what another agent needs to continue the work of a session; `None` if nothing is known of it.
///
/// Reads the log; do not call it on the event loop.
///
/// # Errors
/// When a row or record cannot be read.
pub fn handoff_of(
    cx: &Context,
    state: &State,
    session: &str,
    budget: usize,
) -> Result<Option<AddedText>, Refusal> {
    let Some(own) = Capture::of(cx)?.trails.of(cx, state, session)? else {
        return Ok(None);
    };
    let writer = Writer::new(cx, None, Coordination::Off)?;
    let chain = chain(cx, state, own)?;
    let at = state.position();
    let draft = read_chain(&chain, |trails| write(&writer, trails, at, budget));
    let Some(draft) = draft else {
        return Ok(None);
    };
    let (purpose, wanted) = (PackPurpose::Handoff, session.to_owned());
    added(state, &writer, purpose, wanted, draft, budget).map(Some)
}
