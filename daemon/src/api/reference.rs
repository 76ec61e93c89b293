//! Generates docs/operations.md from the operation table.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::operations::TABLE;
use crate::error::Code;
use crate::operation::{Access, Operation};

/// Renders the reference of all operations as Markdown.
#[must_use]
pub fn markdown() -> String {
    let mut page = String::from(
        "# Operations\n\n\
         This page is for everyone who calls operations. \
         `UPDATE_DOCS=1 cargo test -p tests --test docs` generates it from the operation table. Every \
         operation is called the same way through every transport: `lore call NAME JSON`, a frame, an \
         MCP tool.\n\n\
         Some replies have a prescribed shape. Their `position`, `durable`, `project`, `warnings` and \
         the `total` of a list are outside the reply: in `_meta` over MCP and from `lore call`, in \
         `meta` of a frame. MCP requires an object as structured content, so a reply that is a list is \
         wrapped in one.\n\n\
         | operation | access | description |\n| --- | --- | --- |\n",
    );
    for operation in TABLE.values() {
        let access = access(operation.access);
        let (name, description) = (operation.name, operation.description);
        put(
            &mut page,
            format_args!("| [`{name}`](#{name}) | {access} | {description} |\n"),
        );
    }
    TABLE
        .values()
        .for_each(|operation| section(&mut page, operation));
    page.push_str("\n## Error codes\n\n| code | status | repeat? |\n| --- | --- | --- |\n");
    for code in Code::ALL {
        let repeat = if code.retryable() { "yes" } else { "no" };
        put(
            &mut page,
            format_args!("| `{}` | {} | {repeat} |\n", code.as_str(), code.status()),
        );
    }
    page
}

fn put(page: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String does not fail.
    let _ = page.write_fmt(text);
}

fn access(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "write",
    }
}

fn section(page: &mut String, operation: &Operation) {
    put(
        page,
        format_args!("\n## {}\n\n{}\n", operation.name, operation.description),
    );
    fields(page, "Arguments", &(operation.input)());
    fields(page, "Reply", &(operation.output)());
}

/// Renders a table of an object's fields; fields of objects in lists are named with a dot.
fn fields(page: &mut String, title: &str, schema: &Map<String, Value>) {
    let mut rows = Vec::new();
    collect(schema, "", &mut rows);
    if rows.is_empty() {
        put(page, format_args!("\n{title}: none.\n"));
        return;
    }
    put(
        page,
        format_args!("\n| {title} | type | |\n| --- | --- | --- |\n"),
    );
    for (name, kind, note) in rows {
        put(page, format_args!("| `{name}` | {kind} | {note} |\n"));
    }
}

fn collect(schema: &Map<String, Value>, prefix: &str, rows: &mut Vec<(String, String, String)>) {
    // A reply may be a list itself.
    if let (true, Some(items)) = (
        prefix.is_empty(),
        schema.get("items").and_then(Value::as_object),
    ) {
        return collect(items, "[].", rows);
    }
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return;
    };
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    for (name, field) in properties {
        let Some(field) = field.as_object() else {
            rows.push((format!("{prefix}{name}"), "any".to_owned(), String::new()));
            continue;
        };
        let optional = if required.contains(&name.as_str()) {
            ""
        } else {
            "?"
        };
        let note = field
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .replace('\n', " ");
        rows.push((format!("{prefix}{name}{optional}"), kind(field), note));
        collect(field, &format!("{prefix}{name}."), rows);
        if let Some(items) = field.get("items").and_then(Value::as_object) {
            collect(items, &format!("{prefix}{name}[]."), rows);
        }
    }
}

fn kind(field: &Map<String, Value>) -> String {
    let named = |field: &Map<String, Value>| {
        field
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or("any")
            .to_owned()
    };
    let choices: Option<Vec<String>> = choices(field);
    match (choices, field.get("items").and_then(Value::as_object)) {
        (Some(choices), _) => choices.join(", "),
        (None, Some(items)) => format!("list of {}", named(items)),
        (None, None) => named(field),
    }
}

/// Returns the values of an enumeration of names.
fn choices(field: &Map<String, Value>) -> Option<Vec<String>> {
    let names = field.get("enum").and_then(Value::as_array)?;
    let quoted = names.iter().map(|name| format!("`{}`", text(name)));
    Some(quoted.collect())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
