//! Sessions that go from one store to another: as JSON lines, which can be read back, and as Markdown
//! for people.

mod bring;
mod check;
mod command;
mod hex;
mod lines;
mod markdown;
mod payloads;
mod read;
mod schema;
mod standing;
mod stream;
mod tell;
#[cfg(test)]
mod tests;
mod write;

pub use bring::Workshop;
pub use command::{ContinueSession, ImportSession, Ready, Renamed};
pub use lines::FORMAT as SESSION_FORMAT;
pub use markdown::markdown;
pub use read::{Imported, read, read_at, shown};
pub use schema::{generator, insert, lines as session_schemas, schema};
pub use standing::{Standing, standing};
pub use tell::Shelf;
pub use write::{Export, Place};
