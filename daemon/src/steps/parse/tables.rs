//! Tables in texts: Markdown and psql, CSV with commas, semicolons or tabs, the columns of `kubectl`, `ps`, sqlite and
//! pip, and records of `key: value` lines between blank lines.
//!
//! A table becomes a list of objects, one a row, whose fields are the headings. Cells are texts; an empty cell is no
//! field. Each line is read a fixed number of times, and rows beyond the limit of values remain text.

use super::flat::{Source, Span};
use super::nodes::{Kind, NodeId, NodeLabel, Nodes};
use super::text::{field_of, offset};

/// Maximum number of columns.
const COLUMNS_MAX: usize = 64;
/// Maximum length of a heading, in bytes, and of its words.
const HEADING_BYTES_MAX: usize = 48;
const HEADING_WORDS_MAX: usize = 3;
/// Maximum number of tables of one text.
const TABLES_MAX: usize = 64;

/// A piece of the text: where it begins and ends.
type Piece = (usize, usize);

/// A table as it is found: its headings, its rows and where it is.
struct Table {
    headings: Vec<Piece>,
    rows: Vec<Vec<Piece>>,
    span: Piece,
}

/// Adds the tables of a text. Returns their lists and their spans in the source.
pub(super) fn read(source: &Source<'_>, out: &mut Nodes) -> (Vec<NodeId>, Vec<Piece>) {
    let text: &str = &source.text;
    let (mut lists, mut spans) = (Vec::new(), Vec::new());
    if !text.contains('\n') {
        return (lists, spans);
    }
    let lines = lines(text);
    let mut found = match separated(text, &lines) {
        Some(table) => vec![table],
        None => drawn(text, &lines),
    };
    if found.is_empty() {
        found.extend(records(text, &lines));
    }
    for table in found {
        let Some(list) = add(source, out, &table) else {
            break;
        };
        lists.push(list);
        spans.push(table.span);
    }
    (lists, spans)
}

fn add(source: &Source<'_>, out: &mut Nodes, table: &Table) -> Option<NodeId> {
    let list = out.push(None, NodeLabel::Root, Kind::Array, Span::default())?;
    let keys: Vec<Span> = table
        .headings
        .iter()
        .map(|piece| copy(source, out, *piece))
        .collect();
    for (index, row) in (0..).zip(&table.rows) {
        let label = NodeLabel::Index(index);
        let Some(object) = out.push(Some(list), label, Kind::Object, Span::default()) else {
            break;
        };
        for (key, cell) in keys.iter().zip(row).filter(|(_, cell)| cell.0 < cell.1) {
            let value = copy(source, out, *cell);
            out.push(Some(object), NodeLabel::Key(*key), Kind::String, value);
        }
        out.close(object, None);
    }
    out.close(list, None);
    Some(list)
}

fn copy(source: &Source<'_>, out: &mut Nodes, (from, to): Piece) -> Span {
    let start = out.flat.here();
    out.flat.copy(source, from, to);
    let end = out.flat.here();
    out.flat.push('\n', source.raw_of(to));
    Span { start, end }
}

/// Returns the lines of a text without their ends.
fn lines(text: &str) -> Vec<Piece> {
    let mut at = 0;
    let ends = text.split_inclusive('\n').map(|line| {
        let start = at;
        at += line.len();
        (start, start + line.trim_end().len())
    });
    ends.collect()
}

fn piece(text: &str, (from, to): Piece) -> &str {
    text.get(from..to).unwrap_or_default()
}

fn is_blank(text: &str, at: Piece) -> bool {
    piece(text, at).trim().is_empty()
}

/// Returns a piece without the blanks, and without one pair of quotes, around it.
fn trimmed(text: &str, (from, to): Piece) -> Piece {
    let whole = text.get(from..to).unwrap_or_default();
    let start = from + whole.len() - whole.trim_start().len();
    let end = start + whole.trim().len();
    let is_quoted = end - start > 1
        && piece(text, (start, end)).starts_with('"')
        && piece(text, (start, end)).ends_with('"');
    match is_quoted {
        true => (start + 1, end - 1),
        false => (start, end),
    }
}

/// Returns whether all pieces are headings: short, different, of letters and digits.
fn are_headings(text: &str, pieces: &[Piece]) -> bool {
    let allowed = |c: char| c.is_alphanumeric() || " _-./()%#".contains(c);
    let is_heading = |at: &Piece| {
        let word = piece(text, *at);
        word.len() <= HEADING_BYTES_MAX
            && word.chars().any(char::is_alphabetic)
            && word.chars().all(allowed)
            && !word.ends_with('.')
            && word.split_whitespace().count() <= HEADING_WORDS_MAX
    };
    let mut seen = std::collections::HashSet::new();
    (2..=COLUMNS_MAX).contains(&pieces.len())
        && pieces.iter().all(is_heading)
        && pieces
            .iter()
            .all(|at| seen.insert(piece(text, *at).to_lowercase()))
}

/// Returns the table of a text that is one as a whole: each line has as many cells as the first.
fn separated(text: &str, lines: &[Piece]) -> Option<Table> {
    let filled: Vec<Piece> = lines
        .iter()
        .copied()
        .filter(|line| !is_blank(text, *line))
        .collect();
    let (first, rows) = filled.split_first()?;
    let head = piece(text, *first);
    let separator = *[b'\t', b',', b';']
        .iter()
        .find(|separator| head.as_bytes().contains(*separator))?;
    let headings = cells(text, *first, separator)?;
    // Prose has several words between its commas.
    let is_prose = |at: &Piece| {
        let before = at.0.checked_sub(1).and_then(|at| text.as_bytes().get(at));
        before == Some(&b' ') && piece(text, *at).contains(' ')
    };
    if !are_headings(text, &headings) || headings.iter().any(is_prose) || rows.is_empty() {
        return None;
    }
    let rows: Option<Vec<Vec<Piece>>> = rows
        .iter()
        .map(|line| cells(text, *line, separator).filter(|row| row.len() == headings.len()))
        .collect();
    Some(Table {
        headings,
        rows: rows?,
        span: (0, text.len()),
    })
}

/// Splits a line at a separator outside of quotes. `None` if a quote is open at its end.
fn cells(text: &str, (from, to): Piece, separator: u8) -> Option<Vec<Piece>> {
    let (mut found, mut start, mut is_quoted) = (Vec::new(), from, false);
    for (at, byte) in piece(text, (from, to)).bytes().enumerate() {
        let at = from + at;
        if byte == b'"' {
            is_quoted = !is_quoted;
        } else if byte == separator && !is_quoted {
            if found.len() == COLUMNS_MAX {
                return None;
            }
            found.push(trimmed(text, (start, at)));
            start = at + 1;
        }
    }
    found.push(trimmed(text, (start, to)));
    (!is_quoted).then_some(found)
}

/// Returns the tables that are drawn within a text, by lines or by columns.
fn drawn(text: &str, lines: &[Piece]) -> Vec<Table> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() && found.len() < TABLES_MAX {
        let rest = lines.get(at..).unwrap_or_default();
        let is_first = at == 0 || lines.get(at - 1).is_none_or(|line| is_blank(text, *line));
        let table = ruled(text, rest)
            .or_else(|| underlined(text, rest))
            .or_else(|| match is_first {
                true => aligned(text, rest),
                false => None,
            });
        at += match table {
            Some((table, count)) => {
                found.push(table);
                count
            }
            None => 1,
        };
    }
    found
}

/// Returns a table of Markdown or psql that begins at the first line, and its number of lines.
fn ruled(text: &str, lines: &[Piece]) -> Option<(Table, usize)> {
    let (header, rule) = (*lines.first()?, piece(text, *lines.get(1)?).trim());
    let is_rule = rule.contains('-')
        && rule.contains(['|', '+'])
        && rule.bytes().all(|byte| b"|-+: ".contains(&byte));
    if !is_rule || !piece(text, header).contains('|') {
        return None;
    }
    let headings = barred(text, header);
    if !are_headings(text, &headings) {
        return None;
    }
    let rows: Vec<Vec<Piece>> = lines
        .iter()
        .skip(2)
        .take_while(|line| piece(text, **line).contains('|'))
        .map(|line| barred(text, *line))
        .collect();
    let last = lines.get(rows.len() + 1)?;
    let span = (header.0, last.1);
    let count = rows.len() + 2;
    (!rows.is_empty()).then_some((
        Table {
            headings,
            rows,
            span,
        },
        count,
    ))
}

/// Returns the cells of a line between its bars, without marks of code and emphasis around them.
fn barred(text: &str, (from, to): Piece) -> Vec<Piece> {
    let line = piece(text, (from, to));
    let start = from + line.len() - line.trim_start().len();
    let inner = line.trim();
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    let (start, inner) = match inner.strip_prefix('|') {
        Some(rest) => (start + 1, rest),
        None => (start, inner),
    };
    let mut at = start;
    let all = inner.split('|').take(COLUMNS_MAX).map(|cell| {
        let whole = (at, at + cell.len());
        at += cell.len() + 1;
        let (from, to) = trimmed(text, whole);
        let bare = piece(text, (from, to));
        let plain = bare.trim_matches(['`', '*']);
        let from = from + bare.find(plain).unwrap_or(0);
        (from, from + plain.len())
    });
    all.collect()
}

/// Returns a table whose columns are aligned by blanks under a heading in capitals, and its number of lines.
fn aligned(text: &str, lines: &[Piece]) -> Option<(Table, usize)> {
    let header = *lines.first()?;
    let head = piece(text, header);
    let is_shouted = head.chars().any(char::is_uppercase)
        && !head.chars().any(char::is_lowercase)
        && (head.contains("  ") || head.starts_with(' '))
        && head.is_ascii();
    if !is_shouted {
        return None;
    }
    let body: Vec<Piece> = lines
        .iter()
        .skip(1)
        .copied()
        .take_while(|line| !is_blank(text, *line))
        .collect();
    let last = *body.last()?;
    let by_place = by_place(text, header, &body);
    let (headings, rows) = by_place.or_else(|| by_words(text, header, &body))?;
    let table = Table {
        headings,
        rows,
        span: (header.0, last.1),
    };
    Some((table, body.len() + 1))
}

/// Headings and rows.
type Columns = (Vec<Piece>, Vec<Vec<Piece>>);

/// Columns that begin below their headings, as those of `kubectl` and `docker`: a heading may have several words.
fn by_place(text: &str, header: Piece, body: &[Piece]) -> Option<Columns> {
    let mut headings = Vec::new();
    let mut at = header.0;
    for part in piece(text, header).split("  ") {
        let whole = (at, at + part.len());
        at += part.len() + 2;
        if !is_blank(text, whole) {
            headings.push(trimmed(text, whole));
        }
    }
    if !are_headings(text, &headings) {
        return None;
    }
    let starts: Vec<usize> = headings
        .iter()
        .map(|heading| heading.0 - header.0)
        .collect();
    Some((headings, rows_at(text, &starts, body)?))
}

/// Cuts lines where columns start, in characters. `None` if a cell reaches into the next column.
fn rows_at(text: &str, starts: &[usize], body: &[Piece]) -> Option<Vec<Vec<Piece>>> {
    let row = |line: &Piece| -> Option<Vec<Piece>> {
        let whole: Vec<usize> = piece(text, *line)
            .char_indices()
            .map(|(at, _)| line.0 + at)
            .collect();
        let place = |column: usize| whole.get(column).copied().unwrap_or(line.1);
        let mut ends = starts.iter().skip(1).copied();
        let mut row = Vec::with_capacity(starts.len());
        for start in starts {
            let from = place(*start);
            let to = ends.next().map_or(line.1, place);
            let is_cut = *start > 0
                && from < line.1
                && !piece(text, (place(*start - 1), from)).trim().is_empty();
            if is_cut {
                return None;
            }
            row.push(trimmed(text, (from, to)));
        }
        Some(row)
    };
    body.iter().map(row).collect()
}

/// Returns a table whose headings are underlined, each by a line of its own width, as those of sqlite and `pip`, and its
/// number of lines.
fn underlined(text: &str, lines: &[Piece]) -> Option<(Table, usize)> {
    let (header, rule) = (*lines.first()?, piece(text, *lines.get(1)?));
    if !rule.contains('-') || !rule.bytes().all(|byte| byte == b'-' || byte == b' ') {
        return None;
    }
    let begins = |at: &usize| !rule.get(..*at).is_some_and(|before| before.ends_with('-'));
    let starts: Vec<usize> = rule
        .match_indices('-')
        .map(|(at, _)| at)
        .filter(begins)
        .collect();
    let headings = rows_at(text, &starts, &[header])?.pop()?;
    if !are_headings(text, &headings) {
        return None;
    }
    let filled = lines.iter().skip(2).copied();
    let body: Vec<Piece> = filled.take_while(|line| !is_blank(text, *line)).collect();
    let last = *body.last()?;
    let table = Table {
        headings,
        rows: rows_at(text, &starts, &body)?,
        span: (header.0, last.1),
    };
    Some((table, body.len() + 2))
}

/// The fields at the head of a record: places of keys and values.
type Head = Vec<(Piece, Piece)>;

/// Returns the records of a text, such as the commits of a log: blocks of at least two `key: value` lines, between blank
/// lines, that begin with the same two keys. What follows the fields of a record is text.
fn records(text: &str, lines: &[Piece]) -> Option<Table> {
    let mut heads: Vec<Head> = Vec::new();
    let (mut at, mut is_start) = (0, true);
    while let Some(line) = lines.get(at) {
        let head = match is_start {
            true => head(text, lines.get(at..).unwrap_or_default()),
            false => Head::new(),
        };
        // A heading may be above the first record. Further on, a line that ends with a colon is the YAML around them.
        let is_heading = heads.is_empty() && piece(text, *line).ends_with(':');
        is_start = is_blank(text, *line) || is_heading;
        at += head.len().max(1);
        if head.len() > 1 {
            heads.push(head);
            is_start = false;
        }
    }
    let keys = |head: &Head| -> Vec<String> {
        let first = head.iter().take(2);
        first.map(|(key, _)| piece(text, *key).to_owned()).collect()
    };
    let first = heads.iter().enumerate().find_map(|(number, head)| {
        let mut later = heads.iter().skip(number + 1);
        later
            .any(|other| keys(other) == keys(head))
            .then(|| keys(head))
    })?;
    heads.retain(|head| keys(head) == first);
    let mut headings: Vec<Piece> = Vec::new();
    for (key, _) in heads.iter().flatten() {
        let is_new = headings
            .iter()
            .all(|known| piece(text, *known) != piece(text, *key));
        if is_new && headings.len() < COLUMNS_MAX {
            headings.push(*key);
        }
    }
    let cell = |head: &Head, heading: &Piece| {
        let mut fields = head.iter();
        let found = fields.find(|(key, _)| piece(text, *key) == piece(text, *heading));
        found.map_or((0, 0), |(_, value)| *value)
    };
    let row = |head: &Head| headings.iter().map(|heading| cell(head, heading)).collect();
    let rows = heads.iter().map(row).collect();
    let (start, end) = (heads.first()?.first()?.0.0, heads.last()?.last()?.1.1);
    let start = lines.iter().rev().find(|line| line.0 <= start)?.0;
    Some(Table {
        headings,
        rows,
        span: (start, end),
    })
}

/// Returns the fields of the lines up to the first that is none.
fn head(text: &str, lines: &[Piece]) -> Head {
    let place = |part: &str| (offset(text, part), offset(text, part) + part.len());
    let fields = lines.iter().map_while(|line| field_of(piece(text, *line)));
    fields
        .map(|(key, value)| (place(key), place(value)))
        .collect()
}

/// Columns of one word each, as those of `ps`; the last one takes the rest of the line.
fn by_words(text: &str, header: Piece, body: &[Piece]) -> Option<Columns> {
    let headings = words(text, header, COLUMNS_MAX);
    if !are_headings(text, &headings) {
        return None;
    }
    let row = |line: &Piece| {
        let row = words(text, *line, headings.len());
        (row.len() == headings.len()).then_some(row)
    };
    let rows: Option<Vec<Vec<Piece>>> = body.iter().map(row).collect();
    Some((headings, rows?))
}

/// Returns at most `most` words of a line; the last one takes the rest.
fn words(text: &str, (from, to): Piece, most: usize) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut at = from;
    while found.len() < most {
        let rest = piece(text, (at, to));
        let start = at + rest.len() - rest.trim_start().len();
        if start >= to {
            break;
        }
        let rest = piece(text, (start, to));
        let is_last = found.len() + 1 == most;
        let end = match rest.find(' ').filter(|_| !is_last) {
            Some(blank) => start + blank,
            None => to,
        };
        found.push((start, end));
        at = end;
    }
    found
}
