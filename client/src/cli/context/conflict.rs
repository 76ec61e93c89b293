//! Another was faster: how to go on, and both changes together in a file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lore::connection::Error;
use lore::protocol::projects::UpdateContextArgs;
use lore::protocol::{Code, ErrorBody};
use serde_json::Value;

use crate::cli::Failure;
use crate::cli::output::shown;

/// Where both changes go, when another was faster.
pub struct Merged<'u> {
    file_type: &'u str,
    file: Option<PathBuf>,
}

impl<'u> Merged<'u> {
    /// For an update.
    pub const fn of(update: &'u UpdateContextArgs, file: Option<PathBuf>) -> Self {
        Self {
            file_type: update.file_type.as_str(),
            file,
        }
    }

    /// A conflict with what to do about it from here; any other failure as it is. Writes the file.
    pub fn told(&self, failure: Failure) -> Failure {
        let Failure::Call(Error::Refused(mut body)) = failure else {
            return failure;
        };
        let Some((newest, merged)) = conflict(&body) else {
            return Failure::Call(Error::Refused(body));
        };
        let hint = match (&self.file, merged) {
            (Some(file), Some(text)) => {
                if let Err(failure) = write(file, text) {
                    return failure;
                }
                format!(
                    "{} has both changes: check it, then `{}`",
                    file.display(),
                    self.again(file, newest)
                )
            }
            (None, Some(_)) => {
                "Their changes and yours do not touch: --merged FILE writes both into a file"
                    .to_owned()
            }
            (Some(_) | None, None) => self.by_hand(&body, newest),
        };
        body.hint = Some(hint);
        Failure::Call(Error::Refused(body))
    }

    /// How to bring together what touches.
    fn by_hand(&self, body: &ErrorBody, newest: u64) -> String {
        let file_type = shown(self.file_type, 80);
        let base = number(body, "base");
        format!(
            "Nothing was joined, since both changes touch: `lore context diff {file_type} {base} \
             {newest}` shows theirs; bring yours into `lore context get {file_type}`, and update with \
             --expect {newest}"
        )
    }

    fn again(&self, file: &Path, newest: u64) -> String {
        format!(
            "lore context update {} {} --expect {newest}",
            shown(self.file_type, 80),
            shown(&file.display().to_string(), 0)
        )
    }
}

/// The newest version and both changes together, when a refusal tells of two sides.
fn conflict(body: &ErrorBody) -> Option<(u64, Option<&str>)> {
    let details = body
        .details
        .as_ref()
        .filter(|_| body.code == Code::Conflict)?;
    let newest = details.get("theirs")?.get("version")?.as_u64()?;
    Some((newest, details.get("merged").and_then(Value::as_str)))
}

fn number(body: &ErrorBody, side: &str) -> u64 {
    let side = body.details.as_ref().and_then(|details| details.get(side));
    let version = side.and_then(|side| side.get("version")?.as_u64());
    version.unwrap_or_default()
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    fs::write(file, text).map_err(|error| {
        Failure::Io(io::Error::new(
            error.kind(),
            format!("{}: {error}", file.display()),
        ))
    })
}
