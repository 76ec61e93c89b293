//! What a read asks of its session, and the sessions of the project that have it.

use std::ops::ControlFlow;

use super::lineage::lineage;
use super::view::{self, SessionFilter, SessionRow};
use crate::rows::until;
use crate::store::{Error, Rows};
use crate::{checkpoints, entities, messages, steps};

/// Number of a project's newest sessions that are looked through.
const LOOKED_AT: usize = 500;
/// Number of sessions that are looked through to find those without a project.
const LOOKED_AT_ALL: usize = 4 * LOOKED_AT;

/// What a read asks of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WantedContent {
    /// Anything that was recorded.
    #[default]
    Anything,
    /// Steps: all of these, or any if there are no numbers.
    Steps(Vec<u32>),
    /// Messages.
    Messages,
    /// Checkpoints.
    Checkpoints,
    /// Entities.
    Entities,
}

impl WantedContent {
    /// Returns whether a session has all of it.
    ///
    /// # Errors
    /// When a row cannot be read.
    pub fn is_in(&self, rows: &dyn Rows, session: &str) -> Result<bool, Error> {
        let lines = lineage(rows, session)?;
        Ok(match self {
            Self::Steps(numbers) if !numbers.is_empty() => {
                for number in numbers {
                    if steps::answering(rows, &lines, *number)?.is_none() {
                        return Ok(false);
                    }
                }
                true
            }
            Self::Steps(_) => steps::last_before(rows, &lines, u32::MAX)?.is_some(),
            Self::Messages => messages::totals(rows, &lines)?.messages > 0,
            Self::Checkpoints => {
                for line in &lines {
                    if checkpoints::newest(rows, &line.session, line.before())?.is_some() {
                        return Ok(true);
                    }
                }
                false
            }
            Self::Entities => !entities::kinds(rows, &lines)?.is_empty(),
            Self::Anything => {
                let totals = messages::totals(rows, &lines)?;
                totals.messages + totals.uses > 0
                    || Self::Checkpoints.is_in(rows, session)?
                    || Self::Entities.is_in(rows, session)?
            }
        })
    }

    /// Returns what makes a session empty for this read: a caller with other steps gets no steps of another session.
    #[must_use]
    pub fn any(&self) -> Self {
        match self {
            Self::Steps(_) => Self::Steps(Vec::new()),
            other => other.clone(),
        }
    }

    /// Returns its name in messages.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Anything => "anything recorded",
            Self::Steps(_) => "the steps",
            Self::Messages => "messages",
            Self::Checkpoints => "a checkpoint",
            Self::Entities => "entities",
        }
    }
}

/// Returns the newest sessions of a project, the last changed first. Without a project: those that have none.
///
/// # Errors
/// When a row cannot be read.
pub fn newest_of(
    rows: &dyn Rows,
    project: Option<&str>,
) -> Result<Vec<(String, SessionRow)>, Error> {
    let filter = project.map_or(SessionFilter::All, SessionFilter::Project);
    let (mut found, mut looked_at) = (Vec::new(), 0);
    view::newest(rows, filter, None, &mut |session, _| {
        looked_at += 1;
        if let Some(row) = view::get(rows, session)?
            && row.project.as_deref() == project
        {
            found.push((session.to_owned(), row));
        }
        if looked_at == LOOKED_AT_ALL {
            return Ok(ControlFlow::Break(()));
        }
        Ok(until(found.len() == LOOKED_AT))
    })?;
    found.sort_by_key(|(_, row)| std::cmp::Reverse(row.changed));
    Ok(found)
}

/// Returns the newest session of a project, other than this one, that has what is wanted.
///
/// # Errors
/// When a row cannot be read.
pub fn newest_with(
    rows: &dyn Rows,
    project: Option<&str>,
    other_than: Option<&str>,
    wanted: &WantedContent,
) -> Result<Option<String>, Error> {
    for (session, _) in newest_of(rows, project)? {
        if other_than != Some(session.as_str()) && wanted.is_in(rows, &session)? {
            return Ok(Some(session));
        }
    }
    Ok(None)
}
