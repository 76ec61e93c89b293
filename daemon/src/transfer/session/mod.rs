//! Transfer of single sessions between stores: JSON lines, which can be imported, and Markdown
//! for people.

mod check;
mod command;
mod export;
mod hex;
mod import;
mod kinds;
mod lines;
mod markdown;
mod merge_state;
mod read;
mod schema;
mod stream;
#[cfg(test)]
mod tests;
mod write;

pub use command::{ImportSession, PreparedEvents, RenamedCheckpoints, renamed_warnings};
pub use export::ExportSource;
pub use import::ImportContext;
pub use lines::FORMAT as SESSION_FORMAT;
pub use markdown::markdown;
pub use merge_state::{MergeState, standing};
pub use read::{ParsedSession, read, read_at, sanitized};
pub use schema::{generator, insert, lines as session_schemas, schema};
pub use write::{Export, PageCursor, push_line};
