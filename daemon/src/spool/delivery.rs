//! Calls the operation of hooks for a waiting payload, as the hook itself would have.

use std::sync::Arc;

use lore::paths::our_uid;
use lore::protocol::Args;
use lore::protocol::frame::Hello;
use lore::spool::Entry;

use crate::api::{Dispatch, caller_of};
use crate::error::Refusal;
use crate::operation::{Context, blocking};

/// The operation that hooks call.
const OPERATION: &str = "record_hook";
/// Larger payloads are shortened before the call, in bytes: long texts lose their middle, as when the call reads them.
const WHOLE_BYTES_MAX: usize = 4 << 20;

/// Records a payload. What the answer would have added is lost: the host waits for it no more.
///
/// # Errors
/// The operation's refusal.
pub async fn deliver(cx: &Arc<Context>, entry: Entry) -> Result<(), Refusal> {
    let Entry { header, payload } = entry;
    let hello = Hello {
        client: header.client.clone(),
        agent: header.agent.clone(),
        cwd: header.cwd.clone(),
        host_session: header.host_session.clone(),
        ..Hello::default()
    };
    // No other user can write into the folder.
    let caller = caller_of(cx, our_uid(), &hello).await?;
    let args = blocking(move || Ok(header.arguments(&text(&payload)))).await?;
    let args = Args::Json(args);
    Dispatch::new(Arc::clone(cx))
        .call(caller, OPERATION, args)
        .await
        .map(|_| ())
}

/// Returns the payload as text, shortened if it is large.
fn text(payload: &[u8]) -> String {
    if payload.len() > WHOLE_BYTES_MAX
        && let Ok(document) = lored_hosts::json::read(payload)
    {
        return document.value.to_string();
    }
    let kept = payload.get(..WHOLE_BYTES_MAX).unwrap_or(payload);
    String::from_utf8_lossy(kept).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_payloads_keep_their_fields() {
        let long = "x".repeat(WHOLE_BYTES_MAX);
        let payload = format!(r#"{{"tool_response":"{long}","tool_use_id":"t1"}}"#);
        let short = text(payload.as_bytes());
        assert!(short.len() < 1 << 20, "{}", short.len());
        assert!(short.ends_with(r#""tool_use_id":"t1"}"#));
        assert_eq!(text(b"{\"a\":1}"), "{\"a\":1}");
        // Cut off by the hook: not JSON any more.
        let cut = payload.strip_suffix('}').unwrap_or_default();
        assert_eq!(text(cut.as_bytes()).len(), WHOLE_BYTES_MAX);
    }
}
