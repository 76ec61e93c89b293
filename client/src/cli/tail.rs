//! `lore tail`: events as they are recorded, a line each, until it is interrupted.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use lore::connection::Error;
use lore::protocol::log::{CommitCursorArgs, Event, FollowEventsArgs, FollowEventsReply};
use lore::protocol::{CursorName, Position, SessionId};
use lore::shown::summary;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use super::output::{self, Output, shown};
use super::{Caller, End, Failure, exchange};

/// Events that are shown of what was before, when nothing else is asked for.
const BEFORE: u64 = 10;
/// Events of one reply.
const PAGE: u64 = 200;
/// How long one call waits, in milliseconds; then it is looked whether anybody still reads.
const WAIT_MS: u64 = 10_000;
/// The first and the longest pause before a daemon that has gone is looked for again.
const PAUSE_MIN: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// What happens, as it happens
#[derive(Debug, clap::Args)]
pub struct Tail {
    /// First position; the last ten events if absent
    #[arg(long, value_name = "POSITION")]
    from: Option<u64>,
    /// Begin at this cursor, and keep it where the printing is
    #[arg(long, value_name = "NAME", conflicts_with = "since")]
    cursor: Option<String>,
    /// What others did since the last event of `--agent` in this project
    #[arg(long, conflicts_with = "from")]
    since: bool,
    /// Of this project alone
    #[arg(long, value_name = "ID")]
    project: Option<String>,
    /// Of this agent alone
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Of every other agent
    #[arg(long, value_name = "NAME")]
    not_by: Option<String>,
    /// Of this kind alone; may be given several times
    #[arg(long = "kind", value_name = "KIND")]
    kinds: Vec<String>,
    /// End with what there is
    #[arg(long)]
    no_follow: bool,
}

impl Tail {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let interrupt = Interrupt::new()?;
        let cursor = self.cursor_name()?;
        let mut args = self.first(caller, cursor.as_ref())?;
        let mut found = false;
        let mut pause = PAUSE_MIN;
        // What cannot be reached at first is said at once; later it may come back.
        let mut was_reached = false;
        while !interrupt.is_there() && is_read() {
            let reply = match ask(caller, &args) {
                Ok(reply) => reply,
                Err(Failure::Call(error)) if was_reached && may_come_back(&error) => {
                    #[allow(clippy::disallowed_methods, reason = "built among the tests, too")]
                    thread::sleep(pause);
                    pause = (pause * 2).min(PAUSE_MAX);
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            (was_reached, pause) = (true, PAUSE_MIN);
            found |= !reply.events.is_empty();
            interrupt.not_while(|| print(caller.output, &reply.events))?;
            args = going_on(args, reply.next);
            if let Some(name) = &cursor
                && !reply.events.is_empty()
            {
                interrupt.not_while(|| commit(caller, name, reply.next))?;
            }
            if self.no_follow && reply.caught_up {
                break;
            }
        }
        Ok(match found || !self.no_follow {
            true => End::Good,
            false => End::Nothing,
        })
    }

    fn cursor_name(&self) -> Result<Option<CursorName>, Failure> {
        let name = self.cursor.as_deref().map(CursorName::new).transpose();
        name.map_err(|error| Failure::Usage(format!("--cursor: {error}")))
    }

    fn first(
        &self,
        caller: &mut Caller,
        cursor: Option<&CursorName>,
    ) -> Result<FollowEventsArgs, Failure> {
        let session = caller.session.as_deref().map(SessionId::new).transpose();
        let session = session.map_err(|error| Failure::Usage(error.to_string()))?;
        let from = match (self.from, cursor, self.since) {
            (Some(from), _, _) => Some(from),
            (None, Some(_), _) | (None, None, true) => None,
            (None, None, false) => {
                let newest = caller.client.connection()?.welcome().position;
                Some((newest + 1).saturating_sub(BEFORE).max(1))
            }
        };
        Ok(FollowEventsArgs {
            from: from.map(Position),
            cursor: cursor.filter(|_| from.is_none()).map(CursorName::to_string),
            since_last_turn: self.since.then_some(true),
            others: self.since.then_some(true),
            session,
            project: self.project.clone(),
            agent: self.by.clone(),
            not_agent: self.not_by.clone(),
            kinds: self.kinds.clone(),
            limit: Some(PAGE),
            wait_ms: (!self.no_follow).then_some(WAIT_MS),
        })
    }
}

/// The same question behind what was answered.
fn going_on(args: FollowEventsArgs, next: Position) -> FollowEventsArgs {
    FollowEventsArgs {
        from: Some(next),
        cursor: None,
        since_last_turn: None,
        ..args
    }
}

fn ask(caller: &mut Caller, args: &FollowEventsArgs) -> Result<FollowEventsReply, Failure> {
    exchange::read(&caller.call("follow_events", exchange::json(args)?)?)
}

fn commit(caller: &mut Caller, name: &CursorName, position: Position) -> Result<(), Failure> {
    let args = CommitCursorArgs {
        name: name.clone(),
        position: Some(position),
        reset: None,
        remove: None,
    };
    match caller.call("commit_cursor", exchange::json(&args)?) {
        // The next page commits this one, too.
        Err(Failure::Call(error)) if may_come_back(&error) => Ok(()),
        done => done.map(drop),
    }
}

/// Whether the daemon went away, or is about to.
fn may_come_back(error: &Error) -> bool {
    match error {
        Error::Broken(_) | Error::Nobody { .. } | Error::Unreachable { .. } | Error::Start(_) => {
            true
        }
        Error::Refused(body) => body.retryable,
        Error::Place(_) | Error::Frame(_) => false,
    }
}

fn print(output: Output, events: &[Event]) -> Result<(), Failure> {
    let mut lines = Vec::new();
    for event in events {
        match output {
            Output::Json => {
                serde_json::to_writer(&mut lines, event).map_err(io::Error::other)?;
            }
            Output::Human => lines.extend(line(event).into_bytes()),
        }
        lines.push(b'\n');
    }
    match output {
        Output::Json => output::write_json_lines(&lines)?,
        Output::Human => output::write(&lines)?,
    }
    Ok(())
}

fn line(event: &Event) -> String {
    let session = event.session.as_ref().map_or("-", SessionId::as_str);
    let agent = match event.agent.as_str() {
        "" => "-",
        agent => agent,
    };
    format!(
        "{} {} {} {} {}",
        shown(&event.time, 30),
        shown(agent, 24),
        shown(&event.kind, 30),
        shown(session, 24),
        summary(&event.payload)
    )
}

/// Whether somebody may still read what is printed: a pipe without a reader is in error.
fn is_read() -> bool {
    let stdout = io::stdout();
    let mut looked = [PollFd::new(&stdout, PollFlags::empty())];
    let none = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    match poll(&mut looked, Some(&none)) {
        Ok(_) => !looked
            .iter()
            .any(|one| one.revents().contains(PollFlags::ERR)),
        // What cannot be asked is found out by printing.
        Err(_) => true,
    }
}

/// The end that a person wishes: at once while it waits, and else after what is being done.
struct Interrupt {
    is_there: Arc<AtomicBool>,
    may_end: Arc<AtomicBool>,
}

impl Interrupt {
    fn new() -> io::Result<Self> {
        let (is_there, may_end) = (Arc::default(), Arc::new(AtomicBool::new(true)));
        for signal in [SIGINT, SIGTERM] {
            flag::register_conditional_shutdown(signal, 0, Arc::clone(&may_end))?;
            flag::register(signal, Arc::clone(&is_there))?;
        }
        Ok(Self { is_there, may_end })
    }

    fn is_there(&self) -> bool {
        self.is_there.load(Ordering::Relaxed)
    }

    /// Does something whole.
    fn not_while<T>(&self, what: impl FnOnce() -> T) -> T {
        self.may_end.store(false, Ordering::SeqCst);
        let done = what();
        self.may_end.store(true, Ordering::SeqCst);
        done
    }
}
