//! Wire types of projects and their context files: names and fields of `get_context` and
//! `update_context` as in "Local MCP Context Manager Implementation Plan".

mod history;
mod project;
mod read;
mod share;
mod template;
mod write;

pub use history::{
    ContextHistoryArgs, ContextHistoryReply, ContextVersion, DiffContextArgs, DiffContextReply,
};
pub use project::{
    InitProjectArgs, InitProjectReply, ListProjectsArgs, ListProjectsReply, Project, Worktree,
};
pub use read::{
    ContextFile, FileContent, GetContextArgs, GetContextReply, ListContextsArgs, ListContextsReply,
};
pub use share::{
    ListSharesArgs, ListSharesReply, Share, ShareAccess, ShareProjectArgs, ShareProjectReply,
};
pub use template::{
    BrokenTemplate, GetTemplateArgs, GetTemplateReply, ListTemplatesArgs, ListTemplatesReply,
    TemplateLine,
};
pub use write::{
    AppendContextArgs, ClearContextArgs, ClearContextReply, CorrectionGuidance, UpdateContextArgs,
    UpdateContextReply, ValidationError, ValidationResult,
};

use lore_wire::wire;

/// How a version of a context file came about.
#[wire]
pub enum Change {
    /// An agent gave the whole content.
    Updated,
    /// An agent added an entry.
    Appended,
    /// Somebody edited the file by hand.
    Edited,
    /// An edit by hand and an update at the same time were joined.
    Merged,
    /// It was emptied.
    Cleared,
}

/// What came of an update.
#[wire]
pub enum UpdateStatus {
    /// It was written.
    Success,
    /// It does not fit; the reply says how to mend it.
    CorrectionNeeded,
    /// It did not fit again and again; nothing was written, and the draft is kept.
    MaxAttemptsReached,
}

/// What kind of thing does not fit a template, the worst first.
#[wire]
pub enum FlawType {
    /// A section is not there.
    MissingSection,
    /// A section does not have its form.
    FormatError,
    /// A section says too little.
    ContentQuality,
    /// An entry lacks a field, or a field has another value.
    SchemaViolation,
}

/// Whether something stands in the way of an update.
#[wire]
pub enum Severity {
    /// It does.
    Error,
    /// It does not.
    Warning,
}

/// Where a template is from; later ones stand for earlier ones.
#[wire]
pub enum TemplateOrigin {
    /// The daemon has it.
    BuiltIn,
    /// The user's own folder of templates.
    User,
    /// The project's own.
    Project,
}
