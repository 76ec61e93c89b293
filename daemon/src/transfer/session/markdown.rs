//! Renders a session as a Markdown document for people; recorded text cannot break its structure.

use std::fmt::Write;
use std::ops::ControlFlow;

use lore::protocol::RawObject;

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
    while let Some((position, event)) = events.next()? {
        if text.len() >= bytes_max && !is_empty {
            next = Some(place);
            break;
        }
        place.after = position;
        if let Some((header, payload)) = left.exported(&export.shelf, position, event)? {
            place.n += 1;
            let before = text.len();
            let (out, header) = (&mut text, &header);
            payload.render(&mut Section { out, header });
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

/// The section of an event.
pub struct Section<'s> {
    out: &'s mut String,
    header: &'s Header,
}

impl Section<'_> {
    /// Renders a heading, then time and author of the event with this addition.
    pub(super) fn heading(&mut self, heading: &str, addition: &str) {
        let when = self.when();
        self.push(format_args!("\n## {heading}\n\n{when}{addition}\n\n"));
    }

    /// Renders the parameters and the result of a tool.
    pub(super) fn call(
        &mut self,
        parameters: Option<&RawObject>,
        result: Option<&str>,
        error: Option<&str>,
    ) {
        let parts = [
            ("Parameters", "json", parameters.map(RawObject::as_str)),
            ("Result", "", result),
            ("Error", "", error),
        ];
        for (name, language, text) in parts {
            if let Some(text) = text {
                self.push(format_args!("{name}:\n\n"));
                self.fenced(language, text);
                self.out.push('\n');
            }
        }
    }

    /// Renders the event as one line.
    pub(super) fn note(&mut self, what: &str) {
        let when = self.when();
        self.push(format_args!("\n- {when}: {what}\n"));
    }

    /// Renders text unchanged in a code block.
    pub(super) fn fenced(&mut self, language: &str, text: &str) {
        fenced(self.out, language, text);
    }

    /// Renders prepared text.
    pub(super) fn push(&mut self, text: std::fmt::Arguments<'_>) {
        push(self.out, text);
    }

    /// Renders the time and the author of an event.
    fn when(&self) -> String {
        let at = format_time(self.header.happened_at());
        match self.header.author() {
            "" => at,
            agent => format!("{at}, {}", escaped(agent)),
        }
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
pub(super) fn escaped(text: &str) -> String {
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
pub(super) fn word<T: serde::Serialize>(word: &T) -> String {
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
