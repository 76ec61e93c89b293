//! Projects: identified directories, with context files that agents keep up to date.
//!
//! A context file is Markdown with a declared structure. Agents read and write it through operations. An update
//! that does not fit its template is returned with guidance to fix it. A conflicting update returns both versions.
//! People read and edit the file. The log contains every version.

mod append;
mod authorship;
mod changes;
mod command;
mod common_folders;
pub mod compare;
mod copies;
pub mod disk;
mod earlier;
mod entry_merge;
mod feature;
pub mod files;
mod fix;
mod guide;
mod known_versions;
mod location;
mod marker;
mod notes;
pub mod operations;
mod outline;
mod parts;
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
pub use authorship::FileLines;
#[cfg(test)]
pub(crate) use command::{
    DraftContext, InitialiseProject, KnownDirectory, ProjectSubject, Report, Shares, WriteContext,
};
pub use feature::{Limits, ProjectState, Settings};
pub use files::{record_without, remove_files};
pub use location::{Configured, ProjectLocation};
pub use marker::{CaptureTable, Coordination, Marker, lines as marker_lines, path as marker_path};
pub use passages::{Passage, content, drawn_on, passages, position_of};
pub use view::{
    FileRow, SPACE, apply, file, file_types, files, folders, forget, name_of, project, shared_with,
    version, worktrees,
};

use std::sync::LazyLock;

use guide::guide;
use template::{Layers, Template};
use validate::validate;

/// Parses a template like a project's own, validates a file with it and with the built-in templates, and builds the
/// guidance. Returns the total number of diagnostics.
///
/// # Errors
/// The template is invalid; the message names the line.
pub fn check_file(template: &str, content: &str) -> Result<usize, String> {
    static LAYERS: LazyLock<Layers> = LazyLock::new(Layers::built_in);
    let own = Template::parse(template, "own.toml").map_err(|broken| broken.to_string());
    let built_in = LAYERS.all().map(|found| &*found.template);
    let mut diagnostics = 0;
    for template in built_in.chain(own.as_ref().ok()) {
        let validation = validate(content, template);
        diagnostics += validation.errors.len();
        let _ = guide(&validation, template, content, guide::Submission::File);
        if let Ok(entry) = append::prepare(content, content, template, "2025-06-30") {
            let _ = append::check(content, &entry, template);
            let _ = append::append(content, &entry, template);
        }
        let _ = passages(&template.name, content);
    }
    own.map(|_| diagnostics)
}
