//! What has to happen to a file, decided from its text alone.

use serde::Serialize;

use super::edit::{self, EditError, FileLayout};
use super::entry::{Entry, InstallState};

/// What happens to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// Nothing: it is as it should be.
    Keep(Outcome),
    /// It gets this text.
    Write(String, Outcome),
    /// It goes: nothing but the entry was ever in it.
    Delete,
}

/// How it ended, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The entry was not there.
    Added,
    /// The entry said something else.
    Updated,
    /// An entry of somebody else gave way.
    Replaced,
    /// The entry is as it should be.
    Unchanged,
    /// The entry was taken out.
    Removed,
    /// There was no entry to take out.
    Absent,
}

/// Why nothing happens to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkipReason {
    /// It is broken.
    Broken(EditError),
    /// The entry in it is somebody else's: what that one does.
    Foreign(String),
}

impl From<EditError> for SkipReason {
    fn from(fault: EditError) -> Self {
        Self::Broken(fault)
    }
}

impl Plan {
    /// How it ends.
    pub const fn outcome(&self) -> Outcome {
        match self {
            Self::Keep(outcome) | Self::Write(_, outcome) => *outcome,
            Self::Delete => Outcome::Removed,
        }
    }

    /// What the file says afterwards, if it changes.
    pub fn after(&self) -> Option<&str> {
        match self {
            Self::Keep(_) => None,
            Self::Write(text, _) => Some(text),
            Self::Delete => Some(""),
        }
    }
}

/// How the entry gets into a file with this text; nothing stands for no file.
///
/// # Errors
/// When the file is broken, or has somebody else's entry and `force` does not say to replace it.
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

/// How the entry gets out of a file with this text; nothing stands for no file. `backup` is what the
/// file said before the first change. Where taking the entry out leaves just what putting it in and
/// taking it out again would leave of the backup, the backup's text comes back to the byte; and a
/// file that never was without the entry goes.
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

/// What is left of a text without the entry after putting it in and taking it out.
fn leaves(shape: FileLayout, text: &str, entry: &Entry) -> Option<String> {
    let is_without = edit::find(shape, text).ok()?.is_none();
    let with = is_without.then(|| edit::put(shape, text, entry, false))?;
    edit::remove(shape, &with.ok()?).ok()
}
