//! Projects: a directory, told apart from its namesakes; all worktrees of a repository are one.

mod id;

pub use id::project_of;
