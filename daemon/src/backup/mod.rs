//! Backups: the complete contents of a store in a folder of plain files, and the restore of a store from it.
//!
//! [`operations`] read the stored log page by page, each page from a separate state, so that writers never wait.
//! [`make`] requests pages until it has everything up to one position. It writes a [`manifest::Manifest`] last;
//! without a manifest there is no backup. [`check`] verifies a backup, and [`restore`] builds a store from it,
//! completely or not at all. docs/backup.md describes the folder.

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
