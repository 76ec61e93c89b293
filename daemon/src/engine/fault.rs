//! Fault handling when a bug ends an engine thread: the daemon reports it and restarts instead of running without
//! the thread.

use std::sync::mpsc::Sender;

use super::health::{Health, WriteState};
use super::writer::Message;
use crate::store::Error;

/// A guard that a thread of the engine holds while it runs.
pub(super) struct ThreadGuard {
    health: Health,
    thread: &'static str,
    /// Queue of the writer, if it waits for this thread.
    writer: Option<Sender<Message>>,
}

impl ThreadGuard {
    /// Creates the writer's guard.
    pub fn writer(health: Health) -> Self {
        Self {
            health,
            thread: "writer",
            writer: None,
        }
    }

    /// Creates the sync thread's guard; the writer waits for that thread.
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
            // The send fails only when the writer is gone; then nothing waits.
            let _ = writer.send(Message::Synced(Some((error, Vec::new()))));
        }
        self.health.set(WriteState::Failed { reason });
    }
}
