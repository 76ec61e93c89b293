//! The bounds of operations: work ends with its caller, and with the daemon.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod ends;
