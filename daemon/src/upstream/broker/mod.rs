//! The process broker: a process next to the daemon that starts the servers of resolvers for it.
//!
//! The daemon confines itself before it serves, and its child processes would be confined as well. It therefore
//! starts the broker first, and sends it the programs of all resolvers. From then on it refers to them by their
//! index in that list, and nothing else can be started. The broker passes on the pipes of each child, kills it and
//! reaps it. When the daemon has ended, the broker ends with all its children.

mod process;
mod wire;

pub use process::run;

use std::collections::{BTreeMap, HashMap};
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, recvmsg, send};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use wire::{BYTES, PIPES, Reply, Request};

use crate::locks::lock_unpoisoned;

/// Subcommand of `lored` that runs the broker.
pub const SUBCOMMAND: &str = "process-broker";
/// Stack of the thread that reads the broker's replies.
const HEAR_STACK_BYTES: usize = 64 << 10;
/// Prevents programs that the broker starts from inheriting these descriptors.
#[cfg(target_os = "linux")]
const RECEIVE: RecvFlags = RecvFlags::CMSG_CLOEXEC;
#[cfg(not(target_os = "linux"))]
const RECEIVE: RecvFlags = RecvFlags::empty();

/// A program that may be started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Path, or a name that is searched in `PATH`.
    pub program: String,
    /// Arguments.
    pub arguments: Vec<String>,
    /// Variables added to the daemon's environment.
    pub environment: BTreeMap<String, String>,
}

/// Client of the process broker. Drop ends the broker with everything that it started.
pub struct ProcessBroker {
    programs: Vec<Program>,
    link: Arc<BrokerLink>,
    is_heard: Mutex<bool>,
}

/// State shared with children and with the thread that reads the broker's replies.
pub struct BrokerLink {
    socket: UnixStream,
    process: Mutex<std::process::Child>,
    children: Mutex<Children>,
}

#[derive(Default)]
struct Children {
    last: u64,
    known: HashMap<u64, LiveChild>,
    is_gone: bool,
}

/// A child that has not ended.
enum LiveChild {
    Starting(oneshot::Sender<StartedChild>),
    Running(Arc<ChildEnd>),
}

type StartedChild = io::Result<(ChildHandle, [OwnedFd; PIPES])>;

/// Exit of a child.
#[derive(Default)]
pub struct ChildEnd {
    /// Cancelled once the child has exited and was reaped.
    pub ended: CancellationToken,
    /// Exit status, if known.
    pub status: OnceLock<ExitStatus>,
}

/// A running child. Drop kills it and its process group.
pub struct ChildHandle {
    child: u64,
    /// Exit of the child.
    pub life: Arc<ChildEnd>,
    link: Arc<BrokerLink>,
}

impl ProcessBroker {
    /// Starts the broker, which is a subcommand of the program at an absolute path. Call it before the process confines
    /// itself.
    ///
    /// # Errors
    /// When the broker cannot be started, or the list of programs is too long.
    pub fn begin(lored: &Path, programs: Vec<Program>) -> io::Result<Self> {
        let (socket, its) = UnixStream::pair()?;
        let process = Command::new(lored)
            .arg0("lored")
            .arg(SUBCOMMAND)
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(its)))
            .stdout(Stdio::null())
            // Signals from a terminal are for the daemon only.
            .process_group(0)
            .spawn()?;
        let link = Arc::new(BrokerLink {
            socket,
            process: Mutex::new(process),
            children: Mutex::default(),
        });
        wire::write_list(&mut &link.socket, &programs)?;
        Ok(Self {
            programs,
            link,
            is_heard: Mutex::new(false),
        })
    }

    /// Starts a program from the list; returns its input, output and error output, in this order.
    ///
    /// # Errors
    /// The system's error, for example that the program does not exist; that it is not in the list; that the broker has
    /// ended.
    pub async fn start(&self, program: &Program) -> StartedChild {
        let place = self.programs.iter().position(|known| known == program);
        let place = place.and_then(|place| u32::try_from(place).ok());
        let place = place.ok_or_else(not_on_the_list)?;
        self.receive()?;
        let (sender, receiver) = oneshot::channel();
        self.link.request(place, sender)?;
        receiver.await.unwrap_or_else(|_| Err(closed()))
    }

    /// Starts a thread that reads the broker's replies, at the first start of a program: threads that exist before the
    /// process confines itself would not be confined.
    fn receive(&self) -> io::Result<()> {
        let mut is_heard = lock_unpoisoned(&self.is_heard);
        if !*is_heard {
            let link = Arc::clone(&self.link);
            thread::Builder::new()
                .name("broker".to_owned())
                .stack_size(HEAR_STACK_BYTES)
                .spawn(move || link.receive())?;
            *is_heard = true;
        }
        Ok(())
    }
}

impl Drop for ProcessBroker {
    fn drop(&mut self) {
        // Fails only when the broker has already ended.
        let _ = self.link.socket.shutdown(Shutdown::Both);
    }
}

fn not_on_the_list() -> io::Error {
    io::Error::other("it was not configured when the daemon started; restart the daemon")
}

/// Returns the error of starting a program without a broker.
pub fn no_broker() -> io::Error {
    io::Error::other("the daemon has no process broker, and its log says why; restart the daemon")
}

fn closed() -> io::Error {
    io::Error::other("the process broker has ended; restart the daemon")
}

impl BrokerLink {
    fn request(&self, program: u32, sender: oneshot::Sender<StartedChild>) -> io::Result<()> {
        let child = {
            let mut children = lock_unpoisoned(&self.children);
            if children.is_gone {
                return Err(closed());
            }
            children.last += 1;
            let child = children.last;
            children.known.insert(child, LiveChild::Starting(sender));
            child
        };
        let asked = self.send(Request::Start { child, program });
        if asked.is_err() {
            lock_unpoisoned(&self.children).known.remove(&child);
        }
        asked
    }

    /// Sends a request. Does not block in practice: the broker reads much faster than requests arrive.
    fn send(&self, request: Request) -> io::Result<()> {
        match send(&self.socket, &request.encode(), SendFlags::DONTWAIT) {
            Ok(BYTES) => Ok(()),
            Ok(_) => Err(io::ErrorKind::WriteZero.into()),
            Err(Errno::PIPE | Errno::CONNRESET) => Err(closed()),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads the broker's replies until it has ended, and reaps it.
    fn receive(self: &Arc<Self>) {
        while let Ok(Some((reply, pipes))) = receive(&self.socket) {
            self.take(reply, pipes);
        }
        let known = {
            let mut children = lock_unpoisoned(&self.children);
            children.is_gone = true;
            std::mem::take(&mut children.known)
        };
        for known in known.into_values() {
            match known {
                // A caller that has disconnected needs no reply.
                LiveChild::Starting(sender) => drop(sender.send(Err(closed()))),
                LiveChild::Running(life) => life.ended.cancel(),
            }
        }
        // Without its socket the broker is useless, even if it is still running.
        let _ = self.socket.shutdown(Shutdown::Both);
        if let Err(error) = lock_unpoisoned(&self.process).wait() {
            tracing::debug!(%error, "the process broker was not reaped");
        }
    }

    fn take(self: &Arc<Self>, reply: Reply, pipes: Vec<OwnedFd>) {
        match reply {
            Reply::Started { child } => self.started(child, pipes),
            Reply::NotStarted { child, errno } => {
                if let Some(LiveChild::Starting(sender)) =
                    lock_unpoisoned(&self.children).known.remove(&child)
                {
                    let _ = sender.send(Err(io::Error::from_raw_os_error(errno)));
                }
            }
            Reply::Ended { child, status } => {
                if let Some(LiveChild::Running(life)) =
                    lock_unpoisoned(&self.children).known.remove(&child)
                {
                    if let Some(status) = status {
                        // A child exits only once.
                        let _ = life.status.set(ExitStatus::from_raw(status));
                    }
                    life.ended.cancel();
                }
            }
        }
    }

    fn started(self: &Arc<Self>, child: u64, pipes: Vec<OwnedFd>) {
        let life = Arc::new(ChildEnd::default());
        let running = LiveChild::Running(Arc::clone(&life));
        let before = lock_unpoisoned(&self.children).known.insert(child, running);
        // From here on, a failure drops the child, which ends it.
        let handle = ChildHandle {
            child,
            life,
            link: Arc::clone(self),
        };
        let started = match <[OwnedFd; PIPES]>::try_from(pipes) {
            Ok(pipes) => Ok((handle, pipes)),
            Err(_) => Err(io::Error::other("the child has no pipes")),
        };
        if let Some(LiveChild::Starting(sender)) = before {
            let _ = sender.send(started);
        }
    }
}

impl ChildHandle {
    /// Kills the whole group: the child or its leftover processes. [`ChildEnd`] reports the exit.
    pub fn kill(&self) {
        if self.life.ended.is_cancelled() {
            return;
        }
        if let Err(error) = self.link.send(Request::End { child: self.child }) {
            tracing::debug!(%error, "a resolver's processes were not killed");
        }
    }
}

impl Drop for ChildHandle {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Receives the next reply and its file descriptors; `None` at the end.
fn receive(socket: &UnixStream) -> io::Result<Option<(Reply, Vec<OwnedFd>)>> {
    let (mut bytes, mut filled) = ([0; BYTES], 0);
    let mut pipes = Vec::new();
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(PIPES))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let got = match recvmsg(socket, &mut [IoSliceMut::new(rest)], &mut control, RECEIVE) {
            Err(Errno::INTR) => continue,
            got => got?.bytes,
        };
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(more) = message {
                pipes.extend(more);
            }
        }
        if got == 0 {
            return Ok(None);
        }
        filled += got;
    }
    let reply = Reply::decode(&bytes).ok_or(io::ErrorKind::InvalidData)?;
    Ok(Some((reply, pipes)))
}
