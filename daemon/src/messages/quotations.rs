//! Text of a message that came from a context pack: it is recognised and not counted as new.

use std::borrow::Cow;

use crate::citations::{CitedPieces, PackOwner};
use crate::sessions::{self, Line};
use crate::store::{Error, Rows};

/// Finds the parts of a text that came from a context pack of this session, its ancestors, or its project.
///
/// Returns start and end in bytes.
pub fn spans(rows: &dyn Rows, lines: &[Line], text: &str) -> Result<Vec<(u32, u32)>, Error> {
    let project = match lines.first() {
        Some(line) => sessions::get(rows, &line.session)?.and_then(|row| row.project),
        None => None,
    };
    let own = lines.iter().map(|line| PackOwner::Session(&line.session));
    let around = PackOwner::Project(project.as_deref().unwrap_or_default());
    let known = CitedPieces::to(rows, own.chain([around]))?;
    let spans = known.spans(text).into_iter();
    let short = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Ok(spans
        .map(|span| (short(span.start), short(span.end)))
        .collect())
}

/// Returns the text without these spans.
#[must_use]
pub fn without<'t>(text: &'t str, spans: &[(u32, u32)]) -> Cow<'t, str> {
    replaced(text, spans, |_| String::new())
}

/// Returns the text with these spans blanked, so that byte offsets remain valid.
#[must_use]
pub fn blanked<'t>(text: &'t str, spans: &[(u32, u32)]) -> Cow<'t, str> {
    replaced(text, spans, |quote| " ".repeat(quote.len()))
}

/// Returns the text with each of these spans replaced.
#[must_use]
pub fn replaced<'t>(
    text: &'t str,
    spans: &[(u32, u32)],
    instead: impl Fn(&str) -> String,
) -> Cow<'t, str> {
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for &(start, end) in spans {
        let (start, end) = (start as usize, end as usize);
        out.push_str(text.get(from..start).unwrap_or_default());
        out.push_str(&instead(text.get(start..end).unwrap_or_default()));
        from = end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_is_what_is_left() {
        let text = "new QUOTE also new QUÖTE";
        let spans = [(4, 9), (19, 25)];
        assert_eq!(without(text, &spans), "new  also new ");
        assert_eq!(blanked(text, &spans), "new       also new       ");
        assert_eq!(without(text, &[]), text);
    }
}
