//! `lore setup`: adds an entry to the configuration file of an agent's host that starts the bridge.

mod edit;
mod entry;
mod file;
mod host;
mod json_file;
mod plan;
mod report;
mod toml_file;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use lore::connection::Error;
use lore::protocol::{Code, ErrorBody};
use serde_json::json;

use super::command::Command;
use super::flag::{Flag, Kind};
use super::output::{Output, sanitize};
use super::parser::Matches;
use super::{Exit, Failure, Globals};
use edit::EditError;
use entry::{Entry, NAME};
use file::{Change, FileError, HostFile};
use host::Host;
use plan::{Plan, SkipReason};
use report::{EntryText, Report};

/// Maximum number of attempts on a file that another program keeps changing.
const TRIES_MAX: u32 = 8;

/// `lore setup`.
pub const SETUP: Command = Command::local(
    "setup",
    "Add lore to the configuration of an agent's host, or remove it",
    |matches, globals| Setup::read(matches)?.run(globals),
)
.details(
    "It adds one entry to the host's file and leaves the rest as it is. The file as it was before the first change is \
     kept beside it, with `.lore-backup` behind its name. --agent, --session and --socket go into the entry.",
)
.flags(&[&[
    Flag::positional(Kind::Choice(host::CHOICES), "host", "HOST", "Name of the host").local(),
    Flag::of(Kind::FolderOrHere, "project", "FOLDER", "The project's file instead of the user's: that of this folder, otherwise of the current one").local(),
    Flag::of(Kind::Path, "file", "FILE", "This file instead, for another profile or a relative of the host").local().conflicts(&["project"]),
    Flag::of(Kind::Tools, "tools", "LIST", "Tools that the host's agents see, as for `lore mcp`").local(),
    Flag::switch("remove", "Remove the entry").local().conflicts(&["tools"]),
    Flag::switch("print", "Print the entry as it would be in the host's file, and change nothing").local().conflicts(&["remove", "dry-run", "force"]),
    Flag::switch("dry-run", "Show what would change, and change nothing").local(),
    Flag::switch("force", "Replace or remove an entry of this name that lore did not write").local(),
]])
.examples(&["lore setup claude-code", "lore setup cursor --project --dry-run"]);

struct Setup {
    host: Host,
    project: Option<PathBuf>,
    file: Option<PathBuf>,
    tools: Option<String>,
    remove: bool,
    print: bool,
    dry_run: bool,
    force: bool,
}

impl Setup {
    fn read(matches: &Matches) -> Result<Self, Failure> {
        let name = matches.needed("host");
        let host = Host::ALL.into_iter().find(|host| host.name() == name);
        Ok(Self {
            host: host.ok_or_else(|| Failure::Usage(format!("unknown host `{name}`")))?,
            project: matches.path("project"),
            file: matches.path("file"),
            tools: matches.text("tools").map(str::to_owned),
            remove: matches.is("remove"),
            print: matches.is("print"),
            dry_run: matches.is("dry-run"),
            force: matches.is("force"),
        })
    }

    fn run(self, globals: &Globals) -> Result<Exit, Failure> {
        let output = match globals.json {
            true => Output::Json,
            false => Output::Human,
        };
        let entry = self.host.entry(program()?, self.arguments(globals)?);
        if self.print {
            let text = edit::put(self.host.shape(), "", &entry, false);
            let printed = EntryText {
                host: self.host.name(),
                entry: entry.json(),
                text: text.map_err(|fault| broken(Path::new(self.host.name()), &fault))?,
            };
            printed.print(output)?;
            return Ok(Exit::Good);
        }
        let file = self.selected()?;
        for _ in 0..TRIES_MAX {
            if let Some(report) = self.once(&file, &entry)? {
                report.print(output, self.host.next(self.project.is_some()), self.host)?;
                return Ok(Exit::Good);
            }
        }
        let message = format!("{} changes too often to be edited", file.display());
        let hint = format!("Close {}, then run this again", self.host.title());
        Err(refused(message, hint))
    }

    /// Returns the arguments with which the host starts this program.
    fn arguments(&self, globals: &Globals) -> Result<Vec<String>, Failure> {
        let socket = globals.socket.as_deref().map(absolute).transpose()?;
        let socket = socket.map(|path| text(&path)).transpose()?;
        let flags = [
            ("--tools", &self.tools),
            ("--agent", &globals.agent),
            ("--session", &globals.session),
            ("--socket", &socket),
        ];
        let said = flags
            .into_iter()
            .filter_map(|(flag, said)| Some([flag.to_owned(), said.clone()?]));
        Ok(std::iter::once("mcp".to_owned())
            .chain(said.flatten())
            .collect())
    }

    /// Selects the file to edit among those that the host reads: with the entry, else an existing file, else the
    /// first.
    fn selected(&self) -> Result<PathBuf, Failure> {
        let files = self.files()?;
        let has_entry = |file: &&PathBuf| {
            let found = file::read(file).ok().flatten();
            found.is_some_and(|found| {
                edit::find(self.host.shape(), &found.text).is_ok_and(|entry| entry.is_some())
            })
        };
        let file = match files.as_slice() {
            [only] => Some(only),
            several => several
                .iter()
                .find(has_entry)
                .or_else(|| several.iter().find(|file| file.exists()))
                .or_else(|| several.first()),
        };
        file.cloned()
            .ok_or_else(|| Failure::Usage("no file to edit".to_owned()))
    }

    fn files(&self) -> Result<Vec<PathBuf>, Failure> {
        if let Some(file) = &self.file {
            return Ok(vec![absolute(file)?]);
        }
        if let Some(folder) = &self.project {
            let folder = absolute(folder)?;
            if !folder.is_dir() {
                return Err(Failure::Usage(format!(
                    "{} is not a folder: --project takes the folder of a project",
                    sanitize(&folder.display().to_string(), 0)
                )));
            }
            return Ok(self.host.project_files(&folder));
        }
        let variable = |name: &str| {
            let value = std::env::var_os(name).filter(|value| !value.is_empty());
            value.map(PathBuf::from)
        };
        let files = self.host.user_files(&variable).ok_or_else(|| {
            let message = format!(
                "where {} has its file is unknown: HOME is not set",
                self.host.title()
            );
            refused(message, "Set HOME, or name the file with --file")
        })?;
        files.iter().map(|file| absolute(file)).collect()
    }

    /// Reads, plans and writes once. Returns `None` if another program changed the file in between.
    fn once(&self, named: &Path, entry: &Entry) -> Result<Option<Report>, Failure> {
        let path = file::behind_links(named).map_err(stays)?;
        let before = file::read(&path).map_err(stays)?;
        let text = before.as_ref().map(|before| before.text.as_str());
        let shape = self.host.shape();
        let plan = match self.remove {
            true => {
                // A backup that cannot be read is ignored and stays.
                let backup = file::read(&file::backup_of(&path)).ok().flatten();
                let backup = backup.as_ref().map(|backup| backup.text.as_str());
                plan::remove(shape, text, backup, entry, self.force)
            }
            false => plan::put(shape, text, entry, self.force),
        };
        let plan = plan.map_err(|refused| self.refusal(named, refused))?;
        let change = match self.dry_run {
            true => Change::Done(None),
            false => act(&path, before.as_ref(), &plan).map_err(stays)?,
        };
        let Change::Done(backup) = change else {
            return Ok(None);
        };
        let after = plan.after().filter(|_| self.dry_run);
        Ok(Some(Report {
            host: self.host.name(),
            file: named.to_owned(),
            outcome: plan.outcome(),
            dry_run: self.dry_run,
            deleted: plan == Plan::Delete,
            backup,
            diff: after.map(|after| report::diff(named, text.unwrap_or_default(), after)),
        }))
    }

    fn refusal(&self, file: &Path, why: SkipReason) -> Failure {
        let what = match why {
            SkipReason::Broken(fault) => return broken(file, &fault),
            SkipReason::Foreign(what) => what,
        };
        let verb = match self.remove {
            true => "takes it out",
            false => "replaces it",
        };
        refused(
            format!("{} has an entry `{NAME}` that {what}", file.display()),
            format!("It stays; --force {verb}"),
        )
    }
}

fn act(path: &Path, before: Option<&HostFile>, plan: &Plan) -> Result<Change, FileError> {
    match plan {
        Plan::Keep(_) => Ok(Change::Done(None)),
        Plan::Write(text, _) => file::replace(path, before, text),
        Plan::Delete => file::delete(path, before),
    }
}

/// Returns the command for this program: its name if PATH finds it, otherwise its path.
fn program() -> Result<String, Failure> {
    let here = std::env::current_exe()?;
    match is_on_path(&here, std::env::var_os("PATH")) {
        true => Ok(NAME.to_owned()),
        false => text(&here),
    }
}

/// Returns whether the first program of our name on PATH is this one. Relative folders are skipped, because their
/// meaning depends on the host.
fn is_on_path(here: &Path, path: Option<OsString>) -> bool {
    let identity = |path: &Path| fs::metadata(path).map(|found| (found.dev(), found.ino()));
    let path = path.unwrap_or_default();
    let found = std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(NAME))
        .find(|program| program.is_file());
    found.is_some_and(|found| match (identity(&found), identity(here)) {
        (Ok(found), Ok(here)) => found == here,
        _ => false,
    })
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    Ok(std::path::absolute(path)?)
}

/// Returns a path in a form that configuration files can hold.
fn text(path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        let message = format!("the path {} is not UTF-8", path.display());
        refused(
            message,
            "Configuration files cannot hold it: move the program or the socket",
        )
    })
}

fn stays(error: FileError) -> Failure {
    let hint = match &error {
        FileError::Io { .. } => "Nothing was changed",
        FileError::Dangling(_) => "Make the file or remove the link, then run this again",
        FileError::NoFile(_) | FileError::TooLarge(_) => "Name another with --file",
        FileError::NoBackup(_) => "Nothing was changed; move it away, then run this again",
        FileError::NotOurs { .. } => "Run this as the one it belongs to",
        FileError::NotText { .. } => "Save it as UTF-8, then run this again",
    };
    refused(error.to_string(), hint)
}

fn broken(file: &Path, fault: &EditError) -> Failure {
    let EditError {
        line,
        column,
        message,
    } = fault;
    let message = format!(
        "{}, line {line}, column {column}: {message}",
        file.display()
    );
    let details = json!({"file": file, "line": line, "column": column});
    let body = ErrorBody::new(Code::InvalidInput, message)
        .hint("Nothing was changed; correct the file, then run this again");
    Failure::Call(Error::Refused(body.details(details)))
}

fn refused(message: impl Into<String>, hint: impl Into<String>) -> Failure {
    Failure::Call(Error::Refused(
        ErrorBody::new(Code::InvalidInput, message).hint(hint),
    ))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests;
