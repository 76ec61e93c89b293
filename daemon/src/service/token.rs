//! The token of the HTTP transport: a file that only its user can read, created when it is first needed.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use lore::paths::our_uid;

use crate::store::durable;

/// Shortest token that is accepted from a file, in characters.
const CHARS_MIN: usize = 32;

/// Reason why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file is readable for others, or belongs to another user.
    #[error("{} is not a private file of the daemon; remove it, and a new token is created", .0.display())]
    Open(PathBuf),
    /// The file does not contain a valid token.
    #[error("{} holds no token: one line of at least {CHARS_MIN} visible characters; remove it, and a new one is made", .0.display())]
    Broken(PathBuf),
    /// The system refused the operation.
    #[error("{}: {source}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// System error.
        source: io::Error,
    },
}

/// Reads the token from this file; creates it from these random bytes if it is missing.
///
/// # Errors
/// [`TokenError`].
pub fn read_or_make(path: &Path, random: [u8; 32]) -> Result<String, TokenError> {
    let failed = |source| TokenError::File {
        path: path.to_path_buf(),
        source,
    };
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() || found.uid() != our_uid() || found.mode() & 0o077 != 0 => {
            Err(TokenError::Open(path.to_path_buf()))
        }
        Ok(_) => {
            let text = fs::read_to_string(path).map_err(failed)?;
            let token = text.trim();
            let is_token =
                token.len() >= CHARS_MIN && token.bytes().all(|byte| byte.is_ascii_graphic());
            match is_token {
                true => Ok(token.to_owned()),
                false => Err(TokenError::Broken(path.to_path_buf())),
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
            // Atomic: a partial token would be refused at every start.
            durable::replace(path, &[token.as_bytes(), b"\n"]).map_err(failed)?;
            Ok(token)
        }
        Err(error) => Err(failed(error)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn made_once_and_ours_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("http.token");
        // Left by a killed process.
        fs::write(folder.path().join("http.token.new"), "07").unwrap();
        let token = read_or_make(&path, [7; 32]).unwrap();
        assert_eq!(token, "07".repeat(32));
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(read_or_make(&path, [8; 32]).unwrap(), token, "kept");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(
            read_or_make(&path, [8; 32]),
            Err(TokenError::Open(_))
        ));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        for broken in ["", "short", &"a b".repeat(20)] {
            fs::write(&path, broken).unwrap();
            assert!(
                matches!(read_or_make(&path, [8; 32]), Err(TokenError::Broken(_))),
                "{broken}"
            );
        }
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", &path).unwrap();
        assert!(matches!(
            read_or_make(&path, [8; 32]),
            Err(TokenError::Open(_))
        ));
    }
}
