//! TOML: its tables become sections; the text and its comments are stored unchanged.

use super::blocks::BlockKind;
use super::builder::Draft;
use super::limits::Budget;
use super::plain::lines;

pub(super) fn read<'b>(text: String, budget: &'b Budget<'b>) -> Draft<'b> {
    let mut heads = Vec::new();
    let mut open = None;
    for (at, line) in lines(&text) {
        match open.is_none().then(|| table_head(line)).flatten() {
            Some(keys) => heads.push((keys, at..at + line.len())),
            None => open = quotes_after(line, open),
        }
    }
    let end = text.len();
    let mut draft = Draft::over(text, budget);
    let mut done = 0;
    for (keys, range) in heads {
        draft.mark(BlockKind::Code, done..range.start);
        done = range.start;
        if draft.section_of(&keys, range.start) {
            done = range.end;
            draft.mark(BlockKind::Heading, range);
        }
    }
    draft.mark(BlockKind::Code, done..end);
    draft
}

/// Returns the multi-line quotes that are open after a line.
fn quotes_after(line: &str, mut open: Option<&'static str>) -> Option<&'static str> {
    if open.is_none() && line.trim_start().starts_with('#') {
        return None;
    }
    let mut rest = line;
    loop {
        let begins = |quotes: &'static str| rest.find(quotes).map(|at| (at, quotes));
        let next = match open {
            Some(quotes) => begins(quotes),
            None => ["\"\"\"", "'''"].into_iter().filter_map(begins).min(),
        };
        let Some((at, quotes)) = next else {
            return open;
        };
        open = open.is_none().then_some(quotes);
        rest = rest.get(at + quotes.len()..).unwrap_or_default();
    }
}

/// Parses the keys of a table header `[a.b]` or `[[a.b]]`.
fn table_head(line: &str) -> Option<Vec<String>> {
    let inner = line.trim().strip_prefix('[')?;
    let inner = inner.strip_prefix('[').unwrap_or(inner);
    let mut keys = vec![String::new()];
    let mut quote = None;
    for (at, c) in inner.char_indices() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, ']') => {
                let rest = inner.get(at..)?.trim_start_matches(']').trim_start();
                let is_head = rest.is_empty() || rest.starts_with('#');
                let keys: Vec<String> = keys.iter().map(|key| key.trim().to_owned()).collect();
                return (is_head && keys.iter().all(|key| !key.is_empty())).then_some(keys);
            }
            // A multi-line array, not a table header.
            (None, ',' | '{' | '[') => return None,
            (None, '.') => keys.push(String::new()),
            _ => keys.last_mut()?.push(c),
        }
    }
    None
}
