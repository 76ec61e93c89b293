//! The payload of a hook: read from standard input, in memory up to a limit, otherwise into the spool.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lore::spool::{Draft, Header, PAYLOAD_BYTES_MAX, Spool};
use lored_hosts::json::Shortener;

/// Payloads above this size go into the spool unless the host waits for the answer, in bytes.
pub const LARGE_BYTES: usize = 256 << 10;
/// Payloads above this size always do, in bytes.
pub const ASKED_BYTES_MAX: usize = 8 << 20;

/// Bytes of a payload that are written with long strings shortened. If it has more, no long strings are what makes it large.
const SHORTENED_BYTES_MAX: u64 = 1 << 20;

const READ_BYTES: usize = 64 << 10;

/// Size of the pipe that a large payload comes through, in bytes: the most that Linux gives to all users.
#[cfg(target_os = "linux")]
const PIPE_BYTES: usize = 1 << 20;

/// The payload, shared by the thread that reads it and the one that keeps the time.
#[derive(Debug, Default)]
pub struct Input(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// What was read.
    bytes: Vec<u8>,
    /// What was read, once it is whole.
    whole: Option<Arc<Vec<u8>>>,
    /// Whether one of the threads has decided what becomes of it.
    is_claimed: bool,
}

/// What became of a payload.
#[derive(Debug)]
pub enum Received {
    /// It is in memory.
    Whole(Arc<Vec<u8>>),
    /// It is in the spool.
    Spooled,
}

impl Input {
    /// Reads the payload. `None` if there is none, or if the other thread has taken it over.
    pub fn read(&self, header: &Header, spool: &Spool) -> Option<Received> {
        let mut stdin = stdin()?;
        let host = lored_hosts::Host::from_name(&header.host);
        let mut is_at_end = self.read_up_to(&mut stdin, LARGE_BYTES)?;
        if !is_at_end {
            widen(&stdin);
            let is_answered = lored_hosts::is_answered(host, &header.event, &self.state().bytes);
            if !is_answered && self.copy(&mut stdin, header, spool) {
                return Some(Received::Spooled);
            }
            is_at_end = self.read_up_to(&mut stdin, ASKED_BYTES_MAX)?;
        }
        if !is_at_end && self.copy(&mut stdin, header, spool) {
            return Some(Received::Spooled);
        }
        let mut state = self.state();
        if state.is_claimed || state.bytes.is_empty() {
            return None;
        }
        let whole = Arc::new(std::mem::take(&mut state.bytes));
        state.whole = Some(Arc::clone(&whole));
        drop(state);
        if !is_at_end {
            // The spool is full or cannot be written: the rest is read and dropped.
            drain(&mut stdin);
        }
        Some(Received::Whole(whole))
    }

    /// Reads and drops everything.
    pub fn drain(&self) {
        if let Some(mut stdin) = stdin() {
            drain(&mut stdin);
        }
    }

    /// Claims the payload for the caller: to print its answer or to put it into the spool. One thread succeeds.
    pub fn claim(&self) -> bool {
        !std::mem::replace(&mut self.state().is_claimed, true)
    }

    /// Claims the payload and returns what was read of it; `None` if it is claimed or empty.
    pub fn take_over(&self) -> Option<Arc<Vec<u8>>> {
        let mut state = self.state();
        if std::mem::replace(&mut state.is_claimed, true) {
            return None;
        }
        let bytes = match state.whole.take() {
            Some(whole) => whole,
            None => Arc::new(std::mem::take(&mut state.bytes)),
        };
        (!bytes.is_empty()).then_some(bytes)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads into memory until there are more bytes than this. Returns whether the input has ended; `None` if the payload
    /// was taken over.
    fn read_up_to(&self, stdin: &mut File, bytes_max: usize) -> Option<bool> {
        let mut part = vec![0; READ_BYTES];
        loop {
            let read = match stdin.read(&mut part) {
                // What cannot be read has ended.
                Ok(0) => return Some(true),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return Some(true),
                Ok(read) => read,
            };
            let mut state = self.state();
            if state.is_claimed {
                return None;
            }
            state.bytes.extend_from_slice(part.get(..read)?);
            if state.bytes.len() > bytes_max {
                return Some(false);
            }
        }
    }

    /// Writes what was read and the rest into the spool. Long strings lose their middle on the way, as they would when the
    /// daemon reads them: the system needs longer to store a file than to throw it away. Returns false, with everything
    /// unchanged, if the spool cannot be used.
    fn copy(&self, stdin: &mut File, header: &Header, spool: &Spool) -> bool {
        let Ok(mut draft) = spool.draft(header) else {
            return false;
        };
        let mut shortener = Shortener::default();
        let mut result = Vec::new();
        {
            let mut state = self.state();
            shortener.push(&state.bytes, &mut result);
            if draft.write(&result).is_err() {
                return false;
            }
            state.is_claimed = true;
            state.bytes = Vec::new();
        }
        // A disk that becomes full or a spool that is full loses the payload: it is stored nowhere else.
        if copy_shortened(stdin, shortener, &mut draft, result).is_ok() {
            let _ = draft.finish();
        }
        drain(stdin);
        true
    }
}

/// Copies the rest of the payload. `result` is what was written so far.
fn copy_shortened(
    stdin: &mut File,
    mut shortener: Shortener,
    draft: &mut Draft<'_>,
    mut result: Vec<u8>,
) -> io::Result<()> {
    let mut written = result.len() as u64;
    let mut write = |result: &mut Vec<u8>, file: &mut File| {
        result.truncate(usize::try_from(PAYLOAD_BYTES_MAX - written).unwrap_or(usize::MAX));
        written += result.len() as u64;
        file.write_all(result).map(|()| written)
    };
    let mut part = vec![0; READ_BYTES];
    loop {
        result.clear();
        let read = match stdin.read(&mut part) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            // What cannot be read has ended.
            Err(_) | Ok(0) => break,
            Ok(read) => read,
        };
        shortener.push(part.get(..read).unwrap_or_default(), &mut result);
        let written = write(&mut result, draft.file())?;
        result.clear();
        if written > SHORTENED_BYTES_MAX && shortener.pass_all(&mut result) {
            // Many short strings: the system copies them without this program.
            let written = write(&mut result, draft.file())?;
            let mut rest = stdin.take(PAYLOAD_BYTES_MAX - written);
            return io::copy(&mut rest, draft.file()).map(|_| ());
        }
    }
    shortener.finish(&mut result);
    write(&mut result, draft.file()).map(|_| ())
}

/// Lets a pipe hold more: its two programs then wait for each other less often. It stays as it is where that is not allowed,
/// and where it is no pipe.
#[cfg(target_os = "linux")]
fn widen(stdin: &File) {
    let _ = rustix::pipe::fcntl_setpipe_size(stdin, PIPE_BYTES);
}

/// Pipes of other systems grow by themselves.
#[cfg(not(target_os = "linux"))]
const fn widen(_: &File) {}

/// Returns standard input without the buffer of the standard library, so that the system can copy from it.
fn stdin() -> Option<File> {
    let stdin = io::stdin().as_fd().try_clone_to_owned().ok()?;
    Some(File::from(stdin))
}

fn drain(from: &mut File) {
    let _ = io::copy(from, &mut io::sink());
}
