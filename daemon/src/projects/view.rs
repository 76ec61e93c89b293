//! The projects there are, their worktrees, their context files with every version, and drafts that
//! did not fit.
//!
//! | key | value |
//! | --- | --- |
//! | `p` project | [`ProjectRow`] |
//! | `w` project 0 path | [`WorktreeRow`] |
//! | `c` project 0 file type | [`FileRow`]: the newest version |
//! | `v` project 0 file type 0 version (u64) | [`FileRow`]: each version |
//! | `d` project 0 file type 0 agent | [`DraftRow`] |
//! | `s` project 0 user (u32) | [`ShareRow`] |
//!
//! Values are CBOR; numbers in keys are big-endian. Ids, types and agents hold no zero byte.

use std::ops::ControlFlow;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::clock::Micros;
use crate::events::projects::{Change, DraftMeta, ProjectEvent, ShareAccess, VersionMeta};
use crate::log::{LoggedEvent, Position, RecordKey, codec};
use crate::store::{Direction, Error, Keyspace, Rows, RowsMut, after_prefix, remove_all};

/// The rows of this view, version 1.
pub const SPACE: Keyspace = Keyspace::new("projects.1");

/// A project as the view keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectRow {
    /// What people call it.
    pub name: String,
    /// Its directory.
    pub path: String,
    /// When it became known.
    pub created_at: Micros,
    /// When anything of it changed last.
    pub updated_at: Micros,
}

/// A worktree of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeRow {
    /// The branch that was checked out when it was seen last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// When that was noted.
    pub noted_at: Micros,
}

/// A version of a context file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRow {
    /// What its event says of it.
    pub written: VersionMeta,
    /// Where its event is.
    pub position: u64,
    /// In which record.
    pub record: u64,
    /// When it was written.
    pub at: Micros,
    /// By whom.
    pub agent: String,
}

impl FileRow {
    /// Whether there is content: it was not cleared.
    #[must_use]
    pub fn is_written(&self) -> bool {
        self.written.change != Change::Cleared
    }

    /// Where its event is.
    #[must_use]
    pub fn place(&self) -> (RecordKey, Position) {
        (RecordKey(Position(self.record)), Position(self.position))
    }
}

/// An agent's updates that did not fit, up to now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftRow {
    /// How many in a row.
    pub attempts: u32,
    /// When the last one was.
    pub at: Micros,
    /// Where its event is.
    pub position: u64,
    /// In which record.
    pub record: u64,
}

impl DraftRow {
    /// Where its event is.
    #[must_use]
    pub fn place(&self) -> (RecordKey, Position) {
        (RecordKey(Position(self.record)), Position(self.position))
    }
}

/// What another user of the machine may do with a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareRow {
    /// What.
    pub access: ShareAccess,
    /// Since when.
    pub since: Micros,
}

fn key(tag: u8, project: &str, rest: &[&[u8]]) -> Vec<u8> {
    let mut key = vec![tag];
    key.extend(project.as_bytes());
    for part in rest {
        key.push(0);
        key.extend(*part);
    }
    key
}

fn get<T: DeserializeOwned>(rows: &dyn Rows, key: &[u8]) -> Result<Option<T>, Error> {
    let Some(value) = rows.get(SPACE, key)? else {
        return Ok(None);
    };
    decode(key, &value).map(Some)
}

fn decode<T: DeserializeOwned>(key: &[u8], value: &[u8]) -> Result<T, Error> {
    codec::decode(value)
        .map_err(|reason| Error::corrupt(SPACE.name(), key, format!("not a row: {reason}")))
}

fn put<T: Serialize>(rows: &mut dyn RowsMut, key: &[u8], row: &T) {
    rows.put(SPACE, key, &codec::encode(row));
}

/// Folds an event of this room.
///
/// # Errors
/// [`Error`] when a row cannot be read or is damaged.
pub fn apply(
    rows: &mut dyn RowsMut,
    event: &LoggedEvent,
    change: &ProjectEvent,
    record: RecordKey,
) -> Result<(), Error> {
    let Some(project) = &event.header.project else {
        return Ok(());
    };
    let at = event.header.happened_at();
    let own = key(b'p', project, &[]);
    let known: Option<ProjectRow> = get(rows, &own)?;
    match change {
        ProjectEvent::Initialised(made) => {
            let row = ProjectRow {
                name: made.name.clone(),
                path: made.path.clone(),
                created_at: known.map_or(at, |known| known.created_at),
                updated_at: at,
            };
            put(rows, &own, &row);
            return Ok(());
        }
        ProjectEvent::WorktreeSeen(recorded) => {
            let row = WorktreeRow {
                branch: recorded.branch.clone(),
                noted_at: at,
            };
            put(rows, &key(b'w', project, &[recorded.path.as_bytes()]), &row);
        }
        ProjectEvent::Shared(shared) => {
            let own = key(b's', project, &[&shared.user.to_be_bytes()]);
            match shared.access {
                Some(access) => put(rows, &own, &ShareRow { access, since: at }),
                None => rows.remove(SPACE, &own),
            }
            return Ok(());
        }
        ProjectEvent::Written(written) => {
            apply_written(rows, event, project, written.clone(), record)
        }
        ProjectEvent::DraftSaved(drafted) => {
            let row = DraftRow {
                attempts: drafted.attempt,
                at: event.header.time,
                position: event.position().0,
                record: record.0.0,
            };
            put(
                rows,
                &draft_key(project, drafted, event.header.author()),
                &row,
            );
        }
    }
    if let Some(known) = known {
        let row = ProjectRow {
            updated_at: at,
            ..known
        };
        put(rows, &own, &row);
    }
    Ok(())
}

fn draft_key(project: &str, drafted: &DraftMeta, agent: &str) -> Vec<u8> {
    key(
        b'd',
        project,
        &[drafted.file_type.as_bytes(), agent.as_bytes()],
    )
}

fn apply_written(
    rows: &mut dyn RowsMut,
    event: &LoggedEvent,
    project: &str,
    written: VersionMeta,
    record: RecordKey,
) {
    let file_type = written.file_type.clone();
    let row = FileRow {
        position: event.position().0,
        record: record.0.0,
        at: event.header.happened_at(),
        agent: event.header.author().to_owned(),
        written,
    };
    let version = row.written.version.to_be_bytes();
    put(rows, &key(b'c', project, &[file_type.as_bytes()]), &row);
    put(
        rows,
        &key(b'v', project, &[file_type.as_bytes(), &version]),
        &row,
    );
    // Whoever succeeds begins to count anew.
    let draft = key(
        b'd',
        project,
        &[file_type.as_bytes(), event.header.author().as_bytes()],
    );
    rows.remove(SPACE, &draft);
}

/// With whom a project is shared, by the users' numbers.
///
/// # Errors
/// [`Error`] when the rows cannot be read.
pub fn shares(rows: &dyn Rows, project: &str) -> Result<Vec<(u32, ShareRow)>, Error> {
    let prefix = key(b's', project, &[&[]]);
    let mut found = Vec::new();
    rows.scan(
        SPACE,
        &prefix,
        &after_prefix(&prefix),
        Direction::Forward,
        &mut |at, value| {
            let user = at.get(prefix.len()..).and_then(|user| user.try_into().ok());
            if let Some(user) = user {
                found.push((u32::from_be_bytes(user), decode(at, value)?));
            }
            Ok(ControlFlow::Continue(()))
        },
    )?;
    Ok(found)
}

/// What a user may do with a project of somebody else's.
///
/// # Errors
/// [`Error`] when the row cannot be read.
pub fn shared_with(
    rows: &dyn Rows,
    project: &str,
    user: u32,
) -> Result<Option<ShareAccess>, Error> {
    let row: Option<ShareRow> = get(rows, &key(b's', project, &[&user.to_be_bytes()]))?;
    Ok(row.map(|row| row.access))
}

/// Removes all rows of a project.
///
/// # Errors
/// [`Error`] when the rows cannot be read.
pub fn forget(rows: &mut dyn RowsMut, project: &str) -> Result<(), Error> {
    rows.remove(SPACE, &key(b'p', project, &[]));
    for tag in *b"wcvds" {
        remove_all(rows, SPACE, &key(tag, project, &[&[]]))?;
    }
    Ok(())
}

/// A project, if it is known.
///
/// # Errors
/// [`Error`] when the row cannot be read.
pub fn project(rows: &dyn Rows, project: &str) -> Result<Option<ProjectRow>, Error> {
    get(rows, &key(b'p', project, &[]))
}

/// What people call a project, if it is known.
///
/// # Errors
/// [`Error`] when the row cannot be read.
pub fn name_of(rows: &dyn Rows, id: &str) -> Result<Option<String>, Error> {
    Ok(project(rows, id)?.map(|row| row.name))
}

/// All projects, by their ids.
///
/// # Errors
/// [`Error`] when a row cannot be read.
pub fn projects(rows: &dyn Rows) -> Result<Vec<(String, ProjectRow)>, Error> {
    under(rows, b"p")
}

/// A worktree of a project, if it was noted.
///
/// # Errors
/// [`Error`] when the row cannot be read.
pub fn worktree(rows: &dyn Rows, project: &str, path: &str) -> Result<Option<WorktreeRow>, Error> {
    get(rows, &key(b'w', project, &[path.as_bytes()]))
}

/// The worktrees of a project, by their paths.
///
/// # Errors
/// [`Error`] when a row cannot be read.
pub fn worktrees(rows: &dyn Rows, project: &str) -> Result<Vec<(String, WorktreeRow)>, Error> {
    under(rows, &key(b'w', project, &[&[]]))
}

/// The newest version of a context file, cleared or not.
///
/// # Errors
/// [`Error`] when the row cannot be read.
pub fn file(rows: &dyn Rows, project: &str, file_type: &str) -> Result<Option<FileRow>, Error> {
    get(rows, &key(b'c', project, &[file_type.as_bytes()]))
}

/// The newest versions of a project's context files, by their types.
///
/// # Errors
/// [`Error`] when a row cannot be read.
pub fn files(rows: &dyn Rows, project: &str) -> Result<Vec<(String, FileRow)>, Error> {
    under(rows, &key(b'c', project, &[&[]]))
}

/// The types of a project's context files that say something.
///
/// # Errors
/// [`Error`] when a row cannot be read.
pub fn file_types(rows: &dyn Rows, project: &str) -> Result<Vec<String>, Error> {
    let files = files(rows, project)?.into_iter();
    let written = files.filter(|(_, row)| row.is_written());
    Ok(written.map(|(file_type, _)| file_type).collect())
}

/// One version of a context file.
///
/// # Errors
/// [`Error`] when the row cannot be read.
pub fn version(
    rows: &dyn Rows,
    project: &str,
    file_type: &str,
    version: u64,
) -> Result<Option<FileRow>, Error> {
    let parts: [&[u8]; 2] = [file_type.as_bytes(), &version.to_be_bytes()];
    get(rows, &key(b'v', project, &parts))
}

/// Versions of a context file from the newest one below a number down, as long as `visit` goes on.
///
/// # Errors
/// [`Error`] when a row cannot be read, or what `visit` returns.
pub fn versions(
    rows: &dyn Rows,
    project: &str,
    file_type: &str,
    below: u64,
    visit: &mut dyn FnMut(FileRow) -> Result<ControlFlow<()>, Error>,
) -> Result<(), Error> {
    let low = key(b'v', project, &[file_type.as_bytes(), &[]]);
    let high = key(b'v', project, &[file_type.as_bytes(), &below.to_be_bytes()]);
    rows.scan(
        SPACE,
        &low,
        &high,
        Direction::Backward,
        &mut |key, value| visit(decode(key, value)?),
    )
}

/// An agent's draft of a context file, if its last update did not fit.
///
/// # Errors
/// [`Error`] when the row cannot be read.
pub fn draft(
    rows: &dyn Rows,
    project: &str,
    file_type: &str,
    agent: &str,
) -> Result<Option<DraftRow>, Error> {
    let parts = [file_type.as_bytes(), agent.as_bytes()];
    get(rows, &key(b'd', project, &parts))
}

/// All drafts of a context file, by their agents.
///
/// # Errors
/// [`Error`] when a row cannot be read.
pub fn drafts(
    rows: &dyn Rows,
    project: &str,
    file_type: &str,
) -> Result<Vec<(String, DraftRow)>, Error> {
    under(rows, &key(b'd', project, &[file_type.as_bytes(), &[]]))
}

/// Every row below a prefix, with the text that follows the prefix in its key.
fn under<T: DeserializeOwned>(rows: &dyn Rows, prefix: &[u8]) -> Result<Vec<(String, T)>, Error> {
    let mut found = Vec::new();
    let high = after_prefix(prefix);
    rows.scan(
        SPACE,
        prefix,
        &high,
        Direction::Forward,
        &mut |key, value| {
            let rest = key.get(prefix.len()..).unwrap_or_default();
            let name = String::from_utf8(rest.to_vec())
                .map_err(|_| Error::corrupt(SPACE.name(), key, "not a row of this view"))?;
            found.push((name, decode(key, value)?));
            Ok(ControlFlow::Continue(()))
        },
    )?;
    Ok(found)
}
