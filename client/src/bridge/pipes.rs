//! The ends of the bridge: the reader threads, and the output that both sides write to.

use std::io::{self, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::line::{self, Message};
use super::resume::Resumption;
use super::{ANSWER_BYTES_MAX, HELD_BYTES_MAX, LINE_BYTES_MAX, answers, held_bytes};
use crate::connection;

/// Events of the bridge loop.
pub(super) enum Event {
    /// The host sent a line.
    Line(Vec<u8>),
    /// The host closed its input.
    InputEnd,
    /// A connection attempt finished.
    Dialled(Result<UnixStream, connection::Error>),
    /// The daemon's response was written to the host.
    Answered {
        /// Request id.
        id: String,
        /// Whether the response is an error.
        failed: bool,
    },
    /// The answer to a call that went through the mailbox was written to the host.
    Mailed {
        /// What its line counted for in the budget, in bytes.
        bytes: usize,
    },
    /// The daemon closed the connection.
    Closed,
    /// The host stopped reading.
    OutputBroken(io::Error),
}

/// Standard output, locked per line.
pub(super) struct Output<W>(Mutex<W>);

impl<W: Write> Output<W> {
    pub const fn new(output: W) -> Self {
        Self(Mutex::new(output))
    }

    /// Writes one line that ends with a line feed.
    pub fn line(&self, line: &[u8]) -> io::Result<()> {
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        output.write_all(line)?;
        output.flush()
    }

    /// Writes one line, appending the missing line feed.
    pub fn message(&self, mut message: Vec<u8>) -> io::Result<()> {
        message.push(b'\n');
        self.line(&message)
    }
}

/// Bytes of pending lines. The thread that reads the host's lines stops at the limit.
#[derive(Default)]
pub(super) struct Budget {
    used: Mutex<usize>,
    freed: Condvar,
}

impl Budget {
    /// Waits until `bytes` may be held; a single line is always admitted.
    fn acquire(&self, bytes: usize) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        while *used > 0 && *used + bytes > HELD_BYTES_MAX {
            used = self
                .freed
                .wait(used)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *used += bytes;
    }

    pub fn release(&self, bytes: usize) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        *used = used.saturating_sub(bytes);
        self.freed.notify_all();
    }
}

/// Reads the host's lines until the input ends.
pub(super) fn read_host<W: Write>(
    input: impl Read,
    output: &Arc<Output<W>>,
    budget: &Budget,
    events: &Sender<Event>,
) {
    let mut input = BufReader::with_capacity(64 << 10, input);
    loop {
        let mut line = Vec::new();
        match line::read(&mut input, &mut line, LINE_BYTES_MAX) {
            Ok(line::Read::Whole) => {}
            Ok(line::Read::TooLong) => {
                let id = line::id_in_head(&line);
                if let Err(error) = output.message(answers::too_long(id.as_deref(), LINE_BYTES_MAX))
                {
                    let _ = events.send(Event::OutputBroken(error));
                    return;
                }
                continue;
            }
            Ok(line::Read::End) | Err(_) if line.trim_ascii().is_empty() => break,
            Ok(line::Read::End) | Err(_) => line.push(b'\n'),
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        // Without its spare capacity: many short lines may wait.
        line.shrink_to_fit();
        budget.acquire(held_bytes(&line));
        if events.send(Event::Line(line)).is_err() {
            return;
        }
    }
    // Ignored: the receiver is gone when the bridge has ended.
    let _ = events.send(Event::InputEnd);
}

/// Forwards the daemon's lines to the host until the connection ends. Drops responses that the host already
/// has, and the end of a change stream, because the next daemon continues the stream.
pub(super) fn read_daemon<W: Write>(
    stream: UnixStream,
    output: &Arc<Output<W>>,
    mut again: Resumption,
    events: &Sender<Event>,
) {
    let mut input = BufReader::with_capacity(64 << 10, stream);
    let mut line = Vec::new();
    loop {
        let answer = match line::read(&mut input, &mut line, ANSWER_BYTES_MAX) {
            Ok(line::Read::Whole) => match line::message(&line) {
                Message::Answer { id, failed } => match again.instead_of_answer(&id) {
                    Some(instead) => {
                        line = instead;
                        None
                    }
                    None => Some((id, failed)),
                },
                Message::Granted(id) => {
                    if let Some(instead) = again.instead_of_grant(&id, &line) {
                        line = instead;
                    }
                    None
                }
                Message::StreamEnd(_) => continue,
                Message::Request { .. } | Message::Notification(_) | Message::Other => None,
            },
            Ok(line::Read::TooLong) => {
                let id = line::id_in_head(&line);
                line = answers::too_long(id.as_deref(), ANSWER_BYTES_MAX);
                line.push(b'\n');
                id.map(|id| (id, true))
            }
            // A partial line is not a response: a new daemon sends the whole one.
            Ok(line::Read::End) | Err(_) => break,
        };
        if !line.is_empty()
            && let Err(error) = output.line(&line)
        {
            let _ = events.send(Event::OutputBroken(error));
            return;
        }
        if let Some((id, failed)) = answer
            && events.send(Event::Answered { id, failed }).is_err()
        {
            return;
        }
        if line.capacity() > 1 << 20 {
            line = Vec::new();
        }
    }
    let _ = events.send(Event::Closed);
}
