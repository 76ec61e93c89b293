//! Recognition that nobody waits for: what steps and tool executions mention is looked for behind
//! the log, and appended as events.
//!
//! The follower reads the log from where it was, in order, and is woken by commits. What it has
//! searched is known per session from its own events, so a crash at any moment repeats nothing and
//! leaves nothing out; the file of its place only saves it looking through the log again.

mod place;
pub mod resolve;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::command::NoteFound;
use super::event::{Found, Source};
use super::recognition::{Finds, Knowing};
use super::room::Room;
use super::view;
use crate::error::{Code, Refusal};
use crate::log::{Actor, Body, Log, Position, Stamped, codec};
use crate::operation::{Context, blocking};
use crate::sessions;
use crate::state::State;
use crate::steps::{StepRecorded, Text, decode_step};

pub use place::Place;

/// Its name in `status`.
pub const NAME: &str = "entities";

/// Events looked at in one go, and bytes of results searched in one go.
const EVENTS_MAX: usize = 500;
const BYTES_MAX: u64 = 4 << 20;
/// After a failure it tries again in so long.
const AGAIN: Duration = Duration::from_secs(2);

/// How far the follower has come, for those who wait for it.
#[derive(Debug)]
pub struct Progress {
    done: watch::Sender<Position>,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            done: watch::Sender::new(Position(0)),
        }
    }
}

impl Progress {
    /// Everything up to here has been searched.
    #[must_use]
    pub fn position(&self) -> Position {
        *self.done.borrow()
    }

    /// Waits until everything up to a position has been searched.
    ///
    /// # Errors
    /// `TIMEOUT` when that takes longer than `wait`.
    pub async fn reaches(&self, position: Position, wait: Duration) -> Result<(), Refusal> {
        let mut done = self.done.subscribe();
        let reached = done.wait_for(|done| *done >= position);
        match tokio::time::timeout(wait, reached).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Refusal::new(
                Code::Timeout,
                format!(
                    "entities up to position {position} were not recognised in {} ms; they are up \
                     to {}",
                    wait.as_millis(),
                    self.position()
                ),
            )
            .hint("Ask again, or leave `at_least` out for what is known by now.")),
        }
    }
}

/// Follows the log until it is dropped.
pub async fn run(cx: Arc<Context>) {
    let shared = Arc::clone(&cx);
    if let Err(refusal) = blocking(move || Room::of(&shared)?.warm()).await {
        tracing::warn!(%refusal, "entities are not recognised");
    }
    let place = Place::of(&cx.folder, cx.engine.store_id());
    let mut done = place.read();
    let mut published = cx.engine.watch();
    loop {
        let tail = published
            .borrow_and_update()
            .as_ref()
            .map(|state| state.tail.position);
        if let Some(tail) = tail
            && done < tail
        {
            match advance(&cx, done).await {
                Ok(to) => {
                    done = to;
                    place.note(done);
                    if let Ok(room) = Room::of(&cx) {
                        room.progress.done.send_replace(done);
                    }
                }
                Err(refusal) => {
                    tracing::warn!(%refusal, "entities of steps were not recognised yet");
                    tokio::time::sleep(AGAIN).await;
                }
            }
            continue;
        }
        if let Ok(room) = Room::of(&cx) {
            room.progress.done.send_replace(done);
        }
        if published.changed().await.is_err() {
            return;
        }
    }
}

/// A text that is still to be searched.
struct Wanted {
    session: String,
    source: Source,
    position: Position,
    text: Text,
}

/// Searches the next events; the position up to which all is done then.
async fn advance(cx: &Arc<Context>, done: Position) -> Result<Position, Refusal> {
    let state = State::live(cx, None).await?;
    let shared = Arc::clone(cx);
    let (notes, to) = blocking(move || {
        let (wanted, to) = wanted(&state, done)?;
        Ok((search(&shared, &state, wanted)?, to))
    })
    .await?;
    for note in notes {
        let write = crate::engine::Write {
            bytes: note.found.len() * 256,
            command: Box::new(note),
            actor: Arc::new(Actor::daemon()),
            key: None,
        };
        match cx.engine.write(write).await {
            Ok(_) => {}
            // Forgotten meanwhile, or noted before a crash: nothing is left to do.
            Err(refusal) if matches!(refusal.code, Code::SessionNotFound | Code::Conflict) => {}
            Err(refusal) => return Err(refusal),
        }
    }
    Ok(to)
}

/// The texts among the next events, and the position of the last event looked at.
fn wanted(state: &State, done: Position) -> Result<(Vec<Wanted>, Position), Refusal> {
    let (mut found, mut to, mut looked_at, mut bytes) = (Vec::new(), done, 0, 0);
    let log: Log<'_> = state.log();
    log.walk(Position(done.0 + 1), &mut |event, _| {
        looked_at += 1;
        to = event.position();
        if let Some(wanted) = text_of(event)? {
            bytes += wanted.text.bytes();
            found.push(wanted);
        }
        Ok(if looked_at == EVENTS_MAX || bytes > BYTES_MAX {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    })?;
    Ok((found, to))
}

fn text_of(event: Stamped) -> Result<Option<Wanted>, crate::store::Error> {
    let is_step = event.header.kind == StepRecorded::KIND && event.payload.is_some();
    let Some(session) = event.header.session.clone().filter(|_| is_step) else {
        return Ok(None);
    };
    let (numbered, body) = decode_step(&event)?;
    Ok(body.result.or(body.error).map(|text| Wanted {
        session,
        source: Source::Step {
            step: numbered.step,
            attempt: numbered.attempt,
        },
        position: event.position(),
        text,
    }))
}

/// Searches texts, session by session, each in the order of the log.
fn search(cx: &Context, state: &State, wanted: Vec<Wanted>) -> Result<Vec<NoteFound>, Refusal> {
    let mut by_session: BTreeMap<String, Vec<Wanted>> = BTreeMap::new();
    for one in wanted {
        by_session.entry(one.session.clone()).or_default().push(one);
    }
    let mut notes = Vec::new();
    for (session, wanted) in by_session {
        let Some(row) = sessions::get(state, &session)? else {
            continue;
        };
        let lines = sessions::lineage(state, &session)?;
        let knowing = Knowing::of(cx, state, &lines, row.project.as_deref())?;
        // After a crash the place may be behind what was noted.
        let noted = view::searched(state, &session)?;
        let (mut found, mut last) = (Vec::new(), noted);
        for one in wanted.into_iter().filter(|one| one.position > noted) {
            let text = match one.text.read(&cx.blobs) {
                Ok(text) => text,
                Err(error) => {
                    // A damaged result is told to who reads it; it has no entities.
                    tracing::debug!(%error, "a result was not searched for entities");
                    continue;
                }
            };
            let mut finds = Finds::default();
            finds.take(knowing.recognise(&text, false), false);
            let mentions = finds.into_recognition(Vec::new()).mentions;
            if !mentions.is_empty() {
                last = one.position;
                found.push(Found {
                    source: one.source,
                    mentions,
                });
            }
        }
        if !found.is_empty() {
            notes.push(NoteFound {
                session,
                rules: knowing.rules(),
                found,
                last,
                body: Body::new(codec::EMPTY.to_vec(), cx.engine.clock().random()),
            });
        }
    }
    Ok(notes)
}
