//! The state of the projects module: limits, active templates, and the sync status of the files on disk.

use std::path::{Path, PathBuf};

use super::copies::{self, SeenPlaces};
use super::files::SyncStatus;
use super::known_versions::KnownVersions;
use super::location::{self, Configured, ProjectLocation};
use super::template::Layers;
use super::template_cache::TemplateCache;
use super::view;
use crate::error::{Code, Refusal};
use crate::operation::Context;
use crate::sessions::has_session;
use crate::store::{Error, Rows};

/// Maximum length of a path, in bytes.
const PATH_BYTES_MAX: usize = 4096;

/// Limits on context files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum length of a context file, in bytes.
    pub content_bytes_max: u64,
    /// Consecutive failed attempts that get guidance.
    pub attempts_max: u64,
    /// How long a failed attempt counts, in milliseconds.
    pub attempts_kept_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            content_bytes_max: 1 << 20,
            attempts_max: 3,
            attempts_kept_ms: 30 * 60 * 1000,
        }
    }
}

/// The state of the projects module.
pub struct ProjectState {
    /// Limits on context files.
    pub limits: Limits,
    /// Sync status of the context files on disk.
    pub sync_status: SyncStatus,
    /// The versions that agents know.
    pub known_versions: KnownVersions,
    /// Where moved repositories were found.
    seen: SeenPlaces,
    shelf: TemplateCache,
    root: PathBuf,
    configured: Vec<Configured>,
    /// Whether the users' directories can be read.
    reaches_files: bool,
}

/// Settings of projects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Limits on context files.
    pub limits: Limits,
    /// The user's template folder, if it is not `templates` next to the config.
    pub templates: Option<PathBuf>,
    /// Settings of single projects.
    pub configured: Vec<Configured>,
}

impl ProjectState {
    /// Creates the state. `root` is the folder of all context files; `templates` is the default template folder.
    #[must_use]
    pub fn new(settings: Settings, root: PathBuf, templates: PathBuf) -> Self {
        let templates = settings.templates.unwrap_or(templates);
        Self {
            limits: settings.limits,
            configured: settings.configured,
            sync_status: SyncStatus::new(root.clone()),
            known_versions: KnownVersions::default(),
            seen: SeenPlaces::default(),
            shelf: TemplateCache::new(templates),
            root,
            reaches_files: true,
        }
    }

    /// Disables access to directories, for a daemon whose clients are other users.
    #[must_use]
    pub fn blind(mut self) -> Self {
        self.reaches_files = false;
        self
    }

    /// Returns the state of this daemon.
    ///
    /// # Errors
    /// `INTERNAL` if the daemon was started without projects.
    pub fn of(cx: &Context) -> Result<&Self, Refusal> {
        cx.extensions
            .get()
            .ok_or_else(|| Refusal::new(Code::Internal, "the daemon was started without projects"))
    }

    /// Returns the location of a directory; `None` if the directory does not exist, as far as directories can be read.
    /// Reads the file system; do not call it on the event loop.
    #[must_use]
    pub fn place_of(&self, dir: &Path) -> Option<ProjectLocation> {
        if self.reaches_files {
            ProjectLocation::of(dir, &self.configured)
        } else {
            ProjectLocation::unseen(dir)
        }
    }

    /// Returns the checked-out branch of a directory, or the abbreviated commit; `None` without a repository, or if
    /// directories cannot be read. Reads at most four small files; do not call it on the event loop.
    #[must_use]
    pub fn branch_of(&self, dir: &Path) -> Option<String> {
        self.reaches_files
            .then(|| location::branch_of(dir))
            .flatten()
    }

    /// Returns the location of a directory, checked against the known projects. A folder without a repository and
    /// without a marker belongs to the nearest parent that has context files, unless it is a project itself; else to
    /// the nearest folder, itself or a parent, in which sessions began.
    pub fn place_in(&self, rows: &dyn Rows, dir: &Path) -> Result<Option<ProjectLocation>, Error> {
        let Some(place) = self.own_place_in(rows, dir)? else {
            return Ok(None);
        };
        if !place.is_folder || view::project(rows, &place.project)?.is_some() {
            return Ok(Some(place));
        }
        let mut with_sessions = has_session(rows, &place.project)?.then(|| place.clone());
        for parent in place.path.ancestors().skip(1) {
            let Some(parent) =
                ProjectLocation::folder(parent).filter(ProjectLocation::is_identified)
            else {
                break;
            };
            if !view::file_types(rows, &parent.project)?.is_empty() {
                return Ok(Some(parent));
            }
            if with_sessions.is_none() && has_session(rows, &parent.project)? {
                with_sessions = Some(parent);
            }
        }
        Ok(Some(with_sessions.unwrap_or(place)))
    }

    /// Returns the project of a caller in a directory; `None` in folders that identify none.
    pub fn project_at(&self, rows: &dyn Rows, dir: &Path) -> Result<Option<String>, Error> {
        let place = self.place_in(rows, dir)?;
        let place = place.filter(ProjectLocation::is_identified);
        Ok(place.map(|place| place.project))
    }

    /// Returns the location of a directory by itself, checked against the known projects. An id in `.lore.toml` is
    /// ignored if another folder still is the project with that id, unless the settings confirm it. A moved folder
    /// keeps its id: with a marker, or recognised by its git repository.
    pub fn own_place_in(
        &self,
        rows: &dyn Rows,
        dir: &Path,
    ) -> Result<Option<ProjectLocation>, Error> {
        match self.place_of(dir) {
            Some(place) if place.is_claimed() => self.claimed(rows, place),
            Some(place) if !place.git.is_empty() => self.recognised(rows, place).map(Some),
            settled => Ok(settled),
        }
    }

    /// Recognises a repository that was at another path when it was last seen.
    fn recognised(
        &self,
        rows: &dyn Rows,
        mut place: ProjectLocation,
    ) -> Result<ProjectLocation, Error> {
        if place.marker.id.is_some() {
            return Ok(place); // the config names it
        }
        let is_sign = |row: &view::ProjectRow| row.git.iter().any(|sign| place.git.contains(sign));
        if let Some(row) = view::project(rows, &place.project)? {
            let is_here = Path::new(&row.path) == place.path;
            if is_here || row.git.is_empty() || is_sign(&row) {
                return Ok(place);
            }
            // That repository is elsewhere now, and this is another one in its old place.
            place.set_apart();
        }
        let has_sign = |there: &ProjectLocation, row: &view::ProjectRow| {
            there.git.iter().any(|sign| row.git.contains(sign))
        };
        let is_gone = |id: &str, row: &view::ProjectRow| {
            let there = self.place_of(Path::new(&row.path));
            if there.is_some_and(|there| there.project == *id && has_sign(&there, row)) {
                return false;
            }
            if copies::is_same_directory(&place, &row.git) {
                return true;
            }
            // It resembles the repository, which may be elsewhere: the one that was known first keeps the project.
            let seen = self.seen.of(id).filter(|seen| *seen != place.path);
            let seen = seen.and_then(|seen| self.place_of(&seen));
            !seen.is_some_and(|there| has_sign(&there, row))
                && !copies::is_original_near(Path::new(&row.path), &place, &row.git, |path| {
                    self.place_of(path)
                })
        };
        let mut found: Option<(bool, String, view::ProjectRow)> = None;
        for (id, row) in view::projects(rows)? {
            let is_here = Path::new(&row.path) == place.path;
            if !row.git.iter().any(|sign| place.git.contains(sign))
                || !(is_here || is_gone(&id, &row))
            {
                continue;
            }
            let is_newer = found.as_ref().is_none_or(|(was_here, _, best)| {
                (*was_here, best.updated_at) < (is_here, row.updated_at)
            });
            if is_newer {
                found = Some((is_here, id, row));
            }
        }
        if let Some((is_here, id, row)) = found {
            place.project = id;
            place.is_moved = !is_here;
            if place.is_moved {
                self.seen.note(&place.project, &place.path);
            }
            if place.marker.name.is_none() {
                place.name = row.name;
            }
        }
        Ok(place)
    }

    /// Checks an id that only `.lore.toml` sets.
    fn claimed(
        &self,
        rows: &dyn Rows,
        mut place: ProjectLocation,
    ) -> Result<Option<ProjectLocation>, Error> {
        let known = view::project(rows, &place.project)?.map(|row| PathBuf::from(row.path));
        let other = known
            .clone()
            .filter(|owner| *owner != place.path)
            .filter(|owner| {
                let there = self.place_of(owner);
                there.is_some_and(|there| there.path == *owner && there.project == place.project)
            });
        Ok(Some(match (other, known) {
            (Some(owner), _) => place.without_claim(&owner),
            (None, known) => {
                place.is_moved = known.is_some_and(|known| known != place.path);
                place
            }
        }))
    }

    /// Returns the directory that a path selects: itself or, for a file, its parent, as far as files can be read.
    /// Reads the file system; do not call it on the event loop.
    ///
    /// # Errors
    /// `INVALID_INPUT` if the path is invalid.
    pub fn directory(&self, path: &str) -> Result<PathBuf, Refusal> {
        if path.len() > PATH_BYTES_MAX || path.contains('\0') {
            return Err(Refusal::invalid(format!(
                "a path has at most {PATH_BYTES_MAX} bytes and no zero byte"
            )));
        }
        let path = PathBuf::from(path);
        let parent = path.parent().map(Path::to_path_buf);
        Ok(match parent {
            Some(parent) if self.reaches_files && path.is_file() => parent,
            Some(_) | None => path,
        })
    }

    /// Returns the folder of a project's context files.
    #[must_use]
    pub fn folder_of(&self, project: &str) -> PathBuf {
        self.root.join(project)
    }

    /// Returns the active templates of a project, read from the current files. The user's override the built-in ones,
    /// and the project's override both. Reads the file system; do not call it on the event loop.
    #[must_use]
    pub fn templates(&self, place: Option<&ProjectLocation>) -> std::sync::Arc<Layers> {
        let own = place.filter(|_| self.reaches_files);
        let own = own.map(|place| place.root.join(Path::new(place.marker.templates())));
        self.shelf.in_force(own.as_deref())
    }

    /// Lists the warnings for `status`: files that differ from the log, and the user's templates that are not active.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let mut reported = self.sync_status.faults();
        let layers = self.shelf.in_force(None);
        let broken = layers.broken().iter();
        reported.extend(broken.map(|broken| format!("a template is not active: {broken}")));
        reported
    }

    /// Releases the cached templates; the next use reads them again.
    pub fn release(&self) {
        self.shelf.release();
    }

    /// Returns the user's template folder.
    #[must_use]
    pub fn templates_folder(&self) -> &Path {
        self.shelf.user()
    }
}
