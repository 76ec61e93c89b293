//! What has been learned of the daemon: changed by what the callers bring, read by the view. It knows
//! neither socket nor terminal, and is told what time it is.

pub mod agents;
pub mod counts;
pub mod event;
pub mod latency;

#[cfg(test)]
pub mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use lore::protocol::sessions::{ListSessionsReply, SessionSummary};
use lore::protocol::status::StatusReply;

use agents::Agents;
use counts::Tally;
use event::{Entry, Events};
use latency::Latency;

use crate::clock::UnixMicros;

/// How far back the rate of events reaches, in seconds.
const RATE_SECONDS: u64 = 10;
/// Looks that are kept for it.
const LOOKS_MAX: usize = 128;
/// Sessions whose events are counted.
const TALLIES_MAX: usize = 1_000;

/// The time from an event's stamp until it is here, among the latencies.
pub const DELIVERY: &str = "event delivered";

/// What a caller brings.
#[derive(Debug)]
pub enum Update {
    /// How the daemon is.
    Status(Box<StatusReply>, Duration),
    /// Which sessions there are.
    Sessions(ListSessionsReply, Duration),
    /// Events, in the order of the log.
    Events(Page),
    /// What was known of the log holds no more: it is another store, or an older state of it.
    OtherLog,
    /// The daemon cannot be asked.
    Lost(ConnectionLoss),
    /// Why its events cannot be followed; `None` when they are again.
    Deaf(Option<String>),
}

/// Some events.
#[derive(Debug, Default)]
pub struct Page {
    /// In the order of the log.
    pub entries: Vec<Entry>,
    /// So many were passed over before them, since they came too fast.
    pub skipped: u64,
    /// When they came, if they are news and not what was there before.
    pub live: Option<UnixMicros>,
}

/// Why the daemon cannot be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionLoss {
    /// As a sentence.
    pub why: String,
    /// What a person can do about it.
    pub hint: Option<String>,
    /// Whether nobody serves, as far as one can tell.
    pub nobody: bool,
}

/// How things stand with the daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectionState {
    /// It was not reached yet.
    Unknown,
    /// It answered at this moment.
    Reached(UnixMicros),
    /// It has been lost since a moment.
    Lost(UnixMicros, ConnectionLoss),
}

/// All that has been learned.
#[derive(Debug)]
pub struct Model {
    /// The socket, as it is shown.
    pub socket: String,
    /// What time it is.
    pub now: UnixMicros,
    /// How things stand with the daemon.
    pub link: ConnectionState,
    /// How it was when it was asked last.
    pub status: Option<Box<StatusReply>>,
    /// The newest sessions.
    pub sessions: Vec<SessionSummary>,
    /// Whether there are more of them.
    pub more_sessions: bool,
    /// The last events.
    pub events: Events,
    /// How many events were passed over.
    pub skipped: u64,
    /// Why there are no more of them.
    pub deaf: Option<String>,
    /// Who was seen in them.
    pub agents: Agents,
    /// How long the calls of this program took, and the delivery of events.
    pub latency: BTreeMap<&'static str, Latency>,
    /// Events of the last minutes, by session.
    tallies: BTreeMap<String, Tally>,
    /// Position and time of the last looks.
    looks: VecDeque<(UnixMicros, u64)>,
}

impl Model {
    /// Nothing is known yet.
    pub fn new(socket: String, now: UnixMicros) -> Self {
        Self {
            socket,
            now,
            link: ConnectionState::Unknown,
            status: None,
            sessions: Vec::new(),
            more_sessions: false,
            events: Events::default(),
            skipped: 0,
            deaf: None,
            agents: Agents::default(),
            latency: BTreeMap::new(),
            tallies: BTreeMap::new(),
            looks: VecDeque::new(),
        }
    }

    /// Takes in what a caller brings.
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
            Update::OtherLog => {
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

    /// Events a second, over the last looks; `None` before the second one.
    pub fn events_per_second(&self) -> Option<f64> {
        let ((first, from), (last, to)) = (self.looks.front()?, self.looks.back()?);
        let passed = last.since(*first);
        (!passed.is_zero()).then(|| to.saturating_sub(*from) as f64 / passed.as_secs_f64())
    }

    /// How many events of a session were seen in the last minutes.
    pub fn recent(&self, session: &str) -> u64 {
        self.tallies
            .get(session)
            .map_or(0, |tally| tally.count(self.now))
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
            // One that is known is not counted again.
            if entry.position <= newest {
                continue;
            }
            if let Some(came) = page.live {
                self.took(DELIVERY, came.since(entry.at));
            }
            self.agents.saw(&entry);
            if let Some(session) = &entry.session {
                self.count(session, entry.at);
            }
            self.events.push(Arc::new(entry));
        }
    }

    fn count(&mut self, session: &str, at: UnixMicros) {
        if !self.tallies.contains_key(session) && self.tallies.len() >= TALLIES_MAX {
            let now = self.now;
            self.tallies.retain(|_, tally| tally.count(now) > 0);
            if self.tallies.len() >= TALLIES_MAX {
                self.tallies.pop_first();
            }
        }
        self.tallies.entry(session.to_owned()).or_default().add(at);
    }

    fn took(&mut self, what: &'static str, took: Duration) {
        self.latency.entry(what).or_default().add(took);
    }
}
