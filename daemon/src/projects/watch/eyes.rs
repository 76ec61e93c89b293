//! The watched folders: that of all projects, and each project's. None is watched with all that is
//! in it, so that a folder is surely watched before what is in it is listed.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use notify::{ErrorKind, RecommendedWatcher, RecursiveMode, Watcher};
use rustix::io::Errno;

use super::ear::Shared;
use crate::projects::disk::{Name, is_project};

/// The time by which events are noted.
pub(super) type Now = Arc<dyn Fn() -> Instant + Send + Sync>;

/// A watcher and what it watches.
pub(super) struct Eyes {
    root: PathBuf,
    watcher: RecommendedWatcher,
    /// The inode of each project's folder.
    folders: BTreeMap<String, u64>,
}

/// What came of watching a project's folder.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Folder {
    /// It is watched; these are the files in it.
    Watched(Vec<Name>),
    /// The same, and the folder that was watched under this name is another one.
    Replaced(Vec<Name>),
    /// It was watched and is gone.
    Gone,
    /// There is none.
    None,
}

impl Eyes {
    /// Watches what there is. Next to it: what could not be watched; the rest is.
    pub(super) fn open(
        root: &Path,
        shared: &Arc<Shared>,
        now: Now,
    ) -> Result<(Self, Option<String>), String> {
        let heard = {
            let (root, shared) = (root.to_path_buf(), Arc::clone(shared));
            move |event| shared.hear(&root, event, now())
        };
        let mut watcher = notify::recommended_watcher(heard).map_err(|error| trouble(&error))?;
        watcher
            .watch(root, RecursiveMode::NonRecursive)
            .map_err(|error| trouble(&error))?;
        let mut eyes = Self {
            root: root.to_path_buf(),
            watcher,
            folders: BTreeMap::new(),
        };
        let mut trouble = None;
        for project in names(root).map_err(|error| error.to_string())? {
            if is_project(&project) {
                trouble = eyes.watch_folder(&project).err().or(trouble);
            }
        }
        Ok((eyes, trouble))
    }

    /// Watches a project's folder, if there is one. A link is none.
    pub(super) fn watch_folder(&mut self, project: &str) -> Result<Folder, String> {
        let path = self.root.join(project);
        let inode = match std::fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => found.ino(),
            Ok(_) => return Ok(self.gone(project)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(self.gone(project)),
            Err(error) => return Err(format!("{}: {error}", path.display())),
        };
        let watched = self.watcher.watch(&path, RecursiveMode::NonRecursive);
        match watched.as_ref().map_err(|error| &error.kind) {
            Ok(()) => {}
            Err(ErrorKind::PathNotFound) => return Ok(self.gone(project)),
            Err(_) => {
                return watched
                    .map(|()| Folder::None)
                    .map_err(|error| trouble(&error));
            }
        }
        let before = self.folders.insert(project.to_owned(), inode);
        let files = match names(&path) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(self.gone(project)),
            Err(error) => return Err(format!("{}: {error}", path.display())),
        };
        let files = files.iter().filter_map(|file| Name::of_file(project, file));
        Ok(match before {
            Some(before) if before != inode => Folder::Replaced(files.collect()),
            Some(_) | None => Folder::Watched(files.collect()),
        })
    }

    fn gone(&mut self, project: &str) -> Folder {
        match self.folders.remove(project) {
            Some(_) => Folder::Gone,
            None => Folder::None,
        }
    }
}

/// The names in a folder that are text: no others are ours.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    std::fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.file_name().into_string().ok()))
        .filter_map(Result::transpose)
        .collect()
}

/// Why something cannot be watched, and what helps.
fn trouble(error: &notify::Error) -> String {
    let errno = match &error.kind {
        ErrorKind::MaxFilesWatch => Some(Errno::NOSPC),
        ErrorKind::Io(error) => Errno::from_io_error(error),
        ErrorKind::Generic(_)
        | ErrorKind::PathNotFound
        | ErrorKind::WatchNotFound
        | ErrorKind::InvalidConfig(_) => None,
    };
    match errno {
        Some(Errno::NOSPC) => "no more folders can be watched; raise the limit, \
            `sysctl fs.inotify.max_user_watches`"
            .to_owned(),
        Some(Errno::MFILE) => "no more watchers can be made; raise the limit, \
            `sysctl fs.inotify.max_user_instances`, or that of open files, `ulimit -n`"
            .to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_said_with_what_helps() {
        let watches = notify::Error::new(ErrorKind::MaxFilesWatch);
        assert!(trouble(&watches).contains("max_user_watches"));
        let instances = notify::Error::io(Errno::MFILE.into());
        assert!(trouble(&instances).contains("max_user_instances"));
    }
}
