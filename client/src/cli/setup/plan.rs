//! Plans the change of a file from its text alone.

use serde::Serialize;

use super::edit::EditError;
use super::entry::InstallState;
use super::part::Part;

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

/// Plans to add the parts to a file with this text; `None` means that the file does not exist.
///
/// # Errors
/// When the file is malformed, or has a foreign part and `force` is not set.
pub fn put(parts: &[Part], text: Option<&str>, force: bool) -> Result<Plan, SkipReason> {
    let mut edited = text.unwrap_or_default().to_owned();
    let mut outcomes = Vec::new();
    for part in parts {
        let (whole, outcome) = match part.find(&edited)? {
            Some(InstallState::Same) => {
                outcomes.push(Outcome::Unchanged);
                continue;
            }
            Some(InstallState::Foreign(what)) if !force => return Err(SkipReason::Foreign(what)),
            Some(InstallState::Foreign(_)) => (true, Outcome::Replaced),
            Some(InstallState::Other) => (false, Outcome::Updated),
            None => (false, Outcome::Added),
        };
        edited = part.put(&edited, whole)?;
        outcomes.push(outcome);
    }
    let has = |outcome| outcomes.contains(&outcome);
    let outcome = if has(Outcome::Replaced) {
        Outcome::Replaced
    } else if has(Outcome::Updated) || has(Outcome::Added) && has(Outcome::Unchanged) {
        Outcome::Updated
    } else if has(Outcome::Added) {
        Outcome::Added
    } else {
        return Ok(Plan::Keep(Outcome::Unchanged));
    };
    Ok(Plan::Write(edited, outcome))
}

/// Plans to remove the parts from a file with this text; `None` means that the file does not exist.
///
/// `backup` is the content before the first change. It is restored byte for byte if the removal yields the same
/// text as adding and removing the parts in the backup. A file that always had the parts is deleted.
///
/// # Errors
/// As [`put`].
pub fn remove(
    parts: &[Part],
    text: Option<&str>,
    backup: Option<&str>,
    force: bool,
) -> Result<Plan, SkipReason> {
    let Some(text) = text else {
        return Ok(Plan::Keep(Outcome::Absent));
    };
    let mut left = text.to_owned();
    let mut is_there = false;
    for part in parts {
        match part.find(&left)? {
            None => continue,
            Some(InstallState::Foreign(what)) if !force => return Err(SkipReason::Foreign(what)),
            Some(InstallState::Foreign(_) | InstallState::Same | InstallState::Other) => {}
        }
        is_there = true;
        left = part.remove(&left)?;
    }
    if !is_there {
        return Ok(Plan::Keep(Outcome::Absent));
    }
    let plan = match backup {
        Some(backup) if leaves(parts, backup).as_ref() == Some(&left) => {
            Plan::Write(backup.to_owned(), Outcome::Removed)
        }
        None if leaves(parts, "").as_ref() == Some(&left) => Plan::Delete,
        Some(_) | None => Plan::Write(left, Outcome::Removed),
    };
    Ok(plan)
}

/// Adds the parts to a text, removes them again, and returns the result.
fn leaves(parts: &[Part], text: &str) -> Option<String> {
    let mut text = text.to_owned();
    for part in parts {
        let present = part.find(&text).ok()?;
        // An entry in a backup is older than the backup: it is not ours to restore.
        if matches!(part, Part::Server(..)) && present.is_some() {
            return None;
        }
        text = part.put(&text, true).ok()?;
    }
    for part in parts {
        text = part.remove(&text).ok()?;
    }
    Some(text)
}
