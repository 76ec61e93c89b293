//! The `memory_tool` operation: the commands of Anthropic's memory tool on a project's notes.

use std::collections::BTreeMap;
use std::sync::Arc;

use lore::protocol::projects::{MemoryCommand, MemoryToolArgs, MemoryToolReply};

use super::{ResolvedProject, content_of, types_of};
use crate::engine::{Command, DecisionContext};
use crate::error::{Code, Refusal};
use crate::events::NewEvent;
use crate::events::projects::Change;
use crate::hint::{arg, hint};
use crate::log::Position;
use crate::operation::{Access, Call, Caller, Context, MemoryBound, Op, blocking};
use crate::projects::command::{NoOpReason, WriteContext};
use crate::projects::feature::ProjectState;
use crate::projects::notes;
use crate::projects::prepare::PreparedContent;
use crate::projects::view::{self, FileRow};
use crate::sessions::CURRENT;
use crate::state::State;

/// Attempts to write while others write to the same file.
const TRIES_MAX: u32 = 20;
/// Files that one command moves or deletes.
const FILES_MAX: usize = 1000;

/// The `memory_tool` operation.
pub struct MemoryTool;

impl Op for MemoryTool {
    type Args = MemoryToolArgs;
    type Reply = MemoryToolReply;
    const NAME: &'static str = "memory_tool";
    const TITLE: &'static str = "Keep notes as files";
    const DESCRIPTION: &'static str = "The commands of Anthropic's memory tool (view, create, str_replace, insert, delete, rename below \
        /memories) on the project's notes, with its replies. Every version is kept.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Content;

    async fn call(call: Call<MemoryToolArgs>) -> Result<MemoryToolReply, Refusal> {
        let (cx, caller, args) = call.into_parts();
        let bytes_max = ProjectState::of(&cx)?.limits.content_bytes_max;
        let given = [&args.file_text, &args.new_str, &args.insert_text];
        let longest = given.into_iter().flatten().map(String::len).max();
        if longest.is_some_and(|bytes| bytes as u64 > bytes_max) {
            return Err(Refusal::invalid(format!(
                "the text has {} bytes; a note has at most {bytes_max}",
                longest.unwrap_or_default()
            )));
        }
        let id = args
            .project_id
            .clone()
            .unwrap_or_else(|| CURRENT.to_owned());
        for _ in 0..TRIES_MAX {
            let state = Arc::new(State::live(&cx, None).await?);
            let found = ResolvedProject::of(&cx, &caller, &state, &id).await?;
            let project = found.project.clone();
            let (shared, asked) = (Arc::clone(&cx), args.clone());
            let position = state.position();
            let done =
                blocking(move || NoteFolder::of(&shared, &state, found)?.run(&asked)).await?;
            let (output, is_error, position) = match done {
                Outcome::Said(output) => (output, false, position),
                Outcome::Refused(output) => (output, true, position),
                Outcome::Write(writes, output) => match write(&cx, &caller, writes).await? {
                    Some(position) => (output, false, position),
                    // Another one wrote first.
                    None => continue,
                },
            };
            return Ok(MemoryToolReply {
                output,
                is_error,
                position,
                durable: cx.engine.is_durable(),
                project: Some(project),
                warnings: Vec::new(),
            });
        }
        Err(Refusal::new(
            Code::Conflict,
            "others write to the same notes at the same time; nothing was written",
        )
        .hint("View the note and call again."))
    }

    fn readable(reply: &MemoryToolReply) -> Option<String> {
        Some(reply.output.clone())
    }
}

/// Writes versions in one commit. Returns its position; `None` if one of the files has a newer version.
async fn write(
    cx: &Arc<Context>,
    caller: &Caller,
    writes: Vec<WriteContext>,
) -> Result<Option<Position>, Refusal> {
    let reports: Vec<_> = writes.iter().map(|write| write.report.clone()).collect();
    let bytes: u64 = writes.iter().map(|write| write.bytes).sum();
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    let written = cx.write(caller, None, bytes, WriteNotes(writes)).await;
    let refusal = match written {
        Ok(outcome) => return Ok(Some(outcome.event.position())),
        Err(refusal) => refusal,
    };
    let mut reasons = reports.iter().filter_map(|report| report.outcome().take());
    match reasons.next_back() {
        Some(NoOpReason::Stale(_)) => Ok(None),
        // The text is there already.
        Some(NoOpReason::Unchanged) => Ok(Some(cx.read(None).await?.tail.position)),
        None => Err(refusal),
    }
}

/// Writes versions of several notes.
struct WriteNotes(Vec<WriteContext>);

impl Command for WriteNotes {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let mut events: Vec<NewEvent> = Vec::new();
        for write in &mut self.0 {
            let decided = write.decide(on)?;
            // The events that introduce a new project come once.
            let is_first = events.is_empty();
            let skipped = if is_first {
                0
            } else {
                decided.len().saturating_sub(1)
            };
            events.extend(decided.into_iter().skip(skipped));
        }
        Ok(events)
    }
}

/// What a command does.
enum Outcome {
    /// It says something.
    Said(String),
    /// It reports an error.
    Refused(String),
    /// It writes versions, and then says something.
    Write(Vec<WriteContext>, String),
}

/// The notes of a project.
struct NoteFolder<'n> {
    cx: &'n Context,
    state: &'n State,
    found: ResolvedProject,
    /// File types with a template.
    templates: std::collections::BTreeSet<String>,
    /// Existing files by their path below the root.
    files: BTreeMap<String, FileRow>,
}

impl<'n> NoteFolder<'n> {
    fn of(cx: &'n Context, state: &'n State, found: ResolvedProject) -> Result<Self, Refusal> {
        let templates = types_of(&ProjectState::of(cx)?.templates(found.place.as_ref()));
        let mut files = BTreeMap::new();
        for (file_type, row) in view::files(state, &found.project)? {
            if row.is_written() {
                let path = match file_type.strip_prefix(notes::PREFIX) {
                    Some(path) => path.to_owned(),
                    None => format!("{file_type}.md"),
                };
                files.insert(path, row);
            }
        }
        Ok(Self {
            cx,
            state,
            found,
            templates,
            files,
        })
    }

    fn run(&self, args: &MemoryToolArgs) -> Result<Outcome, Refusal> {
        if args.command == MemoryCommand::Rename {
            let old = needed("old_path", args.old_path.as_deref())?;
            let new = needed("new_path", args.new_path.as_deref())?;
            return self.rename(old, new);
        }
        let path = needed("path", args.path.as_deref())?;
        match args.command {
            MemoryCommand::View => self.view(path, args.view_range.as_deref()),
            MemoryCommand::Create => {
                self.create(path, needed("file_text", args.file_text.as_deref())?)
            }
            MemoryCommand::StrReplace => {
                let old = needed("old_str", args.old_str.as_deref())?;
                self.replace(path, old, args.new_str.as_deref().unwrap_or_default())
            }
            MemoryCommand::Insert => {
                let text = needed("insert_text", args.insert_text.as_deref())?;
                let line = args.insert_line.ok_or_else(|| missing("insert_line"))?;
                self.insert(path, line, text)
            }
            MemoryCommand::Delete => self.delete(path),
            MemoryCommand::Rename => Ok(Outcome::Refused(String::new())),
        }
    }

    fn view(&self, path: &str, range: Option<&[i64]>) -> Result<Outcome, Refusal> {
        let Some(below) = notes::below_root(path) else {
            return Ok(not_valid(path));
        };
        if let Some(row) = self.files.get(below) {
            let content = self.content(row)?;
            return Ok(match notes::viewed(path, &content, range) {
                Ok(text) => Outcome::Said(text),
                Err(text) => Outcome::Refused(text),
            });
        }
        if !self.is_folder(below) {
            return Ok(not_valid(path));
        }
        let files = self.files.iter();
        let sizes = files.map(|(path, row)| (path.clone(), row.written.bytes));
        Ok(Outcome::Said(notes::listing(path, below, &sizes.collect())))
    }

    fn create(&self, path: &str, text: &str) -> Result<Outcome, Refusal> {
        let Some(below) = notes::below_root(path).filter(|below| !below.is_empty()) else {
            return Ok(Outcome::Refused(format!(
                "Error: The path {path} is not a file below /memories"
            )));
        };
        if self.files.contains_key(below) || self.is_folder(below) {
            return Ok(Outcome::Refused(format!(
                "Error: File {path} already exists"
            )));
        }
        // A file cannot be inside of another one.
        let mut folders = below.match_indices('/').map(|(at, _)| below.get(..at));
        if folders.any(|folder| folder.is_some_and(|folder| self.files.contains_key(folder))) {
            return Ok(Outcome::Refused(format!(
                "Error: The path {path} leads through a file"
            )));
        }
        let write = self.write(below, text.to_owned())?;
        Ok(Outcome::Write(
            vec![write],
            format!("File created successfully at: {path}"),
        ))
    }

    fn replace(&self, path: &str, old: &str, new: &str) -> Result<Outcome, Refusal> {
        let found = notes::below_root(path).and_then(|below| self.files.get_key_value(below));
        let Some((below, row)) = found else {
            return Ok(Outcome::Refused(format!(
                "Error: The path {path} does not exist. Please provide a valid path."
            )));
        };
        match notes::replaced(path, &self.content(row)?, old, new) {
            Ok((made, said)) => Ok(Outcome::Write(vec![self.write(below, made)?], said)),
            Err(text) => Ok(Outcome::Refused(text)),
        }
    }

    fn insert(&self, path: &str, line: i64, text: &str) -> Result<Outcome, Refusal> {
        let found = notes::below_root(path).and_then(|below| self.files.get_key_value(below));
        let Some((below, row)) = found else {
            return Ok(not_there(path));
        };
        match notes::inserted(&self.content(row)?, line, text) {
            Ok(made) => {
                let said = format!("The file {path} has been edited.");
                Ok(Outcome::Write(vec![self.write(below, made)?], said))
            }
            Err(text) => Ok(Outcome::Refused(text)),
        }
    }

    fn delete(&self, path: &str) -> Result<Outcome, Refusal> {
        let below = notes::below_root(path);
        if below.is_some_and(str::is_empty) {
            return Ok(root_stays("delete"));
        }
        let files = below.map(|below| self.within(below)).unwrap_or_default();
        if files.is_empty() {
            return Ok(not_there(path));
        }
        check_count(files.len())?;
        let writes = files.iter().map(|file| self.clear(file));
        let writes = writes.collect::<Result<_, _>>()?;
        Ok(Outcome::Write(
            writes,
            format!("Successfully deleted {path}"),
        ))
    }

    fn rename(&self, old: &str, new: &str) -> Result<Outcome, Refusal> {
        let below = notes::below_root(old);
        if below.is_some_and(str::is_empty) {
            return Ok(root_stays("rename"));
        }
        let files = below.map(|below| self.within(below)).unwrap_or_default();
        let Some(below) = below.filter(|_| !files.is_empty()) else {
            return Ok(not_there(old));
        };
        check_count(files.len())?;
        let Some(target) = notes::below_root(new).filter(|target| !target.is_empty()) else {
            return Ok(Outcome::Refused(format!(
                "Error: The path {new} is not a path below /memories"
            )));
        };
        let is_inside = target
            .strip_prefix(below)
            .is_some_and(|rest| rest.starts_with('/'));
        if self.files.contains_key(target) || self.is_folder(target) || is_inside {
            return Ok(Outcome::Refused(format!(
                "Error: The destination {new} already exists"
            )));
        }
        let mut writes = Vec::new();
        for file in files {
            let Some(row) = self.files.get(file) else {
                continue;
            };
            let rest = file.strip_prefix(below).unwrap_or_default();
            writes.push(self.write(&format!("{target}{rest}"), self.content(row)?)?);
            writes.push(self.clear(file)?);
        }
        Ok(Outcome::Write(
            writes,
            format!("Successfully renamed {old} to {new}"),
        ))
    }

    /// Whether there are files below a path; the root is always there.
    fn is_folder(&self, below: &str) -> bool {
        below.is_empty() || self.within(below).iter().any(|file| *file != below)
    }

    /// Returns a file, or the files of a folder.
    fn within(&self, below: &str) -> Vec<&str> {
        let is_in = |file: &&str| {
            let rest = file.strip_prefix(below);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.files
            .keys()
            .map(String::as_str)
            .filter(is_in)
            .collect()
    }

    fn content(&self, row: &FileRow) -> Result<String, Refusal> {
        content_of(self.cx, self.state, row.place())
    }

    /// Returns the file type of a path.
    fn file_type(&self, below: &str) -> String {
        let own = below.strip_suffix(".md");
        let own = own.filter(|own| self.templates.contains(*own) || self.has_context(own));
        own.map_or_else(|| format!("{}{below}", notes::PREFIX), str::to_owned)
    }

    /// Whether the project has a context file of this type, whose template may be gone.
    fn has_context(&self, file_type: &str) -> bool {
        let row = self.files.get(&format!("{file_type}.md"));
        row.is_some_and(|row| row.written.file_type == file_type)
    }

    fn write(&self, below: &str, content: String) -> Result<WriteContext, Refusal> {
        let prepared = PreparedContent::written(self.cx, content, None)?;
        self.version(below, prepared, Change::Edited)
    }

    fn clear(&self, below: &str) -> Result<WriteContext, Refusal> {
        let prepared = PreparedContent::cleared(self.cx, None);
        self.version(below, prepared, Change::Cleared)
    }

    fn version(
        &self,
        below: &str,
        prepared: PreparedContent,
        change: Change,
    ) -> Result<WriteContext, Refusal> {
        let file_type = self.file_type(below);
        let newest = view::file(self.state, &self.found.project, &file_type)?;
        let subject = self.found.subject(self.cx);
        let mut command = prepared.write(self.cx, subject, &file_type, change)?;
        command.follows = Some(newest.map_or(0, |row| row.written.version));
        Ok(command)
    }
}

fn not_valid(path: &str) -> Outcome {
    Outcome::Refused(format!(
        "The path {path} does not exist. Please provide a valid path."
    ))
}

/// The root is there for good: that it did not exist would be wrong.
fn root_stays(what: &str) -> Outcome {
    Outcome::Refused(format!(
        "Error: Cannot {what} the /memories directory itself"
    ))
}

fn not_there(path: &str) -> Outcome {
    Outcome::Refused(format!("Error: The path {path} does not exist"))
}

fn check_count(files: usize) -> Result<(), Refusal> {
    if files > FILES_MAX {
        return Err(Refusal::invalid(format!(
            "the folder has {files} files; at most {FILES_MAX} are changed at once"
        ))
        .hint("Name a folder in it."));
    }
    Ok(())
}

fn needed<'a>(name: &str, value: Option<&'a str>) -> Result<&'a str, Refusal> {
    value.ok_or_else(|| missing(name))
}

fn missing(name: &str) -> Refusal {
    Refusal::invalid(format!("`{name}` is missing; this command needs it")).hint(hint![
        "The description of ",
        arg("command"),
        " says what each one needs."
    ])
}
