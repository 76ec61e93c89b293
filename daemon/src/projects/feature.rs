//! What this room keeps in memory: its limits, the templates in force, and what is on disk.

use std::path::{Path, PathBuf};

use super::files::SyncStatus;
use super::location::{Configured, ProjectLocation};
use super::template::Layers;
use super::template_cache::TemplateCache;
use super::view;
use crate::error::{Code, Refusal};
use crate::operation::Context;
use crate::store::{Error, Rows};

/// The longest path, in bytes.
const PATH_BYTES_MAX: usize = 4096;

/// What may be kept of context files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest content, in bytes.
    pub content_bytes_max: u64,
    /// Attempts in a row that are told how to mend what does not fit.
    pub attempts_max: u64,
    /// How long attempts count, in milliseconds.
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

/// Limits, templates, files.
pub struct ProjectState {
    /// What may be kept.
    pub limits: Limits,
    /// Context files on disk.
    pub sync_status: SyncStatus,
    shelf: TemplateCache,
    root: PathBuf,
    configured: Vec<Configured>,
    /// Whether directories of users can be looked at.
    reaches_files: bool,
}

/// What can be set for projects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// What may be kept.
    pub limits: Limits,
    /// The user's folder of templates, when it is another than `templates` beside the config.
    pub templates: Option<PathBuf>,
    /// What is said of single projects.
    pub configured: Vec<Configured>,
}

impl ProjectState {
    /// With the folder of all context files, and where the user's templates are if nothing else is set.
    #[must_use]
    pub fn new(settings: Settings, root: PathBuf, templates: PathBuf) -> Self {
        let templates = settings.templates.unwrap_or(templates);
        Self {
            limits: settings.limits,
            configured: settings.configured,
            sync_status: SyncStatus::new(root.clone()),
            shelf: TemplateCache::new(templates),
            root,
            reaches_files: true,
        }
    }

    /// Without looking at directories: where their users are others than the daemon's own.
    #[must_use]
    pub fn blind(mut self) -> Self {
        self.reaches_files = false;
        self
    }

    /// The room of a daemon.
    ///
    /// # Errors
    /// `INTERNAL` when the daemon was put together without it.
    pub fn of(cx: &Context) -> Result<&Self, Refusal> {
        cx.extensions
            .get()
            .ok_or_else(|| Refusal::new(Code::Internal, "the daemon was started without projects"))
    }

    /// The place of a directory; `None` when there is no such directory, as far as directories can be
    /// looked at. Reads the file system: off the event loop.
    #[must_use]
    pub fn place_of(&self, dir: &Path) -> Option<ProjectLocation> {
        if self.reaches_files {
            ProjectLocation::of(dir, &self.configured)
        } else {
            ProjectLocation::unseen(dir)
        }
    }

    /// The same in the light of what is known: the id of another folder, which is still that project, is
    /// not taken from a `.lore.toml`; the settings can confirm it. A folder that has moved keeps its id.
    ///
    /// # Errors
    /// [`Error`] when the rows cannot be read.
    pub fn place_in(&self, rows: &dyn Rows, dir: &Path) -> Result<Option<ProjectLocation>, Error> {
        let place = match self.place_of(dir) {
            Some(place) if place.is_claimed() => place,
            settled => return Ok(settled),
        };
        let known = view::project(rows, &place.project)?.map(|row| PathBuf::from(row.path));
        let other = known.filter(|owner| *owner != place.path).filter(|owner| {
            let there = self.place_of(owner);
            there.is_some_and(|there| there.path == *owner && there.project == place.project)
        });
        Ok(Some(match other {
            Some(owner) => place.without_claim(&owner),
            None => place,
        }))
    }

    /// The directory that a path means: itself, or the one that the file is in, as far as files can be
    /// looked at. Reads the file system: off the event loop.
    ///
    /// # Errors
    /// `INVALID_INPUT` when it can be no path.
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

    /// The folder of a project's context files.
    #[must_use]
    pub fn folder_of(&self, project: &str) -> PathBuf {
        self.root.join(project)
    }

    /// The templates in force for a project, the files as they are now: the built-in ones, over them the
    /// user's, over them the project's own. Reads the file system: off the event loop.
    #[must_use]
    pub fn templates(&self, place: Option<&ProjectLocation>) -> std::sync::Arc<Layers> {
        let own = place.filter(|_| self.reaches_files);
        let own = own.map(|place| place.root.join(Path::new(place.marker.templates())));
        self.shelf.in_force(own.as_deref())
    }

    /// What `status` warns of: files that are not as the log says, templates of the user's own that are
    /// not in force.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let mut reported = self.sync_status.faults();
        let layers = self.shelf.in_force(None);
        let broken = layers.broken().iter();
        reported.extend(broken.map(|broken| format!("a template is not active: {broken}")));
        reported
    }

    /// Lets the templates go; the next use reads them again.
    pub fn release(&self) {
        self.shelf.release();
    }

    /// Where a user's own templates are.
    #[must_use]
    pub fn templates_folder(&self) -> &Path {
        self.shelf.user()
    }
}
