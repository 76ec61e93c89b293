//! Calls operations by name and reads resources by URI.

use std::pin::pin;
use std::sync::Arc;

use lore::protocol::frame::FRAME_BYTES_MAX;
use lore::protocol::{Args, nearest};
use tokio_util::sync::CancellationToken;

use super::limits::Limits;
use super::operations::TABLE;
use super::resources::{RESOURCES, ResourcePage, Resources};
use super::{redacting, sharing};
use crate::budget::{CallBudget, SharedBudget};
use crate::error::{Code, Refusal};
use crate::operation::{
    Access, Answer, Caller, Context, MemoryBound, Operation, RawCall, reply_too_large,
};
use crate::resource::Kind;

/// Calls operations by name and reads resources by URI.
#[derive(Clone)]
pub struct Dispatch {
    context: Arc<Context>,
    resources: Resources,
    memory: Arc<SharedBudget>,
}

impl Dispatch {
    /// Creates a dispatcher for this context.
    #[must_use]
    pub fn new(context: Arc<Context>) -> Self {
        Self {
            context,
            resources: Resources::new(RESOURCES),
            memory: Limits::default().memory(),
        }
    }

    /// Has calls reserve their memory from this budget, that of their connection.
    #[must_use]
    pub fn within(self, memory: Arc<SharedBudget>) -> Self {
        Self { memory, ..self }
    }

    /// Replaces the resources, for tests of the transports.
    #[must_use]
    pub fn with_resources(mut self, kinds: &'static [Kind]) -> Self {
        self.resources = Resources::new(kinds);
        self
    }

    /// Returns the resource table.
    #[must_use]
    pub const fn resources(&self) -> Resources {
        self.resources
    }

    /// Returns a page of all resources.
    ///
    /// # Errors
    /// As [`Resources::list`].
    pub async fn list_resources(
        &self,
        caller: &Caller,
        cursor: Option<&str>,
    ) -> Result<ResourcePage, Refusal> {
        self.resources.list(&self.context, caller, cursor).await
    }

    /// Returns the text and the kind of a resource.
    ///
    /// # Errors
    /// As [`Resources::read`].
    pub async fn read_resource(
        &self,
        caller: &Caller,
        address: &str,
    ) -> Result<(&'static Kind, String), Refusal> {
        let budget = CallBudget::new(&self.memory, MemoryBound::Content.bytes_max());
        let _ended = budget.end_on_drop();
        let read = self.resources.read(&self.context, caller, address);
        budget.run(read).await
    }

    /// Returns the context that the handlers share.
    #[must_use]
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Returns whether the operation may wait for new events (a long poll).
    #[must_use]
    pub fn waits(&self, name: &str) -> bool {
        TABLE.get(name).is_some_and(|operation| operation.waits)
    }

    /// Calls an operation.
    ///
    /// # Errors
    /// `UNKNOWN_OPERATION` with a suggestion, `RESPONSE_TOO_LARGE`, or the operation's refusal.
    pub async fn call(&self, caller: Caller, name: &str, args: Args) -> Answer {
        within(
            FRAME_BYTES_MAX,
            self.call_any_size(caller, name, args).await,
        )
    }

    /// Calls an operation. Once nothing waits for the answer, which `unwanted` says, the call ends at its next check, and
    /// not before: what it holds and its turn stay counted until then.
    ///
    /// # Errors
    /// As for [`Dispatch::call`].
    pub async fn call_until(
        &self,
        unwanted: &CancellationToken,
        caller: Caller,
        name: &str,
        args: Args,
    ) -> Answer {
        let Some(operation) = TABLE.get(name) else {
            return Err(unknown(name));
        };
        let budget = CallBudget::new(&self.memory, operation.memory.bytes_max());
        let ended = budget.end_on_drop();
        let mut work = pin!(budget.run(self.call_within(operation, caller, args)));
        let answer = tokio::select! {
            answer = work.as_mut() => answer,
            () = unwanted.cancelled() => {
                drop(ended);
                work.await
            }
        };
        within(FRAME_BYTES_MAX, answer)
    }

    async fn call_any_size(&self, caller: Caller, name: &str, args: Args) -> Answer {
        let Some(operation) = TABLE.get(name) else {
            return Err(unknown(name));
        };
        let budget = CallBudget::new(&self.memory, operation.memory.bytes_max());
        // Also when the caller disconnects, which drops this future: work on other threads then ends soon.
        let _ended = budget.end_on_drop();
        budget.run(self.call_within(operation, caller, args)).await
    }

    async fn call_within(&self, operation: &Operation, caller: Caller, args: Args) -> Answer {
        let sharing::RoutedCall {
            context: cx,
            caller,
            args,
            stays: _stays,
        } = sharing::route(&self.context, operation, caller, args).await?;
        if operation.access == Access::Read {
            return operation.call(cx, caller, args).await;
        }
        let caller = redacting::of_caller(&cx, caller);
        let call = prepared(operation, &cx, &caller, args).await?;
        operation.call(cx, caller, call).await
    }
}

/// Redacts the arguments of a write, before they are hashed, recorded or indexed, on every transport. Operations that take
/// bytes redact what they find in them.
///
/// # Errors
/// When the daemon stops before large arguments were searched.
pub async fn prepared(
    operation: &Operation,
    cx: &Arc<Context>,
    caller: &Caller,
    args: Args,
) -> Result<RawCall, Refusal> {
    match operation.rereads {
        _ if operation.takes_bytes => Ok(args.into()),
        Some(rereads) => redacting::reread(cx, caller, rereads, args).await,
        None => redacting::redacted(cx, args).await,
    }
}

/// Bytes of a frame or a line around a reply, without its metadata.
const AROUND_BYTES: usize = 1024;

/// Refuses a reply that does not fit into a frame or a line of `bytes_max`. No peer could read it.
pub(super) fn within(bytes_max: usize, answer: Answer) -> Answer {
    let reply = answer?;
    let bytes = reply.json.get().len();
    if bytes.saturating_add(AROUND_BYTES) <= bytes_max {
        return Ok(reply);
    }
    Err(reply_too_large(bytes, bytes_max))
}

/// Builds the refusal of an unknown operation name.
fn unknown(name: &str) -> Refusal {
    let shown: String = name.chars().take(64).collect();
    let names = TABLE.keys().copied();
    let hint = match nearest(name, names.clone()) {
        Some(near) => format!("Did you mean `{near}`?"),
        None => {
            let names: Vec<&str> = names.collect();
            format!("Operations are: {}.", names.join(", "))
        }
    };
    Refusal::new(
        Code::UnknownOperation,
        format!("unknown operation `{shown}`"),
    )
    .hint(hint)
}
