//! Sources: folders and files on this machine, whose documents follow what is in them.
//!
//! A [`SourceScope`] says what of the file system a source means, a [`walk`] goes through it, a [`Scan`]
//! compares what was found with what is known, [`take`] makes a document of a file, and [`WatchedFolders`]
//! says where somebody changed something. What an event of the file system says is only a hint where
//! to look: which files are meant is for the walk alone to say.

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
pub use prepare::{PreparedDocument, SourceDefaults, TITLE_BYTES_MAX, take};
pub use read::{Content, ReadFailure, read};
pub use scan::{Job, KnownFile, Plan, ReadOutcome, RemovedDocuments, RenamedDocument, Scan};
pub use scope::{FILES_MAX, SourceError, SourceScope};
pub use walk::{FolderWalk, FoundFile, Step, WalkError};
pub use watched_folders::WatchedFolders;
