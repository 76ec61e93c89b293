//! Handover from a daemon that a client started to a daemon under a service manager: stops the first.

use std::thread;
use std::time::{Duration, Instant};

use lore::connection::{Connection, Error};
use lore::manager::{self, Holder};
use lore::paths::Paths;
use rustix::process::{Pid, Signal, kill_process};

use super::super::{Failure, Globals};
use super::refused;

/// Time limit for a daemon to stop; its unit has the same limit.
const STOP_MAX: Duration = Duration::from_secs(60);
const STOP_PAUSE: Duration = Duration::from_millis(10);

/// Returns the process of a serving daemon that no service manager runs; `None` without such a daemon.
///
/// # Errors
/// When the lock's holder does not answer, or another process answers: the user must decide which to stop.
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

/// Stops a daemon and waits until it releases its lock.
///
/// # Errors
/// When it cannot be signalled or does not stop.
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
