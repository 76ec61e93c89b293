//! Redacts secrets in a write's arguments before any other processing; the reply carries a warning.

use std::borrow::Cow;
use std::sync::Arc;

use crate::error::Refusal;
use crate::log::Actor;
use crate::operation::{Caller, Context, RawCall, Rereads, blocking};
use lore::protocol::Args;
use lored_redact::{Rules, SecretCounts};

/// Larger arguments are searched off the event loop, in bytes.
const INLINE_BYTES_MAX: usize = 64 << 10;
/// Larger arguments are compared with those of an earlier call off the event loop, in bytes.
const REREAD_INLINE_BYTES_MAX: usize = 1 << 20;

/// Redacts secrets in the arguments and adds a warning about them.
///
/// # Errors
/// When the daemon stops before large arguments were searched.
pub async fn redacted(cx: &Arc<Context>, args: Args) -> Result<RawCall, Refusal> {
    let rules = cx.redactor.rules();
    if !cx.redactor.is_enabled() {
        return Ok(RawCall {
            clean_under: Some(rules),
            ..args.into()
        });
    }
    let json = args.into_json();
    if json.len() <= INLINE_BYTES_MAX {
        return Ok(of(cx, json, rules));
    }
    let cx = Arc::clone(cx);
    blocking(move || Ok(of(&cx, json, rules))).await
}

/// Reads arguments that are mostly those of an earlier call, or else redacts them.
///
/// # Errors
/// As [`redacted`].
pub async fn reread(
    cx: &Arc<Context>,
    caller: &Caller,
    rereads: Rereads,
    args: Args,
) -> Result<RawCall, Refusal> {
    let json = args.into_json();
    let read = if json.len() <= REREAD_INLINE_BYTES_MAX {
        rereads(cx, caller, json)
    } else {
        let (cx, caller) = (Arc::clone(cx), caller.clone());
        blocking(move || Ok(rereads(&cx, &caller, json))).await?
    };
    match read {
        Ok(call) => Ok(call),
        Err(json) => redacted(cx, Args::Json(json)).await,
    }
}

/// Redacts secrets in the caller's names.
pub fn of_caller(cx: &Context, mut caller: Caller) -> Caller {
    let mut found = SecretCounts::default();
    let agent = cx.redactor.text(&caller.actor.agent, &mut found);
    let client = cx.redactor.text(&caller.actor.client, &mut found);
    let host_session = caller.host_session.as_deref();
    let host_session = host_session.map(|text| cx.redactor.text(text, &mut found).into_owned());
    if !found.is_empty() {
        caller.host_session = host_session;
        let (agent, client) = (agent.into_owned(), client.into_owned());
        caller.actor = Arc::new(Actor {
            agent,
            client,
            ..(*caller.actor).clone()
        });
    }
    caller
}

fn of(cx: &Context, json: Vec<u8>, rules: Arc<Rules>) -> RawCall {
    let mut found = SecretCounts::default();
    let redacted = match cx.redactor.json(&json, &mut found) {
        Cow::Borrowed(_) => None,
        Cow::Owned(redacted) => Some(redacted),
    };
    let is_clean = redacted.is_none() && found.is_empty();
    RawCall {
        args: redacted.unwrap_or(json),
        warning: found.sentence(),
        known: None,
        clean_under: is_clean.then_some(rules),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::api::TABLE;
    use crate::operation::Access;
    use lored_redact::Redactor;

    /// Writes without a place for warnings: replies whose shape their specification fixes, with separate metadata, and two
    /// writes that record only the id of a source.
    const FIXED: &[&str] = &[
        "remove_source",
        "rescan",
        "test_echo",
        "test_hold",
        "workflow_checkpoint_delete",
        "workflow_checkpoint_fork",
        "workflow_checkpoint_save",
        "workflow_mark_critical",
    ];

    /// Every write's reply has a place for warnings.
    #[test]
    fn every_write_can_warn() {
        let redactor = Redactor::default();
        let mut lacking = Vec::new();
        for operation in TABLE.values().filter(|one| one.access == Access::Write) {
            let properties = |schema: serde_json::Map<String, Value>| {
                schema
                    .get("properties")
                    .and_then(Value::as_object)
                    .cloned()
                    .unwrap_or_default()
            };
            let reply = properties((operation.output)());
            if !reply.contains_key("warnings") && !FIXED.contains(&operation.name) {
                lacking.push(operation.name);
            }
            // The name of an argument does not make a string value a secret.
            let texts = properties((operation.input)()).into_iter();
            for (name, _) in texts.filter(|(_, schema)| schema["type"] != "integer") {
                let mut value = serde_json::json!({name: "Zx81kQ0vWm3Lp9sTfR7b"});
                let given = value.clone();
                redactor.value(&mut value, &mut SecretCounts::default());
                assert_eq!(value, given, "{}", operation.name);
            }
        }
        assert_eq!(lacking, [""; 0]);
    }
}
