//! `lore docs add|remove|list|rescan`.

use std::fmt::Write;
use std::io::{IsTerminal, stderr};
use std::path::Path;
use std::thread;
use std::time::Duration;

use clap::ValueHint;
use lore::protocol::documents::{
    AddSourceArgs, AddSourceReply, ListSourcesArgs, ListSourcesReply, RemoveDocumentArgs,
    RemoveDocumentReply, RemoveSourceArgs, RemoveSourceReply, RescanArgs, RescanReply, Source,
    SourceState,
};

use super::super::context::absolute;
use super::super::exchange::{Told, ask, json, read, tell};
use super::super::output::{facts, shown, table};
use super::super::{Caller, End, Failure};
use super::send;

/// How often a scan that is waited for is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Characters of the bar.
const BAR: u64 = 30;

/// Make a folder or a file a source of documents
#[derive(Debug, clap::Args)]
pub struct Add {
    /// The folder or file
    #[arg(value_hint = ValueHint::AnyPath)]
    path: String,
    /// Context of its documents; otherwise each has the name of its folder
    #[arg(long, value_name = "ID")]
    context: Option<String>,
    /// What people call that context
    #[arg(long, value_name = "TEXT")]
    context_name: Option<String>,
    /// Category of documents that say none
    #[arg(long, value_name = "TEXT")]
    category: Option<String>,
    /// Tag of all its documents; may be repeated
    #[arg(long = "tag", value_name = "TEXT")]
    tags: Vec<String>,
    /// Only files that match this glob; may be repeated
    #[arg(long, value_name = "GLOB")]
    include: Vec<String>,
    /// Leave out what matches this glob; may be repeated
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// Do not follow changes; `lore docs rescan` looks again
    #[arg(long)]
    no_watch: bool,
    /// Wait until all is taken in
    #[arg(long)]
    wait: bool,
    /// Idempotency key: the same call again gives the first reply
    #[arg(long, value_name = "TEXT")]
    key: Option<String>,
}

impl Add {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = AddSourceArgs {
            path: absolute(&self.path)?,
            sent: None,
            context_id: self.context,
            context_name: self.context_name,
            category: self.category,
            tags: self.tags,
            include: self.include,
            exclude: self.exclude,
            watch: Some(!self.no_watch),
            key: self.key,
            agent: None,
        };
        let reply = match caller.reply("add_source", json(&args)?) {
            Err(failure) if send::is_wanted(&failure) => return send::send(caller, args),
            reply => reply?,
        };
        let added: AddSourceReply = read(&reply.json)?;
        let end = tell(caller, reply, Told::good(added_told(&added)))?;
        match self.wait {
            true => wait(caller, &added.source),
            false => Ok(end),
        }
    }
}

fn added_told(reply: &AddSourceReply) -> String {
    let is = match reply.created {
        true => "new",
        false => "known already",
    };
    facts([
        ("source", shown(&reply.source, 80)),
        ("path", shown(&reply.path, 0)),
        ("files", reply.found.to_string()),
        ("is", is.to_owned()),
    ])
}

/// Waits until nothing is done with a source, showing how far it is where a person sees it.
fn wait(caller: &mut Caller, source: &str) -> Result<End, Failure> {
    let is_seen = stderr().is_terminal();
    loop {
        let args = ListSourcesArgs {
            source: Some(source.to_owned()),
            ..ListSourcesArgs::default()
        };
        let reply = caller.reply("list_sources", json(&args)?)?;
        let listed: ListSourcesReply = read(&reply.json)?;
        let Some(one) = listed.sources.first() else {
            return Ok(End::Nothing);
        };
        if is_seen {
            lore::err!("\r{}", bar(one));
        }
        let is_done = match one.state {
            SourceState::Idle => one.scanned_at.is_some(),
            SourceState::Missing => true,
            SourceState::Scanning | SourceState::TakingIn => false,
        };
        if is_done {
            if is_seen {
                lore::errln!("");
            }
            let told = format!(
                "{} documents, {} chunks, {} files failed\n",
                one.documents, one.chunks, one.failed
            );
            return tell(caller, reply, Told::good(told));
        }
        #[allow(clippy::disallowed_methods, reason = "built among the tests, too")]
        thread::sleep(LOOK_EVERY);
    }
}

/// How far a source is, in one line.
fn bar(source: &Source) -> String {
    let found = source.found.unwrap_or(0).max(1);
    let done = found.saturating_sub(source.left.unwrap_or(0));
    let full = done * BAR / found;
    let mut line = String::from("[");
    for at in 0..BAR {
        line.push(if at < full { '#' } else { ' ' });
    }
    let _ = write!(line, "] {done} of {found} files, {} failed ", source.failed);
    line
}

/// Remove a source, whose files are left as they are, or a document that was sent
#[derive(Debug, clap::Args)]
pub struct Remove {
    /// The source's id or its path, or the document's id
    source: String,
    /// Idempotency key: the same call again gives the first reply
    #[arg(long, value_name = "TEXT")]
    key: Option<String>,
}

impl Remove {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        if self.source.starts_with("doc-") {
            return self.remove_document(caller);
        }
        let args = RemoveSourceArgs {
            source: named(&self.source)?,
            key: self.key,
            agent: None,
        };
        ask(
            caller,
            "remove_source",
            &args,
            |reply: &RemoveSourceReply| {
                let documents = reply.documents;
                let path = shown(&reply.path, 0);
                Told::good(format!("{path}: found no more: {documents} documents\n"))
            },
        )
    }
}

impl Remove {
    fn remove_document(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = RemoveDocumentArgs {
            document: self.source,
            key: self.key,
            agent: None,
        };
        ask(
            caller,
            "remove_document",
            &args,
            |reply: &RemoveDocumentReply| {
                let document = shown(&reply.document, 0);
                Told::good(format!("{document}: found no more\n"))
            },
        )
    }
}

/// An id as it is, a path absolute.
fn named(source: &str) -> Result<String, Failure> {
    match source.starts_with("source-") {
        true => Ok(source.to_owned()),
        false => absolute(source),
    }
}

/// List the sources, how far each is taken in, and what failed
#[derive(Debug, clap::Args)]
pub struct List {
    /// This one alone, with all that failed: its id or its path
    source: Option<String>,
}

impl List {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = ListSourcesArgs {
            source: self.source.as_deref().map(named).transpose()?,
            ..ListSourcesArgs::default()
        };
        ask(caller, "list_sources", &args, listed)
    }
}

fn listed(reply: &ListSourcesReply) -> Told {
    if reply.sources.is_empty() {
        return Told::nothing(
            "lore: there is no source yet; `lore docs add FOLDER` makes one\n".to_owned(),
        );
    }
    let rows: Vec<_> = reply.sources.iter().map(row).collect();
    let heading = [
        "source",
        "state",
        "documents",
        "chunks",
        "failed",
        "changes are",
        "path",
    ];
    let mut text = table(heading, &rows);
    for source in &reply.sources {
        for failure in &source.failures {
            let (path, reason) = (shown(&failure.path, 0), shown(&failure.reason, 0));
            let _ = writeln!(text, "failed: {path}: {reason}");
        }
        for warning in &source.warnings {
            let _ = writeln!(text, "not read: {}", shown(warning, 0));
        }
    }
    Told::good(text)
}

fn row(source: &Source) -> [String; 7] {
    let state = match source.state {
        SourceState::Idle => "taken in".to_owned(),
        SourceState::Scanning => "being looked through".to_owned(),
        SourceState::TakingIn => format!("{} files left", source.left.unwrap_or(0)),
        SourceState::Missing => "not there".to_owned(),
    };
    [
        shown(&source.source, 40),
        state,
        source.documents.to_string(),
        source.chunks.to_string(),
        source.failed.to_string(),
        shown(&source.watching, 60),
        shown(&source.path, 0),
    ]
}

/// Look through sources again
#[derive(Debug, clap::Args)]
pub struct Rescan {
    /// Its id or its path; otherwise all
    source: Option<String>,
    /// Try files again that failed and have not changed
    #[arg(long)]
    retry: bool,
    /// Wait until all is taken in
    #[arg(long)]
    wait: bool,
}

impl Rescan {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        if let Some(source) = &self.source
            && let Some(args) = sent(caller, source)?
        {
            return send::send(caller, args);
        }
        let args = RescanArgs {
            source: self.source.as_deref().map(named).transpose()?,
            retry: Some(self.retry),
            agent: None,
        };
        let reply = caller.reply("rescan", json(&args)?)?;
        let asked: RescanReply = read(&reply.json)?;
        let count = asked.sources.len();
        let end = tell(
            caller,
            reply,
            Told::good(format!("looked through again: {count} sources\n")),
        )?;
        if self.wait {
            for source in &asked.sources {
                wait(caller, source)?;
            }
        }
        Ok(end)
    }
}

/// How a source was added whose files are sent; none for one that the daemon looks through itself.
fn sent(caller: &mut Caller, source: &str) -> Result<Option<AddSourceArgs>, Failure> {
    let args = ListSourcesArgs {
        source: Some(named(source)?),
        ..ListSourcesArgs::default()
    };
    let reply: ListSourcesReply = read(&caller.call("list_sources", json(&args)?)?)?;
    let source = reply.sources.into_iter().find(|source| source.sent);
    // One that somebody named has no files.
    let source = source.filter(|source| Path::new(&source.path).is_absolute());
    Ok(source.map(|source| AddSourceArgs {
        path: source.path,
        sent: Some(true),
        context_id: source.context_id,
        context_name: source.context_name,
        category: source.category,
        tags: source.tags,
        include: source.include,
        exclude: source.exclude,
        ..AddSourceArgs::default()
    }))
}
