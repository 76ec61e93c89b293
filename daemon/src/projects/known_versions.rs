//! Remembers which version of a context file each agent knows: the base of a content for which it names none.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::operation::Caller;

/// Limit on what is remembered; beyond it everything is forgotten, and whole contents replace the newest version.
const KNOWN_MAX: usize = 10_000;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    agent: String,
    session: Option<String>,
    project: String,
    file_type: String,
}

impl Key {
    fn of(caller: &Caller, project: &str, file_type: &str) -> Self {
        Self {
            agent: caller.actor.agent.clone(),
            session: caller.session.clone(),
            project: project.to_owned(),
            file_type: file_type.to_owned(),
        }
    }
}

/// The versions that agents read or wrote last, since the daemon started.
#[derive(Debug, Default)]
pub struct KnownVersions(Mutex<HashMap<Key, u64>>);

impl KnownVersions {
    /// Records that an agent has the whole content of a version.
    pub fn note(&self, caller: &Caller, project: &str, file_type: &str, version: u64) {
        let mut known = self.lock();
        if known.len() >= KNOWN_MAX {
            known.clear();
        }
        known.insert(Key::of(caller, project, file_type), version);
    }

    /// Returns the version that an agent knows.
    pub fn get(&self, caller: &Caller, project: &str, file_type: &str) -> Option<u64> {
        let known = self.lock();
        known.get(&Key::of(caller, project, file_type)).copied()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
