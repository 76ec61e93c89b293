//! Decisions about messages and tool executions.

use super::view;
use crate::engine::{Command, DecisionContext};
use crate::error::{Code, Refusal};
use crate::events::NewEvent;
use crate::events::messages::{MessageEvent, MessageMeta, ToolCallMeta};
use crate::log::Body;
use crate::sessions::{PreparedSession, lineage};
use crate::store::PendingBlob;

/// Wants a message recorded.
pub struct RecordMessage {
    /// Into which session.
    pub choice: PreparedSession,
    /// What folding needs.
    pub said: MessageMeta,
    /// The payload of the event; taken when it is decided.
    pub body: Option<Body>,
    /// Blobs that the payload names: no sweep takes them before the event is committed.
    pub blobs: Vec<PendingBlob>,
}

impl Command for RecordMessage {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let selected = self.choice.decide(on)?;
        self.said.blobs = hashes(&self.blobs);
        let body = self.body.take().ok_or_else(decided_twice)?;
        Ok(selected.events(MessageEvent::Message(self.said.clone()), body))
    }
}

/// Wants it recorded how far the execution of a tool is.
pub struct RecordTool {
    /// Into which session.
    pub choice: PreparedSession,
    /// What folding needs.
    pub executed: ToolCallMeta,
    /// Whether it goes on, so that it must be there.
    pub goes_on: bool,
    /// The payload of the event; taken when it is decided.
    pub body: Option<Body>,
    /// Blobs that the payload names: no sweep takes them before the event is committed.
    pub blobs: Vec<PendingBlob>,
}

impl Command for RecordTool {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let selected = self.choice.decide(on)?;
        let id = &self.executed.id;
        if self.goes_on {
            let lines = lineage(on.rows, &selected.session)?;
            if view::execution(on.rows, &lines, id)?.is_none() {
                return Err(Refusal::new(
                    Code::NotFound,
                    format!("the session `{}` has no execution `{id}`", selected.session),
                )
                .hint("Leave `execution` out to start one; the reply returns the id."));
            }
        }
        self.executed.blobs = hashes(&self.blobs);
        let body = self.body.take().ok_or_else(decided_twice)?;
        Ok(selected.events(MessageEvent::ToolCall(self.executed.clone()), body))
    }
}

fn hashes(blobs: &[PendingBlob]) -> Vec<serde_bytes::ByteArray<32>> {
    let hashes = blobs.iter().map(|blob| blob.reference().hash.into());
    hashes.collect()
}

fn decided_twice() -> Refusal {
    Refusal::new(Code::Internal, "a command was decided twice")
}
