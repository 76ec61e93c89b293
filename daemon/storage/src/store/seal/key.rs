//! The key of the seals: from the service manager, or a file beside the seals.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::super::durable::{parent, sync_folder};
use crate::clock::Clock;

/// Name of the credential that holds the key, as systemd's `LoadCredential=` passes it
/// (systemd.exec(5), "Credentials").
pub const CREDENTIAL: &str = "lore-seal-key";

/// Bytes of a key.
const KEY_BYTES: usize = 32;
/// Largest credential that is read, in bytes.
const CREDENTIAL_BYTES_MAX: u64 = 4096;

/// The reason why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The key does not exist.
    #[error("the key of the seals {} is missing", .0.display())]
    Missing(PathBuf),
    /// The file is not a key.
    #[error("the key of the seals {} is not a key: it needs at least {KEY_BYTES} bytes", .0.display())]
    TooShort(PathBuf),
    /// Others can read the key.
    #[error(
        "the key of the seals {} can be read by others (mode {mode:o}); `chmod 600` it, and replace it if someone \
         may have read it", path.display()
    )]
    TooOpen {
        /// Path of the key.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The operating system refused.
    #[error("the key of the seals {}: {source}", path.display())]
    Io {
        /// Path of the key.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// The secret key of all seals of a user.
#[derive(Clone)]
pub struct SealKey([u8; KEY_BYTES]);

impl std::fmt::Debug for SealKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SealKey(..)")
    }
}

impl SealKey {
    /// Returns a key with these bytes.
    #[must_use]
    pub fn new(bytes: [u8; KEY_BYTES]) -> Self {
        Self(bytes)
    }

    /// Reads the key: from the credential in `credentials` if there is one, else from `path`.
    ///
    /// # Errors
    /// [`KeyError`]; nothing is created.
    pub fn read(path: &Path, credentials: Option<&Path>) -> Result<Self, KeyError> {
        if let Some(given) = credentials.map(|folder| folder.join(CREDENTIAL))
            && given.exists()
        {
            return Self::from_credential(&given);
        }
        let io = |source| io_at(path, source);
        let mut file = OpenOptions::new()
            .read(true)
            .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
            .open(path)
            .map_err(|source| match source.kind() {
                io::ErrorKind::NotFound => KeyError::Missing(path.to_path_buf()),
                _ => io_at(path, source),
            })?;
        let mode = file.metadata().map_err(io)?.mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(KeyError::TooOpen {
                path: path.to_path_buf(),
                mode,
            });
        }
        let mut bytes = [0; KEY_BYTES];
        match file.read_exact(&mut bytes) {
            Ok(()) => Ok(Self(bytes)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(KeyError::TooShort(path.to_path_buf()))
            }
            Err(error) => Err(io_at(path, error)),
        }
    }

    /// Reads the key as [`Self::read`]; when there is none, makes one at random and makes it durable. The file has its name
    /// only once it is complete: after a power cut there is a key or none. Of several that are made at once one stays, and
    /// the others read it.
    ///
    /// # Errors
    /// [`KeyError`].
    pub fn read_or_create(
        path: &Path,
        credentials: Option<&Path>,
        clock: &Clock,
    ) -> Result<Self, KeyError> {
        match Self::read(path, credentials) {
            Err(KeyError::Missing(_)) => {}
            other => return other,
        }
        let io = |source| io_at(path, source);
        let bytes: [u8; KEY_BYTES] = clock.random();
        private_folder(parent(path)).map_err(io)?;
        let number = u64::from_be_bytes(clock.random());
        let aside = path.with_file_name(format!(".key-{number:016x}"));
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&aside)
            .map_err(io)?;
        let placed = file
            .write_all(&bytes)
            .and_then(|()| file.sync_all())
            // Unlike a rename, it never replaces a key with which seals were made.
            .and_then(|()| fs::hard_link(&aside, path));
        let removed = fs::remove_file(&aside);
        match placed {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Self::read(path, credentials);
            }
            placed => placed.and(removed).map_err(io)?,
        }
        sync_folder(parent(path)).map_err(io)?;
        Ok(Self(bytes))
    }

    /// A credential may be text of any form: its HMAC is the key.
    fn from_credential(path: &Path) -> Result<Self, KeyError> {
        let io = |source| io_at(path, source);
        let mut bytes = Vec::new();
        File::open(path)
            .map_err(io)?
            .take(CREDENTIAL_BYTES_MAX)
            .read_to_end(&mut bytes)
            .map_err(io)?;
        if bytes.len() < KEY_BYTES {
            return Err(KeyError::TooShort(path.to_path_buf()));
        }
        Ok(Self(code(&bytes, &[b"lore key of seals"])))
    }

    /// Returns the code over a digest of what the system says of a store's files.
    #[must_use]
    pub fn code_of_files(&self, digest: &[u8; 32]) -> [u8; 32] {
        self.code(&[b"lore files\0", digest])
    }

    /// Returns the code of these parts, for one purpose: codes of different purposes never agree.
    pub(super) fn code(&self, parts: &[&[u8]]) -> [u8; 32] {
        code(&self.0, parts)
    }
}

/// Returns the HMAC-SHA-256 of the parts, one after the other.
fn code(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = new_mac(key);
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

/// Creates a folder and its parents, with access for this user only.
pub(super) fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Starts a code with a key of any length.
pub(super) fn new_mac(key: &[u8]) -> Hmac<Sha256> {
    // HMAC is defined for keys of every length, so this crate's error cannot happen.
    #[allow(clippy::expect_used)]
    Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of every length")
}

fn io_at(path: &Path, source: io::Error) -> KeyError {
    KeyError::Io {
        path: path.to_path_buf(),
        source,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A key is made once, only its owner can read it, and a credential comes before it.
    #[test]
    fn a_key_is_made_once_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seals/key");
        assert!(matches!(
            SealKey::read(&path, None),
            Err(KeyError::Missing(_))
        ));
        let made = SealKey::read_or_create(&path, None, &Clock::System).unwrap();
        let read = SealKey::read_or_create(&path, None, &Clock::System).unwrap();
        assert_eq!(made.0, read.0);
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let given = folder.path().join(CREDENTIAL);
        std::fs::write(&given, "a secret of more than thirty-two characters").unwrap();
        let other = SealKey::read(&path, Some(folder.path())).unwrap();
        assert_ne!(other.0, made.0);
        std::fs::write(&given, "short").unwrap();
        let refused = SealKey::read(&path, Some(folder.path()));
        assert!(matches!(refused, Err(KeyError::TooShort(_))));
    }

    /// A key that others may have read, or that was cut, is refused with what to do.
    #[test]
    fn a_bad_key_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        SealKey::read_or_create(&path, None, &Clock::System).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let refused = SealKey::read(&path, None).unwrap_err();
        assert!(refused.to_string().contains("chmod 600"), "{refused}");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&path, [1; 31]).unwrap();
        assert!(matches!(
            SealKey::read(&path, None),
            Err(KeyError::TooShort(_))
        ));
    }

    /// RFC 4231, test case 2.
    #[test]
    fn codes_follow_the_rfc() {
        let made = code(b"Jefe", &[b"what do ya want ", b"for nothing?"]);
        let hex: String = made.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            hex,
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }
}
