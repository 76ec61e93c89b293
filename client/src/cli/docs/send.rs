//! Sends the files of a folder to a daemon that cannot read them. `lored files`, run as this user, selects and
//! lists them by the same rules as a daemon that reads them itself.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal, Read, Write, stderr};
use std::process::{Child, ChildStdout, Command, Stdio};

use lore::connection::Error;
use lore::protocol::documents::{
    AddSourceReply, FileLine, KnownFile, ListDocumentsReply, ListedDocument, PutDocumentReply,
    PutStatus,
};
use lore::protocol::{Code, ErrorBody, Position, Serialize};
use lore::start;

use crate::cli::flag::Fields;
use crate::cli::output::{self, Output, facts, sanitize};
use crate::cli::report::{read, to_json};
use crate::cli::{Caller, Exit, Failure};

/// Documents per request.
const PAGE: u64 = 1000;
/// Maximum length of a line of `lored files`, in bytes. A longer line could not be sent.
const LINE_BYTES_MAX: u64 = 64 << 20;

/// Returns whether the daemon refused because it cannot read files but accepts documents that are sent.
pub fn is_wanted(failure: &Failure) -> bool {
    let Failure::Call(Error::Refused(body)) = failure else {
        return false;
    };
    let reaches_files = body.details.as_ref().and_then(|it| it.get("reaches_files"));
    reaches_files.is_some_and(|reaches| *reaches == false)
}

/// A folder or file that becomes a source.
pub struct NewSource {
    pub path: String,
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    /// Arguments of `add_source` in addition to the path.
    pub fields: Fields,
}

/// Adds a folder or file as a source of sent documents, and sends the documents that the daemon does not have.
pub fn send(caller: &mut Caller, new: NewSource) -> Result<Exit, Failure> {
    let mut files = Files::start(&new)?;
    let Some(FileLine::Root { path, warnings }) = files.next()? else {
        // The child has printed the reason.
        return Ok(Exit::Nothing);
    };
    let mut fields = new.fields;
    fields.put("path", &path)?;
    fields.put("sent", &true)?;
    let added: AddSourceReply = read(&caller.call("add_source", fields)?)?;
    let known = known(caller, &added.source)?;
    files.know(&known)?;
    let mut sending = Upload {
        known: known.into_iter().map(|it| (it.name, it.document)).collect(),
        done: SendReport {
            source: added.source,
            path: added.path,
            created: added.created,
            position: added.position,
            durable: added.durable,
            warnings,
            ..SendReport::default()
        },
    };
    let is_shown = stderr().is_terminal();
    let mut is_whole = false;
    while let Some(line) = files.next()? {
        is_whole |= sending.take(caller, line)?;
        if is_shown {
            lore::err!("\r{} files sent ", sending.done.sent);
        }
    }
    if is_shown {
        lore::errln!("");
    }
    sending.done.print(caller.output)?;
    if !is_whole {
        return Err(Failure::Io(io::Error::other(
            "lored ended before all files were read; repeat the command",
        )));
    }
    Ok(Exit::Good)
}

/// Lists the daemon's documents of a source.
fn known(caller: &mut Caller, source: &str) -> Result<Vec<ListedDocument>, Failure> {
    let mut known = Vec::new();
    let mut next = None;
    loop {
        let mut fields = Fields::default();
        fields.put("source", source)?;
        fields.put("max_items", &PAGE)?;
        fields.put_some("next", next.as_ref())?;
        let page: ListDocumentsReply = read(&caller.call("list_documents", fields)?)?;
        known.extend(page.documents);
        next = page.next;
        if next.is_none() {
            return Ok(known);
        }
    }
}

/// A running `lored files`.
struct Files {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Files {
    fn start(new: &NewSource) -> Result<Self, Failure> {
        let program = start::find_daemon().map_err(|error| Failure::Call(Error::Start(error)))?;
        let mut command = Command::new(program);
        command.arg("files");
        for (flag, globs) in [("--include", &new.include), ("--exclude", &new.exclude)] {
            command.args(globs.iter().map(|glob| format!("{flag}={glob}")));
        }
        let mut child = command
            .arg("--")
            .arg(&new.path)
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

    /// Sends the daemon's document list to the child.
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
            input.write_all(&to_json(&line)?)?;
            input.write_all(b"\n")?;
        }
        Ok(input.flush()?)
    }

    /// Reads the next line; `None` at the end of the output.
    fn next(&mut self) -> Result<Option<FileLine>, Failure> {
        let mut line = Vec::new();
        let mut limited = Read::take(&mut self.lines, LINE_BYTES_MAX);
        if limited.read_until(b'\n', &mut line)? == 0 {
            self.child.wait()?;
            return Ok(None);
        }
        let line = serde_json::from_slice(&line).map_err(|error| {
            io::Error::other(format!(
                "the output of lored cannot be read ({error}): use a lore and a lored of the same release"
            ))
        })?;
        Ok(Some(line))
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // Its output is no longer read. It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Counts that the command prints.
#[derive(Default, Serialize)]
struct SendReport {
    source: String,
    path: String,
    /// Whether the source is new.
    created: bool,
    /// Number of files in the source.
    found: u64,
    sent: u64,
    /// Files that the daemon already has.
    unchanged: u64,
    /// Documents whose files no longer exist.
    removed: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failures: Vec<FileFailure>,
    position: Position,
    durable: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// A file that was not indexed.
#[derive(Serialize)]
struct FileFailure {
    path: String,
    reason: String,
}

/// A source upload in progress.
struct Upload {
    /// Document ids by name.
    known: BTreeMap<String, String>,
    done: SendReport,
}

impl Upload {
    /// Handles a line and returns whether it was the last.
    fn take(&mut self, caller: &mut Caller, line: FileLine) -> Result<bool, Failure> {
        let done = &mut self.done;
        match line {
            FileLine::Root { .. } => {}
            FileLine::File {
                name,
                modified,
                base64,
            } => self.put(caller, name, modified, base64)?,
            FileLine::Failed { name, reason } => {
                done.failures.push(FileFailure { path: name, reason })
            }
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
        let mut fields = Fields::default();
        fields.put("name", &name)?;
        fields.put("base64", &base64)?;
        fields.put("source", &self.done.source)?;
        fields.put_some("modified", modified.as_ref())?;
        match caller.call("put_document", fields) {
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
                // The output already prints the name before the reason.
                let reason = body.message.strip_prefix(&format!("`{name}` "));
                let reason = reason.unwrap_or(&body.message).to_owned();
                self.done.failures.push(FileFailure { path: name, reason });
                Ok(())
            }
            Err(failure) => Err(failure),
        }
    }

    fn remove(&mut self, caller: &mut Caller, name: &str) -> Result<(), Failure> {
        let Some(document) = self.known.get(name) else {
            return Ok(());
        };
        let mut fields = Fields::default();
        fields.put("document", document)?;
        match caller.call("remove_document", fields) {
            Ok(_) => self.done.removed += 1,
            // Another client removed it.
            Err(Failure::Call(Error::Refused(body))) if body.code == Code::NotFound => {}
            Err(failure) => return Err(failure),
        }
        Ok(())
    }
}

/// Returns whether only this file is refused, so the next file may be sent.
fn is_about_file(body: &ErrorBody) -> bool {
    matches!(body.code, Code::InvalidInput | Code::FrameTooLarge)
}

impl SendReport {
    fn print(&self, output: Output) -> Result<(), Failure> {
        match output {
            Output::Json => output::write_json(&to_json(self)?)?,
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
            ("source", sanitize(&self.source, 80)),
            ("path", sanitize(&self.path, 0)),
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
            let (path, reason) = (sanitize(&failure.path, 0), sanitize(&failure.reason, 0));
            let _ = writeln!(text, "failed: {path}: {reason}");
        }
        for warning in &self.warnings {
            let _ = writeln!(text, "lore: {}", sanitize(warning, 0));
        }
        text
    }
}
