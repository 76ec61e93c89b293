//! Checks of the running daemon and its service manager, and the daemon's own status.

use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use lore::connection::{Connection, Error, Obstacle};
use lore::manager::{Holder, LAUNCHD_LABEL, Manager, SERVICE_UNIT, SOCKET_UNIT, holder, in_charge};
use lore::paths::{PlaceError, SYSTEM_SOCKET};
use lore::protocol::Args;
use lore::protocol::status::StatusReply;

use super::{DoctorContext, Finding};
use crate::engine::DAMAGE_MET;
use crate::service::Lock;

/// Limit on a follower's lag, in events, above which a warning is reported.
const LAG_MAX: u64 = 10_000;

pub fn check(doctor_cx: &DoctorContext<'_>) -> Vec<Finding> {
    let paths = doctor_cx.paths;
    let held = match holder(&paths.daemon_lock()) {
        Ok(held) => held,
        Err(error) => {
            return unusable_lock(doctor_cx, &error);
        }
    };
    let mut findings = vec![lock(held), manager(doctor_cx, held)];
    match Connection::connect(&paths.socket, &Default::default()) {
        Ok(connection) => findings.extend(daemon(doctor_cx, connection)),
        Err(error) => findings.push(socket(doctor_cx, held, &error)),
    }
    findings
}

/// A running daemon keeps its lock even if the lock file cannot be opened; without the file, a second daemon would
/// start.
fn unusable_lock(doctor_cx: &DoctorContext<'_>, error: &PlaceError) -> Vec<Finding> {
    let remedy = "Give the file back to its owner with mode 600.";
    match Connection::connect(&doctor_cx.paths.socket, &Default::default()) {
        Ok(connection) => {
            let remedy = format!("{remedy} Do not remove it: a daemon serves under it.");
            let mut findings = vec![Finding::bad("lock", error.to_string(), remedy)];
            findings.extend(daemon(doctor_cx, connection));
            findings
        }
        Err(_) => {
            let remedy =
                format!("{remedy} It is rebuilt if it is removed while no daemon is running.");
            vec![Finding::bad("lock", error.to_string(), remedy)]
        }
    }
}

fn lock(held: Option<Holder>) -> Finding {
    let seen = match held {
        None => "free: no daemon serves this data folder".to_owned(),
        Some(Holder { pid: Some(pid), .. }) => format!("held by process {pid}"),
        Some(Holder { pid: None, .. }) => "held".to_owned(),
    };
    Finding::good("lock", seen)
}

/// Checks that the running daemon has the expected manager.
fn manager(doctor_cx: &DoctorContext<'_>, held: Option<Holder>) -> Finding {
    let check = "manager";
    match (in_charge(doctor_cx.paths), held) {
        (Some(wanted), Some(holder)) if holder.manager != wanted => {
            let seen = format!(
                "{wanted} should run the daemon, and {} does",
                by(holder.manager)
            );
            let remedy = "`lore service install` has the running one end, and starts its own.";
            Finding::warning(check, seen, remedy)
        }
        (Some(wanted), _) => Finding::good(check, format!("{wanted}")),
        (None, Some(holder)) => Finding::good(check, by(holder.manager)),
        (None, None) => Finding::good(check, "none: the first call starts the daemon"),
    }
}

fn by(manager: Manager) -> String {
    match manager {
        Manager::Systemd | Manager::Launchd => manager.to_string(),
        Manager::Client => "a client".to_owned(),
        Manager::None => "the user or program that started it".to_owned(),
    }
}

/// Explains why calls are not answered.
fn socket(doctor_cx: &DoctorContext<'_>, held: Option<Holder>, error: &Error) -> Finding {
    let (check, path) = ("socket", &doctor_cx.paths.socket);
    let shown = path.display();
    let found = std::fs::symlink_metadata(path);
    match (held, found) {
        (None, Ok(found)) if !found.file_type().is_socket() => {
            let remedy = format!("Move it away: mv {shown} {shown}.old");
            Finding::bad(check, format!("{shown} is there and is no socket"), remedy)
        }
        (None, _) if let Some(manager) = in_charge(doctor_cx.paths) => {
            let seen = format!("{manager} should run a daemon at {shown}: {error}");
            Finding::bad(check, seen, begin_again(manager, path))
        }
        (Some(holder), _) if holder.is_maintenance => {
            let seen =
                "another process works on the store, for example a backup, so no daemon serves it";
            Finding::warning(check, seen, "It ends by itself; calls are answered then.")
        }
        (None, Err(error)) if error.kind() == std::io::ErrorKind::NotFound => {
            Finding::good(check, format!("{shown} is made when a daemon serves"))
        }
        (_, _)
            if let Error::Unreachable { obstacle, .. } = error
                && matches!(obstacle, Obstacle::Filter | Obstacle::Closed { .. }) =>
        {
            let remedy = error.to_body().hint.unwrap_or_default();
            Finding::bad(check, error.to_string(), remedy)
        }
        (None, Ok(_)) if !matches!(error, Error::NotListening { .. }) => {
            let seen = format!("another process listens at {shown}: {error}");
            let remedy = "End it (`lsof -U` or `ss -xlp` names it), or name another socket with LORE_SOCKET.";
            Finding::bad(check, seen, remedy)
        }
        (None, Ok(_)) => {
            let seen = format!("{shown} is left from a daemon that is gone");
            let remedy = format!("The next start replaces it; or: rm {shown}");
            let finding = Finding::warning(check, seen, remedy);
            match doctor_cx.fixes && remove(doctor_cx) {
                true => finding.fixed(),
                false => finding,
            }
        }
        (None, Err(found)) => {
            let seen = format!("{shown}: {found}");
            Finding::bad(check, seen, "Look at the modes of the folders above it.")
        }
        (Some(Holder { pid, .. }), _) => {
            let seen =
                format!("the daemon that holds the lock does not answer at {shown}: {error}");
            let remedy = match pid {
                Some(pid) => format!(
                    "If it stays so: kill {pid}, and the next call starts another one. If it listens \
                     elsewhere (LORE_SOCKET, XDG_RUNTIME_DIR), say so here as well."
                ),
                None => "Look for its process: pgrep -a lored".to_owned(),
            };
            Finding::bad(check, seen, remedy)
        }
    }
}

/// Returns the command that makes a service manager start a failed or stopped service again.
fn begin_again(manager: Manager, socket: &Path) -> String {
    let (of, flag) = match socket == Path::new(SYSTEM_SOCKET) {
        true => ("sudo systemctl", ""),
        false => ("systemctl --user", " --user"),
    };
    match manager {
        Manager::Launchd => format!(
            "launchctl kickstart -k gui/$(id -u)/{LAUNCHD_LABEL}; or `lore service install`. `lore service status` says \
             how it is."
        ),
        Manager::Systemd | Manager::Client | Manager::None => format!(
            "`{of} reset-failed {SOCKET_UNIT} {SERVICE_UNIT}; {of} start {SOCKET_UNIT}`, or `lore service install`. \
             `journalctl{flag} -u {SERVICE_UNIT}` says why it ended."
        ),
    }
}

/// Removes the socket, only while no daemon can start there.
fn remove(doctor_cx: &DoctorContext<'_>) -> bool {
    Lock::take(&doctor_cx.paths.daemon_lock())
        .is_ok_and(|_lock| std::fs::remove_file(&doctor_cx.paths.socket).is_ok())
}

/// Checks the status of the running daemon.
fn daemon(doctor_cx: &DoctorContext<'_>, mut connection: Connection) -> Vec<Finding> {
    let status = connection
        .call("status", &Args::Json(b"{}".to_vec()))
        .map_err(|error| error.to_string())
        .and_then(|reply| {
            serde_json::from_slice::<StatusReply>(&reply.json).map_err(|error| error.to_string())
        });
    let status = match status {
        Ok(status) => status,
        Err(error) => {
            let remedy = "Restart the daemon, if it is of another version.";
            return vec![Finding::bad("socket", error, remedy)];
        }
    };
    let mut findings = report(&status);
    findings.extend(elsewhere(doctor_cx, &status));
    findings
}

/// Reports a daemon that serves another data folder; the system-wide daemon has a separate one.
fn elsewhere(doctor_cx: &DoctorContext<'_>, status: &StatusReply) -> Option<Finding> {
    let paths = doctor_cx.paths;
    let is_meant =
        Path::new(&status.data) == paths.data || paths.socket == Path::new(SYSTEM_SOCKET);
    let seen = format!(
        "the daemon that answers keeps its data in {}, not in {}",
        status.data,
        paths.data.display()
    );
    let remedy = "Say LORE_HOME, XDG_DATA_HOME and HOME as it was started with, or have a socket for each with \
                  LORE_SOCKET.";
    (!is_meant).then(|| Finding::warning("socket", seen, remedy))
}

pub fn report(status: &StatusReply) -> Vec<Finding> {
    let mut findings = vec![
        Finding::good(
            "socket",
            format!("{}, answered by process {}", status.socket, status.pid),
        ),
        version(status),
    ];
    findings.extend(status.origin.iter().map(|how| Finding::good("store", how)));
    for follower in &status.followers {
        if follower.lag > LAG_MAX {
            let seen = format!("{} is {} events behind", follower.name, follower.lag);
            let remedy =
                "It works that off by itself; if the number does not fall, see the daemon's log.";
            findings.push(Finding::warning("followers", seen, remedy));
        }
    }
    if !status
        .followers
        .iter()
        .any(|follower| follower.lag > LAG_MAX)
    {
        findings.push(Finding::good("followers", "caught up, or nearly"));
    }
    for warning in &status.warnings {
        let remedy = "See docs/running.md, or the daemon's log.";
        let finding = match status.writable && !warning.starts_with(DAMAGE_MET) {
            true => Finding::warning("daemon", warning, remedy),
            false => Finding::bad("daemon", warning, remedy),
        };
        findings.push(finding);
    }
    if status.warnings.is_empty() {
        findings.push(Finding::good("daemon", "has nothing to complain about"));
    }
    findings
}

fn version(status: &StatusReply) -> Finding {
    let ours = env!("CARGO_PKG_VERSION");
    if status.version == ours {
        return Finding::good("version", ours);
    }
    let seen = format!("the daemon is {}, this program is {ours}", status.version);
    let remedy = "Restart the daemon: `lore service install`, or `kill` its process.";
    Finding::warning("version", seen, remedy)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::State;
    use super::*;

    fn status(version: &str, lag: u64, writable: bool, warnings: &[&str]) -> StatusReply {
        let reply = serde_json::json!({
            "version": version, "pid": 1, "store": "", "position": 1, "durable": true,
            "writable": writable, "uptime": 1, "clients": 1, "socket": "/s", "data": "/d",
            "counts": {}, "sizes": {}, "limits": {}, "warnings": warnings,
            "followers": [{"name": "search", "position": 1, "lag": lag}],
        });
        serde_json::from_value(reply).unwrap()
    }

    fn state(status: &StatusReply, check: &str) -> State {
        let found = report(status)
            .into_iter()
            .find(|finding| finding.check == check);
        let found = found.unwrap();
        assert_eq!(
            found.remedy.is_some(),
            found.state != State::Good,
            "{found:?}"
        );
        found.state
    }

    /// Findings from the daemon's status: another version, a follower with a large lag, the daemon's warnings, damage.
    #[test]
    fn a_daemon_is_taken_at_its_word() {
        let ours = env!("CARGO_PKG_VERSION");
        let well = status(ours, LAG_MAX, true, &[]);
        for check in ["version", "followers", "daemon", "socket"] {
            assert_eq!(state(&well, check), State::Good, "{check}");
        }
        let damaged = format!("{DAMAGE_MET}, so this may be incomplete: position 3");
        assert_eq!(
            state(&status(ours, 0, true, &[&damaged]), "daemon"),
            State::Bad
        );
        assert_eq!(
            state(&status("0.0.1", 0, true, &[]), "version"),
            State::Warning
        );
        let behind = status(ours, LAG_MAX + 1, true, &[]);
        assert_eq!(state(&behind, "followers"), State::Warning);
        assert_eq!(
            state(&status(ours, 0, true, &["w"]), "daemon"),
            State::Warning
        );
        assert_eq!(state(&status(ours, 0, false, &["w"]), "daemon"), State::Bad);
    }
}
