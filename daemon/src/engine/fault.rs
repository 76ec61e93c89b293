//! What becomes of the engine when a bug ends one of its threads: the daemon says so and starts again,
//! instead of living on without it.

use std::sync::mpsc::Sender;

use super::health::{Health, WriteState};
use super::writer::Message;
use crate::store::Error;

/// Held by a thread of the engine for as long as it runs.
pub(super) struct ThreadGuard {
    health: Health,
    thread: &'static str,
    /// Who waits for this thread, if anybody does.
    writer: Option<Sender<Message>>,
}

impl ThreadGuard {
    /// Of the writer.
    pub fn writer(health: Health) -> Self {
        Self {
            health,
            thread: "writer",
            writer: None,
        }
    }

    /// Of the sync thread: the writer waits for it.
    pub fn sync(health: Health, writer: Sender<Message>) -> Self {
        Self {
            health,
            thread: "sync",
            writer: Some(writer),
        }
    }
}

impl Drop for ThreadGuard {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        let reason = format!("a bug in lored ended its {} thread", self.thread);
        tracing::error!(%reason, "nothing is written any more");
        if let Some(writer) = &self.writer {
            let error = Error::Ended {
                thread: self.thread,
            };
            // Without a writer nobody waits.
            let _ = writer.send(Message::Synced(Some((error, Vec::new()))));
        }
        self.health.set(WriteState::Failed { reason });
    }
}
