//! `lore export` and `lore import`: transfer of all recorded data to and from a file, and from other programs.

mod batches;
mod export;
mod import;

pub use export::EXPORT;
pub use import::IMPORT;
