//! Detects what runs the daemon: a service manager, or a client that found no daemon. Clients never start a
//! daemon in addition to a manager.
//!
//! There are two signs of a manager: the lock file of a running daemon, and an enabled socket unit (a launchd job)
//! for the same socket.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::paths::{self, Paths, PlaceError, SYSTEM_SOCKET};

/// systemd socket unit.
pub const SOCKET_UNIT: &str = "lored.socket";
/// systemd service unit that the socket unit starts.
pub const SERVICE_UNIT: &str = "lored.service";
/// Label of the launchd job.
pub const LAUNCHD_LABEL: &str = "local.lored";

/// Variable by which a client wants a daemon that is not its descendant: with the value `1`, `lored` starts itself again
/// and ends.
pub const DETACH: &str = "LORE_DETACH";

/// Variable with the process id of a `lored` that has started this one again, and ends.
pub const DETACHED_FROM: &str = "LORE_DETACHED_FROM";

/// Lock file line of a process that works on a store without serving it.
pub const MAINTENANCE: &str = "maintenance";

/// Limit on the bytes read of a lock file, unit or job.
const FILE_BYTES_MAX: u64 = 64 << 10;

/// The program that starts and restarts the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manager {
    /// The systemd service manager.
    Systemd,
    /// The launchd service manager.
    Launchd,
    /// A client, at its first call; the next client restarts the daemon.
    Client,
    /// No manager: the daemon was started by hand, for example in a terminal.
    None,
}

impl Manager {
    /// Returns the name used in lock files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Systemd => "systemd",
            Self::Launchd => "launchd",
            Self::Client => "client",
            Self::None => "none",
        }
    }

    /// Returns whether this is a service manager.
    #[must_use]
    pub const fn is_service_manager(self) -> bool {
        match self {
            Self::Systemd | Self::Launchd => true,
            Self::Client | Self::None => false,
        }
    }

    fn named(name: &str) -> Self {
        [Self::Systemd, Self::Launchd, Self::Client]
            .into_iter()
            .find(|manager| manager.name() == name)
            .unwrap_or(Self::None)
    }
}

impl fmt::Display for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The holder of a daemon's lock, according to the lock file. Its first line is the process id, then come a line
/// with `manager` and a name, and a line with `maintenance` unless it is a daemon; [the place](crate::paths::StorePlace) of the daemon, and other lines, are ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder {
    /// Process id; `None` when the file does not contain it.
    pub pid: Option<u32>,
    /// Manager of the process; [`Manager::None`] when the file does not contain it.
    pub manager: Manager,
    /// Whether the process is an admin command that ends by itself, for example a backup or a verification.
    pub is_maintenance: bool,
}

impl Holder {
    fn read(text: &str) -> Self {
        let pid = text
            .lines()
            .next()
            .and_then(|line| line.trim().parse().ok());
        let manager = text
            .lines()
            .find_map(|line| line.strip_prefix("manager "))
            .map_or(Manager::None, |name| Manager::named(name.trim()));
        Self {
            pid,
            manager,
            is_maintenance: text.lines().any(|line| line.trim() == MAINTENANCE),
        }
    }
}

/// Returns the holder of a daemon's lock; `None` when the lock is free. The lock is taken for a moment; a starting
/// daemon tolerates that because it tries for a second.
///
/// # Errors
/// When the file exists but cannot be used.
pub fn holder(lock: &Path) -> Result<Option<Holder>, PlaceError> {
    let at_lock = |error| PlaceError::Io {
        path: lock.to_owned(),
        error,
    };
    let file = match OpenOptions::new().read(true).write(true).open(lock) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(at_lock(error)),
    };
    // Shared, so that concurrent checks do not mistake each other for a daemon.
    match file.try_lock_shared() {
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => Ok(Some(Holder::read(&start_of(&file).map_err(at_lock)?))),
        Err(TryLockError::Error(error)) => Err(at_lock(error)),
    }
}

/// Returns what the daemon, or the admin command, that held the lock last has written into its file.
///
/// # Errors
/// The system's error.
pub fn lock_text(lock: &Path) -> io::Result<String> {
    text_of(lock)
}

/// Returns the service manager that is responsible for starting the daemon at these places. That holds when its
/// socket unit is enabled for the same socket, or when it is the system-wide daemon's.
#[must_use]
pub fn in_charge(paths: &Paths) -> Option<Manager> {
    in_charge_of(paths, paths::variable)
}

/// Like the function above, for given variables.
#[must_use]
pub fn in_charge_of(paths: &Paths, variable: impl Fn(&str) -> Option<OsString>) -> Option<Manager> {
    if cfg!(target_os = "macos") {
        let home = PathBuf::from(variable("HOME")?);
        let job = text_of(&launchd_job(&home)).ok()?;
        let socket = paths.socket.to_str()?;
        return job.contains(&in_xml(socket)).then_some(Manager::Launchd);
    }
    if paths.socket == Path::new(SYSTEM_SOCKET) {
        return Some(Manager::Systemd);
    }
    let runtime = PathBuf::from(variable("XDG_RUNTIME_DIR")?);
    if !user_manager_runs(&runtime) {
        return None;
    }
    let own = config_home(&variable).map(|config| config.join("systemd/user"));
    let is_ours = |folder: PathBuf| {
        let unit = folder.join("sockets.target.wants").join(SOCKET_UNIT);
        text_of(&unit).is_ok_and(|unit| listens_at(&unit, &runtime, &paths.socket))
    };
    own.into_iter()
        .chain(["/etc/systemd/user".into()])
        .any(is_ours)
        .then_some(Manager::Systemd)
}

/// Returns whether systemd runs for this user: its manager's socket exists in the runtime folder.
#[must_use]
pub fn user_manager_runs(runtime: &Path) -> bool {
    runtime.join("systemd/private").exists()
}

/// Returns the user's configuration folder: `XDG_CONFIG_HOME`, or `.config` in the home folder.
#[must_use]
pub fn config_home(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let said = variable("XDG_CONFIG_HOME").map(PathBuf::from);
    said.filter(|said| said.is_absolute())
        .or_else(|| Some(PathBuf::from(variable("HOME")?).join(".config")))
}

/// Returns the path of the launchd job in a user's home folder.
#[must_use]
pub fn launchd_job(home: &Path) -> PathBuf {
    home.join("Library/LaunchAgents")
        .join(format!("{LAUNCHD_LABEL}.plist"))
}

/// Escapes a text for XML.
#[must_use]
pub fn in_xml(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Returns whether a socket unit listens at this path, for a user's manager with this runtime folder. Of systemd's
/// specifiers, only the ones that `lore service install` writes are known.
fn listens_at(unit: &str, runtime: &Path, socket: &Path) -> bool {
    let said = unit
        .lines()
        .find_map(|line| line.trim().strip_prefix("ListenStream="));
    let Some(said) = said else { return false };
    let path = match said.strip_prefix("%t/") {
        Some(below) => runtime.join(below.replace("%%", "%")),
        None => said.replace("%%", "%").into(),
    };
    path == socket
}

fn text_of(path: &Path) -> io::Result<String> {
    start_of(&File::open(path)?)
}

fn start_of(file: &File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns whether a file or link of this name exists.
#[must_use]
pub fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn lock_files_tell_who_holds_them() {
        let read = |text| {
            let holder = Holder::read(text);
            (holder.pid, holder.manager)
        };
        assert_eq!(read("12\nmanager systemd\n"), (Some(12), Manager::Systemd));
        assert_eq!(
            read("12\nmore\nmanager client"),
            (Some(12), Manager::Client)
        );
        // As older daemons wrote it, with only the process id.
        assert_eq!(read("12\n"), (Some(12), Manager::None));
        assert_eq!(read(""), (None, Manager::None));
        assert_eq!(read("x\nmanager upstart\n"), (None, Manager::None));
    }

    #[test]
    fn a_free_lock_has_no_holder() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("lored.lock");
        assert_eq!(holder(&lock).unwrap(), None);
        fs::write(&lock, "7\nmanager systemd\n").unwrap();
        assert_eq!(holder(&lock).unwrap(), None, "it tells of an earlier one");
        let held = File::open(&lock).unwrap();
        held.lock().unwrap();
        let manager = Manager::Systemd;
        let pid = Some(7);
        let is_maintenance = false;
        let held_by = Holder {
            pid,
            manager,
            is_maintenance,
        };
        assert_eq!(holder(&lock).unwrap(), Some(held_by));
        fs::write(&lock, "7\nmanager none\nmaintenance\n").unwrap();
        assert!(holder(&lock).unwrap().unwrap().is_maintenance);
    }

    /// An enabled unit manages only its own socket, and only while its manager runs.
    #[test]
    #[cfg(not(target_os = "macos"))]
    fn an_enabled_socket_is_in_charge_of_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let wants = folder
            .path()
            .join(".config/systemd/user/sockets.target.wants");
        fs::create_dir_all(&wants).unwrap();
        let unit = "[Socket]\nListenStream=%t/lore/lore.sock\n";
        fs::write(wants.join(SOCKET_UNIT), unit).unwrap();
        let runtime = folder.path().join("run");
        let charge = |lore_home: Option<&str>| {
            let variable = |name: &str| match name {
                "HOME" => Some(folder.path().into()),
                "XDG_RUNTIME_DIR" => Some(runtime.clone().into_os_string()),
                "LORE_HOME" => lore_home.map(OsString::from),
                _ => None,
            };
            in_charge_of(&Paths::from_variables(variable, 7, None).unwrap(), variable)
        };
        assert_eq!(charge(None), None, "no manager runs");
        fs::create_dir_all(runtime.join("systemd")).unwrap();
        fs::write(runtime.join("systemd/private"), "").unwrap();
        assert_eq!(charge(None), Some(Manager::Systemd));
        assert_eq!(charge(Some("/elsewhere")), None);
    }

    #[test]
    fn units_name_their_sockets() {
        let runtime = Path::new("/run/user/7");
        let listens = |said: &str, path: &str| listens_at(said, runtime, Path::new(path));
        assert!(listens(
            "ListenStream=%t/lore/lore.sock",
            "/run/user/7/lore/lore.sock"
        ));
        assert!(listens("a\n ListenStream=/a/50%%/s\n", "/a/50%/s"));
        assert!(!listens("ListenStream=/a", "/b"));
        assert!(!listens("ListenDatagram=/a", "/a"));
    }
}
