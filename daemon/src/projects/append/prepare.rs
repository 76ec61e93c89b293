//! Brings an entry into the form of its template before it is appended.

use super::AppendError;
use crate::projects::outline::{Outline, key_of};
use crate::projects::template::{EntrySchema, Pattern, Template, heading_gap};
use crate::projects::validate::{entries_of, first_field, is_placeholder, marker_bytes, plain};

/// Longest title that is made from a line, in characters.
const TITLE_CHARS_MAX: usize = 100;

/// An entry in the form of its template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedEntry {
    /// The entry, with its heading at the level of entries.
    pub text: String,
    /// Key of the section that it goes to; `None` for the whole file.
    pub(in crate::projects) under: Option<String>,
    /// What was added or changed in the caller's text.
    pub notes: Vec<String>,
}

/// Brings an entry into the form of its template, as far as that is certain: headings get the level of entries, a
/// line without a heading becomes one, and a heading gets the next id and today's date if the template asks for them.
///
/// # Errors
/// The file type does not allow appends, the entry is empty, or it ends in an open code fence or comment.
pub fn prepare(
    content: &str,
    entry: &str,
    template: &Template,
    today: &str,
) -> Result<PreparedEntry, AppendError> {
    let Some(appends) = &template.appends else {
        let file_type = template.name.clone();
        return Err(AppendError::NoLog { file_type });
    };
    let entry = entry.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    // Blank lines are removed; the indentation of the first line stays.
    let entry = entry.trim_end().trim_start_matches(['\n', '\r']);
    if entry.trim().is_empty() {
        return Err(AppendError::Empty);
    }
    let outline = Outline::of(entry);
    let entry = match outline.is_wrapped() {
        true => unwrapped(entry),
        false => entry,
    };
    if Outline::of(entry).is_open_at_end() {
        return Err(AppendError::OpenEntry);
    }
    let mut prepared = PreparedEntry {
        text: entry.to_owned(),
        under: appends.under.clone(),
        notes: Vec::new(),
    };
    if let Some(schema) = &template.entries {
        without_frame(&mut prepared, template, schema);
        headed(&mut prepared, template, schema);
        levelled(&mut prepared, schema);
        complete_headings(&mut prepared, content, template, schema, today);
    }
    Ok(prepared)
}

/// Returns the text within a code fence.
fn unwrapped(entry: &str) -> &str {
    let inner = entry.trim().split_once('\n').map_or("", |(_, rest)| rest);
    let inner = match inner.rsplit_once('\n') {
        Some((inner, last)) if last.trim_end().ends_with(['`', '~']) => inner,
        _ => inner,
    };
    inner.trim_matches(['\n', '\r'])
}

/// Removes the title of the file and the heading of a section for entries before the entry; the entry goes to that
/// section.
fn without_frame(prepared: &mut PreparedEntry, template: &Template, schema: &EntrySchema) {
    loop {
        let outline = Outline::of(&prepared.text);
        let Some(first) = outline.headings().first() else {
            return;
        };
        let (before, rest) = prepared.text.split_at(first.range.start);
        let rest = rest.get(first.range.len()..).unwrap_or_default();
        let is_first = before.trim().is_empty() && !rest.trim().is_empty();
        let is_title = first.key == key_of(&template.title);
        let is_section = schema.under.contains(&first.key);
        if !is_first || !(is_title || is_section) {
            return;
        }
        if is_section {
            prepared.under = Some(first.key.clone());
        }
        prepared.text = rest.trim_start_matches(['\n', '\r']).to_owned();
    }
}

/// Makes a heading of the first line, if the entry begins without one. Each item of a list without fields is an
/// entry.
fn headed(prepared: &mut PreparedEntry, template: &Template, schema: &EntrySchema) {
    let outline = Outline::of(&prepared.text);
    let is_heading = outline.heading_at(0).is_some_and(|heading| {
        // A field's heading is not an entry's.
        heading.level == schema.level
            || !schema
                .fields
                .iter()
                .any(|field| field.goes_by(&heading.key))
    });
    if is_heading {
        return;
    }
    let lines: Vec<&str> = prepared
        .text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let is_item = |line: &&str| {
        line.starts_with(['-', '*', '+']) && first_field(line, &schema.fields).is_none()
    };
    let entries = if lines.len() > 1 && lines.iter().all(is_item) {
        lines
            .iter()
            .map(|line| titled(line, "", schema))
            .collect::<Vec<_>>()
            .join("\n\n")
    } else {
        let (first, rest) = prepared
            .text
            .split_once('\n')
            .unwrap_or((&prepared.text, ""));
        titled(first, rest, schema)
    };
    if template.gap_in(&entries).is_none() {
        prepared
            .notes
            .push("the first line became the heading of the entry".to_owned());
    }
    prepared.text = entries;
}

/// Renders an entry from its first line and the rest: the text before the first field is the heading.
fn titled(first: &str, rest: &str, schema: &EntrySchema) -> String {
    let marker = marker_bytes(first);
    let line = first.get(marker..).unwrap_or_default();
    let at = first_field(line, &schema.fields).unwrap_or(line.len());
    let (name, fields) = line.split_at_checked(at).unwrap_or((line, ""));
    let separators = |c: char| {
        c.is_whitespace() || matches!(c, '-' | '–' | '—' | ':' | ';' | ',' | '(' | '[' | '|')
    };
    let name = plain(name.trim_end_matches(separators));
    let (name, more) = match name.char_indices().nth(TITLE_CHARS_MAX) {
        // A paragraph is not a title.
        Some((end, _)) => (beginning(name, end), name),
        None => (name, ""),
    };
    let hashes = "#".repeat(usize::from(schema.level));
    let title = match name {
        "" => heading_gap(schema),
        name => name.to_owned(),
    };
    let fields = match fields.trim() {
        "" => String::new(),
        fields => format!("- {fields}"),
    };
    let parts = [more, &fields, rest.trim_matches(['\n', '\r'])];
    let body: Vec<&str> = parts
        .into_iter()
        .filter(|part| !part.trim().is_empty())
        .collect();
    format!("{hashes} {title}\n\n{}", body.join("\n"))
        .trim_end()
        .to_owned()
}

/// Returns the first sentence, or else the words before this byte.
fn beginning(text: &str, end: usize) -> &str {
    let head = text.get(..end).unwrap_or_default();
    let sentence = head.find(". ").or_else(|| head.rfind(' '));
    head.get(..sentence.unwrap_or(end)).unwrap_or(head)
}

/// Moves all headings so that the first one has the level of entries.
fn levelled(prepared: &mut PreparedEntry, schema: &EntrySchema) {
    let outline = Outline::of(&prepared.text);
    let Some(first) = outline.headings().first() else {
        return;
    };
    if first.level == schema.level {
        return;
    }
    let (from, to) = (i16::from(first.level), i16::from(schema.level));
    let (mut text, mut done) = (String::new(), 0);
    for heading in outline.headings() {
        text.push_str(outline.slice(&(done..heading.range.start)));
        // At the deepest level, headings below the entry stay below it.
        let level = (i16::from(heading.level) + to - from).clamp(to, 6);
        let lines = outline.slice(&heading.range);
        let line = lines.lines().next().unwrap_or_default().trim();
        let title = line.trim_start_matches('#').trim();
        text.push_str(&format!(
            "{} {title}\n",
            "#".repeat(usize::try_from(level).unwrap_or(6))
        ));
        done = heading.range.end;
    }
    text.push_str(outline.slice(&(done..outline.text().len())));
    prepared.notes.push(format!(
        "the heading `{}` was moved from level {from} to level {to}",
        first.title
    ));
    prepared.text = text.trim_end().to_owned();
}

/// Adds the next id and the date to the headings of entries that lack them.
fn complete_headings(
    prepared: &mut PreparedEntry,
    content: &str,
    template: &Template,
    schema: &EntrySchema,
    today: &str,
) {
    let Some((pattern, _)) = &schema.heading else {
        return;
    };
    let mut ids = NextId::of(&Outline::of(content), template, pattern);
    let outline = Outline::of(&prepared.text);
    let (mut text, mut done) = (String::new(), 0);
    for heading in outline.headings() {
        let title = without_kind(&heading.title, &schema.name);
        let is_whole = heading.level != schema.level
            || pattern.matches(&heading.title)
            || template.gap_in(&heading.title).is_some()
            || is_placeholder(&heading.title);
        if is_whole {
            continue;
        }
        let id = ids.next();
        let mut forms = [
            format!("{today}: {title}"),
            format!("{title} ({today})"),
            format!("{id}: {title}"),
            format!("{id}: {title} ({today})"),
        ];
        if !ids.is_dated {
            forms.swap(0, 1);
        }
        let Some(form) = forms.iter().find(|form| pattern.matches(form)) else {
            continue;
        };
        if form.starts_with(&id) {
            ids.number += 1;
        }
        text.push_str(outline.slice(&(done..heading.range.start)));
        text.push_str(&format!(
            "{} {form}\n",
            "#".repeat(usize::from(schema.level))
        ));
        done = heading.range.end;
        prepared
            .notes
            .push(format!("the heading was completed: `{form}`"));
    }
    text.push_str(outline.slice(&(done..outline.text().len())));
    prepared.text = text.trim_end().to_owned();
}

/// Removes `Bug:` from the title of a bug.
fn without_kind<'t>(title: &'t str, kind: &str) -> &'t str {
    let rest = title
        .split_once(':')
        .filter(|(name, _)| name.trim().eq_ignore_ascii_case(kind));
    match rest {
        Some((_, rest)) if !rest.trim().is_empty() => rest.trim(),
        _ => title,
    }
}

/// The next id in the style of a file's entries.
struct NextId {
    prefix: String,
    number: u64,
    /// Whether headings begin with their date.
    is_dated: bool,
}

impl NextId {
    fn of(outline: &Outline<'_>, template: &Template, pattern: &Pattern) -> Self {
        let sample = template
            .entries
            .as_ref()
            .and_then(|one| one.sample.lines().next());
        let sample = sample.unwrap_or_default().trim_start_matches('#').trim();
        let entries = entries_of(outline, template);
        let titles = entries.iter().map(|entry| entry.heading.title.as_str());
        let split = |title: &str| {
            let id = pattern.group(title, "id")?.to_owned();
            let prefix = id.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
            let number = id.get(prefix.len()..)?.parse::<u64>().ok()?;
            Some((prefix, number))
        };
        let known: Vec<(String, u64)> = titles.filter_map(split).collect();
        let prefix = known.first().cloned().or_else(|| split(sample));
        let prefix = prefix.map_or_else(String::new, |(prefix, _)| prefix);
        let same = known.iter().filter(|(one, _)| *one == prefix);
        Self {
            number: same
                .map(|(_, number)| *number)
                .max()
                .unwrap_or_default()
                .saturating_add(1),
            prefix,
            is_dated: sample.starts_with(|c: char| c.is_ascii_digit()),
        }
    }

    fn next(&self) -> String {
        format!("{}{}", self.prefix, self.number)
    }
}
