//! Renders a session as a Markdown document for people; recorded text cannot break its structure.

use std::fmt::Write;
use std::ops::ControlFlow;

use super::lines::Payload;
use super::payloads::{Message, Step, Tool, Updated};
use super::write::{Export, Page, PageCursor, PageOmissions};
use crate::clock::{Micros, format_time};
use crate::entities::{self, EntityRef, EntityRow};
use crate::error::Refusal;
use crate::log::{Header, Position};
use crate::sanitize;
use crate::sessions;

/// Maximum number of agents in the document.
const AGENTS_MAX: usize = 100;
/// Maximum number of entities in the table: the most mentioned ones.
const ENTITIES_MAX: usize = 500;
/// The shortest fence of CommonMark.
const FENCE_MIN: usize = 3;

/// Renders a part of the document from a position until it has `bytes_max` bytes; at least one event.
pub fn markdown(
    export: &Export<'_>,
    from: Option<PageCursor>,
    bytes_max: usize,
) -> Result<Page, Refusal> {
    let mut text = String::new();
    let mut left = PageOmissions::default();
    let mut place = match from {
        Some(place) => place,
        None => {
            heading(export, &mut text)?;
            PageCursor {
                after: Position(0),
                n: 1,
            }
        }
    };
    let mut events = export.events(place.after);
    let mut is_empty = from.is_some();
    let mut next = None;
    while let Some(event) = events.next()? {
        if text.len() >= bytes_max && !is_empty {
            next = Some(place);
            break;
        }
        place.after = event.position();
        if let Some(payload) = left.line(export.shelf.export(&event)?) {
            place.n += 1;
            let before = text.len();
            section(&mut text, &event.header, &payload);
            is_empty &= text.len() == before;
        }
    }
    if next.is_none() {
        table_of_entities(export, &mut text)?;
    }
    Ok(Page {
        content: text,
        next,
        warnings: left.warnings(),
    })
}

/// Renders the title and the fields.
fn heading(export: &Export<'_>, out: &mut String) -> Result<(), Refusal> {
    let (rows, session) = (export.shelf.rows, export.session);
    let (began, _) = export.beginning()?;
    let details = sessions::details(rows, session)?;
    let project = sessions::get(rows, session)?.and_then(|row| row.project);
    let mut agents = Vec::new();
    for line in export.lines {
        for agent in sessions::agents(rows, &line.session, AGENTS_MAX)? {
            if !agents.contains(&agent) {
                agents.push(agent);
            }
        }
    }
    let title = details.title.as_deref().unwrap_or(session);
    push(
        out,
        format_args!("# {}\n\n| | |\n| --- | --- |\n", escaped(title)),
    );
    let joined = |texts: &[String]| (!texts.is_empty()).then(|| texts.join(", "));
    let fields = [
        ("session", Some(session.to_owned())),
        ("topic", details.topic),
        ("user", details.user),
        ("project", project),
        ("tags", joined(&details.tags)),
        ("agents", joined(&agents)),
        ("began", Some(format_time(began.happened_at()))),
    ];
    for (name, text) in fields {
        if let Some(text) = text {
            push(out, format_args!("| {name} | {} |\n", escaped(&text)));
        }
    }
    Ok(())
}

/// Renders an event, if it is relevant for people.
fn section(out: &mut String, header: &Header, payload: &Payload) {
    match payload {
        Payload::MessageRecorded(message) => render_message(out, header, message),
        Payload::StepRecorded(step) => returned(out, header, step),
        Payload::ToolRecorded(tool) => worked(out, header, tool),
        Payload::SessionUpdated(updated) => set(out, header, updated),
        Payload::SessionClosed(closed) => {
            let reason = closed.reason.as_deref().unwrap_or_default();
            let why = if reason.is_empty() { "" } else { ": " };
            note(out, header, &format!("closed{why}{}", escaped(reason)));
        }
        Payload::CheckpointSaved(saved) => {
            let bytes = saved.context.as_str().len();
            let what = format!(
                "checkpoint `{}`, {bytes} bytes of context",
                saved.checkpoint
            );
            note(out, header, &what);
        }
        Payload::KeyMarked(mark) => {
            let is = if mark.unmarked { "no longer" } else { "marked" };
            note(
                out,
                header,
                &format!("key {} {is} critical", escaped(&mark.key)),
            );
        }
        Payload::EntitiesRelated(related) => {
            let [from, how, to] =
                [&related.from.name, &related.relation, &related.to.name].map(|text| escaped(text));
            note(out, header, &format!("{from} {how} {to}"));
        }
        Payload::ContextPruned(pruned) => {
            let (before, after) = (pruned.tokens_before, pruned.tokens_after);
            note(
                out,
                header,
                &format!("pruned from {before} to {after} tokens"),
            );
        }
        Payload::ContextUnpruned(unpruned) => {
            let (before, after) = (unpruned.tokens_before, unpruned.tokens_after);
            note(
                out,
                header,
                &format!("pruning undone: from {before} to {after} tokens"),
            );
        }
        Payload::SessionCreated(_)
        | Payload::ExtractorRegistered(_)
        | Payload::FieldMappingRegistered(_)
        | Payload::EntitiesFound(_)
        | Payload::EntityResolved(_) => {}
    }
}

fn render_message(out: &mut String, header: &Header, message: &Message) {
    let sender = word(&message.sender);
    let kind = word(&message.kind);
    push(
        out,
        format_args!("\n## {sender}: {kind}\n\n{}\n\n", when(header)),
    );
    fenced(out, "", &message.content);
    for tool in &message.tools {
        let status = tool.status.as_ref().map(word).unwrap_or_default();
        push(
            out,
            format_args!("\nTool {} {status}\n\n", escaped(&tool.name)),
        );
        if let Some(result) = &tool.result {
            fenced(out, "", result);
        }
    }
}

fn returned(out: &mut String, header: &Header, step: &Step) {
    let tool = escaped(&step.tool);
    push(out, format_args!("\n## Step {}: {tool}\n\n", step.step));
    let failed = if step.success { "" } else { ", failed" };
    let attempt = step.attempt;
    push(
        out,
        format_args!("{}, attempt {attempt}{failed}\n\n", when(header)),
    );
    if let Some(purpose) = &step.purpose {
        push(out, format_args!("{}\n\n", escaped(purpose)));
    }
    let parameters = step.parameters.as_ref().map(|object| object.as_str());
    worded(
        out,
        parameters,
        step.result.as_deref(),
        step.error.as_deref(),
    );
}

fn worked(out: &mut String, header: &Header, tool: &Tool) {
    let (name, status) = (escaped(&tool.tool), word(&tool.status));
    push(out, format_args!("\n## Tool {name}: {status}\n\n"));
    let execution = escaped(&tool.execution);
    push(
        out,
        format_args!("{}, execution {execution}\n\n", when(header)),
    );
    let parameters = tool.parameters.as_ref().map(|object| object.as_str());
    worded(
        out,
        parameters,
        tool.result.as_deref(),
        tool.error.as_deref(),
    );
}

/// Renders the parameters and the result of a tool.
fn worded(out: &mut String, parameters: Option<&str>, result: Option<&str>, error: Option<&str>) {
    let parts = [
        ("Parameters", "json", parameters),
        ("Result", "", result),
        ("Error", "", error),
    ];
    for (name, language, text) in parts {
        if let Some(text) = text {
            push(out, format_args!("{name}:\n\n"));
            fenced(out, language, text);
            out.push('\n');
        }
    }
}

fn set(out: &mut String, header: &Header, updated: &Updated) {
    let mut what = Vec::new();
    for (name, text) in [("title", &updated.title), ("topic", &updated.topic)] {
        if let Some(text) = text {
            what.push(format!("{name}: {}", escaped(text)));
        }
    }
    let lists = [
        ("tags", updated.tags.as_deref()),
        ("added tags", Some(updated.add_tags.as_slice())),
        ("removed tags", Some(updated.remove_tags.as_slice())),
    ];
    for (name, tags) in lists {
        if let Some(tags) = tags.filter(|tags| !tags.is_empty() || name == "tags") {
            what.push(format!("{name}: {}", escaped(&tags.join(", "))));
        }
    }
    if let Some(preferences) = &updated.preferences {
        what.push(format!("preferences: {}", escaped(preferences.as_str())));
    }
    note(out, header, &what.join("; "));
}

fn note(out: &mut String, header: &Header, what: &str) {
    push(out, format_args!("\n- {}: {what}\n", when(header)));
}

/// Renders the time and the author of an event.
fn when(header: &Header) -> String {
    let at = format_time(header.happened_at());
    match header.author() {
        "" => at,
        agent => format!("{at}, {}", escaped(agent)),
    }
}

/// Renders the most mentioned entities and the number of the others.
fn table_of_entities(export: &Export<'_>, out: &mut String) -> Result<(), Refusal> {
    let mut all: Vec<(EntityRef, EntityRow)> = Vec::new();
    entities::walk(export.shelf.rows, export.lines, None, &mut |entity, row| {
        all.push((entity, row));
        Ok(ControlFlow::Continue(()))
    })?;
    if all.is_empty() {
        return Ok(());
    }
    all.sort_by(|(a, of_a), (b, of_b)| (of_b.mentions, a).cmp(&(of_a.mentions, b)));
    let more = all.len().saturating_sub(ENTITIES_MAX);
    out.push_str("\n## Entities\n\n| kind | name | mentions | first | last | belongs to |\n");
    out.push_str("| --- | --- | --- | --- | --- | --- |\n");
    for (entity, row) in all.iter().take(ENTITIES_MAX) {
        let parent = row.parent.as_ref();
        let parent = parent.map_or_else(String::new, |parent| escaped(&parent.key));
        let (kind, name) = (escaped(&entity.kind), escaped(&row.name));
        let day = |at: Micros| format_time(at);
        let (first, last) = (day(row.first_at), day(row.last_at));
        let mentions = row.mentions;
        push(
            out,
            format_args!("| {kind} | {name} | {mentions} | {first} | {last} | {parent} |\n"),
        );
    }
    if more > 0 {
        push(out, format_args!("\n{more} more are mentioned less.\n"));
    }
    Ok(())
}

/// Renders text unchanged in a code block, with a fence longer than any in the text.
fn fenced(out: &mut String, language: &str, text: &str) {
    let text = sanitize::text(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(FENCE_MIN.max(longest + 1));
    push(out, format_args!("{fence}{language}\n{text}"));
    if !text.is_empty() && !text.ends_with('\n') {
        out.push('\n');
    }
    push(out, format_args!("{fence}\n"));
}

/// Escapes text within a line: it contains no Markdown and no hidden characters.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in sanitize::line(text).chars() {
        if matches!(
            character,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '&' | '!' | '$'
        ) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

/// Renders the name of an enumeration value.
fn word<T: serde::Serialize>(word: &T) -> String {
    match serde_json::to_value(word) {
        Ok(serde_json::Value::String(word)) => word.replace('_', " "),
        Ok(_) | Err(_) => String::new(),
    }
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = out.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A fence is longer than any run of backticks in its text.
    #[test]
    fn fences_hold() {
        let of = |text: &str| {
            let mut out = String::new();
            fenced(&mut out, "", text);
            out
        };
        assert_eq!(of("a"), "```\na\n```\n");
        assert_eq!(of("```\nb```\n"), "````\n```\nb```\n````\n");
        assert_eq!(of(""), "```\n```\n");
        assert_eq!(of("\u{202e}x\u{1b}"), "```\n\\u{202e}x\\u{1b}\n```\n");
    }

    #[test]
    fn text_within_a_line_is_no_markdown() {
        assert_eq!(escaped("a|b\n# <c>"), "a\\|b\\\\n\\# \\<c\\>");
    }

    proptest! {
        /// For any fenced text, only the last line can close the block.
        #[test]
        fn nothing_breaks_out_of_a_fence(text in "[`~a\n\r ]{0,60}") {
            let mut out = String::new();
            fenced(&mut out, "", &text);
            let fence = out.lines().next().unwrap_or_default().to_owned();
            let closing = |line: &&str| line.trim().starts_with(fence.as_str());
            prop_assert_eq!(out.lines().filter(closing).count(), 2);
            prop_assert!(out.lines().last().is_some_and(|last| last == fence));
        }
    }
}
