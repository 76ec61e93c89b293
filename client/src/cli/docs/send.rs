//! The files of a folder, sent to a daemon that reaches none: `lored files`, run as this user, says which are
//! meant, by the same rules by which a daemon takes them in itself, and what of them is to be sent.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal, Read, Write, stderr};
use std::process::{Child, ChildStdout, Command, Stdio};

use lore::connection::Error;
use lore::protocol::documents::{
    AddSourceArgs, AddSourceReply, FileLine, KnownFile, ListDocumentsArgs, ListDocumentsReply,
    ListedDocument, PutDocumentArgs, PutDocumentReply, PutStatus, RemoveDocumentArgs,
};
use lore::protocol::{Code, ErrorBody, Position, Serialize};
use lore::start;

use super::super::exchange::{json, read};
use super::super::output::{self, Output, facts, shown};
use super::super::{Caller, End, Failure};

/// Documents that are asked for at once.
const PAGE: u64 = 1000;
/// The longest line of `lored files`, in bytes: no longer one could be sent.
const LINE_BYTES_MAX: u64 = 64 << 20;

/// Whether a daemon refused because it reaches no files, and takes documents that are sent.
pub fn is_wanted(failure: &Failure) -> bool {
    let Failure::Call(Error::Refused(body)) = failure else {
        return false;
    };
    let reaches_files = body.details.as_ref().and_then(|it| it.get("reaches_files"));
    reaches_files.is_some_and(|reaches| *reaches == false)
}

/// Makes a folder or file a source whose documents are sent, and sends those that the daemon does not have.
pub fn send(caller: &mut Caller, mut args: AddSourceArgs) -> Result<End, Failure> {
    let mut files = Files::start(&args)?;
    let Some(FileLine::Root { path, warnings }) = files.next()? else {
        // It has said why.
        return Ok(End::Nothing);
    };
    args.path = path;
    args.sent = Some(true);
    args.watch = None;
    let added: AddSourceReply = read(&caller.call("add_source", json(&args)?)?)?;
    let known = known(caller, &added.source)?;
    files.know(&known)?;
    let mut sending = Sending {
        known: known.into_iter().map(|it| (it.name, it.document)).collect(),
        done: Done {
            source: added.source,
            path: added.path,
            created: added.created,
            position: added.position,
            durable: added.durable,
            warnings,
            ..Done::default()
        },
    };
    let shows = stderr().is_terminal();
    let mut is_whole = false;
    while let Some(line) = files.next()? {
        is_whole |= sending.take(caller, line)?;
        if shows {
            lore::err!("\r{} files sent ", sending.done.sent);
        }
    }
    if shows {
        lore::errln!("");
    }
    sending.done.tell(caller.output)?;
    if !is_whole {
        return Err(Failure::Io(io::Error::other(
            "lored ended before all files were looked at; repeat the command",
        )));
    }
    Ok(End::Good)
}

/// What the daemon has of a source.
fn known(caller: &mut Caller, source: &str) -> Result<Vec<ListedDocument>, Failure> {
    let mut known = Vec::new();
    let mut next = None;
    loop {
        let args = ListDocumentsArgs {
            source: source.to_owned(),
            max_items: Some(PAGE),
            next,
            ..ListDocumentsArgs::default()
        };
        let page: ListDocumentsReply = read(&caller.call("list_documents", json(&args)?)?)?;
        known.extend(page.documents);
        next = page.next;
        if next.is_none() {
            return Ok(known);
        }
    }
}

/// `lored files` at work.
struct Files {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Files {
    fn start(args: &AddSourceArgs) -> Result<Self, Failure> {
        let program = start::find_daemon().map_err(|error| Failure::Call(Error::Start(error)))?;
        let mut command = Command::new(program);
        command.arg("files");
        for (flag, globs) in [("--include", &args.include), ("--exclude", &args.exclude)] {
            command.args(globs.iter().map(|glob| format!("{flag}={glob}")));
        }
        let mut child = command
            .arg("--")
            .arg(&args.path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let lines = child.stdout.take();
        let lines = lines.ok_or_else(|| io::Error::other("no pipe to lored"))?;
        Ok(Self {
            child,
            lines: BufReader::with_capacity(1 << 16, lines),
        })
    }

    /// Tells it what the daemon has.
    fn know(&mut self, known: &[ListedDocument]) -> Result<(), Failure> {
        let Some(input) = self.child.stdin.take() else {
            return Ok(());
        };
        let mut input = BufWriter::new(input);
        for document in known {
            let line = KnownFile {
                name: document.name.clone(),
                sha256: (!document.stale).then(|| document.sha256.clone()),
            };
            input.write_all(&json(&line)?)?;
            input.write_all(b"\n")?;
        }
        Ok(input.flush()?)
    }

    /// What it says next; nothing once it has ended.
    fn next(&mut self) -> Result<Option<FileLine>, Failure> {
        let mut line = Vec::new();
        let mut limited = Read::take(&mut self.lines, LINE_BYTES_MAX);
        if limited.read_until(b'\n', &mut line)? == 0 {
            self.child.wait()?;
            return Ok(None);
        }
        let said = serde_json::from_slice(&line).map_err(|error| {
            io::Error::other(format!(
                "what lored says cannot be read ({error}): use a lore and a lored of the same release"
            ))
        })?;
        Ok(Some(said))
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // Where it still works, nobody reads what it says any more; it may have ended by itself, too.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What was done, as it is told.
#[derive(Default, Serialize)]
struct Done {
    source: String,
    path: String,
    /// Whether the source is new.
    created: bool,
    /// Files that are meant.
    found: u64,
    sent: u64,
    /// Files that the daemon has as they are.
    unchanged: u64,
    /// Documents whose files are not there any more.
    removed: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failures: Vec<Fault>,
    position: Position,
    durable: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// A file that was not taken in.
#[derive(Serialize)]
struct Fault {
    path: String,
    reason: String,
}

/// A source whose files are being sent.
struct Sending {
    /// Ids of its documents, by their names.
    known: BTreeMap<String, String>,
    done: Done,
}

impl Sending {
    /// Does what a line asks for; whether it was the last.
    fn take(&mut self, caller: &mut Caller, line: FileLine) -> Result<bool, Failure> {
        let done = &mut self.done;
        match line {
            FileLine::Root { .. } => {}
            FileLine::File {
                name,
                modified,
                base64,
            } => self.put(caller, name, modified, base64)?,
            FileLine::Failed { name, reason } => done.failures.push(Fault { path: name, reason }),
            FileLine::Gone { name } => self.remove(caller, &name)?,
            FileLine::Trouble { path, reason } => done.warnings.push(format!("{path}: {reason}")),
            FileLine::End { found, unchanged } => {
                done.found = found;
                done.unchanged += unchanged;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn put(
        &mut self,
        caller: &mut Caller,
        name: String,
        modified: Option<String>,
        base64: String,
    ) -> Result<(), Failure> {
        let args = PutDocumentArgs {
            name: name.clone(),
            base64: Some(base64),
            source: Some(self.done.source.clone()),
            modified,
            ..PutDocumentArgs::default()
        };
        match caller.call("put_document", json(&args)?) {
            Ok(reply) => {
                let reply: PutDocumentReply = read(&reply)?;
                match reply.status {
                    PutStatus::Taken => self.done.sent += 1,
                    PutStatus::Unchanged => self.done.unchanged += 1,
                }
                self.done.position = reply.position;
                self.done.durable = reply.durable;
                Ok(())
            }
            Err(Failure::Call(Error::Refused(body))) if is_about_file(&body) => {
                // Where it is told, the name stands before it.
                let reason = body.message.strip_prefix(&format!("`{name}` "));
                let reason = reason.unwrap_or(&body.message).to_owned();
                self.done.failures.push(Fault { path: name, reason });
                Ok(())
            }
            Err(failure) => Err(failure),
        }
    }

    fn remove(&mut self, caller: &mut Caller, name: &str) -> Result<(), Failure> {
        let Some(document) = self.known.get(name) else {
            return Ok(());
        };
        let args = RemoveDocumentArgs {
            document: document.clone(),
            ..RemoveDocumentArgs::default()
        };
        match caller.call("remove_document", json(&args)?) {
            Ok(_) => self.done.removed += 1,
            // Somebody else did it.
            Err(Failure::Call(Error::Refused(body))) if body.code == Code::NotFound => {}
            Err(failure) => return Err(failure),
        }
        Ok(())
    }
}

/// Whether it is the file that is refused, so that the next one may be taken.
fn is_about_file(body: &ErrorBody) -> bool {
    matches!(body.code, Code::InvalidInput | Code::FrameTooLarge)
}

impl Done {
    fn tell(&self, output: Output) -> Result<(), Failure> {
        match output {
            Output::Json => output::write_json(&json(self)?)?,
            Output::Human => {
                output::write(self.text().as_bytes())?;
                lore::err!("{}", self.aside());
            }
        }
        Ok(())
    }

    fn text(&self) -> String {
        let is = match self.created {
            true => "new",
            false => "known already",
        };
        facts([
            ("source", shown(&self.source, 80)),
            ("path", shown(&self.path, 0)),
            ("files", self.found.to_string()),
            ("sent", self.sent.to_string()),
            ("unchanged", self.unchanged.to_string()),
            ("removed", self.removed.to_string()),
            ("failed", self.failures.len().to_string()),
            ("is", is.to_owned()),
        ])
    }

    fn aside(&self) -> String {
        let mut text = String::new();
        for failure in &self.failures {
            let (path, reason) = (shown(&failure.path, 0), shown(&failure.reason, 0));
            let _ = writeln!(text, "failed: {path}: {reason}");
        }
        for warning in &self.warnings {
            let _ = writeln!(text, "lore: {}", shown(warning, 0));
        }
        text
    }
}
