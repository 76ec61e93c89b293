//! Child processes with separate folders, which are killed on drop.
#![expect(clippy::disallowed_methods, reason = "it measures what time brings")]

use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::load::{Lored, Peer};
use lore::connection::Connection;
use lore::protocol::Args;
use lore::protocol::frame::Hello;

/// Start timeout of a server.
const READY_MAX: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_micros(200);

/// A server process; killed when dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// Time from the start to the first answer.
    pub ready_after: Duration,
}

impl Server {
    /// Starts a program and waits until `is_ready`.
    pub fn start(mut command: Command, mut is_ready: impl FnMut() -> bool) -> Self {
        let began = Instant::now();
        let name = command.get_program().to_owned();
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{} does not start: {error}", name.display()));
        let mut server = Self {
            child,
            ready_after: Duration::ZERO,
        };
        while !is_ready() {
            let ended = server.child.try_wait().ok().flatten();
            assert!(ended.is_none(), "{} ended: {ended:?}", name.display());
            assert!(began.elapsed() < READY_MAX, "{} hangs", name.display());
            std::thread::sleep(POLL);
        }
        server.ready_after = began.elapsed();
        server
    }

    /// Returns the process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the processor time used so far, in seconds.
    pub fn cpu_seconds(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid()));
        let stat = stat.unwrap_or_default();
        // After the name in brackets, the 12th and 13th number are ticks in user and system mode.
        let numbers = stat.rsplit(')').next().unwrap_or_default();
        let ticks: f64 = numbers
            .split_whitespace()
            .skip(11)
            .take(2)
            .filter_map(|ticks| ticks.parse::<f64>().ok())
            .sum();
        ticks / rustix::param::clock_ticks_per_second() as f64
    }

    /// Sends SIGKILL.
    pub fn kill(mut self) {
        self.end();
    }

    /// Requests termination and waits until the process ends.
    pub fn stop(mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.child.wait();
    }

    fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// A temporary folder for one daemon, removed when dropped.
#[derive(Debug)]
pub struct Home {
    folder: tempfile::TempDir,
    lored: PathBuf,
}

impl Home {
    /// Creates a folder in `dir` for the program `lored`.
    pub fn new(dir: &Path, lored: &str) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("lore-bench-")
            .tempdir_in(dir)
            .expect("a folder for the benchmark's data");
        Self {
            folder,
            lored: lored.into(),
        }
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the path of the daemon's socket.
    pub fn socket(&self) -> PathBuf {
        self.path().join("run/lore.sock")
    }

    /// Writes the daemon's settings.
    pub fn configure(&self, settings: &str) {
        std::fs::write(self.path().join("config.toml"), settings).expect("settings are written");
    }

    /// Starts the daemon and waits for its first answer to a call.
    pub fn start(&self) -> Server {
        let mut command = Command::new(&self.lored);
        command
            .env("LORE_HOME", self.path())
            // As `lore` and the units start it.
            .env("MIMALLOC_PURGE_DELAY", "0")
            .env("RUST_LOG", "error");
        let hello = hello();
        Server::start(command, || {
            Connection::connect(&self.socket(), &hello)
                .and_then(|mut connection| connection.call("status", &Args::Json(b"{}".to_vec())))
                .is_ok()
        })
    }

    /// Connects to the daemon.
    pub fn connect(&self) -> Connection {
        Connection::connect(&self.socket(), &hello()).expect("the daemon serves")
    }

    /// Calls an operation on a separate connection.
    pub fn call(&self, name: &str, json: &str) -> serde_json::Value {
        let args = Args::Json(json.as_bytes().to_vec());
        let reply = self.connect().call(name, &args).expect("the call is good");
        serde_json::from_slice(&reply.json).expect("a reply is JSON")
    }

    /// Creates the sessions `bench-0`, `bench-1` and so on.
    pub fn create_sessions(&self, count: usize) {
        let mut client = Lored::connect(&self.socket(), "create_session", |_| true);
        let bodies: Vec<String> = (0..count)
            .map(|number| format!(r#"{{"session":"bench-{number}"}}"#))
            .collect();
        for batch in bodies.chunks(32) {
            let batch: Vec<&[u8]> = batch.iter().map(String::as_bytes).collect();
            client.trip(&batch);
        }
    }

    /// Returns the total size of the store's files in bytes.
    pub fn bytes(&self) -> u64 {
        sum(&self.path().join("data"), &|_, data| data.len())
    }

    /// Returns the disk usage of the store's files in bytes, without the ballast file.
    pub fn bytes_allocated(&self) -> u64 {
        sum(&self.path().join("data"), &|name, data| {
            if name == "reserve" {
                0
            } else {
                data.blocks() * 512
            }
        })
    }
}

/// Sums a measure over all files below a folder.
fn sum(folder: &Path, of: &dyn Fn(&OsStr, &Metadata) -> u64) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(data) if data.is_dir() => sum(&entry.path(), of),
            Ok(data) => of(&entry.file_name(), &data),
            Err(_) => 0,
        })
        .sum()
}

/// Returns the first frame of every benchmark's connection.
pub(super) fn hello() -> Hello {
    Hello {
        client: "bench/1".to_owned(),
        ..Hello::default()
    }
}

/// Returns the total size of all files below a folder in bytes.
pub fn folder_bytes(folder: &Path) -> u64 {
    sum(folder, &|_, data| data.len())
}

/// Returns the resident memory of a process in KiB.
pub fn rss_kib(pid: u32) -> u64 {
    memory(pid, "VmRSS:")
}

/// Returns the part of the resident memory that is not mapped from files, in KiB.
pub fn rss_anon_kib(pid: u32) -> u64 {
    memory(pid, "RssAnon:")
}

fn memory(pid: u32, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix(field))
        .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

/// Finds a program on `PATH`.
pub fn find_program(name: impl AsRef<OsStr>) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths)
        .map(|folder| folder.join(name.as_ref()))
        .find(|path| path.is_file())
}
