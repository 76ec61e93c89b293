//! Projects with their worktrees, context files in every version, and rejected drafts.
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
//! Values are CBOR; numbers in keys are big-endian. Ids, types and agents contain no zero byte.
//! All functions fail if a row cannot be read or is damaged.

use std::ops::ControlFlow;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::clock::Micros;
use crate::events::projects::{Change, DraftMeta, ProjectEvent, ShareAccess, VersionMeta};
use crate::log::{LoggedEvent, Position, RecordKey, codec};
use crate::store::{Direction, Error, Keyspace, Rows, RowsMut, after_prefix, remove_all};

/// Keyspace of this view, version 1.
pub const SPACE: Keyspace = Keyspace::new("projects.1");

const NOT_A_ROW: &str = "not a row of this view";

/// Stored row of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectRow {
    /// Display name.
    pub name: String,
    /// Directory of the project.
    pub path: String,
    /// Signs of its git repository.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub git: Vec<String>,
    /// Time when the project was first recorded.
    pub created_at: Micros,
    /// Time of the last change to the project.
    pub updated_at: Micros,
}

/// A worktree of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeRow {
    /// Branch that was checked out at the last observation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Time of the last observation.
    pub noted_at: Micros,
}

/// A version of a context file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRow {
    /// Metadata of its event.
    pub written: VersionMeta,
    /// Position of its event.
    pub position: u64,
    /// Record that contains the event.
    pub record: u64,
    /// Time when the version was written.
    pub at: Micros,
    /// Agent that wrote it.
    pub agent: String,
}

impl FileRow {
    /// Reports whether this version has content, and is not a clearing.
    #[must_use]
    pub fn is_written(&self) -> bool {
        self.written.change != Change::Cleared
    }

    /// Returns the location of its event.
    #[must_use]
    pub fn place(&self) -> (RecordKey, Position) {
        (RecordKey(Position(self.record)), Position(self.position))
    }
}

/// Rejected updates of an agent since its last successful update.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftRow {
    /// Number of consecutive rejected updates.
    pub attempts: u32,
    /// Time of the last rejected update.
    pub at: Micros,
    /// Position of its event.
    pub position: u64,
    /// Record that contains the event.
    pub record: u64,
}

impl DraftRow {
    /// Returns the location of its event.
    #[must_use]
    pub fn place(&self) -> (RecordKey, Position) {
        (RecordKey(Position(self.record)), Position(self.position))
    }
}

/// Access of another user of the machine to a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareRow {
    /// Level of access.
    pub access: ShareAccess,
    /// Start of the access.
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

/// Folds an event of this feature.
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
            let before = known.as_ref().map(|known| known.git.clone());
            let row = ProjectRow {
                name: made.name.clone(),
                path: made.path.clone(),
                git: match made.git.is_empty() {
                    true => before.unwrap_or_default(),
                    false => made.git.clone(),
                },
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
    // A successful update resets the count of attempts.
    let draft = key(
        b'd',
        project,
        &[file_type.as_bytes(), event.header.author().as_bytes()],
    );
    rows.remove(SPACE, &draft);
}

/// Lists the users that a project is shared with, by user number.
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
            let user = user.ok_or_else(|| Error::corrupt(SPACE.name(), at, NOT_A_ROW))?;
            found.push((u32::from_be_bytes(user), decode(at, value)?));
            Ok(ControlFlow::Continue(()))
        },
    )?;
    Ok(found)
}

/// Returns a user's access to a project of another user.
pub fn shared_with(
    rows: &dyn Rows,
    project: &str,
    user: u32,
) -> Result<Option<ShareAccess>, Error> {
    let row: Option<ShareRow> = get(rows, &key(b's', project, &[&user.to_be_bytes()]))?;
    Ok(row.map(|row| row.access))
}

/// Removes all rows of a project.
pub fn forget(rows: &mut dyn RowsMut, project: &str) -> Result<(), Error> {
    rows.remove(SPACE, &key(b'p', project, &[]));
    for tag in *b"wcvds" {
        remove_all(rows, SPACE, &key(tag, project, &[&[]]))?;
    }
    Ok(())
}

/// Returns a project, if it is known.
pub fn project(rows: &dyn Rows, project: &str) -> Result<Option<ProjectRow>, Error> {
    get(rows, &key(b'p', project, &[]))
}

/// Returns a project's display name, if the project is known.
pub fn name_of(rows: &dyn Rows, id: &str) -> Result<Option<String>, Error> {
    Ok(project(rows, id)?.map(|row| row.name))
}

/// Lists all projects with their ids.
pub fn projects(rows: &dyn Rows) -> Result<Vec<(String, ProjectRow)>, Error> {
    under(rows, b"p")
}

/// Lists all projects: id and folder.
pub fn folders(rows: &dyn Rows) -> Result<Vec<(String, String)>, Error> {
    let all = projects(rows)?.into_iter();
    Ok(all.map(|(id, row)| (id, row.path)).collect())
}

/// Returns a worktree of a project, if it was recorded.
pub fn worktree(rows: &dyn Rows, project: &str, path: &str) -> Result<Option<WorktreeRow>, Error> {
    get(rows, &key(b'w', project, &[path.as_bytes()]))
}

/// Lists the worktrees of a project with their paths.
pub fn worktrees(rows: &dyn Rows, project: &str) -> Result<Vec<(String, WorktreeRow)>, Error> {
    under(rows, &key(b'w', project, &[&[]]))
}

/// Returns the newest version of a context file, including a cleared one.
pub fn file(rows: &dyn Rows, project: &str, file_type: &str) -> Result<Option<FileRow>, Error> {
    get(rows, &key(b'c', project, &[file_type.as_bytes()]))
}

/// Lists the newest versions of a project's context files with their types.
pub fn files(rows: &dyn Rows, project: &str) -> Result<Vec<(String, FileRow)>, Error> {
    under(rows, &key(b'c', project, &[&[]]))
}

/// Lists the types of a project's context files that have content.
pub fn file_types(rows: &dyn Rows, project: &str) -> Result<Vec<String>, Error> {
    let files = files(rows, project)?.into_iter();
    let written = files.filter(|(_, row)| row.is_written());
    Ok(written.map(|(file_type, _)| file_type).collect())
}

/// Returns one version of a context file.
pub fn version(
    rows: &dyn Rows,
    project: &str,
    file_type: &str,
    version: u64,
) -> Result<Option<FileRow>, Error> {
    let parts: [&[u8]; 2] = [file_type.as_bytes(), &version.to_be_bytes()];
    get(rows, &key(b'v', project, &parts))
}

/// Visits the versions of a context file below a number, the newest first, until `visit` breaks.
///
/// # Errors
/// `visit` returned an error.
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

/// Returns an agent's draft of a context file, if its last update was rejected.
pub fn draft(
    rows: &dyn Rows,
    project: &str,
    file_type: &str,
    agent: &str,
) -> Result<Option<DraftRow>, Error> {
    let parts = [file_type.as_bytes(), agent.as_bytes()];
    get(rows, &key(b'd', project, &parts))
}

/// Lists all drafts of a context file with their agents.
pub fn drafts(
    rows: &dyn Rows,
    project: &str,
    file_type: &str,
) -> Result<Vec<(String, DraftRow)>, Error> {
    under(rows, &key(b'd', project, &[file_type.as_bytes(), &[]]))
}

/// Lists every row below a prefix, with the text that follows the prefix in its key.
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
                .map_err(|_| Error::corrupt(SPACE.name(), key, NOT_A_ROW))?;
            found.push((name, decode(key, value)?));
            Ok(ControlFlow::Continue(()))
        },
    )?;
    Ok(found)
}
