//! Wire types of projects and their context files: names and fields of `get_context` and
//! `update_context` as in "Local MCP Context Manager Implementation Plan".

mod history;
mod memory;
mod project;
mod read;
mod share;
mod template;
mod write;

pub use history::{
    ContextHistoryArgs, ContextHistoryReply, ContextVersion, DiffContextArgs, DiffContextReply,
};
pub use memory::{MemoryCommand, MemoryToolArgs, MemoryToolReply};
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
    AppendContextArgs, ClearContextArgs, ClearContextReply, CorrectionGuidance, EarlierIssues,
    UpdateContextArgs, UpdateContextReply, ValidationError, ValidationResult,
};

use lore_wire::wire;

/// Origin of a version of a context file.
#[wire]
pub enum Change {
    /// An agent wrote the whole content.
    Updated,
    /// An agent appended an entry.
    Appended,
    /// The file was edited by hand.
    Edited,
    /// An edit by hand and a concurrent update were merged.
    Merged,
    /// The file was emptied.
    Cleared,
}

/// Result of an update.
#[wire]
pub enum UpdateStatus {
    /// It was written.
    Success,
    /// The content does not match the template; the reply explains the correction.
    CorrectionNeeded,
    /// The maximum number of failed attempts is reached; nothing was written, and the draft is stored.
    MaxAttemptsReached,
}

/// Kind of template violation, the worst first.
#[wire]
pub enum FlawType {
    /// A section is missing.
    MissingSection,
    /// A section has the wrong format.
    FormatError,
    /// A section has too little content.
    ContentQuality,
    /// An entry lacks a field, or a field has an invalid value.
    SchemaViolation,
}

/// Severity of a violation.
#[wire]
pub enum Severity {
    /// Rejects the update.
    Error,
    /// Does not reject the update.
    Warning,
}

/// Origin of a template; a later one overrides an earlier one.
#[wire]
pub enum TemplateOrigin {
    /// Built into the daemon.
    BuiltIn,
    /// The user's own folder of templates.
    User,
    /// The project's own.
    Project,
}
