//! Secrets are taken out of a write's arguments before anything else sees them, and its reply says so.

use std::borrow::Cow;
use std::sync::Arc;

use crate::error::Refusal;
use crate::log::Actor;
use crate::operation::{Caller, Context, RawCall, blocking};
use lore::protocol::Args;
use lored_redact::SecretCounts;

/// Larger arguments are looked through off the event loop, in bytes.
const INLINE_BYTES_MAX: usize = 64 << 10;

/// A call whose arguments hold no secrets, with a warning about those that were replaced.
///
/// # Errors
/// When the daemon stops before large arguments were searched.
pub async fn redacted(cx: &Arc<Context>, args: Args) -> Result<RawCall, Refusal> {
    if !cx.redactor.is_enabled() {
        return Ok(args.into());
    }
    let json = args.into_json();
    if json.len() <= INLINE_BYTES_MAX {
        return Ok(of(cx, json));
    }
    let cx = Arc::clone(cx);
    blocking(move || Ok(of(&cx, json))).await
}

/// The caller, with names that hold no secrets.
pub fn of_caller(cx: &Context, mut caller: Caller) -> Caller {
    let mut found = SecretCounts::default();
    let agent = cx.redactor.text(&caller.actor.agent, &mut found);
    let client = cx.redactor.text(&caller.actor.client, &mut found);
    if !found.is_empty() {
        let (agent, client) = (agent.into_owned(), client.into_owned());
        caller.actor = Arc::new(Actor {
            agent,
            client,
            ..(*caller.actor).clone()
        });
    }
    caller
}

fn of(cx: &Context, json: Vec<u8>) -> RawCall {
    let mut found = SecretCounts::default();
    let redacted = match cx.redactor.json(&json, &mut found) {
        Cow::Borrowed(_) => None,
        Cow::Owned(redacted) => Some(redacted),
    };
    RawCall {
        args: redacted.unwrap_or(json),
        warning: found.sentence(),
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

    /// Writes whose replies have the shape that their source gives them, and a meta beside; and two that
    /// take the id of a source and nothing else that is recorded.
    const FIXED: &[&str] = &[
        "remove_source",
        "rescan",
        "trial_echo",
        "trial_hold",
        "workflow_checkpoint_delete",
        "workflow_checkpoint_fork",
        "workflow_checkpoint_save",
        "workflow_mark_critical",
    ];

    /// Whatever a write replies has a place for warnings.
    #[test]
    fn every_write_can_warn() {
        let redactor = Redactor::default();
        let mut missing_views = Vec::new();
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
                missing_views.push(operation.name);
            }
            // What an argument is called makes no secret of it, if it can be a text.
            let texts = properties((operation.input)()).into_iter();
            for (name, _) in texts.filter(|(_, schema)| schema["type"] != "integer") {
                let mut value = serde_json::json!({name: "Zx81kQ0vWm3Lp9sTfR7b"});
                let given = value.clone();
                redactor.value(&mut value, &mut SecretCounts::default());
                assert_eq!(value, given, "{}", operation.name);
            }
        }
        assert_eq!(missing_views, [""; 0]);
    }
}
