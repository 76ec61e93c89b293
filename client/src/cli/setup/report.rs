//! Reports a change: sentences for people, one JSON object for programs.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;
use similar::TextDiff;

use super::host::Host;
use super::plan::Outcome;
use crate::cli::Failure;
use crate::cli::output::{self, Output, is_terminal, sanitize, sanitize_lines, text_for};

/// Maximum length of a diff line, in characters, because some hosts store a whole history on one line.
const DIFF_LINE_MAX: usize = 240;

/// Context lines around a change in a diff.
const DIFF_CONTEXT: usize = 3;

/// A completed or planned change.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Name of the host on the command line.
    pub host: &'static str,
    /// Path of the file that the host reads.
    pub file: PathBuf,
    /// Outcome of the change.
    pub outcome: Outcome,
    /// Whether nothing was written.
    pub dry_run: bool,
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
    pub fn print(&self, output: Output, next: &str, host: Host) -> Result<(), Failure> {
        match output {
            Output::Json => json(self),
            Output::Human => {
                if let Some(diff) = &self.diff {
                    output::write(text_for(diff, is_terminal()).as_bytes())?;
                    lore::errln!("lore: nothing was changed");
                    return Ok(());
                }
                Ok(output::write(self.sentences(next, host).as_bytes())?)
            }
        }
    }

    fn sentences(&self, next: &str, host: Host) -> String {
        let file = shown_path(&self.file);
        let mut text = match self.outcome {
            Outcome::Added => format!("{file} has lore now\n"),
            Outcome::Updated => format!("{file} has lore as it should be now\n"),
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
        match self.outcome {
            Outcome::Added | Outcome::Updated | Outcome::Replaced => {
                text += &format!("  {}: {next}\n", host.title());
            }
            Outcome::Unchanged | Outcome::Removed | Outcome::Absent => {}
        }
        text
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
