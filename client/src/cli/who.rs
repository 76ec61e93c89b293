//! `lore who` and `lore watch`: who works on what, and what others do.

use std::io;
use std::io::Write as _;

use lore::protocol::coordination::WatchReply;
use serde_json::Value;

use super::command::Command;
use super::flag::{Flag, Kind};
use super::follow::{Follower, Step};
use super::output::{self, Output, sanitize};
use super::parser::Matches;
use super::report::{Rendered, Report, read};
use super::template::{fill, is, list, raw};
use super::{Caller, Exit, Failure};

/// Maximum length of a task and of a line, in characters.
const TASK_CHARS: usize = 200;
const LINE_CHARS: usize = 600;
/// Duration of one waiting call, in milliseconds. Then the command checks whether the output is still read.
const WAIT_MS: u64 = 10_000;

/// `lore who`.
pub const WHO: Command = Command::call(
    "who",
    "Show who works in this project now, and on which files",
    "who",
    Report::Rendered(working),
)
.details(
    "A session is at work if something happened in it in the last 30 minutes and it has not ended. It works on a file from \
     its first change until it commits, ends, or half an hour passes.",
)
.flags(&[&[Flag::text(
    "project",
    "PROJECT",
    "The project, by its id or `current`, if not that of this folder",
)]])
.examples(&["lore who"]);

/// `lore watch`.
pub const WATCH: Command = Command::client(
    "watch",
    "Print a line when another session does what matters to this one",
    watch,
)
.details(
    "Others change files that this session uses, something is to be remembered, sessions start and end. It runs until it is \
     interrupted, and is made to be run by a host as a monitor.",
)
.flags(&[&[
    Flag::of(
        Kind::Number,
        "after",
        "POSITION",
        "Begin after this position; otherwise with what comes from now on",
    )
    .local(),
    Flag::switch("no-follow", "Stop after what has happened already").local(),
]])
.examples(&["lore watch", "lore watch --after 4711 --no-follow"]);

fn working(reply: &Value, _: &Matches) -> Rendered {
    let sessions = list(reply, "sessions");
    if sessions.is_empty() {
        return Rendered::nothing(fill(
            "lore: no session is at work in {project=this folder}\n",
            reply,
        ));
    }
    let mut text = String::new();
    for session in sessions {
        text += &fill("{agent:40}", session);
        if is(session, "own") {
            text += " (you)";
        }
        text += &fill("  {session}", session);
        for (member, before) in [("branch", ", on branch "), ("folder", ", in ")] {
            let said = sanitize(raw(session, member), LINE_CHARS);
            if !said.is_empty() {
                text += &format!("{before}{said}");
            }
        }
        text += &fill(", last event {at:time}\n", session);
        let task = sanitize(raw(session, "task"), TASK_CHARS);
        if !task.is_empty() {
            text += &format!("    {task}\n");
        }
        for file in list(session, "files") {
            text += &fill("    {path:200} since {since:time}", file);
            let with: Vec<&str> = list(file, "with")
                .iter()
                .filter_map(Value::as_str)
                .collect();
            if !with.is_empty() {
                text += &format!(", also {}", sanitize(&with.join(", "), LINE_CHARS));
            }
            text.push('\n');
        }
    }
    Rendered::good(text)
}

fn watch(matches: &Matches, caller: &mut Caller) -> Result<Exit, Failure> {
    let mut after = matches.number("after");
    let is_following = !matches.is("no-follow");
    if is_following && after.is_none() {
        after = Some(caller.client.position()?);
    }
    Follower::new()?.run(|interrupt| {
        let mut fields = matches.fields()?;
        fields.put_some("after", after.as_ref())?;
        fields.put_some("session", caller.session()?.as_ref())?;
        if is_following {
            fields.put("wait_ms", &WAIT_MS)?;
        }
        let reply: WatchReply = read(&caller.call("watch", fields)?)?;
        interrupt.not_while(|| print(caller.output, &reply))?;
        after = Some(reply.position.0);
        Ok(match is_following || !reply.events.is_empty() {
            true => Step::Next,
            false => Step::Done,
        })
    })
}

fn print(output: Output, reply: &WatchReply) -> Result<(), Failure> {
    let mut lines = Vec::new();
    for event in &reply.events {
        match output {
            Output::Json => serde_json::to_writer(&mut lines, event).map_err(io::Error::other)?,
            Output::Human => lines.write_all(sanitize(&event.line, LINE_CHARS).as_bytes())?,
        }
        lines.push(b'\n');
    }
    match output {
        Output::Json => output::write_json_lines(&lines)?,
        Output::Human => output::write(&lines)?,
    }
    Ok(())
}
