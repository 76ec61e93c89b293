//! The debug trail: one line for each lookup of a name, each resolution and each stored result.

use super::resolve::Resolution;
use super::words;
use serde_json::Value;

/// Maximum length of a value or result in a line, in characters.
const SHOWN_CHARS: usize = 100;

/// Formats the line for a stored result, with its first 100 characters.
#[must_use]
pub fn stored_result(step: u32, raw: &str) -> String {
    format!(
        "Stored result for step {step}: {}...",
        words::first_chars(raw, SHOWN_CHARS)
    )
}

/// Logs the line for a stored result.
pub fn stored(step: u32, raw: &str) {
    tracing::debug!("{}", stored_result(step, raw));
}

pub(super) fn processing(name: &str) {
    tracing::debug!("Processing dynamic value: {name}");
}

pub(super) fn resolved(resolution: &Resolution) {
    let name = &resolution.name;
    match (&resolution.strategy, resolution.reason) {
        (Some(strategy), _) => {
            tracing::debug!(
                strategy = strategy.name(),
                "Resolved '{name}' to: {}",
                TruncatedValue(&resolution.value)
            );
        }
        (None, reason) => {
            let reason = reason.map_or("", super::resolve::Reason::name);
            let message = resolution.message.as_deref().unwrap_or_default();
            tracing::debug!(reason, "Resolved '{name}' to: null ({message})");
        }
    }
}

/// A truncated value for a log line: text without quotes. Formatted only if the line is written.
struct TruncatedValue<'a>(&'a Value);

impl std::fmt::Display for TruncatedValue<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Value::String(text) => f.write_str(words::first_chars(text, SHOWN_CHARS)),
            value => f.write_str(words::first_chars(&value.to_string(), SHOWN_CHARS)),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_long_result_is_cut_between_characters() {
        let line = stored_result(3, &"é".repeat(500));
        assert_eq!(
            line,
            format!("Stored result for step 3: {}...", "é".repeat(100))
        );
    }
}
