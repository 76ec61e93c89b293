//! Transfer of everything recorded between stores, as JSON lines: projects with their context files and
//! uploaded documents, then every session in its own format. docs/export-format.md describes the lines.

mod command;
mod export;
mod lines;
mod prepare;
mod read;
mod sources;

pub use command::{ImportProjects, PreparedLine, Report};
pub use export::{Export, PageStart, Scope};
pub use lines::schema;
pub use prepare::prepare;
pub use read::{LogPart, Session, read};
