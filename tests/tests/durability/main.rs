//! Recorded data survives stops, kills, power cuts and flipped bits. (`crash` and `faults` have longer runs.)
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod adjacent;
mod flips;
mod inside;
mod powercut;
mod restart;
