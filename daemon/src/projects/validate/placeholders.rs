//! Finds placeholders: text that is still to be written.
//!
//! A line, cell or value that is only a placeholder is an error. A line that continues after `TODO:` is an
//! intended to-do list: a warning. A word within a sentence is ignored, and code is never checked.

use super::blank::{PLACEHOLDER_BYTES_MAX, is_placeholder, is_word};
use super::diagnostics::{Diagnostics, PendingDiagnostic};
use super::lines::{label, marker_bytes, plain, quoted};
use super::{FlawKind, Severity};
use crate::projects::fix::Edit;
use crate::projects::outline::{Outline, Section, key_of};
use crate::projects::template::Template;

pub(super) fn check(outline: &Outline<'_>, template: &Template, diagnostics: &mut Diagnostics<'_>) {
    let mut at = SectionCursor::the_start_of(outline);
    // A word that is alone on its line. The next line decides whether it is a placeholder.
    let mut alone: Option<(PendingDiagnostic, Layout)> = None;
    for (start, line) in outline.lines(&outline.whole()) {
        if line.trim().is_empty() {
            continue;
        }
        let layout = Layout::of(line);
        let section = at.go_to(start);
        if let Some((found, above)) = alone.take()
            && !above.introduces(&layout)
        {
            diagnostics.add(found);
        }
        if outline.is_quiet(start + layout.marker) || outline.is_quiet(start + layout.indent) {
            continue;
        }
        let is_heading = outline.heading_at(start).is_some();
        let rest = line.get(layout.marker..).unwrap_or_default().trim();
        let reported = if is_heading {
            heading(rest)
        } else if rest.starts_with('|') {
            row(rest)
        } else if outline.is_link(start + layout.marker) {
            None
        } else {
            whole_line(rest, template)
        };
        let reported = reported.or_else(|| {
            let gap = template.gap_outside(line, |at| outline.is_quiet(start + at))?;
            Some(PlaceholderMatch::new(Severity::Error, gap))
        });
        let reported = reported.or_else(|| mention(outline, start, line));
        if let Some(reported) = reported {
            let at = start + layout.marker;
            let found = found(outline, section, (start, at), &reported);
            if !is_heading && is_word(plain(rest)) {
                alone = Some((found, layout));
            } else {
                diagnostics.add(found);
            }
        }
    }
    if let Some((found, _)) = alone {
        diagnostics.add(found);
    }
    left_over(outline, template, diagnostics);
}

struct Layout {
    /// Bytes of leading white space.
    indent: usize,
    /// Bytes before the content: white space and marks.
    marker: usize,
}

impl Layout {
    fn of(line: &str) -> Self {
        Self {
            indent: line.len() - line.trim_start().len(),
            marker: marker_bytes(line),
        }
    }

    fn is_item(&self) -> bool {
        self.marker > self.indent
    }

    /// Reports whether the next line is an item of the list that this line introduces, as after "TODO:".
    fn introduces(&self, next: &Self) -> bool {
        next.is_item() && (!self.is_item() || next.indent > self.indent)
    }
}

struct PlaceholderMatch {
    severity: Severity,
    placeholder: String,
    fix: LineFix,
}

/// Edit that fixes a line.
enum LineFix {
    /// The fix is unknown.
    Unknown,
    /// Removes the line.
    Remove,
    /// Replaces the value from this byte of the line's content on.
    Value(usize, String),
}

impl PlaceholderMatch {
    fn new(severity: Severity, placeholder: &str) -> Self {
        Self {
            severity,
            placeholder: quoted(placeholder),
            fix: LineFix::Unknown,
        }
    }

    fn mended(mut self, fix: LineFix) -> Self {
        self.fix = fix;
        self
    }
}

/// Matches a heading that is a placeholder. "TODO" is a valid heading.
fn heading(line: &str) -> Option<PlaceholderMatch> {
    let title = line.trim_start_matches('#').trim();
    let is_blank = is_placeholder(title) && !is_word(plain(title));
    is_blank.then(|| PlaceholderMatch::new(Severity::Error, title))
}

/// Matches a line that is a placeholder, has a placeholder as its value, or begins with one.
fn whole_line(rest: &str, template: &Template) -> Option<PlaceholderMatch> {
    if is_placeholder(rest) {
        return Some(PlaceholderMatch::new(Severity::Error, rest).mended(LineFix::Remove));
    }
    if matches!(rest, "..." | "…" | "[...]" | "[…]" | "(...)") {
        return Some(PlaceholderMatch::new(Severity::Warning, rest).mended(LineFix::Remove));
    }
    if let Some(reported) = value(rest, template) {
        return Some(reported);
    }
    let head: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
    // Only capitals, because "Todo list: …" is a normal start of a sentence.
    let is_task = matches!(head.as_str(), "TODO" | "TBD" | "FIXME" | "XXX");
    is_task.then(|| PlaceholderMatch::new(Severity::Warning, &head))
}

/// Matches a label whose value is a placeholder.
fn value(rest: &str, template: &Template) -> Option<PlaceholderMatch> {
    if rest.len() > PLACEHOLDER_BYTES_MAX {
        return None;
    }
    let label = label(rest)?;
    let value = rest.get(label.value..).filter(|one| is_placeholder(one))?;
    let key = key_of(label.name);
    let sections = template.sections.iter().flat_map(|section| &section.fields);
    let entries = template.entries.iter().flat_map(|entries| &entries.fields);
    let field = sections.chain(entries).find(|field| field.goes_by(&key));
    // A field of the template must have a value; elsewhere "Release date: TBD" is a valid statement.
    let is_error = field.is_some() || is_marker(label.name) || !is_word(plain(value));
    let severity = if is_error {
        Severity::Error
    } else {
        Severity::Warning
    };
    Some(
        PlaceholderMatch::new(severity, plain(value)).mended(match field {
            Some(field) if plain(value) == field.hint() => LineFix::Unknown,
            Some(field) => LineFix::Value(label.value, format!(" {}", field.hint())),
            None => LineFix::Remove,
        }),
    )
}

fn is_marker(name: &str) -> bool {
    matches!(key_of(name).as_str(), "todo" | "tbd" | "fixme" | "xxx")
}

/// Matches a table row: an error if all cells after the first one are placeholders.
fn row(row: &str) -> Option<PlaceholderMatch> {
    let cells = row.trim_matches('|').split('|').map(str::trim);
    let cells: Vec<&str> = cells.filter(|cell| !cell.is_empty()).collect();
    let count = cells.iter().filter(|cell| is_placeholder(cell)).count();
    let first = cells.iter().find(|cell| is_placeholder(cell))?;
    let is_all = count >= cells.len().saturating_sub(1).max(1);
    let severity = if is_all {
        Severity::Error
    } else {
        Severity::Warning
    };
    Some(PlaceholderMatch::new(severity, first))
}

/// Matches a template variable within a sentence, which was probably to be replaced.
fn mention(outline: &Outline<'_>, start: usize, line: &str) -> Option<PlaceholderMatch> {
    let mut places = line.match_indices("{{");
    let (at, _) = places.find(|(at, _)| !outline.is_quiet(start + at))?;
    let rest = line.get(at..)?;
    let end = rest.find("}}")? + 2;
    let variable = rest.get(..end).filter(|variable| variable.len() <= 80)?;
    Some(PlaceholderMatch::new(Severity::Warning, variable))
}

/// Builds the diagnostic of a line from the start of the line and of its content.
fn found(
    outline: &Outline<'_>,
    section: Option<&Section>,
    (start, at): (usize, usize),
    reported: &PlaceholderMatch,
) -> PendingDiagnostic {
    let PlaceholderMatch {
        severity,
        placeholder,
        fix,
    } = reported;
    let (kind, line) = (FlawKind::ContentQuality, outline.line(start));
    let message = match severity {
        Severity::Error => format!("Placeholder text: {placeholder}"),
        Severity::Warning => format!("Looks like placeholder text: {placeholder}"),
    };
    let prompt = format!(
        "replace the placeholder `{placeholder}` on line {line} by what you know, or remove the line"
    );
    let found = match section {
        Some(section) => PendingDiagnostic::section(kind, &section.key, line, message),
        None => PendingDiagnostic::file(kind, line, message),
    };
    let found = found.severity(*severity).prompt(prompt);
    let line = outline.lines(&(start..start + 1)).next();
    let end = line.map_or(start, |(_, line)| start + line.len());
    match fix {
        LineFix::Unknown => found,
        LineFix::Remove => found.edit(Edit {
            range: start..end,
            text: String::new(),
        }),
        LineFix::Value(from, text) => found.edit(Edit {
            range: at + from..end,
            text: text.clone(),
        }),
    }
}

/// Reports lines of the template's examples, with one diagnostic per section.
fn left_over(outline: &Outline<'_>, template: &Template, diagnostics: &mut Diagnostics<'_>) {
    let mut at = SectionCursor::the_start_of(outline);
    let mut groups: Vec<(Option<&Section>, u32, usize)> = Vec::new();
    for start in template.samples.left_over(outline) {
        let section = at.go_to(start);
        match groups.last_mut() {
            Some((last, _, count)) if *last == section => *count += 1,
            _ => groups.push((section, outline.line(start), 1)),
        }
    }
    for (section, line, count) in groups {
        let lines = if count == 1 { "line" } else { "lines" };
        let message = format!("Placeholder text: {count} {lines} of the template's own example");
        let prompt = format!(
            "replace what is copied from the template's example, from line {line} on, with the facts of your project"
        );
        let kind = FlawKind::ContentQuality;
        let found = match section {
            Some(section) => PendingDiagnostic::section(kind, &section.key, line, message),
            None => PendingDiagnostic::file(kind, line, message),
        };
        diagnostics.add(found.prompt(prompt));
    }
}

/// Finds the section of each position; positions must be in ascending order.
struct SectionCursor<'o> {
    sections: &'o [Section],
    section: Option<&'o Section>,
}

impl<'o> SectionCursor<'o> {
    fn the_start_of(outline: &'o Outline<'_>) -> Self {
        Self {
            sections: outline.sections(),
            section: None,
        }
    }

    fn go_to(&mut self, at: usize) -> Option<&'o Section> {
        while let Some((next, rest)) = self.sections.split_first() {
            if next.heading.start > at {
                break;
            }
            self.section = Some(next);
            self.sections = rest;
        }
        self.section
    }
}
