//! One blocking connection to the daemon, with any number of calls in flight.

mod dial;

use std::collections::BTreeMap;
use std::io::{self, BufReader, IoSlice, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::manager::Manager;
use crate::protocol::frame::{self, FrameError, Hello, ServerFrame, Welcome};
use crate::protocol::{Args, Code, ErrorBody, Reply};
use crate::start::StartError;

pub use dial::{Obstacle, SocketState};
use dial::{dial, not_greeted};

/// Time limit for the daemon's Welcome.
pub const WELCOME_MAX: Duration = Duration::from_secs(10);

/// Reason why a call has no reply.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no socket, or no process listens on it.
    #[error("no daemon is listening at {path}: {state}", path = .path.display())]
    NotListening {
        /// Socket path.
        path: PathBuf,
        /// Reason.
        state: SocketState,
    },
    /// The daemon cannot be reached, although it may be running.
    #[error("{path} cannot be reached: {error}{obstacle}", path = .path.display())]
    Unreachable {
        /// Socket path.
        path: PathBuf,
        /// System error.
        error: io::Error,
        /// What the error means.
        obstacle: Obstacle,
    },
    /// The daemon could not be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A place is unusable.
    #[error(transparent)]
    Place(#[from] crate::paths::PlaceError),
    /// The connection broke during the call; the outcome is unknown.
    #[error("the connection to the daemon broke before the answer came: {0}")]
    Broken(io::Error),
    /// No daemon runs that serves the mailbox in which the call was left, because a sandbox refuses sockets.
    #[error(
        "no daemon is running: the call waits in the mailbox, and the next daemon carries it out"
    )]
    Waits,
    /// The daemon sent an invalid frame.
    #[error("the daemon sent something that cannot be read: {0}")]
    Frame(#[from] FrameError),
    /// The daemon refused the call, or the connection.
    #[error("{0}")]
    Refused(ErrorBody),
}

impl Error {
    /// Returns the error in the daemon's machine-readable form.
    #[must_use]
    pub fn to_body(&self) -> ErrorBody {
        let (code, hint) = match self {
            Self::Refused(body) => return body.clone(),
            Self::Frame(FrameError::TooLarge { .. }) => (
                Code::ResponseTooLarge,
                "ask for less: a smaller `limit`, a single value or a part of the text",
            ),
            Self::Frame(_) => (
                Code::VersionMismatch,
                "use a lore and a lored of the same release; `lore doctor` shows which daemon is running",
            ),
            Self::Broken(_) => (
                Code::StorageUnavailable,
                "repeat the call; with a key nothing is recorded twice",
            ),
            Self::NotListening { state, .. } => (Code::StorageUnavailable, state.remedy()),
            Self::Unreachable { obstacle, .. } => (Code::StorageUnavailable, obstacle.remedy()),
            Self::Waits => (
                Code::StorageUnavailable,
                "do not repeat it; lore's hooks run outside of the sandbox, and start the daemon",
            ),
            Self::Start(StartError::Sandboxed { doubt, .. }) => {
                (Code::StorageUnavailable, doubt.remedy())
            }
            Self::Start(StartError::Managed { manager, .. }) => {
                (Code::StorageUnavailable, managed_hint(*manager))
            }
            Self::Start(_) => (
                Code::StorageUnavailable,
                "`lore doctor` says what is wrong, and what helps",
            ),
            Self::Place(_) => (
                Code::StorageUnavailable,
                "`lore doctor` says more; LORE_HOME names another folder for all that is lore's",
            ),
        };
        ErrorBody::new(code, self.to_string()).hint(hint)
    }

    /// Returns whether the connection broke during the call, so that its outcome is unknown.
    #[must_use]
    pub const fn is_lost_connection(&self) -> bool {
        matches!(self, Self::Broken(_))
    }
}

/// Returns advice for a daemon that its service manager does not start.
const fn managed_hint(manager: Manager) -> &'static str {
    match manager {
        Manager::Systemd => {
            "see `lore service status` and `systemctl --user status lored.socket lored.service` (without \
             --user for the system-wide daemon); `lore service uninstall` lets clients start the daemon"
        }
        Manager::Launchd => {
            "see `lore service status` and `launchctl print gui/$(id -u)/local.lored`; `lore service \
             uninstall` lets clients start the daemon"
        }
        Manager::Client | Manager::None => "see `lore service status`",
    }
}

/// A connection whose Hello was accepted.
///
/// ```no_run
/// use lore::{connection::Connection, paths::Paths, protocol::{Args, frame::Hello}};
///
/// let places = Paths::find(None)?;
/// let mut connection = Connection::connect(&places.socket, &Hello::default())?;
/// let reply = connection.call("status", &Args::Json(b"{}".to_vec()))?;
/// assert!(reply.json.starts_with(b"{"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Connection {
    /// Reads ahead, unless others read the stream after the Welcome.
    stream: BufReader<UnixStream>,
    welcome: Welcome,
    next_id: u64,
    /// Number of unanswered calls.
    in_flight: u64,
    /// Replies that arrived while another one was awaited.
    ready: BTreeMap<u64, Result<Reply, ErrorBody>>,
    /// Reused for sent and received frames.
    buffer: Vec<u8>,
}

/// Larger buffers are freed after a call.
const BUFFER_BYTES_KEPT: usize = 1 << 20;
/// Bytes that are read ahead: a Welcome and a short reply need one call of the system.
const READ_AHEAD_BYTES: usize = 1 << 10;
/// Longer arguments are sent without a copy, and longer replies stay in the receive buffer, in bytes.
const COPY_BYTES_MAX: usize = 16 << 10;

impl Connection {
    /// Connects, sends the Hello and waits for the daemon's Welcome.
    ///
    /// # Errors
    /// [`Error::NotListening`] when no socket exists or nothing listens; [`Error::Refused`] when the daemon rejects
    /// the Hello; otherwise the reason why the daemon cannot be reached.
    pub fn connect(path: &Path, hello: &Hello) -> Result<Self, Error> {
        let mut buffer = Vec::new();
        frame::encode_hello(&mut buffer, hello);
        let stream = reader(dial(path, WELCOME_MAX)?, hello);
        Self::greet(stream, buffer, WELCOME_MAX).map_err(|error| match error {
            Error::Broken(error) => not_greeted(path, error, WELCOME_MAX),
            other => other,
        })
    }

    /// Connects and calls without waiting for the Welcome in between, which saves a round trip for a single call.
    ///
    /// # Errors
    /// As [`Connection::connect`] and [`Connection::call`]; [`Error::Broken`] once the call is sent, unless the listener is
    /// [silent](Obstacle::Silent).
    pub fn connect_and_call(
        path: &Path,
        hello: &Hello,
        name: &str,
        args: &Args,
    ) -> Result<(Self, Reply), Error> {
        let id = 1;
        let mut buffer = Vec::new();
        frame::encode_hello(&mut buffer, hello);
        frame::encode_call(&mut buffer, id, name, args);
        let stream = reader(dial(path, WELCOME_MAX)?, hello);
        let greeted = Self::greet(stream, buffer, WELCOME_MAX);
        let mut connection = greeted.map_err(|error| match error {
            Error::Broken(error) if is_timeout(&error) => not_greeted(path, error, WELCOME_MAX),
            other => other,
        })?;
        connection.next_id = id + 1;
        connection.in_flight = 1;
        let reply = connection.receive(id)?;
        Ok((connection, reply))
    }

    /// Sends a Hello and the bytes after it, and waits for the Welcome.
    fn greet(
        mut stream: BufReader<UnixStream>,
        mut buffer: Vec<u8>,
        welcome_max: Duration,
    ) -> Result<Self, Error> {
        stream
            .get_ref()
            .set_read_timeout(Some(welcome_max))
            .map_err(Error::Broken)?;
        // A daemon that is over a limit sends the reason and closes at once: the write fails, but the reason
        // can still be read.
        let sent = stream.get_mut().write_all(&buffer);
        let welcome = match receive(&mut stream, &mut buffer, frame::HELLO_BYTES_MAX) {
            Ok(ServerFrame::Welcome(welcome)) => welcome,
            Ok(ServerFrame::Fault(body)) => return Err(Error::Refused(body)),
            Ok(ServerFrame::Answer { .. } | ServerFrame::Item { .. }) => {
                return Err(FrameError::Unexpected("an answer before the Welcome").into());
            }
            Err(error) => return Err(sent.err().map_or(error, Error::Broken)),
        };
        let unlimited = stream.get_ref().set_read_timeout(None);
        unlimited.map_err(Error::Broken)?;
        let ready = BTreeMap::new();
        Ok(Self {
            stream,
            welcome,
            next_id: 1,
            in_flight: 0,
            ready,
            buffer,
        })
    }

    /// Returns the daemon's Welcome.
    #[must_use]
    pub const fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    /// Returns the raw stream, positioned after the Welcome: for a Hello with `mcp`.
    #[must_use]
    pub fn into_stream(self) -> UnixStream {
        self.stream.into_inner()
    }

    /// Calls an operation and waits for its reply.
    ///
    /// # Errors
    /// [`Error::Refused`] with the daemon's reason; otherwise the reason why there is no reply.
    pub fn call(&mut self, name: &str, args: &Args) -> Result<Reply, Error> {
        let id = self.send(name, args)?;
        self.receive(id)
    }

    /// Sends a call without waiting; pass the returned number to [`Connection::receive`].
    ///
    /// # Errors
    /// When the connection is broken, or too many calls are in flight.
    pub fn send(&mut self, name: &str, args: &Args) -> Result<u64, Error> {
        if self.in_flight >= self.welcome.limits.calls_in_flight_max {
            let limit = self.welcome.limits.calls_in_flight_max;
            let message = format!("{limit} calls already wait for their answers");
            return Err(Error::Refused(ErrorBody::new(Code::RateLimited, message)));
        }
        let id = self.next_id;
        self.buffer.clear();
        let follows: &[u8] = match args {
            Args::Json(json) if json.len() > COPY_BYTES_MAX => {
                frame::encode_call_head(&mut self.buffer, id, name, json);
                json
            }
            Args::Json(_) | Args::Value(_) => {
                frame::encode_call(&mut self.buffer, id, name, args);
                &[]
            }
        };
        let length = (self.buffer.len() + follows.len()) as u64;
        let limit = self.welcome.limits.frame_bytes_max;
        if length > limit.saturating_add(4) {
            let error = FrameError::TooLarge {
                length: length - 4,
                limit,
            };
            return Err(Error::Refused(error.into()));
        }
        if let Err(error) = write_both(self.stream.get_mut(), &self.buffer, follows) {
            return Err(self.reason(error));
        }
        self.shrink();
        self.next_id += 1;
        self.in_flight += 1;
        Ok(id)
    }

    /// Waits for the reply to a sent call. Replies to other calls that arrive first are stored.
    ///
    /// # Errors
    /// As [`Connection::call`].
    pub fn receive(&mut self, wanted: u64) -> Result<Reply, Error> {
        let outcome = loop {
            if let Some(outcome) = self.ready.remove(&wanted) {
                break outcome;
            }
            let limit = usize::try_from(self.welcome.limits.frame_bytes_max).unwrap_or(usize::MAX);
            match receive(&mut self.stream, &mut self.buffer, limit)? {
                ServerFrame::Answer { id, outcome } => {
                    self.in_flight = self.in_flight.saturating_sub(1);
                    self.ready.insert(id, outcome);
                }
                // Items of a call whose stream is not read any more.
                ServerFrame::Item { .. } => {}
                ServerFrame::Fault(body) => return Err(Error::Refused(body)),
                ServerFrame::Welcome(_) => {
                    return Err(FrameError::Unexpected("a second Welcome").into());
                }
            }
        };
        self.shrink();
        outcome.map_err(Error::Refused)
    }

    /// Cancels a sent call.
    ///
    /// # Errors
    /// When the connection is broken.
    pub fn cancel(&mut self, id: u64) -> Result<(), Error> {
        self.buffer.clear();
        frame::encode_cancel(&mut self.buffer, id);
        let sent = self.stream.get_mut().write_all(&self.buffer);
        sent.map_err(Error::Broken)
    }

    /// Returns why a write failed: the daemon may have sent the reason before it closed.
    fn reason(&mut self, error: io::Error) -> Error {
        let mut buffer = Vec::new();
        loop {
            match receive(&mut self.stream, &mut buffer, frame::HELLO_BYTES_MAX) {
                Ok(ServerFrame::Fault(body)) => return Error::Refused(body),
                Ok(_) => {}
                Err(_) => return Error::Broken(error),
            }
        }
    }

    fn shrink(&mut self) {
        if self.buffer.capacity() > BUFFER_BYTES_KEPT {
            self.buffer = Vec::new();
        }
    }
}

/// Writes two slices with vectored writes.
fn write_both(stream: &mut UnixStream, first: &[u8], second: &[u8]) -> io::Result<()> {
    let slices = [IoSlice::new(first), IoSlice::new(second)];
    let written = loop {
        match stream.write_vectored(&slices) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            written => break written?,
        }
    };
    stream.write_all(first.get(written..).unwrap_or_default())?;
    stream.write_all(
        second
            .get(written.saturating_sub(first.len())..)
            .unwrap_or_default(),
    )
}

/// Returns a reader of a stream. After the Welcome of an MCP client, its bytes belong to others, so none is read ahead.
fn reader(stream: UnixStream, hello: &Hello) -> BufReader<UnixStream> {
    let capacity = match hello.mcp {
        true => 0,
        false => READ_AHEAD_BYTES,
    };
    BufReader::with_capacity(capacity, stream)
}

fn receive(
    stream: &mut impl Read,
    buffer: &mut Vec<u8>,
    limit: usize,
) -> Result<ServerFrame, Error> {
    match frame::read_frame(stream, buffer, limit) {
        Ok(true) if buffer.len() > COPY_BYTES_MAX => {
            Ok(frame::take_server(std::mem::take(buffer))?)
        }
        Ok(true) => Ok(frame::decode_server(buffer)?),
        Ok(false) => Err(Error::Broken(io::ErrorKind::UnexpectedEof.into())),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            match error.downcast::<FrameError>() {
                Ok(error) => Err(error.into()),
                Err(error) => Err(Error::Broken(error)),
            }
        }
        Err(error) => Err(Error::Broken(error)),
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    /// A process that listens, but never answers: the system completes the connection without it.
    #[test]
    fn a_hung_daemon_is_not_a_missing_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let _hung = UnixListener::bind(&path).unwrap();
        let mut hello = Vec::new();
        frame::encode_hello(&mut hello, &Hello::default());
        let waited = Duration::from_millis(1);
        let error = Connection::greet(BufReader::new(dial(&path, waited).unwrap()), hello, waited)
            .unwrap_err();
        let Error::Broken(error) = error else {
            panic!("{error}");
        };
        assert!(is_timeout(&error), "{error}");
        let error = not_greeted(&path, error, WELCOME_MAX);
        assert!(
            error.to_string().ends_with("sent nothing for 10 s"),
            "{error}"
        );
        assert!(error.to_body().hint.unwrap().contains("hangs"));
    }

    /// A daemon that hangs for long has a full queue of connections, in which the system lets callers wait for ever.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_queue_is_not_waited_for_without_end() {
        use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, listen, socket};

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let hung = socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
        bind(&hung, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        listen(&hung, 0).unwrap();
        let waited = Duration::from_millis(1);
        let mut queued = Vec::new();
        let error = loop {
            match dial(&path, waited) {
                Ok(stream) => queued.push(stream),
                Err(error) => break error,
            }
            assert!(queued.len() < 9, "the queue takes more than it should");
        };
        assert!(!queued.is_empty());
        let said = error.to_string();
        assert!(said.contains("accepted no connection"), "{said}");
        assert!(error.to_body().hint.unwrap().contains("hangs"));
    }
}
