//! Other programs with durable writes, if this machine has them.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::child::{Server, find_program};
use super::figures::Figure;

/// Redis with an append-only file, with a separate folder and socket.
#[derive(Debug)]
pub struct RedisServer {
    server: Option<Server>,
    folder: tempfile::TempDir,
    program: PathBuf,
    flush: &'static str,
}

impl RedisServer {
    /// Creates a folder in `dir` for a Redis that flushes `always` or `everysec`.
    /// Returns `None` without a `redis-server` on `PATH` (or at `LORE_BENCH_REDIS`).
    pub fn find(dir: &Path, flush: &'static str) -> Option<Self> {
        let program = std::env::var_os("LORE_BENCH_REDIS")
            .filter(|path| !path.is_empty())
            .map(PathBuf::from)
            .or_else(|| find_program("redis-server"))?;
        let folder = tempfile::Builder::new()
            .prefix("lore-bench-redis-")
            .tempdir_in(dir)
            .expect("a folder for Redis");
        Some(Self {
            server: None,
            folder,
            program,
            flush,
        })
    }

    /// Returns the path of its socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("redis.sock")
    }

    /// Starts Redis, waits for its first answer, and returns the duration.
    pub fn start(&mut self) -> Duration {
        let socket = self.socket();
        let mut command = Command::new(&self.program);
        command
            .args(["--port", "0", "--save", "", "--appendonly", "yes"])
            .args([
                "--auto-aof-rewrite-percentage",
                "0",
                "--appendfsync",
                self.flush,
            ])
            .arg("--unixsocket")
            .arg(&socket)
            .arg("--dir")
            .arg(self.folder.path());
        let server = Server::start(command, || answers(&socket));
        let after = server.ready_after;
        self.server = Some(server);
        after
    }

    /// Returns its resident memory in KiB.
    pub fn rss_kib(&self) -> u64 {
        self.server
            .as_ref()
            .map_or(0, |server| super::child::rss_kib(server.pid()))
    }

    /// Returns the processor time used so far, in seconds.
    pub fn cpu_seconds(&self) -> f64 {
        self.server.as_ref().map_or(0.0, Server::cpu_seconds)
    }

    /// Stops Redis; answered writes are on disk.
    pub fn stop(&mut self) {
        if let Some(server) = self.server.take() {
            server.stop();
        }
    }
}

fn answers(socket: &Path) -> bool {
    let mut answer = [0; 7];
    UnixStream::connect(socket)
        .and_then(|mut stream| {
            stream.write_all(b"PING\r\n")?;
            stream.read_exact(&mut answer)
        })
        .is_ok()
        && answer == *b"+PONG\r\n"
}

/// Times SQLite in WAL mode with `synchronous=FULL`, where several processes insert into one file.
/// Returns `None` without a Python with SQLite.
pub fn sqlite_writers(
    dir: &Path,
    writers: usize,
    bytes: usize,
    duration: Duration,
) -> Option<Figure> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/peers.py");
    let python = find_program("python3")?;
    let output = Command::new(python)
        .arg(script)
        .args(["sqlite", "--json", "--dir"])
        .arg(dir)
        .args(["--writers", &writers.to_string()])
        .args(["--bytes", &bytes.to_string()])
        .args(["--seconds", &duration.as_secs_f64().to_string()])
        .output()
        .ok()?;
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    let number = |name: &str| said.get(name).and_then(serde_json::Value::as_f64);
    Some(Figure {
        per_second: number("per_second")?,
        ..Figure::of_quantiles(number("p50_us")?, number("p99_us")?)
    })
}

/// Costs of LangGraph's `SqliteSaver` for a run of contexts, in process.
#[derive(Debug, Clone)]
pub struct SqliteSaver {
    /// Saving a checkpoint.
    pub save: Figure,
    /// Loading the latest checkpoint.
    pub load_latest: Figure,
    /// Loading a random checkpoint by its id.
    pub load_older: Figure,
    /// Disk usage of its closed database in bytes.
    pub bytes: f64,
}

/// Saves each line of a file, a context as JSON, through `SqliteSaver`. Returns `None` if the Python at
/// `LORE_BENCH_LANGGRAPH`, or else on `PATH`, does not have the package.
pub fn sqlite_saver(dir: &Path, contexts: &Path, loads: usize) -> Option<SqliteSaver> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/sqlite_saver.py");
    let python = std::env::var_os("LORE_BENCH_LANGGRAPH")
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
        .or_else(|| find_program("python3"))?;
    let output = Command::new(python)
        .arg(script)
        .arg(contexts)
        .args(["--json", "--loads", &loads.to_string(), "--dir"])
        .arg(dir)
        .output()
        .ok()?;
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    let figure = |name: &str| {
        let at = |place: usize| said.get(name)?.get(place)?.as_f64();
        Some(Figure::of_quantiles(at(0)?, at(1)?))
    };
    Some(SqliteSaver {
        save: figure("save_us")?,
        load_latest: figure("load_latest_us")?,
        load_older: figure("load_older_us")?,
        bytes: said.get("bytes")?.as_f64()?,
    })
}

/// Costs of a search with SQLite's FTS5, in process.
#[derive(Debug, Clone, Copy)]
pub struct Fts5 {
    /// The top ten of the texts that contain all words.
    pub and: Figure,
    /// The top ten of the texts that contain any word.
    pub or: Figure,
}

/// Indexes the lines of a file with FTS5 and searches for each line of another, ranked by its BM25.
/// Returns `None` without a Python with FTS5.
pub fn sqlite_fts5(dir: &Path, texts: &Path, queries: &Path) -> Option<Fts5> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/peers.py");
    let output = Command::new(find_program("python3")?)
        .arg(script)
        .args(["fts5", "--json", "--dir"])
        .arg(dir)
        .arg("--texts")
        .arg(texts)
        .arg("--queries")
        .arg(queries)
        .output()
        .ok()?;
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    let figure = |name: &str| {
        let at = |place: usize| said.get(name)?.get(place)?.as_f64();
        Some(Figure::of_quantiles(at(0)?, at(1)?))
    };
    Some(Fts5 {
        and: figure("and_us")?,
        or: figure("or_us")?,
    })
}
