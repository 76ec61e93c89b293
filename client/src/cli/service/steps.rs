//! The steps of an installation. A dry run prints them; otherwise they are carried out.

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

/// Marks files that the installation created. It is in one of their first two lines.
pub const MARK: &str = "Put here by `lore service install`";

/// An installation step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// Creates a folder that only its user can access.
    Folder {
        /// Path of the folder.
        path: PathBuf,
    },
    /// Creates or replaces a file.
    Write {
        /// Path of the file.
        path: PathBuf,
        /// Complete content.
        text: String,
    },
    /// Removes a file.
    Remove {
        /// Path of the file.
        path: PathBuf,
    },
    /// Stops a daemon that no service manager runs, and waits until it ends.
    Stop {
        /// Process id of the daemon.
        process: u32,
    },
    /// Runs a program.
    Run {
        /// Name and arguments of the program.
        command: Vec<String>,
        /// Whether it may fail because the object to undo may not exist.
        may_fail: bool,
    },
}

impl Step {
    /// Creates a step with a program that must not fail.
    pub fn run(words: &[&str]) -> Self {
        Self::Run {
            command: words.iter().map(ToString::to_string).collect(),
            may_fail: false,
        }
    }

    /// Creates a step with a program that may fail.
    pub fn attempt(words: &[&str]) -> Self {
        Self::Run {
            command: words.iter().map(ToString::to_string).collect(),
            may_fail: true,
        }
    }

    /// Formats the step as one line for people.
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

/// Prints the steps of a dry run.
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

/// Carries out the steps and prints each one.
///
/// # Errors
/// When a step fails. The earlier steps stay done and may be repeated.
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

/// Returns whether there was anything to do.
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

/// Writes a whole file unless its content is unchanged. A file without the mark is not replaced.
fn write(path: &Path, text: &str) -> Result<bool, Failure> {
    match existing(path)? {
        Some(found) if found == text => return Ok(false),
        Some(found) if !is_ours(&found) => {
            return Err(refused(format!(
                "{} exists and was not written by lore: move it away, or use a drop-in",
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
    // Replaced atomically, because systemd may read it at any moment. Readable by all users, whatever the umask.
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

/// Reads a file, if it exists.
pub fn existing(path: &Path) -> Result<Option<String>, Failure> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(at(path, &error)),
    }
}

/// Returns whether the installation created the file.
pub fn is_ours(text: &str) -> bool {
    text.lines().take(2).any(|line| line.contains(MARK))
}

fn at(path: &Path, error: &io::Error) -> Failure {
    refused(format!("{}: {error}", path_text(path)))
}
