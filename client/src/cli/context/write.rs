//! `lore context update`, `append` and `clear`: what changes a context file.

use std::fmt::Write;
use std::path::PathBuf;

use clap::ValueHint;
use lore::protocol::projects::{
    AppendContextArgs, ClearContextArgs, ClearContextReply, UpdateContextArgs, UpdateContextReply,
    UpdateStatus,
};

use super::conflict::Merged;
use super::{Which, flaws, indented};
use crate::cli::exchange::{Told, ask};
use crate::cli::given::file_text;
use crate::cli::output::{shown, shown_lines};
use crate::cli::{Caller, End, Failure};

/// What every write to a context file takes.
#[derive(Debug, clap::Args)]
struct Guard {
    /// Refuse unless this is the newest version; 0: nothing was ever written
    #[arg(long, value_name = "VERSION")]
    expect: Option<u64>,
    /// Idempotency key: the same call again does nothing twice
    #[arg(long, value_name = "TEXT")]
    key: Option<String>,
}

/// Write a context file anew, if it fits its template
///
/// What does not fit is not written: standard error says what is wrong and how to mend it, and the exit
/// code is 1. When another was faster than --expect allows, the exit code is 5.
#[derive(Debug, clap::Args)]
pub struct Update {
    #[command(flatten)]
    which: Which,
    /// File with the whole new content; - or nothing reads it from standard input
    #[arg(default_value = "-", value_hint = ValueHint::FilePath)]
    file: PathBuf,
    #[command(flatten)]
    guard: Guard,
    /// When another was faster: write their changes and yours, joined, into this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "expect")]
    merged: Option<PathBuf>,
}

impl Update {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = UpdateContextArgs {
            project_id: self.which.project.id()?,
            file_type: self.which.file_type,
            content: file_text("the content", &self.file)?,
            expected_version: self.guard.expect,
            key: self.guard.key,
            agent: None,
        };
        ask(caller, "update_context", &args, written)
            .map_err(|failure| Merged::of(&args, self.merged).told(failure))
    }
}

/// Add an entry to a context file, where its template says
///
/// The rest of the file stays as it is, whoever else writes to it.
#[derive(Debug, clap::Args)]
pub struct Append {
    #[command(flatten)]
    which: Which,
    /// File with the entry, its heading first; - or nothing reads it from standard input
    #[arg(default_value = "-", value_hint = ValueHint::FilePath)]
    file: PathBuf,
    #[command(flatten)]
    guard: Guard,
}

impl Append {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = AppendContextArgs {
            project_id: self.which.project.id()?,
            file_type: self.which.file_type,
            entry: file_text("the entry", &self.file)?,
            expected_version: self.guard.expect,
            key: self.guard.key,
            agent: None,
        };
        ask(caller, "append_context", &args, written)
    }
}

/// What came of an update; what is wrong goes to standard error.
fn written(reply: &UpdateContextReply) -> Told {
    let name = format!(
        "{} of {}",
        shown(&reply.file_type, 80),
        shown(&reply.project, 80)
    );
    match reply.status {
        UpdateStatus::Success => {
            let version = reply.version.unwrap_or_default();
            let validation = reply.validation_result.as_ref();
            Told {
                out: format!("{name} is at version {version}\n"),
                aside: validation
                    .map(|found| flaws(&found.errors, found.more))
                    .unwrap_or_default(),
                end: End::Good,
            }
        }
        UpdateStatus::CorrectionNeeded | UpdateStatus::MaxAttemptsReached => {
            Told::nothing(unfit(&name, reply))
        }
    }
}

/// What is worst, how to mend it step by step, and all that does not fit.
fn unfit(name: &str, reply: &UpdateContextReply) -> String {
    let mut text = format!(
        "lore: {name} was not written: {}\n",
        shown(&reply.message, 0)
    );
    if let Some(guidance) = &reply.correction_guidance {
        // Writing into a string does not fail.
        let _ = writeln!(text, "{}", shown(&guidance.primary_issue, 0));
        for step in &guidance.step_by_step_fix {
            let _ = writeln!(text, "  {}", shown_lines(step));
        }
        text += "It would look like this:\n";
        text += &indented(&shown_lines(guidance.template_to_follow.trim()));
        text += "All that does not fit:\n";
    }
    if let Some(found) = &reply.validation_result {
        text += &flaws(&found.errors, found.more);
    }
    if reply.status == UpdateStatus::MaxAttemptsReached
        && let Some(next) = &reply.next_steps
    {
        let _ = writeln!(text, "{}", shown_lines(next));
    }
    let attempts = reply.attempt_count;
    text + &format!(
        "Attempt {attempts}; what you gave is kept: `lore context get {} --draft`\n",
        shown(&reply.file_type, 80)
    )
}

/// Empty a context file; its versions stay
#[derive(Debug, clap::Args)]
pub struct Clear {
    #[command(flatten)]
    which: Which,
    /// Why, for the history
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    guard: Guard,
}

impl Clear {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = ClearContextArgs {
            project_id: self.which.project.id()?,
            file_type: self.which.file_type,
            reason: self.reason,
            expected_version: self.guard.expect,
            key: self.guard.key,
            agent: None,
        };
        ask(caller, "clear_context", &args, cleared)
    }
}

fn cleared(reply: &ClearContextReply) -> Told {
    let (file_type, project) = (shown(&reply.file_type, 80), shown(&reply.project, 80));
    if !reply.cleared {
        return Told::good(format!("{file_type} of {project} was empty already\n"));
    }
    let archived = reply.archived_version.map_or_else(String::new, |archived| {
        format!("; what it said: `lore context get {file_type} --version {archived}`")
    });
    Told::good(format!(
        "{file_type} of {project} is empty at version {}{archived}\n",
        reply.version
    ))
}
