//! Projects: a directory, told apart from its namesakes, with context files that agents keep true.
//!
//! A context file is Markdown of a known form. Agents read and write it by operations: what does not
//! fit its template comes back with how to mend it, what races is refused with both sides. People read
//! and edit it as a file. Every version stays in the log.

mod append;
mod changes;
mod command;
pub mod compare;
pub mod disk;
mod feature;
pub mod files;
mod fix;
mod guide;
mod location;
mod marker;
pub mod operations;
mod outline;
mod passages;
mod prepare;
pub mod resource;
mod template;
mod template_cache;
mod validate;
mod view;
pub mod watch;

pub use crate::events::projects::{
    Change, ContextWritten, DraftMeta, DraftSaved, FileVersion, ProjectEvent, ProjectInitialised,
    ProjectShared, ShareAccess, VersionMeta, WorktreeSeen, imported,
};
#[cfg(test)]
pub(crate) use command::{
    DraftContext, InitialiseProject, KnownDirectory, ProjectSubject, Report, Shares, WriteContext,
};
pub use feature::{Limits, ProjectState, Settings};
pub use files::remove_files;
pub use location::{Configured, ProjectLocation};
pub use marker::{Marker, lines as marker_lines, path as marker_path};
pub use passages::{Passage, content, drawn_on, passages, position_of};
pub use view::{
    FileRow, SPACE, apply, file, file_types, files, forget, name_of, project, shared_with, version,
};

use std::sync::LazyLock;

use guide::guide;
use template::{Layers, Template};
use validate::validate;

/// Reads a template as a project's own is read, and a file by it and by those that are built in, with the guidance that
/// its writer gets: how many flaws there are in all.
///
/// # Errors
/// What is wrong with the template, and on which line.
pub fn check_file(template: &str, content: &str) -> Result<usize, String> {
    static LAYERS: LazyLock<Layers> = LazyLock::new(Layers::built_in);
    let own = Template::parse(template, "own.toml").map_err(|broken| broken.to_string());
    let built_in = LAYERS.all().map(|found| &*found.template);
    let mut diagnostics = 0;
    for template in built_in.chain(own.as_ref().ok()) {
        let validation = validate(content, template);
        diagnostics += validation.errors.len();
        let _ = guide(&validation, template, content);
        let _ = append::append(content, content, template);
        let _ = passages(&template.name, content);
    }
    own.map(|_| diagnostics)
}
