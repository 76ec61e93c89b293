//! `lore docs add|remove|list|rescan`.

use std::io::{IsTerminal, stderr};
use std::path::Path;
use std::thread;
use std::time::Duration;

use lore::protocol::documents::{ListSourcesReply, Source, SourceState};
use serde_json::Value;

use super::send::{self, NewSource};
use crate::cli::command::Command;
use crate::cli::common::KEY;
use crate::cli::flag::{Fields, Flag, Kind};
use crate::cli::input::absolute;
use crate::cli::parser::Matches;
use crate::cli::report::{Column, Rendered, Report, column, column_of, facts, read, rows};
use crate::cli::template::{fill, fill_each, list, plain, raw};
use crate::cli::{Caller, Exit, Failure};

/// Interval at which the progress of a scan is read.
const POLL_EVERY: Duration = Duration::from_millis(200);
/// Width of the progress bar, in characters.
const BAR: u64 = 30;

const WAIT: Flag = Flag::switch("wait", "Wait until all files are read").local();

/// `lore docs add`.
pub const ADD: Command =
    Command::client("add", "Make a folder or a file a source of documents", add)
        .flags(&[&[
            Flag::positional(Kind::Text, "path", "PATH", "The folder or file").local(),
            Flag::text(
                "context",
                "ID",
                "Context of its documents; otherwise each has the name of its folder",
            )
            .sends("context_id"),
            Flag::text("context-name", "TEXT", "Name of that context for people"),
            Flag::text("category", "TEXT", "Category of documents that name none"),
            Flag::texts("tag", "TEXT", "Tag of all its documents; may be repeated").sends("tags"),
            Flag::texts(
                "include",
                "GLOB",
                "Only files that match this glob; may be repeated",
            ),
            Flag::texts(
                "exclude",
                "GLOB",
                "Omit files that match this glob; may be repeated",
            ),
            Flag::switch(
                "no-watch",
                "Do not follow changes; `lore docs rescan` reads them",
            )
            .local(),
            WAIT,
            KEY,
        ]])
        .examples(&["lore docs add ~/handbook --tag handbook --wait"]);

fn add(matches: &Matches, caller: &mut Caller) -> Result<Exit, Failure> {
    let path = absolute(matches.needed("path"))?;
    let fields = matches.fields()?;
    let mut request = fields.clone();
    request.put("path", &path)?;
    request.put("watch", &!matches.is("no-watch"))?;
    let reply = match caller.reply("add_source", request) {
        Err(failure) if send::is_wanted(&failure) => {
            let texts = |name| matches.texts(name).into_iter().map(str::to_owned).collect();
            let (include, exclude) = (texts("include"), texts("exclude"));
            return send::send(
                caller,
                NewSource {
                    path,
                    include,
                    exclude,
                    fields,
                },
            );
        }
        reply => reply?,
    };
    let added: Value = read(&reply.json)?;
    let columns = &[
        column("source", "{source:80}"),
        column("path", "{path}"),
        column("files", "{found}"),
        column("is", "{created:new/known already}"),
    ];
    let end = caller.print(reply, Rendered::good(facts(columns, &added)))?;
    match matches.is("wait") {
        true => wait(caller, raw(&added, "source")),
        false => Ok(end),
    }
}

/// Waits until a source is idle, and shows the progress on a terminal.
fn wait(caller: &mut Caller, source: &str) -> Result<Exit, Failure> {
    let is_seen = stderr().is_terminal();
    loop {
        let reply = caller.reply("list_sources", one(source)?)?;
        let listed: ListSourcesReply = read(&reply.json)?;
        let Some(source) = listed.sources.first() else {
            return Ok(Exit::Nothing);
        };
        if is_seen {
            lore::err!("\r{}", bar(source));
        }
        let is_done = match source.state {
            SourceState::Idle => source.scanned_at.is_some(),
            SourceState::Missing => true,
            SourceState::Scanning | SourceState::TakingIn => false,
        };
        if is_done {
            if is_seen {
                lore::errln!("");
            }
            let (documents, chunks, failed) = (source.documents, source.chunks, source.failed);
            let line = format!("{documents} documents, {chunks} chunks, {failed} files failed\n");
            return caller.print(reply, Rendered::good(line));
        }
        #[allow(clippy::disallowed_methods, reason = "built among the tests, too")]
        thread::sleep(POLL_EVERY);
    }
}

/// Builds the arguments that name one source.
fn one(source: &str) -> Result<Fields, Failure> {
    let mut fields = Fields::default();
    fields.put("source", source)?;
    Ok(fields)
}

/// Formats the progress of a source as one line.
fn bar(source: &Source) -> String {
    let found = source.found.unwrap_or(0).max(1);
    let done = found.saturating_sub(source.left.unwrap_or(0));
    let full = usize::try_from(done * BAR / found).unwrap_or_default();
    let (width, full) = (BAR as usize, "#".repeat(full));
    format!(
        "[{full:width$}] {done} of {found} files, {} failed ",
        source.failed
    )
}

/// `lore docs remove`.
pub const REMOVE: Command = Command::client(
    "remove",
    "Remove a source, whose files stay as they are, or a document that was sent",
    remove,
)
.flags(&[&[
    Flag::positional(
        Kind::Text,
        "source",
        "SOURCE",
        "Id or path of the source, or id of the document",
    )
    .local(),
    KEY,
]])
.examples(&["lore docs remove ~/handbook"]);

fn remove(matches: &Matches, caller: &mut Caller) -> Result<Exit, Failure> {
    let source = matches.needed("source");
    let mut fields = matches.fields()?;
    let (operation, line) = match source.starts_with("doc-") {
        true => {
            fields.put("document", source)?;
            ("remove_document", "{document} is no longer searchable\n")
        }
        false => {
            fields.put("source", &named(source)?)?;
            (
                "remove_source",
                "{path} is no longer searchable: {documents} documents\n",
            )
        }
    };
    let reply = caller.reply(operation, fields)?;
    let rendered = Rendered::good(fill(line, &read(&reply.json)?));
    caller.print(reply, rendered)
}

/// Returns an id unchanged, and a path as an absolute path.
fn named(source: &str) -> Result<String, Failure> {
    match source.starts_with("source-") {
        true => Ok(source.to_owned()),
        false => absolute(source),
    }
}

/// `lore docs list`.
pub const LIST: Command = Command::call_with(
    "list",
    "List the sources, how far each was read, and what failed",
    "list_sources",
    |matches, _, fields| {
        let source = matches.text("source").map(named).transpose()?;
        fields.put_some("source", source.as_ref())
    },
    Report::Rendered(|reply, _| listed(reply)),
)
.flags(&[&[Flag::positional(
    Kind::Text,
    "source",
    "SOURCE",
    "Only this one, with all that failed: its id or its path",
)
.optional()
.local()]])
.examples(&["lore docs list"]);

fn listed(reply: &Value) -> Rendered {
    let sources = list(reply, "sources");
    if sources.is_empty() {
        return Rendered::empty(
            "lore: no source yet; `lore docs add FOLDER` makes one\n".to_owned(),
        );
    }
    let mut text = rows(SOURCES, sources);
    for source in sources {
        text += &fill_each("failed: {path}: {reason}\n", list(source, "failures")).concat();
        text += &fill_each("not read: {}\n", list(source, "warnings")).concat();
    }
    Rendered::good(text)
}

const SOURCES: &[Column] = &[
    column("source", "{source:40}"),
    column_of("state", |source| {
        let template = match raw(source, "state") {
            "idle" => "up to date",
            "scanning" => "scanning",
            "taking_in" => "{left=0} files left",
            "missing" => "missing",
            _ => "{state}",
        };
        fill(template, source)
    }),
    column("documents", "{documents}"),
    column("chunks", "{chunks}"),
    column("failed", "{failed}"),
    column("changes are", "{watching:60}"),
    column("path", "{path}"),
];

/// `lore docs rescan`.
pub const RESCAN: Command = Command::client("rescan", "Scan sources again", rescan)
    .flags(&[&[
        Flag::positional(
            Kind::Text,
            "source",
            "SOURCE",
            "Its id or its path; otherwise all",
        )
        .optional()
        .local(),
        Flag::switch("retry", "Try files again that failed and have not changed"),
        WAIT,
    ]])
    .examples(&["lore docs rescan ~/handbook --retry"]);

fn rescan(matches: &Matches, caller: &mut Caller) -> Result<Exit, Failure> {
    let source = matches.text("source").map(named).transpose()?;
    if let Some(source) = &source
        && let Some(sent) = sent(caller, source)?
    {
        return send::send(caller, sent);
    }
    let mut fields = matches.fields()?;
    fields.put_some("source", source.as_ref())?;
    let reply = caller.reply("rescan", fields)?;
    let asked: Value = read(&reply.json)?;
    let sources = list(&asked, "sources");
    let line = format!("scanned again: {} sources\n", sources.len());
    let end = caller.print(reply, Rendered::good(line))?;
    if matches.is("wait") {
        for source in sources {
            wait(caller, &plain(source))?;
        }
    }
    Ok(end)
}

/// Returns the settings of a source whose files the client sends; `None` if the daemon scans it.
fn sent(caller: &mut Caller, source: &str) -> Result<Option<NewSource>, Failure> {
    let reply: ListSourcesReply = read(&caller.call("list_sources", one(source)?)?)?;
    let source = reply.sources.into_iter().find(|source| source.sent);
    // A source with a client-defined name has no files.
    let Some(source) = source.filter(|source| Path::new(&source.path).is_absolute()) else {
        return Ok(None);
    };
    let mut fields = Fields::default();
    fields.put_some("context_id", source.context_id.as_ref())?;
    fields.put_some("context_name", source.context_name.as_ref())?;
    fields.put_some("category", source.category.as_ref())?;
    for (name, texts) in [
        ("tags", &source.tags),
        ("include", &source.include),
        ("exclude", &source.exclude),
    ] {
        fields.put(name, texts)?;
    }
    Ok(Some(NewSource {
        path: source.path,
        include: source.include,
        exclude: source.exclude,
        fields,
    }))
}
