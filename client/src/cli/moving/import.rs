//! `lore import`: imports an exported log, or another program's data that `lored convert` turns into log lines.

use std::fs::File;
use std::io::{self, BufReader, IsTerminal, Read};
use std::path::Path;
use std::process::{self, Child, Stdio};

use lore::connection::Error;
use lore::protocol::log::ImportLogReply;
use lore::start;

use super::batches::{LineBatch, Parts};
use super::{markdown, transcripts};
use crate::cli::command::Command;
use crate::cli::flag::{Flag, Kind};
use crate::cli::input::named;
use crate::cli::output::{self, Output, sanitize};
use crate::cli::parser::Matches;
use crate::cli::report::{read, to_json};
use crate::cli::{Caller, Exit, Failure};

/// Programs whose data is a file that is named; the others are hosts, which have their own places.
const WITH_FILE: [&str; 3] = ["memory", "langgraph", "markdown"];

/// `lore import`.
pub const IMPORT: Command = Command::client(
    "import",
    "Record what was exported, here or elsewhere, or what another program keeps",
    run,
)
.flags(&[&[
    Flag::positional(Kind::Path, "file", "FILE", "The file, or - for standard input; with a host, its folder if not the usual one")
        .local()
        .unless("from"),
    Flag::of(
        Kind::Choice(&[
            ("memory", "The JSON lines of the reference MCP memory server"),
            ("langgraph", "The SQLite database of LangGraph's checkpoints"),
            ("markdown", "A folder of Markdown files, or what `lore export --markdown` wrote"),
            ("all", "The transcripts of all hosts of agents"),
            ("claude-code", "Transcripts of Claude Code"),
            ("codex", "Transcripts of Codex"),
            ("gemini", "Transcripts of Gemini CLI"),
            ("copilot", "Transcripts of Copilot CLI"),
            ("qwen", "Transcripts of Qwen Code"),
            ("opencode", "The database of opencode"),
            ("goose", "The database of Goose"),
            ("cursor", "Transcripts of Cursor, and the database of its editor"),
            ("cline", "Transcripts of Cline"),
            ("pi", "Transcripts of pi"),
            ("aider", "Chat histories of aider, in the home folder and in known projects"),
        ]),
        "from",
        "PROGRAM",
        "Program that wrote it, if not `lore export`",
    )
    .local(),
    Flag::switch("dry-run", "Only check it, and report what would be recorded"),
    Flag::of(Kind::Path, "project", "DIR", "Of Markdown files: directory of the project that they belong to; otherwise the files' own")
        .local()
        .requires("from"),
    Flag::text("prefix", "PREFIX", "Of other programs' sessions: comes before their ids, with a `-`, for a second copy next to the first one")
        .local()
        .requires("from"),
]])
.examples(&[
    "lore import everything.jsonl --dry-run",
    "lore import --from langgraph checkpoints.sqlite",
    "lore import --from all",
]);

fn run(matches: &Matches, caller: &mut Caller) -> Result<Exit, Failure> {
    if let Some(host) = matches
        .text("from")
        .filter(|from| !WITH_FILE.contains(from))
    {
        return transcripts::import(matches, caller, host);
    }
    let Some(file) = matches.path("file") else {
        return Err(Failure::Usage(
            "name the FILE or folder to import".to_owned(),
        ));
    };
    if matches.text("from") == Some("markdown") && markdown::is_export(&file) {
        return markdown::import(matches, caller, &file);
    }
    let mut child = None;
    let from: Box<dyn Read> = match matches.text("from") {
        Some(program) => {
            let mut converting = convert(matches, program, &file)?;
            let lines = converting.stdout.take();
            child = Some(converting);
            Box::new(lines.ok_or_else(|| io::Error::other("no pipe to lored"))?)
        }
        None if file.as_os_str() == "-" => Box::new(io::stdin()),
        None => Box::new(File::open(&file).map_err(|error| named(&error, &file))?),
    };
    let mut parts = Parts::new(BufReader::with_capacity(1 << 16, from));
    let mut sum = ImportLogReply::default();
    let is_shown = io::stderr().is_terminal();
    let imported = send_all(matches, caller, &mut parts, &mut sum, is_shown);
    if is_shown {
        lore::errln!("");
    }
    if let (Err(_), Some(converting)) = (&imported, &mut child) {
        // Its output is no longer read, so it would block forever. It changes nothing.
        let _ = converting.kill();
    }
    let is_whole = parts.is_whole;
    drop(parts);
    let converted = child.map_or(Ok(true), ended);
    let is_done = imported.is_ok() && matches!(converted, Ok(true));
    report(caller, &sum, is_done)?;
    imported?;
    if !converted? {
        // The child has printed the reason.
        return Ok(Exit::Nothing);
    }
    if !is_whole {
        return Err(Failure::Io(io::Error::other(
            "the last line is missing: the file was truncated; its complete parts are imported",
        )));
    }
    Ok(Exit::Good)
}

fn convert(matches: &Matches, program: &str, file: &Path) -> Result<Child, Failure> {
    let lored = start::find_daemon().map_err(|error| Failure::Call(Error::Start(error)))?;
    let mut command = process::Command::new(lored);
    command.arg("convert").arg(program).arg(file);
    if let Some(project) = matches.path("project") {
        command.arg("--project").arg(project);
    }
    if let Some(prefix) = matches.text("prefix") {
        command.arg(format!("--prefix={prefix}"));
    }
    let pipes = command.stdin(Stdio::inherit()).stdout(Stdio::piped());
    Ok(pipes.spawn()?)
}

fn send_all(
    matches: &Matches,
    caller: &mut Caller,
    parts: &mut Parts<BufReader<Box<dyn Read>>>,
    sum: &mut ImportLogReply,
    is_shown: bool,
) -> Result<(), Failure> {
    while let Some(LineBatch { line, text }) = parts.next()? {
        let mut fields = matches.fields()?;
        fields.put("content", &text)?;
        fields.put("line", &line)?;
        add(sum, read(&caller.call("import_log", fields)?)?);
        if is_shown {
            lore::err!("\r{} sessions, {} events", sum.sessions, sum.events);
        }
    }
    Ok(())
}

fn report(caller: &Caller, sum: &ImportLogReply, is_done: bool) -> Result<(), Failure> {
    match caller.output {
        Output::Json if is_done => output::write_json(&to_json(sum)?)?,
        Output::Human if is_done => output::write(text(sum).as_bytes())?,
        Output::Human | Output::Json => lore::err!("before that, {}", text(sum)),
    }
    for warning in &sum.warnings {
        lore::errln!("lore: {}", sanitize(warning, 0));
    }
    for source in &sum.sources {
        let source = sanitize(source, 0);
        lore::errln!("lore: not imported: documents of {source}; `lore docs add` indexes them");
    }
    Ok(())
}

/// Waits for the conversion and returns whether it succeeded.
fn ended(mut child: Child) -> Result<bool, Failure> {
    Ok(child.wait()?.success())
}

fn add(sum: &mut ImportLogReply, reply: ImportLogReply) {
    sum.sessions += reply.sessions;
    sum.continued += reply.continued;
    sum.events += reply.events;
    sum.projects += reply.projects;
    sum.versions += reply.versions;
    sum.documents += reply.documents;
    sum.there += reply.there;
    sum.sources.extend(reply.sources);
    sum.warnings.extend(reply.warnings);
    sum.dry_run = reply.dry_run;
    sum.position = reply.position;
    sum.durable = reply.durable;
}

fn text(sum: &ImportLogReply) -> String {
    let (sessions, events, projects, versions) =
        (sum.sessions, sum.events, sum.projects, sum.versions);
    let what = match sum.dry_run {
        true => "would be imported",
        false => "were imported",
    };
    let documents = match sum.documents {
        0 => String::new(),
        documents => format!(", and {documents} documents"),
    };
    let there = match sum.there {
        0 => String::new(),
        there => format!("; {there} sessions, projects, versions and documents were there already"),
    };
    let continued = match sum.continued {
        0 => String::new(),
        continued => format!(" and what is new of {continued} others"),
    };
    format!(
        "{sessions} sessions{continued} with {events} events, {projects} projects and {versions} versions of context \
         files{documents} {what}{there}\n"
    )
}
