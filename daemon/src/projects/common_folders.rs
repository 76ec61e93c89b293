//! Folders that hold everything of a system or of its users, and so identify no project.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders that hold everything of a system or of its users.
const SHARED: [&str; 27] = [
    "/",
    "/Applications",
    "/Library",
    "/System",
    "/Users",
    "/Volumes",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/lib",
    "/lib64",
    "/media",
    "/mnt",
    "/opt",
    "/private",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/srv",
    "/sys",
    "/tmp",
    "/usr",
    "/var",
    "/var/tmp",
];
/// Folders of the system that contain no projects, except below those of [`SOURCES`]: the longest one decides.
const SYSTEM: [&str; 30] = [
    "/System",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib64",
    "/proc",
    "/run",
    "/sbin",
    "/snap",
    "/sys",
    "/usr",
    "/usr/local/bin",
    "/usr/local/etc",
    "/usr/local/games",
    "/usr/local/include",
    "/usr/local/lib",
    "/usr/local/lib64",
    "/usr/local/libexec",
    "/usr/local/man",
    "/usr/local/sbin",
    "/usr/local/share",
    "/var/backups",
    "/var/cache",
    "/var/db",
    "/var/lib",
    "/var/log",
    "/var/mail",
    "/var/spool",
];
const SOURCES: [&str; 3] = ["/usr/src", "/usr/local", "/dev/shm"];
/// Folders whose direct subfolders are the homes of users.
const HOMES: [&str; 2] = ["/home", "/Users"];

/// Returns whether a folder holds everything: of the system, or of a user.
pub(super) fn holds_everything(real: &Path) -> bool {
    // The real paths of `/tmp`, `/var` and `/etc` on macOS.
    let public = real.strip_prefix("/private").ok();
    let public = public.map(|path| Path::new("/").join(path));
    let path = public.as_deref().unwrap_or(real);
    let home = std::env::var_os("HOME")
        .map(PathBuf::from)
        .filter(|home| home.is_absolute());
    // The parents of a home hold everything, too.
    let is_home = home.is_some_and(|home| {
        let home = fs::canonicalize(&home).unwrap_or(home);
        home.starts_with(real)
    });
    let is_user = path
        .parent()
        .is_some_and(|parent| HOMES.iter().any(|homes| parent == Path::new(homes)));
    let longest = |folders: &[&str]| {
        let above = folders.iter().filter(|folder| path.starts_with(folder));
        above.map(|folder| folder.len()).max()
    };
    let sources = SOURCES.iter().filter(|folder| path != Path::new(folder));
    let sources: Vec<&str> = sources.copied().collect();
    let is_system = longest(&SYSTEM) > longest(&sources);
    let is_temporary = fs::canonicalize(std::env::temp_dir()).is_ok_and(|folder| folder == real);
    let is_shared = is_temporary || SHARED.iter().any(|shared| path == Path::new(shared));
    is_home || is_user || is_system || is_shared
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Folders of the system and those that hold everything are no projects.
    #[test]
    fn folders_that_identify_a_project() {
        let is_identified = |path: &str| !holds_everything(Path::new(path));
        for path in [
            "/",
            "/home",
            "/home/ada",
            "/Users/ada",
            "/tmp",
            "/private/tmp",
            "/var",
            "/var/lib",
            "/var/lib/thing",
            "/usr",
            "/usr/bin",
            "/usr/local",
            "/usr/local/lib",
            "/usr/local/lib/thing",
            "/usr/src",
            "/etc/thing",
            "/private/etc/thing",
            "/run/user/1000",
            "/var/log/thing",
        ] {
            assert!(!is_identified(path), "{path}");
        }
        for path in [
            "/home/ada/shop",
            "/Users/ada/shop",
            "/tmp/shop",
            "/private/tmp/shop",
            "/var/www",
            "/var/library",
            "/usr/local/shop",
            "/usr/local/library",
            "/usr/src/linux",
            "/opt/shop",
            "/srv/shop",
            "/dev/shm/shop",
        ] {
            assert!(is_identified(path), "{path}");
        }
    }
}
