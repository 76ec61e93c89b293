//! The engine's decisions without threads: given events, when a command, then events or a refusal. Rows are in
//! memory; commands and folds are the daemon's.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod checkpoints;
mod compaction;
mod concurrent_changes;
mod damaged_engine;
mod decisions;
mod documents;
mod edits_at_rest;
mod forgetting;
mod forks;
mod histories;
pub(crate) mod history;
mod packs;
mod partial_forgetting;
mod projects;
mod session_actions;
mod threads;

use std::ops::ControlFlow;
use std::sync::Arc;

pub(crate) use checkpoints::{piece as content_piece, save};
pub(crate) use histories::store_of;
pub(crate) use history::{choice_of, create, histories, live, record_long};
pub(crate) use partial_forgetting::forgetting_of;

use super::group::{Group, Request};
use super::{Command, Fold, KeyClaim, Outcome, Tail};
use crate::clock::{Clock, Micros};
use crate::error::Refusal;
use crate::events::Event;
use crate::log::{Actor, Hash, Log, LoggedEvent, Position};
use crate::projections::Projections;
use crate::store::{Changes, MemoryStore, RowsMut};

/// Time of the first command: 2026-01-31T12:00:00Z, in microseconds.
pub(crate) const START: Micros = 1_769_860_800_000_000;

/// Builds an agent of user 1000.
pub(crate) fn agent(name: &str) -> Actor {
    Actor {
        agent: name.to_owned(),
        uid: 1000,
        client: "tests/1".to_owned(),
    }
}

/// A command with its caller and key.
pub(crate) struct TestCall {
    pub command: Box<dyn Command>,
    pub by: Actor,
    /// The key, and a text in place of the arguments.
    pub key: Option<(String, String)>,
}

impl TestCall {
    pub fn new(command: impl Command + 'static) -> Self {
        Self {
            command: Box::new(command),
            by: agent("a"),
            key: None,
        }
    }

    pub fn by(mut self, name: &str) -> Self {
        self.by = agent(name);
        self
    }

    pub fn key(mut self, key: &str, body: &str) -> Self {
        self.key = Some((key.to_owned(), body.to_owned()));
        self
    }

    fn request(self) -> Request {
        Request {
            key: self
                .key
                .map(|(key, body)| KeyClaim::new(&key, &self.by, Hash::of(body.as_bytes()))),
            command: self.command,
            actor: Arc::new(self.by),
        }
    }
}

/// Rows in memory and the end of their log.
pub(crate) struct Fixture {
    pub rows: MemoryStore,
    pub tail: Tail,
    pub clock: Clock,
}

impl Fixture {
    pub fn new() -> Self {
        Self {
            rows: MemoryStore::new(),
            tail: Tail::default(),
            clock: Clock::fixed(START, 1),
        }
    }

    /// Decides and commits one group at this time; also returns the changes.
    pub fn group_at(
        &mut self,
        now: Micros,
        asks: Vec<TestCall>,
    ) -> (Vec<Result<Outcome, Refusal>>, Changes) {
        let mut group = Group::after(self.tail);
        let outcomes = asks
            .into_iter()
            .map(|ask| group.decide(&self.rows, &Projections, now, true, &mut ask.request()))
            .collect();
        if group.is_empty() {
            return (outcomes, Changes::default());
        }
        self.tail = group.tail;
        let changes = group.into_changes(&self.rows, &Projections);
        self.commit(&changes);
        (outcomes, changes)
    }

    /// Commits changes unmodified.
    pub fn commit(&mut self, changes: &Changes) {
        for (space, key, value) in changes.iter() {
            match value {
                Some(value) => self.rows.put(space, key, value),
                None => self.rows.remove(space, key),
            }
        }
    }

    /// Decides and commits one group.
    pub fn group(&mut self, asks: Vec<TestCall>) -> Vec<Result<Outcome, Refusal>> {
        let now = self.clock.now();
        self.group_at(now, asks).0
    }

    /// Decides and commits one command.
    pub fn one(&mut self, ask: TestCall) -> Result<Outcome, Refusal> {
        self.group(vec![ask]).pop().unwrap()
    }

    /// Returns every event of the log after verifying each link.
    pub fn events(&self) -> Vec<LoggedEvent> {
        let mut found: Vec<LoggedEvent> = Vec::new();
        Log::new(&self.rows)
            .walk(Position(1), &mut |event, _| {
                let previous = found.last().map_or(Hash::default(), |last| last.link);
                event
                    .check(&previous, Position(found.len() as u64 + 1))
                    .unwrap();
                found.push(event);
                Ok(ControlFlow::Continue(()))
            })
            .unwrap();
        assert_eq!(found.len() as u64, self.tail.position.0);
        found
    }

    pub fn kinds(&self) -> Vec<String> {
        let kinds = self.events().into_iter();
        let kinds = kinds.map(|event| event.header.kind.to_string());
        kinds.collect()
    }
}

/// Folds everything from the log alone, event by event.
pub(crate) fn folded_anew(fixture: &Fixture) -> MemoryStore {
    let mut rows = MemoryStore::new();
    let log = Log::new(&fixture.rows);
    log.walk(Position(1), &mut |event, record| {
        let meta = Event::of(&event)?;
        Projections.apply(&mut rows, &log, &event, meta.as_ref(), record)?;
        Ok(ControlFlow::Continue(()))
    })
    .unwrap();
    if fixture.tail.position > Position(0) {
        for &space in Projections.keyspaces() {
            super::replay::mark(&mut rows, space, fixture.tail.position);
        }
    }
    rows
}
