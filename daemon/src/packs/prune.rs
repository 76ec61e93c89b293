//! The contents of a session's working set, and the outcome of a pruning.

use std::ops::ControlFlow;

use super::assembly::{PrunedSet, ScoredMessage, WorkingMessages, retain, tokens_of};
use super::retrieval::{SessionSnapshot, item_of};
use super::view::working::{self, WorkingSet};
use super::working_set_update::PreparedUpdate;
use crate::clock::Micros;
use crate::entities::{self, EntityRef, relevance};
use crate::error::Refusal;
use crate::events::packs::{ContextPruned, ContextUnpruned, Item, PackEvent, Strategy};
use crate::log::Position;
use crate::messages::{self, ToolUseRow, ToolUseState};
use crate::sessions::Line;
use crate::store::{Error, Rows};

/// Plans the pruning of a session. Reads the row of every message and entity of the working set, and the events
/// of the retained tool uses.
pub fn pruning(
    of: &SessionSnapshot<'_>,
    strategy: Strategy,
    target: Option<u64>,
    now: Micros,
) -> Result<PreparedUpdate, Refusal> {
    let messages = messages_of(of.state, &of.lines, &of.working)?;
    let tokens_before = tokens_of(&messages);
    let count = messages.len();
    let uses = uses_of(of, &messages)?;
    let entities = entities_of(of, now)?;
    let entity_count = entities.len();
    let working = WorkingMessages {
        messages,
        tools: uses.iter().map(|one| one.position).collect(),
        entities,
    };
    let Some(kept) = retain(working, strategy, target) else {
        return Ok(PreparedUpdate::Nothing(tokens_before));
    };
    let went = |before: usize, after: usize| before.saturating_sub(after) as u64;
    Ok(PreparedUpdate::Record(PackEvent::Pruned(ContextPruned {
        strategy,
        tokens_before,
        tokens_after: kept.tokens,
        went: [
            went(count, kept.messages.len()),
            went(uses.len(), kept.tools.len()),
            went(entity_count, kept.entities.len()),
        ],
        messages: ids_of(of, &kept)?,
        tools: items_of(of, &uses, &kept)?,
        entities: kept.entities,
    })))
}

/// Plans the reset of the last pruning, if there is one.
pub fn unpruning(of: &SessionSnapshot<'_>) -> Result<PreparedUpdate, Refusal> {
    let Some((_, pruned)) = &of.working.pruned else {
        return Ok(PreparedUpdate::Nothing(0));
    };
    let before = working::under(of.state, &of.lines, pruned)?;
    let tokens = |working: &WorkingSet| -> Result<u64, Error> {
        Ok(tokens_of(&messages_of(of.state, &of.lines, working)?))
    };
    Ok(PreparedUpdate::Record(PackEvent::Unpruned(
        ContextUnpruned {
            tokens_before: tokens(&of.working)?,
            tokens_after: tokens(&before)?,
        },
    )))
}

/// Lists the messages of a working set, in time order.
pub fn messages_of(
    rows: &dyn Rows,
    lines: &[Line],
    working: &WorkingSet,
) -> Result<Vec<ScoredMessage>, Error> {
    let mut found = Vec::new();
    messages::oldest(rows, lines, Position(0), &mut |row| {
        if working.has_message(row.position, &row.id) {
            found.push(ScoredMessage {
                position: row.position,
                tokens: row.tokens.into(),
                is_important: row.has_tools || row.has_entities,
            });
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// Lists the tool uses of a working set, in time order. Before the last pruning, only retained ones are read.
fn uses_of(of: &SessionSnapshot<'_>, messages: &[ScoredMessage]) -> Result<Vec<ToolUseRow>, Error> {
    let mut found = Vec::new();
    let mut older_left = of.working.pruned.as_ref().map(|(_, row)| {
        // One use each; retained messages with tools are uses, too.
        row.pruned.tools.len() + row.pruned.messages.len()
    });
    messages::uses(of.state, &of.lines, None, &mut |one| {
        let is_older = matches!(&of.working.pruned, Some((at, _)) if one.position < *at);
        if is_older && older_left == Some(0) {
            return Ok(ControlFlow::Break(()));
        }
        let is_in = !is_older
            || match one.done {
                ToolUseState::Message => messages
                    .binary_search_by_key(&one.position, |message| message.position)
                    .is_ok(),
                ToolUseState::Step | ToolUseState::Execution => {
                    let item = item_at(of, &one)?;
                    item.is_some_and(|item| of.working.has_tool(one.position, &item))
                }
            };
        if is_in {
            older_left = older_left.map(|left| left.saturating_sub(is_older.into()));
            found.push(one);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    found.reverse();
    Ok(found)
}

/// Returns the item of a tool use, as events name it.
fn item_at(of: &SessionSnapshot<'_>, one: &ToolUseRow) -> Result<Option<Item>, Error> {
    let executions = messages::executions_of(of.state, &of.state.log(), &of.lines, one)?;
    Ok(executions.first().map(|execution| item_of(&execution.of)))
}

/// Lists the entities of a working set, highest pruning score first.
fn entities_of(of: &SessionSnapshot<'_>, now: Micros) -> Result<Vec<EntityRef>, Error> {
    let mut scored: Vec<(f64, Micros, EntityRef)> = Vec::new();
    entities::walk(of.state, &of.lines, None, &mut |entity, row| {
        if of.working.has_entity(Position(row.last), &entity) {
            let kind = entity.kind.as_str();
            let score =
                relevance::pruning_score(kind, row.last_at, row.mentions, row.relations, now);
            scored.push((score, row.last_at, entity));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    scored.sort_by(|(a, a_last, a_entity), (b, b_last, b_entity)| {
        b.total_cmp(a)
            .then(b_last.cmp(a_last))
            .then(a_entity.cmp(b_entity))
    });
    Ok(scored.into_iter().map(|(_, _, entity)| entity).collect())
}

fn ids_of(of: &SessionSnapshot<'_>, kept: &PrunedSet<EntityRef>) -> Result<Vec<String>, Error> {
    let mut ids = Vec::new();
    for position in &kept.messages {
        let row = messages::at(of.state, &of.lines, *position)?;
        ids.extend(row.map(|row| row.id));
    }
    Ok(ids)
}

/// Lists the retained steps and executions. Messages are omitted because they include their tool uses.
fn items_of(
    of: &SessionSnapshot<'_>,
    uses: &[ToolUseRow],
    kept: &PrunedSet<EntityRef>,
) -> Result<Vec<Item>, Error> {
    let mut items = Vec::new();
    let stays =
        |one: &&ToolUseRow| one.done != ToolUseState::Message && kept.tools.contains(&one.position);
    for one in uses.iter().filter(stays) {
        items.extend(item_at(of, one)?);
    }
    Ok(items)
}
