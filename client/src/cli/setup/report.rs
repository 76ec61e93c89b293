//! Reports a change: sentences for people, one JSON object for programs.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;
use similar::TextDiff;

use super::host::Host;
use super::plan::Outcome;
use crate::cli::output::{self, Output, is_terminal, sanitize, sanitize_lines, text_for};
use crate::cli::{Exit, Failure};
use lore::protocol::ErrorBody;

/// Maximum length of a diff line, in characters, because some hosts store a whole history on one line.
const DIFF_LINE_MAX: usize = 240;

/// Context lines around a change in a diff.
const DIFF_CONTEXT: usize = 3;

/// The completed or planned changes for one host.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Name of the host on the command line.
    pub host: &'static str,
    /// Name for people.
    #[serde(skip)]
    pub title: &'static str,
    /// The user's next step.
    #[serde(skip)]
    pub next: &'static str,
    /// Whether nothing was written.
    pub dry_run: bool,
    /// What has to be done before the hooks run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The files.
    pub changes: Vec<FileReport>,
}

/// The change of one file.
#[derive(Debug, Serialize)]
pub struct FileReport {
    /// Path of the file that the host reads.
    pub file: PathBuf,
    /// Names of the parts that are lore's.
    pub parts: Vec<&'static str>,
    /// Descriptions of the parts for people.
    #[serde(skip)]
    pub described: Vec<String>,
    /// Outcome of the change.
    pub outcome: Outcome,
    /// Whether the file held nothing else and was deleted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Path of the new backup.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup: Option<PathBuf>,
    /// Diff of a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// The changes for all installed hosts.
#[derive(Debug, Default, Serialize)]
pub struct Reports {
    /// The hosts whose files were changed.
    pub hosts: Vec<Report>,
    /// The hosts whose files could not be changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<SetupFailure>,
}

/// A host whose files could not be changed.
#[derive(Debug, Serialize)]
pub struct SetupFailure {
    /// Name of the host on the command line.
    pub host: &'static str,
    /// Reason.
    pub message: String,
    /// Remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// The entry in the format of the host's file.
#[derive(Debug, Serialize)]
pub struct EntryText {
    /// Name of the host on the command line.
    pub host: &'static str,
    /// The entry's fields.
    pub entry: Value,
    /// Text of a file with only the entry.
    pub text: String,
}

impl Report {
    /// Prints the report.
    pub fn print(&self, output: Output) -> Result<(), Failure> {
        match output {
            Output::Json => json(self),
            Output::Human => self.print_text(),
        }
    }

    fn print_text(&self) -> Result<(), Failure> {
        if self.dry_run {
            let diffs = self
                .changes
                .iter()
                .filter_map(|change| change.diff.as_ref());
            for diff in diffs {
                output::write(text_for(diff, is_terminal()).as_bytes())?;
            }
            if self.changes.iter().any(|change| change.diff.is_some()) {
                lore::errln!("lore: nothing was changed");
                return Ok(());
            }
        }
        let mut text: String = self.changes.iter().map(FileReport::sentences).collect();
        let is_set_up = |change: &FileReport| match change.outcome {
            Outcome::Added | Outcome::Updated | Outcome::Replaced => true,
            Outcome::Unchanged | Outcome::Removed | Outcome::Absent => false,
        };
        if self.changes.iter().any(is_set_up) {
            text += &format!("  {}: {}\n", self.title, self.next);
            if let Some(note) = &self.note {
                text += &format!("  {}: {}\n", self.title, sanitize(note, 0));
            }
        }
        Ok(output::write(text.as_bytes())?)
    }
}

impl FileReport {
    fn sentences(&self) -> String {
        let file = shown_path(&self.file);
        let described = match self.described.as_slice() {
            [] => String::new(),
            parts => format!(": {}", parts.join(", ")),
        };
        let mut text = match self.outcome {
            Outcome::Added => format!("{file} has lore now{described}\n"),
            Outcome::Updated => format!("{file} has lore as it should be now{described}\n"),
            Outcome::Replaced => format!("{file} has lore now, which replaced another entry\n"),
            Outcome::Unchanged => format!("{file} has lore already: nothing changed\n"),
            Outcome::Removed if self.deleted => {
                format!("{file} had nothing but lore, and is gone\n")
            }
            Outcome::Removed => format!("{file} is without lore now\n"),
            Outcome::Absent => format!("{file} has no lore: nothing changed\n"),
        };
        if let Some(backup) = &self.backup {
            text += &format!("  as it was: {}\n", shown_path(backup));
        }
        text
    }
}

impl Reports {
    /// Adds a host whose files could not be changed.
    pub fn add_failure(&mut self, host: Host, error: &ErrorBody) {
        self.failures.push(SetupFailure {
            host: host.name(),
            message: error.message.clone(),
            hint: error.hint.as_ref().map(ToString::to_string),
        });
    }

    /// Prints the reports. The exit code is not 0 if a host could not be set up, or none is installed.
    pub fn print(&self, output: Output) -> Result<Exit, Failure> {
        match output {
            Output::Json => json(self)?,
            Output::Human => {
                for report in &self.hosts {
                    report.print_text()?;
                }
                for failure in &self.failures {
                    lore::errln!(
                        "lore: {}: {}",
                        failure.host,
                        sanitize_lines(&failure.message)
                    );
                    if let Some(hint) = &failure.hint {
                        lore::errln!("  {}", sanitize_lines(hint));
                    }
                }
                if self.hosts.is_empty() && self.failures.is_empty() {
                    lore::errln!(
                        "lore: no host is installed; `lore setup --help` lists those that lore knows"
                    );
                }
            }
        }
        Ok(match self.failures.is_empty() && !self.hosts.is_empty() {
            true => Exit::Good,
            false => Exit::Nothing,
        })
    }
}

impl EntryText {
    /// Prints the entry.
    pub fn print(&self, output: Output) -> Result<(), Failure> {
        match output {
            Output::Json => json(self),
            Output::Human => Ok(output::write(sanitize_lines(&self.text).as_bytes())?),
        }
    }
}

/// Returns a unified diff of a file; very long lines are cut.
pub fn diff(file: &Path, before: &str, after: &str) -> String {
    let name = shown_path(file);
    let difference = TextDiff::from_lines(before, after);
    let unified = difference
        .unified_diff()
        .context_radius(DIFF_CONTEXT)
        .header(&name, &name)
        .to_string();
    let mut cut = String::with_capacity(unified.len());
    for line in unified.lines() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        cut += &sanitize(line, DIFF_LINE_MAX);
        cut.push('\n');
    }
    cut
}

fn shown_path(path: &Path) -> String {
    sanitize(&path.display().to_string(), 0)
}

fn json(report: &impl Serialize) -> Result<(), Failure> {
    let report = serde_json::to_vec(report).map_err(std::io::Error::other)?;
    Ok(output::write_json(&report)?)
}
