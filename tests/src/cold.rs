//! A home in which `lore` starts the daemon when none is running, as on a person's machine.

use std::os::unix::net::UnixStream;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::{Home, until};

const GONE_MAX: Duration = Duration::from_secs(30);

/// A home without a daemon, and the programs; tests use [`cold!`](macro@crate::cold).
pub struct ColdHome {
    /// The home.
    pub home: Home,
    lore: &'static str,
    lored: &'static str,
}

impl ColdHome {
    /// Creates a home for these two programs.
    pub fn new(lore: &'static str, lored: &'static str) -> Self {
        Self {
            home: Home::new(lored),
            lore,
            lored,
        }
    }

    /// Replaces the home.
    #[must_use]
    pub fn with_home(self, home: Home) -> Self {
        Self { home, ..self }
    }

    /// Replaces the home by one [on a disk](Home::on_disk).
    #[must_use]
    pub fn on_disk(self) -> Self {
        let home = Home::on_disk(self.lored);
        self.with_home(home)
    }

    /// Returns a command for `lore` with arguments, restricted to this home.
    pub fn lore(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.lore);
        command
            .env_clear()
            .env("LORE_HOME", self.home.path())
            .env("LORE_DAEMON", self.lored)
            .args(arguments)
            .stdin(Stdio::null());
        command
    }

    /// Runs `lore` to its end.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.lore(arguments).output().expect("lore runs")
    }

    /// Returns a command that runs a shell line in a separate folder, with `lore` on the path.
    pub fn shell(&self, line: &str) -> Command {
        let (programs, work) = (
            self.home.path().join("bin"),
            self.home.path().join("agents"),
        );
        for folder in [&programs, &work] {
            std::fs::create_dir_all(folder).expect("a folder");
        }
        let link = programs.join("lore");
        if !link.exists() {
            std::os::unix::fs::symlink(self.lore, &link).expect("a link");
        }
        let mut command = Command::new("sh");
        command
            .args(["-c", line])
            .env_clear()
            .env("LORE_HOME", self.home.path())
            .env("LORE_DAEMON", self.lored)
            .env("PATH", format!("{}:/usr/bin:/bin", programs.display()))
            .current_dir(work);
        command
    }

    /// Runs `lore` and parses its output as JSON.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {output:?}"))
    }

    /// Returns the daemon's process id; the call starts a daemon if none is running.
    pub fn pid(&self) -> u64 {
        self.json(&["call", "status", "{}"])
            .get("pid")
            .and_then(Value::as_u64)
            .expect("status tells the pid")
    }

    /// Sends a signal.
    pub fn signal(&self, pid: u64, signal: Signal) {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("a process id"), signal).expect("the daemon is there");
    }
}

impl Drop for ColdHome {
    /// Stops the daemon that any call has started.
    fn drop(&mut self) {
        let Ok(stream) = UnixStream::connect(self.home.socket()) else {
            return;
        };
        drop(stream);
        let pid = self.pid();
        self.signal(pid, Signal::KILL);
        until("the daemon is gone", GONE_MAX, || {
            UnixStream::connect(self.home.socket())
                .is_err()
                .then_some(())
        });
    }
}
