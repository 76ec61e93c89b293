//! `lore log`: prints the events as a table or as JSON lines.

use std::collections::VecDeque;

use lore::event_words::{event_words, is_internal};
use lore::local_time::local_time;
use lore::protocol::Position;
use lore::protocol::log::{Event, ReadEventsReply};

use super::command::Command;
use super::flag::{Fields, Flag};
use super::output::{self, Output, sanitize, table};
use super::parser::Matches;
use super::report::{none, read};
use super::{Caller, Exit, Failure};

/// Events per request.
const PAGE: u64 = 200;
/// Width of the description of an event, in characters.
const WORDS_CHARS: usize = 100;

/// Shows bookkeeping to people, too.
pub const ALL: Flag = Flag::switch(
    "all",
    "Show bookkeeping, too, such as recognised entities; JSON always has it",
)
.local();

/// `lore log`.
pub const LOG: Command = Command::client("log", "List what was said and done", run)
    .flags(&[&[
        Flag::switch("jsonl", "Print a JSON object a line, with payloads").local(),
        Flag::number("from", "POSITION", "First position").local(),
        Flag::number("limit", "COUNT", "At most this many events").local(),
        Flag::number("last", "COUNT", "Only the last events, at most this many")
            .local()
            .conflicts(&["from", "limit"]),
        Flag::text("project", "ID", "Only of this project"),
        Flag::text(
            "agent",
            "NAME",
            "Only of this agent; --agent before the command is the calling agent",
        ),
        Flag::texts("kind", "KIND", "Only of this kind; may be repeated").sends("kinds"),
        ALL,
    ]])
    .examples(&["lore log --last 20", "lore log --from 120 --limit 20"]);

fn run(matches: &Matches, caller: &mut Caller) -> Result<Exit, Failure> {
    if let Some(count) = matches.number("last") {
        let events = last(matches, caller, count)?;
        return show(matches, caller, events.into());
    }
    let limit = matches.number("limit");
    let from = matches.number("from");
    if caller.output == Output::Json {
        let reply = page(matches, caller, from, limit.unwrap_or(PAGE))?;
        output::write_json(&reply)?;
        return Ok(Exit::Good);
    }
    let mut events = Vec::new();
    let mut left = limit;
    each_page(matches, caller, from, &mut |page| {
        for event in page {
            if left == Some(0) {
                return Ok(false);
            }
            if is_shown(matches, &event) {
                left = left.map(|left| left - 1);
                events.push(event);
            }
        }
        Ok(left != Some(0))
    })?;
    show(matches, caller, events)
}

/// Returns the last events that the command shows, the oldest first. Looks at ever longer ends of the log until
/// there are enough.
fn last(matches: &Matches, caller: &mut Caller, count: u64) -> Result<VecDeque<Event>, Failure> {
    let newest = caller.client.position()?;
    let wanted = usize::try_from(count).unwrap_or(usize::MAX);
    let mut width = count.saturating_mul(2).max(PAGE);
    loop {
        let from = newest.saturating_add(1).saturating_sub(width).max(1);
        let mut events = VecDeque::new();
        each_page(matches, caller, Some(from), &mut |page| {
            for event in page.into_iter().filter(|event| is_shown(matches, event)) {
                if events.len() == wanted {
                    events.pop_front();
                }
                events.push_back(event);
            }
            Ok(true)
        })?;
        events.truncate(wanted);
        if events.len() >= wanted || from == 1 {
            return Ok(events);
        }
        width = width.saturating_mul(8);
    }
}

/// Reads page after page until `take` returns false or the log ends.
fn each_page(
    matches: &Matches,
    caller: &mut Caller,
    mut from: Option<u64>,
    take: &mut dyn FnMut(Vec<Event>) -> Result<bool, Failure>,
) -> Result<(), Failure> {
    loop {
        let reply: ReadEventsReply = read(&page(matches, caller, from, PAGE)?)?;
        if !take(reply.events)? {
            return Ok(());
        }
        match reply.next {
            // A page that leads to itself would be requested forever.
            Some(Position(next)) if from.is_none_or(|from| next > from) => from = Some(next),
            Some(_) | None => return Ok(()),
        }
    }
}

/// Returns whether the command shows an event: people see no bookkeeping unless they ask for it.
fn is_shown(matches: &Matches, event: &Event) -> bool {
    matches.is("jsonl")
        || matches.is(ALL.name)
        || !matches.texts("kind").is_empty()
        || !is_internal(&event.kind, &event.client, &event.payload.to_value())
}

fn show(matches: &Matches, caller: &Caller, events: Vec<Event>) -> Result<Exit, Failure> {
    if caller.output == Output::Json {
        let reply = serde_json::json!({"events": events}).to_string();
        output::write_json(reply.as_bytes())?;
    } else if matches.is("jsonl") {
        let mut lines = Vec::new();
        for event in &events {
            serde_json::to_writer(&mut lines, event).map_err(std::io::Error::other)?;
            lines.push(b'\n');
        }
        output::write_json_lines(&lines)?;
    } else if events.is_empty() {
        lore::err!("{}", none("events"));
    } else {
        let heading = ["position", "time", "agent", "session", "what"];
        let rows: Vec<_> = events.iter().map(row).collect();
        output::write(table(&heading, &rows).as_bytes())?;
    }
    Ok(Exit::Good)
}

fn page(
    matches: &Matches,
    caller: &mut Caller,
    from: Option<u64>,
    limit: u64,
) -> Result<Vec<u8>, Failure> {
    let mut fields: Fields = matches.fields()?;
    fields.put_some("from", from.as_ref())?;
    fields.put("limit", &limit)?;
    fields.put_some("session", caller.session()?.as_ref())?;
    caller.call("read_events", fields)
}

fn row(event: &Event) -> [String; 5] {
    let session = event.session.as_ref();
    [
        event.position.to_string(),
        local_time(&event.time).unwrap_or_else(|| sanitize(&event.time, 30)),
        sanitize(&event.agent, 20),
        session.map_or_else(String::new, |session| sanitize(session.as_str(), 24)),
        event_words(&event.kind, &event.payload.to_value(), WORDS_CHARS),
    ]
}
