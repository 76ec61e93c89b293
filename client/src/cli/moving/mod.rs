//! `lore export` and `lore import`: transfer of all recorded data to and from a file, from other programs, and from hosts.

mod batches;
mod export;
mod import;
mod markdown;
mod trace;
mod transcripts;

pub use export::EXPORT;
pub use import::IMPORT;
