//! Background recognition: searches steps and tool executions after they are committed, and appends the
//! entities found as events.
//!
//! The follower reads the log in order from its last position; commits wake it. Each session's own events say
//! which texts were searched, so a crash at any moment neither repeats nor omits a text. The position file
//! only saves reading the log again.

mod position_file;
mod progress;
pub mod resolve;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::command::RecordExtraction;
use super::feature::Entities;
use super::merging::{self, DescribedEntity};
use super::recognition::{MergedMatches, SessionContext};
use super::view;
use crate::background_priority::giving_way;
use crate::error::{Code, Refusal};
use crate::events;
use crate::events::entities::{Source, TextEntities};
use crate::events::steps::StepAssigned;
use crate::log::{Actor, Body, EventKind, EventScope, Log, LoggedEvent, Position, codec};
use crate::operation::{Caller, Context, blocking};
use crate::rows::until;
use crate::sessions::{self, SessionSelector};
use crate::state::State;
use crate::steps::{StepRecorded, Text};
use crate::trust;

pub use position_file::PositionFile;
pub use progress::FollowProgress;

/// Name of the follower in `status`.
pub const NAME: &str = "entities";

/// Maximum number of events read in one pass, and of bytes of results searched in one pass.
const EVENTS_MAX: usize = 500;
const BYTES_MAX: u64 = 4 << 20;
/// Texts of one pass that are searched at once: a message may wait for them. More of them give way to callers.
const FEW: usize = 16;
/// Time for which texts are collected and searched together in one event, unless a caller waits. A burst of
/// steps is therefore not delayed by one event after each step.
const TOGETHER: Duration = Duration::from_millis(10);
/// Maximum time that a message waits for the entities of steps, and maximum number of events read to find them.
const SETTLE_MAX: Duration = Duration::from_millis(50);
const SETTLE_EVENTS_MAX: usize = 64;
/// Delay before a retry after a failure.
const AGAIN: Duration = Duration::from_secs(2);

/// Waits for the entities of the steps that a session recorded before, at most [`SETTLE_MAX`]: what a message refers
/// to is often in the result before it. Without such steps it does not wait.
pub async fn settled(
    cx: &Arc<Context>,
    selector: &SessionSelector,
    caller: &Caller,
) -> Result<(), Refusal> {
    let Ok(module) = Entities::of(cx) else {
        return Ok(());
    };
    let state = State::live(cx, None).await?;
    let done = module.progress.position();
    let tail = state.position();
    if done >= tail {
        return Ok(());
    }
    let Ok(session) = selector.find_own(&state, &caller.actor, cx.engine.clock().now()) else {
        return Ok(());
    };
    let last_step = last_step(&state, &session, done)?;
    drop(state);
    if let Some(position) = last_step {
        // A late follower only means that the message knows less.
        if module.progress.is_followed() {
            let clock = cx.engine.clock();
            let _ = module.progress.reaches(position, SETTLE_MAX, clock).await;
        }
    }
    Ok(())
}

/// Returns the position of the last step of a session that is not searched yet.
fn last_step(
    state: &State,
    session: &str,
    done: Position,
) -> Result<Option<Position>, crate::store::Error> {
    let log: Log<'_> = state.log();
    let scope = EventScope::Session(session);
    let mut last_step = None;
    for (position, record) in log.stream(scope, done, state.position(), SETTLE_EVENTS_MAX)? {
        let event = log.whole(record, position)?;
        if event.is_some_and(|event| event.header.kind == EventKind::StepRecorded) {
            last_step = Some(position);
        }
    }
    Ok(last_step)
}

/// Follows the log until the future is dropped.
pub async fn run(cx: Arc<Context>) {
    let place = PositionFile::of(&cx.folder, cx.engine.store_id());
    let mut done = place.read();
    let _followed = Entities::of(&cx)
        .ok()
        .map(|module| module.progress.follow());
    let mut published = cx.engine.watch();
    loop {
        let tail = published
            .borrow_and_update()
            .as_ref()
            .map(|state| state.tail.position);
        if let Some(tail) = tail
            && done < tail
        {
            if tail.0 - done.0 < EVENTS_MAX as u64
                && let Ok(module) = Entities::of(&cx)
            {
                let asked = module.progress.asked();
                let _ = tokio::time::timeout(TOGETHER, asked).await;
            }
            match advance(&cx, done).await {
                Ok(to) => {
                    done = to;
                    // The entities found up to the position are recorded by now.
                    let end = cx.engine.published().map(|state| state.tail.position);
                    place.note(done, end.map_or(done, |end| end.max(done)));
                    if let Ok(module) = Entities::of(&cx) {
                        module.progress.reached(done);
                    }
                }
                Err(refusal) => {
                    tracing::warn!(%refusal, "entities of steps were not recognised yet");
                    tokio::time::sleep(AGAIN).await;
                }
            }
            continue;
        }
        if let Ok(module) = Entities::of(&cx) {
            module.progress.reached(done);
        }
        if published.changed().await.is_err() {
            return;
        }
    }
}

/// A text that has not been searched yet.
struct PendingText {
    session: String,
    source: Source,
    position: Position,
    /// Parameters of the call, as JSON.
    parameters: Option<Text>,
    text: Text,
}

/// Searches the next events and returns the position up to which all are done.
async fn advance(cx: &Arc<Context>, done: Position) -> Result<Position, Refusal> {
    let state = State::live(cx, None).await?;
    let next = blocking(move || pending(&state, done)).await?;
    let (pending_texts, mut described, to) = (next.texts, next.described, next.to);
    if pending_texts.is_empty() {
        merge(cx, described).await?;
        return Ok(to);
    }
    // The long parts hold no state, so that the store can be closed meanwhile: neither preparing packs
    // nor searching texts.
    let shared = Arc::clone(cx);
    blocking(move || Entities::of(&shared)?.packs()).await?;
    let state = State::live(cx, None).await?;
    let shared = Arc::clone(cx);
    let notes = blocking(move || {
        let texts = pending_texts.len();
        let known = known(&shared, &state, pending_texts)?;
        drop(state);
        let search = || {
            let notes = known.into_iter().filter_map(|one| search(&shared, one));
            notes.collect::<Vec<RecordExtraction>>()
        };
        Ok(match texts > FEW {
            true => giving_way(search),
            false => search(),
        })
    })
    .await?;
    for note in notes {
        let of_note = described.entry(note.session.clone()).or_default();
        for text in &note.found {
            of_note.extend(merging::of_mentions(&text.mentions));
        }
        let write = crate::engine::QueuedWrite {
            bytes: note.found.len() * 256,
            command: Box::new(note),
            actor: Arc::new(Actor::daemon()),
            key: None,
        };
        match cx.engine.write(write).await {
            Ok(_) => {}
            // Forgotten meanwhile, or recorded before a crash: nothing remains to be done.
            Err(refusal) if matches!(refusal.code, Code::SessionNotFound | Code::Conflict) => {}
            Err(refusal) => return Err(refusal),
        }
    }
    merge(cx, described).await?;
    Ok(to)
}

/// Merges the entities that the next events describe with those that they turn out to be.
async fn merge(
    cx: &Arc<Context>,
    described: BTreeMap<String, Vec<DescribedEntity>>,
) -> Result<(), Refusal> {
    for (session, described) in described {
        if !described.is_empty() {
            merging::merge(cx, session, described).await?;
        }
    }
    Ok(())
}

/// What the next events give to do.
struct PendingWork {
    texts: Vec<PendingText>,
    /// Entities that they describe, by session.
    described: BTreeMap<String, Vec<DescribedEntity>>,
    /// Position of the last event read.
    to: Position,
}

/// Returns what the next events give to do.
fn pending(state: &State, done: Position) -> Result<PendingWork, Refusal> {
    let (mut found, mut to, mut looked_at, mut bytes) = (Vec::new(), done, 0, 0);
    let mut described: BTreeMap<String, Vec<DescribedEntity>> = BTreeMap::new();
    let log: Log<'_> = state.log();
    log.walk_whole(Position(done.0 + 1), &mut |event, _| {
        looked_at += 1;
        to = event.position();
        if event.header.kind == EventKind::EventsForgotten {
            found.extend(left_of(state, &event)?);
        }
        if let Some(session) = &event.header.session
            && describes(&event)
            && let Some(meta) = events::Event::of(&event)?
        {
            let of_session = described.entry(session.clone()).or_default();
            of_session.extend(merging::described(meta));
        }
        if let Some(pending_text) = text_of(event)? {
            bytes += pending_text.text.bytes();
            found.push(pending_text);
        }
        Ok(until(looked_at == EVENTS_MAX || bytes > BYTES_MAX))
    })?;
    found.sort_by_key(|one| one.position);
    found.dedup_by_key(|one| one.position);
    Ok(PendingWork {
        texts: found,
        described,
        to,
    })
}

/// Returns whether an event may describe entities.
fn describes(event: &LoggedEvent) -> bool {
    matches!(
        event.header.kind.known(),
        Some(
            EventKind::MessageRecorded
                | EventKind::ToolRecorded
                | EventKind::EntitiesFound
                | EventKind::EntityResolved
        )
    )
}

/// Returns the remaining texts of a session after some were forgotten. The entities found in any text since
/// the first forgotten one were forgotten too, so these texts are searched again.
fn left_of(
    state: &State,
    tombstone: &LoggedEvent,
) -> Result<Vec<PendingText>, crate::store::Error> {
    let Some(session) = &tombstone.header.session else {
        return Ok(Vec::new());
    };
    let log: Log<'_> = state.log();
    let after = view::searched(state, session)?;
    let mut found = Vec::new();
    let stream = log.stream(
        EventScope::Session(session),
        after,
        tombstone.position(),
        usize::MAX,
    )?;
    for (position, record) in stream {
        if let Some(event) = log.whole(record, position)? {
            found.extend(text_of(event)?);
        }
    }
    Ok(found)
}

fn text_of(event: LoggedEvent) -> Result<Option<PendingText>, crate::store::Error> {
    let is_step = event.header.kind == EventKind::StepRecorded && event.payload.is_some();
    let Some(session) = event.header.session.clone().filter(|_| is_step) else {
        return Ok(None);
    };
    let (numbered, body): (StepAssigned, StepRecorded) = events::both(&event)?;
    Ok(body.result.or(body.error).map(|text| PendingText {
        session,
        source: Source::Step {
            step: numbered.step,
            attempt: numbered.attempt,
        },
        position: event.position(),
        parameters: body.parameters,
        text,
    }))
}

/// Texts to search of one session, in log order, with the context of the session.
struct SessionKnowledge {
    session: String,
    knowing: SessionContext,
    pending_texts: Vec<PendingText>,
}

/// Reads the context of each session that has unsearched texts.
fn known(
    cx: &Context,
    state: &State,
    pending_texts: Vec<PendingText>,
) -> Result<Vec<SessionKnowledge>, Refusal> {
    let mut by_session: BTreeMap<String, Vec<PendingText>> = BTreeMap::new();
    for one in pending_texts {
        by_session.entry(one.session.clone()).or_default().push(one);
    }
    let mut known = Vec::new();
    for (session, pending_texts) in by_session {
        let Some(row) = sessions::get(state, &session)? else {
            continue;
        };
        let lines = sessions::lineage(state, &session)?;
        // After a crash the position may be behind the recorded events.
        let recorded = view::searched(state, &session)?;
        let is_undone = |one: &PendingText| {
            trust::is_undone(state, EventScope::Session(&session), one.position)
        };
        let mut left = Vec::new();
        for one in pending_texts {
            if one.position > recorded && !is_undone(&one)? {
                left.push(one);
            }
        }
        known.push(SessionKnowledge {
            knowing: SessionContext::of(cx, state, &lines, row.project.as_deref())?,
            session,
            pending_texts: left,
        });
    }
    Ok(known)
}

/// Searches the texts of a session; returns `None` if they mention nothing.
fn search(cx: &Context, known: SessionKnowledge) -> Option<RecordExtraction> {
    let mut found = Vec::new();
    let mut last = None;
    for one in known.pending_texts {
        let text = match one.text.read(&cx.blobs) {
            Ok(text) => text,
            Err(error) => {
                // A damaged result is reported to its readers; it has no entities.
                tracing::debug!(%error, "a result was not searched for entities");
                continue;
            }
        };
        let mut finds = MergedMatches::default();
        let asked = one.parameters.and_then(|asked| asked.read(&cx.blobs).ok());
        let recognised = known.knowing.recognise_result(&text, asked.as_deref());
        finds.take(recognised, false);
        let mentions = finds.into_recognition(Vec::new()).mentions;
        if !mentions.is_empty() {
            last = Some(one.position);
            found.push(TextEntities {
                source: one.source,
                mentions,
            });
        }
    }
    Some(RecordExtraction {
        last: last?,
        session: known.session,
        rules: known.knowing.rules(),
        found,
        body: Body::new(codec::EMPTY.to_vec(), cx.engine.clock().random()),
    })
}
