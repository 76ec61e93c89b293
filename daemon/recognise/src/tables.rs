//! Markdown tables: columns that hold entities, as JSON fields do.
//!
//! A column whose header is a field of a kind holds entities of that kind. If the heading above a table names a
//! kind in the plural ("## Clusters"), the column with the name holds entities of that kind.

use super::names::{canonical_key, shown_name};
use super::packs::PackSet;
use super::{Knowledge, Mention};

/// Limit on the columns of a table.
const COLUMNS_MAX: usize = 64;
/// Limit on the cells of a text.
const CELLS_MAX: usize = 5000;
/// Lines above a table within which its heading is.
const HEADING_LINES_MAX: usize = 6;
/// Limit on a heading, in bytes.
const HEADING_BYTES_MAX: usize = 80;

/// A cell with an entity.
pub(super) struct Cell {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) mention: Mention,
}

/// Finds the cells of a text's tables that hold entities.
pub(super) fn cells(packs: &PackSet, text: &str, knowledge: &Knowledge<'_>) -> Vec<Cell> {
    let mut found = Vec::new();
    if !text.contains("|-") && !text.contains("| -") && !text.contains("|:") {
        return found;
    }
    let lines: Vec<(usize, &str)> = lines(text).collect();
    let mut at = 0;
    while let Some((_, separator)) = lines.get(at + 1) {
        let header = lines.get(at).map(|line| line.1).unwrap_or_default();
        if !header.trim_start().starts_with('|') || !is_separator(separator) {
            at += 1;
            continue;
        }
        let above = lines.get(..at).unwrap_or_default();
        let columns = columns(packs, header, heading_kind(packs, above, knowledge));
        at += 2;
        while let Some((offset, row)) = lines
            .get(at)
            .filter(|(_, row)| row.trim_start().starts_with('|'))
        {
            if found.len() >= CELLS_MAX {
                return found;
            }
            row_cells(packs, &columns, *offset, row, &mut found);
            at += 1;
        }
    }
    found
}

fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split('\n').map(move |line| {
        let start = at;
        at += line.len() + 1;
        (start, line)
    })
}

fn is_separator(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('|') && line.contains('-') && line.chars().all(|c| "|-: ".contains(c))
}

/// Returns the kind that the heading of a table names, else the one of the objects that the call asked for.
fn heading_kind(
    packs: &PackSet,
    above: &[(usize, &str)],
    knowledge: &Knowledge<'_>,
) -> Option<usize> {
    let near = above.iter().rev().take(HEADING_LINES_MAX);
    let heading = near.map(|(_, line)| line.trim()).find(|line| {
        (line.starts_with('#') || line.starts_with("**"))
            && line.len() <= HEADING_BYTES_MAX
            && !line.contains("Total")
    });
    let named = heading.and_then(|line| {
        let words = line
            .trim_matches(|c: char| !c.is_alphanumeric())
            .to_lowercase();
        packs
            .kind_words
            .get(&words)
            .filter(|word| word.plural && word.parts.is_empty())
    });
    named
        .map(|word| word.kind)
        .or_else(|| knowledge.objects.and_then(|kind| packs.place_of(kind)))
}

/// A column of a table.
struct Column {
    header: String,
    kind: Option<usize>,
    /// Whether the column names the row's own object.
    is_own: bool,
}

fn columns(packs: &PackSet, header: &str, own: Option<usize>) -> Vec<Column> {
    let mut has_own = false;
    split(header)
        .take(COLUMNS_MAX)
        .map(|(_, cell)| {
            let header = cell.trim().to_lowercase().replace(' ', "_");
            let declared = own.and_then(|own| packs.kinds.get(own));
            let is_own = !has_own && declared.is_some_and(|kind| kind.names.contains(&header));
            has_own |= is_own;
            let kind = if is_own {
                own
            } else {
                packs.fields.get(&header).copied()
            };
            Column {
                header,
                kind,
                is_own,
            }
        })
        .collect()
}

/// Returns the cells of a row with their offsets.
fn split(row: &str) -> impl Iterator<Item = (usize, &str)> {
    let inner = row.trim_end().trim_end_matches('|');
    let opened = inner.find('|').map_or(0, |at| at + 1);
    let mut at = opened;
    inner
        .get(opened..)
        .unwrap_or_default()
        .split('|')
        .map(move |cell| {
            let start = at;
            at += cell.len() + 1;
            (start, cell)
        })
}

fn row_cells(packs: &PackSet, columns: &[Column], offset: usize, row: &str, found: &mut Vec<Cell>) {
    let cells: Vec<(usize, &str)> = split(row).take(COLUMNS_MAX).collect();
    for (column, (start, cell)) in columns.iter().zip(&cells) {
        let Some(kind) = column.kind.and_then(|at| Some((at, packs.kinds.get(at)?))) else {
            continue;
        };
        let (at, declared) = kind;
        let name = cell.trim().trim_matches(['`', '*']);
        let Some(shown) = shown_name(name) else {
            continue;
        };
        let mut rules = packs.rules.iter().filter(|rule| rule.kind == at).peekable();
        let has_rules = rules.peek().is_some();
        if has_rules && rules.all(|rule| rule.refuses(&shown)) {
            continue;
        }
        let mut key = canonical_key(&declared.name, name);
        let within = declared.within.as_ref().filter(|_| column.is_own);
        if let Some(field) = within
            && let Some(place) = columns.iter().position(|column| column.header == *field)
            && let Some((_, parent)) = cells.get(place)
            && let Some(parent_kind) = packs.fields.get(field).and_then(|at| packs.kinds.get(*at))
            && !parent.trim().is_empty()
        {
            key = format!("{}/{key}", canonical_key(&parent_kind.name, parent.trim()));
        }
        let inner = cell.find(name).unwrap_or(0);
        let start = offset + start + inner;
        found.push(Cell {
            start,
            end: start + name.len(),
            mention: Mention {
                kind: declared.name.clone(),
                key,
                name: shown,
            },
        });
    }
}
