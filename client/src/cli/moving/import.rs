//! `lore import`: lines of an exported log, or what another program keeps, which `lored convert` makes
//! such lines of.

use std::fs::File;
use std::io::{self, BufReader, IsTerminal, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use lore::connection::Error;
use lore::protocol::log::{ImportLogArgs, ImportLogReply};
use lore::start;

use super::parts::{Part, Parts};
use crate::cli::output::{self, Output, shown};
use crate::cli::{Caller, End, Failure, exchange};

/// Record what was exported, here or elsewhere, or what another program keeps
#[derive(Debug, clap::Args)]
pub struct Import {
    /// The file, or - for standard input
    file: PathBuf,
    /// What it is of, if not of `lore export`
    #[arg(long, value_enum, value_name = "PROGRAM")]
    from: Option<From>,
    /// Only check it, and tell what would be recorded
    #[arg(long)]
    dry_run: bool,
    /// Of Markdown files: the directory of the project that they are of; the files' own, if absent
    #[arg(long, value_name = "DIR", requires = "from")]
    project: Option<PathBuf>,
    /// Of other programs' sessions: stands before their ids, with a `-`, for a second copy beside the first one
    #[arg(long, value_name = "PREFIX", requires = "from")]
    prefix: Option<String>,
}

/// What can be imported besides our own lines.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum From {
    /// The JSON lines of the reference MCP memory server
    Memory,
    /// The SQLite database of LangGraph's checkpoints
    Langgraph,
    /// A folder of Markdown files
    Markdown,
}

impl From {
    const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Langgraph => "langgraph",
            Self::Markdown => "markdown",
        }
    }
}

impl Import {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let mut child = None;
        let from: Box<dyn Read> = match self.from {
            Some(from) => {
                let mut converting = self.convert(from)?;
                let lines = converting.stdout.take();
                child = Some(converting);
                Box::new(lines.ok_or_else(|| io::Error::other("no pipe to lored"))?)
            }
            None if self.file.as_os_str() == "-" => Box::new(io::stdin()),
            None => Box::new(File::open(&self.file).map_err(|error| {
                io::Error::new(error.kind(), format!("{}: {error}", self.file.display()))
            })?),
        };
        let mut parts = Parts::new(BufReader::with_capacity(1 << 16, from));
        let mut sum = ImportLogReply::default();
        let shows = io::stderr().is_terminal();
        let imported = self.send_all(caller, &mut parts, &mut sum, shows);
        if shows {
            lore::errln!("");
        }
        if let (Err(_), Some(converting)) = (&imported, &mut child) {
            // Nobody reads what it still has to say, for which it would wait, and we for it. It changes nothing.
            let _ = converting.kill();
        }
        let is_whole = parts.is_whole;
        drop(parts);
        let converted = child.map_or(Ok(true), ended);
        let is_done = imported.is_ok() && matches!(converted, Ok(true));
        self.tell(caller, &sum, is_done)?;
        imported?;
        if !converted? {
            // It has said why.
            return Ok(End::Nothing);
        }
        if !is_whole {
            return Err(Failure::Io(io::Error::other(
                "the last line is missing: the file was cut short; what was whole in it is imported",
            )));
        }
        Ok(End::Good)
    }

    fn convert(&self, from: From) -> Result<Child, Failure> {
        let program = start::find_daemon().map_err(|error| Failure::Call(Error::Start(error)))?;
        let mut command = Command::new(program);
        command.arg("convert").arg(from.name()).arg(&self.file);
        if let Some(project) = &self.project {
            command.arg("--project").arg(project);
        }
        if let Some(prefix) = &self.prefix {
            command.arg(format!("--prefix={prefix}"));
        }
        Ok(command
            .stdin(Stdio::inherit())
            .stdout(Stdio::piped())
            .spawn()?)
    }

    fn send_all(
        &self,
        caller: &mut Caller,
        parts: &mut Parts<BufReader<Box<dyn Read>>>,
        sum: &mut ImportLogReply,
        shows: bool,
    ) -> Result<(), Failure> {
        while let Some(Part { line, text }) = parts.next()? {
            let args = ImportLogArgs {
                content: text,
                line: Some(line),
                dry_run: self.dry_run.then_some(true),
                agent: None,
            };
            let json = caller.call("import_log", exchange::json(&args)?)?;
            add(sum, exchange::read(&json)?);
            if shows {
                lore::err!("\r{} sessions, {} events", sum.sessions, sum.events);
            }
        }
        Ok(())
    }

    fn tell(&self, caller: &Caller, sum: &ImportLogReply, is_done: bool) -> Result<(), Failure> {
        match caller.output {
            Output::Json if is_done => output::write_json(&exchange::json(sum)?)?,
            Output::Human if is_done => output::write(told(sum).as_bytes())?,
            Output::Human | Output::Json => lore::err!("before that, {}", told(sum)),
        }
        for warning in &sum.warnings {
            lore::errln!("lore: {}", shown(warning, 0));
        }
        for source in &sum.sources {
            let source = shown(source, 0);
            lore::errln!(
                "lore: not imported: documents of {source}; `lore docs add` takes them in"
            );
        }
        Ok(())
    }
}

/// Waits for the conversion; whether it was good.
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

fn told(sum: &ImportLogReply) -> String {
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
