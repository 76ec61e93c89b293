//! `lore session export` and `import`: transfers a session page by page to a file and back.

use std::io::{self, Write};

use lore::protocol::SessionId;
use lore::protocol::sessions::ExportSessionReply;
use serde_json::Value;

use crate::cli::atomic_output::write_whole;
use crate::cli::command::Command;
use crate::cli::common::{AS_OF, KEY, SESSION_ID};
use crate::cli::flag::{Flag, Kind};
use crate::cli::output::{self, Output, sanitize};
use crate::cli::parser::Matches;
use crate::cli::report::{Rendered, read};
use crate::cli::template::{fill, is, members};
use crate::cli::{Caller, Exit, Failure, input};

const PAGE_BYTES: u64 = 8 << 20;
/// Maximum size of one import, in bytes; the daemon refuses more.
const BYTES_MAX: u64 = 32 << 20;

/// `lore session export`.
pub const EXPORT: Command = Command::client(
    "export",
    "Write a session as JSON lines, or as Markdown for people",
    export,
)
.flags(&[&[
    SESSION_ID,
    Flag::of(
        Kind::Word("markdown"),
        "markdown",
        "",
        "Write Markdown, which is for reading and cannot be imported",
    )
    .sends("format"),
    Flag::of(
        Kind::Path,
        "output",
        "FILE",
        "Write to this file, which appears once it is complete",
    )
    .short('o')
    .local(),
    AS_OF,
]])
.examples(&[
    "lore session export outage -o outage.jsonl",
    "lore session export outage --markdown",
]);

fn export(matches: &Matches, caller: &mut Caller) -> Result<Exit, Failure> {
    match matches.path("output") {
        None => {
            let mut out = io::stdout().lock();
            pages(matches, caller, true, &mut out)?;
            out.flush()?;
        }
        Some(path) => write_whole(&path, |out| pages(matches, caller, false, out))?,
    }
    Ok(Exit::Good)
}

/// Writes page after page: unchanged for a pipe, sanitised for a terminal.
fn pages(
    matches: &Matches,
    caller: &mut Caller,
    is_printed: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let is_seen = is_printed && output::is_terminal();
    let mut session = matches.text("id").map(input::id::<SessionId>).transpose()?;
    let mut next = None;
    loop {
        let mut fields = matches.fields_without("id")?;
        // Later pages are of the first page's session, even if the current session changes.
        fields.put_some("session", session.as_ref())?;
        fields.put("bytes_max", &PAGE_BYTES)?;
        fields.put_some("next", next.as_ref())?;
        let json = caller.call("export_session", fields)?;
        let reply: ExportSessionReply = read(&json)?;
        if is_printed && caller.output == Output::Json {
            output::write_json(&json)?;
        } else {
            let page = match matches.is("markdown") {
                true => output::text_for(&reply.content, is_seen),
                false => output::json_for(&reply.content, is_seen),
            };
            out.write_all(page.as_bytes())?;
        }
        for warning in &reply.warnings {
            lore::errln!("lore: {}", sanitize(warning, 0));
        }
        session = Some(reply.session);
        // A page that leads to itself would be requested forever.
        if reply.next.is_none() || reply.next == next {
            return Ok(());
        }
        next = reply.next;
    }
}

/// `lore session import`.
pub const IMPORT: Command = Command::client(
    "import",
    "Record an exported session: all of it, or nothing",
    import,
)
.flags(&[&[
    Flag::positional(
        Kind::Path,
        "file",
        "FILE",
        "File of JSON lines; - reads standard input",
    )
    .local(),
    Flag::of(
        Kind::Session,
        "as",
        "ID",
        "New id, instead of the exported one",
    )
    .sends("session"),
    Flag::text("project", "PROJECT", "Project, instead of the exported one"),
    Flag::switch("dry-run", "Check everything and record nothing"),
    KEY,
]])
.examples(&["lore session import outage.jsonl --dry-run"]);

fn import(matches: &Matches, caller: &mut Caller) -> Result<Exit, Failure> {
    let file = matches.path("file").unwrap_or_default();
    let mut fields = matches.fields()?;
    let content = input::file_text(&file.display().to_string(), &file, BYTES_MAX)?;
    fields.put("content", &content)?;
    let reply = caller.reply("import_session", fields)?;
    let rendered = Rendered::good(imported(&read(&reply.json)?));
    caller.print(reply, rendered)
}

fn imported(reply: &Value) -> String {
    let template = match is(reply, "dry_run") {
        true => "good: {events} events would be session {session}\n",
        false => "imported session {session}: {events} events\n",
    };
    let kinds =
        members(reply, "kinds").map(|(kind, count)| format!("  {count} {}\n", sanitize(kind, 0)));
    fill(template, reply) + &kinds.collect::<String>()
}
