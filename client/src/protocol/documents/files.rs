//! Messages between `lored files` and `lore docs add`, one JSON object per line: the files that a source would
//! ingest, and the files to send.

use serde::{Deserialize, Serialize};

/// Maximum size of a file to send, in bytes; as Base64 it fits into one frame with room to spare.
pub const SENT_BYTES_MAX: u64 = 45 << 20;

/// A file of the daemon. `lored files` reads all of these before it scans any file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownFile {
    /// Path relative to the source's folder.
    pub name: String,
    /// SHA-256 of its bytes, hexadecimal; if absent, the file is always sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// A line of output of `lored files`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileLine {
    /// First line: the path can be a source.
    Root {
        /// The folder or file, with links resolved.
        path: String,
        /// Warnings for the user who adds the source.
        warnings: Vec<String>,
    },
    /// A file that is new or changed for the daemon.
    File {
        /// Path relative to the source's folder.
        name: String,
        /// Last change, RFC 3339; absent if it is not reliable.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        modified: Option<String>,
        /// The bytes as Base64.
        base64: String,
    },
    /// A file that cannot be sent.
    Failed {
        /// Path relative to the source's folder.
        name: String,
        /// The reason.
        reason: String,
    },
    /// A file of the daemon that no longer exists or is now excluded.
    Gone {
        /// Path relative to the source's folder.
        name: String,
    },
    /// A path that could not be read.
    Trouble {
        /// Path relative to the source's folder.
        path: String,
        /// The reason.
        reason: String,
    },
    /// Last line; without it the output is incomplete.
    End {
        /// Number of files that were found.
        found: u64,
        /// Number of files that are unchanged for the daemon.
        unchanged: u64,
    },
}
