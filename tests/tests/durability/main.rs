//! Recorded data survives stops, kills, power cuts and flipped bits. (`crash` and `faults` have longer runs.)
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod adjacent;
mod edits;
mod flips;
mod inside;
mod online;
mod powercut;
mod restart;
