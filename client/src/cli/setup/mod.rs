//! `lore setup`: adds lore to the configuration files of an agent's host: the entry that starts the bridge, the hooks, the
//! rule that allows lore's tools, and, on request, instructions.

mod check;
mod edit;
mod entry;
mod file;
mod host;
mod host_files;
mod instructions;
mod json_file;
mod part;
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
pub use check::{HostCheck, check_hosts};
pub use instructions::LINES as INSTRUCTIONS;

use edit::EditError;
use entry::{Entry, NAME};
use file::{Change, FileError, HostFile};
use host::Host;
use host_files::Target;
use part::Part;
use plan::{Outcome, Plan, SkipReason};
use report::{EntryText, FileReport, Report, Reports};

/// Maximum number of attempts on a file that another program keeps changing.
const TRIES_MAX: u32 = 8;

/// `lore setup`.
pub const SETUP: Command = Command::local(
    "setup",
    "Add lore to an agent's host: its tools, and the hooks that record and remember by themselves",
    run,
)
.details(
    "It adds one entry for the tools, the hooks and the permission to call the tools to the host's files, and leaves the rest \
     as it is. Each file as it was before the first change is kept beside it, with `.lore-backup` behind its name. --agent, \
     --session and --socket go into the entry. --remove takes everything out again.",
)
.flags(&[&[
    Flag::positional(Kind::Choice(host::CHOICES), "host", "HOST", "Name of the host").optional().local(),
    Flag::switch("all", "All hosts that are installed").local().conflicts(&["host", "file", "print"]),
    Flag::of(Kind::FolderOrHere, "project", "FOLDER", "The project's files instead of the user's: those of this folder, otherwise of the current one").local(),
    Flag::of(Kind::Path, "file", "FILE", "The entry alone, in this file: for another profile or a relative of the host").local().conflicts(&["project"]),
    Flag::of(Kind::Tools, "tools", "LIST", "Tools that the host's agents see, as for `lore mcp`").local(),
    Flag::switch("no-hooks", "The entry alone: no hooks, and no permission").local(),
    Flag::switch("instructions", "Also five lines for the model in CLAUDE.md, AGENTS.md or the host's own file").local().conflicts(&["file"]),
    Flag::switch("remove", "Remove all of it").local().conflicts(&["tools", "instructions"]),
    Flag::switch("print", "Print the entry as it would be in the host's file, and change nothing").local().conflicts(&["remove", "dry-run", "force"]),
    Flag::switch("dry-run", "Show what would change, and change nothing").local(),
    Flag::switch("force", "Replace or remove what has lore's name, but was not written by it").local(),
]])
.examples(&["lore setup claude-code", "lore setup --all --dry-run", "lore setup cursor --project"]);

fn run(matches: &Matches, globals: &Globals) -> Result<Exit, Failure> {
    let output = match globals.json {
        true => Output::Json,
        false => Output::Human,
    };
    if !matches.is("all") {
        let Some(name) = matches.text("host") else {
            return Err(Failure::Usage(
                "name a host, or use --all: `lore setup --help` lists the hosts".to_owned(),
            ));
        };
        let host = Host::ALL.into_iter().find(|host| host.name() == name);
        let host = host.ok_or_else(|| Failure::Usage(format!("unknown host `{name}`")))?;
        return Setup::read(host, matches).run(globals, output);
    }
    let installed = Host::ALL
        .into_iter()
        .filter(|host| host.is_installed(&variable));
    let mut reports = Reports::default();
    for host in installed {
        match Setup::read(host, matches).change(globals) {
            Ok(report) => reports.hosts.push(report),
            // The other hosts are set up nevertheless.
            Err(Failure::Call(error)) => reports.add_failure(host, &error.to_body()),
            Err(failure) => return Err(failure),
        }
    }
    reports.print(output)
}

struct Setup {
    host: Host,
    project: Option<PathBuf>,
    file: Option<PathBuf>,
    tools: Option<String>,
    has_hooks: bool,
    has_instructions: bool,
    remove: bool,
    print: bool,
    dry_run: bool,
    force: bool,
}

impl Setup {
    fn read(host: Host, matches: &Matches) -> Self {
        Self {
            host,
            project: matches.path("project"),
            file: matches.path("file"),
            tools: matches.text("tools").map(str::to_owned),
            has_hooks: !matches.is("no-hooks"),
            has_instructions: matches.is("instructions"),
            remove: matches.is("remove"),
            print: matches.is("print"),
            dry_run: matches.is("dry-run"),
            force: matches.is("force"),
        }
    }

    fn run(self, globals: &Globals, output: Output) -> Result<Exit, Failure> {
        if self.print {
            let entry = self.entry(globals)?;
            let text = edit::put(self.host.shape(), "", &entry, false);
            let printed = EntryText {
                host: self.host.name(),
                entry: entry.json(),
                text: text.map_err(|fault| broken(Path::new(self.host.name()), &fault))?,
            };
            printed.print(output)?;
            return Ok(Exit::Good);
        }
        self.change(globals)?.print(output)?;
        Ok(Exit::Good)
    }

    /// Changes all files, or none if one of them cannot be changed.
    fn change(&self, globals: &Globals) -> Result<Report, Failure> {
        let targets = self.targets(globals)?;
        if targets.is_empty() {
            return Err(Failure::Usage(format!(
                "{} has no such file in a project",
                self.host.title()
            )));
        }
        let is_hook = |part: &Part| matches!(part, Part::Hooks(..) | Part::Plugin(_));
        let has_hooks = targets.iter().flat_map(|target| &target.parts).any(is_hook);
        let note = match has_hooks && !self.remove {
            true => self.note()?,
            false => None,
        };
        for target in &targets {
            self.plan(target)?;
        }
        let changes = targets.iter().map(|target| self.act_on(target));
        let mut changes = changes.collect::<Result<Vec<_>, _>>()?;
        if self.remove
            && changes
                .iter()
                .any(|change| change.outcome != Outcome::Absent)
        {
            changes.retain(|change| change.outcome != Outcome::Absent);
        }
        Ok(Report {
            host: self.host.name(),
            title: self.host.title(),
            next: self.host.next(self.project.is_some()),
            dry_run: self.dry_run,
            note,
            changes,
        })
    }

    /// Returns what a person has to do before the hooks run.
    fn note(&self) -> Result<Option<String>, Failure> {
        let here = std::env::current_exe()?;
        if !is_on_path(&here, std::env::var_os("PATH")) {
            let folder = here.parent().unwrap_or(Path::new("/")).display();
            if self.host.denies_without_hooks() {
                let message = format!(
                    "{} denies every tool whose hook cannot be run, and PATH does not find this `lore`",
                    self.host.title()
                );
                let hint = format!("Put {folder} into PATH, or use --no-hooks");
                return Err(refused(message, hint));
            }
            return Ok(Some(format!(
                "its hooks run `lore`, and PATH has none, or another: put {folder} into PATH"
            )));
        }
        Ok(self.host.hooks_note().map(str::to_owned))
    }

    fn entry(&self, globals: &Globals) -> Result<Entry, Failure> {
        Ok(self.host.entry(program()?, self.arguments(globals)?))
    }

    /// Returns the files to change, each once, with the parts of them.
    fn targets(&self, globals: &Globals) -> Result<Vec<Target>, Failure> {
        let mut targets: Vec<Target> = Vec::new();
        let mut add =
            |target: Target| match targets.iter_mut().find(|known| known.file == target.file) {
                Some(known) => known.parts.extend(target.parts),
                None => targets.push(target),
            };
        let project = self.project_folder()?;
        if let Some(file) = self.selected(project.as_deref())? {
            let server = Part::Server(self.host.shape(), self.entry(globals)?);
            add(Target {
                file,
                parts: vec![server],
            });
        }
        if self.file.is_none() {
            if self.has_hooks
                && let Some(hooks) = self.host.hooks_target(project.as_deref(), &variable)
            {
                add(hooks);
            }
            if (self.has_instructions || self.remove)
                && let Some(file) = self.host.instructions_file(project.as_deref(), &variable)
            {
                add(Target {
                    file,
                    parts: vec![Part::Instructions],
                });
            }
        }
        for target in &mut targets {
            target.file = absolute(&target.file)?;
        }
        Ok(targets)
    }

    fn project_folder(&self) -> Result<Option<PathBuf>, Failure> {
        let Some(folder) = &self.project else {
            return Ok(None);
        };
        let folder = absolute(folder)?;
        if !folder.is_dir() {
            return Err(Failure::Usage(format!(
                "{} is not a folder: --project takes the folder of a project",
                sanitize(&folder.display().to_string(), 0)
            )));
        }
        Ok(Some(folder))
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

    /// Selects the file of the entry among those that the host reads: with the entry, else an existing file, else the
    /// first. `None` if the host has no such file in projects.
    fn selected(&self, project: Option<&Path>) -> Result<Option<PathBuf>, Failure> {
        let files = self.files(project)?;
        let has_entry = |file: &&PathBuf| {
            let found = file::read(file).ok().flatten();
            found.is_some_and(|found| {
                edit::find(self.host.shape(), &found.text).is_ok_and(|entry| entry.is_some())
            })
        };
        Ok(match files.as_slice() {
            [only] => Some(only),
            several => several
                .iter()
                .find(has_entry)
                .or_else(|| several.iter().find(|file| file.exists()))
                .or_else(|| several.first()),
        }
        .cloned())
    }

    fn files(&self, project: Option<&Path>) -> Result<Vec<PathBuf>, Failure> {
        if let Some(file) = &self.file {
            return Ok(vec![absolute(file)?]);
        }
        if let Some(folder) = project {
            return Ok(self.host.project_files(folder));
        }
        let files = self.host.user_files(&variable).ok_or_else(|| {
            let message = format!(
                "where {} has its file is unknown: HOME is not set",
                self.host.title()
            );
            refused(message, "Set HOME, or name the file with --file")
        })?;
        files.iter().map(|file| absolute(file)).collect()
    }

    /// Reads a file and plans its change.
    fn plan(&self, target: &Target) -> Result<(PathBuf, Option<HostFile>, Plan), Failure> {
        let named = &target.file;
        let path = file::behind_links(named).map_err(stays)?;
        let before = file::read(&path).map_err(stays)?;
        let text = before.as_ref().map(|before| before.text.as_str());
        let plan = match self.remove {
            true => {
                // A backup that cannot be read is ignored and stays.
                let backup = file::read(&file::backup_of(&path)).ok().flatten();
                let backup = backup.as_ref().map(|backup| backup.text.as_str());
                plan::remove(&target.parts, text, backup, self.force)
            }
            false => plan::put(&target.parts, text, self.force),
        };
        let plan = plan.map_err(|refused| self.refusal(named, refused))?;
        Ok((path, before, plan))
    }

    /// Reads, plans and writes, again if another program changed the file in between.
    fn act_on(&self, target: &Target) -> Result<FileReport, Failure> {
        let named = &target.file;
        for _ in 0..TRIES_MAX {
            let (path, before, plan) = self.plan(target)?;
            let change = match self.dry_run {
                true => Change::Done(None),
                false => act(&path, before.as_ref(), &plan).map_err(stays)?,
            };
            let Change::Done(backup) = change else {
                continue;
            };
            let text = before.as_ref().map(|before| before.text.as_str());
            let after = plan.after().filter(|_| self.dry_run);
            return Ok(FileReport {
                file: named.clone(),
                parts: target.parts.iter().map(Part::name).collect(),
                described: target.parts.iter().filter_map(Part::describe).collect(),
                outcome: plan.outcome(),
                deleted: plan == Plan::Delete,
                backup,
                diff: after.map(|after| report::diff(named, text.unwrap_or_default(), after)),
            });
        }
        let message = format!("{} changes too often to be edited", named.display());
        let hint = format!("Close {}, then run this again", self.host.title());
        Err(refused(message, hint))
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

/// Returns a variable of the environment unless it is empty.
fn variable(name: &str) -> Option<PathBuf> {
    let value = std::env::var_os(name).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
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
