//! The `undo` operation: leaves out of all that models are given what a session, an agent or a time wrote, and takes that
//! back.

use std::collections::BTreeMap;
use std::sync::Arc;

use lore::protocol::undo::{UndoArgs, UndoReply, UndoneEvent, UndoneSession};
use lore::protocol::{AsOf, Position as WirePosition, SessionId};

use crate::budget;
use crate::clock::format_time;
use crate::engine::Outcome;
use crate::error::Refusal;
use crate::events::messages::{MessageEvent, MessageRecorded, ToolRecorded};
use crate::events::steps::{StepEvent, StepRecorded, Text};
use crate::events::trust::TrustEvent;
use crate::events::{self, Event};
use crate::hint::{arg, hint};
use crate::log::{EventKind, LoggedEvent, Position, StreamName};
use crate::operation::cursor::page_limit;
use crate::operation::{Access, Call, Caller, Context, MemoryBound, Moment, Op, blocking};
use crate::sessions::{self, SessionSelector, operations::session_id};
use crate::state::State;
use crate::store::Blobs;
use crate::undo::command::UndoEvents;
use crate::undo::select::{SelectedEvent, UndoSelection, UndoSelector, happened_at, select};

/// Default and maximum number of listed events.
const LIMIT: u64 = 50;
const LIMIT_MAX: u64 = 500;
/// Characters of an event's words.
const WORDS_CHARS: usize = 160;
/// Longer texts are not read for a list, in bytes.
const TEXT_BYTES_MAX: u64 = 1 << 20;

/// The `undo` operation.
pub struct UndoWritten;

impl Op for UndoWritten {
    type Args = UndoArgs;
    type Reply = UndoReply;
    const NAME: &'static str = "undo";
    const TITLE: &'static str = "Undo what was written";
    const DESCRIPTION: &'static str = "Leaves out of packs, briefs, search and entities what a session wrote, or one event, an agent, or \
        a time span, and what rests on it alone. `redo` takes that back; `dry_run` lists it. The log keeps all of it. What others \
        wrote only a person may undo.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<UndoArgs>) -> Result<UndoReply, Refusal> {
        let claim = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        let limit = page_limit(args.limit, LIMIT, LIMIT_MAX)?;
        let state = State::live(&cx, None).await?;
        let selector = selector(&cx, &state, &caller, &args)?;
        let is_redo = selector.is_redo;
        if args.dry_run != Some(true)
            && let Some(outcome) = cx.repeated(&caller, claim.as_ref()).await?
        {
            return repeated(&outcome);
        }
        let shared = Arc::clone(&cx);
        let (selected, listed, position) = blocking(move || {
            let selected = select(&state, &selector)?;
            let listed = list(&state, &shared.blobs, &selected, limit)?;
            Ok((selected, listed, state.position()))
        })
        .await?;
        let mut reply = UndoReply {
            position,
            durable: cx.engine.is_durable(),
            ..listed
        };
        if args.dry_run == Some(true) || selected.events() == 0 {
            reply.warnings.push(match selected.events() {
                0 => "nothing of it is there: nothing was changed".to_owned(),
                _ => "a dry run: nothing was changed".to_owned(),
            });
            return Ok(reply);
        }
        check_allowed(&cx, &caller, &selected).await?;
        let command = UndoEvents {
            changes: selected.changes(),
            is_redo,
            salt: cx.engine.clock().random(),
        };
        let outcome = Arc::clone(&cx).write(&caller, claim, 0, command).await?;
        reply.changed = true;
        reply.position = outcome.event.position();
        reply.durable = outcome.durable;
        Ok(reply)
    }
}

fn selector(
    cx: &Context,
    state: &State,
    caller: &Caller,
    args: &UndoArgs,
) -> Result<UndoSelector, Refusal> {
    let moment = |name: &str, as_of: &Option<AsOf>| {
        let moment = as_of.as_ref().map(Moment::of).transpose();
        moment.map_err(|refusal| Refusal {
            message: refusal.message.replace("as_of", name),
            ..refusal
        })
    };
    let selector = UndoSelector {
        session: args.session.as_ref().map(ToString::to_string),
        event: args.event,
        of_agent: args.of_agent.clone().filter(|agent| !agent.is_empty()),
        since: moment("since", &args.since)?,
        until: moment("until", &args.until)?,
        project: sessions::named_project(cx, state, caller, args.project.clone())?,
        is_redo: args.redo == Some(true),
    };
    if selector.is_everything() {
        return Err(
            Refusal::invalid("nothing says what is to be undone").hint(hint![
                "Give at least one of ",
                arg("session"),
                ", ",
                arg("event"),
                ", ",
                arg("of_agent"),
                ", ",
                arg("since"),
                " and ",
                arg("until"),
                "; several narrow each other."
            ]),
        );
    }
    Ok(selector)
}

/// Checks that the caller may undo these events: an agent its own in its own session, a person all.
async fn check_allowed(
    cx: &Context,
    caller: &Caller,
    selected: &UndoSelection,
) -> Result<(), Refusal> {
    let now = cx.engine.clock().now();
    let published = cx.read(None).await?;
    let rows = &published.snapshot;
    let own = SessionSelector::of(caller, None).find_own(rows, &caller.actor, now);
    let is_own_stream = |stream: &StreamName| match (stream, &own) {
        (StreamName::Session(session), Ok(own)) => session == own,
        _ => false,
    };
    let agent = caller.actor.agent.as_str();
    let is_own = selected.streams.iter().all(|(stream, events)| {
        is_own_stream(stream)
            && events.values().all(|one| {
                let header = &one.event.header;
                header.author() == agent || header.actor.is_daemon()
            })
    });
    drop(published);
    if is_own {
        return Ok(());
    }
    let asking = caller.clone();
    blocking(move || asking.check_person("undo what others wrote, or redo it")).await
}

/// Builds the reply to a repeated call from the recorded event: what was selected is not selected again.
fn repeated(outcome: &Outcome) -> Result<UndoReply, Refusal> {
    let events = match &outcome.meta {
        Event::Trust(TrustEvent::Undone(undone) | TrustEvent::Redone(undone)) => undone.events,
        _ => return Err(events::unexpected(&outcome.event, "an undoing").into()),
    };
    Ok(UndoReply {
        changed: true,
        events,
        position: outcome.event.position(),
        durable: outcome.durable,
        ..UndoReply::default()
    })
}

/// Lists what is selected: by session, and the first events that say something.
fn list(
    state: &State,
    blobs: &Blobs,
    selected: &UndoSelection,
    limit: usize,
) -> Result<UndoReply, Refusal> {
    let mut sessions = Vec::new();
    let mut said: BTreeMap<Position, &SelectedEvent> = BTreeMap::new();
    for (stream, events) in &selected.streams {
        let StreamName::Session(session) = stream else {
            continue;
        };
        let count = |kind: EventKind| {
            let of_kind = events.values().filter(|one| one.event.header.kind == kind);
            of_kind.count() as u64
        };
        let times = events.values().map(happened_at);
        sessions.push(UndoneSession {
            session: session_id(session)?,
            events: events.len() as u64,
            messages: count(EventKind::MessageRecorded),
            steps: count(EventKind::StepRecorded) + count(EventKind::ToolRecorded),
            from: times.clone().min().map(format_time),
            to: times.max().map(format_time),
            rests: events.values().all(|one| one.rests),
        });
        said.extend(events.iter().map(|(position, one)| (*position, one)));
    }
    let (mut listed, mut more) = (Vec::new(), 0);
    for (position, one) in said {
        let kind = one.event.header.kind.known();
        if !kind.is_some_and(says_something) {
            continue;
        }
        if listed.len() == limit {
            more += 1;
            continue;
        }
        // Those that are selected have no bodies.
        let whole = state.log().at(position)?;
        let said = whole.filter(|event| event.payload.is_some());
        let Some((what, words)) = said.map_or(Ok(None), |event| words(blobs, &event))? else {
            continue;
        };
        let header = &one.event.header;
        let session = header.session.clone();
        listed.push(UndoneEvent {
            position: WirePosition(position.0),
            session: session.and_then(|session| SessionId::new(session).ok()),
            agent: Some(header.author().to_owned()).filter(|agent| !agent.is_empty()),
            what: what.to_owned(),
            words,
            at: format_time(header.happened_at()),
            rests: one.rests,
        });
    }
    Ok(UndoReply {
        events: selected.events() as u64,
        sessions,
        listed,
        more,
        ..UndoReply::default()
    })
}

/// Whether events of a kind are listed by what they say.
const fn says_something(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::MessageRecorded
            | EventKind::ToolRecorded
            | EventKind::StepRecorded
            | EventKind::CheckpointSaved
    )
}

/// Returns what an event is and says; `None` for what belongs to another one.
fn words(blobs: &Blobs, event: &LoggedEvent) -> Result<Option<(&'static str, String)>, Refusal> {
    let read = |text: Text| -> Result<String, Refusal> {
        if text.bytes() > TEXT_BYTES_MAX {
            return Ok(String::new());
        }
        Ok(budget::passing(|| text.read(blobs))?)
    };
    Ok(match Event::of(event)? {
        Some(Event::Message(MessageEvent::Message(said))) => {
            let body: MessageRecorded = events::body(event)?;
            let what = match said.remembered {
                Some(_) => "remembered",
                None => "message",
            };
            Some((what, beginning(&read(body.content)?)))
        }
        Some(Event::Message(MessageEvent::ToolCall(_))) => {
            let body: ToolRecorded = events::body(event)?;
            Some(("tool", beginning(&body.tool)))
        }
        Some(Event::Step(StepEvent::Recorded(step))) => {
            let body: StepRecorded = events::body(event)?;
            let text = body.result.or(body.error).map(read).transpose()?;
            let text = format!(
                "step {}, {}: {}",
                step.step,
                body.tool,
                text.unwrap_or_default()
            );
            Some(("step", beginning(&text)))
        }
        Some(Event::Checkpoint(_)) => Some(("checkpoint", String::new())),
        Some(_) | None => None,
    })
}

fn beginning(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().take(WORDS_CHARS).collect()
}
