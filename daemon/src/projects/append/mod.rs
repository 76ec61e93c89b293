//! Appends an entry to a context file that is a log: finds the position, and builds a new file if needed.

mod prepare;
#[cfg(test)]
mod tests;

pub use prepare::{PreparedEntry, prepare};

use super::fix::{Edit, section_place};
use super::outline::{Heading, Outline, Section};
use super::template::{SectionPlacement, Template};
use super::validate::{
    Diagnostic, FlawKind, Severity, Validation, entries_of, entry_ids, validate,
};

/// The reason why an entry was not appended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// The file type does not allow appends.
    #[error(
        "nothing is appended to `{file_type}`: it is written as a whole, with `update_context`"
    )]
    NoLog {
        /// The file type.
        file_type: String,
    },
    /// The entry is empty.
    #[error("the entry is empty; write it as the template shows")]
    Empty,
    /// The file ends in an open code fence or comment, which would swallow the entry.
    #[error(
        "the file ends within a code fence or comment that is never closed: close it with `update_context` first"
    )]
    OpenEnd,
    /// The entry ends in an open code fence or comment, which would swallow the text after it.
    #[error("the entry ends within a code fence or comment that is never closed: close it")]
    OpenEntry,
}

/// Inserts an entry at the position that the template declares. An empty text first becomes a file with a title
/// and sections. The result is not validated; call [`check`].
///
/// # Errors
/// The file type does not allow appends, or the text ends in an open code fence or comment.
pub fn append(
    content: &str,
    entry: &PreparedEntry,
    template: &Template,
) -> Result<String, AppendError> {
    let Some(appends) = &template.appends else {
        let file_type = template.name.clone();
        return Err(AppendError::NoLog { file_type });
    };
    let is_crlf = content
        .split_once('\n')
        .is_some_and(|(line, _)| line.ends_with('\r'));
    if content.trim_start_matches('\u{feff}').trim().is_empty() {
        return Ok(frame(template, entry).0);
    }
    let outline = Outline::of(content);
    if outline.is_open_at_end() {
        return Err(AppendError::OpenEnd);
    }
    let text = &entry.text;
    let mut edit = match entry.under.as_deref() {
        None => anywhere(&outline, template, appends.at, text),
        Some(key) => match outline.section(key) {
            Some(section) => within(&outline, template, (section, appends.at), text),
            None => section_and(&outline, template, key, text),
        },
    };
    if is_crlf {
        edit.text = edit.text.replace('\n', "\r\n");
    }
    Ok(edit.apply(content))
}

/// Validates an entry by itself, and its ids against the entries of the file. Lines and edits refer to the entry.
#[must_use]
pub fn check(content: &str, entry: &PreparedEntry, template: &Template) -> Validation {
    let (text, start) = frame(template, entry);
    let lines = |text: &str| u32::try_from(text.matches('\n').count()).unwrap_or(u32::MAX);
    let before = lines(text.get(..start).unwrap_or_default());
    let last = before.saturating_add(lines(&entry.text)).saturating_add(1);
    // A fault of the section is the entry's, because it has nothing else.
    let first = match &entry.under {
        Some(_) => before.saturating_sub(1).max(1),
        None => before + 1,
    };
    let range = start..start + entry.text.len();
    let own = |mut found: Diagnostic| {
        found.line = found.line.saturating_sub(before).max(1);
        found.edit = found
            .edit
            .filter(|edit| range.start <= edit.range.start && edit.range.end <= range.end);
        if let Some(edit) = &mut found.edit {
            edit.range = edit.range.start - start..edit.range.end - start;
        }
        found
    };
    let errors = validate(&text, template).errors.into_iter();
    let errors = errors.filter(|found| (first..=last).contains(&found.line));
    let mut errors: Vec<Diagnostic> = errors.map(own).collect();
    errors.extend(taken_ids(content, &entry.text, &text, template, before));
    Validation::of(errors)
}

/// Returns the diagnostics of a file outside of the entry that was appended to it.
pub fn others(whole: Validation, content: &str, entry: &PreparedEntry) -> Vec<Diagnostic> {
    let plain = content.replace("\r\n", "\n");
    let Some(start) = plain.find(&entry.text) else {
        return whole.errors;
    };
    let lines = |text: &str| u32::try_from(text.matches('\n').count()).unwrap_or(u32::MAX);
    let first = lines(plain.get(..start).unwrap_or_default()).saturating_add(1);
    let last = first.saturating_add(lines(&entry.text));
    let errors = whole.errors.into_iter();
    errors
        .filter(|found| !(first..=last).contains(&found.line))
        .collect()
}

/// Reports entries whose ids the file already has.
fn taken_ids(
    content: &str,
    entry: &str,
    framed: &str,
    template: &Template,
    before: u32,
) -> Vec<Diagnostic> {
    let known = entry_ids(&Outline::of(content), template);
    let mut found = Vec::new();
    for (id, line, key) in entry_ids(&Outline::of(framed), template) {
        let Some((_, first, _)) = known.iter().find(|(known, _, _)| *known == id) else {
            continue;
        };
        let name = template
            .entries
            .as_ref()
            .map_or("entry", |entries| &entries.name);
        found.push(Diagnostic {
            kind: FlawKind::SchemaViolation,
            section: Some(key),
            line: line.saturating_sub(before).max(1),
            message: format!("There is a {name} {id} already, on line {first} of the file"),
            severity: Severity::Error,
            correction_prompt: format!(
                "give the {name} an id or a name of its own; to change the one that is there, call update_context \
                 with the whole file"
            ),
            template_example: entry.lines().next().unwrap_or_default().to_owned(),
            edit: None,
            renames: false,
        });
    }
    found
}

/// Renders a new file with one entry, and returns where the entry begins.
fn frame(template: &Template, entry: &PreparedEntry) -> (String, usize) {
    let mut text = format!("# {}", template.title);
    let mut start = 0;
    for section in &template.sections {
        let holds_it = entry.under.as_ref() == Some(&section.key);
        if !section.required && !holds_it {
            continue;
        }
        text.push_str(&format!("\n\n## {}\n\n", section.name));
        if holds_it {
            start = text.len();
            text.push_str(&entry.text);
        } else {
            text.push_str(section.if_none.as_deref().unwrap_or_default());
        }
    }
    if entry.under.is_none() {
        text.push_str("\n\n");
        start = text.len();
        text.push_str(&entry.text);
    }
    (text.trim_end().to_owned() + "\n", start)
}

/// Inserts into a file that consists of entries: before the first one, or at the end.
fn anywhere(outline: &Outline<'_>, template: &Template, at: SectionPlacement, entry: &str) -> Edit {
    let entries = entries_of(outline, template);
    let first = entries.first().map(|entry| entry.heading.range.start);
    let end = outline.text().len();
    let at = match at {
        SectionPlacement::Top => first.unwrap_or(end),
        SectionPlacement::End => end,
    };
    Edit::insert(outline.text(), at, entry)
}

/// Inserts into a section: before its first entry, or at its end. The entry replaces a "none" placeholder.
fn within(
    outline: &Outline<'_>,
    template: &Template,
    (section, at): (&Section, SectionPlacement),
    entry: &str,
) -> Edit {
    let body = section.body.clone();
    let schema = template.section(&section.key);
    let is_none = schema.is_some_and(|schema| schema.is_none(outline.slice(&body)));
    if is_none {
        let mut edit = Edit::insert(outline.text(), body.end, entry);
        edit.range.start = body.start;
        edit.text = format!("\n{}", edit.text.trim_start());
        return edit;
    }
    let level = template.entries.as_ref().map_or(3, |entries| entries.level);
    let is_entry = |heading: &&Heading| heading.level == level;
    let first = outline.headings_in(&body).iter().find(is_entry);
    let at = match (at, first) {
        (SectionPlacement::Top, Some(first)) => first.range.start,
        (SectionPlacement::Top, None) | (SectionPlacement::End, _) => outline.trimmed_end(&body),
    };
    // A heading on the very last line may have no line end.
    Edit::insert(outline.text(), at.max(section.heading.end), entry)
}

/// Inserts the missing section together with the entry.
fn section_and(outline: &Outline<'_>, template: &Template, key: &str, entry: &str) -> Edit {
    let name = template.section(key).map_or(key, |section| &section.name);
    let at = section_place(outline, template, key);
    Edit::insert(outline.text(), at, &format!("## {name}\n\n{entry}"))
}
