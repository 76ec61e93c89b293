//! The thread that owns the bridge's state: pending lines, the daemon connection and deadlines.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::by_mailbox::{self, MailedCall};
use super::line::{self, Message, Method};
use super::pending::PendingLines;
use super::pipes::{self, Budget, Event, Output};
use super::{Bridge, answers, held_bytes};
use crate::connection::Error;
use crate::start;

/// First and longest pause between connection attempts.
const PAUSE_MIN: Duration = Duration::from_millis(5);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// State of the daemon connection.
enum Link {
    /// Not connected; the next attempt is due at `retry`.
    Down { retry: Instant },
    /// A connection attempt is in progress.
    Dialling,
    /// Connected.
    Up(UnixStream),
    /// A write failed; the reader has not noticed yet.
    Ending,
}

pub(super) struct BridgeLoop<W> {
    bridge: Bridge,
    output: Arc<Output<W>>,
    budget: Arc<Budget>,
    events: Receiver<Event>,
    sender: Sender<Event>,
    held: PendingLines,
    link: Link,
    pause: Duration,
    /// Takes calls to the mailbox; there once a sandbox has refused the socket.
    mailbox: Option<Sender<MailedCall>>,
    /// Number of calls in the mailbox.
    mailed: usize,
    /// Reason why the last attempt failed.
    failure: Option<Error>,
    /// Since when the daemon cannot be started.
    failing: Option<Instant>,
    /// When the host's input ended.
    ended: Option<Instant>,
}

/// Whether the loop continues.
enum LoopControl {
    On,
    End,
}

impl<W: Write + Send + 'static> BridgeLoop<W> {
    pub fn new(bridge: Bridge, input: impl Read + Send + 'static, output: W) -> Self {
        let (sender, events) = mpsc::channel();
        let output = Arc::new(Output::new(output));
        let budget = Arc::new(Budget::default());
        let host = (Arc::clone(&output), Arc::clone(&budget), sender.clone());
        thread::spawn(move || pipes::read_host(input, &host.0, &host.1, &host.2));
        Self {
            bridge,
            output,
            budget,
            events,
            sender,
            held: PendingLines::default(),
            link: Link::Down {
                retry: Instant::now(),
            },
            pause: PAUSE_MIN,
            mailbox: None,
            mailed: 0,
            failure: None,
            failing: None,
            ended: None,
        }
    }

    pub fn run(mut self) -> io::Result<()> {
        let outcome = self.carry();
        if let Link::Up(stream) = &self.link {
            // This also ends the reader, and with it the output.
            let _ = stream.shutdown(Shutdown::Both);
        }
        outcome
    }

    fn carry(&mut self) -> io::Result<()> {
        loop {
            let event = match self.timeout() {
                None => self
                    .events
                    .recv()
                    .map_err(|_| RecvTimeoutError::Disconnected),
                Some(timeout) => self.events.recv_timeout(timeout),
            };
            let now = Instant::now();
            let go = match event {
                Ok(event) => self.take(event, now),
                Err(RecvTimeoutError::Timeout) => Ok(LoopControl::On),
                Err(RecvTimeoutError::Disconnected) => Ok(LoopControl::End),
            };
            let go = match go {
                Ok(LoopControl::On) => self.tend(now),
                other => other,
            };
            match go {
                Ok(LoopControl::On) => {}
                Ok(LoopControl::End) => return Ok(()),
                // The host has disconnected: nobody reads further output.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    fn take(&mut self, event: Event, now: Instant) -> io::Result<LoopControl> {
        match event {
            Event::Line(line) => self.host_line(line, now),
            Event::InputEnd => {
                self.ended = Some(now);
                self.half_close();
            }
            Event::Dialled(Ok(stream)) => self.connected(stream)?,
            Event::Dialled(Err(error)) => self.not_connected(error, now)?,
            Event::Answered { id, failed } => {
                // Reset the back-off only for a daemon that answers.
                self.pause = PAUSE_MIN;
                let bytes = self.held.answered(&id, failed);
                self.budget.release(bytes);
            }
            Event::Mailed { bytes } => {
                self.mailed = self.mailed.saturating_sub(1);
                self.budget.release(bytes);
            }
            Event::Closed => {
                self.link = Link::Down {
                    retry: now + self.pause,
                };
                self.pause = (self.pause * 2).min(PAUSE_MAX);
                for poison in self.held.lost(now) {
                    let id = poison.id.unwrap_or_default();
                    self.budget.release(held_bytes(&poison.line));
                    let message = "the daemon ended each time that it had this call";
                    let hint = "its log says why: lored.log in the state folder";
                    self.output
                        .message(answers::unreachable(&id, message, Some(hint)))?;
                }
            }
            Event::OutputBroken(error) => return Err(error),
        }
        Ok(LoopControl::On)
    }

    fn host_line(&mut self, line: Vec<u8>, now: Instant) {
        let message = line::message(&line);
        if self.bridge.hello.agent.is_none() && matches!(message, Message::Request { .. }) {
            self.bridge.hello.agent = line::host_name(&line);
        }
        let done = self.held.take(message, line, now);
        self.budget.release(done);
        if let (Some(_), Link::Down { retry }) = (&self.mailbox, &mut self.link) {
            // The mailbox answers at once, and a daemon outside of the sandbox does not come by waiting.
            *retry = now;
        }
        self.flush();
    }

    /// Sends the lines that were not sent on the current connection.
    fn flush(&mut self) {
        let Link::Up(stream) = &mut self.link else {
            return;
        };
        while let Some(waiting) = self.held.next_unsent() {
            if stream.write_all(&waiting.line).is_err() {
                // The reader still forwards the daemon's last lines, then sends `Closed`.
                let _ = stream.shutdown(Shutdown::Both);
                self.link = Link::Ending;
                return;
            }
            self.budget.release(self.held.sent());
        }
    }

    fn connected(&mut self, mut stream: UnixStream) -> io::Result<()> {
        self.failure = None;
        self.failing = None;
        let preamble = self.held.preamble();
        let reader = stream.try_clone()?;
        let (output, events) = (Arc::clone(&self.output), self.sender.clone());
        thread::spawn(move || pipes::read_daemon(reader, &output, preamble.again, &events));
        if stream.write_all(&preamble.bytes).is_err() {
            let _ = stream.shutdown(Shutdown::Both);
            self.link = Link::Ending;
            return Ok(());
        }
        self.link = Link::Up(stream);
        self.flush();
        if self.ended.is_some() {
            self.half_close();
        }
        Ok(())
    }

    /// Signals the daemon that no more lines follow; its responses are still read.
    fn half_close(&self) {
        if let Link::Up(stream) = &self.link {
            let _ = stream.shutdown(Shutdown::Write);
        }
    }

    fn not_connected(&mut self, error: Error, now: Instant) -> io::Result<()> {
        self.link = Link::Down {
            retry: now + self.pause,
        };
        self.pause = (self.pause * 2).min(PAUSE_MAX);
        let hopeless = match &error {
            Error::Refused(body) => !body.retryable,
            Error::Place(_) | Error::Frame(_) => true,
            Error::NotListening { .. }
            | Error::Unreachable { .. }
            | Error::Start(_)
            | Error::Waits
            | Error::Broken(_) => false,
        };
        if self.failure.is_none() {
            crate::errln!("lore: {error}");
        }
        if start::is_refused_by_sandbox(&self.bridge.paths, &error) {
            self.failure = Some(error);
            return self.use_mailbox(now);
        }
        let cannot_start = matches!(error, Error::Start(_));
        self.failure = Some(error);
        if cannot_start {
            let since = *self.failing.get_or_insert(now);
            self.answer_openings(Duration::ZERO, now)?;
            // One failure may be that of a daemon that was just replaced.
            if now.saturating_duration_since(since) >= self.bridge.times.failing_max {
                self.give_up(Duration::ZERO, now)?;
            }
        } else {
            self.failing = None;
        }
        if hopeless {
            self.answer_openings(Duration::ZERO, now)?;
            self.give_up(Duration::ZERO, now)?;
        }
        Ok(())
    }

    /// Hands calls of tools to the mailbox, and refuses what only a daemon on a socket can answer.
    fn use_mailbox(&mut self, now: Instant) -> io::Result<()> {
        self.failing = None;
        self.answer_openings(Duration::ZERO, now)?;
        let mailbox = self.mailbox.get_or_insert_with(|| {
            let Bridge { paths, hello, .. } = &self.bridge;
            by_mailbox::start(paths, hello, Arc::clone(&self.output), self.sender.clone())
        });
        for call in self.held.take_some(MailedCall::read) {
            // Its thread ends only when this one does, or when the host has stopped reading.
            if mailbox.send(call).is_ok() {
                self.mailed += 1;
            }
        }
        self.give_up(Duration::ZERO, now)
    }

    /// Does all due work: connection attempts, responses of the bridge, the end of the loop.
    fn tend(&mut self, now: Instant) -> io::Result<LoopControl> {
        if !matches!(self.link, Link::Up(_) | Link::Ending) {
            let times = self.bridge.times;
            let (opening_max, request_max) = match self.failing {
                Some(_) => (Duration::ZERO, times.failing_max),
                None => (times.opening_max, times.request_max),
            };
            self.answer_openings(opening_max, now)?;
            self.give_up(request_max, now)?;
        }
        if let Some(ended) = self.ended {
            let drained = !self.held.has_unanswered() && self.mailed == 0;
            if drained || now.saturating_duration_since(ended) >= self.bridge.times.drain_max {
                return Ok(LoopControl::End);
            }
        }
        if let Link::Down { retry } = self.link
            && retry <= now
            && self.held.needs_daemon()
        {
            self.dial();
        }
        Ok(LoopControl::On)
    }

    fn dial(&mut self) {
        self.link = Link::Dialling;
        let (paths, hello) = (self.bridge.paths.clone(), self.bridge.hello.clone());
        let events = self.sender.clone();
        thread::spawn(move || {
            let dialled = start::connect(&paths, &hello);
            let _ = events.send(Event::Dialled(
                dialled.map(|connection| connection.into_stream()),
            ));
        });
    }

    /// Answers `initialize`, `server/discover` and `tools/list` requests that have waited for at least `age`.
    fn answer_openings(&mut self, age: Duration, now: Instant) -> io::Result<()> {
        let mut answered = Vec::new();
        let tools = self.bridge.hello.tools.as_deref();
        for (id, method, line) in self.held.openings(age, now) {
            let answer = match method {
                Method::Initialize => answers::initialize(line, tools),
                Method::ListTools => answers::list_tools(line, tools),
                _ => answers::discover(line, tools),
            };
            if let Some(answer) = answer {
                self.output.message(answer)?;
                answered.push(id);
            }
        }
        for id in answered {
            let bytes = self.held.answered(&id, false);
            self.budget.release(bytes);
        }
        Ok(())
    }

    /// Answers requests that have waited for at least `age` with an error.
    fn give_up(&mut self, age: Duration, now: Instant) -> io::Result<()> {
        for id in self.held.older_than(age, now) {
            let bytes = self.held.answered(&id, true);
            self.budget.release(bytes);
            let (message, hint) = match self.failure.as_ref().map(Error::to_body) {
                Some(body) => (
                    format!("lored is not reachable: {}", body.message),
                    body.hint,
                ),
                None => ("lored is not reachable".to_owned(), None),
            };
            self.output
                .message(answers::unreachable(&id, &message, hint.as_deref()))?;
        }
        Ok(())
    }

    /// Returns the time until the next deadline; `None` when there is none.
    fn timeout(&self) -> Option<Duration> {
        let down = match self.link {
            Link::Down { retry } if self.held.needs_daemon() => {
                Some(retry.saturating_duration_since(Instant::now()))
            }
            Link::Dialling => Some(PAUSE_MAX),
            Link::Down { .. } | Link::Up(_) | Link::Ending => None,
        };
        // Deadlines are coarse: a quarter of the shortest is exact enough.
        let times = self.bridge.times;
        let coarse = times
            .opening_max
            .min(times.request_max)
            .min(times.drain_max)
            / 4;
        let coarse = coarse.max(Duration::from_millis(1));
        match (down, self.ended) {
            (Some(due), _) => Some(due.min(coarse)),
            (None, Some(_)) => Some(coarse),
            (None, None) => None,
        }
    }
}
