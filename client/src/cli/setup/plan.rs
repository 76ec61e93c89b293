//! Plans the change of a file from its text alone.

use serde::Serialize;

use super::edit::{self, EditError, FileLayout};
use super::entry::{Entry, InstallState};

/// Planned change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// No change.
    Keep(Outcome),
    /// The file gets this text.
    Write(String, Outcome),
    /// The file is deleted, because it never held anything but the entry.
    Delete,
}

/// Outcome, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The entry was added.
    Added,
    /// The entry was changed.
    Updated,
    /// A foreign entry was replaced.
    Replaced,
    /// The entry was already correct.
    Unchanged,
    /// The entry was removed.
    Removed,
    /// There was no entry to remove.
    Absent,
}

/// Reason for a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkipReason {
    /// The file is malformed.
    Broken(EditError),
    /// The existing entry starts another program, described here.
    Foreign(String),
}

impl From<EditError> for SkipReason {
    fn from(fault: EditError) -> Self {
        Self::Broken(fault)
    }
}

impl Plan {
    /// Returns the outcome of the plan.
    pub const fn outcome(&self) -> Outcome {
        match self {
            Self::Keep(outcome) | Self::Write(_, outcome) => *outcome,
            Self::Delete => Outcome::Removed,
        }
    }

    /// Returns the new text of the file, if it changes.
    pub fn after(&self) -> Option<&str> {
        match self {
            Self::Keep(_) => None,
            Self::Write(text, _) => Some(text),
            Self::Delete => Some(""),
        }
    }
}

/// Plans to add the entry to a file with this text; `None` means that the file does not exist.
///
/// # Errors
/// When the file is malformed, or has a foreign entry and `force` is not set.
pub fn put(
    shape: FileLayout,
    text: Option<&str>,
    entry: &Entry,
    force: bool,
) -> Result<Plan, SkipReason> {
    let text = text.unwrap_or_default();
    let standing = edit::find(shape, text)?.map(|present| entry.compare(&present));
    let (whole, outcome) = match standing {
        Some(InstallState::Same) => return Ok(Plan::Keep(Outcome::Unchanged)),
        Some(InstallState::Foreign(what)) if !force => return Err(SkipReason::Foreign(what)),
        Some(InstallState::Foreign(_)) => (true, Outcome::Replaced),
        Some(InstallState::Other) => (false, Outcome::Updated),
        None => (false, Outcome::Added),
    };
    let edited = edit::put(shape, text, entry, whole)?;
    Ok(Plan::Write(edited, outcome))
}

/// Plans to remove the entry from a file with this text; `None` means that the file does not exist.
///
/// `backup` is the content before the first change. It is restored byte for byte if the removal yields the same
/// text as adding and removing the entry in the backup. A file that always had the entry is deleted.
///
/// # Errors
/// As [`put`].
pub fn remove(
    shape: FileLayout,
    text: Option<&str>,
    backup: Option<&str>,
    entry: &Entry,
    force: bool,
) -> Result<Plan, SkipReason> {
    let Some(text) = text else {
        return Ok(Plan::Keep(Outcome::Absent));
    };
    let Some(present) = edit::find(shape, text)? else {
        return Ok(Plan::Keep(Outcome::Absent));
    };
    match entry.compare(&present) {
        InstallState::Foreign(what) if !force => return Err(SkipReason::Foreign(what)),
        InstallState::Foreign(_) | InstallState::Same | InstallState::Other => {}
    }
    let left = edit::remove(shape, text)?;
    let plan = match backup {
        Some(backup) if leaves(shape, backup, entry).as_ref() == Some(&left) => {
            Plan::Write(backup.to_owned(), Outcome::Removed)
        }
        None if leaves(shape, "", entry).as_ref() == Some(&left) => Plan::Delete,
        Some(_) | None => Plan::Write(left, Outcome::Removed),
    };
    Ok(plan)
}

/// Adds the entry to a text, removes it again, and returns the result.
fn leaves(shape: FileLayout, text: &str, entry: &Entry) -> Option<String> {
    let is_without = edit::find(shape, text).ok()?.is_none();
    let with = is_without.then(|| edit::put(shape, text, entry, false))?;
    edit::remove(shape, &with.ok()?).ok()
}
