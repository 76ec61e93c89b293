//! The broker process: receives the list of programs once, then starts and ends them. This is the only file that
//! starts processes.
//!
//! A group is always killed before its child is reaped: until then its id cannot be reused. A small thread
//! therefore waits for the child's exit without reaping it.

use std::collections::HashMap;
use std::io::{self, IoSlice, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::Program;
use super::wire::{self, BYTES, PIPES, Reply, Request};
use crate::locks::lock_unpoisoned;
use crate::sandbox::hide_memory;

/// Limit on concurrent children: a resolver has one, and for a moment another that is ending.
const CHILDREN_MAX: usize = 256;
/// Stack of a thread that only waits for a child's exit.
const WATCH_STACK_BYTES: usize = 64 << 10;

/// Serves the daemon's requests on standard input until the daemon has ended; then ends all remaining children.
///
/// # Errors
/// When standard input is not a daemon's socket, or a request is invalid.
pub fn run() -> io::Result<()> {
    // The broker ends with the daemon, which these signals ask to stop and which still needs the broker then.
    // They are handled, not ignored, because started programs would inherit ignored signals.
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        signal_hook::flag::register(signal, Arc::default() as Arc<AtomicBool>)?;
    }
    hide_memory();
    be_named();
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let said = |error| io::Error::other(format!("only the daemon runs this: {error}"));
    socket.local_addr().map_err(said)?;
    let broker = Arc::new(BrokerProcess {
        programs: wire::read_list(&mut socket)?,
        socket,
        children: Mutex::default(),
    });
    let ended = broker.serve();
    broker.kill_all();
    ended
}

/// Sets the process name, so that process lists show the broker and not the executed file's name.
fn be_named() {
    #[cfg(target_os = "linux")]
    // The name does not affect the function.
    let _ = rustix::thread::set_name(c"lored-broker");
}

struct BrokerProcess {
    socket: UnixStream,
    programs: Vec<Program>,
    children: Mutex<HashMap<u64, RunningChild>>,
}

/// A child that was not reaped yet.
struct RunningChild {
    process: std::process::Child,
    group: Pid,
}

type Pipes = [OwnedFd; PIPES];

impl BrokerProcess {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, RunningChild>> {
        // Every change is one insertion or removal, so the state is consistent after a panic.
        lock_unpoisoned(&self.children)
    }

    fn serve(self: &Arc<Self>) -> io::Result<()> {
        let mut bytes = [0; BYTES];
        loop {
            match (&self.socket).read_exact(&mut bytes) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
                Err(error) => return Err(error),
            }
            match Request::decode(&bytes) {
                Some(Request::Start { child, program }) => {
                    if let Err(error) = self.start(child, program) {
                        let errno = error.raw_os_error();
                        let errno = errno.unwrap_or(Errno::IO.raw_os_error());
                        self.send(Reply::NotStarted { child, errno }, &[])?;
                    }
                }
                Some(Request::End { child }) => {
                    if let Some(running) = self.lock().get(&child) {
                        running.kill();
                    }
                }
                None => {
                    return Err(io::Error::other(
                        "the daemon asks for nothing that there is",
                    ));
                }
            }
        }
    }

    /// Starts a program of the list, sends the reply, and watches for its exit.
    fn start(self: &Arc<Self>, child: u64, program: u32) -> io::Result<()> {
        let place = usize::try_from(program).unwrap_or(usize::MAX);
        let program = self.programs.get(place).ok_or(Errno::PERM)?;
        let mut children = self.lock();
        if children.contains_key(&child) {
            return Err(Errno::EXIST.into());
        }
        if children.len() >= CHILDREN_MAX {
            return Err(Errno::AGAIN.into());
        }
        let (running, pipes) = RunningChild::start(program)?;
        let group = running.group;
        let this = Arc::clone(self);
        // Its reply comes after ours, because it needs the lock first.
        let watch = thread::Builder::new()
            .name("resolver-child".to_owned())
            .stack_size(WATCH_STACK_BYTES)
            .spawn(move || {
                wait_for(group);
                this.ended(child);
            });
        if let Err(error) = watch {
            running.end();
            return Err(error);
        }
        children.insert(child, running);
        self.send(Reply::Started { child }, &pipes)
    }

    /// Kills the rest of a group whose child has exited, and sends the exit status.
    fn ended(&self, child: u64) {
        let Some(running) = self.lock().remove(&child) else {
            return;
        };
        let status = running.end();
        // Without a daemon there is no receiver.
        let _ = self.send(Reply::Ended { child, status }, &[]);
    }

    /// Kills all remaining children; the process that adopts them reaps them.
    fn kill_all(&self) {
        for (_, running) in self.lock().drain() {
            running.kill();
        }
    }

    /// Sends one message atomically.
    fn send(&self, reply: Reply, pipes: &[OwnedFd]) -> io::Result<()> {
        let bytes = reply.encode();
        let pipes: Vec<_> = pipes.iter().map(AsFd::as_fd).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(PIPES))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !pipes.is_empty() && !control.push(SendAncillaryMessage::ScmRights(&pipes)) {
            return Err(io::Error::other("no room for pipes"));
        }
        let sent = loop {
            let message = [IoSlice::new(&bytes)];
            match sendmsg(&self.socket, &message, &mut control, SendFlags::empty()) {
                Err(Errno::INTR) => {}
                sent => break sent?,
            }
        };
        if sent == BYTES {
            Ok(())
        } else {
            Err(io::ErrorKind::WriteZero.into())
        }
    }
}

impl RunningChild {
    /// Starts a program in a separate process group, with our environment and the program's variables.
    fn start(program: &Program) -> io::Result<(Self, Pipes)> {
        let mut process = Command::new(&program.program)
            .args(&program.arguments)
            .envs(&program.environment)
            // A child that outlives its use must not keep a folder busy.
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let pipes = (
            process.stdin.take(),
            process.stdout.take(),
            process.stderr.take(),
        );
        let group = Pid::from_child(&process);
        let running = Self { process, group };
        let (Some(input), Some(output), Some(errors)) = pipes else {
            running.end();
            return Err(io::Error::other("the child has no pipes"));
        };
        Ok((running, [input.into(), output.into(), errors.into()]))
    }

    /// Kills the whole group: the child and its leftover processes.
    fn kill(&self) {
        // If it cannot be killed, nothing can be done or reported.
        let _ = kill_process_group(self.group, Signal::KILL);
    }

    /// Kills the group and reaps the child; returns the raw exit status.
    fn end(mut self) -> Option<i32> {
        self.kill();
        self.process.wait().ok().map(ExitStatusExt::into_raw)
    }
}

/// Blocks until a child has exited, without reaping it.
fn wait_for(child: Pid) {
    let how = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while let Err(Errno::INTR) = waitid(WaitId::Pid(child), how) {}
}
