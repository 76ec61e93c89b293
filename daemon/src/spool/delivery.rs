//! Calls the operation of hooks for a waiting payload, as the hook itself would have.

use std::sync::Arc;

use lore::paths::our_uid;
use lore::protocol::Args;
use lore::protocol::frame::Hello;
use lore::spool::Entry;
use serde::Serialize;

use crate::api::{Dispatch, caller_of};
use crate::error::Refusal;
use crate::operation::{Context, blocking};

/// The operation that hooks call.
const OPERATION: &str = "record_hook";
/// Larger payloads are shortened before the call, in bytes: long texts lose their middle, as when the call reads them.
const WHOLE_BYTES_MAX: usize = 4 << 20;

#[derive(Serialize)]
struct HookArgs<'a> {
    host: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    event: &'a str,
    payload: &'a str,
    /// In milliseconds.
    received_at: u64,
}

/// Records a payload. What the answer would have added is lost: the host waits for it no more.
///
/// # Errors
/// The operation's refusal.
pub async fn deliver(cx: &Arc<Context>, entry: Entry) -> Result<(), Refusal> {
    let Entry { header, payload } = entry;
    let hello = Hello {
        client: header.client,
        agent: header.agent,
        cwd: header.cwd,
        host_session: header.host_session,
        ..Hello::default()
    };
    // Nobody else can write into the folder.
    let caller = caller_of(cx, our_uid(), &hello).await?;
    let (host, event) = (header.host, header.event);
    let received_at = header.received_at_us / 1000;
    let args = blocking(move || {
        let payload = text(&payload);
        let args = serde_json::to_vec(&HookArgs {
            host: &host,
            event: &event,
            payload: &payload,
            received_at,
        });
        Ok(args.unwrap_or_default())
    });
    let args = Args::Json(args.await?);
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
