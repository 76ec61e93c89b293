//! From a daemon that a client started to one that a manager runs: the first is asked to stop.

use std::thread;
use std::time::{Duration, Instant};

use lore::connection::{Connection, Error};
use lore::manager::{self, Holder};
use lore::paths::Paths;
use rustix::process::{Pid, Signal, kill_process};

use super::super::{Failure, Globals};
use super::refused;

/// How long a daemon may take to stop: what its unit gives it, too.
const STOP_MAX: Duration = Duration::from_secs(60);
const STOP_PAUSE: Duration = Duration::from_millis(10);

/// The process of a daemon that serves and that no service manager runs; `None` when there is none.
///
/// # Errors
/// When a process holds the lock that does not answer, or another one answers: which of them is to be
/// stopped is for a person to say.
pub fn running(paths: &Paths, globals: &Globals) -> Result<Option<u32>, Failure> {
    let lock = paths.daemon_lock();
    let holder = manager::holder(&lock).map_err(Error::Place)?;
    let Some(holder) = holder else {
        return Ok(None);
    };
    let Holder { pid, manager, .. } = holder;
    if manager.is_service_manager() {
        return Ok(None);
    }
    let held = pid.map_or_else(|| "a process".to_owned(), |pid| format!("process {pid}"));
    if holder.is_maintenance {
        return Err(refused(format!(
            "{held} holds {} and is not a daemon: it works on the store, as a backup or a verification does, and ends by \
             itself; nothing was stopped, repeat this then",
            lock.display()
        )));
    }
    let stop_it = format!(
        "stop the lored that holds {}, then repeat this",
        lock.display()
    );
    match Connection::connect(&paths.socket, &globals.hello()) {
        Ok(connection) if Some(connection.welcome().pid) == pid => Ok(pid),
        Ok(connection) => Err(refused(format!(
            "{held} holds the lock, but process {} answers at {}: {stop_it}",
            connection.welcome().pid,
            paths.socket.display()
        ))),
        Err(error) => Err(refused(format!(
            "{held} holds the lock and does not answer ({error}): {stop_it}"
        ))),
    }
}

/// Asks a daemon to stop, and waits until it has let go of its lock.
///
/// # Errors
/// When it cannot be asked, or goes on.
pub fn stop(pid: u32, paths: &Paths) -> Result<(), Failure> {
    let process = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let process = process.ok_or_else(|| refused(format!("{pid} is not a process")))?;
    kill_process(process, Signal::TERM)
        .map_err(|error| refused(format!("process {pid} cannot be asked to stop: {error}")))?;
    let begun = Instant::now();
    while manager::holder(&paths.daemon_lock())
        .map_err(Error::Place)?
        .is_some()
    {
        if begun.elapsed() > STOP_MAX {
            return Err(refused(format!(
                "process {pid} was asked to stop and still serves after {} s; see {}",
                STOP_MAX.as_secs(),
                paths.log().display()
            )));
        }
        #[allow(clippy::disallowed_methods, reason = "built among the tests, too")]
        thread::sleep(STOP_PAUSE);
    }
    Ok(())
}
