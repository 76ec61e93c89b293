//! The bounds of operations: each one is called with the most expensive arguments that its schema allows, over a store
//! built to hurt, in a daemon with 512 MB of memory.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod arguments;
mod ends;
mod honest;
mod limited;
mod store;
mod walk;
