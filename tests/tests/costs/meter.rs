//! Meters: programs that run a daemon, or one call of `lore`, and count its resource use.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use rustix::fs::statvfs;
use tempfile::TempDir;
use tests::{Daemon, Home};

/// More than the size of all stores, traces and dumps.
const ROOM: u64 = 512 << 20;

/// Returns the parent folder of all homes: in memory if it has space, because a busy disk makes daemons wait.
pub fn place() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let has_room = statvfs(memory).is_ok_and(|room| room.f_bavail * room.f_frsize > ROOM);
    if has_room {
        memory.to_owned()
    } else {
        std::env::temp_dir()
    }
}

/// Creates a folder for a meter's output, outside the home: the daemon watches the home, and would wake up.
fn folder() -> TempDir {
    TempDir::new_in(place()).expect("a folder")
}

/// Counted units, independent of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    Instructions,
    Allocations,
    AllocatedBytes,
    SystemCalls,
    WrittenBytes,
    /// Waits that ended.
    WakeUps,
}

const UNITS: [(Unit, &str); 6] = [
    (Unit::Instructions, "instructions"),
    (Unit::Allocations, "allocations"),
    (Unit::AllocatedBytes, "allocated bytes"),
    (Unit::SystemCalls, "system calls"),
    (Unit::WrittenBytes, "written bytes"),
    (Unit::WakeUps, "wake-ups"),
];

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = UNITS.iter().find(|(unit, _)| unit == self);
        f.pad(name.map_or("", |(_, name)| name))
    }
}

impl FromStr for Unit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unit = UNITS.iter().find(|(_, name)| *name == text);
        unit.map(|(unit, _)| *unit)
            .ok_or_else(|| format!("unknown unit `{text}`"))
    }
}

/// Counts by unit.
pub type Counts = BTreeMap<Unit, u64>;

/// Runs a daemon and counts its resource use.
pub trait Meter {
    /// Returns the command that starts the daemon of a home.
    fn command(&self, home: &Home) -> Command;

    /// Returns the daemon's use since the last reading, or since its start.
    fn read(&mut self, daemon: &Daemon) -> Counts;
}

/// Instructions of all threads, by callgrind. Valgrind gives every program the same processor with few
/// features, and runs one thread at a time.
#[derive(Debug)]
pub struct Callgrind {
    folder: TempDir,
    readings: usize,
}

impl Callgrind {
    pub fn new() -> Self {
        Self {
            folder: folder(),
            readings: 0,
        }
    }

    /// Returns the pipe on which callgrind accepts requests for a dump.
    fn pipe(&self) -> String {
        format!(
            "--vgdb-prefix={}",
            self.folder.path().join("vgdb").display()
        )
    }
}

const CALLGRIND: [&str; 3] = ["--tool=callgrind", "--dump-line=no", "--fair-sched=yes"];

impl Meter for Callgrind {
    fn command(&self, home: &Home) -> Command {
        let mut arguments: Vec<String> = CALLGRIND.map(str::to_owned).to_vec();
        arguments.push(format!("--callgrind-out-file={}", dump(self.folder.path())));
        arguments.push(self.pipe());
        under("valgrind", &arguments, &home.command())
    }

    fn read(&mut self, daemon: &Daemon) -> Counts {
        let pid = format!("--pid={}", daemon.pid());
        let asked = Command::new("vgdb")
            .args([&self.pipe(), &pid, "dump"])
            .output()
            .expect("vgdb, of valgrind, runs");
        assert!(asked.status.success(), "vgdb: {asked:?}");
        self.readings += 1;
        let dump = PathBuf::from(format!("{}.{}", dump(self.folder.path()), self.readings));
        let counts = instructions(&dump);
        // Each dump is large, and in memory.
        let _ = std::fs::remove_file(&dump);
        counts
    }
}

fn dump(folder: &Path) -> String {
    folder.join("callgrind").display().to_string()
}

/// Reads the total of a file that callgrind wrote.
fn instructions(dump: &Path) -> Counts {
    let text = std::fs::read_to_string(dump);
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", dump.display()));
    let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
    let total = total.and_then(|total| total.trim().parse().ok());
    let total = total.unwrap_or_else(|| panic!("{} has no total", dump.display()));
    Counts::from([(Unit::Instructions, total)])
}

/// System calls and the bytes that they write to files, by strace.
#[derive(Debug)]
pub struct Strace {
    folder: TempDir,
    lines: Lines,
}

impl Strace {
    pub fn new() -> Self {
        Self {
            folder: folder(),
            lines: Lines::default(),
        }
    }
}

impl Meter for Strace {
    fn command(&self, home: &Home) -> Command {
        let mut arguments: Vec<String> = STRACE.map(str::to_owned).to_vec();
        // The daemon stays the direct child, so that it can be stopped.
        arguments.push("--daemonize=grandchild".to_owned());
        arguments.push(format!("--output={}", trace(self.folder.path()).display()));
        under("strace", &arguments, &home.command())
    }

    fn read(&mut self, _: &Daemon) -> Counts {
        self.lines.read(&trace(self.folder.path()))
    }
}

const STRACE: [&str; 4] = [
    "--follow-forks",
    "--decode-fds=path",
    "--string-limit=0",
    "--quiet=all",
];

fn trace(folder: &Path) -> PathBuf {
    folder.join("strace")
}

/// Calls by which a thread waits.
const WAITS: [&str; 4] = ["futex", "epoll_wait", "poll", "clock_nanosleep"];
/// Calls that depend on the scheduling of pool threads and on the allocator's clean-ups.
const HOUSEKEEPING: [&str; 17] = [
    "brk",
    "clone3",
    "exit",
    "getrandom",
    "gettid",
    "madvise",
    "mmap",
    "mprotect",
    "munmap",
    "prctl",
    "rseq",
    "rt_sigprocmask",
    "sched_getaffinity",
    "sched_yield",
    "set_robust_list",
    "setpriority",
    "sigaltstack",
];
const WRITES: [&str; 5] = ["write", "pwrite64", "writev", "pwritev", "pwritev2"];

/// Parser of a growing trace.
#[derive(Debug, Default)]
struct Lines {
    offset: u64,
    /// Unfinished calls of the threads.
    begun: BTreeMap<String, Call>,
}

/// Class of a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Wait,
    /// Housekeeping, or a wake-up of another thread.
    Uncounted,
    /// A write to a file with a path, unlike sockets and pipes.
    Write,
    Other,
}

impl Call {
    fn of(text: &str) -> Self {
        let (name, arguments) = text.split_once('(').unwrap_or((text, ""));
        let (file, path) = arguments.split_once('<').unwrap_or((arguments, ""));
        let is_file = !file.is_empty() && file.bytes().all(|byte| byte.is_ascii_digit());
        if WAITS.contains(&name) {
            Self::Wait
        } else if HOUSEKEEPING.contains(&name) || (is_file && path.starts_with("anon_inode")) {
            Self::Uncounted
        } else if WRITES.contains(&name) && is_file && path.starts_with('/') {
            Self::Write
        } else {
            Self::Other
        }
    }
}

impl Lines {
    fn read(&mut self, trace: &Path) -> Counts {
        let mut file = std::fs::File::open(trace).expect("strace wrote a trace");
        file.seek(SeekFrom::Start(self.offset))
            .expect("a trace is a file");
        let mut file = BufReader::new(file);
        let (mut calls, mut written, mut wake_ups) = (0, 0, 0);
        let mut line = String::new();
        while file.read_line(&mut line).expect("a trace is text") > 0 && line.ends_with('\n') {
            self.offset += line.len() as u64;
            match self.finished(line.trim_end()) {
                // Failed attempts are not counted: their number depends on the scheduling.
                Some((_, "-1 EAGAIN")) | Some((Call::Uncounted, _)) | None => {}
                Some((Call::Wait, _)) => wake_ups += 1,
                Some((call, result)) => {
                    calls += 1;
                    let bytes = result.parse().unwrap_or(0);
                    written += if call == Call::Write { bytes } else { 0 };
                }
            }
            line.clear();
        }
        Counts::from([
            (Unit::SystemCalls, calls),
            (Unit::WrittenBytes, written),
            (Unit::WakeUps, wake_ups),
        ])
    }

    /// Returns a call and its result, if the line ends one.
    fn finished<'l>(&mut self, line: &'l str) -> Option<(Call, &'l str)> {
        let (thread, rest) = line.split_once(' ')?;
        let rest = rest.trim_start();
        if let Some(begun) = rest.strip_suffix("<unfinished ...>") {
            self.begun.insert(thread.to_owned(), Call::of(begun));
            return None;
        }
        let (_, result) = rest.rsplit_once(" = ")?;
        // An error number is followed by its meaning, a file descriptor by its path.
        let result = result.split([' ', '<']).next().unwrap_or(result);
        let result = if rest.contains(" EAGAIN ") {
            "-1 EAGAIN"
        } else {
            result
        };
        if rest.starts_with("<... ") {
            let call = self.begun.remove(thread)?;
            return Some((call, result));
        }
        Some((Call::of(rest), result))
    }
}

/// Allocations, by a daemon with a counting allocator.
#[derive(Debug)]
pub struct Allocations {
    folder: TempDir,
    before: [u64; 2],
}

impl Allocations {
    pub fn new() -> Self {
        Self {
            folder: folder(),
            before: [0; 2],
        }
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("allocations")
    }
}

impl Meter for Allocations {
    fn command(&self, home: &Home) -> Command {
        let mut command = home.command();
        command.env("LORE_ALLOCATIONS", self.socket());
        command
    }

    fn read(&mut self, _: &Daemon) -> Counts {
        let mut text = String::new();
        UnixStream::connect(self.socket())
            .and_then(|mut stream| stream.read_to_string(&mut text))
            .expect("the daemon reports its allocations");
        let numbers: Vec<u64> = text
            .split(' ')
            .map(|number| number.parse().expect("a number"))
            .collect();
        let now = <[u64; 2]>::try_from(numbers).expect("two numbers");
        let [count, bytes] = [now[0] - self.before[0], now[1] - self.before[1]];
        self.before = now;
        Counts::from([(Unit::Allocations, count), (Unit::AllocatedBytes, bytes)])
    }
}

/// Wraps a command with another program; the environment stays minimal.
fn under(program: &str, arguments: &[String], inner: &Command) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    for (name, value) in inner.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command.args(arguments).arg(inner.get_program());
    command.args(inner.get_args());
    command.stdin(std::process::Stdio::null());
    command
}

/// Counts the use of one complete run of a command with this on its standard input.
pub fn whole_run(inner: &Command, input: &str) -> Counts {
    let folder = folder();
    let folder = folder.path();
    let given = folder.join("input");
    std::fs::write(&given, input).expect("the input is written");
    let run = |program: &str, arguments: &[String]| {
        let mut command = under(program, arguments, inner);
        command.stdin(File::open(&given).expect("the input can be read"));
        let output = command.output().expect("the meter runs");
        assert!(output.status.success(), "{command:?}: {output:?}");
        output
    };
    let mut arguments: Vec<String> = CALLGRIND.map(str::to_owned).to_vec();
    arguments.push(format!("--callgrind-out-file={}", dump(folder)));
    run("valgrind", &arguments);
    let mut counts = instructions(Path::new(&dump(folder)));
    let mut arguments: Vec<String> = STRACE.map(str::to_owned).to_vec();
    arguments.push(format!("--output={}", trace(folder).display()));
    run("strace", &arguments);
    counts.extend(Lines::default().read(&trace(folder)));
    let output = run("valgrind", &["--leak-check=no".to_owned()]);
    counts.extend(heap(&String::from_utf8_lossy(&output.stderr)));
    counts
}

/// `total heap usage: 1,234 allocs, 1,200 frees, 56,789 bytes allocated`
fn heap(report: &str) -> Counts {
    let usage = report
        .split_once("total heap usage:")
        .map(|(_, usage)| usage);
    let number = |part: usize| {
        let part = usage?.split(", ").nth(part)?;
        let number = part.split_whitespace().next()?.replace(',', "");
        number.parse::<u64>().ok()
    };
    let (Some(count), Some(bytes)) = (number(0), number(2)) else {
        panic!("valgrind reports no heap usage: {report}");
    };
    Counts::from([(Unit::Allocations, count), (Unit::AllocatedBytes, bytes)])
}
