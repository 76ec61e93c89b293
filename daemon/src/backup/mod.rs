//! A backup: all that a store holds, in a folder of plain files, and a store made of it again.
//!
//! [`operations`] read the log as it is kept, page by page, each page from a state of its own, so that
//! writers are never held up. [`make`] asks for pages until it has everything up to one position, and writes
//! a [`manifest::Manifest`] last: without one there is no backup. [`check`] proves what is there, and
//! [`restore`] builds a store of it, whole or not at all. docs/backup.md says what is in the folder.

pub mod check;
mod error;
mod folder;
pub mod make;
pub mod manifest;
pub mod operations;
mod page;
pub mod restore;
pub mod segment;
mod source;

pub use error::Error;
pub use operations::DaemonSource;
pub use page::BackupSnapshot;
pub use source::{OfflineSource, Source};
