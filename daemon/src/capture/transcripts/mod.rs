//! Transcripts: what hosts wrote themselves, before and beside their hooks.
//!
//! A file is read on from where it was read up to, in whole lines. Its observations have the keys of hooks, so that what
//! both report is recorded once; what has other ids is found by its content (see [`super::marks`]). How far a file was read
//! is kept beside the log: if it is lost, the file is read again, and nothing is recorded twice.

mod cursor_database;
mod cursors;
mod databases;
mod files;
pub mod follow;
mod import;
mod lines;
mod open_files;
mod opencode_tree;
mod reading;
mod recording;
mod watched_folders;

pub use cursors::TranscriptCursors;
pub(super) use files::{FoundFile, Layout, Problem, SearchedFolder, hosts};
pub use follow::FollowedHosts;
pub(super) use import::{HostFiles, ImportJob, ImportJobs};
pub(super) use open_files::OpenFiles;
pub(super) use recording::{ReadCounts, Recorder};
