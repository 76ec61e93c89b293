//! Calls the operation of hooks for a waiting payload, as the hook itself would have.

use std::sync::Arc;

use lore::paths::our_uid;
use lore::protocol::Args;
use lore::spool::Entry;

use crate::api::{Dispatch, caller_of};
use crate::error::Refusal;
use crate::operation::{Context, blocking};

/// The operation that hooks call.
const OPERATION: &str = "record_hook";

/// Records a payload. What the answer would have added is lost: the host waits for it no more.
///
/// # Errors
/// The operation's refusal.
pub async fn deliver(cx: &Arc<Context>, entry: Entry) -> Result<(), Refusal> {
    // No other user can write into the folder.
    let caller = caller_of(cx, our_uid(), &entry.header.hello()).await?;
    let args = Args::Json(blocking(move || Ok(entry.arguments())).await?);
    Dispatch::new(Arc::clone(cx))
        .call(caller, OPERATION, args)
        .await
        .map(|_| ())
}
