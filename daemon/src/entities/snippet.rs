//! Text around a mention.

use lored_recognise::is_hidden;
use serde::Deserialize;

use super::view::MentionRow;
use crate::budget;
use crate::error::Refusal;
use crate::events::entities::Source;
use crate::log::{Log, Position, codec};
use crate::sessions::Line;
use crate::state::State;
use crate::steps::{self, Text};
use crate::store::Blobs;

/// Maximum number of bytes shown before a name, and after it.
const AROUND_BYTES: usize = 80;
/// Maximum number of bytes searched in a text, from its beginning.
const SEARCHED_BYTES_MAX: usize = 256 * 1024;

/// Texts of an event of any feature module: the text of a message, the result of a tool.
#[derive(Deserialize)]
struct Texts {
    #[serde(default)]
    content: Option<Text>,
    #[serde(default)]
    result: Option<Text>,
}

/// Returns the text around a mention, as one line. Returns `None` if the text was forgotten or does not
/// contain the name literally.
pub fn around(
    state: &State,
    blobs: &Blobs,
    lines: &[Line],
    position: Position,
    mention: &MentionRow,
    name: &str,
) -> Result<Option<String>, Refusal> {
    let log: Log<'_> = state.log();
    let event = match &mention.source {
        Source::Message(_) | Source::Tool(_) => log.at(position)?,
        Source::Step { step, attempt } => {
            let found = steps::attempt(state, lines, *step, *attempt)?;
            found
                .map(|found| log.event(found.record, found.position))
                .transpose()?
        }
    };
    let Some(payload) = event.and_then(|event| event.payload) else {
        return Ok(None);
    };
    let Ok(Texts { content, result }) = codec::decode::<Texts>(&payload.body) else {
        return Ok(None);
    };
    let Some(text) = content.or(result) else {
        return Ok(None);
    };
    let mut text = budget::passing(|| text.read(blobs))?;
    text.truncate(text.floor_char_boundary(SEARCHED_BYTES_MAX));
    let span = match mention.span {
        Some((start, end)) => Some((start as usize, end as usize)),
        None => find(&text, name).map(|start| (start, start + name.len())),
    };
    Ok(span.and_then(|(start, end)| cut(&text, start, end)))
}

fn find(text: &str, name: &str) -> Option<usize> {
    text.find(name).or_else(|| {
        // Lower-casing ASCII keeps byte offsets unchanged.
        let lowered = text.to_ascii_lowercase();
        lowered.find(&name.to_ascii_lowercase())
    })
}

/// Returns the text around a span, with white space folded and invisible characters removed.
fn cut(text: &str, start: usize, end: usize) -> Option<String> {
    text.get(start..end)?;
    if end > text.len() || start >= end {
        return None;
    }
    let from = text.floor_char_boundary(start.saturating_sub(AROUND_BYTES));
    let to = text.ceil_char_boundary(end.saturating_add(AROUND_BYTES).min(text.len()));
    let part = text.get(from..to)?;
    let words: Vec<&str> = part.split_whitespace().collect();
    let line: String = words
        .join(" ")
        .chars()
        .filter(|character| !is_hidden(*character))
        .collect();
    let before = if from > 0 { "…" } else { "" };
    let after = if to < text.len() { "…" } else { "" };
    Some(format!("{before}{line}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A snippet contains the name and the text around it, in whole characters.
    #[test]
    fn a_snippet_is_one_line_around_the_name() {
        assert_eq!(cut("is sw-1 up?", 3, 7).as_deref(), Some("is sw-1 up?"));
        let text = format!("{}\n sw-1\u{7}\t{}", "ä".repeat(100), "ö".repeat(100));
        let start = text.find("sw-1").unwrap_or_default();
        let found = cut(&text, start, start + 4).unwrap_or_default();
        assert!(found.starts_with("…ä") && found.ends_with("ö…"), "{found}");
        assert!(found.contains("ä sw-1 ö"), "{found}");
        assert_eq!(find("x SW-1", "sw-1"), Some(2));
        assert_eq!(cut("a \u{202e}b", 0, 1).as_deref(), Some("a b"));
        assert_eq!(cut("short", 90, 95), None);
    }
}
