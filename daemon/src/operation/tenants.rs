//! The memories of other users, where each user of a machine has one of its own.

use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use super::Context;
use crate::error::Refusal;

/// Another user's memory, open as long as this is kept.
pub struct TenantAccess {
    /// What calls into it share.
    pub context: Arc<Context>,
    /// Dropped when the call is done.
    pub stays: Box<dyn Any + Send + Sync>,
}

type Finding = Pin<Box<dyn Future<Output = Result<Option<TenantAccess>, Refusal>> + Send>>;

/// Finds the memories of others.
pub struct TenantDirectory {
    /// A user's memory; `None` when that user has none.
    pub find: Box<dyn Fn(u32) -> Finding + Send + Sync>,
    /// The number of a user, by name or number; or a sentence why there is none.
    pub uid: fn(&str) -> Result<u32, String>,
}
