//! The durable part of the daemon: an append-only, hash-chained log on fjall, and the clock that stamps it.
//!
//! - [`store`]: keyspaces, transactions, snapshots, blobs, recovery, and the in-memory twin
//! - [`log`]: events, their chain, records, the index that belongs to the log, and the policy of each kind
//! - [`clock`]: time and randomness, real or fixed
//!
//! It knows no views, no commands and no transport.

pub mod clock;
pub mod log;
pub mod store;
