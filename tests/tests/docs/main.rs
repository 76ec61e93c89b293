//! The documentation and the source agree: generated pages, examples, and the laws of docs/architecture.md.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod generated;
mod laws;
mod pages;
