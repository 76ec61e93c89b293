//! Wire types for sharing a project with other users of a machine.

use lore_wire::wire;

/// Access of another user to a project's context files.
#[wire]
pub enum ShareAccess {
    /// Read them.
    Read,
    /// Read and write them.
    Write,
    /// No access.
    None,
}

/// Arguments of `share_project`.
#[wire(args(key, agent))]
pub struct ShareProjectArgs {
    /// The caller's own project: an id, an absolute path, or `current`.
    #[serde(alias = "project")]
    pub project_id: String,
    /// The user to share with, by name or uid.
    pub user: String,
    /// The access to grant (default `read`).
    pub access: Option<ShareAccess>,
}

/// Reply of `share_project`.
#[wire(reply)]
pub struct ShareProjectReply {
    /// Its id.
    pub project: String,
    /// The other user's uid.
    pub user: u32,
    /// The access that the user now has.
    pub access: ShareAccess,
    /// The `project_id` that the other user has to use.
    pub project_id: String,
}

/// Arguments of `list_shares`.
#[wire(args(at_least, agent))]
pub struct ListSharesArgs {
    /// The caller's own project: an id, an absolute path, or `current`.
    #[serde(alias = "project")]
    pub project_id: String,
}

/// A user with whom a project is shared.
#[wire]
pub struct Share {
    /// The user's uid.
    pub user: u32,
    /// The access of that user.
    pub access: ShareAccess,
    /// Start of the access, RFC 3339.
    pub since: String,
}

/// Reply of `list_shares`.
#[wire(reply(position))]
pub struct ListSharesReply {
    /// The project.
    pub project: String,
    /// The shares, by uid.
    pub shares: Vec<Share>,
}
