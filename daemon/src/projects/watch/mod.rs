//! Selects the watched files of projects: the context files in each project's folder.

#[cfg(test)]
mod tests;

use std::io;
use std::path::{Component, Path, PathBuf};

use super::disk::{Name, is_project};
use crate::watch::{self, DirWatcher, Folder, PathKind, WatchOutcome, WatchScope};

/// A changed context file, or a request to scan again.
pub type Change = watch::Change<Name>;

/// The watch scope of projects: the folder of all projects and each project's folder, including later ones.
#[derive(Debug)]
pub struct Projects {
    root: PathBuf,
}

impl Projects {
    /// Creates the scope for the folder of all projects, which does not have to exist yet.
    ///
    /// # Errors
    /// The working directory does not exist.
    pub fn new(root: &Path) -> io::Result<Self> {
        Ok(Self {
            root: watch::real(root)?,
        })
    }
}

impl WatchScope for Projects {
    type Key = Name;

    fn what(&self) -> String {
        "context files".to_owned()
    }

    fn root(&self) -> &Path {
        &self.root
    }

    /// Returns `None` for paths that are not context files, such as an editor's temporary files.
    fn place(&self, path: &Path) -> Option<PathKind<Name>> {
        let below = path.strip_prefix(&self.root).ok()?;
        let mut parts = below.components().map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        });
        let Some(project) = parts.next() else {
            return Some(PathKind::Root);
        };
        let project = project.filter(|project| is_project(project))?;
        match (parts.next(), parts.next()) {
            (None, _) => Some(PathKind::Folder(project.to_owned())),
            (Some(file), None) => Name::of_file(project, file?).map(PathKind::File),
            (Some(_), Some(_)) => None,
        }
    }

    fn path(&self, name: &Name) -> PathBuf {
        self.root.join(name.project()).join(name.file())
    }

    fn open(&self, watcher: &mut DirWatcher) -> Result<Option<String>, String> {
        if watcher.watch(&self.root)? == WatchOutcome::None {
            return Err("folder not found".to_owned());
        }
        let mut trouble = None;
        for project in names(&self.root).map_err(|error| error.to_string())? {
            if is_project(&project) {
                trouble = self.folder(watcher, &project).err().or(trouble);
            }
        }
        Ok(trouble)
    }

    fn folder(&self, watcher: &mut DirWatcher, project: &str) -> Result<Folder<Name>, String> {
        let path = self.root.join(project);
        let is_replaced = match watcher.watch(&path)? {
            WatchOutcome::Gone => return Ok(Folder::Gone),
            WatchOutcome::None => return Ok(Folder::None),
            WatchOutcome::New | WatchOutcome::Same => false,
            WatchOutcome::Replaced => true,
        };
        let files = match names(&path) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                watcher.forget(&path);
                return Ok(Folder::Gone);
            }
            Err(error) => return Err(format!("{}: {error}", path.display())),
        };
        let files = files.iter().filter_map(|file| Name::of_file(project, file));
        Ok(if is_replaced {
            Folder::Replaced(files.collect())
        } else {
            Folder::Watched(files.collect())
        })
    }
}

/// Lists the UTF-8 names in a folder. Other names are never context files.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    std::fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.file_name().into_string().ok()))
        .filter_map(Result::transpose)
        .collect()
}
