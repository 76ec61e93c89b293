//! Commands for messages and tool executions.

use super::view;
use crate::engine::{Command, DecisionContext};
use crate::error::{Code, Refusal};
use crate::events::NewEvent;
use crate::events::messages::{MessageEvent, MessageMeta, ToolCallMeta};
use crate::hint::{arg, hint};
use crate::log::Body;
use crate::sessions::{PreparedSession, lineage};
use crate::store::PendingBlob;

/// Records a message.
pub struct RecordMessage {
    /// The target session.
    pub choice: PreparedSession,
    /// The event metadata for folding.
    pub said: MessageMeta,
    /// The event's payload; moved out by the decision.
    pub body: Option<Body>,
    /// Blobs that the payload references, protected from the sweep until the event is committed.
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

/// Records the progress of a tool execution.
pub struct RecordTool {
    /// The target session.
    pub choice: PreparedSession,
    /// The event metadata for folding.
    pub executed: ToolCallMeta,
    /// Whether it continues an execution, which must then exist.
    pub goes_on: bool,
    /// The event's payload; moved out by the decision.
    pub body: Option<Body>,
    /// Blobs that the payload references, protected from the sweep until the event is committed.
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
                .hint(hint![
                    "Leave ",
                    arg("execution"),
                    " out to start one; the reply returns the id."
                ]));
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
