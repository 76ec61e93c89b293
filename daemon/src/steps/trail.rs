//! The debug trail: one line when a name is looked up, one for what it stands for, one for each stored result.

use super::resolve::Resolution;
use super::words;
use serde_json::Value;

/// How much of a value or result a line shows, in characters.
const SHOWN_CHARS: usize = 100;

/// The line about a stored result: its first 100 characters.
#[must_use]
pub fn stored_result(step: u32, raw: &str) -> String {
    format!(
        "Stored result for step {step}: {}...",
        words::first_chars(raw, SHOWN_CHARS)
    )
}

/// Writes the line about a stored result.
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
                Shown(&resolution.value)
            );
        }
        (None, reason) => {
            let reason = reason.map_or("", super::resolve::Reason::name);
            let message = resolution.message.as_deref().unwrap_or_default();
            tracing::debug!(reason, "Resolved '{name}' to: null ({message})");
        }
    }
}

/// A value as a line shows it: text without quotes, cut. Written only when the line is.
struct Shown<'a>(&'a Value);

impl std::fmt::Display for Shown<'_> {
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
    use crate::steps::memory::Session;
    use crate::steps::resolve::Resolver;
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    /// What was logged, kept in memory.
    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl Write for Log {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// "Logging: the system provides detailed logging for troubleshooting".
    #[test]
    fn the_trail_reads_as_described() {
        let log = Log::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::DEBUG)
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            let session = Session::of(&["{}", r#"{"id": 12345, "title": "Fix bug"}"#]);
            stored(2, r#"{"id": 12345, "title": "Fix bug"}"#);
            let resolver = Resolver {
                history: &session,
                set: &session.set,
                current_step: None,
                all_values: false,
            };
            assert!(resolver.resolve("ID_FROM_STEP_2").is_ok());
            assert!(resolver.resolve("ID_FROM_STEP_99").is_ok());
        });
        let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        for line in [
            "Stored result for step 2: {\"id\": 12345, \"title\": \"Fix bug\"}...",
            "Processing dynamic value: ID_FROM_STEP_2",
            "Resolved 'ID_FROM_STEP_2' to: 12345 strategy=\"direct\"",
            "Resolved 'ID_FROM_STEP_99' to: null (step 99 not found",
        ] {
            assert!(log.contains(line), "{line}\n{log}");
        }
    }

    #[test]
    fn a_long_result_is_cut_between_characters() {
        let line = stored_result(3, &"é".repeat(500));
        assert_eq!(
            line,
            format!("Stored result for step 3: {}...", "é".repeat(100))
        );
    }
}
