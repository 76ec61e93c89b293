//! Wire types of projects.

use lore_wire::wire;

/// Arguments of `init_project`.
#[wire(args(key, agent))]
#[derive(Default)]
pub struct InitProjectArgs {
    /// A directory of the project: absolute, or relative to the caller's working directory.
    pub path: String,
    /// Its display name; default: from `.lore.toml`, otherwise the directory's name.
    pub name: Option<String>,
}

/// Reply of `init_project`.
#[wire(reply(
    position = "Position of the event, or of the state that already contains it.",
    durable,
    warnings
))]
pub struct InitProjectReply {
    /// Its id, for `project_id`.
    pub project: String,
    /// Its name.
    pub name: String,
    /// Its directory; for a repository the directory of the main worktree.
    pub path: String,
    /// The folder of its context files.
    pub context_path: String,
    /// Whether it is new.
    pub created: bool,
    /// The worktree of the directory.
    pub worktree: String,
    /// The branch that is checked out there.
    pub branch: Option<String>,
}

/// Arguments of `list_projects`.
#[wire(args(at_least, agent))]
#[derive(Default)]
pub struct ListProjectsArgs {
    /// Maximum number, 1 to 500 (default 100).
    pub limit: Option<u64>,
    /// `next` of the previous page.
    pub next: Option<String>,
}

/// A worktree of a project.
#[wire]
pub struct Worktree {
    /// Its directory.
    pub path: String,
    /// The branch that was last seen checked out.
    pub branch: Option<String>,
    /// Time it was seen, RFC 3339.
    pub noted_at: String,
}

/// A project.
#[wire]
pub struct Project {
    /// Its id, for `project_id`.
    pub project: String,
    /// Its name.
    pub name: String,
    /// Its directory.
    pub path: String,
    /// The folder of its context files.
    pub context_path: String,
    /// The file types with content.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contexts: Vec<String>,
    /// The file types with templates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub templates: Vec<String>,
    /// Its worktrees.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub worktrees: Vec<Worktree>,
    /// Time it was created, RFC 3339.
    pub created_at: String,
    /// Time of its last change, RFC 3339.
    pub updated_at: String,
}

/// Reply of `list_projects`.
#[wire(reply)]
pub struct ListProjectsReply {
    /// The projects, the most recently changed first.
    pub projects: Vec<Project>,
    /// The project of the caller's working directory.
    pub current: Option<String>,
    /// `next` for the following page; absent at the end.
    pub next: Option<String>,
}
