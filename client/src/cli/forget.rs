//! `lore forget` and `lore session forget`: permanent removal, after a preview.

use std::io::{self, BufRead, IsTerminal};

use serde_json::Value;

use super::command::Command;
use super::common::{DRY_RUN, KEY, YES};
use super::flag::{Flag, Kind};
use super::output::Output;
use super::parser::Matches;
use super::report::{Rendered, read};
use super::template::{fill, fill_each, list, number};
use super::{Caller, Exit, Failure};

/// `lore forget`.
pub const FORGET: Command = Command::client(
    "forget",
    "Remove recorded events for good: of a session (--session), a project, an agent, an origin or a time",
    everything,
)
.details("Several conditions narrow each other.")
.flags(&[&[
    Flag::text("project", "ID", "What is in this project: its sessions, and its context files with their history"),
    Flag::text("agent", "NAME", "What this agent recorded; --agent before the command is the calling agent").sends("of_agent"),
    Flag::text("origin", "ORIGIN", "What came from source:ID, file:/PATH, tool:NAME, resolver:NAME or import"),
    Flag::of(Kind::Moment, "from", "WHEN", "What was recorded from this position or RFC 3339 time on"),
    Flag::of(Kind::Moment, "to", "WHEN", "What was recorded up to this position or RFC 3339 time"),
    DRY_RUN,
    YES,
    KEY,
]])
.examples(&["lore forget --origin tool:scrape --dry-run", "lore forget --session outage --from 120 --yes"]);

/// Forgets, or only reports the effect if `--yes` is missing and the command cannot ask.
fn everything(matches: &Matches, caller: &mut Caller) -> Result<Exit, Failure> {
    let (is_dry, is_agreed) = (matches.is("dry-run"), matches.is("yes"));
    if !is_dry && (is_agreed || is_asked()) {
        return forget(matches, caller, "forget", would_go, |reply| {
            text(reply, "forgotten")
        });
    }
    let aside = match is_dry {
        true => "",
        false => "lore: nothing was forgotten: add --yes to do it\n",
    };
    if caller.output == Output::Json {
        lore::err!("{aside}");
    }
    let reply = dry_run(matches, caller, "forget")?;
    let rendered = Rendered::good(would_go(&read(&reply.json)?));
    caller.print(reply, rendered.aside(aside.to_owned()))
}

/// Runs `lore session forget`.
pub fn session(matches: &Matches, caller: &mut Caller) -> Result<Exit, Failure> {
    const HELD: &str = "session {session} has {events:count event}, {bytes:bytes}: all of it would be gone for good\n";
    const GONE: &str = "forgot session {session}: {events:count event}, {bytes:bytes}\n";
    if matches.is("dry-run") {
        let reply = dry_run(matches, caller, "forget_session")?;
        let rendered = Rendered::good(fill(HELD, &read(&reply.json)?));
        return caller.print(reply, rendered);
    }
    if !matches.is("yes") && !is_asked() {
        return Err(Failure::Usage(
            "forgetting cannot be undone, and there is no terminal to confirm it: add --yes, or look first with --dry-run"
                .to_owned(),
        ));
    }
    forget(
        matches,
        caller,
        "forget_session",
        |reply| fill(HELD, reply),
        |reply| fill(GONE, reply),
    )
}

/// Returns whether the command can ask for confirmation.
fn is_asked() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

fn dry_run(
    matches: &Matches,
    caller: &mut Caller,
    operation: &str,
) -> Result<lore::protocol::Reply, Failure> {
    let mut fields = matches.fields_without("key")?;
    if operation == "forget" {
        fields.put_some("session", caller.session()?.as_ref())?;
    }
    fields.put("dry_run", &true)?;
    caller.reply(operation, fields)
}

/// Forgets, after a confirmation unless `--yes` is present.
fn forget(
    matches: &Matches,
    caller: &mut Caller,
    operation: &str,
    before: fn(&Value) -> String,
    after: fn(&Value) -> String,
) -> Result<Exit, Failure> {
    if !matches.is("yes") {
        let reply = dry_run(matches, caller, operation)?;
        lore::err!("{}Forget it? Type yes: ", before(&read(&reply.json)?));
        if !is_agreed(&mut io::stdin().lock())? {
            lore::errln!("lore: nothing was forgotten");
            return Ok(Exit::Nothing);
        }
    }
    let mut fields = matches.fields_without("key")?;
    if operation == "forget" {
        fields.put_some("session", caller.session()?.as_ref())?;
    }
    fields.put_some("key", matches.text("key"))?;
    let reply = caller.reply(operation, fields)?;
    let rendered = Rendered::good(after(&read(&reply.json)?));
    caller.print(reply, rendered)
}

/// Returns whether the next line confirms; end of input does not.
fn is_agreed(input: &mut impl BufRead) -> io::Result<bool> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    Ok(line.trim().eq_ignore_ascii_case("yes"))
}

fn would_go(reply: &Value) -> String {
    text(reply, "would be forgotten")
}

/// Lists what is removed, by kind, and what remains.
fn text(reply: &Value, what: &str) -> String {
    let mut text = fill("{events:count event}, {bytes:bytes} ", reply) + what + "\n";
    for (count, name) in [
        ("sessions", "session"),
        ("sessions_in_part", "session in part"),
        ("projects", "project"),
        ("context_versions", "context file version"),
        ("sources", "source of documents"),
        ("documents", "document"),
    ] {
        match number(reply, count) {
            0 => {}
            count => text += &format!("{count:>8}  {name}\n"),
        }
    }
    text + &fill_each("   stays  {}\n", list(reply, "kept")).concat()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_goes_is_listed() {
        let reply = json!({"events": 3, "bytes": 2048, "sessions": 0, "sessions_in_part": 1, "kept": ["`a` is shared"]});
        assert_eq!(
            text(&reply, "forgotten"),
            "3 events, 2.0 KiB forgotten\n       1  session in part\n   stays  `a` is shared\n"
        );
    }

    #[test]
    fn only_a_yes_is_one() {
        let agreed = |input: &str| is_agreed(&mut input.as_bytes()).unwrap();
        assert!(agreed("yes\n") && agreed(" YES"));
        assert!(!agreed("") && !agreed("y\n") && !agreed("no\nyes\n"));
    }
}
