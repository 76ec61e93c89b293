//! Detects the service manager and notifies it: readiness, reloading, stopping, and liveness.
//!
//! The messages follow systemd's `sd_notify(3)`; without a manager that accepts them they are dropped.

use std::io;
use std::sync::OnceLock;
use std::time::Duration;

use lore::manager::Manager;
use sd_notify::NotifyState;

/// Set by a client for a daemon that it starts.
pub const STARTED_BY: &str = "LORE_STARTED_BY";

/// Returns the manager of this process, from the environment at the first call: taking an inherited socket clears
/// those variables.
#[must_use]
pub fn find() -> Manager {
    static FOUND: OnceLock<Manager> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        of(variable, std::process::id())
    })
}

/// Variables are inherited by child processes: only variables that name this process id are valid.
fn of(variable: impl Fn(&str) -> Option<String>, pid: u32) -> Manager {
    let is_launchd = |name: String| name.contains("lored");
    let names_us = |name| variable(name).is_some_and(|value| value == pid.to_string());
    if variable(STARTED_BY).as_deref() == Some("client") {
        Manager::Client
    } else if variable("NOTIFY_SOCKET").is_some()
        || names_us("LISTEN_PID")
        || names_us("SYSTEMD_EXEC_PID")
    {
        Manager::Systemd
    } else if variable("XPC_SERVICE_NAME").is_some_and(is_launchd) {
        Manager::Launchd
    } else {
        Manager::None
    }
}

/// Notification to the manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManagerMessage<'t> {
    /// The daemon answers calls; with a status text for people.
    Ready(&'t str),
    /// The settings are being reloaded; [`ManagerMessage::Ready`] follows.
    Reloading,
    /// The daemon is stopping.
    Stopping,
    /// The daemon is alive.
    Alive,
    /// Recovery is running: the start needs this much longer.
    Longer(Duration),
}

/// Notifies the manager, if there is one.
///
/// # Errors
/// When the manager does not listen; only the manager's own timeout depends on it.
pub fn notify(news: ManagerMessage<'_>) -> io::Result<()> {
    match news {
        ManagerMessage::Ready(sentence) => {
            sd_notify::notify(&[NotifyState::Ready, NotifyState::Status(sentence)])
        }
        ManagerMessage::Reloading => {
            sd_notify::notify(&[NotifyState::Reloading, NotifyState::monotonic_usec_now()?])
        }
        ManagerMessage::Stopping => sd_notify::notify(&[NotifyState::Stopping]),
        ManagerMessage::Alive => sd_notify::notify(&[NotifyState::Watchdog]),
        ManagerMessage::Longer(time) => {
            let micros = u32::try_from(time.as_micros()).unwrap_or(u32::MAX);
            sd_notify::notify(&[NotifyState::ExtendTimeoutUsec(micros)])
        }
    }
}

/// Returns the manager's watchdog interval; `None` without a watchdog.
#[must_use]
pub fn watchdog() -> Option<Duration> {
    sd_notify::watchdog_enabled().filter(|time| !time.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_tells_who_manages() {
        let found = |set: &[(&str, &str)]| {
            let variable = |name: &str| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            of(variable, 7)
        };
        assert_eq!(found(&[]), Manager::None);
        assert_eq!(found(&[("NOTIFY_SOCKET", "/run/n")]), Manager::Systemd);
        assert_eq!(found(&[("SYSTEMD_EXEC_PID", "7")]), Manager::Systemd);
        assert_eq!(found(&[("LISTEN_PID", "7")]), Manager::Systemd);
        assert_eq!(
            found(&[("SYSTEMD_EXEC_PID", "8")]),
            Manager::None,
            "it meant a parent"
        );
        assert_eq!(found(&[("XPC_SERVICE_NAME", "0")]), Manager::None);
        assert_eq!(found(&[("XPC_SERVICE_NAME", "io.lored")]), Manager::Launchd);
        assert_eq!(found(&[(STARTED_BY, "client")]), Manager::Client);
        assert_eq!(
            found(&[(STARTED_BY, "client"), ("NOTIFY_SOCKET", "/run/n")]),
            Manager::Client
        );
        assert_eq!(found(&[(STARTED_BY, "somebody")]), Manager::None);
    }
}
