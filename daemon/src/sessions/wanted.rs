//! What a read asks of its session, and the sessions of the project that have it.

use std::ops::ControlFlow;

use super::lineage::{Line, lineage};
use super::view::{self, SessionFilter, SessionRow};
use crate::rows::until;
use crate::store::{Error, Rows};

/// Number of a project's newest sessions that are looked through.
const LOOKED_AT: usize = 500;
/// Number of sessions that are looked through to find those without a project.
const LOOKED_AT_ALL: usize = 4 * LOOKED_AT;

/// Returns whether a session with these lines has the content, and if it is numbered, all of these.
pub type ContentCheck = fn(&dyn Rows, &[Line], &[u32]) -> Result<bool, Error>;

/// What a read asks of a session. The modules above this one declare theirs.
#[derive(Clone, Debug)]
pub struct WantedContent {
    name: &'static str,
    numbers: Vec<u32>,
    check: ContentCheck,
    /// What is enough if no session has it: its name and check.
    otherwise: Option<(&'static str, ContentCheck)>,
}

impl PartialEq for WantedContent {
    fn eq(&self, other: &Self) -> bool {
        (self.name, &self.numbers) == (other.name, &other.numbers)
    }
}

impl Default for WantedContent {
    /// Anything that was recorded.
    fn default() -> Self {
        Self::new("anything recorded", |rows, lines, _| {
            for line in lines {
                let row = view::get(rows, &line.session)?;
                if row.is_some_and(|row| (1..=line.up_to.0).contains(&row.content)) {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }
}

impl WantedContent {
    /// Describes a kind of content: its name in messages, and its check.
    #[must_use]
    pub const fn new(name: &'static str, check: ContentCheck) -> Self {
        Self {
            name,
            numbers: Vec::new(),
            check,
            otherwise: None,
        }
    }

    /// Takes a session with anything recorded if none has this content; the caller's own at once.
    #[must_use]
    pub fn or_anything(self) -> Self {
        let anything = Self::default();
        Self {
            otherwise: Some((anything.name, anything.check)),
            ..self
        }
    }

    /// Asks for these of a numbered kind; for any of them if there are no numbers.
    #[must_use]
    pub fn numbered(self, numbers: Vec<u32>) -> Self {
        Self { numbers, ..self }
    }

    /// Returns whether a session has all of it.
    ///
    /// # Errors
    /// When a row cannot be read.
    pub fn is_in(&self, rows: &dyn Rows, session: &str) -> Result<bool, Error> {
        (self.check)(rows, &lineage(rows, session)?, &self.numbers)
    }

    /// Returns what makes a session empty for this read: a caller with other steps gets no steps of another session.
    #[must_use]
    pub fn any(&self) -> Self {
        let (name, check) = self.otherwise.unwrap_or((self.name, self.check));
        Self::new(name, check)
    }

    /// Returns its name in messages.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
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
    found.sort_by_key(|(_, row)| std::cmp::Reverse((row.used_at, row.used)));
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
