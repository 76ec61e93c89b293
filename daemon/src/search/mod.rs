//! Search over everything: documents, messages, results, context files, checkpoints.
//!
//! The room has no events. Two followers of the log feed its indexes ([`lored_retrieval`]), which can
//! be deleted at any time; a search first applies what they lack, so what was acknowledged is found.

mod ask;
mod changes;
mod end;
mod find;
pub mod follow;
mod found;
mod index;
mod metadata;
mod narrow;
pub mod operations;
mod pieces;
mod room;
mod run;
mod stems;
mod tiers;

pub use find::{Described, Find, find};
pub use room::{Limits, Room};
