//! Tests: the corpora, bounds, and single cases.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod bounds;
mod corpora;
mod tables;
