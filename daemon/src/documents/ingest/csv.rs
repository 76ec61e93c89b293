//! CSV: each row a line of `column: value`, so that a part of it says what its values are.

use super::Refused;
use super::draft::{Draft, Sort};
use super::limits::Budget;
use csv::{ReaderBuilder, StringRecord};

/// Lines that are looked at to tell what separates the columns.
const LINES_LOOKED_AT: usize = 20;
/// A field longer than this is most likely a quote that was never closed, in bytes.
const FIELD_MAX: usize = 64 << 10;
/// Rows between two looks at the clock.
const ROWS_PER_CHECK: usize = 10_000;
/// Rows that are one block.
const ROWS_PER_BLOCK: usize = 256;

pub(super) fn read<'b>(text: String, budget: &'b Budget<'b>) -> Result<Draft<'b>, Refused> {
    let separator = separator(&text);
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator)
        .from_reader(text.as_bytes());
    let mut draft = Draft::over(String::new(), budget);
    let mut row = StringRecord::new();
    let mut columns: Vec<String> = Vec::new();
    let mut block = String::new();
    let mut rows = 0usize;
    let fault = loop {
        match reader.read_record(&mut row) {
            Ok(true) => {}
            Ok(false) => break None,
            Err(error) => break Some(error.to_string()),
        }
        if row.iter().any(|field| field.len() > FIELD_MAX) {
            let line = row.position().map_or(0, csv::Position::line);
            break Some(format!(
                "a field in line {line} is longer than {FIELD_MAX} bytes; is a quote not closed?"
            ));
        }
        rows += 1;
        if rows == 1 && is_head(&row) {
            columns = row.iter().map(fold).collect();
            draft.put(Sort::Rows, &columns.join(" | "));
            continue;
        }
        block.push_str(&line(&columns, &row));
        block.push('\n');
        if rows.is_multiple_of(ROWS_PER_CHECK) {
            budget.check()?;
        }
        if rows.is_multiple_of(ROWS_PER_BLOCK) {
            draft.put(Sort::Rows, &std::mem::take(&mut block));
            if draft.is_full() {
                break None;
            }
        }
    };
    draft.put(Sort::Rows, &block);
    if let Some(reason) = fault {
        draft = super::plain::text(text, budget);
        draft.warn(None, format!("no valid CSV: {reason}"));
    }
    Ok(draft)
}

/// A row as a line: values with their columns' names where there are any, empty ones left out.
fn line(columns: &[String], row: &StringRecord) -> String {
    let mut line = String::new();
    for (at, field) in row.iter().enumerate() {
        let value = fold(field);
        if value.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push_str(" | ");
        }
        if let Some(column) = columns.get(at).filter(|name| !name.is_empty()) {
            line.push_str(column);
            line.push_str(": ");
        }
        line.push_str(&value);
    }
    line
}

/// A field on one line.
fn fold(field: &str) -> String {
    field.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether the first row names columns: several texts, none of them a number, each once.
fn is_head(row: &StringRecord) -> bool {
    let names: Vec<&str> = row.iter().map(str::trim).collect();
    let is_name =
        |name: &&str| !name.is_empty() && name.parse::<f64>().is_err() && name.len() < 100;
    let mut once = names.clone();
    once.sort_unstable();
    once.dedup();
    names.len() > 1 && names.iter().all(is_name) && once.len() == names.len()
}

/// What separates the columns: what comes equally often in the first lines, and most often.
fn separator(text: &str) -> u8 {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .take(LINES_LOOKED_AT)
        .collect();
    let score = |separator: u8| {
        let counts = lines.iter().map(|line| outside_quotes(line, separator));
        let first = counts.clone().next().unwrap_or_default();
        let same = counts.filter(|count| *count == first).count();
        (first > 0).then_some((same, first))
    };
    [b',', b';', b'\t', b'|']
        .into_iter()
        .rev()
        .max_by_key(|separator| score(*separator))
        .unwrap_or(b',')
}

fn outside_quotes(line: &str, separator: u8) -> usize {
    let mut is_quoted = false;
    let mut count = 0;
    for byte in line.bytes() {
        is_quoted ^= byte == b'"';
        count += usize::from(byte == separator && !is_quoted);
    }
    count
}
