//! Starts the daemon when none is running: once, by one client, never by mistake, and never in addition to a
//! service manager.
//!
//! Only "no socket" or "connection refused", with the daemon's lock free, means that no daemon is running. A client
//! that finds this takes `spawn.lock` and holds it until its Hello is answered. A hundred concurrent clients
//! therefore start one daemon.

mod background;
mod trust;

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::connection::{Connection, Error};
use crate::mailbox;
use crate::manager::{self, Manager};
use crate::paths::{self, Paths, PlaceError};
use crate::protocol::frame::Hello;
use crate::protocol::{Args, Reply};

pub use background::begin;
pub use trust::is_refused_by_sandbox;
use trust::{socket_is_default, trust};

/// Time limit from a daemon's start to its first Welcome.
pub const READY_MAX: Duration = Duration::from_secs(10);

/// Time to wait for another client that is starting the daemon.
pub const SPAWN_LOCK_MAX: Duration = Duration::from_secs(15);

/// Time to wait for a service manager's socket while the daemon's lock is free: it may be about to be created
/// again.
pub const MANAGED_MAX: Duration = Duration::from_secs(2);

/// Limit on the output of a failed daemon that an error quotes, in bytes.
const SHOWN_BYTES_MAX: u64 = 2048;

/// Reason why the daemon was not started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is no daemon program.
    #[error(
        "the daemon is not running, and no `lored` program was found: not in LORE_DAEMON, not next to {beside}, not on PATH"
    )]
    NoProgram {
        /// Folder of this program.
        beside: String,
    },
    /// The program did not start.
    #[error("{program} could not be started: {error}", program = .program.display())]
    Spawn {
        /// Program path.
        program: PathBuf,
        /// System error.
        error: io::Error,
    },
    /// The daemon exited before it answered.
    #[error("{program} ended at once ({status}){}", said_note(.said), program = .program.display())]
    Ended {
        /// Program path.
        program: PathBuf,
        /// Exit status.
        status: ExitStatus,
        /// Last lines of its output.
        said: String,
    },
    /// The daemon did not answer in time.
    #[error("{who} does not answer at {socket} after {seconds} s", socket = .socket.display())]
    NotReady {
        /// Description of the expected responder.
        who: String,
        /// Expected socket.
        socket: PathBuf,
        /// Time waited, in seconds.
        seconds: f32,
    },
    /// The responsible service manager does not start the daemon.
    #[error(
        "{manager} manages lored, and no daemon listens at {socket} after {seconds} s; a second one is not started", socket = .socket.display()
    )]
    Managed {
        /// Service manager.
        manager: Manager,
        /// Expected socket.
        socket: PathBuf,
        /// Time waited, in seconds.
        seconds: f32,
    },
    /// An admin command works on the store, so it cannot be served.
    #[error(
        "{who} works on the store at {data}, for example for a backup or a verification, so no daemon serves it: call again once \
         that has ended", data = .data.display()
    )]
    Maintenance {
        /// Description of the process.
        who: String,
        /// Store folder.
        data: PathBuf,
    },
    /// The daemon at the socket serves another data folder.
    #[error(
        "the daemon at {socket} serves another home, not {data}: give each home a socket of its own, by LORE_HOME or \
         LORE_SOCKET", socket = .socket.display(), data = .data.display()
    )]
    Elsewhere {
        /// Socket of that daemon.
        socket: PathBuf,
        /// Expected data folder.
        data: PathBuf,
    },
    /// A daemon that is started in a host's sandbox has another home, or loses it with the sandbox.
    #[error(
        "no daemon is listening at {socket}, and a command in a host's sandbox does not start one", socket = .socket.display()
    )]
    Sandboxed {
        /// Expected socket.
        socket: PathBuf,
    },
    /// Another client has held the lock for too long.
    #[error("another client has been starting the daemon for {0} s; it holds {path}", path = .1.display())]
    SpawnLock(u64, PathBuf),
}

fn said_note(said: &str) -> String {
    if said.is_empty() {
        String::new()
    } else {
        format!(":\n{said}")
    }
}

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
    if mailbox::is_served_elsewhere(paths) {
        let socket = paths.socket.clone();
        return Err(StartError::Sandboxed { socket }.into());
    }
    let mut beside = manager::in_charge(paths);
    let _held_until_the_hello = match beside {
        None => {
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
        (None, Some(started)) => format!("lored was started (process {}), but", started.child.id()),
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

/// A daemon process that this client started.
struct StartedDaemon {
    program: PathBuf,
    child: Child,
    log: PathBuf,
    /// Offset in the log at which its output begins.
    log_start: u64,
}

impl StartedDaemon {
    fn spawn(paths: &Paths) -> Result<Self, Error> {
        if background::is_sandboxed() {
            let socket = paths.socket.clone();
            return Err(StartError::Sandboxed { socket }.into());
        }
        let program = find_daemon()?;
        paths::ensure_folder(&paths.state)?;
        let log = paths.log();
        let file = paths::open_file(&log, OpenOptions::new().append(true))?;
        let at_log = |error| PlaceError::Io {
            path: log.clone(),
            error,
        };
        let log_start = file.metadata().map_err(at_log)?.len();
        let also = file.try_clone().map_err(at_log)?;
        let mut command = Command::new(&program);
        command
            .env("LORE_SOCKET", &paths.socket)
            // Written into its lock file: the next client is responsible for a restart.
            .env("LORE_STARTED_BY", "client")
            .stdin(Stdio::null())
            .stdout(also)
            .stderr(file)
            // Not the caller's folder, because the daemon would prevent its removal, and not its
            // terminal's signals.
            .current_dir("/")
            .process_group(0);
        // Variables that a service manager set for this process or its parents are not for the daemon.
        for variable in [
            "NOTIFY_SOCKET",
            "WATCHDOG_USEC",
            "WATCHDOG_PID",
            "LISTEN_FDS",
            "LISTEN_PID",
        ] {
            command.env_remove(variable);
        }
        if let Some(home) = std::env::var_os("LORE_HOME").filter(|home| !home.is_empty()) {
            command.env(
                "LORE_HOME",
                std::path::absolute(&home).unwrap_or_else(|_| home.into()),
            );
        }
        let child = command.spawn().map_err(|error| StartError::Spawn {
            program: program.clone(),
            error,
        })?;
        Ok(Self {
            program,
            child,
            log,
            log_start,
        })
    }

    /// Returns an error if the daemon has exited.
    fn check(&mut self) -> Result<(), StartError> {
        match self.child.try_wait() {
            Ok(Some(status)) => Err(StartError::Ended {
                program: self.program.clone(),
                status,
                said: self.stderr().unwrap_or_default(),
            }),
            Ok(None) | Err(_) => Ok(()),
        }
    }

    /// Returns the last lines that the daemon wrote.
    fn stderr(&self) -> io::Result<String> {
        let mut file = File::open(&self.log)?;
        let end = file.metadata()?.len();
        file.seek(SeekFrom::Start(
            self.log_start.max(end.saturating_sub(SHOWN_BYTES_MAX)),
        ))?;
        let mut said = Vec::new();
        file.take(SHOWN_BYTES_MAX).read_to_end(&mut said)?;
        Ok(String::from_utf8_lossy(&said).trim().to_owned())
    }

    /// Detaches the daemon. A long-lived caller must still reap it, or it stays in the process table.
    fn leave(mut self) {
        thread::spawn(move || self.child.wait());
    }
}

/// Finds the daemon's program: `LORE_DAEMON`, then `lored` next to this program, then on PATH.
///
/// # Errors
/// [`StartError::NoProgram`].
pub fn find_daemon() -> Result<PathBuf, StartError> {
    if let Some(program) = std::env::var_os("LORE_DAEMON").filter(|program| !program.is_empty()) {
        return Ok(std::path::absolute(&program).unwrap_or_else(|_| program.into()));
    }
    let own = std::env::current_exe().ok();
    let beside = own.as_deref().and_then(Path::parent);
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    beside
        .map(Path::to_path_buf)
        .into_iter()
        .chain(std::env::split_paths(&on_path).filter(|folder| folder.is_absolute()))
        .map(|folder| folder.join("lored"))
        .find(|program| program.is_file())
        .ok_or_else(|| StartError::NoProgram {
            beside: beside
                .unwrap_or(Path::new("this program"))
                .display()
                .to_string(),
        })
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
