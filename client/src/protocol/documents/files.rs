//! What `lored files` and `lore docs add` tell each other, a JSON object on each line: which files of a
//! folder a source would take in, and what of them is to be sent.

use serde::{Deserialize, Serialize};

/// The longest file that is sent, in bytes: as Base64 it fits one frame with room to spare.
pub const SENT_BYTES_MAX: u64 = 45 << 20;

/// What the daemon has of a file; `lored files` reads these to the end before it looks at any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownFile {
    /// Its path below the source's folder.
    pub name: String,
    /// SHA-256 of its bytes, in hexadecimal digits; absent: it is to be sent in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// What `lored files` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileLine {
    /// The first: what the path means can be a source.
    Root {
        /// The folder or file, with links resolved.
        path: String,
        /// What whoever adds it should know.
        warnings: Vec<String>,
    },
    /// A file that the daemon does not have so.
    File {
        /// Its path below the source's folder.
        name: String,
        /// When it was changed last, RFC 3339; absent when that is not to be relied on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        modified: Option<String>,
        /// The bytes as Base64.
        base64: String,
    },
    /// A file that cannot be sent.
    Failed {
        /// Its path below the source's folder.
        name: String,
        /// The reason.
        reason: String,
    },
    /// A file that the daemon has and that is not there any more, or not to be taken.
    Gone {
        /// Its path below the source's folder.
        name: String,
    },
    /// Something that could not be looked at.
    Trouble {
        /// Where, below the source's folder.
        path: String,
        /// The reason.
        reason: String,
    },
    /// The end, included.
    End {
        /// Files that were found.
        found: u64,
        /// Those that the daemon has as they are.
        unchanged: u64,
    },
}
