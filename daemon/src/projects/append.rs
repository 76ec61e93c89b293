//! Appends an entry to a context file that is a log: finds the position, and builds a new file if needed.

use super::fix::{Edit, section_place};
use super::outline::{Heading, Outline, Section};
use super::template::{AppendOrder, SectionPlacement, Template};
use super::validate::entries_of;

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
/// and sections. The result is not validated; call [`validate`](fn@super::validate::validate).
///
/// # Errors
/// The file type does not allow appends, the entry is empty, or the text or the entry ends in an open code fence
/// or comment.
pub fn append(content: &str, entry: &str, template: &Template) -> Result<String, AppendError> {
    let Some(appends) = &template.appends else {
        let file_type = template.name.clone();
        return Err(AppendError::NoLog { file_type });
    };
    let entry = entry.trim_start_matches('\u{feff}');
    // Blank lines are removed; the indentation of the first line stays.
    let entry = entry.trim_end().trim_start_matches(['\n', '\r']);
    if entry.trim().is_empty() {
        return Err(AppendError::Empty);
    }
    if Outline::of(entry).is_open_at_end() {
        return Err(AppendError::OpenEntry);
    }
    let is_crlf = content
        .split_once('\n')
        .is_some_and(|(line, _)| line.ends_with('\r'));
    let entry = entry.replace("\r\n", "\n");
    if content.trim_start_matches('\u{feff}').trim().is_empty() {
        return Ok(frame(template, appends, &entry));
    }
    let outline = Outline::of(content);
    if outline.is_open_at_end() {
        return Err(AppendError::OpenEnd);
    }
    let mut edit = match appends.under.as_deref() {
        None => anywhere(&outline, template, appends.at, &entry),
        Some(key) => match outline.section(key) {
            Some(section) => within(&outline, template, (section, appends.at), &entry),
            None => section_and(&outline, template, key, &entry),
        },
    };
    if is_crlf {
        edit.text = edit.text.replace('\n', "\r\n");
    }
    Ok(edit.apply(content))
}

/// Renders a new file with one entry.
fn frame(template: &Template, appends: &AppendOrder, entry: &str) -> String {
    let mut parts = vec![format!("# {}", template.title)];
    for section in &template.sections {
        let holds_it = appends.under.as_ref() == Some(&section.key);
        if !section.required && !holds_it {
            continue;
        }
        let body = if holds_it {
            entry
        } else {
            section.if_none.as_deref().unwrap_or_default()
        };
        parts.push(format!("## {}\n\n{body}", section.name));
    }
    if appends.under.is_none() {
        parts.push(entry.to_owned());
    }
    parts.join("\n\n").trim_end().to_owned() + "\n"
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
    use crate::projects::validate::validate;

    fn appended(name: &str, content: &str, entry: &str) -> Result<String, AppendError> {
        let layers = Layers::built_in();
        append(content, entry, &layers.get(name).unwrap().template)
    }

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

    #[test]
    fn an_entry_of_the_example_makes_a_valid_new_file() {
        for in_force in Layers::built_in().all() {
            let template = &in_force.template;
            if let Some(entries) = &template.entries {
                let entry = entries.sample.replace("the", "our");
                let content = append("", &entry, template).unwrap();
                let errors = validate(&content, template).errors;
                let own = errors
                    .iter()
                    .filter(|diagnostic| !diagnostic.message.starts_with("Placeholder"));
                assert_eq!(own.count(), 0, "{errors:#?}\n{content}");
                let entry = entry
                    .replace("BUG-14", "BUG-99")
                    .replace("## Retries", "## Others");
                let twice = append(&content, &entry, template).unwrap();
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
