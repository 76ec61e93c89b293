//! Secrets are taken out of a write's arguments before anything else sees them, and its reply says so.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use lore::protocol::Args;
use lored_redact::Found;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::Refusal;
use crate::log::Actor;
use crate::operation::{Caller, Context, Reply, blocking};

/// Larger arguments are looked through off the event loop, in bytes.
const INLINE_BYTES_MAX: usize = 64 << 10;

/// Arguments without secrets, and which there were.
///
/// # Errors
/// When the daemon stops before large arguments were looked through.
pub async fn redacted(cx: &Arc<Context>, args: Args) -> Result<(Args, Found), Refusal> {
    if !cx.redactor.is_enabled() {
        return Ok((args, Found::default()));
    }
    let is_large = match &args {
        Args::Json(json) => json.len() > INLINE_BYTES_MAX,
        Args::Value(value) => bytes_left(value, INLINE_BYTES_MAX).is_none(),
    };
    if !is_large {
        return Ok(of(cx, args));
    }
    let cx = Arc::clone(cx);
    blocking(move || Ok(of(&cx, args))).await
}

/// The caller, with names that hold no secrets.
pub fn of_caller(cx: &Context, mut caller: Caller) -> Caller {
    let mut found = Found::default();
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

/// Adds a sentence to the warnings of a reply: beside it, where its shape is its source's.
pub fn warn(reply: &mut Reply, sentence: String) {
    if let Some(meta) = &mut reply.meta {
        meta.warnings.push(sentence);
        return;
    }
    let json = reply.json.get().trim_end();
    let Ok(object) = serde_json::from_str::<BTreeMap<Cow<'_, str>, &RawValue>>(json) else {
        return;
    };
    // Every other byte stays as it is.
    let text = match object.get("warnings").map(|warnings| warnings.get()) {
        Some(said) => {
            let Ok(mut warnings) = serde_json::from_str::<Vec<String>>(said) else {
                return;
            };
            warnings.push(sentence);
            let start = said.as_ptr().addr() - json.as_ptr().addr();
            let (before, rest) = json.split_at(start);
            let after = rest.get(said.len()..).unwrap_or_default();
            format!("{before}{}{after}", Value::from(warnings))
        }
        None => {
            let comma = if object.is_empty() { "" } else { "," };
            let warnings = Value::from(vec![sentence]);
            let rest = json.strip_suffix('}').unwrap_or_default();
            format!("{rest}{comma}\"warnings\":{warnings}}}")
        }
    };
    if let Ok(json) = RawValue::from_string(text) {
        reply.json = json;
    }
}

fn of(cx: &Context, args: Args) -> (Args, Found) {
    let mut found = Found::default();
    let args = match args {
        Args::Json(json) => {
            let redacted = match cx.redactor.json(&json, &mut found) {
                Cow::Borrowed(_) => None,
                Cow::Owned(redacted) => Some(redacted),
            };
            Args::Json(redacted.unwrap_or(json))
        }
        Args::Value(mut value) => {
            cx.redactor.value(&mut value, &mut found);
            Args::Value(value)
        }
    };
    (args, found)
}

/// What is left of so many bytes after the texts of a value; `None` when it has more.
fn bytes_left(value: &Value, left: usize) -> Option<usize> {
    let left = left.checked_sub(8)?;
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => Some(left),
        Value::String(text) => left.checked_sub(text.len()),
        Value::Array(items) => items
            .iter()
            .try_fold(left, |left, item| bytes_left(item, left)),
        Value::Object(object) => object.iter().try_fold(left, |left, (key, item)| {
            bytes_left(item, left.checked_sub(key.len())?)
        }),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::api::TABLE;
    use crate::operation::Access;
    use lored_redact::Redactor;

    /// A reply that is an object says what was redacted, and no other byte of it changes.
    #[test]
    fn warnings_are_added() {
        let warned = |json: &str| {
            let mut reply = Reply {
                json: RawValue::from_string(json.to_owned()).unwrap(),
                meta: None,
                readable: None,
            };
            warn(&mut reply, "w".to_owned());
            reply.json.get().to_owned()
        };
        assert_eq!(
            warned(r#"{"b":1.10,"a":1e5}"#),
            r#"{"b":1.10,"a":1e5,"warnings":["w"]}"#
        );
        assert_eq!(
            warned(r#"{"warnings":["v"],"a":1}"#),
            r#"{"warnings":["v","w"],"a":1}"#
        );
        assert_eq!(warned("[1]"), "[1]");
    }

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
            // What an argument is called makes no secret of it, if it can be a text.
            let texts = properties((operation.input)()).into_iter();
            for (name, _) in texts.filter(|(_, schema)| schema["type"] != "integer") {
                let mut value = serde_json::json!({name: "Zx81kQ0vWm3Lp9sTfR7b"});
                let given = value.clone();
                redactor.value(&mut value, &mut Found::default());
                assert_eq!(value, given, "{}", operation.name);
            }
        }
        assert_eq!(lacking, [""; 0]);
    }
}
