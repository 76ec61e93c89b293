//! Pending writes to the log: several commands at a time, so that they share a commit, within a memory limit.

use std::sync::Arc;

use tokio::task::JoinSet;

use crate::documents::command::{IngestDocument, RecordFileState};
use crate::engine::{Command, QueuedWrite};
use crate::error::{Code, Refusal};
use crate::events::documents::DocumentEvent;
use crate::log::Actor;
use crate::operation::Context;

/// Limit on pending commands.
const WRITES_MAX: usize = 16;
/// Approximate limit on the bytes of all pending commands; a larger command is written alone.
const BYTES_MAX: usize = 2 << 20;

/// Commands that are queued but not acknowledged.
pub struct PendingWrites {
    cx: Arc<Context>,
    under_way: JoinSet<(usize, Result<(), Refusal>)>,
    bytes: usize,
}

impl PendingWrites {
    /// Creates an empty queue.
    pub fn new(cx: &Arc<Context>) -> Self {
        Self {
            cx: Arc::clone(cx),
            under_way: JoinSet::new(),
            bytes: 0,
        }
    }

    /// Queues the command that ingests a document. Fails if an earlier command failed.
    pub async fn take(&mut self, command: IngestDocument) -> Result<(), Refusal> {
        let bytes = command.bytes();
        self.queue(command, bytes).await
    }

    /// Queues commands that record states of files. Fails if an earlier command failed.
    pub async fn note(&mut self, source: &str, changes: Vec<DocumentEvent>) -> Result<(), Refusal> {
        for change in changes {
            let command = RecordFileState {
                source: source.to_owned(),
                change,
                salt: self.cx.engine.clock().random(),
            };
            self.queue(command, 0).await?;
        }
        Ok(())
    }

    /// Waits until all commands are acknowledged.
    pub async fn flush(&mut self) -> Result<(), Refusal> {
        while !self.under_way.is_empty() {
            self.one().await?;
        }
        Ok(())
    }

    async fn queue(
        &mut self,
        command: impl Command + 'static,
        bytes: usize,
    ) -> Result<(), Refusal> {
        while !self.under_way.is_empty()
            && (self.under_way.len() >= WRITES_MAX || self.bytes + bytes > BYTES_MAX)
        {
            self.one().await?;
        }
        self.bytes += bytes;
        let cx = Arc::clone(&self.cx);
        let write = QueuedWrite {
            command: Box::new(command),
            actor: Arc::new(Actor::daemon()),
            key: None,
            bytes,
        };
        self.under_way.spawn(async move {
            let written = cx.engine.write(write).await;
            (bytes, written.map(drop))
        });
        Ok(())
    }

    /// Waits for one acknowledgement.
    async fn one(&mut self) -> Result<(), Refusal> {
        let Some(Ok((bytes, written))) = self.under_way.join_next().await else {
            return Ok(());
        };
        self.bytes -= bytes;
        match written {
            // The source or the document was removed in the meantime, so there is nothing to record.
            Err(refusal) if matches!(refusal.code, Code::NotFound | Code::Conflict) => Ok(()),
            other => other,
        }
    }
}
