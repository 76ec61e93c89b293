//! Paths of socket, data, state and configuration, and checks whether their folders can be trusted.
//!
//! Client and daemon share this module, so they always agree on the paths. `LORE_HOME` puts all of them into one
//! folder; otherwise the XDG folders are used.

mod error;
mod file_system;
mod store_place;

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

pub use error::PlaceError;
pub use file_system::FileSystem;
pub use store_place::StorePlace;

/// Longest socket path in bytes: the size of the system's address field less its final 0.
pub const SOCKET_PATH_BYTES_MAX: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// Socket of a daemon for all users of a machine.
pub const SYSTEM_SOCKET: &str = "/run/lore/lore.sock";

/// The paths that client and daemon share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// Configuration file.
    pub config: PathBuf,
    /// Store folder.
    pub data: PathBuf,
    /// Folder of logs and seals.
    pub state: PathBuf,
    /// Daemon socket.
    pub socket: PathBuf,
}

impl Paths {
    /// Returns the folder of entity kind packs, next to the configuration file.
    #[must_use]
    pub fn packs(&self) -> PathBuf {
        self.config.with_file_name("packs")
    }

    /// Returns the folder of the user's context file templates, next to the configuration file.
    #[must_use]
    pub fn templates(&self) -> PathBuf {
        self.config.with_file_name("templates")
    }

    /// Resolves the paths from the flag and the environment.
    ///
    /// # Errors
    /// When there is no home folder, or the given socket path is too long.
    pub fn find(socket: Option<&Path>) -> Result<Self, PlaceError> {
        Self::from_variables(variable, our_uid(), socket)
    }

    /// Returns the paths of the daemon that serves all users of a machine.
    ///
    /// # Errors
    /// When the given socket path is too long.
    pub fn system_wide(socket: Option<&Path>) -> Result<Self, PlaceError> {
        let mut paths = Self {
            config: PathBuf::from("/etc/lore/config.toml"),
            data: PathBuf::from("/var/lib/lore"),
            state: PathBuf::from("/var/lib/lore-state"),
            socket: PathBuf::from(SYSTEM_SOCKET),
        };
        if let Some(socket) = socket {
            paths.socket = socket_by_hand(socket)?;
        }
        Ok(paths)
    }

    /// The same for given variables: what tests use, and what [`Paths::find`] is made of.
    ///
    /// # Errors
    /// As [`Paths::find`].
    pub fn from_variables(
        variable: impl Fn(&str) -> Option<OsString>,
        uid: u32,
        socket: Option<&Path>,
    ) -> Result<Self, PlaceError> {
        let set = |name| {
            variable(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let short = PathBuf::from(format!("/tmp/lore-{uid}"));
        let mut paths = match set("LORE_HOME") {
            Some(home) => Self::in_one_folder(&absolute(&home)),
            None => Self::in_xdg_folders(&set, &short)?,
        };
        if paths.socket.as_os_str().len() > SOCKET_PATH_BYTES_MAX {
            paths.socket = short.join(short_name(&paths.socket));
        }
        if let Some(socket) = socket.map(Path::to_path_buf).or_else(|| set("LORE_SOCKET")) {
            paths.socket = socket_by_hand(&socket)?;
        }
        Ok(paths)
    }

    /// The socket has a separate folder, so that the mode of the home folder does not matter.
    fn in_one_folder(home: &Path) -> Self {
        Self {
            config: home.join("config.toml"),
            data: home.join("data"),
            state: home.join("state"),
            socket: home.join("run").join("lore.sock"),
        }
    }

    fn in_xdg_folders(
        set: &impl Fn(&'static str) -> Option<PathBuf>,
        short: &Path,
    ) -> Result<Self, PlaceError> {
        // The XDG specification: relative paths are ignored.
        let xdg = |name| set(name).filter(|path| path.is_absolute());
        let under_home = |what, below: &str| {
            let home = set("HOME").ok_or(PlaceError::NoHome(what))?;
            match home.is_absolute() {
                true => Ok(home.join(below)),
                false => Err(PlaceError::RelativeHome(home)),
            }
        };
        let folder = |name, what, on_linux, on_mac| {
            let below = if cfg!(target_os = "macos") {
                on_mac
            } else {
                on_linux
            };
            xdg(name).map_or_else(|| under_home(what, below), Ok)
        };
        let config = folder(
            "XDG_CONFIG_HOME",
            "the configuration",
            ".config",
            "Library/Application Support",
        )?;
        let data = folder(
            "XDG_DATA_HOME",
            "the data",
            ".local/share",
            "Library/Application Support",
        )?;
        let state = folder("XDG_STATE_HOME", "the logs", ".local/state", "Library/Logs")?;
        let runtime = xdg("XDG_RUNTIME_DIR").map(|runtime| runtime.join("lore"));
        let data = data.join("lore");
        let runtime = runtime.unwrap_or_else(|| match cfg!(target_os = "macos") {
            // There it survives a reboot, and launchd can create a socket in it.
            true => data.join("run"),
            false => short.to_owned(),
        });
        Ok(Self {
            config: config.join("lore").join("config.toml"),
            data,
            state: state.join("lore"),
            socket: runtime.join("lore.sock"),
        })
    }

    /// Returns the lock file that the daemon of this data folder holds, with flock, for its lifetime.
    #[must_use]
    pub fn daemon_lock(&self) -> PathBuf {
        self.data.join("lored.lock")
    }

    /// Returns the file that marks a data folder with a store in it.
    #[must_use]
    pub fn store_marker(&self) -> PathBuf {
        self.data.join("store").join("lore-store")
    }

    /// Returns the lock file that a client holds, with flock, while it starts a daemon.
    #[must_use]
    pub fn spawn_lock(&self) -> PathBuf {
        self.data.join("spawn.lock")
    }

    /// Returns the output file of a daemon that a client started.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.state.join("lored.log")
    }

    /// Returns the folder of the seals: outside of the data folder, so that who changes that does not change them.
    #[must_use]
    pub fn seals(&self) -> PathBuf {
        self.state.join("seals")
    }

    /// Returns the socket's folder.
    #[must_use]
    pub fn socket_folder(&self) -> &Path {
        self.socket.parent().unwrap_or(Path::new("/"))
    }
}

/// Reads an environment variable. `XDG_RUNTIME_DIR` falls back to the value that a login sets, so that cron jobs
/// and terminals use the same socket.
#[must_use]
pub fn variable(name: &str) -> Option<OsString> {
    let said = std::env::var_os(name);
    if said.is_some() || name != "XDG_RUNTIME_DIR" || !cfg!(target_os = "linux") {
        return said;
    }
    let folder = format!("/run/user/{}", our_uid());
    let found = fs::symlink_metadata(&folder).ok()?;
    (found.is_dir() && found.uid() == our_uid()).then(|| folder.into())
}

/// Returns the user id of this process.
#[must_use]
pub fn our_uid() -> u32 {
    rustix::process::getuid().as_raw()
}

/// Creates a folder and its parents with access for this user only; an existing folder must pass [`check_folder`].
///
/// # Errors
/// When the folder cannot be created or trusted.
pub fn ensure_folder(path: &Path) -> Result<(), PlaceError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    if let Err(error) = made
        && error.kind() != io::ErrorKind::AlreadyExists
    {
        return Err(PlaceError::Io {
            path: path.to_owned(),
            error,
        });
    }
    check_folder(path)
}

/// Creates a folder that other users may traverse but only this user may change; an existing folder must belong to
/// this user and not be writable by others.
///
/// # Errors
/// When the folder cannot be created or trusted.
pub fn ensure_passage(path: &Path) -> Result<(), PlaceError> {
    let io = |error| PlaceError::Io {
        path: path.to_owned(),
        error,
    };
    match DirBuilder::new().recursive(true).mode(0o700).create(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(io(error)),
    }
    let found = fs::symlink_metadata(path).map_err(io)?;
    match judge(path, &found, our_uid()) {
        Err(PlaceError::TooOpen { mode, .. }) if mode & 0o022 == 0 => Ok(()),
        Err(error) => Err(error),
        // The folder was closed to others, so they could not reach its contents.
        Ok(()) => fs::set_permissions(path, fs::Permissions::from_mode(0o711)).map_err(io),
    }
}

/// Opens or creates a file for writing. Anything but a regular file, for example a pipe without a reader, is
/// refused without blocking.
///
/// # Errors
/// [`PlaceError::NotAFile`]; otherwise the system's error.
pub fn open_file(path: &Path, options: &mut OpenOptions) -> Result<File, PlaceError> {
    let io = |error| PlaceError::Io {
        path: path.to_owned(),
        error,
    };
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => return Err(PlaceError::NotAFile(path.to_owned())),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io(error)),
        Ok(_) | Err(_) => {}
    }
    options.create(true).mode(0o600).open(path).map_err(io)
}

/// Checks that the path is a folder, belongs to this user and is closed to others.
///
/// # Errors
/// The failed check; [`PlaceError::Io`] with `NotFound` when the folder does not exist.
pub fn check_folder(path: &Path) -> Result<(), PlaceError> {
    let found = fs::symlink_metadata(path).map_err(|error| PlaceError::Io {
        path: path.to_owned(),
        error,
    })?;
    judge(path, &found, our_uid())
}

fn judge(path: &Path, found: &Metadata, wanted: u32) -> Result<(), PlaceError> {
    let path = path.to_owned();
    if found.is_symlink() {
        return Err(PlaceError::Symlink(path));
    }
    if !found.is_dir() {
        return Err(PlaceError::NotAFolder(path));
    }
    if found.uid() != wanted {
        return Err(PlaceError::NotOurs {
            path,
            owner: found.uid(),
            wanted,
        });
    }
    let mode = found.mode() & 0o7777;
    if mode & 0o077 != 0 {
        return Err(PlaceError::TooOpen { path, mode });
    }
    Ok(())
}

/// Resolves the path against the working directory without further disk access.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Checks a socket path that was given explicitly.
fn socket_by_hand(path: &Path) -> Result<PathBuf, PlaceError> {
    let path = absolute(path);
    let length = path.as_os_str().len();
    if length > SOCKET_PATH_BYTES_MAX {
        return Err(PlaceError::SocketTooLong { path, length });
    }
    Ok(path)
}

/// Returns a short name derived from a long path.
fn short_name(path: &Path) -> String {
    let digest = Sha256::digest(path.as_os_str().as_bytes());
    let hex: String = digest
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{hex}.sock")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn paths(variables: &[(&str, &str)], socket: Option<&str>) -> Result<Paths, PlaceError> {
        let find = |name: &str| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).into())
        };
        Paths::from_variables(find, 7, socket.map(Path::new))
    }

    #[test]
    fn home_holds_everything() {
        let paths = paths(&[("LORE_HOME", "/h"), ("HOME", "/x")], None).unwrap();
        assert_eq!(paths.socket, Path::new("/h/run/lore.sock"));
        assert_eq!(paths.daemon_lock(), Path::new("/h/data/lored.lock"));
        assert_eq!(paths.log(), Path::new("/h/state/lored.log"));
        assert_eq!(paths.config, Path::new("/h/config.toml"));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn xdg_folders_are_used_when_they_are_absolute() {
        let found = paths(
            &[
                ("HOME", "/x"),
                ("XDG_DATA_HOME", "/d"),
                ("XDG_STATE_HOME", "relative"),
            ],
            None,
        )
        .unwrap();
        assert_eq!(found.data, Path::new("/d/lore"));
        assert_eq!(found.state, Path::new("/x/.local/state/lore"));
        assert_eq!(found.socket, Path::new("/tmp/lore-7/lore.sock"));
        let found = paths(&[("HOME", "/x"), ("XDG_RUNTIME_DIR", "/run/user/7")], None).unwrap();
        assert_eq!(found.socket, Path::new("/run/user/7/lore/lore.sock"));
        assert!(matches!(paths(&[], None), Err(PlaceError::NoHome(_))));
        let relative = paths(&[("HOME", "here")], None).unwrap_err().to_string();
        assert!(
            relative.contains("slash") && relative.contains("LORE_HOME"),
            "{relative}"
        );
    }

    #[test]
    fn a_long_default_socket_gets_a_short_name_of_its_own() {
        let long = |name: &str| format!("/{}/{name}", "x".repeat(120));
        let one = paths(&[("LORE_HOME", &long("one"))], None).unwrap().socket;
        let two = paths(&[("LORE_HOME", &long("two"))], None).unwrap().socket;
        assert!(
            one.starts_with("/tmp/lore-7") && one.as_os_str().len() < 60,
            "{one:?}"
        );
        assert_ne!(one, two);
    }

    #[test]
    fn a_long_socket_given_by_hand_is_refused_with_its_length() {
        let path = format!("/{}", "x".repeat(SOCKET_PATH_BYTES_MAX));
        let variables = [("LORE_HOME", "/h"), ("LORE_SOCKET", path.as_str())];
        let refused = paths(&variables, None).unwrap_err().to_string();
        let (length, limit) = (SOCKET_PATH_BYTES_MAX + 1, SOCKET_PATH_BYTES_MAX);
        assert!(refused.contains(&format!("{length} bytes")), "{refused}");
        assert!(refused.contains(&format!("at most {limit}")), "{refused}");
        assert_eq!(
            paths(&variables, Some("/s")).unwrap().socket,
            Path::new("/s")
        );
    }

    #[test]
    fn what_is_no_file_is_not_opened() {
        let home = tempfile::tempdir().unwrap();
        let pipe = home.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        for path in [pipe.as_path(), home.path()] {
            let refused = open_file(path, OpenOptions::new().append(true)).unwrap_err();
            assert!(matches!(refused, PlaceError::NotAFile(_)), "{refused}");
        }
        let file = home.path().join("file");
        open_file(&file, OpenOptions::new().append(true)).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn everybodys_folder_is_not_to_be_closed() {
        let tmp = PlaceError::TooOpen {
            path: "/tmp".into(),
            mode: 0o1777,
        };
        assert!(!tmp.to_string().contains("chmod"), "{tmp}");
    }

    #[test]
    fn folders_of_others_open_ones_and_links_are_refused() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a/b");
        ensure_folder(&path).unwrap();
        ensure_folder(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);

        fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
        let refused = ensure_folder(&path).unwrap_err().to_string();
        assert!(
            refused.contains("mode 750") && refused.contains("chmod 700"),
            "{refused}"
        );

        let link = home.path().join("link");
        symlink(home.path().join("a"), &link).unwrap();
        assert!(matches!(ensure_folder(&link), Err(PlaceError::Symlink(_))));
        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(matches!(
            ensure_folder(&file),
            Err(PlaceError::NotAFolder(_))
        ));
        let found = fs::symlink_metadata(home.path()).unwrap();
        let judged = judge(home.path(), &found, found.uid() + 1);
        assert!(matches!(judged, Err(PlaceError::NotOurs { .. })));
    }
}
