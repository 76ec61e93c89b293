//! Checks of folders and files: existence, owner, mode and free space.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;

use lore::paths::{FileSystem, PlaceError, check_folder, our_uid};
use rustix::fs::{Access, StatVfsMountFlags, access, statvfs};

use super::{DoctorContext, Finding};
use crate::store::ballast::free_bytes;

/// Minimum of free inodes: with fewer, creating files soon fails.
const INODES_MIN: u64 = 1000;

/// Sticky bit: everyone may create files in the folder, but remove only their own.
const STICKY: u32 = 0o1000;

/// Optional folders of a data folder.
const PARTS: [&str; 5] = ["store", "blobs", "projects", "damaged", DERIVED];
/// The folder whose content is derived from the others.
const DERIVED: &str = "index";

pub fn check(doctor_cx: &DoctorContext<'_>) -> Vec<Finding> {
    let paths = doctor_cx.paths;
    let mut findings = vec![
        folder(doctor_cx, "data folder", &paths.data),
        socket_folder(doctor_cx),
        folder(doctor_cx, "log folder", &paths.state),
    ];
    if paths.data.is_dir() {
        findings.extend(parts(doctor_cx));
        findings.push(modes(doctor_cx));
        findings.push(disk_space(doctor_cx));
        findings.extend(in_memory(FileSystem::of(&paths.data), &paths.data));
    }
    findings
}

/// Warns of a data folder that a restart of the machine empties.
fn in_memory(file_system: FileSystem, data: &Path) -> Option<Finding> {
    let seen = format!(
        "{} is in memory (tmpfs): nothing there is durable",
        data.display()
    );
    let remedy =
        "Set LORE_HOME to a folder on a disk. In a host's sandbox, start the daemon outside of it.";
    (file_system == FileSystem::Memory).then(|| Finding::warning("disk space", seen, remedy))
}

fn folder(doctor_cx: &DoctorContext<'_>, check: &'static str, path: &Path) -> Finding {
    let shown = path.display();
    match check_folder(path) {
        Ok(()) => Finding::good(check, shown.to_string()),
        Err(PlaceError::Io { error, .. }) if error.kind() == std::io::ErrorKind::NotFound => {
            to_be_made(check, path)
        }
        Err(error @ PlaceError::TooOpen { .. }) if is_ours_alone(doctor_cx, path) => {
            let finding = Finding::bad(check, error.to_string(), format!("chmod 700 {shown}"));
            match doctor_cx.fixes && close(path, 0o700).is_ok() {
                true => finding.fixed(),
                false => finding,
            }
        }
        Err(error @ PlaceError::TooOpen { .. }) => {
            let remedy = "It has what is not lore's: name a folder of its own, with LORE_HOME, or LORE_SOCKET \
                          for the socket's.";
            Finding::bad(check, error.to_string(), remedy)
        }
        Err(error @ PlaceError::NotOurs { .. }) => {
            let remedy = format!("chown {} {shown}, or run it as its owner", our_uid());
            Finding::bad(check, error.to_string(), remedy)
        }
        Err(error @ (PlaceError::Symlink(_) | PlaceError::NotAFolder(_))) => {
            let remedy = format!("See what it is: ls -ld {shown}");
            Finding::bad(check, error.to_string(), remedy)
        }
        Err(error) => Finding::bad(
            check,
            error.to_string(),
            "Correct the path, or name another folder with LORE_HOME.",
        ),
    }
}

/// Checks a missing folder: whether its parent folder allows creating it.
fn to_be_made(check: &'static str, path: &Path) -> Finding {
    let shown = path.display();
    let above = path.ancestors().skip(1).find(|above| above.exists());
    let above = above.unwrap_or(Path::new("/"));
    match access(above, Access::WRITE_OK | Access::EXEC_OK) {
        Ok(()) => Finding::good(check, format!("{shown} is made at the first start")),
        Err(errno) => {
            let seen = format!("{shown} cannot be made: {}: {errno}", above.display());
            let remedy = "Make it, or name a folder with LORE_HOME, or set HOME to one of yours.";
            Finding::bad(check, seen, remedy)
        }
    }
}

/// Returns whether a folder apparently contains only the daemon's files: only then is its mode fixed.
fn is_ours_alone(doctor_cx: &DoctorContext<'_>, path: &Path) -> bool {
    let paths = doctor_cx.paths;
    if path == paths.data && paths.daemon_lock().exists() {
        return true;
    }
    // `/tmp` and similar folders are shared, even while they are empty.
    let is_sticky = |found: fs::Metadata| found.mode() & STICKY != 0;
    if fs::metadata(path).is_ok_and(is_sticky) {
        return false;
    }
    let is_ours = |entry: fs::DirEntry| match path == paths.state {
        true => entry.path() == paths.log(),
        false => entry.file_type().is_ok_and(|kind| kind.is_socket()),
    };
    fs::read_dir(path).is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(is_ours)))
}

/// Checks the socket's folder; if the socket is for other users too, they may traverse the folder.
fn socket_folder(doctor_cx: &DoctorContext<'_>) -> Finding {
    let (check, path) = ("socket folder", doctor_cx.paths.socket_folder());
    let is_for_others = doctor_cx.config.access.socket_mode & 0o066 != 0;
    match check_folder(path) {
        Err(PlaceError::TooOpen { mode, .. }) if is_for_others && mode & 0o022 == 0 => {
            Finding::good(
                check,
                format!("{}, open to the listed users and groups", path.display()),
            )
        }
        _ => folder(doctor_cx, check, path),
    }
}

fn close(path: &Path, mode: u32) -> std::io::Result<()> {
    if fs::symlink_metadata(path)?.uid() != our_uid() {
        return Err(std::io::ErrorKind::PermissionDenied.into());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

/// Checks the folders of the data folder: each must be a folder and writable.
fn parts(doctor_cx: &DoctorContext<'_>) -> Vec<Finding> {
    let part = |name: &&str| {
        let path = doctor_cx.paths.data.join(name);
        let shown = path.display();
        let found = fs::symlink_metadata(&path).ok()?;
        let wrong = match access(&path, Access::WRITE_OK | Access::EXEC_OK) {
            _ if found.is_symlink() => {
                "is a symbolic link, which the daemon does not follow".to_owned()
            }
            _ if !found.is_dir() => "is not a folder".to_owned(),
            Err(errno) => format!("takes no files: {errno}"),
            Ok(()) => return None,
        };
        let remedy = match *name {
            DERIVED => {
                format!("Stop the daemon and move it away; it is rebuilt: mv {shown} {shown}.old")
            }
            _ => "Stop the daemon and put the folder itself there, ours and writable.".to_owned(),
        };
        Some(Finding::bad(
            "data folder",
            format!("{shown} {wrong}"),
            remedy,
        ))
    };
    PARTS.iter().filter_map(part).collect()
}

/// Checks the data folder for files that others can read or own.
fn modes(doctor_cx: &DoctorContext<'_>) -> Finding {
    let check = "files";
    let (mut open, mut foreign) = (Vec::new(), Vec::new());
    let mut folders = vec![doctor_cx.paths.data.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(found) = entry.metadata() else {
                continue;
            };
            if found.uid() != our_uid() {
                foreign.push(entry.path());
            } else if found.mode() & 0o077 != 0 && !found.is_symlink() {
                open.push((entry.path(), found.is_dir()));
            }
            if found.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    if let Some(first) = foreign.first() {
        let seen = format!(
            "{} belong to another user, {} first",
            foreign.len(),
            first.display()
        );
        let remedy = format!("chown -R {} {}", our_uid(), doctor_cx.paths.data.display());
        return Finding::bad(check, seen, remedy);
    }
    let Some((first, _)) = open.first() else {
        return Finding::good(check, "ours, and closed to others");
    };
    let seen = format!(
        "{} are open to others, {} first",
        open.len(),
        first.display()
    );
    let remedy = format!("chmod -R go-rwx {}", doctor_cx.paths.data.display());
    let finding = Finding::warning(check, seen, remedy);
    let closed = || {
        open.iter()
            .all(|(path, is_folder)| close(path, if *is_folder { 0o700 } else { 0o600 }).is_ok())
    };
    match doctor_cx.fixes && closed() {
        true => finding.fixed(),
        false => finding,
    }
}

fn disk_space(doctor_cx: &DoctorContext<'_>) -> Finding {
    let (check, data) = ("disk space", &doctor_cx.paths.data);
    let engine = &doctor_cx.config.engine;
    let least = engine.disk_free_bytes_min;
    // With less space, a daemon may be unable to write while it creates its reserve, and one that stopped writing does
    // not resume.
    let wanted = least + engine.reserve_bytes;
    let reported = match (free_bytes(data), statvfs(data)) {
        (Ok(free), Ok(reported)) => (free, reported),
        (Err(error), _) => {
            return Finding::bad(check, error.to_string(), "See `df` of that folder.");
        }
        (_, Err(error)) => {
            return Finding::bad(check, error.to_string(), "See `df` of that folder.");
        }
    };
    let (free, system) = reported;
    let shown = lore::sanitize::bytes(free);
    if system.f_flag.contains(StatVfsMountFlags::RDONLY) {
        let seen = format!("the file system of {} is read-only", data.display());
        let remedy = "Look at `dmesg` for why it was remounted; the daemon needs to write there.";
        return Finding::bad(check, seen, remedy);
    }
    if system.f_files > 0 && system.f_favail < INODES_MIN {
        let seen = format!("{} inodes are left", system.f_favail);
        return Finding::bad(check, seen, "Remove files from that file system: `df -i`.");
    }
    if free < least {
        let seen = format!(
            "{shown} are free; writes are refused below {}",
            lore::sanitize::bytes(least)
        );
        return Finding::bad(
            check,
            seen,
            "Free some space; writes then continue automatically.",
        );
    }
    if free < wanted * 4 {
        let seen = format!(
            "{shown} are free; writes are refused below {}",
            lore::sanitize::bytes(least)
        );
        return Finding::warning(check, seen, "Free some space before it is needed.");
    }
    Finding::good(check, format!("{shown} are free"))
}
