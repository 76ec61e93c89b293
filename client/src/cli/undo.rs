//! `lore undo`: what was written is left out of what models are given, after a list of what that is.

use std::io::{self, BufRead, IsTerminal};

use lore::connection::Error;
use lore::protocol::Code;
use serde_json::Value;

use super::command::Command;
use super::common::{DRY_RUN, KEY, YES, person_refusal};
use super::flag::{Fields, Flag, Kind};
use super::output::sanitize;
use super::parser::Matches;
use super::report::{Rendered, read};
use super::template::{fill, is, list, number, raw};
use super::{Caller, Exit, Failure};

/// Maximum length of an event's words, in characters.
const WORDS_CHARS: usize = 160;

/// `lore undo`.
pub const UNDO: Command = Command::client(
    "undo",
    "Leave what a session, an agent or a time wrote out of what models are given",
    run,
)
.details(
    "It lists first what that is, with what rests on it alone: subagents, and what was remembered on no other evidence. Then \
     packs, briefs, search and entities are without it. The log, forks and receipts still show it, and --redo takes it back. \
     To remove it for good, use `lore forget`. Conditions narrow each other.",
)
.flags(&[&[
    Flag::positional(Kind::Session, "session", "SESSION", "What was written in this session").optional(),
    Flag::of(Kind::Number, "event", "POSITION", "The event at this position"),
    Flag::text("agent", "NAME", "What this agent wrote; --agent before the command is the calling agent").sends("of_agent"),
    Flag::of(Kind::Moment, "since", "WHEN", "What happened from this position or RFC 3339 time on"),
    Flag::of(Kind::Moment, "until", "WHEN", "What happened up to this position or RFC 3339 time"),
    Flag::text("project", "PROJECT", "Only in this project, by its id or `current`"),
    Flag::switch("redo", "Take an undoing back"),
    Flag::number("limit", "N", "List at most this many events; 50 by default").short('n'),
    DRY_RUN,
    YES,
    KEY,
]])
.examples(&["lore undo outage --dry-run", "lore undo --agent codex --since 2026-11-20T09:00:00Z --yes", "lore undo outage --redo --yes"]);

fn run(matches: &Matches, caller: &mut Caller) -> Result<Exit, Failure> {
    let (is_dry, is_agreed) = (matches.is("dry-run"), matches.is("yes"));
    let is_redo = matches.is("redo");
    let can_ask = io::stdin().is_terminal() && io::stderr().is_terminal();
    if is_dry || !(is_agreed || can_ask) {
        let aside = match is_dry {
            true => "",
            false => "lore: nothing was changed: add --yes to do it\n",
        };
        let reply = caller.reply("undo", fields(matches, true)?)?;
        let rendered = Rendered::good(text(&read(&reply.json)?, future(is_redo)));
        return caller.print(reply, rendered.aside(aside.to_owned()));
    }
    if !is_agreed {
        let reply: Value = read(&caller.call("undo", fields(matches, true)?)?)?;
        if number(&reply, "events") == 0 {
            lore::errln!("lore: nothing of it is there");
            return Ok(Exit::Nothing);
        }
        let question = match is_redo {
            true => "Redo it?",
            false => "Undo it?",
        };
        lore::err!("{}{question} Type yes: ", text(&reply, future(is_redo)));
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line)?;
        if !line.trim().eq_ignore_ascii_case("yes") {
            lore::errln!("lore: nothing was changed");
            return Ok(Exit::Nothing);
        }
    }
    let reply = caller.reply("undo", fields(matches, false)?);
    let reply = reply.map_err(with_reason)?;
    let done = match is_redo {
        true => "redone",
        false => "undone",
    };
    let rendered = Rendered::good(text(&read(&reply.json)?, done));
    caller.print(reply, rendered)
}

fn fields(matches: &Matches, is_dry: bool) -> Result<Fields, Failure> {
    let mut fields = matches.fields_without("key")?;
    match is_dry {
        true => fields.put("dry_run", &true)?,
        false => fields.put_some("key", matches.text("key"))?,
    }
    Ok(fields)
}

/// Replaces the daemon's refusal by the client's, which knows more reasons.
fn with_reason(failure: Failure) -> Failure {
    match failure {
        Failure::Call(Error::Refused(refused)) if refused.code == Code::Forbidden => {
            let own = person_refusal("undo what others wrote");
            Error::Refused(own.unwrap_or(refused)).into()
        }
        failure => failure,
    }
}

const fn future(is_redo: bool) -> &'static str {
    match is_redo {
        true => "would be redone",
        false => "would be undone",
    }
}

/// Lists what is undone: by session, and its events.
fn text(reply: &Value, what: &str) -> String {
    let mut text = fill("{events:count event} ", reply) + what + "\n";
    for session in list(reply, "sessions") {
        text += &fill(
            "  {session}: {messages:count message}, {steps:count step}, {events:count event} in all, {from:time} to {to:time}",
            session,
        );
        text += match is(session, "rests") {
            true => ", because it rests on that alone\n",
            false => "\n",
        };
    }
    for event in list(reply, "listed") {
        text += &fill("{position:12}  {agent:24=-} {what}: ", event);
        text += &sanitize(raw(event, "words"), WORDS_CHARS);
        text += match is(event, "rests") {
            true => " (rests on that alone)\n",
            false => "\n",
        };
    }
    match number(reply, "more") {
        0 => text,
        more => format!("{text}  and {more} more; --limit lists them\n"),
    }
}
