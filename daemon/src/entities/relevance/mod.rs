//! How much an entity matters: three rules that share nothing, one for what is kept when a session
//! is pruned, one for what comes into a context pack, one for what is told about it.

mod marks;
mod pack;
mod pruning;

pub use marks::{HIGH_MIN, RECENT_MICROS, is_high, is_recent};
pub use pack::{RankInputs, pack_score, rank};
pub use pruning::pruning_score;
