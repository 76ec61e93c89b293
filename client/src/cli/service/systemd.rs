//! systemd units: their paths and the systemctl commands.

use std::path::{Path, PathBuf};

use lore::manager::{self, SERVICE_UNIT, SOCKET_UNIT};
use lore::paths::{self, Paths};

use super::super::{Failure, Globals};
use super::steps::{self, Step};
use super::{handover, moves, refused, units};

/// Folder for units of packages.
const PACKAGED: &str = "/usr/lib/systemd";
/// Folder where the administrator puts units, followed by the files that create users.
const SYSTEM_UNITS: &str = "etc/systemd/system";
const SYSUSERS: &str = "etc/sysusers.d/lored.conf";
const PACKAGED_SYSUSERS: &str = "usr/lib/sysusers.d/lored.conf";

/// Returns the reason why user units cannot be installed, if there is one.
pub fn no_user_manager() -> Option<String> {
    let runtime = paths::variable("XDG_RUNTIME_DIR").map(PathBuf::from);
    let runs = runtime.as_deref().is_some_and(manager::user_manager_runs);
    (!runs).then(|| {
        let why = match runtime {
            Some(runtime) => format!("{}/systemd/private not found", runtime.display()),
            None => "XDG_RUNTIME_DIR is not set".to_owned(),
        };
        format!(
            "no systemd runs for this user ({why}); none is needed: the first call of any client starts \
             the daemon"
        )
    })
}

/// Returns the reason why system units cannot be installed, if there is one.
pub fn no_system_manager() -> Option<String> {
    let runs = Path::new("/run/systemd/system").is_dir();
    (!runs).then(|| {
        "this system was not started by systemd (/run/systemd/system not found); start `lored serve \
         --system` by what it has instead, or name an image with --root"
            .to_owned()
    })
}

/// Installs the user's own daemon.
///
/// # Errors
/// When a path cannot be written into a unit, when the existing units use other paths and `may_move` is not
/// set, or when a process holds the daemon's lock and does not answer.
pub fn install(
    paths: &Paths,
    globals: &Globals,
    daemon: &Path,
    may_move: bool,
) -> Result<Vec<Step>, Failure> {
    let units = units::of_user(paths, daemon, paths::variable)?;
    let folder = user_units()?;
    if !may_move && is_elsewhere(&folder, &units)? {
        return Err(moves(&folder.join(SOCKET_UNIT)));
    }
    let (mut steps, is_changed) = files(&units, &folder, &Path::new(PACKAGED).join("user"))?;
    let systemctl = |words: &[&str]| Step::run(&[&["systemctl", "--user"], words].concat());
    steps.push(systemctl(&["daemon-reload"]));
    if is_changed {
        steps.push(systemctl(&["stop", SOCKET_UNIT, SERVICE_UNIT]));
    }
    let running = handover::running(paths, globals)?;
    steps.extend(running.map(|process| Step::Stop { process }));
    // Otherwise a socket unit that hit its start limit stays failed. If it is not loaded, there is nothing to
    // reset.
    steps.push(Step::attempt(&[
        "systemctl",
        "--user",
        "reset-failed",
        SOCKET_UNIT,
        SERVICE_UNIT,
    ]));
    steps.push(systemctl(&["enable", "--now", SOCKET_UNIT]));
    // Starts the new program if the daemon runs; a stopped daemon stays stopped.
    steps.push(systemctl(&["try-restart", SERVICE_UNIT]));
    Ok(steps)
}

/// Installs the system-wide daemon.
///
/// # Errors
/// When the daemon's user cannot reach the program.
pub fn install_for_all(root: Option<&Path>, daemon: &Path) -> Result<Vec<Step>, Failure> {
    let units = units::of_system(daemon)?;
    let below = root.unwrap_or(Path::new("/"));
    let folder = below.join(SYSTEM_UNITS);
    let (mut steps, is_changed) = files(&units, &folder, &packaged_for_all(below))?;
    if !below.join(PACKAGED_SYSUSERS).exists() {
        steps.push(Step::Write {
            path: below.join(SYSUSERS),
            text: units::user_of_system(),
        });
    }
    if let Some(root) = root {
        let root = format!("--root={}", root.display());
        steps.push(Step::run(&["systemd-sysusers", &root, "lored.conf"]));
        steps.push(Step::run(&["systemctl", &root, "enable", SOCKET_UNIT]));
        return Ok(steps);
    }
    steps.push(Step::run(&["systemd-sysusers", "lored.conf"]));
    steps.push(Step::run(&["systemctl", "daemon-reload"]));
    if is_changed {
        steps.push(Step::run(&["systemctl", "stop", SOCKET_UNIT, SERVICE_UNIT]));
    }
    let reset = ["systemctl", "reset-failed", SOCKET_UNIT, SERVICE_UNIT];
    steps.push(Step::attempt(&reset));
    steps.push(Step::run(&["systemctl", "enable", "--now", SOCKET_UNIT]));
    steps.push(Step::run(&["systemctl", "try-restart", SERVICE_UNIT]));
    Ok(steps)
}

/// Lists the user's units from `lore service install` that this version would write differently. Returns `None`
/// if there are none, or if they use other paths, because such units are correct there.
///
/// # Errors
/// When a path cannot be written into a unit, or a file cannot be read.
pub fn outdated(paths: &Paths, daemon: &Path) -> Result<Option<Vec<PathBuf>>, Failure> {
    // Without a home directory there are no user units.
    let Ok(folder) = user_units() else {
        return Ok(None);
    };
    let units = units::of_user(paths, daemon, paths::variable)?;
    if is_elsewhere(&folder, &units)? {
        return Ok(None);
    }
    let mut outdated = None;
    for (name, text) in [(SOCKET_UNIT, &units.socket), (SERVICE_UNIT, &units.service)] {
        let path = folder.join(name);
        if let Some(there) = steps::existing(&path)?.filter(|there| steps::is_ours(there)) {
            let outdated = outdated.get_or_insert_with(Vec::new);
            outdated.extend((there != *text).then_some(path));
        }
    }
    Ok(outdated)
}

/// Returns whether the installed units, ours or a package's, use another socket or home than these.
fn is_elsewhere(folder: &Path, units: &units::Units) -> Result<bool, Failure> {
    let first_of = |paths: [PathBuf; 2]| {
        let found = paths.iter().find(|path| path.exists());
        found.map_or(Ok(None), |path| steps::existing(path))
    };
    let enabled = folder.join("sockets.target.wants").join(SOCKET_UNIT);
    let Some(socket) = first_of([folder.join(SOCKET_UNIT), enabled])? else {
        return Ok(false);
    };
    let packaged = Path::new(PACKAGED).join("user").join(SERVICE_UNIT);
    let service = first_of([folder.join(SERVICE_UNIT), packaged])?.unwrap_or_default();
    let now = units::places_of(&units.socket, &units.service);
    Ok(units::places_of(&socket, &service) != now)
}

/// Uninstalls the user's own daemon, if it is installed.
///
/// # Errors
/// When there is no home directory, or a file cannot be read.
pub fn uninstall() -> Result<Vec<Step>, Failure> {
    let is_packaged = Path::new(PACKAGED).join("user").join(SOCKET_UNIT).exists();
    let (names, removals) = ours(&user_units()?, is_packaged)?;
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let disable = ["systemctl", "--user", "disable", "--now"];
    let mut steps = vec![Step::run(&[&disable, names.as_slice()].concat())];
    steps.extend(removals);
    steps.push(Step::run(&["systemctl", "--user", "daemon-reload"]));
    Ok(steps)
}

/// Uninstalls the system-wide daemon; its data and its user remain.
///
/// # Errors
/// When a file cannot be read.
pub fn uninstall_for_all(root: Option<&Path>) -> Result<Vec<Step>, Failure> {
    let below = root.unwrap_or(Path::new("/"));
    let is_packaged = packaged_for_all(below).join(SOCKET_UNIT).exists();
    let (names, removals) = ours(&below.join(SYSTEM_UNITS), is_packaged)?;
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let root_flag = root.map(|root| format!("--root={}", root.display()));
    let disable = match &root_flag {
        Some(root) => ["systemctl", root, "disable"],
        None => ["systemctl", "disable", "--now"],
    };
    let mut steps = vec![Step::run(&[&disable, names.as_slice()].concat())];
    steps.extend(removals);
    steps.extend(removal(&below.join(SYSUSERS))?);
    if root.is_none() {
        steps.push(Step::run(&["systemctl", "daemon-reload"]));
    }
    Ok(steps)
}

/// Returns the user's folder of units.
pub fn user_units() -> Result<PathBuf, Failure> {
    let config = manager::config_home(paths::variable);
    let config =
        config.ok_or_else(|| refused("home folder unknown: set HOME or XDG_CONFIG_HOME"))?;
    Ok(config.join("systemd/user"))
}

/// Returns the steps that update a folder of units, and whether they change anything. If a package ships the
/// same units, they are used, and earlier files of ours that hide them are removed.
fn files(
    units: &units::Units,
    folder: &Path,
    packaged: &Path,
) -> Result<(Vec<Step>, bool), Failure> {
    if units.are_as_shipped && packaged.join(SOCKET_UNIT).exists() {
        let (_, removals) = ours(folder, true)?;
        let is_changed = !removals.is_empty();
        return Ok((removals, is_changed));
    }
    let (mut steps, mut is_changed) = (Vec::new(), false);
    for (name, text) in [(SOCKET_UNIT, &units.socket), (SERVICE_UNIT, &units.service)] {
        let path = folder.join(name);
        is_changed |= steps::existing(&path)?.is_some_and(|found| found != *text);
        let text = text.clone();
        steps.push(Step::Write { path, text });
    }
    Ok((steps, is_changed))
}

/// Returns the units of a folder or package to disable, and the steps that remove those in the folder.
fn ours(folder: &Path, is_packaged: bool) -> Result<(Vec<&'static str>, Vec<Step>), Failure> {
    let (mut names, mut removals) = (Vec::new(), Vec::new());
    for name in [SOCKET_UNIT, SERVICE_UNIT] {
        let path = folder.join(name);
        let removal = removal(&path)?;
        if removal.is_some() || is_packaged && !path.exists() {
            names.push(name);
        }
        removals.extend(removal);
    }
    Ok((names, removals))
}

/// Returns the step that removes a file, if the installation created it.
fn removal(path: &Path) -> Result<Option<Step>, Failure> {
    let is_ours = steps::existing(path)?.is_some_and(|text| steps::is_ours(&text));
    let path = path.to_owned();
    Ok(is_ours.then_some(Step::Remove { path }))
}

/// Returns the folder for system units of packages.
fn packaged_for_all(root: &Path) -> PathBuf {
    root.join(PACKAGED.trim_start_matches('/')).join("system")
}
