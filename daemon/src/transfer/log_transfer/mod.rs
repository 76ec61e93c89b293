//! All that is recorded, taken from one store to another as JSON lines: projects with their context files and
//! documents that were sent, then every session in the lines of its own format. docs/export-format.md says what a line holds.

mod command;
mod export;
mod lines;
mod read;
mod sources;

pub use command::{ImportProjects, PreparedLine, Report};
pub use export::{Export, PageStart, Scope};
pub use lines::schema;
pub use read::{LogPart, Session, read};
