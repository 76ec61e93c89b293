//! Access to other users' memories, where each user of a machine has a separate one.

use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::Context;
use crate::error::Refusal;

/// Another user's memory, held open until this is dropped.
pub struct TenantAccess {
    /// The context of that memory.
    pub context: Arc<Context>,
    /// Dropped when the call ends.
    pub stays: Box<dyn Any + Send + Sync>,
}

type Finding = Pin<Box<dyn Future<Output = Result<Option<TenantAccess>, Refusal>> + Send>>;

/// Finds other users' memories.
pub struct TenantDirectory {
    /// Finds a user's memory; `None` when that user has none.
    pub find: Box<dyn Fn(u32) -> Finding + Send + Sync>,
    /// Resolves a user name or number to a uid, or returns the reason why it does not exist.
    pub uid: fn(&str) -> Result<u32, String>,
}
