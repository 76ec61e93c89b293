//! Wire types of sharing a project with other users of a machine.

use serde::{Deserialize, Serialize};

use crate::protocol::words::words;
use crate::protocol::{Position, lenient};

words! {
    /// What another user may do with a project's context files.
    ShareAccess {
        /// Read them.
        Read,
        /// Read and write them.
        Write,
        /// Nothing any more.
        None,
    }
}

/// Arguments of `share_project`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShareProjectArgs {
    /// The caller's own project: an id, an absolute path, or `current`.
    pub project_id: String,
    /// With whom: a user's name or number.
    pub user: String,
    /// What that user may do: absent means `read`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "ShareAccess"))]
    pub access: Option<ShareAccess>,
    /// Idempotency key, at most 256 bytes: the same call again gives the first reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub key: Option<String>,
    /// Who acts, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// Reply of `share_project`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShareProjectReply {
    /// Its id.
    pub project: String,
    /// The other user's number.
    pub user: u32,
    /// What that user may do from now on.
    pub access: ShareAccess,
    /// The `project_id` by which the other user calls it.
    pub project_id: String,
    /// Position of the event.
    pub position: Position,
    /// Whether it is on disk.
    pub durable: bool,
    /// What the caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Arguments of `list_shares`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListSharesArgs {
    /// The caller's own project: an id, an absolute path, or `current`.
    pub project_id: String,
    /// Wait until this position can be read.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient::unsigned"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Position"))]
    pub at_least: Option<Position>,
    /// Who asks, when not the connection's agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub agent: Option<String>,
}

/// A user with whom a project is shared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Share {
    /// The user's number.
    pub user: u32,
    /// What that user may do.
    pub access: ShareAccess,
    /// Since when, RFC 3339.
    pub since: String,
}

/// Reply of `list_shares`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListSharesReply {
    /// The project.
    pub project: String,
    /// By the users' numbers.
    pub shares: Vec<Share>,
    /// Position of the state that was read.
    pub position: Position,
}
