//! The host sessions that called, by the ids of their hosts: a mailbox is served for one that is known.
//!
//! Hooks and MCP servers run outside of the sandboxes of their hosts. What they say about a session, its id and its folder,
//! is what a command inside may act for.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tokio::sync::watch;

use crate::locks::lock_unpoisoned;

/// Number of host sessions that are remembered.
const SESSIONS_MAX: usize = 4096;
/// Kinds of host sessions that no host names.
const NOT_OF_HOSTS: [&str; 5] = ["session:", "process:", "terminal:", "program:", "folder:"];

/// A host session that called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownSession {
    /// Its id, as `KIND:ID`.
    pub id: String,
    /// The host session that its hooks state: the same, or the one that `LORE_SESSION` names.
    pub stated: String,
    /// The folder where it began to work.
    pub folder: Option<PathBuf>,
}

/// The host sessions that called since the start.
#[derive(Debug, Default)]
pub struct HostSessions {
    known: Mutex<HashMap<String, KnownSession>>,
    ended: Mutex<Vec<String>>,
    /// Notified of new and of ended ones.
    changes: watch::Sender<()>,
}

impl HostSessions {
    /// Notes the host session of a caller, if a host names it. The first folder stays: an agent may change its own.
    pub fn note(&self, id: &str, stated: &str, folder: Option<&Path>) {
        let is_of_host = !NOT_OF_HOSTS.iter().any(|kind| id.starts_with(kind));
        let mut known = lock_unpoisoned(&self.known);
        if !is_of_host || known.contains_key(id) {
            return;
        }
        if known.len() >= SESSIONS_MAX {
            // Those that still work are noted again with their next hook.
            known.clear();
        }
        let session = KnownSession {
            id: id.to_owned(),
            stated: stated.to_owned(),
            folder: folder.map(Path::to_owned),
        };
        known.insert(id.to_owned(), session);
        drop(known);
        self.changes.send_replace(());
    }

    /// Notes that a host session ended. It may be resumed.
    pub fn note_end(&self, id: &str) {
        let mut ended = lock_unpoisoned(&self.ended);
        if ended.len() < SESSIONS_MAX {
            ended.push(id.to_owned());
        }
        drop(ended);
        self.changes.send_replace(());
    }

    /// Returns the ids of the host sessions that ended since the last call.
    pub fn take_ended(&self) -> Vec<String> {
        std::mem::take(&mut *lock_unpoisoned(&self.ended))
    }

    /// Returns a known host session that a condition holds for.
    pub fn find(&self, mut is_it: impl FnMut(&str) -> bool) -> Option<KnownSession> {
        let known = lock_unpoisoned(&self.known);
        known.values().find(|session| is_it(&session.id)).cloned()
    }

    /// Returns a receiver that is notified of new and of ended host sessions.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_of_hosts_are_noted_and_the_first_folder_stays() {
        let sessions = HostSessions::default();
        let mut changes = sessions.changes();
        for other in [
            "session:release",
            "process:1:2",
            "terminal:1:2",
            "program:1:2",
        ] {
            sessions.note(other, other, None);
        }
        assert!(!changes.has_changed().unwrap());
        sessions.note("claude:1", "session:release", Some(Path::new("/work")));
        assert!(changes.has_changed().unwrap());
        changes.mark_unchanged();
        sessions.note("claude:1", "claude:1", Some(Path::new("/elsewhere")));
        assert!(!changes.has_changed().unwrap());
        let known = sessions.find(|id| id == "claude:1").unwrap();
        assert_eq!(known.stated, "session:release");
        assert_eq!(known.folder.unwrap(), Path::new("/work"));
        assert_eq!(sessions.find(|id| id != "claude:1"), None);
    }

    #[test]
    fn an_end_is_reported_once() {
        let sessions = HostSessions::default();
        let changes = sessions.changes();
        sessions.note_end("claude:1");
        assert!(changes.has_changed().unwrap());
        assert_eq!(sessions.take_ended(), ["claude:1"]);
        assert!(sessions.take_ended().is_empty());
    }
}
