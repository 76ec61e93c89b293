//! Search over documents, messages, results, context files and checkpoints.
//!
//! The module has no events. A background thread follows the log and feeds the indexes ([`lored_retrieval`]), which
//! can be deleted at any time. A search first applies the events that they lack, so acknowledged writes are found.

mod ascending_keys;
mod changes;
mod checkpoint_text;
mod dates;
mod end;
mod event_effect;
mod execute;
mod feature;
mod filter;
mod find;
pub mod follow;
mod groups;
mod hit_details;
mod index;
mod metadata;
pub mod operations;
mod request;
mod searchable_text;
mod stages;
mod stems;

pub use feature::{Limits, SearchIndexes};
pub use find::{FoundText, HitDetails, PreparedSearch, find};
pub use hit_details::Reader;
pub use index::IndexesAtStart;
pub use searchable_text::talk_pieces;
