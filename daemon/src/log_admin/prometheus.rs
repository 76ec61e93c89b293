//! Renders `status` in the Prometheus text exposition format, version 0.0.4.

use std::fmt::Write;

use lore::protocol::status::StatusReply;

use crate::engine::PublishedState;
use crate::error::Refusal;
use crate::operation::Context;
use crate::rows::until;
use crate::sessions::{self, SessionFilter, SessionSettings};
use crate::{entities, messages, packs};

/// Maximum number of sessions in the output, newest first. Each has three series.
const SESSIONS_MAX: usize = 100;
/// Maximum number of sessions read to select them.
const LOOKED_AT_MAX: usize = 2000;

/// Renders the metrics.
pub fn text(
    cx: &Context,
    published: &PublishedState,
    status: &StatusReply,
) -> Result<String, Refusal> {
    let mut text = Text::default();
    let warnings = status.warnings.len() as u64;
    let gauges = [
        (
            "up_seconds",
            "How long the daemon has been running.",
            status.uptime,
        ),
        (
            "position",
            "The newest position of the log.",
            status.position.0,
        ),
        ("clients", "Connections.", status.clients),
        (
            "writable",
            "Whether writes are accepted.",
            status.writable.into(),
        ),
        ("warnings", "Warnings for a person.", warnings),
    ];
    for (name, description, value) in gauges {
        text.one(name, description, value);
    }
    let counts = status.counts.iter().map(|(name, count)| (&**name, *count));
    text.all("count", "Counts by name.", "of", counts);
    let sizes = status.sizes.iter().map(|(name, bytes)| (&**name, *bytes));
    text.all("bytes", "How large is what.", "of", sizes);
    let lags = status.followers.iter().map(|one| (&*one.name, one.lag));
    let description = "How many events a follower is behind.";
    text.all("follower_lag_events", description, "follower", lags);
    let calls = status.resolvers.iter().map(|one| (&*one.name, one.calls));
    let description = "Calls to a resolver since the start.";
    text.all("resolver_calls", description, "resolver", calls);
    let failures = status
        .resolvers
        .iter()
        .map(|one| (&*one.name, one.failures));
    let description = "Calls to a resolver without an answer.";
    text.all("resolver_failures", description, "resolver", failures);
    of_sessions(cx, published, &mut text)?;
    Ok(text.0)
}

fn of_sessions(cx: &Context, published: &PublishedState, text: &mut Text) -> Result<(), Refusal> {
    let rows = &published.snapshot;
    let (room, now) = (SessionSettings::of(cx), cx.engine.clock().now());
    let (mut names, mut looked_at) = (Vec::new(), 0);
    sessions::newest(rows, SessionFilter::All, None, &mut |session, _| {
        looked_at += 1;
        if let Some(row) = sessions::get(rows, session)?
            && row.closed == 0
            && !room.is_past(&row, now)
        {
            names.push(session.to_owned());
        }
        Ok(until(
            names.len() == SESSIONS_MAX || looked_at == LOOKED_AT_MAX,
        ))
    })?;
    let mut gauges = Vec::new();
    for session in names {
        let lines = sessions::lineage(rows, &session)?;
        let measured = [
            packs::context_size(rows, &lines)?,
            entities::count(rows, &lines)?,
            messages::totals(rows, &lines)?.tokens_total(),
        ];
        gauges.push((session, measured));
    }
    let reported = [
        (
            "session_context_size",
            "Tokens of the messages in a session's working set.",
        ),
        ("session_entity_count", "Entities that a session knows."),
        (
            "session_token_usage",
            "Tokens of all messages of a session.",
        ),
    ];
    for (at, (name, description)) in reported.into_iter().enumerate() {
        let values = gauges.iter().map(|(session, measured)| {
            let value = measured.get(at).copied().unwrap_or_default();
            (session.as_str(), value)
        });
        text.all(name, description, "session", values);
    }
    Ok(())
}

/// Output lines; every metric name begins with `lore_`.
#[derive(Default)]
struct Text(String);

impl Text {
    fn write_header(&mut self, name: &str, description: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(
            self.0,
            "# HELP lore_{name} {description}\n# TYPE lore_{name} gauge"
        );
    }

    /// Writes a metric with one value per label.
    fn all<'v>(
        &mut self,
        name: &str,
        description: &str,
        label: &str,
        values: impl Iterator<Item = (&'v str, u64)>,
    ) {
        self.write_header(name, description);
        for (text, value) in values {
            let _ = writeln!(
                self.0,
                "lore_{name}{{{label}=\"{}\"}} {value}",
                escaped(text)
            );
        }
    }

    fn one(&mut self, name: &str, description: &str, value: u64) {
        self.write_header(name, description);
        let _ = writeln!(self.0, "lore_{name} {value}");
    }
}

/// Escapes the value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines stay valid for any label value.
    #[test]
    fn lines_keep_to_the_format() {
        let mut text = Text::default();
        text.one("position", "The newest.", 7);
        let values = [("a\"b\\c\nd", 3)].into_iter();
        text.all("count", "Number of events.", "of", values);
        assert_eq!(
            text.0,
            "# HELP lore_position The newest.\n# TYPE lore_position gauge\nlore_position 7\n\
             # HELP lore_count Number of events.\n# TYPE lore_count gauge\n\
             lore_count{of=\"a\\\"b\\\\c\\nd\"} 3\n"
        );
    }
}
