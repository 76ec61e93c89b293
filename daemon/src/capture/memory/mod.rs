//! What the sessions of a project said and did, in memory: read from the log when a moment needs it, then kept up to
//! date by what was recorded since. It is a cache: the log alone is the memory.

mod entries;
mod known;
mod reading;
mod remembered;
mod trail;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::error::Refusal;
use crate::locks::lock_unpoisoned;
use crate::log::{Position, forgotten};
use crate::operation::Context;
use crate::sessions::{self, SessionRow};
use crate::state::State;
use crate::trust;

pub use entries::{CallEnd, FailedCommand, TrailEntry, TrailEvent};
pub use known::KnownSentence;
pub use remembered::{RememberedItem, RememberedItems};
pub use trail::Trail;

/// Memory of all trails, in bytes. Beyond it the least recently used ones go.
const BYTES_MAX: usize = 48 << 20;

/// A trail that several calls read and bring up to date.
pub type SharedTrail = Arc<Mutex<Trail>>;

/// The trails of sessions.
#[derive(Debug, Default)]
pub struct Trails(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    trails: HashMap<String, CachedTrail>,
    uses: u64,
    bytes: usize,
    /// The position up to which forgetting and judgements were looked at.
    looked_at: Position,
    /// Number of times that all trails were dropped because something was forgotten or judged.
    generation: u64,
}

#[derive(Debug)]
struct CachedTrail {
    trail: SharedTrail,
    bytes: usize,
    last_use: u64,
}

impl Trails {
    /// Returns a session's trail up to the state's position; `None` if there is no such session.
    ///
    /// Reads the log; do not call it on the event loop.
    ///
    /// # Errors
    /// When a row or record cannot be read.
    pub fn of(
        &self,
        cx: &Context,
        state: &State,
        session: &str,
    ) -> Result<Option<SharedTrail>, Refusal> {
        let Some(row) = sessions::get(state, session)? else {
            return Ok(None);
        };
        let trail = {
            let mut inner = lock_unpoisoned(&self.0);
            if forgotten::is_since(state, inner.looked_at)?
                || trust::last_judgement(state)? > inner.looked_at
            {
                *inner = Inner {
                    generation: inner.generation + 1,
                    ..Inner::default()
                };
            }
            inner.looked_at = inner.looked_at.max(state.position());
            inner.uses += 1;
            let last_use = inner.uses;
            let kept = inner.trails.entry(session.to_owned());
            let kept = kept.or_insert_with(|| CachedTrail {
                trail: Arc::new(Mutex::new(Trail::new(session, row.project.clone()))),
                bytes: 0,
                last_use,
            });
            kept.last_use = last_use;
            Arc::clone(&kept.trail)
        };
        let bytes = {
            let mut trail = lock_unpoisoned(&trail);
            trail.catch_up(cx, state)?;
            trail.bytes()
        };
        lock_unpoisoned(&self.0).note(session, bytes);
        Ok(Some(trail))
    }

    /// Returns a number that changes when something was forgotten or judged: what was read from trails before is to be read again.
    pub fn generation(&self) -> u64 {
        lock_unpoisoned(&self.0).generation
    }

    /// Returns the trails of the project's newest sessions, the most recently changed first, with their rows.
    ///
    /// # Errors
    /// When a row or record cannot be read.
    pub fn of_project(
        &self,
        cx: &Context,
        state: &State,
        project: &str,
    ) -> Result<Vec<(SessionRow, SharedTrail)>, Refusal> {
        let mut found = Vec::new();
        for (session, row) in sessions::newest_of(state, Some(project))? {
            if let Some(trail) = self.of(cx, state, &session)? {
                found.push((row, trail));
            }
        }
        Ok(found)
    }
}

impl Inner {
    /// Notes the size of a trail, and removes others if all are too large together.
    fn note(&mut self, session: &str, bytes: usize) {
        if let Some(kept) = self.trails.get_mut(session) {
            self.bytes = self.bytes - kept.bytes + bytes;
            kept.bytes = bytes;
        }
        while self.bytes > BYTES_MAX && self.trails.len() > 1 {
            let oldest = self.trails.iter().min_by_key(|(_, kept)| kept.last_use);
            let Some(oldest) = oldest.map(|(session, _)| session.clone()) else {
                return;
            };
            if let Some(kept) = self.trails.remove(&oldest) {
                self.bytes -= kept.bytes;
            }
        }
    }
}
