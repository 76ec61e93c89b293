//! `lore log`: prints the events as a table or as JSON lines.

use lore::protocol::Position;
use lore::protocol::log::{Event, ReadEventsReply};

use super::command::Command;
use super::flag::{Fields, Flag};
use super::output::{self, Output, sanitize, table};
use super::parser::Matches;
use super::report::read;
use super::{Caller, Exit, Failure};

/// Events per request.
const PAGE: u64 = 200;

/// `lore log`.
pub const LOG: Command = Command::client("log", "List the events of the log", run)
    .flags(&[&[
        Flag::switch("jsonl", "Print a JSON object a line, with payloads"),
        Flag::number("from", "POSITION", "First position"),
        Flag::number("limit", "COUNT", "At most this many events"),
    ]])
    .examples(&["lore log --from 120 --limit 20"]);

fn run(matches: &Matches, caller: &mut Caller) -> Result<Exit, Failure> {
    let mut left = matches.number("limit");
    let mut from = matches.number("from");
    if caller.output == Output::Json {
        return one_reply(caller, from, left.unwrap_or(PAGE));
    }
    let is_jsonl = matches.is("jsonl");
    let mut is_found = false;
    let mut rows = Vec::new();
    while left != Some(0) {
        let page = page(caller, from, left.unwrap_or(PAGE).min(PAGE))?;
        let reply: ReadEventsReply = read(&page)?;
        left = left.map(|left| left.saturating_sub(reply.events.len() as u64));
        is_found |= !reply.events.is_empty();
        for event in &reply.events {
            if is_jsonl {
                let mut line = serde_json::to_vec(event).map_err(std::io::Error::other)?;
                line.push(b'\n');
                output::write_json_lines(&line)?;
            } else {
                rows.push(row(event));
            }
        }
        match reply.next {
            // A page that leads to itself would be requested forever.
            Some(Position(next)) if from.is_none_or(|from| next > from) => from = Some(next),
            Some(_) | None => break,
        }
    }
    if !rows.is_empty() {
        let heading = ["position", "time", "kind", "agent", "session", "what"];
        output::write(table(&heading, &rows).as_bytes())?;
    }
    Ok(if is_found { Exit::Good } else { Exit::Nothing })
}

fn one_reply(caller: &mut Caller, from: Option<u64>, limit: u64) -> Result<Exit, Failure> {
    let reply = page(caller, from, limit)?;
    output::write_json(&reply)?;
    let is_empty = read::<ReadEventsReply>(&reply)?.events.is_empty();
    Ok(if is_empty { Exit::Nothing } else { Exit::Good })
}

fn page(caller: &mut Caller, from: Option<u64>, limit: u64) -> Result<Vec<u8>, Failure> {
    let mut fields = Fields::default();
    fields.put_some("from", from.as_ref())?;
    fields.put("limit", &limit)?;
    fields.put_some("session", caller.session()?.as_ref())?;
    caller.call("read_events", fields)
}

fn row(event: &Event) -> [String; 6] {
    let session = event.session.as_ref();
    [
        event.position.to_string(),
        sanitize(&event.time, 30),
        sanitize(&event.kind, 30),
        sanitize(&event.agent, 20),
        session.map_or_else(String::new, |session| sanitize(session.as_str(), 24)),
        sanitize(&event.payload.to_string(), 60),
    ]
}
