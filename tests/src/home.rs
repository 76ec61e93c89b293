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
use lore::paths::FileSystem;
use lore::protocol::frame::Hello;
use lore::protocol::{Args, ErrorBody};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::{refused_calls, until};

/// Time limit for a daemon's start and end, on a busy machine.
const PROCESS_MAX: Duration = Duration::from_secs(60);

/// A folder of mode 0700 with all files of one daemon.
pub struct Home {
    folder: TempDir,
    program: PathBuf,
    environment: Vec<(String, String)>,
}

/// A daemon that ended, or never served.
#[derive(Debug)]
pub struct EndedDaemon {
    /// Exit status.
    pub status: ExitStatus,
    /// Output on standard error.
    pub stderr: String,
}

/// A running daemon, killed when dropped.
pub struct Daemon {
    child: Child,
    said: StderrCapture,
    socket: PathBuf,
}

/// Standard error of a process, collected by a thread.
struct StderrCapture {
    text: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

/// Mailboxes are not in the home: a sandbox would not see them there.
impl Drop for Home {
    fn drop(&mut self) {
        for root in lore::mailbox::roots() {
            // Most homes have none.
            let _ = std::fs::remove_dir_all(lore::mailbox::store_folder(&root, &self.data()));
        }
    }
}

impl Home {
    /// Creates a home for this program; tests use [`home!`](macro@crate::home).
    pub fn new(program: &str) -> Self {
        Self::within(program, &std::env::temp_dir())
    }

    /// Creates a home on a disk, for tests of what is durable: the folder of temporary files may be in memory.
    pub fn on_disk(program: &str) -> Self {
        let usual = std::env::temp_dir();
        match FileSystem::of(&usual) {
            FileSystem::Memory => Self::within(program, Path::new("/var/tmp")),
            FileSystem::Disk | FileSystem::Overlay => Self::within(program, &usual),
        }
    }

    /// Creates a home in a folder, for example on a separate disk.
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

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the folder of the store, the durable watermark, the blobs and the lock.
    pub fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    /// Returns the path of the daemon's socket.
    pub fn socket(&self) -> PathBuf {
        self.path().join("run").join("lore.sock")
    }

    /// Writes the settings for the next start. The second tier of models is disabled by default: it would
    /// run concurrently with other tests.
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

    /// Adds a variable to the environment of daemons that start later.
    pub fn set(&mut self, name: &str, value: &str) {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    /// Removes such a variable.
    pub fn unset(&mut self, name: &str) {
        self.environment.retain(|(known, _)| known != name);
    }

    /// Creates the data folder, as the daemon would.
    pub fn make_data(&self) {
        std::fs::DirBuilder::new()
            .mode(0o700)
            .recursive(true)
            .create(self.data())
            .expect("a data folder");
    }

    /// Returns a command for the program in this home, with no other environment.
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
    pub fn spawn(&self) -> Daemon {
        self.spawn_command(self.command())
    }

    /// Returns the path of the program.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Starts a daemon by another command, such as a manager that executes it, without waiting for it.
    pub fn spawn_command(&self, mut command: Command) -> Daemon {
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the daemon starts");
        let said = StderrCapture::by(&mut child);
        Daemon {
            child,
            said,
            socket: self.socket(),
        }
    }

    /// Starts a daemon and waits until it answers a Hello.
    pub fn start(&self) -> Daemon {
        match self.try_start() {
            Ok(daemon) => daemon,
            Err(ended) => panic!("the daemon did not start: {ended}"),
        }
    }

    /// Starts a daemon and waits until it answers a Hello, or ends.
    ///
    /// # Errors
    /// The exit status and output, when the daemon ends first.
    pub fn try_start(&self) -> Result<Daemon, EndedDaemon> {
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
            Some(status) => Err(EndedDaemon {
                status,
                stderr: daemon.said.whole(),
            }),
        }
    }

    /// Runs a command of the program to its end.
    pub fn run(&self, arguments: &[&str]) -> std::process::Output {
        self.command()
            .args(arguments)
            .output()
            .expect("the program runs")
    }
}

impl Daemon {
    /// Returns the process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the path of its socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Returns its output so far.
    pub fn stderr(&self) -> String {
        self.said.so_far()
    }

    /// Connects under an agent's name.
    pub fn try_connect(&self, agent: &str) -> Result<Connection, Error> {
        let hello = Hello {
            client: "tests/1".to_owned(),
            agent: (!agent.is_empty()).then(|| agent.to_owned()),
            ..Hello::default()
        };
        Connection::connect(&self.socket, &hello)
    }

    /// Connects under an agent's name.
    pub fn connect(&self, agent: &str) -> Connection {
        self.try_connect(agent)
            .unwrap_or_else(|error| panic!("{error}; the daemon said:\n{}", self.stderr()))
    }

    /// Calls an operation on a separate connection.
    pub fn try_call(&self, name: &str, args: Value) -> Result<Value, Error> {
        call(&mut self.try_connect("")?, name, args)
    }

    /// Calls an operation on a separate connection.
    pub fn call(&self, name: &str, args: Value) -> Value {
        self.try_call(name, args)
            .unwrap_or_else(|error| panic!("{name}: {error}; the daemon said:\n{}", self.stderr()))
    }

    /// Calls an operation that must be refused and returns the error.
    pub fn refusal(&self, name: &str, args: Value) -> ErrorBody {
        match self.try_call(name, args.clone()) {
            Err(Error::Refused(body)) => body,
            other => panic!(
                "{name} {args}: {other:?}; the daemon said:\n{}",
                self.stderr()
            ),
        }
    }

    /// Makes the calls of a list, each of which must be refused as the list says: see [`refused_calls`].
    #[track_caller]
    pub fn refuses(&self, list: &str, values: &[(&str, &str)]) {
        for call in refused_calls(list, values) {
            let refusal = self.refusal(&call.name, call.args.clone()).to_json();
            call.check(&serde_json::from_slice(&refusal).expect("JSON"));
        }
    }

    /// Verifies the log and every view.
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

    /// Whether the process is still running.
    pub fn is_running(&mut self) -> bool {
        self.child
            .try_wait()
            .expect("a child to wait for")
            .is_none()
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id() as i32).expect("a process");
        kill_process(pid, signal).expect("a signal");
    }

    /// Kills the daemon with SIGKILL and waits until it is gone.
    pub fn kill(mut self) -> EndedDaemon {
        self.child.kill().expect("a signal");
        self.wait()
    }

    /// Requests a stop and waits until the daemon has ended.
    pub fn stop(self) -> EndedDaemon {
        self.signal(Signal::TERM);
        let ended = self.wait();
        assert!(ended.status.success(), "the daemon stopped badly: {ended}");
        ended
    }

    /// Waits until the daemon has ended.
    pub fn wait(mut self) -> EndedDaemon {
        let status = until("the end of the daemon", PROCESS_MAX, || {
            self.child.try_wait().expect("a child to wait for")
        });
        EndedDaemon {
            status,
            stderr: self.said.whole(),
        }
    }
}

/// Calls an operation with JSON and parses its reply.
pub fn call(connection: &mut Connection, name: &str, args: Value) -> Result<Value, Error> {
    let args = Args::Json(args.to_string().into_bytes());
    let reply = connection.call(name, &args)?;
    Ok(serde_json::from_slice(&reply.json).expect("a reply is JSON"))
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Fails if the process was already waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("the daemon said:\n{}", self.stderr());
        }
    }
}

impl StderrCapture {
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

    /// Returns all output, once the process has ended.
    fn whole(&mut self) -> String {
        if let Some(reader) = self.reader.take() {
            // The thread only reads; a panic there prints its own message.
            let _ = reader.join();
        }
        self.so_far()
    }
}

fn lock(text: &Mutex<String>) -> std::sync::MutexGuard<'_, String> {
    text.lock().unwrap_or_else(PoisonError::into_inner)
}

impl std::fmt::Display for EndedDaemon {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.status.signal() {
            Some(signal) => write!(f, "signal {signal}"),
            None => write!(f, "{}", self.status),
        }?;
        write!(f, "; it said:\n{}", self.stderr)
    }
}
