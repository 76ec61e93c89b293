//! Data collected from the daemon: updated by the caller threads, read by the view. It uses neither sockets nor the
//! terminal, and receives the current time as an argument.

pub mod agents;
pub mod counts;
pub mod event;
pub mod latency;
pub mod mark;

#[cfg(test)]
pub mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use lore::protocol::SessionId;
use lore::protocol::sessions::{ListSessionsReply, SessionSummary};
use lore::protocol::status::StatusReply;

use agents::Agents;
use counts::Tally;
use event::{Entry, Events};
use latency::Latency;
use mark::Mark;

use crate::clock::UnixMicros;

/// Window of the event rate, in seconds.
const RATE_SECONDS: u64 = 10;
/// Limit on polls stored for the rate.
const LOOKS_MAX: usize = 128;
/// Limit on sessions whose events are counted.
const TALLIES_MAX: usize = 1_000;

/// Name of the delivery latency: from an event's timestamp to its arrival here.
pub const DELIVERY: &str = "event delivered";

/// An update from a caller thread.
#[derive(Debug)]
pub enum Update {
    /// Daemon status, and the duration of the call.
    Status(Box<StatusReply>, Duration),
    /// Session list, and the duration of the call.
    Sessions(ListSessionsReply, Duration),
    /// Events, in log order.
    Events(Page),
    /// The events of the session that the user opened, in log order.
    Opened(SessionId, Vec<Entry>),
    /// The log is a different store or an older state, so collected events are invalid.
    OtherLog,
    /// The daemon cannot be called.
    Lost(ConnectionLoss),
    /// Reason why events cannot be followed; `None` once they can again.
    Deaf(Option<String>),
}

/// A batch of events.
#[derive(Debug, Default)]
pub struct Page {
    /// Events, in log order.
    pub entries: Vec<Entry>,
    /// Number of events skipped before these because they arrived too fast.
    pub skipped: u64,
    /// Arrival time, if the events are new and not history.
    pub live: Option<UnixMicros>,
}

/// Reason why the daemon cannot be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionLoss {
    /// Reason, as a sentence.
    pub why: String,
    /// Advice for the user.
    pub hint: Option<String>,
    /// Whether apparently no daemon is running.
    pub is_not_running: bool,
}

/// Connection state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectionState {
    /// Not reached yet.
    Unknown,
    /// Last reply at this moment.
    Reached(UnixMicros),
    /// Lost since this moment.
    Lost(UnixMicros, ConnectionLoss),
}

/// A session that the user opened, with its events.
#[derive(Debug)]
pub struct OpenedSession {
    /// Its id.
    pub session: SessionId,
    /// Its newest events.
    pub events: Events,
}

impl OpenedSession {
    /// Adds an event of the session, unless it is known.
    fn push(&mut self, entry: Arc<Entry>) {
        let newest = self.events.iter().next().map_or(0, |entry| entry.position);
        if entry.position > newest {
            self.events.push(entry);
        }
    }
}

/// All collected data.
#[derive(Debug)]
pub struct Model {
    /// Socket path, as displayed.
    pub socket: String,
    /// Current time.
    pub now: UnixMicros,
    /// Connection state.
    pub link: ConnectionState,
    /// Last known status.
    pub status: Option<Box<StatusReply>>,
    /// Newest sessions.
    pub sessions: Vec<SessionSummary>,
    /// Whether more sessions exist.
    pub more_sessions: bool,
    /// Newest events.
    pub events: Events,
    /// The session that the user opened last.
    pub opened: Option<OpenedSession>,
    /// Number of skipped events.
    pub skipped: u64,
    /// Reason why events cannot be followed.
    pub deaf: Option<String>,
    /// Agents seen in the events.
    pub agents: Agents,
    /// Durations of this program's calls and of event delivery.
    pub latency: BTreeMap<&'static str, Latency>,
    /// Events of the last minutes, by session.
    tallies: BTreeMap<String, Tally>,
    /// Time and position of recent polls.
    looks: VecDeque<(UnixMicros, u64)>,
}

impl Model {
    /// Creates an empty model.
    pub fn new(socket: String, now: UnixMicros) -> Self {
        Self {
            socket,
            now,
            link: ConnectionState::Unknown,
            status: None,
            sessions: Vec::new(),
            more_sessions: false,
            events: Events::default(),
            opened: None,
            skipped: 0,
            deaf: None,
            agents: Agents::default(),
            latency: BTreeMap::new(),
            tallies: BTreeMap::new(),
            looks: VecDeque::new(),
        }
    }

    /// Applies an update.
    pub fn learn(&mut self, learned: Update, now: UnixMicros) {
        self.now = now;
        match learned {
            Update::Status(status, took) => self.take_status(status, took),
            Update::Sessions(reply, took) => {
                self.took("list_sessions", took);
                self.more_sessions = reply.next.is_some();
                self.sessions = reply.sessions;
            }
            Update::Events(page) => self.take_events(page),
            Update::Opened(session, entries) => {
                let mut opened = OpenedSession {
                    session,
                    events: Events::default(),
                };
                for entry in entries {
                    opened.push(Arc::new(entry));
                }
                self.opened = Some(opened);
            }
            Update::OtherLog => {
                self.opened = None;
                self.events.clear();
                self.agents.clear();
                self.tallies.clear();
                self.skipped = 0;
            }
            Update::Deaf(why) => self.deaf = why,
            Update::Lost(lost) => {
                let since = match &self.link {
                    ConnectionState::Lost(since, _) => *since,
                    ConnectionState::Unknown | ConnectionState::Reached(_) => now,
                };
                self.link = ConnectionState::Lost(since, lost);
                self.looks.clear();
            }
        }
    }

    /// Returns events per second over recent polls; `None` before the second poll.
    pub fn events_per_second(&self) -> Option<f64> {
        let ((first, from), (last, to)) = (self.looks.front()?, self.looks.back()?);
        let passed = last.since(*first);
        (!passed.is_zero()).then(|| to.saturating_sub(*from) as f64 / passed.as_secs_f64())
    }

    /// Returns the number of a session's events in the last minutes.
    pub fn recent(&self, session: &str) -> u64 {
        self.tallies
            .get(session)
            .map_or(0, |tally| tally.count(self.now))
    }

    /// Returns the last minutes of a session as a lane.
    pub fn lane(&self, session: &str) -> String {
        let tally = self.tallies.get(session).cloned().unwrap_or_default();
        tally.lane(self.now)
    }

    fn take_status(&mut self, status: Box<StatusReply>, took: Duration) {
        self.took("status", took);
        self.link = ConnectionState::Reached(self.now);
        let is_other = self
            .status
            .as_ref()
            .is_some_and(|known| known.pid != status.pid || known.store != status.store);
        if is_other {
            self.looks.clear();
        }
        self.looks.push_back((self.now, status.position.0));
        while self.looks.len() > LOOKS_MAX
            || self
                .looks
                .get(1)
                .is_some_and(|(at, _)| self.now.since(*at).as_secs() >= RATE_SECONDS)
        {
            self.looks.pop_front();
        }
        self.status = Some(status);
    }

    fn take_events(&mut self, page: Page) {
        self.skipped += page.skipped;
        let newest = self.events.iter().next().map_or(0, |entry| entry.position);
        for entry in page.entries {
            // A known event is not counted again.
            if entry.position <= newest {
                continue;
            }
            if let Some(came) = page.live {
                self.took(DELIVERY, came.since(entry.at));
            }
            self.agents.saw(&entry);
            if let Some(session) = &entry.session {
                self.count(session, entry.at, entry.mark);
            }
            let entry = Arc::new(entry);
            if let Some(opened) = &mut self.opened
                && entry.session.as_deref() == Some(opened.session.as_str())
            {
                opened.push(Arc::clone(&entry));
            }
            self.events.push(entry);
        }
    }

    fn count(&mut self, session: &str, at: UnixMicros, mark: Mark) {
        if !self.tallies.contains_key(session) && self.tallies.len() >= TALLIES_MAX {
            let now = self.now;
            self.tallies.retain(|_, tally| tally.count(now) > 0);
            if self.tallies.len() >= TALLIES_MAX {
                self.tallies.pop_first();
            }
        }
        self.tallies
            .entry(session.to_owned())
            .or_default()
            .add(at, mark);
    }

    fn took(&mut self, what: &'static str, took: Duration) {
        self.latency.entry(what).or_default().add(took);
    }
}
