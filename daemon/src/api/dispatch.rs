//! From a name and arguments to an answer.

use std::sync::Arc;

use lore::protocol::{Args, nearest};

use super::operations::TABLE;
use crate::error::{Code, Refusal};
use crate::operation::{Answer, Caller, Context};

/// Calls operations by name.
#[derive(Clone)]
pub struct Dispatch {
    context: Arc<Context>,
}

impl Dispatch {
    /// Calls into this context.
    #[must_use]
    pub fn new(context: Arc<Context>) -> Self {
        Self { context }
    }

    /// What the handlers share.
    #[must_use]
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Calls an operation.
    ///
    /// # Errors
    /// `UNKNOWN_OPERATION` with the nearest name, or whatever the operation refuses.
    pub async fn call(&self, caller: Caller, name: &str, args: Args) -> Answer {
        match TABLE.get(name) {
            Some(operation) => {
                operation
                    .call(Arc::clone(&self.context), caller, args)
                    .await
            }
            None => Err(unknown(name)),
        }
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
