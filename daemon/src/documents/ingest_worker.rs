//! Reads files in worker processes: a bad file ends its worker, never the daemon.
//!
//! The parsers are large and mostly third-party code, and the files are untrusted. A panic is caught in the
//! process, but a stack overflow or a lack of memory is not. So the process broker starts `lored
//! ingest-worker`, which confines itself to its pipes ([`run`]) and extracts one file after the other. If it takes
//! too long it is killed, and if it ends only its file fails; the next file gets a new worker.
//!
//! Without a broker (in tests, or if it could not be started, which the log reports) the daemon reads the files.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use lored_ingest::worker::{receive, send, serve};
use lored_ingest::{ExtractedText, IngestError, Limits};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, setrlimit};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::locks::lock_unpoisoned;
use crate::sandbox;
use crate::upstream::{ChildHandle, ProcessBroker, Program};

/// Subcommand of `lored` that runs a worker.
pub const SUBCOMMAND: &str = "ingest-worker";
/// Limit on a worker's memory, in bytes: several times the largest file with its text.
const MEMORY_BYTES_MAX: u64 = 1 << 30;
/// Time beyond the limit of a file that a worker gets to start, to receive the file and to reply.
const GRACE: Duration = Duration::from_secs(10);
/// Time to wait for the exit status of a worker whose pipes are closed.
const EXIT_WAIT_MAX: Duration = Duration::from_secs(2);
/// Limit on the error that a worker reports before it ends, in bytes.
const ERROR_BYTES_MAX: u64 = 1024;
/// Limit on idle workers.
const IDLE_MAX: usize = 2;

/// Returns the program of a worker, for the broker's list.
#[must_use]
pub fn program(lored: &str) -> Program {
    Program {
        program: lored.to_owned(),
        arguments: vec![SUBCOMMAND.to_owned()],
        environment: [
            ("RUST_BACKTRACE".to_owned(), "0".to_owned()),
            // By default mimalloc makes 1 GiB writable at its first allocation, which alone reaches the limit on
            // memory: the kernel then refuses to give back what was released for a while.
            ("MIMALLOC_ARENA_EAGER_COMMIT".to_owned(), "0".to_owned()),
        ]
        .into(),
    }
}

/// The workers of a daemon.
#[derive(Default)]
pub struct IngestWorkers {
    broker: Option<(Arc<ProcessBroker>, Program)>,
    idle: Mutex<Vec<Worker>>,
}

struct Worker {
    input: Pipe,
    output: Pipe,
    /// Read only after the worker has ended: it writes at most the error that ends it, which fits the pipe.
    errors: OwnedFd,
    process: ChildHandle,
}

/// A non-blocking pipe with a deadline for all reads and writes.
struct Pipe {
    file: File,
    until: Instant,
}

impl IngestWorkers {
    /// Creates the pool; workers are started when a file needs them.
    #[must_use]
    pub fn new(broker: Arc<ProcessBroker>, program: Program) -> Self {
        Self {
            broker: Some((broker, program)),
            idle: Mutex::default(),
        }
    }

    /// Extracts a file in a worker. Blocks: call it where blocking is allowed.
    pub fn extract(
        &self,
        bytes: Vec<u8>,
        file_name: &str,
        limits: &Limits,
    ) -> Result<ExtractedText, IngestError> {
        let Some((broker, program)) = &self.broker else {
            return lored_ingest::extract(bytes, file_name, limits);
        };
        let waiting = self.lock().pop();
        if let Some(mut worker) = waiting
            && let Ok(extracted) = worker.extract(&bytes, file_name, limits)
        {
            self.put_back(worker);
            return extracted;
        }
        // The worker may have ended because of an earlier file, so a new worker tries this file again.
        let mut worker = match Worker::start(broker, program) {
            Ok(worker) => worker,
            Err(error) => {
                tracing::warn!(%error, "no ingest worker can be started; the file is read in the daemon");
                return lored_ingest::extract(bytes, file_name, limits);
            }
        };
        match worker.extract(&bytes, file_name, limits) {
            Ok(extracted) => {
                self.put_back(worker);
                extracted
            }
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                Err(IngestError::TooSlow { most: limits.time })
            }
            Err(error) => Err(worker.fault(&error)),
        }
    }

    fn put_back(&self, worker: Worker) {
        let mut idle = self.lock();
        if idle.len() < IDLE_MAX {
            idle.push(worker);
        }
    }

    /// Ends the idle workers to release their memory.
    pub fn release(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Worker>> {
        // Every change is one push, pop or clear, so the state is consistent after a panic.
        lock_unpoisoned(&self.idle)
    }
}

impl Worker {
    fn start(broker: &ProcessBroker, program: &Program) -> io::Result<Self> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let (process, [input, output, errors]) = runtime.block_on(broker.start(program))?;
        Ok(Self {
            input: Pipe::new(input)?,
            output: Pipe::new(output)?,
            errors,
            process,
        })
    }

    fn extract(
        &mut self,
        bytes: &[u8],
        file_name: &str,
        limits: &Limits,
    ) -> io::Result<Result<ExtractedText, IngestError>> {
        let until = Instant::now() + limits.time + GRACE;
        self.input.until = until;
        self.output.until = until;
        send(&mut self.input, bytes, file_name, limits)?;
        receive(&mut self.output, limits)
    }

    /// Describes why a worker ended during a file.
    fn fault(self, error: &io::Error) -> IngestError {
        let life = &self.process.life;
        // Its pipes close before the broker reports its exit.
        if let Ok(runtime) = Handle::try_current() {
            let _ = runtime.block_on(timeout(EXIT_WAIT_MAX, life.ended.cancelled()));
        }
        let status = life.status.get().map(|status| format!(" ({status})"));
        let mut last = Vec::new();
        if let Ok(errors) = Pipe::new(self.errors) {
            // Its deadline has passed: this ends at the first read that would block.
            let _ = errors.take(ERROR_BYTES_MAX).read_to_end(&mut last);
        }
        let last = String::from_utf8_lossy(&last);
        IngestError::Fault {
            what: "file".into(),
            why: format!(
                "its worker process ended{}: {error}{}. The file may need more than {} MiB of memory, \
                 or the reader of this format has a defect",
                status.unwrap_or_default(),
                match last.trim() {
                    "" => String::new(),
                    last => format!(" ({last})"),
                },
                MEMORY_BYTES_MAX >> 20
            ),
        }
    }
}

impl Pipe {
    fn new(pipe: OwnedFd) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&pipe, true)?;
        Ok(Self {
            file: File::from(pipe),
            until: Instant::now(),
        })
    }

    /// Retries an operation whenever the pipe is ready, until the deadline.
    fn when_ready(
        &self,
        flags: PollFlags,
        mut run: impl FnMut(&File) -> io::Result<usize>,
    ) -> io::Result<usize> {
        loop {
            match run(&self.file) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
            let left = self.until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let left = Timespec::try_from(left).map_err(io::Error::other)?;
            let file = self.file.as_fd();
            match poll(&mut [PollFd::from_borrowed_fd(file, flags)], Some(&left)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Read for Pipe {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.when_ready(PollFlags::IN, |mut file| file.read(into))
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.when_ready(PollFlags::OUT, |mut file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs a worker: limits its memory, gives up everything but its pipes, and extracts the files that arrive on
/// standard input until it ends.
pub fn run() -> io::Result<()> {
    // A panic is reported in the reply, and this process's messages are never read.
    std::panic::set_hook(Box::new(|_| {}));
    let memory = Rlimit {
        current: Some(MEMORY_BYTES_MAX),
        maximum: Some(MEMORY_BYTES_MAX),
    };
    // A service manager may refuse this; then its own limit on memory applies.
    let _ = setrlimit(Resource::Data, memory);
    sandbox::seal();
    let (input, output) = (io::stdin().lock(), io::stdout().lock());
    serve(input, io::BufWriter::with_capacity(64 << 10, output))
}
