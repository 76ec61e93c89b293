//! From a name and arguments to an answer, from an address to a text.

use std::sync::Arc;

use lore::protocol::{Args, nearest};

use super::operations::TABLE;
use super::resources::{RESOURCES, ResourcePage, Resources};
use super::{redacting, sharing};
use crate::error::{Code, Refusal};
use crate::operation::{Access, Answer, Caller, Context};
use crate::resource::Kind;

/// Calls operations by name, and reads resources by address.
#[derive(Clone)]
pub struct Dispatch {
    context: Arc<Context>,
    resources: Resources,
}

impl Dispatch {
    /// Calls into this context.
    #[must_use]
    pub fn new(context: Arc<Context>) -> Self {
        Self {
            context,
            resources: Resources::new(RESOURCES),
        }
    }

    /// The same with other resources, for tests of the doors.
    #[must_use]
    pub fn with_resources(mut self, kinds: &'static [Kind]) -> Self {
        self.resources = Resources::new(kinds);
        self
    }

    /// What can be read by address.
    #[must_use]
    pub const fn resources(&self) -> Resources {
        self.resources
    }

    /// A page of all resources.
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

    /// The text of a resource, with its kind.
    ///
    /// # Errors
    /// As [`Resources::read`].
    pub async fn read_resource(
        &self,
        caller: &Caller,
        address: &str,
    ) -> Result<(&'static Kind, String), Refusal> {
        self.resources.read(&self.context, caller, address).await
    }

    /// What the handlers share.
    #[must_use]
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Whether this is an operation that may wait for what is to come.
    #[must_use]
    pub fn waits(&self, name: &str) -> bool {
        TABLE.get(name).is_some_and(|operation| operation.waits)
    }

    /// Calls an operation.
    ///
    /// # Errors
    /// `UNKNOWN_OPERATION` with the nearest name, or whatever the operation refuses.
    pub async fn call(&self, caller: Caller, name: &str, args: Args) -> Answer {
        let Some(operation) = TABLE.get(name) else {
            return Err(unknown(name));
        };
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
        if operation.takes_bytes {
            return operation.call(cx, caller, args).await;
        }
        // Before anything of it is hashed, recorded or indexed, whatever the door.
        let call = redacting::redacted(&cx, args).await?;
        operation.call(cx, caller, call).await
    }
}

/// What is said about a name that no operation has.
pub(super) fn unknown(name: &str) -> Refusal {
    let shown: String = name.chars().take(64).collect();
    let hint = match nearest(name, TABLE.keys().copied()) {
        Some(near) => format!("Did you mean `{near}`?"),
        None => {
            let names: Vec<&str> = TABLE.keys().copied().collect();
            format!("Operations are: {}.", names.join(", "))
        }
    };
    Refusal::new(
        Code::UnknownOperation,
        format!("there is no operation `{shown}`"),
    )
    .hint(hint)
}
