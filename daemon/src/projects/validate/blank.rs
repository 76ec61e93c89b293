//! Detects placeholders: words that announce missing text, and brackets that ask for it.

use super::lines::plain;

/// Maximum length of a placeholder, in bytes.
pub(super) const PLACEHOLDER_BYTES_MAX: usize = 300;

/// Words that are a placeholder on their own.
const WORDS: [&str; 26] = [
    "todo",
    "tbd",
    "tba",
    "fixme",
    "xxx",
    "tk",
    "to do",
    "to be done",
    "to be defined",
    "to be determined",
    "to be decided",
    "to be added",
    "to be filled in",
    "to be written",
    "to be documented",
    "fill in",
    "fill me in",
    "fill this in",
    "fill in later",
    "write me",
    "write this",
    "placeholder",
    "placeholder text",
    "your text here",
    "coming soon",
    "lorem ipsum",
];

/// Texts after `TODO` that make the task a placeholder.
const EMPTY_TASKS: [&str; 20] = [
    "fill in",
    "fill this in",
    "fill me in",
    "fill out",
    "complete",
    "complete this",
    "complete later",
    "write",
    "write this",
    "write this section",
    "write me",
    "describe",
    "describe this",
    "document",
    "document this",
    "add",
    "add details",
    "add content",
    "later",
    "expand",
];

/// Words that make a text in brackets a placeholder.
const ASKING: [&str; 34] = [
    "add",
    "brief",
    "component",
    "date",
    "describe",
    "description",
    "detail",
    "details",
    "example",
    "explain",
    "explanation",
    "feature",
    "fill",
    "here",
    "how",
    "id",
    "insert",
    "list",
    "location",
    "name",
    "optional",
    "path",
    "placeholder",
    "project",
    "purpose",
    "section",
    "summary",
    "tbd",
    "title",
    "todo",
    "what",
    "why",
    "your",
    "yyyy-mm-dd",
];

/// HTML elements that can occupy a line in Markdown.
const ELEMENTS: [&str; 22] = [
    "a", "b", "br", "code", "details", "div", "em", "figure", "hr", "i", "img", "kbd", "li", "ol",
    "p", "picture", "pre", "span", "sub", "summary", "table", "ul",
];

/// Returns whether a text is only a placeholder.
pub(in crate::projects) fn is_placeholder(text: &str) -> bool {
    let is_code = is_code(text);
    let text = plain(text);
    if text.is_empty() || text.len() > PLACEHOLDER_BYTES_MAX || text.contains(['\n', '\r']) {
        return false;
    }
    is_word(text) || is_angled(text) && !is_code || is_bracketed(text) || is_braced(text)
}

/// Returns whether a text is one code span. What is in angle brackets there is an argument or a type.
fn is_code(text: &str) -> bool {
    let marks = |c: char| c.is_whitespace() || matches!(c, '*' | '_' | '|' | '"');
    let text = text.trim_matches(marks);
    text.len() > 2 && text.starts_with('`') && text.ends_with('`')
}

/// Returns whether a text is one of the [`WORDS`], or a task without content.
pub(super) fn is_word(text: &str) -> bool {
    let inner = text.trim_matches(|c: char| !c.is_alphanumeric());
    let lower = inner.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let lower = words.join(" ");
    if text.chars().all(|c| c == '?') && text.len() >= 3 {
        return true;
    }
    if WORDS.contains(&lower.as_str()) || lower.starts_with("lorem ipsum ") {
        return true;
    }
    let task = ["todo", "tbd", "fixme", "xxx"].iter().find_map(|mark| {
        let rest = lower.strip_prefix(mark)?;
        rest.starts_with(|c: char| !c.is_alphanumeric())
            .then_some(rest)
    });
    let task = task.map(|task| task.trim_matches(|c: char| !c.is_alphanumeric()));
    task.is_some_and(|task| EMPTY_TASKS.contains(&task))
}

/// Matches `<what it is for>`, but not HTML, an address or a type.
fn is_angled(text: &str) -> bool {
    let inner = text
        .strip_prefix('<')
        .and_then(|text| text.strip_suffix('>'));
    let Some(inner) = inner else { return false };
    if matches!(inner, "..." | "…") {
        return true;
    }
    let first = inner.split_whitespace().next().unwrap_or_default();
    let is_element = ELEMENTS.contains(&first.to_ascii_lowercase().as_str());
    inner.starts_with(char::is_alphabetic)
        && !is_element
        && !inner.contains(['<', '>', '=', '@'])
        && !inner.contains("://")
        && !inner.starts_with("mailto:")
}

/// Matches `[description]`, but not a link, a list of values or a task.
fn is_bracketed(text: &str) -> bool {
    let inner = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    let Some(inner) = inner else { return false };
    if inner.contains(['[', ']']) || inner.starts_with('^') {
        return false;
    }
    let lower = inner.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric() && c != '-');
    words.any(|word| ASKING.contains(&word))
}

/// Matches `{{name}}`.
fn is_braced(text: &str) -> bool {
    let inner = text
        .strip_prefix("{{")
        .and_then(|text| text.strip_suffix("}}"));
    inner.is_some_and(|inner| !inner.contains("}}"))
}
