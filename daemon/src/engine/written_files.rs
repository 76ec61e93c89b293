//! Files of a data folder that are written once: a change of one while the daemon runs is the work of another program.
//!
//! The storage engine and the text index write a file, and from then on only read or remove it. So the system's numbers for
//! it (size, inode, times) stay as they are. The time of a change (`ctime`) is set by the system, so a program cannot put
//! it back. Looking takes one system call per file.

use std::collections::HashMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::DataFolder;
use crate::store::Store;

/// What the system says of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FileState {
    bytes: u64,
    inode: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// A file that was seen.
struct SeenFile {
    state: FileState,
    /// It was the same at two looks: it is complete.
    is_complete: bool,
    /// Number of the last look that has seen it.
    look: u64,
}

/// The files that were changed by another program, by what follows from it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ChangedFiles {
    /// Files of the store: everything is verified.
    pub store: Vec<PathBuf>,
    /// Files of the text index: it is made again.
    pub index: Vec<PathBuf>,
}

/// Watches the files that are written once.
pub struct WrittenFiles {
    folder: DataFolder,
    seen: HashMap<PathBuf, SeenFile>,
    looks: u64,
}

impl WrittenFiles {
    /// Starts to watch a data folder; the first look only notes what is there.
    #[must_use]
    pub fn new(folder: DataFolder) -> Self {
        Self {
            folder,
            seen: HashMap::new(),
            looks: 0,
        }
    }

    /// Returns the files that are not as they were when they were complete. Each change is returned once.
    ///
    /// # Errors
    /// When a folder cannot be listed.
    pub fn look(&mut self) -> io::Result<ChangedFiles> {
        self.looks += 1;
        let mut changed = ChangedFiles::default();
        let keyspaces = Store::engine_dir(&self.folder.store()).join("keyspaces");
        // The lists of tables are read only when the store is opened, and checked then.
        for keyspace in paths(&keyspaces)? {
            for path in paths(&keyspace.join("tables"))? {
                self.see(path, &mut changed.store)?;
            }
        }
        for path in paths(&self.folder.index().join("text"))? {
            // The list of segments and the locks are written again.
            if name(&path).is_some_and(|name| name.len() > 32) {
                self.see(path, &mut changed.index)?;
            }
        }
        let looks = self.looks;
        self.seen.retain(|_, file| file.look == looks);
        Ok(changed)
    }

    fn see(&mut self, path: PathBuf, changed: &mut Vec<PathBuf>) -> io::Result<()> {
        let Some(state) = state(&path)? else {
            return Ok(());
        };
        let look = self.looks;
        let Some(file) = self.seen.get_mut(&path) else {
            let is_complete = look == 1;
            let file = SeenFile {
                state,
                is_complete,
                look,
            };
            self.seen.insert(path, file);
            return Ok(());
        };
        let is_same = file.state == state;
        if file.is_complete && !is_same {
            changed.push(path);
        }
        (file.state, file.look) = (state, look);
        file.is_complete |= is_same;
        Ok(())
    }
}

fn name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

/// Lists a folder; one that does not exist is empty.
fn paths(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match std::fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if is_absent(&error) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn state(path: &Path) -> io::Result<Option<FileState>> {
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => Ok(None),
        Ok(found) => Ok(Some(FileState {
            bytes: found.len(),
            inode: found.ino(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        })),
        // It was removed after it was listed.
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// What another program does to a file.
    type Edit<'e> = &'e dyn Fn(&Path);

    const SEGMENT: &str = "0123456789abcdef0123456789abcdef.term";

    /// A file that grows is not complete; once it was the same twice, each change of it is returned once, whatever it
    /// changes; new and removed files are not changes.
    #[test]
    fn changes_of_complete_files_are_seen() {
        let dir = tempfile::tempdir().unwrap();
        let folder = DataFolder::new(dir.path().join("data"), dir.path().join("state"));
        let mut files = WrittenFiles::new(folder.clone());
        let none = ChangedFiles::default();
        assert_eq!(files.look().unwrap(), none);
        let keyspace = folder.store().join("engine/keyspaces/1");
        std::fs::create_dir_all(keyspace.join("tables")).unwrap();
        std::fs::create_dir_all(folder.index().join("text")).unwrap();
        let table = keyspace.join("tables/1");
        for length in 1..4 {
            std::fs::write(&table, vec![7; length]).unwrap();
            assert_eq!(files.look().unwrap(), none, "it grows");
        }
        let others = [
            keyspace.join("tables/2"),
            folder.index().join("text").join(SEGMENT),
        ];
        for path in &others {
            std::fs::write(path, "one").unwrap();
        }
        let rewritten = [
            keyspace.join("current"),
            folder.index().join("text/meta.json"),
        ];
        for _ in 0..3 {
            for path in &rewritten {
                std::fs::write(path, "one").unwrap();
            }
            assert_eq!(files.look().unwrap(), none);
        }
        let edits: [(&Path, Edit<'_>); 4] = [
            (&table, &|path| std::fs::write(path, [7, 7, 8]).unwrap()),
            (&table, &|path| {
                let modified = path.metadata().unwrap().modified().unwrap();
                std::fs::write(path, [7, 7, 9]).unwrap();
                let file = std::fs::File::options().write(true).open(path).unwrap();
                file.set_modified(modified).unwrap();
            }),
            (&others[0], &|path| {
                let aside = path.with_extension("aside");
                std::fs::write(&aside, "two").unwrap();
                std::fs::rename(aside, path).unwrap();
            }),
            (&others[1], &|path| std::fs::write(path, "two").unwrap()),
        ];
        for (number, (path, edit)) in edits.iter().enumerate() {
            edit(path);
            let changed = files.look().unwrap();
            let all = [changed.store.clone(), changed.index.clone()].concat();
            assert_eq!(all, [path.to_path_buf()], "edit {number}");
            assert_eq!(changed.index.len(), usize::from(number == 3));
            assert_eq!(files.look().unwrap(), none, "edit {number}");
        }
        std::fs::remove_file(&table).unwrap();
        assert_eq!(files.look().unwrap(), none);
    }
}
