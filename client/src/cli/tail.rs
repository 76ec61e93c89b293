//! `lore tail`: prints events as they are recorded, one per line, until interrupted.

use std::io;

use lore::event_words::{event_words, is_internal};
use lore::local_time::local_time;
use lore::protocol::log::{Event, FollowEventsReply};
use lore::protocol::{CursorName, Position, SessionId};

use super::command::Command;
use super::flag::{Fields, Flag};
use super::follow::{Follower, Step, may_come_back};
use super::log::ALL;
use super::output::{self, Output, sanitize};
use super::parser::Matches;
use super::report::{none, read};
use super::{Caller, Exit, Failure};

/// Default number of earlier events to print first.
const BEFORE: u64 = 10;
/// Events per reply.
const PAGE: u64 = 200;
/// Width of the description of an event, in characters.
const WORDS_CHARS: usize = 160;
/// Duration of one waiting call, in milliseconds. Then the command checks whether the output is still read.
const WAIT_MS: u64 = 10_000;

/// `lore tail`.
pub const TAIL: Command = Command::client("tail", "Print events as they are recorded", run)
    .flags(&[&[
        Flag::number(
            "from",
            "POSITION",
            "First position; otherwise the last ten events come first",
        )
        .local(),
        Flag::text(
            "cursor",
            "NAME",
            "Begin at this cursor, and move it with what is printed",
        )
        .local()
        .conflicts(&["since"]),
        Flag::switch(
            "since",
            "What other agents did since the last event of the calling agent in this project",
        )
        .local()
        .conflicts(&["from"]),
        Flag::text("project", "ID", "Only of this project"),
        Flag::text(
            "agent",
            "NAME",
            "Only of this agent; --agent before the command is the calling agent",
        ),
        Flag::text("not-agent", "NAME", "Only of other agents than this one"),
        Flag::texts("kind", "KIND", "Only of this kind; may be repeated").sends("kinds"),
        ALL,
        Flag::switch(
            "no-follow",
            "Stop after the events that are recorded already",
        )
        .local(),
    ]])
    .examples(&[
        "lore tail",
        "lore tail --since",
        "lore tail --kind MessageRecorded --no-follow",
    ]);

/// Start of the next page.
enum PageStart {
    Position(u64),
    Cursor,
    LastTurn,
}

fn run(matches: &Matches, caller: &mut Caller) -> Result<Exit, Failure> {
    let follower = Follower::new()?;
    let cursor = matches.text("cursor").map(CursorName::new).transpose();
    let cursor = cursor.map_err(|error| Failure::Usage(format!("--cursor: {error}")))?;
    let mut start = first(matches, caller, cursor.is_some())?;
    let is_following = !matches.is("no-follow");
    let shows_all = matches.is(ALL.name) || !matches.texts("kind").is_empty();
    let mut is_found = false;
    follower.run(|interrupt| {
        let reply = page(matches, caller, &start, cursor.as_ref())?;
        is_found |= !reply.events.is_empty();
        interrupt.not_while(|| print(caller.output, &reply.events, shows_all))?;
        start = PageStart::Position(reply.next.0);
        if let Some(name) = &cursor
            && !reply.events.is_empty()
        {
            interrupt.not_while(|| commit(caller, name, reply.next))?;
        }
        Ok(match !is_following && reply.caught_up {
            true => Step::Done,
            false => Step::Next,
        })
    })?;
    if !is_found && !is_following && caller.output == Output::Human {
        lore::err!("{}", none("events"));
    }
    Ok(Exit::Good)
}

fn first(matches: &Matches, caller: &mut Caller, has_cursor: bool) -> Result<PageStart, Failure> {
    Ok(
        match (matches.number("from"), has_cursor, matches.is("since")) {
            (Some(from), _, _) => PageStart::Position(from),
            (None, true, _) => PageStart::Cursor,
            (None, false, true) => PageStart::LastTurn,
            (None, false, false) => {
                let newest = caller.client.position()?;
                PageStart::Position((newest + 1).saturating_sub(BEFORE).max(1))
            }
        },
    )
}

fn page(
    matches: &Matches,
    caller: &mut Caller,
    start: &PageStart,
    cursor: Option<&CursorName>,
) -> Result<FollowEventsReply, Failure> {
    let mut fields = matches.fields()?;
    match start {
        PageStart::Position(from) => fields.put("from", from)?,
        PageStart::Cursor => fields.put_some("cursor", cursor)?,
        PageStart::LastTurn => fields.put("since_last_turn", &true)?,
    }
    if matches.is("since") {
        fields.put("others", &true)?;
    }
    fields.put_some("session", caller.session()?.as_ref())?;
    fields.put("limit", &PAGE)?;
    if !matches.is("no-follow") {
        fields.put("wait_ms", &WAIT_MS)?;
    }
    read(&caller.call("follow_events", fields)?)
}

fn commit(caller: &mut Caller, name: &CursorName, position: Position) -> Result<(), Failure> {
    let mut fields = Fields::default();
    fields.put("name", name)?;
    fields.put("position", &position)?;
    match caller.call("commit_cursor", fields) {
        // The next page commits this one too.
        Err(Failure::Call(error)) if may_come_back(&error) => Ok(()),
        done => done.map(drop),
    }
}

fn print(output: Output, events: &[Event], shows_all: bool) -> Result<(), Failure> {
    let mut lines = Vec::new();
    for event in events {
        match output {
            Output::Human
                if !shows_all
                    && is_internal(&event.kind, &event.client, &event.payload.to_value()) =>
            {
                continue;
            }
            Output::Json => {
                serde_json::to_writer(&mut lines, event).map_err(io::Error::other)?;
            }
            Output::Human => lines.extend(line(event).into_bytes()),
        }
        lines.push(b'\n');
    }
    match output {
        Output::Json => output::write_json_lines(&lines)?,
        Output::Human => output::write(&lines)?,
    }
    Ok(())
}

fn line(event: &Event) -> String {
    let session = event.session.as_ref().map_or("-", SessionId::as_str);
    let agent = match event.agent.as_str() {
        "" => "-",
        agent => agent,
    };
    format!(
        "{} {} {} {}",
        local_time(&event.time).unwrap_or_else(|| sanitize(&event.time, 30)),
        sanitize(agent, 24),
        sanitize(session, 24),
        event_words(&event.kind, &event.payload.to_value(), WORDS_CHARS)
    )
}
