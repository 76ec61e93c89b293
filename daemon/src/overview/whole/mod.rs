//! All that is recorded, taken from one store to another as JSON lines: projects with their context files and
//! documents that were sent, then every session in the lines of its own format. docs/export-format.md says what a line holds.

mod command;
mod export;
mod lines;
mod read;
mod sent;

pub use command::{ImportProjects, Ready, Report};
pub use export::{Export, Place, Scope};
pub use lines::schema;
pub use read::{Part, Session, read};
