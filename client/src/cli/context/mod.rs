//! `lore context …`: a project's context files.

mod compare;
mod conflict;
mod list;
mod read;
mod template;
mod write;

use std::fmt::Write;

use clap::{Subcommand, ValueHint};
use lore::protocol::projects::{Severity, ValidationError};

use super::output::{shown, shown_lines};
use super::{Caller, End, Failure};

/// What stands for the project of the working directory.
const CURRENT: &str = "current";

/// Files that every agent in a project reads and keeps true
#[derive(Debug, Subcommand)]
pub enum Context {
    /// Print a context file; what is said about it goes to standard error
    Get(read::Get),
    Update(write::Update),
    Append(write::Append),
    /// Empty a context file; its versions stay
    Clear(write::Clear),
    /// List the versions of a context file, the newest first
    History(compare::History),
    Diff(compare::Diff),
    /// List a project's context files, those that could be written too
    List(list::List),
    /// List the types of context files there are, and the template files that cannot be used
    Templates(template::Templates),
    Template(template::Template),
}

impl Context {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        match self {
            Self::Get(get) => get.run(caller),
            Self::Update(update) => update.run(caller),
            Self::Append(append) => append.run(caller),
            Self::Clear(clear) => clear.run(caller),
            Self::History(history) => history.run(caller),
            Self::Diff(diff) => diff.run(caller),
            Self::List(list) => list.run(caller),
            Self::Templates(templates) => templates.run(caller),
            Self::Template(template) => template.run(caller),
        }
    }
}

/// Which project a verb is about.
#[derive(Debug, clap::Args)]
struct Where {
    /// Another project than that of this folder: its id, or a path in it
    #[arg(long, value_name = "PROJECT", value_hint = ValueHint::DirPath)]
    project: Option<String>,
}

impl Where {
    /// The project as the daemon takes it.
    fn id(self) -> Result<String, Failure> {
        Ok(self.named()?.unwrap_or_else(|| CURRENT.to_owned()))
    }

    /// The same, if one was named.
    fn named(self) -> Result<Option<String>, Failure> {
        self.project.map(project_id).transpose()
    }
}

/// Which context file of which project.
#[derive(Debug, clap::Args)]
struct Which {
    /// Which file: mental_model, session_summary, bugs, features, or another with a template
    file_type: String,
    #[command(flatten)]
    project: Where,
}

/// An id as it is, a path made absolute: the daemon knows no folder of ours but the working one.
fn project_id(said: String) -> Result<String, Failure> {
    let is_id = said
        .bytes()
        .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'));
    if is_id {
        return Ok(said);
    }
    absolute(&said)
}

/// A path from the working directory on.
pub fn absolute(path: &str) -> Result<String, Failure> {
    let whole = std::path::absolute(path)?;
    whole
        .into_os_string()
        .into_string()
        .map_err(|_| Failure::Usage(format!("{path} lies in a folder whose name is no UTF-8")))
}

/// What does not fit a template, two lines each: where it is and what to do about it.
fn flaws(errors: &[ValidationError], more: Option<u64>) -> String {
    let mut text = String::new();
    for error in errors {
        let severity = match error.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        // Writing into a string does not fail.
        let _ = writeln!(
            text,
            "  line {}: {severity}: {}",
            error.line,
            shown(&error.message, 0)
        );
        if !error.correction_prompt.is_empty() {
            text += &indented(&shown_lines(&error.correction_prompt));
        }
    }
    if let Some(more) = more {
        let _ = writeln!(text, "  … and {more} more");
    }
    text
}

/// The lines of a text, four blanks in; a line without text has no blanks either.
fn indented(text: &str) -> String {
    let indent = |line: &str| match line {
        "" => "\n".to_owned(),
        line => format!("    {line}\n"),
    };
    text.trim_end().split('\n').map(indent).collect()
}

/// Who wrote something; somebody without a name is told as `-`.
fn author(agent: Option<&str>) -> String {
    match agent {
        None | Some("") => "-".to_owned(),
        Some(agent) => shown(agent, 40),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(said: &str) -> String {
        project_id(said.to_owned()).ok().unwrap()
    }

    #[test]
    fn ids_and_paths_are_told_apart() {
        let here = std::env::current_dir().unwrap();
        let here = here.to_str().unwrap();
        assert_eq!(read("shop-0123abcd"), "shop-0123abcd");
        assert_eq!(read("current"), "current");
        assert_eq!(read("/srv/shop"), "/srv/shop");
        assert_eq!(read("./shop"), format!("{here}/shop"));
        assert_eq!(read("My Shop"), format!("{here}/My Shop"));
        assert_eq!(read("../shop"), format!("{here}/../shop"));
        assert_eq!(read("."), here);
    }
}
