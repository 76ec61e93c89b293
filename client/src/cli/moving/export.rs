//! `lore export`: exports all recorded data, page by page, to a file or to standard output.

use std::io::{self, BufWriter, IsTerminal, Write};

use lore::protocol::log::ExportLogReply;

use super::{markdown, trace};
use crate::cli::atomic_output::write_whole;
use crate::cli::command::Command;
use crate::cli::flag::{Flag, Kind};
use crate::cli::output::{self, sanitize};
use crate::cli::parser::Matches;
use crate::cli::report::read;
use crate::cli::{Caller, Exit, Failure};

const PAGE_BYTES: u64 = 8 << 20;

/// `lore export`.
pub const EXPORT: Command = Command::client(
    "export",
    "Write everything that is recorded as JSON lines; `--session ID` for one session",
    run,
)
.details(
    "--markdown writes a folder for people and other programs: a file for each session and each fact, with front matter as in \
     the Open Knowledge Format; a second export changes only what changed, and `lore import --from markdown` reads it. \
     --agent-trace writes which lines of the project's files were written by which session and agent, in the Agent Trace format \
     0.1.0.",
)
.flags(&[&[
    Flag::text("project", "ID", "Only this project, with its sessions").conflicts(&["session"]),
    Flag::of(
        Kind::Path,
        "output",
        "FILE",
        "Write to this file, which appears once it is complete",
    )
    .short('o')
    .local(),
    Flag::of(Kind::Path, "markdown", "FOLDER", "Write Markdown files into this folder")
        .local()
        .conflicts(&["output", "session"]),
    Flag::switch("agent-trace", "Write who wrote which lines of the project")
        .local()
        .conflicts(&["markdown", "session"]),
]])
.examples(&[
    "lore export -o everything.jsonl",
    "lore export --session outage",
    "lore export --markdown notes",
    "lore export --agent-trace",
]);

fn run(matches: &Matches, caller: &mut Caller) -> Result<Exit, Failure> {
    if let Some(folder) = matches.path("markdown") {
        return markdown::export(matches, caller, &folder);
    }
    if matches.is("agent-trace") {
        return trace::export(matches, caller);
    }
    match matches.path("output") {
        None => {
            let mut out = BufWriter::new(io::stdout().lock());
            pages(matches, caller, output::is_terminal(), &mut out)?;
            out.flush()?;
        }
        Some(path) => write_whole(&path, |out| pages(matches, caller, false, out))?,
    }
    Ok(Exit::Good)
}

fn pages(
    matches: &Matches,
    caller: &mut Caller,
    is_seen: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let is_shown = io::stderr().is_terminal() && !is_seen;
    let mut bytes = 0;
    let mut next = None;
    loop {
        let mut fields = matches.fields()?;
        // A session of the environment is the session to work in, not the session to export.
        fields.put_some("session", caller.session()?.as_ref())?;
        fields.put("bytes_max", &PAGE_BYTES)?;
        fields.put_some("next", next.as_ref())?;
        let reply: ExportLogReply = read(&caller.call("export_log", fields)?)?;
        out.write_all(output::json_for(&reply.content, is_seen).as_bytes())?;
        for warning in &reply.warnings {
            lore::errln!("lore: {}", sanitize(warning, 0));
        }
        bytes += reply.content.len();
        if is_shown {
            lore::err!("\r{bytes} bytes");
        }
        // A page that leads to itself would be requested forever.
        if reply.next.is_none() || reply.next == next {
            break;
        }
        next = reply.next;
    }
    if is_shown {
        lore::errln!("");
    }
    Ok(())
}
