//! The key of a project's folder, for the mailbox of commands that belong to no session of a host: a process that can read
//! it can read the folder.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use sha2::{Digest, Sha256};

use super::{Seal, random};
use crate::paths::our_uid;

/// Folder of lore's own files in a project.
const OWN: &str = ".lore";
/// File with the key.
const KEY: &str = "mailbox.key";
/// Random bytes of a key. The file has two digits for each.
const KEY_BYTES: usize = 32;
/// What a folder of a project has in it.
const MARKS: [&str; 2] = [".lore.toml", ".git"];

/// Returns the folder of the project in which a command runs: the nearest with a mark of one, else its own.
#[must_use]
pub fn project_folder(cwd: &Path) -> &Path {
    let is_project = |folder: &&Path| MARKS.iter().any(|mark| folder.join(mark).exists());
    cwd.ancestors().find(is_project).unwrap_or(cwd)
}

/// Returns the host session of commands in a folder that belong to no session of a host: "boxed in this folder".
///
/// ```
/// use lore::mailbox::folder_session;
///
/// let session = folder_session("/work/project".as_ref());
/// assert!(session.starts_with("folder:") && session.len() == 39);
/// ```
#[must_use]
pub fn folder_session(folder: &Path) -> String {
    let digest = Sha256::digest(folder.as_os_str().as_bytes());
    let digits = digest.iter().take(16);
    digits.fold("folder:".to_owned(), |text, byte| {
        text + &format!("{byte:02x}")
    })
}

/// Returns the seal of a folder's mailbox, if the folder has a key that is this user's alone.
///
/// # Errors
/// The system's error; `NotFound` if the folder has no key.
pub fn folder_seal(folder: &Path) -> io::Result<Seal> {
    let refused = |why| io::Error::new(io::ErrorKind::PermissionDenied, why);
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut options = OpenOptions::new();
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let options = options.read(true).custom_flags(flags);
    let file = options.open(key_file(folder))?;
    let found = file.metadata()?;
    if !found.is_file() || found.uid() != our_uid() || found.mode() & 0o077 != 0 {
        return Err(refused("the key is not a file of this user alone"));
    }
    let mut key = String::new();
    file.take(2 * KEY_BYTES as u64 + 1)
        .read_to_string(&mut key)?;
    let is_key = key.len() == 2 * KEY_BYTES && key.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_key {
        return Err(refused("the file is not a key"));
    }
    Ok(Seal::with_secret(&folder_session(folder), &key))
}

/// Like [`folder_seal`], and makes the key if there is none.
///
/// # Errors
/// The system's error.
pub fn make_folder_seal(folder: &Path) -> io::Result<Seal> {
    match folder_seal(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        read => return read,
    }
    let own = folder.join(OWN);
    match DirBuilder::new().mode(0o755).create(&own) {
        // A key belongs to a machine, and into no repository.
        Ok(()) => fs::write(own.join(".gitignore"), "*\n")?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let mut bytes = [0; KEY_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let key: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    // It gets its name when it is whole, unless another process was first.
    let draft = own.join(format!(".key-{:016x}", random()));
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)?;
    file.write_all(key.as_bytes())?;
    let linked = fs::hard_link(&draft, key_file(folder));
    fs::remove_file(&draft)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => folder_seal(folder),
    }
}

fn key_file(folder: &Path) -> PathBuf {
    folder.join(OWN).join(KEY)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::mailbox::{Direction, MailName};

    #[test]
    fn a_key_is_made_once_and_links_and_open_files_are_none() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        assert!(folder_seal(folder).is_err());
        let (made, read) = (make_folder_seal(folder), folder_seal(folder));
        let (made, read) = (made.unwrap(), read.unwrap());
        let name = MailName::new();
        let file = made.close(Direction::Request, &name, b"x");
        let opened = read.open(Direction::Request, &name, &file);
        assert_eq!(opened, Some(&b"x"[..]));
        // Git ignores what is in the folder.
        let ignored = fs::read_to_string(folder.join(".lore/.gitignore")).unwrap();
        assert_eq!(ignored, "*\n");
        assert_eq!(fs::read_dir(folder.join(OWN)).unwrap().count(), 2);

        let key = key_file(folder);
        fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(make_folder_seal(folder).is_err());
        fs::rename(&key, folder.join("elsewhere")).unwrap();
        symlink(folder.join("elsewhere"), &key).unwrap();
        assert!(make_folder_seal(folder).is_err());
        fs::remove_file(&key).unwrap();
        fs::write(&key, "short").unwrap();
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(make_folder_seal(folder).is_err());
    }

    #[test]
    fn the_folder_of_a_project_is_the_nearest_with_a_mark() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("project/src/deep");
        fs::create_dir_all(&inner).unwrap();
        fs::write(root.path().join("project/.lore.toml"), "").unwrap();
        assert_eq!(project_folder(&inner), root.path().join("project"));
        let outside = root.path().join("other");
        assert_eq!(project_folder(&outside), outside);
        assert_ne!(folder_session(&inner), folder_session(&outside));
    }
}
