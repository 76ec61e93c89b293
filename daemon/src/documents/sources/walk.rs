//! Walks the files of a source, one at a time, sorted by name.
//!
//! `.gitignore`, `.ignore`, `.loreignore` and git's own lists exclude files, and hidden names are excluded; a
//! `.loreignore` can include something again with `!`. Links are not followed: a target in the source is
//! walked at its own path, and a target outside does not belong to the source.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use ignore::{DirEntry, Error, WalkBuilder};

use super::failure::why;
use super::filesystems::of_the_system;
use super::path_set::PathSet;
use super::scope::{FILES_MAX, SourceScope};
use crate::events::documents::FileFingerprint;
use crate::locks::lock_unpoisoned;

/// One step of a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A visited folder; the empty path is the source's own folder.
    Folder(String),
    /// A selected file.
    File(FoundFile),
    /// A path that cannot be read.
    Trouble(WalkError),
}

/// A selected file, with any content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// Path below the source's folder.
    pub path: String,
    /// Fingerprint of the file.
    pub stamp: FileFingerprint,
}

/// A path that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkError {
    /// Path below the source's folder.
    pub path: String,
    /// Reason of the error.
    pub reason: String,
    /// Whether the content at and below the path is unknown.
    pub is_unread: bool,
}

/// A walk in progress.
pub struct FolderWalk {
    base: PathBuf,
    places: Arc<PathSet>,
    inner: ignore::Walk,
    /// Errors from the filter that are still to be reported.
    aside: Arc<Mutex<Vec<WalkError>>>,
    reported: Vec<WalkError>,
    files: usize,
}

impl FolderWalk {
    pub(super) fn new(reach: &SourceScope, places: &PathSet) -> Self {
        let (places, aside) = (Arc::new(places.clone()), Arc::new(Mutex::default()));
        let filter = Filter {
            device: std::fs::metadata(&reach.base).map_or(0, |base| base.dev()),
            reach: reach.clone(),
            places: Arc::clone(&places),
            aside: Arc::clone(&aside),
        };
        // Ignore files above the source apply only within the same repository.
        let in_repository = reach.base.ancestors().any(|it| it.join(".git").exists());
        let mut builder = WalkBuilder::new(reach.path());
        builder
            .follow_links(false)
            .parents(in_repository)
            .require_git(in_repository)
            .add_custom_ignore_filename(".loreignore");
        builder
            .sort_by_file_name(std::ffi::OsStr::cmp)
            .filter_entry(move |entry| filter.passes(entry));
        Self {
            base: reach.base.clone(),
            places,
            inner: builder.build(),
            aside,
            reported: Vec::new(),
            files: 0,
        }
    }

    fn step(&mut self, entry: &DirEntry) -> Option<Step> {
        let relative = entry.path().strip_prefix(&self.base).ok()?;
        let Some(path) = relative.to_str() else {
            return Some(Step::Trouble(unnamed(relative)));
        };
        // An invalid line of an ignore file; the other lines apply.
        if let Some(error) = entry.error() {
            self.reported.push(self.error(error, false));
        }
        let kind = entry.file_type()?;
        if kind.is_dir() {
            return Some(Step::Folder(path.to_owned()));
        }
        if !kind.is_file() || !self.places.hold(path) {
            return None;
        }
        self.files += 1;
        let path = path.to_owned();
        match entry.metadata() {
            Ok(found) if found.is_file() => Some(Step::File(FoundFile {
                path,
                stamp: FileFingerprint::of(&found),
            })),
            Ok(_) => None,
            Err(error) => match innermost(&error) {
                // The file was removed after the folder was read.
                Some(error) if error.kind() == std::io::ErrorKind::NotFound => None,
                Some(_) | None => Some(Step::Trouble(self.error(&error, true))),
            },
        }
    }

    /// Builds the error of a path, or of the whole source if the path is unknown.
    fn error(&self, error: &Error, is_unread: bool) -> WalkError {
        let path = path_of(error).and_then(|path| path.strip_prefix(&self.base).ok());
        WalkError {
            path: path.and_then(Path::to_str).unwrap_or_default().to_owned(),
            reason: innermost(error).map_or_else(|| error.to_string(), why),
            is_unread,
        }
    }

    /// Reports whether an error affects the selected places.
    fn matters(&self, trouble: &WalkError) -> bool {
        self.places.hold(&trouble.path) || self.places.are_below(&trouble.path)
    }
}

impl Iterator for FolderWalk {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        loop {
            if let Some(trouble) = self.reported.pop() {
                return Some(Step::Trouble(trouble));
            }
            if self.files > FILES_MAX {
                return None;
            }
            let next = self.inner.next();
            let mut aside = lock_unpoisoned(&self.aside);
            self.reported.append(&mut aside);
            drop(aside);
            let step = match next {
                None if self.reported.is_empty() => return None,
                None => continue,
                Some(Ok(entry)) => self.step(&entry),
                Some(Err(error)) if is_gone(&error) => None,
                Some(Err(error)) => {
                    let trouble = self.error(&error, true);
                    let matters = self.matters(&trouble) && !is_hidden(&trouble.path);
                    matters.then_some(Step::Trouble(trouble))
                }
            };
            if self.files > FILES_MAX {
                return Some(Step::Trouble(too_many()));
            }
            if step.is_some() {
                return step;
            }
        }
    }
}

fn too_many() -> WalkError {
    WalkError {
        path: String::new(),
        reason: format!(
            "it has more than {FILES_MAX} files, and the rest is left out: add its folders one by \
             one, or leave some out with `exclude`"
        ),
        is_unread: true,
    }
}

/// Selects entries, in addition to ignore files and hidden names.
struct Filter {
    reach: SourceScope,
    places: Arc<PathSet>,
    /// Device of the source's folder, to detect other file systems.
    device: u64,
    aside: Arc<Mutex<Vec<WalkError>>>,
}

impl Filter {
    fn passes(&self, entry: &DirEntry) -> bool {
        let path = entry.path();
        let Ok(relative) = path.strip_prefix(&self.reach.base) else {
            return false;
        };
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        // A pattern that includes hidden names does not apply to these.
        if entry.file_name() == ".git" || !self.reach.fits(path, is_folder) {
            return false;
        }
        let Some(text) = relative.to_str() else {
            // A file with this kind of name is reported when the walk reaches it.
            if is_folder && self.places.is_all() {
                self.report(unnamed(relative));
            }
            return !is_folder;
        };
        let is_on_the_way = is_folder && self.places.are_below(text);
        if !is_on_the_way && !self.places.hold(text) {
            return false;
        }
        let is_own = self.reach.apart.iter().any(|own| own == path);
        !is_folder || !(is_own || self.is_system(entry, text))
    }

    /// Reports whether a folder is the mount point of a pseudo file system.
    fn is_system(&self, entry: &DirEntry, text: &str) -> bool {
        let elsewhere = entry.metadata().is_ok_and(|it| it.dev() != self.device);
        let system = elsewhere.then(|| of_the_system(entry.path())).flatten();
        if let Some(system) = system {
            self.report(WalkError {
                path: text.to_owned(),
                reason: format!("the system tells of itself there ({system}); it is left out"),
                is_unread: false,
            });
        }
        system.is_some()
    }

    fn report(&self, trouble: WalkError) {
        let mut aside = lock_unpoisoned(&self.aside);
        aside.push(trouble);
    }
}

fn unnamed(relative: &Path) -> WalkError {
    WalkError {
        path: relative.to_string_lossy().into_owned(),
        reason: "its name is not UTF-8; rename it".to_owned(),
        is_unread: false,
    }
}

fn is_hidden(path: &str) -> bool {
    path.split('/').any(|name| name.starts_with('.'))
}

fn is_gone(error: &Error) -> bool {
    let gone = innermost(error).is_some_and(|error| error.kind() == std::io::ErrorKind::NotFound);
    // If a source's own folder is missing, its content is unknown, not empty.
    gone && !is_of_root(error)
}

fn is_of_root(error: &Error) -> bool {
    match error {
        Error::WithDepth { depth, .. } => *depth == 0,
        Error::WithLineNumber { err, .. } | Error::WithPath { err, .. } => is_of_root(err),
        Error::Partial(_)
        | Error::Loop { .. }
        | Error::Io(_)
        | Error::Glob { .. }
        | Error::UnrecognizedFileType(_)
        | Error::InvalidDefinition => false,
    }
}

fn path_of(error: &Error) -> Option<&Path> {
    match error {
        Error::WithPath { path, .. } | Error::Loop { child: path, .. } => Some(path),
        Error::WithLineNumber { err, .. } | Error::WithDepth { err, .. } => path_of(err),
        Error::Partial(all) => all.first().and_then(path_of),
        Error::Io(_)
        | Error::Glob { .. }
        | Error::UnrecognizedFileType(_)
        | Error::InvalidDefinition => None,
    }
}

/// Returns the underlying I/O error.
fn innermost(error: &Error) -> Option<&std::io::Error> {
    match error {
        Error::Io(error) => Some(error),
        Error::WithLineNumber { err, .. }
        | Error::WithPath { err, .. }
        | Error::WithDepth { err, .. } => innermost(err),
        Error::Partial(_)
        | Error::Loop { .. }
        | Error::Glob { .. }
        | Error::UnrecognizedFileType(_)
        | Error::InvalidDefinition => None,
    }
}

#[cfg(test)]
mod tests;
