//! Recently seen agents.

use std::collections::BTreeMap;

use super::counts::Tally;
use super::event::Entry;
use crate::clock::UnixMicros;

/// Limit on stored agents; the most recently seen stay.
pub const KEPT: usize = 500;

/// Activity of an agent.
#[derive(Debug, Clone)]
pub struct Agent {
    /// Time of its last event.
    pub seen: UnixMicros,
    /// Counts of its events in the last minutes.
    pub tally: Tally,
    /// Total number of its events that were seen.
    pub events: u64,
    /// Session of its last event with a session.
    pub session: Option<String>,
    /// Kind of its last event.
    pub kind: String,
    /// Client program of its last event.
    pub client: String,
}

/// Agents by name.
#[derive(Debug, Default)]
pub struct Agents {
    by_name: BTreeMap<String, Agent>,
}

impl Agents {
    /// Records an event.
    pub fn saw(&mut self, entry: &Entry) {
        if let Some(agent) = self.by_name.get_mut(&entry.agent) {
            agent.saw(entry);
            return;
        }
        if self.by_name.len() >= KEPT {
            self.forget_one();
        }
        let mut agent = Agent {
            seen: entry.at,
            tally: Tally::default(),
            events: 0,
            session: None,
            kind: String::new(),
            client: String::new(),
        };
        agent.saw(entry);
        self.by_name.insert(entry.agent.clone(), agent);
    }

    /// Iterates over all agents, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Agent)> {
        self.by_name
            .iter()
            .map(|(name, agent)| (name.as_str(), agent))
    }

    /// Removes all agents.
    pub fn clear(&mut self) {
        self.by_name.clear();
    }

    /// Removes the agent that was seen the longest ago.
    fn forget_one(&mut self) {
        let oldest = self.by_name.iter().min_by_key(|(_, agent)| agent.seen);
        if let Some(name) = oldest.map(|(name, _)| name.clone()) {
            self.by_name.remove(&name);
        }
    }
}

impl Agent {
    fn saw(&mut self, entry: &Entry) {
        self.seen = self.seen.max(entry.at);
        self.tally.add(entry.at, entry.mark);
        self.events += 1;
        self.kind.clone_from(&entry.kind);
        self.client.clone_from(&entry.client);
        if entry.session.is_some() {
            self.session.clone_from(&entry.session);
        }
    }
}
