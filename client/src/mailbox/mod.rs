//! The mailbox: requests and answers as files in a folder, where a sandbox refuses sockets.
//!
//! A client writes a request into `in`, the daemon writes the answer under the same name into `out`, and the client
//! takes it from there. No socket is used.
//!
//! - A file is complete from the moment it has its name: it is written under another one and renamed.
//! - Both sides may distrust the other. Everything is opened relative to a folder that is already open and that belongs
//!   to this user alone; no link is followed; what is not a plain file of this user with one name is junk, and is not
//!   waited for.
//! - Bytes and files are bounded on both sides.
//! - A request stays until it is answered. If the daemon ends before, the next one finds it again: requests that change
//!   something need a key.
//! - Requests and answers are [sealed](Seal): a sandbox may see the mailboxes of other sessions.

mod exchange;
mod files;
mod folder_key;
mod folders;
mod seal;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests;
mod watch;

use std::ffi::OsStr;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub use exchange::{Exchange, Undelivered};
use files::Folder;
pub use folder_key::{folder_seal, folder_session, make_folder_seal, project_folder};
pub use folders::{
    MAILBOXES_MAX, StoreFolder, is_served_elsewhere, prepare_root, roots, store_folder,
};
pub use seal::{CODE_BYTES, Direction, Seal, name_of};
pub use watch::Arrivals;
#[cfg(target_os = "linux")]
pub use watch::FolderWatch;

/// Bytes of a request at most.
pub const REQUEST_BYTES_MAX: u64 = 1 << 20;
/// Bytes of an answer at most.
pub const ANSWER_BYTES_MAX: u64 = 16 << 20;
/// Requests that wait in a mailbox at most, and answers likewise.
pub const FILES_MAX: usize = 64;
/// Age at which a file that is still being written is given up.
pub const DRAFT_AGE_MAX: Duration = Duration::from_mins(1);
/// Age at which an answer that was not taken is removed.
pub const ANSWER_AGE_MAX: Duration = Duration::from_mins(5);

/// Time between two looks for an answer at first.
const LOOK_EVERY: Duration = Duration::from_micros(50);
/// Time after which a watch waits for the answer. Most come before, and to close a watch takes Linux a tick of its clock:
/// some milliseconds.
const LOOKS_MAX: Duration = Duration::from_millis(10);

/// Folder of requests.
const IN: &str = "in";
/// Folder of answers.
const OUT: &str = "out";
/// File that says that the daemon knows the host session.
const KNOWN: &str = "known";
/// Beginning of the name of a file that is being written.
const DRAFT: &str = ".draft-";

/// A folder through which a client and the daemon exchange files.
#[derive(Debug)]
pub struct Mailbox {
    folder: Folder,
    requests: Folder,
    answers: Folder,
}

/// Name of a request and of its answer. Names sort in the order in which they were given.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MailName(String);

/// Reason why a mailbox did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum MailError {
    /// A folder is not this user's alone.
    #[error("{} is not used: {why}", path.display())]
    Untrusted {
        /// Path of the folder.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A request or an answer is too large.
    #[error("{bytes} bytes are more than the {limit} that a mailbox takes")]
    TooLarge {
        /// Bytes of the file.
        bytes: u64,
        /// Most that is taken.
        limit: u64,
    },
    /// The limit of waiting files is reached.
    #[error("{FILES_MAX} files already wait in the mailbox")]
    Full,
    /// No answer came in time. The request still waits, unless it was taken up.
    #[error("no answer came within {} ms", .0.as_millis())]
    NoAnswer(Duration),
    /// What has the name of a request or an answer is not a plain file of this user with one name.
    #[error("{} is not a plain file of this user", .0.display())]
    Junk(PathBuf),
    /// The system refused.
    #[error("{}: {error}", path.display())]
    Io {
        /// Path of the file or folder.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}

impl MailName {
    /// Returns a new name: the time in microseconds, and a random number.
    #[must_use]
    #[allow(clippy::new_without_default)] // no two are equal
    pub fn new() -> Self {
        Self(format!("{:016x}-{:016x}", crate::spool::now_us(), random()))
    }

    /// Reads a name as it is in a folder.
    fn read(name: &OsStr) -> Option<Self> {
        let text = name.to_str()?;
        let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let (time, random) = text.split_once('-')?;
        let mut parts = [time, random].into_iter();
        parts
            .all(|part| part.len() == 16 && part.as_bytes().iter().all(is_digit))
            .then(|| Self(text.to_owned()))
    }

    /// Returns the name of the file.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Mailbox {
    /// Makes the mailbox `name` below a root, where either may exist already, and opens it.
    ///
    /// # Errors
    /// As [`Self::open`], and when a folder cannot be made.
    pub fn make(root: &Path, name: &str) -> Result<Self, MailError> {
        let path = root.join(checked(root, name)?);
        Folder::make_at(rustix::fs::CWD, root.as_os_str(), root)?;
        let root = Folder::open_at(rustix::fs::CWD, root.as_os_str(), root)?;
        // It gets its name when it is whole: the daemon sees it once.
        let draft = format!("{DRAFT}{:016x}", random());
        let is_new = match Folder::open_at(&root, name.as_ref(), &path) {
            Err(MailError::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
                Folder::make_at(&root, draft.as_ref(), &path)?;
                true
            }
            found => found.map(|_| false)?,
        };
        let now = if is_new { draft.as_str() } else { name };
        let folder = Folder::open_at(&root, now.as_ref(), &path)?;
        for part in [IN, OUT] {
            Folder::make_at(&folder, part.as_ref(), &path.join(part))?;
        }
        if !is_new || root.rename(&draft, name) {
            return Self::in_folder(folder);
        }
        // Another client was first.
        for part in [IN, OUT] {
            folder.remove_folder(part);
        }
        root.remove_folder(&draft);
        Self::in_folder(Folder::open_at(&root, name.as_ref(), &path)?)
    }

    /// Opens the mailbox `name` below a root.
    ///
    /// # Errors
    /// [`MailError::Untrusted`] when one of the folders is a link, is another user's, or is open to others;
    /// [`MailError::Io`] when one does not exist or cannot be opened.
    pub fn open(root: &Path, name: &str) -> Result<Self, MailError> {
        let path = root.join(checked(root, name)?);
        let root = Folder::open_at(rustix::fs::CWD, root.as_os_str(), root)?;
        Self::in_folder(Folder::open_at(&root, name.as_ref(), &path)?)
    }

    fn in_folder(folder: Folder) -> Result<Self, MailError> {
        let part = |name: &str| Folder::open_at(&folder, name.as_ref(), &folder.path().join(name));
        let (requests, answers) = (part(IN)?, part(OUT)?);
        Ok(Self {
            folder,
            requests,
            answers,
        })
    }

    /// Removes the mailbox, unless requests wait in it; returns whether it is gone.
    #[must_use]
    pub fn remove(&self, store: &StoreFolder) -> bool {
        // A folder with files in it cannot be removed.
        if !self.folder.remove_folder(IN) {
            return false;
        }
        for name in self
            .answers
            .list(usize::MAX, Duration::ZERO)
            .unwrap_or_default()
        {
            let _ = self.answers.remove(&name);
        }
        self.folder.remove_folder(OUT);
        self.folder.remove_file(KNOWN);
        let name = self.folder.path().file_name().unwrap_or_default();
        store.remove_folder(&name.to_string_lossy())
    }

    /// Returns whether the mailbox still has a name.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.requests.is_there() && self.answers.is_there()
    }

    /// Returns whether nothing came or went for this long.
    #[must_use]
    pub fn is_idle(&self, age: Duration) -> bool {
        self.requests.is_unchanged(age) && self.answers.is_unchanged(age)
    }

    /// Notes that the daemon knows the host session of this mailbox, and serves it.
    ///
    /// # Errors
    /// The system's error.
    pub fn note_known(&self) -> Result<(), MailError> {
        self.folder.make_file(KNOWN)
    }

    /// Returns whether the daemon has noted that it knows the host session.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.folder.has(KNOWN)
    }

    /// Returns the folder of requests, for a watch.
    #[must_use]
    pub fn requests_folder(&self) -> &Path {
        self.requests.path()
    }

    /// Leaves a request for the daemon, and returns the name under which the answer comes.
    ///
    /// # Errors
    /// [`MailError::TooLarge`], [`MailError::Full`], or the system's error.
    pub fn post(&self, request: &[u8]) -> Result<MailName, MailError> {
        let name = MailName::new();
        self.post_as(&name, request)?;
        Ok(name)
    }

    /// Leaves a request under a new name: a sealed request holds for one name only.
    ///
    /// # Errors
    /// As [`Self::post`].
    pub fn post_as(&self, name: &MailName, request: &[u8]) -> Result<(), MailError> {
        self.requests.put(name, request, REQUEST_BYTES_MAX)
    }

    /// Takes the answer to a request as soon as it is there.
    ///
    /// # Errors
    /// [`MailError::NoAnswer`] after the given time; [`MailError::Junk`] or [`MailError::TooLarge`] when it is not an
    /// answer; or the system's error.
    pub fn take_answer(&self, name: &MailName, within: Duration) -> Result<Vec<u8>, MailError> {
        let begun = Instant::now();
        let mut arrivals = None;
        loop {
            if let Some(answer) = self.answers.read(name, ANSWER_BYTES_MAX)? {
                self.answers.remove(name)?;
                return Ok(answer);
            }
            let waited = begun.elapsed();
            let left = within.saturating_sub(waited);
            if left.is_zero() {
                return Err(MailError::NoAnswer(within));
            }
            if waited < LOOKS_MAX {
                std::thread::sleep(LOOK_EVERY.min(left));
                continue;
            }
            match &arrivals {
                // Watched before the next look: an answer that comes in between is not missed.
                None => arrivals = Some(Arrivals::in_folder(self.answers.path())),
                Some(arrivals) => arrivals.wait(left),
            }
        }
    }

    /// Returns whether a request still waits.
    #[must_use]
    pub fn has_request(&self, name: &MailName) -> bool {
        self.requests.has(name.as_str())
    }

    /// Takes a request back that is not answered; returns whether it still waited.
    ///
    /// # Errors
    /// The system's error.
    pub fn withdraw(&self, name: &MailName) -> Result<bool, MailError> {
        self.requests.remove(name)
    }

    /// Watches for requests. Begin before the first [`Self::waiting`], so that none is missed.
    #[must_use]
    pub fn requests_watch(&self) -> Arrivals {
        Arrivals::in_folder(self.requests.path())
    }

    /// Returns the waiting requests, oldest first, and removes what is none. More than [`FILES_MAX`] come later.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn waiting(&self) -> Result<Vec<MailName>, MailError> {
        self.requests.list(FILES_MAX, DRAFT_AGE_MAX)
    }

    /// Reads a request. It stays until it is answered; `None` if it was withdrawn.
    ///
    /// # Errors
    /// [`MailError::Junk`] or [`MailError::TooLarge`]: answer with an error, which removes it. Otherwise the system's
    /// error.
    pub fn request(&self, name: &MailName) -> Result<Option<Vec<u8>>, MailError> {
        self.requests.read(name, REQUEST_BYTES_MAX)
    }

    /// Leaves the answer to a request, and removes the request.
    ///
    /// # Errors
    /// [`MailError::TooLarge`] and [`MailError::Full`], after which the request still waits; or the system's error.
    pub fn answer(&self, name: &MailName, answer: &[u8]) -> Result<(), MailError> {
        self.answers.put(name, answer, ANSWER_BYTES_MAX)?;
        self.requests.remove(name)?;
        Ok(())
    }

    /// Removes answers that were not taken, and what is no answer.
    ///
    /// # Errors
    /// The folder cannot be read, or a file not be removed.
    pub fn sweep(&self) -> Result<(), MailError> {
        for name in self.answers.list(FILES_MAX, DRAFT_AGE_MAX)? {
            if self.answers.is_older(&name, ANSWER_AGE_MAX) {
                self.answers.remove(&name)?;
            }
        }
        Ok(())
    }
}

/// Refuses names that lead elsewhere.
fn checked<'n>(root: &Path, name: &'n str) -> Result<&'n str, MailError> {
    match is_mailbox_name(name) {
        true => Ok(name),
        false => Err(MailError::Untrusted {
            path: root.join(name),
            why: "this is not the name of a mailbox",
        }),
    }
}

fn is_mailbox_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !name.is_empty() && name.len() <= 128 && name.bytes().all(is_plain)
}

/// Returns a random number: process ids are not unique across sandboxes.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// An open folder, for the functions that take one.
impl std::os::fd::AsFd for Folder {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        let open: &OwnedFd = self.open();
        open.as_fd()
    }
}
