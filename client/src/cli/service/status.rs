//! `lore service status`: the starter of the daemon and its state. The query starts nothing.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use lore::connection::{Connection, Error};
use lore::manager::{self, Holder, LAUNCHD_LABEL, Manager, SERVICE_UNIT, SOCKET_UNIT};
use lore::paths::{Paths, SYSTEM_SOCKET};
use lore::protocol::Serialize;

use super::super::output::{self, sanitize, table};
use super::super::report::to_json;
use super::super::{Exit, Failure, Globals};
use super::{launchd, manager_here, systemd};

/// Status of the service.
#[derive(Debug, Serialize)]
struct ServiceStatus {
    /// Manager or client that starts the daemon.
    manager: &'static str,
    units: Vec<UnitStatus>,
    socket: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    lock: Option<LockHolder>,
    #[serde(skip_serializing_if = "Option::is_none")]
    daemon: Option<RunningDaemon>,
    warnings: Vec<String>,
}

/// A unit of systemd, or a job of launchd.
#[derive(Debug, Serialize)]
struct UnitStatus {
    name: String,
    /// For example `enabled` or `not-found`.
    installed: String,
    /// For example `active (listening)`.
    state: String,
    file: String,
}

/// Holder of the daemon's lock.
#[derive(Debug, Serialize)]
struct LockHolder {
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<u32>,
    manager: &'static str,
}

/// A daemon that answered.
#[derive(Debug, Serialize)]
struct RunningDaemon {
    process: u32,
    version: String,
    position: u64,
}

pub fn run(globals: &Globals, is_system: bool) -> Result<Exit, Failure> {
    let mut paths = globals.paths()?;
    if is_system {
        paths.socket = SYSTEM_SOCKET.into();
    }
    let is_system = is_for_all(&paths);
    let known = status(&paths, globals, is_system)?;
    let is_served = known.daemon.is_some();
    match globals.json {
        true => output::write_json(&to_json(&known)?)?,
        false => output::write(render_text(&known).as_bytes())?,
    }
    Ok(if is_served { Exit::Good } else { Exit::Nothing })
}

fn status(paths: &Paths, globals: &Globals, is_system: bool) -> Result<ServiceStatus, Failure> {
    let (units, mut warnings) = match manager_here() {
        Manager::Launchd => (job()?, Vec::new()),
        Manager::Systemd | Manager::Client | Manager::None => units(is_system),
    };
    let holder = match is_system {
        // Other users cannot enter the folder of the system-wide daemon.
        true => None,
        false => manager::holder(&paths.daemon_lock()).map_err(Error::Place)?,
    };
    let in_charge = manager::in_charge(paths);
    let wakes = systemd::no_system_manager().is_none();
    let may_ask = may_ask(is_system, holder.is_some(), &units, wakes);
    let daemon = match may_ask.then(|| Connection::connect(&paths.socket, &globals.hello())) {
        None => None,
        Some(Ok(connection)) => Some(RunningDaemon::from(&connection)),
        Some(Err(error)) => {
            warnings.push(error.to_string());
            None
        }
    };
    warnings.extend(disagreement(in_charge, holder));
    let manager = in_charge.or(holder.map(|holder| holder.manager));
    Ok(ServiceStatus {
        manager: manager.unwrap_or(Manager::Client).name(),
        units,
        socket: paths.socket.display().to_string(),
        lock: holder.map(LockHolder::from),
        daemon,
        warnings,
    })
}

impl From<&Connection> for RunningDaemon {
    fn from(connection: &Connection) -> Self {
        let welcome = connection.welcome();
        let version = welcome.server.trim_start_matches("lored/");
        Self {
            process: welcome.pid,
            version: version.to_owned(),
            position: welcome.position,
        }
    }
}

impl From<Holder> for LockHolder {
    fn from(holder: Holder) -> Self {
        Self {
            process: holder.pid,
            manager: holder.manager.name(),
        }
    }
}

/// Warns if a daemon outside the service manager holds the lock.
fn disagreement(in_charge: Option<Manager>, holder: Option<Holder>) -> Option<String> {
    let (in_charge, holder) = (in_charge?, holder?);
    (!holder.manager.is_service_manager()).then(|| {
        format!(
            "{in_charge} is to start lored, but one that it did not start holds the lock; `lore service \
             install` hands over"
        )
    })
}

/// Returns whether the command targets the system-wide daemon, which users name by its socket.
fn is_for_all(paths: &Paths) -> bool {
    paths.socket == Path::new(SYSTEM_SOCKET)
}

/// Returns whether the query starts nothing. The user's own daemon must hold its lock. The system-wide daemon's lock is
/// closed to others, so its service must run, or no systemd may be present to start it (`wakes`).
fn may_ask(is_system: bool, is_held: bool, units: &[UnitStatus], wakes: bool) -> bool {
    match is_system {
        true => serves(units) || !wakes,
        false => is_held,
    }
}

/// Returns whether the service of the socket runs.
fn serves(units: &[UnitStatus]) -> bool {
    let mut services = units.iter().filter(|unit| unit.name == SERVICE_UNIT);
    services.any(|unit| unit.state.starts_with("active"))
}

/// Returns the state of the units from systemctl, or warnings if it fails. Without systemd the list is empty.
fn units(is_system: bool) -> (Vec<UnitStatus>, Vec<String>) {
    let missing = match is_system {
        true => systemd::no_system_manager(),
        false => systemd::no_user_manager(),
    };
    if missing.is_some() {
        return (Vec::new(), Vec::new());
    }
    let mut command = Command::new("systemctl");
    if !is_system {
        command.arg("--user");
    }
    command.args([
        "show",
        "--property=Id,LoadState,ActiveState,SubState,UnitFileState,FragmentPath",
    ]);
    match command.args([SOCKET_UNIT, SERVICE_UNIT]).output() {
        Ok(output) if output.status.success() => (
            read_units(&String::from_utf8_lossy(&output.stdout)),
            Vec::new(),
        ),
        Ok(output) => {
            let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            (Vec::new(), vec![format!("systemctl: {why}")])
        }
        Err(error) => (Vec::new(), vec![format!("systemctl: {error}")]),
    }
}

/// Parses blocks of `Name=value`, with an empty line between units.
fn read_units(text: &str) -> Vec<UnitStatus> {
    let unit = |block: &str| {
        let said: BTreeMap<_, _> = block
            .lines()
            .filter_map(|line| line.split_once('='))
            .collect();
        let value = |name: &str| said.get(name).copied().unwrap_or_default().to_owned();
        let installed = match said.get("LoadState") {
            Some(&"not-found") => "not-found".to_owned(),
            Some(_) | None => value("UnitFileState"),
        };
        UnitStatus {
            name: value("Id"),
            installed,
            state: format!("{} ({})", value("ActiveState"), value("SubState")),
            file: value("FragmentPath"),
        }
    };
    let blocks = text.split("\n\n").filter(|block| block.contains("Id="));
    blocks.map(unit).collect()
}

/// Returns the state of the job from launchctl.
fn job() -> Result<Vec<UnitStatus>, Failure> {
    let path = launchd::job_path()?;
    if !manager::is_there(Path::new(&path)) {
        return Ok(Vec::new());
    }
    let listed = Command::new("launchctl")
        .args(["list", LAUNCHD_LABEL])
        .output();
    let is_loaded = listed.is_ok_and(|output| output.status.success());
    Ok(vec![UnitStatus {
        name: LAUNCHD_LABEL.to_owned(),
        installed: "enabled".to_owned(),
        state: if is_loaded { "loaded" } else { "not loaded" }.to_owned(),
        file: path.display().to_string(),
    }])
}

fn render_text(known: &ServiceStatus) -> String {
    let lock = known.lock.as_ref().map_or("free".to_owned(), |held| {
        let process = held
            .process
            .map_or("unknown".to_owned(), |process| process.to_string());
        format!("held by process {process}, manager {}", held.manager)
    });
    let mut rows = vec![
        ["started by".to_owned(), known.manager.to_owned()],
        ["socket".to_owned(), sanitize(&known.socket, 0)],
        ["lock".to_owned(), lock],
    ];
    rows.extend(known.units.iter().map(|unit| {
        let said = [&unit.installed, &unit.state, &unit.file];
        let said: Vec<_> = said
            .into_iter()
            .filter(|said| !said.is_empty())
            .map(|said| sanitize(said, 0))
            .collect();
        [sanitize(&unit.name, 40), said.join(", ")]
    }));
    match &known.daemon {
        Some(daemon) => rows.extend([
            ["process".to_owned(), daemon.process.to_string()],
            ["version".to_owned(), sanitize(&daemon.version, 0)],
            ["position".to_owned(), daemon.position.to_string()],
        ]),
        None => rows.push(["process".to_owned(), "none serves".to_owned()]),
    }
    let mut text = table(&["lored", ""], &rows);
    for warning in &known.warnings {
        // Writing into a string does not fail.
        let _ = writeln!(text, "warning: {}", sanitize(warning, 0));
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_as_systemctl_shows_them() {
        let units = read_units(
            "Id=lored.socket\nLoadState=loaded\nActiveState=active\nSubState=listening\n\
             FragmentPath=/u/lored.socket\nUnitFileState=enabled\n\nId=lored.service\n\
             LoadState=not-found\nActiveState=inactive\nSubState=dead\nFragmentPath=\nUnitFileState=\n",
        );
        let [socket, service] = units.as_slice() else {
            panic!("{units:?}")
        };
        assert_eq!(
            (socket.installed.as_str(), socket.state.as_str()),
            ("enabled", "active (listening)")
        );
        assert_eq!(
            (service.name.as_str(), service.installed.as_str()),
            ("lored.service", "not-found")
        );
        assert!(!serves(&units));
        assert!(read_units("").is_empty());
    }

    /// A query by the system-wide socket reaches the system-wide daemon and never starts it.
    #[test]
    fn who_may_be_asked() {
        let paths = |socket| {
            let variable = |name: &str| (name == "LORE_HOME").then(|| "/h".into());
            Paths::from_variables(variable, 7, socket).unwrap()
        };
        assert!(is_for_all(&paths(Some(Path::new(SYSTEM_SOCKET)))));
        assert!(!is_for_all(&paths(None)));
        let service = |state| read_units(&format!("Id=lored.service\nActiveState={state}\n"));
        assert!(may_ask(true, false, &service("active"), true));
        assert!(
            !may_ask(true, false, &service("inactive"), true),
            "it rests"
        );
        assert!(!may_ask(true, false, &[], true), "nothing is known of it");
        assert!(may_ask(true, false, &[], false), "no systemd to be woken");
        assert!(may_ask(false, true, &[], true));
        assert!(!may_ask(false, false, &service("active"), true));
    }

    #[test]
    fn a_daemon_beside_its_manager_is_told() {
        let holder = |manager| {
            Some(Holder {
                pid: Some(7),
                manager,
                is_maintenance: false,
            })
        };
        assert!(disagreement(Some(Manager::Systemd), holder(Manager::Client)).is_some());
        assert!(disagreement(Some(Manager::Systemd), holder(Manager::Systemd)).is_none());
        assert!(disagreement(None, holder(Manager::Client)).is_none());
    }
}
