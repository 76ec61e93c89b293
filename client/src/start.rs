//! Starts the daemon when none is running: once, by one client, never by mistake, and never in addition to a
//! service manager.
//!
//! Only "no socket" or "connection refused", with the daemon's lock free, means that no daemon is running. A client
//! that finds this takes `spawn.lock` and holds it until its Hello is answered. A hundred concurrent clients
//! therefore start one daemon.

mod background;
mod daemon;
mod error;
mod place;
mod trust;

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::connection::{Connection, Error, SocketState};
use crate::manager::{self, Manager};
use crate::paths::{self, Paths, PlaceError};
use crate::protocol::frame::Hello;
use crate::protocol::{Args, Reply};

pub use background::begin;
use daemon::StartedDaemon;
pub use daemon::find_daemon;
pub use error::StartError;
pub use place::PlaceDoubt;
pub use trust::is_refused_by_sandbox;
use trust::{socket_is_default, trust};

/// Time limit from a daemon's start to its first Welcome.
pub const READY_MAX: Duration = Duration::from_secs(10);

/// Time to wait for another client that is starting the daemon.
pub const SPAWN_LOCK_MAX: Duration = Duration::from_secs(15);

/// Time to wait for a service manager's socket while the daemon's lock is free: it may be about to be created
/// again.
pub const MANAGED_MAX: Duration = Duration::from_secs(2);

/// Connects to the daemon; starts it if none is running.
///
/// # Errors
/// When the daemon can neither be reached nor started.
pub fn connect(paths: &Paths, hello: &Hello) -> Result<Connection, Error> {
    connect_within(READY_MAX, paths, hello)
}

/// Like [`connect`], with a limit other than [`READY_MAX`].
///
/// # Errors
/// As [`connect`].
pub fn connect_within(
    ready_max: Duration,
    paths: &Paths,
    hello: &Hello,
) -> Result<Connection, Error> {
    match attempt(paths, hello) {
        Err(Error::NotListening { .. }) => connect_or_start(ready_max, paths, hello),
        // The daemon was stopping: wait for the next one.
        Err(Error::Unreachable { error, .. }) if is_gone(&error) => {
            connect_or_start(ready_max, paths, hello)
        }
        outcome => outcome,
    }
}

/// Connects to the daemon if one is running; does not start it.
///
/// # Errors
/// As [`Connection::connect`], and when the socket cannot be trusted.
pub fn connect_once(paths: &Paths, hello: &Hello) -> Result<Connection, Error> {
    attempt(paths, hello)
}

/// Makes one connection attempt.
fn attempt(paths: &Paths, hello: &Hello) -> Result<Connection, Error> {
    trust(paths)?;
    // A stopping daemon removes its socket before it releases its lock. A second attempt therefore reaches
    // another daemon.
    for _ in 0..2 {
        let connection = Connection::connect(&paths.socket, hello)?;
        if is_served(paths) {
            return Ok(connection);
        }
    }
    Err(StartError::Elsewhere {
        socket: paths.socket.clone(),
        data: paths.data.clone(),
    }
    .into())
}

/// Returns whether the daemon at the socket serves this data folder, according to its lock. Two homes of one user
/// share the default socket, and a call must not reach the other home's memory. With `LORE_HOME` each home has a
/// separate socket.
fn is_served(paths: &Paths) -> bool {
    paths::variable("LORE_HOME").is_some_and(|home| !home.is_empty())
        || !socket_is_default(paths)
        || !matches!(manager::holder(&paths.daemon_lock()), Ok(None))
}

/// Connects and calls in one attempt, without starting a daemon. The call is sent only after the check that this
/// data folder is served.
///
/// # Errors
/// As [`Connection::connect_and_call`], and when the socket cannot be trusted.
pub fn call_once(
    paths: &Paths,
    hello: &Hello,
    name: &str,
    args: &Args,
) -> Result<(Connection, Reply), Error> {
    trust(paths)?;
    if !is_served(paths) {
        return Err(Error::NotListening {
            path: paths.socket.clone(),
            state: SocketState::OtherHome,
        });
    }
    Connection::connect_and_call(&paths.socket, hello, name, args)
}

fn connect_or_start(
    ready_max: Duration,
    paths: &Paths,
    hello: &Hello,
) -> Result<Connection, Error> {
    let mut started = None;
    let connected = connect_until_ready(ready_max, paths, hello, &mut started);
    if let Some(started) = started {
        started.leave();
    }
    connected
}

/// Connects to the running daemon; starts one if none is running and no other process is responsible.
fn connect_until_ready(
    mut ready_max: Duration,
    paths: &Paths,
    hello: &Hello,
    started: &mut Option<StartedDaemon>,
) -> Result<Connection, Error> {
    let mut beside = manager::in_charge(paths);
    let _held_until_the_hello = match beside {
        None => {
            check_place(paths)?;
            paths::ensure_folder(&paths.data)?;
            Some(hold_spawning(paths)?)
        }
        Some(_) => None,
    };
    let begun = Instant::now();
    let mut pause = Backoff::default();
    loop {
        let is_not_running = match attempt(paths, hello) {
            Ok(connection) => return Ok(connection),
            Err(Error::NotListening { .. }) => true,
            // The daemon went away between accept and answer, which does not prove that none is running.
            Err(Error::Unreachable { error, .. }) if is_gone(&error) => false,
            Err(error) => return Err(error),
        };
        if is_not_running {
            let holder = manager::holder(&paths.daemon_lock())?;
            match (holder, beside, started.as_mut()) {
                (Some(holder), None, _) if holder.manager.is_service_manager() => {
                    beside = Some(holder.manager);
                }
                (Some(_), _, _) => {}
                (None, Some(_), _) => ready_max = ready_max.min(MANAGED_MAX),
                (None, None, None) => *started = Some(StartedDaemon::spawn(paths)?),
                (None, None, Some(started)) => started.check()?,
            }
        }
        if begun.elapsed() >= ready_max {
            return Err(not_ready(ready_max, paths, beside, started.as_ref()).into());
        }
        pause.take();
    }
}

/// Refuses to start a daemon in a place that may be lost, before anything is made there. One that is starting already is
/// waited for.
fn check_place(paths: &Paths) -> Result<(), StartError> {
    match place::doubt(paths) {
        Some(doubt) if !matches!(manager::holder(&paths.daemon_lock()), Ok(Some(_))) => {
            Err(StartError::sandboxed(paths, doubt))
        }
        Some(_) | None => Ok(()),
    }
}

fn is_gone(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionReset | UnexpectedEof)
}

fn not_ready(
    ready_max: Duration,
    paths: &Paths,
    beside: Option<Manager>,
    started: Option<&StartedDaemon>,
) -> StartError {
    if let Ok(Some(holder)) = manager::holder(&paths.daemon_lock())
        && holder.is_maintenance
    {
        let pid = holder.pid.map(|pid| format!("process {pid}"));
        return StartError::Maintenance {
            who: pid.unwrap_or_else(|| "a process".to_owned()),
            data: paths.data.clone(),
        };
    }
    let socket = paths.socket.clone();
    let seconds = ready_max.as_secs_f32();
    let who = match (beside, started) {
        (Some(manager), _) => {
            return StartError::Managed {
                manager,
                socket,
                seconds,
            };
        }
        (None, Some(_)) => "lored was started, but".to_owned(),
        (None, None) => format!("a lored holds {}, but", paths.daemon_lock().display()),
    };
    StartError::NotReady {
        who,
        socket,
        seconds,
    }
}

/// Takes the lock under which a daemon may be started: while it is held, no client starts one.
///
/// # Errors
/// When another process holds it for longer than [`SPAWN_LOCK_MAX`], or the lock file cannot be used.
pub fn hold_spawning(paths: &Paths) -> Result<File, Error> {
    let path = paths.spawn_lock();
    let file = open_lock(&path)?;
    let until = Instant::now() + SPAWN_LOCK_MAX;
    let mut pause = Backoff::default();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < until => pause.take(),
            Err(TryLockError::WouldBlock) => {
                return Err(StartError::SpawnLock(SPAWN_LOCK_MAX.as_secs(), path).into());
            }
            Err(TryLockError::Error(error)) => return Err(PlaceError::Io { path, error }.into()),
        }
    }
}

fn open_lock(path: &Path) -> Result<File, PlaceError> {
    paths::open_file(path, OpenOptions::new().truncate(false).write(true))
}

/// Growing pauses between attempts, from 1 to 50 ms.
struct Backoff(Duration);

impl Default for Backoff {
    fn default() -> Self {
        Self(Duration::from_millis(1))
    }
}

impl Backoff {
    fn take(&mut self) {
        thread::sleep(self.0);
        self.0 = (self.0 * 3 / 2).min(Duration::from_millis(50));
    }
}
