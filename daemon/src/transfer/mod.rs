//! A session as a whole, over all rooms: what it is, what it shares, what has changed in it, how it is
//! taken to another store.

mod log_transfer;
pub mod operations;
pub mod resource;
mod session;

use crate::error::Refusal;

pub use log_transfer::schema as whole_schema;
pub use session::schema as export_schema;

/// Reads an exported session as an import does, and tells how many events it has.
///
/// # Errors
/// `INVALID_INPUT` that names the lines that are broken.
pub fn check_import(content: &str) -> Result<usize, Refusal> {
    session::read(content).map(|imported| imported.events.len())
}

/// Reads a part of an exported log as an import does, and tells how many sessions it has.
///
/// # Errors
/// `INVALID_INPUT` that names the lines that are broken.
pub fn check_whole(content: &str) -> Result<usize, Refusal> {
    log_transfer::read(content, 1).map(|part| part.sessions.len())
}
