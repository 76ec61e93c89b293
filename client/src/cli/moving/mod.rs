//! `lore export` and `lore import`: all that is recorded, to a file and back, and from other programs.

mod batches;
mod export;
mod import;

pub use export::EXPORT;
pub use import::IMPORT;
