//! Starts a daemon apart from the client that started it. Hosts of agents end all descendants of what they run, and a daemon
//! serves more than one host.
//!
//! A client starts this program, which starts itself a second time and ends. The second process begins a session of its
//! own, and serves only once the first is gone: it is then a child of the system's first process.

use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use lore::manager::{DETACH, DETACHED_FROM};
use rustix::process::{Pid, getppid, setsid};

use super::{GOOD, NOT_STARTED, fail};

/// Time for the first process to end. It has nothing left to do.
const PARENT_MAX: Duration = Duration::from_secs(1);
const PARENT_PAUSE: Duration = Duration::from_millis(1);

/// Starts this program again if a client wants it detached, and returns how this process ends. `None`: this process is the
/// daemon.
pub fn detach() -> Option<ExitCode> {
    if is_asked() {
        return Some(match start_again() {
            Ok(()) => ExitCode::from(GOOD),
            Err(error) => fail(&format!("cannot start itself again: {error}"), NOT_STARTED),
        });
    }
    let first = std::env::var(DETACHED_FROM).ok()?;
    let first = Pid::from_raw(first.parse().ok()?)?;
    // A process that leads a session already needs none.
    let _ = setsid();
    let begun = Instant::now();
    while getppid() == Some(first) && begun.elapsed() < PARENT_MAX {
        std::thread::sleep(PARENT_PAUSE);
    }
    None
}

fn is_asked() -> bool {
    std::env::var(DETACH).is_ok_and(|value| value == "1")
}

fn start_again() -> std::io::Result<()> {
    Command::new(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .env_remove(DETACH)
        .env(DETACHED_FROM, std::process::id().to_string())
        // Held open as long as the daemon runs: the client sees by it that the daemon has ended.
        .stdin(Stdio::inherit())
        .spawn()?;
    Ok(())
}
