//! Sources: folders and files on this machine, whose documents follow what is in them.
//!
//! A [`Reach`] says what of the file system a source means, a [`walk`] goes through it, a [`Scan`]
//! compares what was found with what is known, [`take`] makes a document of a file, and [`Watched`]
//! says where somebody changed something. What an event of the file system says is only a hint where
//! to look: which files are meant is for the walk alone to say.

mod failure;
mod filesystems;
mod fingerprint;
mod offer;
mod places;
mod reach;
mod read;
pub mod run;
mod scan;
mod take;
mod walk;
mod watched;

pub use crate::events::documents::FileFingerprint;
pub use offer::{Count, Offer, offer};
pub use places::Places;
pub use reach::{FILES_MAX, Reach, Unusable};
pub use read::{Content, Unread, read};
pub use scan::{Job, Known, Lost, Moved, Plan, Scan, What};
pub use take::{Given, TITLE_BYTES_MAX, Taken, take};
pub use walk::{Found, Step, Trouble, Walk};
pub use watched::Watched;
