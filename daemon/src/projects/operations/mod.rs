//! The operations of projects.

mod conflict;
mod contexts;
mod history;
mod init;
mod list;
mod memory;
mod share;
mod templates;
mod update;
mod update_report;
mod wire;
mod writing;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use lore::protocol::projects::Change as WireChange;

use super::command::{KnownDirectory, ProjectSubject};
use super::feature::ProjectState;
use super::location::ProjectLocation;
use super::marker::is_id;
use super::template::Layers;
use super::view::{self, FileRow, ProjectRow};
use crate::error::{Code, Refusal};
use crate::events::projects::{Change, ProjectInitialised, WorktreeSeen, imported};
use crate::hint::{Tool, hint};
use crate::log::{Position, RecordKey};
use crate::operation::{Caller, Context, Operation, blocking};
use crate::rows::until;
use crate::sessions::CURRENT;
use crate::state::State;
use crate::store::Rows;

/// The operations of projects.
pub const OPERATIONS: &[Operation] = &[
    Operation::of::<contexts::GetContext>(),
    Operation::of::<update::UpdateContext>(),
    Operation::of::<update::AppendContext>(),
    Operation::of::<update::ClearContext>(),
    Operation::of::<history::ContextHistory>(),
    Operation::of::<history::DiffContext>(),
    Operation::of::<contexts::ListContexts>(),
    Operation::of::<memory::MemoryTool>(),
    Operation::of::<templates::GetTemplate>(),
    Operation::of::<templates::ListTemplates>(),
    Operation::of::<init::InitProject>(),
    Operation::of::<list::ListProjects>(),
    Operation::of::<share::ShareProject>(),
    Operation::of::<share::ListShares>(),
];

/// Limit on the projects that a refusal lists.
const NAMED_MAX: usize = 10;
/// Versions that are searched for a conflict.
const CONFLICTS_MAX: u32 = 100;
/// Similarity from which a file type is suggested, in thousandths.
const NEAR_MIN: u32 = 750;

/// The project of a call.
#[derive(Clone, Debug)]
pub(super) struct ResolvedProject {
    /// The project's id.
    pub project: String,
    /// The project's location, if its directory still exists.
    pub place: Option<ProjectLocation>,
    /// Whether the caller is in the project or named its directory; then the worktree is recorded.
    pub is_at: bool,
}

impl ResolvedProject {
    /// Resolves `project_id`: an id, an absolute path, or `current`.
    ///
    /// # Errors
    /// `INVALID_INPUT` if it is none of these. `PROJECT_NOT_FOUND` if the project does not exist; lists the known ones.
    pub async fn of(
        cx: &Arc<Context>,
        caller: &Caller,
        state: &Arc<State>,
        project_id: &str,
    ) -> Result<Self, Refusal> {
        let (cx, state, caller) = (Arc::clone(cx), Arc::clone(state), caller.clone());
        let id = project_id.to_owned();
        blocking(move || Self::find(ProjectState::of(&cx)?, &*state, &caller, &id)).await
    }

    fn find(
        room: &ProjectState,
        rows: &dyn Rows,
        caller: &Caller,
        id: &str,
    ) -> Result<Self, Refusal> {
        let here = || match caller.dir.as_deref() {
            Some(dir) => room.place_in(rows, dir),
            None => Ok(None),
        };
        if id == CURRENT {
            let Some(place) = here()? else {
                let sentence = "`current` is the project of the caller's working directory, and this caller has none";
                return Err(not_found(rows, "", sentence)?);
            };
            return Self::identified(rows, place);
        }
        if Path::new(id).is_absolute() {
            let Some(place) = room.place_in(rows, &room.directory(id)?)? else {
                return Err(not_found(rows, id, &format!("directory {id:?} not found"))?);
            };
            return Self::identified(rows, place);
        }
        if !is_id(id) {
            return Err(not_an_id(id));
        }
        if caller.project.as_deref() == Some(id)
            && let Some(place) = here()?
            && place.project == id
        {
            return Ok(Self::at(place));
        }
        let Some(row) = view::project(rows, id)? else {
            return Err(not_found(rows, id, &format!("project `{id}` not found"))?);
        };
        let place = room
            .place_in(rows, Path::new(&row.path))?
            .filter(|place| place.project == id);
        Ok(Self {
            project: id.to_owned(),
            place,
            is_at: false,
        })
    }

    /// Refuses a folder that holds everything, such as `/` or a home folder.
    fn identified(rows: &dyn Rows, place: ProjectLocation) -> Result<Self, Refusal> {
        match place.is_identified() {
            true => Ok(Self::at(place)),
            false => Err(not_found(rows, "", &unidentified(&place))?),
        }
    }

    fn at(place: ProjectLocation) -> Self {
        Self {
            project: place.project.clone(),
            place: Some(place),
            is_at: true,
        }
    }

    /// Returns the subject for commands.
    pub fn subject(&self, cx: &Context) -> ProjectSubject {
        let place = self.place.as_ref().filter(|_| self.is_at);
        let clock = cx.engine.clock();
        ProjectSubject {
            project: self.project.clone(),
            known: place.map(|place| known(place, None)),
            salts: [clock.random(), clock.random()],
        }
    }

    /// Lists the warnings about the project's marker.
    pub fn warnings(&self) -> Vec<String> {
        let fault = self
            .place
            .as_ref()
            .and_then(|place| place.marker_fault.clone());
        fault
            .map(|fault| format!("the project's marker is not in force: {fault}"))
            .into_iter()
            .collect()
    }
}

/// Says that a folder identifies no project.
pub(super) fn unidentified(place: &ProjectLocation) -> String {
    format!(
        "the folder {} does not identify a project: it is not a git repository and has no `{}`. Name one of the \
         projects, or a path in it, or go to its folder",
        place.path.display(),
        super::marker::FILE
    )
}

/// Returns the data to record about a location, with the caller's name for it if there is one.
pub(super) fn known(place: &ProjectLocation, name: Option<String>) -> KnownDirectory {
    KnownDirectory {
        initialised: ProjectInitialised {
            name: name.unwrap_or_else(|| place.name.clone()),
            path: place.path.to_string_lossy().into_owned(),
            git: place.git.clone(),
        },
        is_moved: place.is_moved,
        worktree: WorktreeSeen {
            path: place.root.to_string_lossy().into_owned(),
            branch: place.branch.clone(),
        },
    }
}

fn not_an_id(id: &str) -> Refusal {
    let shown: String = id.chars().take(80).collect();
    Refusal::invalid(format!(
        "`project_id` is {shown:?}; it is an id of 1 to 64 of a-z, 0-9, `_` and `-`, an absolute path, \
         or `current`"
    ))
    .hint(hint![Tool::ListProjects, " lists the ids."])
}

/// The refusal for an unknown project; lists the known ones, the most similar first.
fn not_found(rows: &dyn Rows, id: &str, sentence: &str) -> Result<Refusal, Refusal> {
    let mut all: Vec<(String, ProjectRow)> = view::projects(rows)?;
    all.sort_by_key(|(project, row)| {
        let is_alike = !id.is_empty() && (project.contains(id) || id.contains(&*row.name));
        (!is_alike, std::cmp::Reverse(row.updated_at))
    });
    let count = all.len();
    let names: Vec<String> = all
        .iter()
        .take(NAMED_MAX)
        .map(|(project, row)| format!("`{project}` ({})", row.path))
        .collect();
    let refusal = Refusal::new(Code::ProjectNotFound, sentence);
    let ids: Vec<&str> = all.iter().take(NAMED_MAX).map(|(id, _)| &**id).collect();
    let details = serde_json::json!({"projects": ids, "total": count});
    Ok(match names.as_slice() {
        [] => refusal
            .hint(hint!["No project exists yet."; Tool::InitProject, " makes a directory one."])
            .details(details),
        names => {
            let more = match count - names.len() {
                0 => String::new(),
                more => format!(", and {more} more"),
            };
            refusal
                .hint(hint![
                    format!("There are {}{more}.", names.join(", "));
                    Tool::InitProject, " makes a directory one."
                ])
                .details(details)
        }
    })
}

/// Refuses an unknown file type; lists the known ones and suggests the nearest.
pub(super) fn check_file_type(file_type: &str, known: &BTreeSet<String>) -> Result<(), Refusal> {
    if known.contains(file_type) {
        return Ok(());
    }
    let shown: String = file_type.chars().take(80).collect();
    let near = |one: &&String| (strsim::jaro_winkler(&shown, one) * 1000.0) as u32;
    let nearest = known
        .iter()
        .max_by_key(near)
        .filter(|one| near(one) > NEAR_MIN);
    let all: Vec<String> = known.iter().map(|one| format!("`{one}`")).collect();
    let hint = match nearest {
        Some(nearest) => format!("Did you mean `{nearest}`? There are {}.", all.join(", ")),
        None => format!("There are {}.", all.join(", ")),
    };
    Err(
        Refusal::invalid(format!("`file_type` is {shown:?}, which has no template")).hint(format!(
            "{hint} A new type begins with a template of its own: `{}`.",
            "<config>/templates/<file_type>.toml"
        )),
    )
}

/// Returns the file types of the active templates.
pub(super) fn types_of(layers: &Layers) -> BTreeSet<String> {
    layers
        .all()
        .map(|found| found.template.name.clone())
        .collect()
}

/// Returns the file types for which a project has a template or a file.
pub(super) fn types_known(
    cx: &Context,
    rows: &dyn Rows,
    found: &ResolvedProject,
) -> Result<BTreeSet<String>, Refusal> {
    let layers = ProjectState::of(cx)?.templates(found.place.as_ref());
    let mut types = types_of(&layers);
    let written = view::files(rows, &found.project)?;
    types.extend(written.into_iter().map(|(file_type, _)| file_type));
    Ok(types)
}

/// Reads the content of a version; empty if the file was cleared.
pub(super) fn content_of(
    cx: &Context,
    state: &State,
    place: (RecordKey, Position),
) -> Result<String, Refusal> {
    let (record, position) = place;
    let event = state.log().event(record, position)?;
    match imported(&event)?.0 {
        Some(text) => Ok(text.read(&cx.blobs)?),
        None => Ok(String::new()),
    }
}

/// Returns the newest version that satisfies the predicate.
pub(super) fn version_at(
    rows: &dyn Rows,
    project: &str,
    file_type: &str,
    is_then: impl Fn(&FileRow) -> bool,
) -> Result<Option<FileRow>, Refusal> {
    let mut found = None;
    view::versions(rows, project, file_type, u64::MAX, &mut |row| {
        Ok(if is_then(&row) {
            found = Some(row);
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    })?;
    Ok(found)
}

/// Describes the conflict of a version with a concurrent one.
pub(super) fn conflict_warning(row: &FileRow) -> String {
    let written = &row.written;
    let beside = written.beside.unwrap_or_default();
    let names: Vec<String> = written
        .conflicts
        .iter()
        .take(NAMED_MAX)
        .map(|title| format!("`{title}`"))
        .collect();
    let of = match names.as_slice() {
        [] => String::new(),
        names => format!(" of {}", names.join(", ")),
    };
    format!(
        "version {beside} and {} changed the same lines{of} at the same time; the file has those of the latter, and \
         the changes of {beside} are not in it: read it with `version`, and bring both together",
        match written.change {
            Change::Updated | Change::Appended | Change::Cleared =>
                format!("version {}", written.version),
            Change::Edited => format!("the edit by hand in version {}", written.version),
            Change::Merged => format!("version {}", written.version - 1),
        }
    )
}

/// Returns the newest version with a conflict that no later whole content or edit can have resolved.
pub(super) fn open_conflict(
    rows: &dyn Rows,
    project: &str,
    file_type: &str,
) -> Result<Option<FileRow>, Refusal> {
    let (mut found, mut looked_at) = (None, 0);
    view::versions(rows, project, file_type, u64::MAX, &mut |row| {
        looked_at += 1;
        let is_newest = looked_at == 1;
        let has_some =
            !row.written.conflicts.is_empty() || (is_newest && row.written.beside.is_some());
        let is_over = !matches!(row.written.change, Change::Appended | Change::Merged);
        if has_some {
            found = Some(row);
        }
        Ok(until(has_some || is_over || looked_at == CONFLICTS_MAX))
    })?;
    Ok(found)
}

/// Converts a kind of change to the protocol.
pub(super) fn change(change: Change) -> WireChange {
    match change {
        Change::Updated => WireChange::Updated,
        Change::Appended => WireChange::Appended,
        Change::Edited => WireChange::Edited,
        Change::Merged => WireChange::Merged,
        Change::Cleared => WireChange::Cleared,
    }
}

/// Returns the path of a context file, for display.
pub(super) fn path_of(room: &ProjectState, project: &str, file_type: &str) -> String {
    let file = format!("{file_type}.md");
    room.folder_of(project)
        .join(file)
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::store::{MemoryStore, RowsMut};

    /// A refusal that lists the projects reports a damaged row instead of leaving all projects out.
    #[test]
    fn damaged_rows_are_not_missing_projects() {
        let mut rows = MemoryStore::new();
        let refused = not_found(&rows, "shop", "project `shop` not found").unwrap();
        assert_eq!(refused.code, Code::ProjectNotFound);
        rows.put(view::SPACE, b"pother", b"damaged");
        let refused = not_found(&rows, "shop", "project `shop` not found").unwrap_err();
        assert_eq!(refused.code, Code::Corrupt);
    }

    /// A share whose key has no user number is damage, and not a project without shares.
    #[test]
    fn damaged_shares_are_reported() {
        let mut rows = MemoryStore::new();
        rows.put(view::SPACE, b"sshop\0\x01", b"");
        let refused = Refusal::from(view::shares(&rows, "shop").unwrap_err());
        assert_eq!(refused.code, Code::Corrupt);
    }
}
