//! Formats the changes of a session, one line per change.

use serde_json::Value;

use crate::cli::output::sanitize;
use crate::cli::template::{at, counted, fill, list, number};

/// Formats changes: `+` marks an addition, `-` a removal and `~` a modification.
pub fn changes(reply: &Value) -> String {
    let messages = list(reply, "messages");
    let mut lines: Vec<String> = list(reply, "fields")
        .iter()
        .map(|change| changed(change, "{field:60}", "json 60"))
        .collect();
    lines.extend(
        messages
            .iter()
            .map(|message| fill("+ message {:40}", message)),
    );
    let unnamed = number(reply, "messages_added").saturating_sub(messages.len() as u64);
    if unnamed > 0 {
        lines.push(format!("+ {}", counted(unnamed, "more message")));
    }
    if number(reply, "messages_missing") > 0 {
        lines.push(fill("- {messages_missing:count message}", reply));
    }
    lines.extend(list(reply, "entities").iter().map(entity));
    let values = list(reply, "values").iter();
    lines.extend(values.map(|change| changed(change, "step {step}", "60")));
    let keys = list(reply, "keys").iter();
    lines.extend(keys.map(|key| context(key.as_str().unwrap_or_default())));
    if lines.is_empty() {
        return fill("nothing changed from {a} to {b}\n", reply);
    }
    lines.join("\n") + "\n"
}

/// Formats a value before and after; `format` is a template's format.
fn changed(change: &Value, name: &str, format: &str) -> String {
    let template = match (at(change, "before"), at(change, "after")) {
        (Value::Null, Value::Null) => format!("~ {name}"),
        (_, Value::Null) => format!("- {name} {{before:{format}}}"),
        (Value::Null, _) => format!("+ {name} {{after:{format}}}"),
        (_, _) => format!("~ {name} {{before:{format}}} -> {{after:{format}}}"),
    };
    fill(&template, change)
}

fn entity(change: &Value) -> String {
    let template = match number(change, "mentions_before") {
        0 => "+ {kind:40} {name:60}, mentions: {mentions_after}",
        _ => "~ {kind:40} {name:60}, mentions: {mentions_before} -> {mentions_after}",
    };
    fill(template, change)
}

/// Formats a changed path of the latest checkpoint's context; the reply appends the kind of change to it.
fn context(key: &str) -> String {
    let (sign, path) = match key.rsplit_once(' ') {
        Some((path, "added")) => ('+', path),
        Some((path, "removed")) => ('-', path),
        Some((path, "changed")) => ('~', path),
        Some(_) | None => ('~', key),
    };
    format!("{sign} context {}", sanitize(path, 200))
}
