//! What an installation does, step by step: printed by a dry run, carried out otherwise.

use std::fmt::Write as _;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use lore::paths::{Paths, ensure_folder};
use lore::protocol::Serialize;
use serde_json::json;

use super::super::output::{self, sanitize};
use super::super::{Failure, Globals};
use super::{handover, refused};

/// Stands in one of the first two lines of every file that was put in place, and makes it ours.
pub const MARK: &str = "Put here by `lore service install`";

/// One step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// A folder comes to be, for its user alone.
    Folder {
        /// Where.
        path: PathBuf,
    },
    /// A file comes to be, or to say this.
    Write {
        /// Where.
        path: PathBuf,
        /// All of it.
        text: String,
    },
    /// A file goes.
    Remove {
        /// Which.
        path: PathBuf,
    },
    /// A daemon that no manager runs is asked to stop, and waited for.
    Stop {
        /// Its process.
        process: u32,
    },
    /// A program runs.
    Run {
        /// Its name and its arguments.
        command: Vec<String>,
        /// Whether it may fail: what it undoes may not be there.
        may_fail: bool,
    },
}

impl Step {
    /// A program that must not fail.
    pub fn run(words: &[&str]) -> Self {
        Self::Run {
            command: words.iter().map(ToString::to_string).collect(),
            may_fail: false,
        }
    }

    /// A program that may fail.
    pub fn attempt(words: &[&str]) -> Self {
        Self::Run {
            command: words.iter().map(ToString::to_string).collect(),
            may_fail: true,
        }
    }

    /// In one line for people.
    fn line(&self, is_done: bool) -> String {
        let tense = |done: &'static str, to_do: &'static str| if is_done { done } else { to_do };
        match self {
            Self::Folder { path } => format!("{} {}", tense("made", "make"), path_text(path)),
            Self::Write { path, .. } => format!("{} {}", tense("wrote", "write"), path_text(path)),
            Self::Remove { path } => format!("{} {}", tense("removed", "remove"), path_text(path)),
            Self::Stop { process } => {
                format!("{} lored, process {process}", tense("stopped", "stop"))
            }
            Self::Run { command, .. } => {
                format!(
                    "{} {}",
                    tense("ran", "run"),
                    sanitize(&command.join(" "), 0)
                )
            }
        }
    }
}

fn path_text(path: &Path) -> String {
    sanitize(&path.display().to_string(), 0)
}

/// Prints what would be done.
pub fn print(steps: &[Step], json: bool) -> Result<(), Failure> {
    if json {
        return print_json(steps, true);
    }
    let mut text = String::new();
    for step in steps {
        // Writing into a string does not fail.
        let _ = writeln!(text, "{}", step.line(false));
        if let Step::Write { text: content, .. } = step {
            for line in content.lines() {
                let _ = writeln!(text, "    {}", sanitize(line, 0));
            }
        }
    }
    Ok(output::write(text.as_bytes())?)
}

/// Does it, and prints each step.
///
/// # Errors
/// Why a step cannot be done; those before it are, and may be repeated.
pub fn carry_out(steps: &[Step], paths: &Paths, globals: &Globals) -> Result<(), Failure> {
    let mut done = Vec::new();
    for step in steps {
        if !do_one(step, paths)? {
            continue;
        }
        if !globals.json {
            output::write(format!("{}\n", step.line(true)).as_bytes())?;
        }
        done.push(step.clone());
    }
    match globals.json {
        true => print_json(&done, false),
        false => Ok(()),
    }
}

fn print_json(steps: &[Step], is_dry: bool) -> Result<(), Failure> {
    let reply = json!({"dry_run": is_dry, "steps": steps});
    Ok(output::write_json(reply.to_string().as_bytes())?)
}

/// Gives back whether there was something to do.
fn do_one(step: &Step, paths: &Paths) -> Result<bool, Failure> {
    match step {
        Step::Folder { path } if path.is_dir() => Ok(false),
        Step::Folder { path } => {
            ensure_folder(path).map_err(|error| refused(error.to_string()))?;
            Ok(true)
        }
        Step::Write { path, text } => write(path, text),
        Step::Remove { path } => {
            fs::remove_file(path).map_err(|error| at(path, &error))?;
            Ok(true)
        }
        Step::Stop { process } => {
            handover::stop(*process, paths)?;
            Ok(true)
        }
        Step::Run { command, may_fail } => run(command, *may_fail),
    }
}

/// Writes a file whole, unless it says so already; one that is not ours stays.
fn write(path: &Path, text: &str) -> Result<bool, Failure> {
    match existing(path)? {
        Some(found) if found == text => return Ok(false),
        Some(found) if !is_ours(&found) => {
            return Err(refused(format!(
                "{} is there and was not put there by lore: move it away, or make a drop-in of it",
                path_text(path)
            )));
        }
        Some(_) | None => {}
    }
    let failed = |error: io::Error| at(path, &error);
    let folder = path.parent().unwrap_or(Path::new("/"));
    DirBuilder::new()
        .recursive(true)
        .mode(0o755)
        .create(folder)
        .map_err(failed)?;
    // Whole or not at all: systemd may read it at any moment. Anybody may read it, whatever the umask.
    let draft = path.with_extension("lore-draft");
    fs::write(&draft, text)
        .and_then(|()| fs::set_permissions(&draft, Permissions::from_mode(0o644)))
        .and_then(|()| fs::rename(&draft, path))
        .map_err(failed)?;
    Ok(true)
}

fn run(command: &[String], may_fail: bool) -> Result<bool, Failure> {
    let said = command.join(" ");
    let [program, arguments @ ..] = command else {
        return Ok(false);
    };
    let output = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| refused(format!("`{said}` cannot be run: {error}")))?;
    if output.status.success() || may_fail {
        return Ok(output.status.success());
    }
    let why = String::from_utf8_lossy(&output.stderr);
    let why = output::sanitize_lines(why.trim());
    Err(refused(format!(
        "`{said}` failed ({}):\n{why}",
        output.status
    )))
}

/// What a file says, if it is there.
pub fn existing(path: &Path) -> Result<Option<String>, Failure> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(at(path, &error)),
    }
}

/// Whether install put a file there.
pub fn is_ours(text: &str) -> bool {
    text.lines().take(2).any(|line| line.contains(MARK))
}

fn at(path: &Path, error: &io::Error) -> Failure {
    refused(format!("{}: {error}", path_text(path)))
}
