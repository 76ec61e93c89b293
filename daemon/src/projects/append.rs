//! Appends an entry to a context file that is a log: finds the position, and builds a new file if needed.

use super::fix::{Edit, section_place};
use super::outline::{Heading, Outline, Section, key_of};
use super::template::{EntrySchema, Pattern, SectionPlacement, Template, heading_gap};
use super::validate::{
    Diagnostic, FlawKind, Severity, Validation, entries_of, entry_ids, first_field, marker_bytes,
    plain, validate,
};

/// Longest title that is made from a line, in characters.
const TITLE_CHARS_MAX: usize = 100;

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

/// An entry in the form of its template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedEntry {
    /// The entry, with its heading at the level of entries.
    pub text: String,
    /// Key of the section that it goes to; `None` for the whole file.
    pub(super) under: Option<String>,
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
        let [first, _, ..] = outline.headings() else {
            return;
        };
        let is_first = prepared
            .text
            .get(..first.range.start)
            .is_some_and(|before| before.trim().is_empty());
        let is_title = first.key == key_of(&template.title);
        let is_section = schema.under.contains(&first.key);
        if !is_first || !(is_title || is_section) {
            return;
        }
        if is_section {
            prepared.under = Some(first.key.clone());
        }
        let rest = prepared.text.get(first.range.end..).unwrap_or_default();
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
            || template.gap_in(&heading.title).is_some();
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

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::projects::template::Layers;

    fn appended(name: &str, content: &str, entry: &str) -> Result<String, AppendError> {
        let layers = Layers::built_in();
        let template = &layers.get(name).unwrap().template;
        append(
            content,
            &prepare(content, entry, template, TODAY)?,
            template,
        )
    }

    const TODAY: &str = "2026-11-24";
    const BUG: &str = "### BUG-1: a (2025-01-01)\n\nx\n";

    #[test]
    fn an_entry_goes_where_the_template_says() {
        let cases = [
            // Below Open Issues, after its introduction, before the existing entries.
            (
                "bugs",
                "# Bugs\n\n## Open Issues\n\nBy date.\n\n### BUG-0: z (2025-01-01)\n\nz\n\n## Resolved Issues\n",
                BUG,
                "# Bugs\n\n## Open Issues\n\nBy date.\n\n### BUG-1: a (2025-01-01)\n\nx\n\n### BUG-0: z (2025-01-01)\n\nz\n\n## Resolved Issues\n",
            ),
            // Replaces "none".
            (
                "bugs",
                "# Bugs\n\n## Open Issues\n\n_None yet_\n\n## Resolved Issues\n\nNone.\n",
                BUG,
                "# Bugs\n\n## Open Issues\n\n### BUG-1: a (2025-01-01)\n\nx\n\n## Resolved Issues\n\nNone.\n",
            ),
            (
                "bugs",
                "# Bugs\n\n## Open Issues\n## Resolved Issues\n",
                BUG,
                "# Bugs\n\n## Open Issues\n\n### BUG-1: a (2025-01-01)\n\nx\n\n## Resolved Issues\n",
            ),
            (
                "bugs",
                "# Bugs\n\n## Open Issues",
                BUG,
                "# Bugs\n\n## Open Issues\n\n### BUG-1: a (2025-01-01)\n\nx\n",
            ),
            // Adds the section, in the order of the template.
            (
                "bugs",
                "# Bugs\n\n## Resolved Issues\n\nNone.\n",
                BUG,
                "# Bugs\n\n## Open Issues\n\n### BUG-1: a (2025-01-01)\n\nx\n\n## Resolved Issues\n\nNone.\n",
            ),
            (
                "bugs",
                "\n",
                BUG,
                "# Bugs\n\n## Open Issues\n\n### BUG-1: a (2025-01-01)\n\nx\n\n## Resolved Issues\n\nNone.\n",
            ),
            // The newest first.
            (
                "session_summary",
                "# S\n\nLog.\n\n## 2025-01-01\n\n### Added\n\n- a\n",
                "## 2025-01-02\n\n### Fixed\n\n- b",
                "# S\n\nLog.\n\n## 2025-01-02\n\n### Fixed\n\n- b\n\n## 2025-01-01\n\n### Added\n\n- a\n",
            ),
            (
                "session_summary",
                "",
                "\n\n## 2025-01-02\n\n### Fixed\n\n- b\n\n",
                "# Session Summary\n\n## 2025-01-02\n\n### Fixed\n\n- b\n",
            ),
            (
                "session_summary",
                "# S",
                "## 2025-01-02\n\n### Fixed\n- b",
                "# S\n\n## 2025-01-02\n\n### Fixed\n- b\n",
            ),
            // At the end.
            (
                "features",
                "# F\n\n## A\n\na",
                "## B\n\nb",
                "# F\n\n## A\n\na\n\n## B\n\nb\n",
            ),
            (
                "features",
                "# F\r\n\r\n## A\r\n\r\na\r\n",
                "## B\n\nb",
                "# F\r\n\r\n## A\r\n\r\na\r\n\r\n## B\r\n\r\nb\r\n",
            ),
        ];
        for (name, content, entry, wanted) in cases {
            assert_eq!(
                appended(name, content, entry).unwrap(),
                wanted,
                "{content:?}"
            );
        }
    }

    /// Appends an entry to a file with one entry: the heading that it gets, and the errors of the entry.
    fn added(name: &str, content: &str, entry: &str) -> (String, Vec<String>) {
        let layers = Layers::built_in();
        let template = &layers.get(name).unwrap().template;
        let prepared = prepare(content, entry, template, TODAY).unwrap();
        let again = prepare(content, &prepared.text, template, TODAY).unwrap();
        assert_eq!(again.text, prepared.text, "it is in its form");
        let errors = check(content, &prepared, template).errors.into_iter();
        let errors = errors.filter(|one| one.severity == Severity::Error);
        let heading = prepared.text.lines().next().unwrap().to_owned();
        let whole = append(content, &prepared, template).unwrap();
        assert!(whole.contains(&heading), "{whole}");
        (heading, errors.map(|one| one.message).collect())
    }

    /// People and agents write entries in many ways; what is certain is put into the form of the template.
    #[test]
    fn entries_in_many_styles_are_appended() {
        const BUGS: &str = "# Bugs\n\n## Open Issues\n\n### BUG-7: z (2025-01-01)\n\nz\n\n## Resolved Issues\n\nNone.\n";
        const FEATURES: &str = "# Features\n\n## Search\n\n- **Status**: Active\n";
        let cases = [
            (
                "bugs",
                BUGS,
                "Login fails on Safari",
                "### BUG-8: Login fails on Safari (2026-11-24)",
            ),
            (
                "bugs",
                "",
                "Login fails on Safari",
                "### BUG-1: Login fails on Safari (2026-11-24)",
            ),
            (
                "bugs",
                "# Bugs\n\n## Open Issues\n\n### #41 z (2025-01-01)\n\nz\n",
                "x breaks",
                "### #42: x breaks (2026-11-24)",
            ),
            (
                "bugs",
                BUGS,
                "- fixed a thing",
                "### BUG-8: fixed a thing (2026-11-24)",
            ),
            (
                "bugs",
                BUGS,
                "Bug: login fails",
                "### BUG-8: Bug: login fails (2026-11-24)",
            ),
            (
                "bugs",
                BUGS,
                "### Bug: login fails\n\nOn Safari.",
                "### BUG-8: login fails (2026-11-24)",
            ),
            (
                "bugs",
                BUGS,
                "### Login fails\n\nOn Safari.",
                "### BUG-8: Login fails (2026-11-24)",
            ),
            (
                "bugs",
                BUGS,
                "# BUG-9: Login fails",
                "### BUG-9: Login fails (2026-11-24)",
            ),
            (
                "bugs",
                BUGS,
                "## BUG-9: Login fails (2026-11-20)\n\n### Context\n\nSafari",
                "### BUG-9: Login fails (2026-11-20)",
            ),
            (
                "bugs",
                BUGS,
                "#### BUG-9: Login fails (2026-11-20)\n\nx",
                "### BUG-9: Login fails (2026-11-20)",
            ),
            (
                "bugs",
                BUGS,
                "# Bugs\n\n## Open Issues\n\n### BUG-9: a (2026-11-20)\n\nx",
                "### BUG-9: a (2026-11-20)",
            ),
            (
                "bugs",
                BUGS,
                "## Resolved Issues\n\n### BUG-9: a (2026-11-20)\n\nx",
                "### BUG-9: a (2026-11-20)",
            ),
            (
                "bugs",
                BUGS,
                "**Login fails**\n\nOn Safari, since Monday.",
                "### BUG-8: Login fails (2026-11-24)",
            ),
            (
                "bugs",
                BUGS,
                "Login fails - Context: Safari; Status: Identified",
                "### BUG-8: Login fails (2026-11-24)",
            ),
            (
                "bugs",
                BUGS,
                "```markdown\n### BUG-9: a (2026-11-20)\n\nx\n```",
                "### BUG-9: a (2026-11-20)",
            ),
            ("features", FEATURES, "Dark mode", "## Dark mode"),
            ("features", "", "Dark mode", "## Dark mode"),
            ("features", FEATURES, "## Dark mode", "## Dark mode"),
            ("features", FEATURES, "* Dark mode", "## Dark mode"),
            (
                "features",
                FEATURES,
                "### Dark mode\n\n- **Status**: Planned",
                "## Dark mode",
            ),
            (
                "features",
                FEATURES,
                "# Dark mode\n\nStatus: Planned, Confidence: Low",
                "## Dark mode",
            ),
            (
                "features",
                FEATURES,
                "Dark mode\n=========\n\nStatus: Planned",
                "## Dark mode",
            ),
            (
                "features",
                FEATURES,
                "**Dark mode**: Status: Planned; Confidence: Low; Usage: the switch",
                "## Dark mode",
            ),
            (
                "features",
                FEATURES,
                "Dark mode (Status: Planned, Confidence: Low)",
                "## Dark mode",
            ),
            (
                "features",
                FEATURES,
                "- **Dark mode** - Status: In development | Confidence: High",
                "## Dark mode",
            ),
            (
                "features",
                FEATURES,
                "Dark mode\n- Status: Planned\n- Confidence: Low",
                "## Dark mode",
            ),
            (
                "session_summary",
                "",
                "## Leases are renewed\n\n### Fixed\n\n- x",
                "## 2026-11-24: Leases are renewed",
            ),
            (
                "session_summary",
                "",
                "### 2026-11-20\n\n#### Fixed\n\n- x",
                "## 2026-11-20",
            ),
        ];
        for (name, content, entry, wanted) in cases {
            let (heading, errors) = added(name, content, entry);
            assert_eq!((&*heading, errors), (wanted, vec![]), "{entry:?}");
        }
    }

    /// What is wrong in an entry, or unknown, is an error of the entry, at its line.
    #[test]
    fn entries_that_do_not_fit_are_refused() {
        const BUGS: &str = "# Bugs\n\n## Open Issues\n\n### BUG-7: z (2025-01-01)\n\nz\n";
        let cases = [
            (
                "features",
                "",
                "## A\n\n- **Status**: Done",
                "The feature `A`: `Status` is \"Done\"; it must be one of Active, In development, Planned, Deprecated",
            ),
            (
                "features",
                "# F\n\n## A\n\nx\n",
                "## a",
                "There is a feature a already, on line 3 of the file",
            ),
            (
                "features",
                "",
                "## A\n\n- **Usage**: TODO",
                "Placeholder text: TODO",
            ),
            (
                "features",
                "",
                "Status: Planned\nUsage: a switch",
                "Placeholder text: <name of the feature>",
            ),
            (
                "bugs",
                BUGS,
                "BUG-7: Login fails",
                "There is a bug bug-7 already, on line 5 of the file",
            ),
            (
                "bugs",
                BUGS,
                "<fill in>",
                "Placeholder text: BUG-8: <fill in> (2026-11-24)",
            ),
            (
                "session_summary",
                "",
                "## 2026-11-20\n\nWe did a lot.",
                "The session `2026-11-20` has none of Added, Changed, Deprecated, Removed, Fixed, Security",
            ),
        ];
        for (name, content, entry, wanted) in cases {
            let (_, errors) = added(name, content, entry);
            assert!(
                errors.iter().any(|error| error == wanted),
                "{entry:?}: {errors:?}"
            );
        }
    }

    /// What is broken elsewhere in a file is not the entry's, wherever the entry goes.
    #[test]
    fn errors_of_the_file_are_not_those_of_an_entry() {
        let layers = Layers::built_in();
        let entry = "## Mine\n\n- **Status**: Active";
        for broken in [
            "# Features\n\n## Broken\n\n- **Status**: Done\n",
            "# Features\n\n## Broken\n\n- **Usage**: TODO\n\n## Broken\n\nx\n",
            "no heading at all\n",
        ] {
            let template = &layers.get("features").unwrap().template;
            let prepared = prepare(broken, entry, template, TODAY).unwrap();
            assert!(check(broken, &prepared, template).valid);
            let whole = append(broken, &prepared, template).unwrap();
            let others = others(validate(&whole, template), &whole, &prepared);
            let before = validate(broken, template);
            if broken.contains("Broken") {
                let lines =
                    |found: &[Diagnostic]| found.iter().map(|one| one.line).collect::<Vec<_>>();
                assert_eq!(lines(&others), lines(&before.errors), "{whole}");
            }
        }
        let template = &layers.get("bugs").unwrap().template;
        let broken = "# Bugs\n\n## Open Issues\n\n### BUG-1: a (2025-01-01)\n\nStatus: done\n";
        let prepared = prepare(broken, "Login fails", template, TODAY).unwrap();
        let whole = append(broken, &prepared, template).unwrap();
        let others = others(validate(&whole, template), &whole, &prepared);
        assert!(
            others
                .iter()
                .any(|one| one.message.contains("`Solution Status` is \"done\""))
        );
        assert!(
            others
                .iter()
                .any(|one| one.kind == FlawKind::MissingSection)
        );
        assert!(
            others
                .iter()
                .all(|one| !one.message.contains("Login fails")),
            "{others:#?}"
        );
        assert_eq!(prepared.text, "### BUG-2: Login fails (2026-11-24)");
    }

    #[test]
    fn an_entry_of_the_example_makes_a_valid_new_file() {
        for in_force in Layers::built_in().all() {
            let template = &in_force.template;
            if let Some(entries) = &template.entries {
                let entry = entries.sample.replace("the", "our");
                let content = appended(&template.name, "", &entry).unwrap();
                let errors = validate(&content, template).errors;
                let own = errors
                    .iter()
                    .filter(|diagnostic| !diagnostic.message.starts_with("Placeholder"));
                assert_eq!(own.count(), 0, "{errors:#?}\n{content}");
                let entry = entry
                    .replace("BUG-14", "BUG-99")
                    .replace("## Retries", "## Others");
                let twice = appended(&template.name, &content, &entry).unwrap();
                assert_eq!(
                    entries_of(&Outline::of(&twice), template).len(),
                    2,
                    "{twice}"
                );
            }
        }
    }

    #[test]
    fn what_cannot_be_added_is_refused() {
        let refused = |name: &str, content: &str, entry: &str| {
            appended(name, content, entry).unwrap_err().to_string()
        };
        assert_eq!(
            refused("mental_model", "", "x"),
            "nothing is appended to `mental_model`: it is written as a whole, with `update_context`"
        );
        assert_eq!(
            refused("bugs", "", "\u{feff} \n"),
            "the entry is empty; write it as the template shows"
        );
        assert!(
            refused("features", "# F\n\n```\nx\n", "## A")
                .starts_with("the file ends within a code fence")
        );
        assert!(
            refused("features", "# F\n", "## A\n\n```\nx")
                .starts_with("the entry ends within a code fence")
        );
    }
}
