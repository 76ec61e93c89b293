//! Checkpoints: an agent's state, saved, shared and compared.

mod difference;

pub use difference::{Change, Difference, KeyDifference, What, difference, key_difference};
