//! Search over everything: documents, messages, results, context files, checkpoints.
//!
//! The room has no events. Two followers of the log feed its indexes ([`lored_retrieval`]), which can
//! be deleted at any time; a search first applies what they lack, so what was acknowledged is found.

mod changes;
mod end;
mod execute;
mod feature;
mod filter;
mod find;
pub mod follow;
mod hit_details;
mod index;
mod metadata;
pub mod operations;
mod request;
mod searchable_text;
mod stages;
mod stems;

pub use feature::{Limits, SearchIndexes};
pub use find::{HitDetails, PreparedSearch, find};
