//! What a call of the model took, as each host counts it.

use serde_json::Value;

use super::Line;
use crate::fields::{any, number, owned};
use crate::observation::{Observed, TokenCounts};

/// Names of the counts, in the order of the fields of [`TokenCounts`].
pub type CountNames = [&'static [&'static str]; 4];

/// Names in Anthropic's messages.
pub const ANTHROPIC: CountNames = [
    &["input_tokens"],
    &["output_tokens"],
    &["cache_read_input_tokens"],
    &["cache_creation_input_tokens"],
];
/// Names in Codex's rollouts.
pub const CODEX: CountNames = [
    &["input_tokens"],
    &["output_tokens"],
    &["cached_input_tokens"],
    &["cache_write_input_tokens"],
];
/// Names in the messages of Gemini CLI, opencode and pi.
pub const SHORT: CountNames = [
    &["input"],
    &["output"],
    &["cached", "cache.read", "cacheRead"],
    &["cache.write", "cacheWrite"],
];
/// Names in Google's API, which Qwen Code follows, and in Copilot CLI and Cursor.
pub const LONG: CountNames = [
    &["promptTokenCount", "inputTokens"],
    &["candidatesTokenCount", "outputTokens"],
    &["cachedContentTokenCount", "cacheReadTokens"],
    &["cacheWriteTokens"],
];

/// Adds what a call took, if it says so. The id is that of the call.
pub fn add(
    line: &mut Line<'_>,
    usage: &Value,
    names: &CountNames,
    model: &Value,
    id: Option<&str>,
) {
    let count = |names: &[&str]| {
        let count = number(usage, names).unwrap_or_default();
        u64::try_from(count).unwrap_or_default()
    };
    let [input, output, cache_read, cache_written] = names.map(count);
    let tokens = TokenCounts {
        input,
        output,
        cache_read,
        cache_written,
    };
    if tokens == TokenCounts::default() {
        return;
    }
    let model = model.as_str().filter(|model| !model.is_empty());
    let model = model.map(str::to_owned);
    line.maker.add(Observed::TokensUsed { model, tokens }, id);
}

/// Adds what a message took that repeats itself with growing counts: when its last line comes, which has a reason for its end.
pub fn add_at_end(line: &mut Line<'_>, message: &Value, names: &CountNames) {
    let id = owned(message, &["id"]);
    let is_last = any(message, &["stop_reason"]).is_some();
    if !is_last || id.is_none() || id == line.state.counted {
        return;
    }
    line.state.counted.clone_from(&id);
    let none = Value::Null;
    let usage = any(message, &["usage"]).unwrap_or(&none);
    let model = any(message, &["model"]).unwrap_or(&none);
    add(line, usage, names, model, id.as_deref());
}
