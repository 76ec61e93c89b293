//! State that the bridge retains so that a new daemon can continue where the old one stopped.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::held_bytes;
use super::line::{Message, Method};
use super::resume::{self, Resumption};

/// Longest line that is retained after its response, in bytes.
const KEPT_BYTES_MAX: usize = 1 << 20;
const SUBSCRIPTIONS_MAX: usize = 1024;

/// Number of sends after which a line is assumed to crash the daemon.
const SENDS_MAX: u32 = 3;

/// A line that is not answered or not sent yet.
#[derive(Debug)]
pub(super) struct PendingLine {
    /// Request id; other lines are finished once they are sent.
    pub id: Option<String>,
    pub method: Method,
    pub line: Vec<u8>,
    /// When the line arrived, or when the daemon that had received it disconnected.
    pub since: Instant,
    /// Whether the line was sent on the current connection.
    sent: bool,
    /// Number of connections on which the line was sent.
    sends: u32,
}

/// Lines by their pending work.
#[derive(Debug, Default)]
pub(super) struct PendingLines {
    waiting: VecDeque<PendingLine>,
    /// The host's `initialize` and its id; sent again to every new daemon.
    initialize: Option<(String, Vec<u8>)>,
    initialized: Option<Vec<u8>>,
    /// Answered subscriptions: URI, id and line.
    subscriptions: Vec<(String, String, Vec<u8>)>,
    /// Whether a daemon connection was lost: changes may have been missed.
    has_lost: bool,
}

/// The first bytes to send on a new connection.
#[derive(Debug, Default)]
pub(super) struct Preamble {
    /// Complete lines.
    pub bytes: Vec<u8>,
    /// Responses and grants that the host already has.
    pub again: Resumption,
}

impl PendingLine {
    /// Returns whether the line opens a change stream that was sent to a daemon.
    fn is_stream(&self) -> bool {
        self.method == Method::Listen && self.sends > 0
    }
}

impl PendingLines {
    /// Accepts a line from the host. Returns the number of bytes of lines that this finishes.
    pub fn take(&mut self, message: Message, line: Vec<u8>, now: Instant) -> usize {
        let (id, method) = match message {
            Message::Request { id, method } => (Some(id), method),
            Message::Notification(method) => (None, method),
            Message::Answer { .. }
            | Message::Granted(_)
            | Message::StreamEnd(_)
            | Message::Other => (None, Method::Any),
        };
        let mut done = 0;
        match &method {
            Method::Initialize if line.len() <= KEPT_BYTES_MAX => {
                self.initialize = id.clone().map(|id| (id, line.clone()));
            }
            Method::Initialized if line.len() <= KEPT_BYTES_MAX => {
                self.initialized = Some(line.clone());
            }
            Method::Unsubscribe(uri) => {
                self.subscriptions.retain(|(known, ..)| known != uri);
            }
            // The daemon need not answer it any more, so it must not be sent again.
            Method::Cancelled(id) => {
                done = self
                    .remove(id)
                    .map_or(0, |waiting| held_bytes(&waiting.line))
            }
            Method::Initialize
            | Method::Initialized
            | Method::Discover
            | Method::ListTools
            | Method::Subscribe(_)
            | Method::Listen
            | Method::Any => {}
        }
        self.waiting.push_back(PendingLine {
            id,
            method,
            line,
            since: now,
            sent: false,
            sends: 0,
        });
        done
    }

    /// Records that the request with this id was answered. Returns the number of bytes released.
    pub fn answered(&mut self, id: &str, failed: bool) -> usize {
        let Some(waiting) = self.remove(id) else {
            return 0;
        };
        let bytes = held_bytes(&waiting.line);
        if let Method::Subscribe(uri) = waiting.method
            && !failed
            && waiting.line.len() <= KEPT_BYTES_MAX
            && self.subscriptions.len() < SUBSCRIPTIONS_MAX
        {
            self.subscriptions.retain(|(known, ..)| *known != uri);
            self.subscriptions.push((uri, id.to_owned(), waiting.line));
        }
        bytes
    }

    /// Removes a request.
    pub fn remove(&mut self, id: &str) -> Option<PendingLine> {
        let place = self
            .waiting
            .iter()
            .position(|waiting| waiting.id.as_deref() == Some(id))?;
        self.waiting.remove(place)
    }

    /// Removes the requests that `read` recognises, in their order.
    pub fn take_some<T>(&mut self, read: impl Fn(&str, &[u8]) -> Option<T>) -> Vec<T> {
        let mut taken = Vec::new();
        self.waiting.retain(|waiting| {
            let id = waiting.id.as_deref();
            let found = id.and_then(|id| read(id, &waiting.line));
            let stays = found.is_none();
            taken.extend(found);
            stays
        });
        taken
    }

    /// Returns the next line that was not sent on the current connection.
    pub fn next_unsent(&mut self) -> Option<&mut PendingLine> {
        self.waiting.iter_mut().find(|waiting| !waiting.sent)
    }

    /// Records that the line was sent. Returns the number of bytes released if the line is finished.
    pub fn sent(&mut self) -> usize {
        let Some(place) = self.waiting.iter().position(|waiting| !waiting.sent) else {
            return 0;
        };
        if let Some(waiting) = self.waiting.get_mut(place) {
            waiting.sent = true;
            waiting.sends += 1;
            if waiting.id.is_some() {
                return 0;
            }
        }
        self.waiting
            .remove(place)
            .map_or(0, |waiting| held_bytes(&waiting.line))
    }

    /// Records a lost connection: every line must be sent again. Returns the requests that were lost with too
    /// many daemons.
    pub fn lost(&mut self, now: Instant) -> Vec<PendingLine> {
        let (poison, rest) = self.waiting.drain(..).partition(|waiting| {
            // Streams are long-lived and may outlast many daemons.
            waiting.sent && waiting.sends >= SENDS_MAX && waiting.method != Method::Listen
        });
        self.waiting = rest;
        self.has_lost = true;
        for waiting in &mut self.waiting {
            waiting.sent = false;
            waiting.since = now;
        }
        Vec::from(poison)
    }

    /// Builds the lines that restore the host's session on a new daemon.
    pub fn preamble(&self) -> Preamble {
        let mut preamble = Preamble::default();
        for stream in self.waiting.iter().filter(|waiting| waiting.is_stream()) {
            stream.id.iter().for_each(|id| preamble.again.granted(id));
        }
        let Some((id, line)) = &self.initialize else {
            return preamble;
        };
        if self
            .waiting
            .iter()
            .any(|waiting| waiting.id.as_ref() == Some(id))
        {
            return preamble;
        }
        // A client that is not initialized yet receives no notifications.
        let instead = match self.initialized.is_some() && self.has_lost {
            true => resume::lists(),
            false => Vec::new(),
        };
        preamble.push(id, line, instead);
        if let Some(line) = &self.initialized
            && !self
                .waiting
                .iter()
                .any(|waiting| waiting.method == Method::Initialized)
        {
            preamble.bytes.extend(line);
        }
        for (uri, id, line) in &self.subscriptions {
            preamble.push(id, line, resume::updated(uri));
        }
        preamble
    }

    /// Returns the ids of requests that have waited for at least `age`.
    pub fn older_than(&self, age: Duration, now: Instant) -> Vec<String> {
        let old = |waiting: &&PendingLine| now.saturating_duration_since(waiting.since) >= age;
        self.waiting
            .iter()
            .filter(old)
            .filter(|waiting| !waiting.is_stream())
            .filter_map(|waiting| waiting.id.clone())
            .collect()
    }

    /// Returns the opening requests that have waited for at least `age`: id, method and line.
    pub fn openings(&self, age: Duration, now: Instant) -> Vec<(String, &Method, &[u8])> {
        self.waiting
            .iter()
            .filter(|waiting| {
                matches!(
                    waiting.method,
                    Method::Initialize | Method::Discover | Method::ListTools
                )
            })
            .filter(|waiting| now.saturating_duration_since(waiting.since) >= age)
            .filter_map(|waiting| {
                Some((
                    waiting.id.clone()?,
                    &waiting.method,
                    waiting.line.as_slice(),
                ))
            })
            .collect()
    }

    /// Returns whether requests wait for responses; streams do not count.
    pub fn has_unanswered(&self) -> bool {
        let is_asked =
            |waiting: &PendingLine| waiting.id.is_some() && waiting.method != Method::Listen;
        self.waiting.iter().any(is_asked)
    }

    /// Returns whether a daemon is needed.
    pub fn needs_daemon(&self) -> bool {
        !self.waiting.is_empty() || !self.subscriptions.is_empty()
    }
}

impl Preamble {
    fn push(&mut self, id: &str, line: &[u8], instead: Vec<u8>) {
        self.bytes.extend(line);
        self.again.had(id, instead);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::line::message;
    use super::*;

    fn take(held: &mut PendingLines, line: &str) {
        let line = format!("{line}\n").into_bytes();
        held.take(message(&line), line, Instant::now());
    }

    fn send_all(held: &mut PendingLines) -> String {
        let mut out = Vec::new();
        while let Some(waiting) = held.next_unsent() {
            out.extend(waiting.line.clone());
            held.sent();
        }
        String::from_utf8(out).unwrap()
    }

    const INITIALIZE: &str = r#"{"id":0,"method":"initialize"}"#;
    const INITIALIZED: &str = r#"{"method":"notifications/initialized"}"#;
    const SUBSCRIBE: &str = r#"{"id":5,"method":"resources/subscribe","params":{"uri":"u"}}"#;
    const CALL: &str = r#"{"id":6,"method":"tools/call"}"#;

    #[test]
    fn a_new_daemon_gets_the_opening_and_what_is_unanswered() {
        let mut held = PendingLines::default();
        for line in [INITIALIZE, INITIALIZED, SUBSCRIBE, CALL] {
            take(&mut held, line);
        }
        let all = [INITIALIZE, INITIALIZED, SUBSCRIBE, CALL].join("\n") + "\n";
        assert_eq!(send_all(&mut held), all);
        assert!(held.answered("0", false) > 0);
        assert!(held.answered("5", false) > 0);
        assert!(held.lost(Instant::now()).is_empty());

        let mut preamble = held.preamble();
        let opening = [INITIALIZE, INITIALIZED, SUBSCRIBE].join("\n") + "\n";
        assert_eq!(String::from_utf8(preamble.bytes).unwrap(), opening);
        let mut instead = |id| preamble.again.instead_of_answer(id);
        assert_eq!(instead("0"), Some(resume::lists()));
        assert_eq!(instead("5"), Some(resume::updated("u")));
        assert_eq!(instead("6"), None);
        assert_eq!(send_all(&mut held), format!("{CALL}\n"));
    }

    /// What the bridge notes about a line is within what the line counts for, also where a queue has twice the room.
    #[test]
    fn notes_are_counted() {
        let longest_short_id = 128;
        assert!(2 * size_of::<PendingLine>() + longest_short_id <= held_bytes(b""));
        let mut held = PendingLines::default();
        take(&mut held, CALL);
        send_all(&mut held);
        assert_eq!(held.answered("6", false), held_bytes(CALL.as_bytes()) + 1);
    }

    #[test]
    fn an_unanswered_opening_is_not_sent_twice() {
        let mut held = PendingLines::default();
        take(&mut held, INITIALIZE);
        send_all(&mut held);
        held.lost(Instant::now());
        assert!(held.preamble().bytes.is_empty());
        assert_eq!(send_all(&mut held), format!("{INITIALIZE}\n"));
    }

    #[test]
    fn what_is_cancelled_or_unsubscribed_is_forgotten() {
        let mut held = PendingLines::default();
        for line in [INITIALIZE, SUBSCRIBE, CALL] {
            take(&mut held, line);
        }
        send_all(&mut held);
        held.answered("0", false);
        held.answered("5", false);
        take(
            &mut held,
            r#"{"method":"notifications/cancelled","params":{"requestId":6}}"#,
        );
        take(
            &mut held,
            r#"{"id":7,"method":"resources/unsubscribe","params":{"uri":"u"}}"#,
        );
        send_all(&mut held);
        held.answered("7", false);
        held.lost(Instant::now());
        assert!(!held.needs_daemon(), "{held:?}");
        let mut again = held.preamble().again;
        assert!(again.instead_of_answer("0").is_some());
        assert!(again.instead_of_answer("5").is_none());
    }

    #[test]
    fn a_line_that_ends_three_daemons_is_given_up() {
        let mut held = PendingLines::default();
        take(&mut held, CALL);
        for _ in 0..2 {
            send_all(&mut held);
            assert!(held.lost(Instant::now()).is_empty());
        }
        send_all(&mut held);
        let poison = held.lost(Instant::now());
        assert_eq!(poison.first().unwrap().id.as_deref(), Some("6"));
        assert!(!held.has_unanswered());
    }
}
