//! Checkpoints: two contexts compared, which keys of one matter how much, and the view of it that
//! fits a budget.

pub mod budget;
mod difference;
pub mod layers;

pub use difference::{Change, Difference, KeyDifference, What, difference, key_difference};
