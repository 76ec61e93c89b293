//! A home, and the daemon that serves it.

use std::io::Read;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use lore::connection::{Connection, Error};
use lore::protocol::frame::Hello;
use lore::protocol::{Args, ErrorBody};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::until;

/// How long a daemon may take to start or to end, on a machine that does other things, too.
const PROCESS_MAX: Duration = Duration::from_secs(60);

/// A folder of mode 0700 with everything of one daemon in it.
pub struct Home {
    folder: TempDir,
    program: PathBuf,
    environment: Vec<(String, String)>,
}

/// A daemon that ended, or never served.
#[derive(Debug)]
pub struct Ended {
    /// How.
    pub status: ExitStatus,
    /// What it said.
    pub stderr: String,
}

/// A running daemon. Dropped, it is killed.
pub struct Daemon {
    child: Child,
    said: Said,
    socket: PathBuf,
}

/// What a process says on standard error, gathered by a thread.
struct Said {
    text: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

impl Home {
    /// A fresh home for this program; tests use [`home!`](crate::home).
    ///
    /// # Panics
    /// When there is no place for temporary folders.
    #[must_use]
    pub fn new(program: &str) -> Self {
        Self::within(program, &std::env::temp_dir())
    }

    /// A fresh home in a given folder: on a disk of its own, say.
    ///
    /// # Panics
    /// When nothing can be made there.
    #[must_use]
    pub fn within(program: &str, folder: &Path) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("lore-")
            .tempdir_in(folder)
            .expect("a temporary folder");
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700))
            .expect("a private folder");
        let home = Self {
            folder,
            program: PathBuf::from(program),
            environment: Vec::new(),
        };
        home.configure("");
        home
    }

    /// The folder itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The folder of the store, the head, the blobs and the lock.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    /// Where the daemon listens.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.path().join("run").join("lore.sock")
    }

    /// Writes the settings for the next start. Unless they say otherwise, the second tier of models
    /// rests: it would work on beside other tests.
    ///
    /// # Panics
    /// When they cannot be written.
    pub fn configure(&self, toml: &str) {
        let says_it = toml.contains("[search]");
        let rest = if says_it {
            ""
        } else {
            "\n[search]\nsecond_tier = false\n"
        };
        std::fs::write(self.path().join("config.toml"), format!("{toml}{rest}"))
            .expect("settings are written");
    }

    /// Adds a variable to the environment of the daemons started from now on.
    pub fn set(&mut self, name: &str, value: &str) {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    /// Takes a variable away again.
    pub fn unset(&mut self, name: &str) {
        self.environment.retain(|(known, _)| known != name);
    }

    /// Makes the data folder, as the daemon would.
    ///
    /// # Panics
    /// When it cannot be made.
    pub fn make_data(&self) {
        std::fs::DirBuilder::new()
            .mode(0o700)
            .recursive(true)
            .create(self.data())
            .expect("a data folder");
    }

    /// The program, in this home, with nothing else in its environment.
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .env_clear()
            .env("LORE_HOME", self.path())
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    /// Starts a daemon without waiting for it.
    ///
    /// # Panics
    /// When there is no such program.
    #[must_use]
    pub fn spawn(&self) -> Daemon {
        self.spawn_command(self.command())
    }

    /// The program itself.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Starts a daemon by a command of one's own, such as a manager that becomes it, without waiting for it.
    ///
    /// # Panics
    /// When there is no such program.
    #[must_use]
    pub fn spawn_command(&self, mut command: Command) -> Daemon {
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the daemon starts");
        let said = Said::by(&mut child);
        Daemon {
            child,
            said,
            socket: self.socket(),
        }
    }

    /// Starts a daemon and waits until it answers a Hello.
    ///
    /// # Panics
    /// When it does not, with what it said.
    #[must_use]
    pub fn start(&self) -> Daemon {
        match self.try_start() {
            Ok(daemon) => daemon,
            Err(ended) => panic!("the daemon did not start: {ended}"),
        }
    }

    /// Starts a daemon and waits until it answers a Hello, or ends.
    ///
    /// # Errors
    /// How it ended.
    ///
    /// # Panics
    /// When it does neither in a minute.
    pub fn try_start(&self) -> Result<Daemon, Ended> {
        let mut daemon = self.spawn();
        let start = Instant::now();
        let ended = until("a daemon that serves or ends", 2 * PROCESS_MAX, || {
            if daemon.try_connect("").is_ok() {
                return Some(None);
            }
            if let Some(status) = daemon.child.try_wait().expect("a child to wait for") {
                return Some(Some(status));
            }
            assert!(
                start.elapsed() < PROCESS_MAX,
                "the daemon neither serves nor ends; it said:\n{}",
                daemon.stderr()
            );
            None
        });
        match ended {
            None => Ok(daemon),
            Some(status) => Err(Ended {
                status,
                stderr: daemon.said.whole(),
            }),
        }
    }

    /// Runs a command of the program to its end.
    ///
    /// # Panics
    /// When it does not run.
    #[must_use]
    pub fn run(&self, arguments: &[&str]) -> std::process::Output {
        self.command()
            .args(arguments)
            .output()
            .expect("the program runs")
    }
}

impl Daemon {
    /// Its process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Where it listens.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// What it has said so far.
    #[must_use]
    pub fn stderr(&self) -> String {
        self.said.so_far()
    }

    /// A connection under an agent's name.
    ///
    /// # Errors
    /// Why there is none.
    pub fn try_connect(&self, agent: &str) -> Result<Connection, Error> {
        let hello = Hello {
            client: "tests/1".to_owned(),
            agent: (!agent.is_empty()).then(|| agent.to_owned()),
            ..Hello::default()
        };
        Connection::connect(&self.socket, &hello)
    }

    /// A connection under an agent's name.
    ///
    /// # Panics
    /// When there is none, with what the daemon said.
    #[must_use]
    pub fn connect(&self, agent: &str) -> Connection {
        self.try_connect(agent)
            .unwrap_or_else(|error| panic!("{error}; the daemon said:\n{}", self.stderr()))
    }

    /// Calls an operation on a connection of its own.
    ///
    /// # Errors
    /// What the daemon refuses, or why it cannot be asked.
    pub fn try_call(&self, name: &str, args: Value) -> Result<Value, Error> {
        call(&mut self.try_connect("")?, name, args)
    }

    /// Calls an operation on a connection of its own.
    ///
    /// # Panics
    /// When there is no reply, with what the daemon said.
    pub fn call(&self, name: &str, args: Value) -> Value {
        self.try_call(name, args)
            .unwrap_or_else(|error| panic!("{name}: {error}; the daemon said:\n{}", self.stderr()))
    }

    /// Calls an operation that is to be refused.
    ///
    /// # Panics
    /// When it is not, or not by the daemon.
    pub fn refusal(&self, name: &str, args: Value) -> ErrorBody {
        match self.try_call(name, args.clone()) {
            Err(Error::Refused(body)) => body,
            other => panic!(
                "{name} {args}: {other:?}; the daemon said:\n{}",
                self.stderr()
            ),
        }
    }

    /// Proves the log and every view.
    ///
    /// # Panics
    /// When something is found, with what the daemon said.
    pub fn verify(&self) -> u64 {
        let reply = self.call("verify_log", serde_json::json!({}));
        assert_eq!(
            reply.get("ok"),
            Some(&Value::Bool(true)),
            "{reply:#}\n{}",
            self.stderr()
        );
        reply.get("events").and_then(Value::as_u64).expect("events")
    }

    /// Whether it is still running.
    ///
    /// # Panics
    /// When the system does not say.
    pub fn is_running(&mut self) -> bool {
        self.child
            .try_wait()
            .expect("a child to wait for")
            .is_none()
    }

    /// Sends a signal.
    ///
    /// # Panics
    /// When it cannot be sent.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id() as i32).expect("a process");
        kill_process(pid, signal).expect("a signal");
    }

    /// Kills it with -9 and waits until it is gone.
    ///
    /// # Panics
    /// When it cannot be killed.
    pub fn kill(mut self) -> Ended {
        self.child.kill().expect("a signal");
        self.wait()
    }

    /// Asks it to stop and waits until it has.
    ///
    /// # Panics
    /// When it does not, or not in peace.
    pub fn stop(self) -> Ended {
        self.signal(Signal::TERM);
        let ended = self.wait();
        assert!(ended.status.success(), "the daemon stopped badly: {ended}");
        ended
    }

    /// Waits until it has ended.
    ///
    /// # Panics
    /// When it does not in a minute.
    pub fn wait(mut self) -> Ended {
        let status = until("the end of the daemon", PROCESS_MAX, || {
            self.child.try_wait().expect("a child to wait for")
        });
        Ended {
            status,
            stderr: self.said.whole(),
        }
    }
}

/// Calls an operation with JSON and reads its reply.
///
/// # Errors
/// As [`Connection::call`].
///
/// # Panics
/// When the reply is no JSON.
pub fn call(connection: &mut Connection, name: &str, args: Value) -> Result<Value, Error> {
    let args = Args::Json(args.to_string().into_bytes());
    let reply = connection.call(name, &args)?;
    Ok(serde_json::from_slice(&reply.json).expect("a reply is JSON"))
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Gone already, when it was waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("the daemon said:\n{}", self.stderr());
        }
    }
}

impl Said {
    fn by(child: &mut Child) -> Self {
        let text = Arc::new(Mutex::new(String::new()));
        let into = Arc::clone(&text);
        let mut from = child.stderr.take().expect("a pipe");
        let reader = std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(read @ 1..) = from.read(&mut piece) {
                let piece = piece.get(..read).unwrap_or_default();
                lock(&into).push_str(&String::from_utf8_lossy(piece));
            }
        });
        Self {
            text,
            reader: Some(reader),
        }
    }

    fn so_far(&self) -> String {
        lock(&self.text).clone()
    }

    /// All of it, once the process has ended.
    fn whole(&mut self) -> String {
        if let Some(reader) = self.reader.take() {
            // It only reads; a panic there is its own message.
            let _ = reader.join();
        }
        self.so_far()
    }
}

fn lock(text: &Mutex<String>) -> std::sync::MutexGuard<'_, String> {
    text.lock().unwrap_or_else(PoisonError::into_inner)
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.status.signal() {
            Some(signal) => write!(f, "signal {signal}"),
            None => write!(f, "{}", self.status),
        }?;
        write!(f, "; it said:\n{}", self.stderr)
    }
}
