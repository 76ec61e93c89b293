//! Context files on disk: `{root}/{project}/{file_type}.md`, for people to read, grep and edit.
//!
//! Any program may write there at any time, so the contents of the folder are not trusted. Links, pipes and
//! overlong files are refused, and reading never blocks. A write replaces a file only if it has the expected
//! content. A manual edit is never discarded unread.

mod error;
mod inspect;
mod name;
mod put;
#[cfg(test)]
mod tests;

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, Mode, mkdirat, unlinkat};
use rustix::io::Errno;

pub use error::Error;
pub use inspect::{Content, DiskEntry, FileFingerprint, ReadRefusal};
pub use name::{FILE_TYPE_BYTES_MAX, Name, NameError, PROJECT_BYTES_MAX, is_file_type, is_project};
pub use put::{Outcome, ReplacedFile, WrittenFile};

use crate::log::Hash;
use error::doing;
use inspect::{LookOutcome, inspect, open_folder, open_root};
use put::{ASIDE, FileSlot, UNFINISHED};

/// Mode of new folders: private to the daemon's user.
const FOLDER_MODE: u32 = 0o700;

/// The expected state of a file on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedFile {
    /// No file.
    Absent,
    /// A file whose content has this hash.
    Hash(Hash),
}

impl ExpectedFile {
    /// Expects a file with exactly these bytes.
    #[must_use]
    pub fn bytes(bytes: &[u8]) -> Self {
        Self::Hash(Hash::of(bytes))
    }

    fn is(self, there: &DiskEntry) -> bool {
        match self {
            ExpectedFile::Absent => *there == DiskEntry::Absent,
            ExpectedFile::Hash(hash) => there.hash() == Some(hash),
        }
    }
}

/// A temporary file that a crash left next to a context file while replacing it.
#[derive(Debug)]
pub struct OrphanTempFile {
    /// The context file it belongs to.
    pub name: Name,
    /// Its content. If the log does not contain it as a version, it is a manual edit that the crash moved aside.
    pub content: DiskEntry,
    file: String,
}

/// The folder that contains the folders of all projects.
#[derive(Debug)]
pub struct Folder {
    root: PathBuf,
    bytes_max: u64,
    exchange: bool,
}

impl Folder {
    /// Creates the folder if it is missing, and deletes the unfinished files of crashes. Files longer than
    /// `bytes_max` are not read.
    ///
    /// # Errors
    /// The folder cannot be created or listed.
    pub fn open(root: impl Into<PathBuf>, bytes_max: u64) -> Result<Self, Error> {
        let folder = Self {
            root: root.into(),
            bytes_max,
            exchange: true,
        };
        folder.make_root()?;
        folder.each_file(&mut |opened, _, file| {
            if temporary(file, UNFINISHED).is_some() {
                let _ = unlinkat(opened, file, AtFlags::empty());
            }
            ControlFlow::Continue(())
        })?;
        Ok(folder)
    }

    /// Returns the path of a context file, whether it exists or not.
    #[must_use]
    pub fn path(&self, name: &Name) -> PathBuf {
        self.root.join(name.project()).join(name.file())
    }

    /// Reads a context file.
    ///
    /// # Errors
    /// The file system failed. An entry that is not acceptable is a [`DiskEntry::Refused`], not an error.
    pub fn read(&self, name: &Name) -> Result<DiskEntry, Error> {
        let shown = self.path(name);
        Ok(match self.folder_of(name.project())? {
            LookOutcome::Absent => DiskEntry::Absent,
            LookOutcome::Refused(why) => DiskEntry::Refused(why),
            LookOutcome::Here(folder) => {
                inspect(folder.as_fd(), &name.file(), self.bytes_max, &shown)?
            }
        })
    }

    /// Returns the fingerprint of a context file without reading it; `None` if it is not a regular file.
    pub fn stamp(&self, name: &Name) -> Result<Option<FileFingerprint>, Error> {
        Ok(match self.folder_of(name.project())? {
            LookOutcome::Absent | LookOutcome::Refused(_) => None,
            LookOutcome::Here(folder) => inspect::stamp(folder.as_fd(), &name.file()),
        })
    }

    /// Replaces the expected file with `new`, atomically and synced. A file that already has this content is not
    /// written. An existing file keeps its permissions; a new file is private to its owner.
    ///
    /// # Errors
    /// The file system failed. The old file is unchanged, unless the failure occurred during the exchange of the two
    /// files: then the old file is an [`OrphanTempFile`].
    pub fn replace(
        &self,
        name: &Name,
        new: &[u8],
        expected: ExpectedFile,
    ) -> Result<Outcome<WrittenFile>, Error> {
        self.replace_while(name, new, expected, &mut |_| {})
    }

    /// Removes a context file if it has the expected content; a missing file counts as removed.
    pub fn remove(
        &self,
        name: &Name,
        expected: Hash,
    ) -> Result<Outcome<Option<ReplacedFile>>, Error> {
        let folder = match self.folder_of(name.project())? {
            LookOutcome::Absent => return Ok(Outcome::Done(None)),
            LookOutcome::Refused(why) => return Ok(Outcome::Overtaken(DiskEntry::Refused(why))),
            LookOutcome::Here(folder) => folder,
        };
        let spot = self.spot(folder, name);
        let there = spot.inspect()?;
        if there == DiskEntry::Absent {
            Ok(Outcome::Done(None))
        } else if there.hash() == Some(expected) {
            spot.remove(expected)
        } else {
            Ok(Outcome::Overtaken(there))
        }
    }

    /// Lists at most `names_max` context files, in order.
    pub fn names(&self, names_max: usize) -> Result<Vec<Name>, Error> {
        let mut names = Vec::new();
        self.each_file(&mut |_, project, file| {
            if names.len() >= names_max {
                return ControlFlow::Break(());
            }
            names.extend(Name::of_file(project, file));
            ControlFlow::Continue(())
        })?;
        names.sort();
        Ok(names)
    }

    /// Lists the files left by crashes that may contain manual edits. Call it before the first [`Folder::replace`].
    /// Each file stays until it is passed to [`Folder::discard`].
    pub fn leftovers(&self) -> Result<Vec<OrphanTempFile>, Error> {
        let mut found = Vec::new();
        self.each_file(&mut |_, project, file| {
            let name = temporary(file, ASIDE).and_then(|of| Name::of_file(project, of));
            found.extend(name.map(|name| (name, file.to_owned())));
            ControlFlow::Continue(())
        })?;
        let mut leftovers = Vec::new();
        for (name, file) in found {
            if let LookOutcome::Here(folder) = self.folder_of(name.project())? {
                let shown = self.path(&name).with_file_name(&file);
                let content = inspect(folder.as_fd(), &file, self.bytes_max, &shown)?;
                leftovers.push(OrphanTempFile {
                    name,
                    content,
                    file,
                });
            }
        }
        Ok(leftovers)
    }

    /// Removes an orphaned file. Its content must be stored elsewhere first.
    pub fn discard(&self, orphan: &OrphanTempFile) -> Result<(), Error> {
        let LookOutcome::Here(folder) = self.folder_of(orphan.name.project())? else {
            return Ok(());
        };
        match unlinkat(&folder, &orphan.file, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => {
                let shown = self.path(&orphan.name).with_file_name(&orphan.file);
                Err(doing("cannot remove", &shown)(errno))
            }
        }
    }

    /// [`Folder::replace`] with a callback that runs before each exchange of files.
    fn replace_while(
        &self,
        name: &Name,
        new: &[u8],
        expected: ExpectedFile,
        meanwhile: &mut dyn FnMut(usize),
    ) -> Result<Outcome<WrittenFile>, Error> {
        let folder = match self.folder_of(name.project())? {
            LookOutcome::Here(folder) => folder,
            LookOutcome::Refused(why) => return Ok(Outcome::Overtaken(DiskEntry::Refused(why))),
            LookOutcome::Absent if expected == ExpectedFile::Absent => {
                self.make_folder(name.project())?
            }
            LookOutcome::Absent => return Ok(Outcome::Overtaken(DiskEntry::Absent)),
        };
        let spot = self.spot(folder, name);
        let there = spot.inspect()?;
        match &there {
            DiskEntry::Content(content) if content.bytes == new => {
                let (stamp, replaced_file) = (content.stamp, None);
                Ok(Outcome::Done(WrittenFile {
                    stamp,
                    replaced_file,
                }))
            }
            there if expected.is(there) => spot.put(new, there, meanwhile),
            _ => Ok(Outcome::Overtaken(there)),
        }
    }

    fn spot(&self, folder: OwnedFd, name: &Name) -> FileSlot {
        FileSlot {
            folder,
            file: name.file(),
            shown: self.path(name),
            bytes_max: self.bytes_max,
            exchange: self.exchange,
        }
    }

    fn folder_of(&self, project: &str) -> Result<LookOutcome<OwnedFd>, Error> {
        let root = open_root(&self.root)?;
        open_folder(root.as_fd(), project, &self.root.join(project))
    }

    fn make_root(&self) -> Result<(), Error> {
        use std::os::unix::fs::DirBuilderExt;
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(FOLDER_MODE)
            .create(&self.root)
            .map_err(doing("cannot make the folder", &self.root))
    }

    fn make_folder(&self, project: &str) -> Result<OwnedFd, Error> {
        let shown = self.root.join(project);
        let root = open_root(&self.root)?;
        match mkdirat(&root, project, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(doing("cannot make the folder", &shown)(errno)),
        }
        sync_folder(root.as_fd()).map_err(doing("cannot sync", &self.root))?;
        match open_folder(root.as_fd(), project, &shown)? {
            LookOutcome::Here(folder) => Ok(folder),
            LookOutcome::Absent => Err(doing("cannot open", &shown)(Errno::NOENT)),
            LookOutcome::Refused(_) => Err(doing("cannot open", &shown)(Errno::NOTDIR)),
        }
    }

    /// Visits the files in all projects' folders with the open folder, the project and the file name.
    fn each_file(
        &self,
        visit: &mut dyn FnMut(&OwnedFd, &str, &str) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let root = open_root(&self.root)?;
        for project in entries(&root, &self.root)? {
            if !is_project(&project) {
                continue;
            }
            let path = self.root.join(&project);
            let LookOutcome::Here(folder) = open_folder(root.as_fd(), &project, &path)? else {
                continue;
            };
            for file in entries(&folder, &path)? {
                if visit(&folder, &project, &file).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// Makes the names in a folder durable. On macOS, the standard library also flushes the drive's cache, which
/// `fsync` does not.
fn sync_folder(folder: BorrowedFd<'_>) -> io::Result<()> {
    File::from(folder.try_clone_to_owned()?).sync_all()
}

/// Lists the names in an open folder that are UTF-8; the daemon creates no others.
fn entries(folder: &OwnedFd, shown: &Path) -> Result<Vec<String>, Error> {
    let listed = Dir::read_from(folder).and_then(|entries| {
        entries
            .map(|entry| entry.map(|entry| text(entry.file_name())))
            .filter_map(Result::transpose)
            .collect()
    });
    listed.map_err(doing("cannot list", shown))
}

fn text(name: &CStr) -> Option<String> {
    name.to_str().ok().map(str::to_owned)
}

/// Returns the context file that a temporary file of the daemon belongs to.
fn temporary<'a>(file: &'a str, suffix: &str) -> Option<&'a str> {
    let (of, count) = file
        .strip_prefix('.')?
        .strip_suffix(suffix)?
        .rsplit_once('.')?;
    let ours = !count.is_empty() && count.bytes().all(|b| matches!(b, b'0'..=b'9' | b'-'));
    ours.then_some(of)
}
