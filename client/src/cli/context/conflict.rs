//! Update conflicts: explains how to continue and writes both changes into a file.

use std::fs;
use std::path::Path;

use lore::connection::Error;
use lore::protocol::Code;
use serde_json::Value;

use crate::cli::Failure;
use crate::cli::input::named;
use crate::cli::output::sanitize;
use crate::cli::template::{at, number};

/// Adds instructions to a conflict and writes both changes to `file`, if present. Other failures are unchanged.
pub fn explained(failure: Failure, file_type: &str, file: Option<&Path>) -> Failure {
    let Failure::Call(Error::Refused(mut body)) = failure else {
        return failure;
    };
    let file_type = sanitize(file_type, 80);
    let details = body.details.clone().unwrap_or_default();
    let theirs = at(&details, "theirs.version");
    if body.code != Code::Conflict || theirs.is_null() {
        return Failure::Call(Error::Refused(body));
    }
    body.hint = Some(match (file, at(&details, "merged")) {
        (Some(file), Value::String(text)) => {
            if let Err(error) = fs::write(file, text) {
                return Failure::Io(named(&error, file));
            }
            let shown = sanitize(&file.display().to_string(), 0);
            format!(
                "{shown} has both changes: check it, then `lore context update {file_type} {shown} --expect {theirs}`"
            )
        }
        (None, Value::String(_)) => {
            "Their changes and yours do not overlap: --merged FILE writes both to a file".to_owned()
        }
        (_, _) => {
            let base = number(&details, "base.version");
            format!(
                "Nothing was merged, because both changes overlap: `lore context diff {file_type} {base} {theirs}` \
                 shows theirs; put yours into `lore context get {file_type}`, and update with --expect {theirs}"
            )
        }
    });
    Failure::Call(Error::Refused(body))
}
