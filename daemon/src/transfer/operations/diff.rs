//! `diff_session`.

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

use lore::protocol::AsOf;
use lore::protocol::sessions::{
    DiffSessionArgs, DiffSessionReply, EntityChange, FieldChange, ValueChange,
};
use serde_json::{Map, Value};

use crate::budget;
use crate::checkpoints::{StoredCheckpoint, difference};
use crate::entities;
use crate::error::{Code, Refusal};
use crate::events;
use crate::events::steps::StepRecorded;
use crate::log::Position;
use crate::messages;
use crate::operation::{Access, Call, Context, MemoryBound, Op, blocking};
use crate::rows::until;
use crate::sessions::{self, AccessTimes, Line, SessionSelector, WantedContent};
use crate::state::State;
use crate::steps::{self, StepAttempt};

/// Maximum number of reported changes of each kind.
const TOLD_MAX: usize = 500;
/// Longer results are truncated to this size, in bytes.
const RESULT_BYTES_MAX: usize = 500;

/// `diff_session`.
pub struct DiffSession;

impl Op for DiffSession {
    type Args = DiffSessionArgs;
    type Reply = DiffSessionReply;
    const NAME: &'static str = "diff_session";
    const TITLE: &'static str = "Compare two moments of a session";
    const DESCRIPTION: &'static str = "Compares two moments of a session, or a session with its fork: fields, messages, entities, \
        step results, keys of the latest context.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<DiffSessionArgs>) -> Result<DiffSessionReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let (one, other) = (State::live(&cx, None).await?, State::live(&cx, None).await?);
        let selector = SessionSelector::of(&caller, args.session.as_ref());
        let now = cx.engine.clock().now();
        let session = selector.find(&one, &caller.actor, now, &WantedContent::default())?;
        if let Some(access) = cx.extensions.get::<AccessTimes>() {
            access.note(&session, now);
        }
        blocking(move || {
            let position = other.position();
            let a = DiffSide::of(&cx, one, &session, Some(&args.a))?;
            let with = args
                .other
                .as_ref()
                .map_or(session.as_str(), |id| id.as_str());
            sessions::find(&other, with)?;
            let b = DiffSide::of(&cx, other, with, args.b.as_ref())?;
            let (messages, messages_added, messages_missing) = messages(&a, &b)?;
            Ok(DiffSessionReply {
                session: sessions::operations::session_id(&session)?,
                a: a.state.position(),
                b: b.state.position(),
                fields: fields(&a, &b)?,
                messages,
                messages_added,
                messages_missing,
                entities: entities_of(&a, &b)?,
                values: values(&cx, &a, &b)?,
                keys: keys(&cx, &a, &b)?,
                position,
                durable: cx.engine.is_durable(),
                chosen_by: None,
                warnings: Vec::new(),
            })
        })
        .await
    }
}

/// One side of the comparison: a session at a moment.
struct DiffSide {
    state: State,
    session: String,
    lines: Vec<Line>,
}

impl DiffSide {
    fn of(cx: &Context, state: State, session: &str, at: Option<&AsOf>) -> Result<Self, Refusal> {
        if let Some(AsOf::Position(position)) = at
            && *position > state.position()
        {
            let message = format!(
                "the log has not reached position {position}; it is at {}",
                state.position()
            );
            return Err(Refusal::invalid(message));
        }
        let state = match at {
            Some(at) => state.back_to(&*cx.fold, session, at)?,
            None => state,
        };
        Ok(Self {
            lines: sessions::lineage(&state, session)?,
            session: session.to_owned(),
            state,
        })
    }
}

fn fields(a: &DiffSide, b: &DiffSide) -> Result<Vec<FieldChange>, Refusal> {
    let of = |side: &DiffSide| -> Result<Map<String, Value>, Refusal> {
        let details = sessions::details(&side.state, &side.session)?;
        let row = sessions::get(&side.state, &side.session)?;
        let mut map = Map::new();
        map.insert("title".to_owned(), details.title.into());
        map.insert("topic".to_owned(), details.topic.into());
        map.insert("tags".to_owned(), details.tags.into());
        let is_closed = row.is_some_and(|row| row.closed != 0);
        map.insert("closed".to_owned(), is_closed.into());
        let preferences: Option<Map<String, Value>> = details
            .preferences
            .and_then(|text| serde_json::from_str(&text).ok());
        for (name, value) in preferences.unwrap_or_default() {
            map.insert(format!("preferences.{name}"), value);
        }
        Ok(map)
    };
    let (before, after) = (of(a)?, of(b)?);
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let given = |map: &Map<String, Value>, name: &str| {
        map.get(name).filter(|value| !value.is_null()).cloned()
    };
    Ok(names
        .into_iter()
        .filter(|name| given(&before, name) != given(&after, name))
        .map(|name| FieldChange {
            field: name.clone(),
            before: given(&before, name),
            after: given(&after, name),
        })
        .collect())
}

/// Returns the ids of added messages, their number, and the number of missing ones.
fn messages(a: &DiffSide, b: &DiffSide) -> Result<(Vec<String>, u64, u64), Refusal> {
    let ids = |side: &DiffSide| -> Result<Vec<(Position, String)>, Refusal> {
        let mut found = Vec::new();
        messages::oldest(&side.state, &side.lines, Position(0), &mut |row| {
            found.push((row.position, row.id));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    };
    let (before, after) = (ids(a)?, ids(b)?);
    let positions = |list: &[(Position, String)]| -> BTreeSet<Position> {
        list.iter().map(|(position, _)| *position).collect()
    };
    let (in_a, in_b) = (positions(&before), positions(&after));
    let added = after
        .into_iter()
        .filter(|(position, _)| !in_a.contains(position));
    let mut added: Vec<String> = added.map(|(_, id)| id).collect();
    let count = added.len() as u64;
    added.truncate(TOLD_MAX);
    Ok((added, count, in_a.difference(&in_b).count() as u64))
}

fn entities_of(a: &DiffSide, b: &DiffSide) -> Result<Vec<EntityChange>, Refusal> {
    let mut before: HashMap<entities::EntityRef, u64> = HashMap::new();
    entities::walk(&a.state, &a.lines, None, &mut |entity, row| {
        before.insert(entity, row.mentions);
        Ok(ControlFlow::Continue(()))
    })?;
    let mut found = Vec::new();
    entities::walk(&b.state, &b.lines, None, &mut |entity, row| {
        let mentions_before = before.get(&entity).copied();
        if mentions_before != Some(row.mentions) {
            found.push(EntityChange {
                kind: entity.kind,
                name: row.name,
                mentions_before: mentions_before.unwrap_or(0),
                mentions_after: row.mentions,
            });
        }
        Ok(until(found.len() == TOLD_MAX))
    })?;
    Ok(found)
}

fn values(cx: &Context, a: &DiffSide, b: &DiffSide) -> Result<Vec<ValueChange>, Refusal> {
    let result = |side: &DiffSide, attempt: &StepAttempt| -> Result<String, Refusal> {
        let event = side.state.log().event(attempt.record, attempt.position)?;
        let body: StepRecorded = events::body(&event)?;
        let text = match body.result.or(body.error) {
            Some(text) => budget::passing(|| text.read(&cx.blobs))?,
            None => String::new(),
        };
        let end = text.floor_char_boundary(RESULT_BYTES_MAX);
        Ok(text.get(..end).unwrap_or_default().to_owned())
    };
    let mut found = Vec::new();
    let mut from = 1;
    loop {
        let page = steps::list(&b.state, &b.lines, from, TOLD_MAX)?;
        let Some(last) = page.last() else { break };
        from = last.attempt.step.saturating_add(1);
        for answering in &page {
            let attempt = &answering.attempt;
            let before = steps::answering(&a.state, &a.lines, attempt.step)?;
            let before = before.map(|before| before.attempt);
            if before.is_some_and(|before| before.position == attempt.position) {
                continue;
            }
            found.push(ValueChange {
                step: attempt.step.into(),
                before: before.map(|before| result(a, &before)).transpose()?,
                after: Some(result(b, attempt)?),
            });
            if found.len() == TOLD_MAX {
                return Ok(found);
            }
        }
    }
    Ok(found)
}

/// Lists the changed keys in the latest checkpoint's context.
fn keys(cx: &Context, a: &DiffSide, b: &DiffSide) -> Result<Vec<String>, Refusal> {
    let latest = |side: &DiffSide| match StoredCheckpoint::latest(&side.state, &side.session) {
        Ok(found) => Ok(Some(found)),
        Err(refusal) if refusal.code == Code::CheckpointNotFound => Ok(None),
        Err(refusal) => Err(refusal),
    };
    let (before, after) = (latest(a)?, latest(b)?);
    let text = |side: &DiffSide, found: &Option<StoredCheckpoint>| -> Result<String, Refusal> {
        match found {
            Some(found) => Ok(found.context(cx, &side.state)?.text.clone()),
            None => Ok("{}".to_owned()),
        }
    };
    let (old, new) = (text(a, &before)?, text(b, &after)?);
    let reported = difference(&old, &new, TOLD_MAX).changes.into_iter();
    Ok(reported
        .map(|change| {
            let what = match (change.old, change.new) {
                (None, _) => "added",
                (Some(_), None) => "removed",
                (Some(_), Some(_)) => "changed",
            };
            format!("{} {what}", change.pointer)
        })
        .collect())
}
