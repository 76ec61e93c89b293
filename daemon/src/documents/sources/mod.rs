//! Sources: folders and files on this machine, whose documents are kept in sync with them.
//!
//! A [`SourceScope`] selects files of the file system, a [`walk`] visits them, a [`Scan`] compares them with
//! the known files, [`take`] makes a document of a file, and [`WatchedFolders`] reports changes. An event of
//! the file system is only a hint where to look: only the walk decides which files are selected.

mod candidates;
mod failure;
mod filesystems;
mod fingerprint;
mod path_set;
mod prepare;
mod read;
pub mod run;
mod scan;
mod scope;
mod walk;
mod watched_folders;

pub use crate::events::documents::FileFingerprint;
pub use candidates::{Count, UploadCandidate, candidate};
pub use path_set::PathSet;
pub use prepare::{PreparedDocument, TITLE_BYTES_MAX, take};
pub use read::{Content, ReadFailure, read};
pub use scan::{Job, KnownFile, Plan, ReadOutcome, RemovedDocuments, RenamedDocument, Scan};
pub use scope::{FILES_MAX, SourceError, SourceScope};
pub use walk::{FolderWalk, FoundFile, Step, WalkError};
pub use watched_folders::WatchedFolders;
