//! CSV: each row becomes a line of `column: value`, so that any part of it names its values. The file is read field
//! by field: a row may be as long as the file, and only its line is held in memory.

use super::IngestError;
use super::blocks::BlockKind;
use super::builder::Draft;
use super::limits::Budget;
use csv_core::{ReadFieldResult, Reader, ReaderBuilder};

/// Number of lines examined to detect the separator.
const LINES_LOOKED_AT: usize = 20;
/// Limit on a field, in bytes. A longer one is most likely an unclosed quote.
const FIELD_MAX: usize = 64 << 10;
/// Limit on the columns that a header names; more than in any spreadsheet.
const COLUMNS_MAX: usize = 1 << 14;
/// Rows between two checks of the time limit.
const ROWS_PER_CHECK: usize = 10_000;
/// Rows of one block.
pub(super) const ROWS_PER_BLOCK: usize = 256;

pub(super) fn read<'b>(text: String, budget: &'b Budget<'b>) -> Result<Draft<'b>, IngestError> {
    let separator = separator(&text);
    let mut draft = Draft::over(String::new(), budget);
    let mut fields = Fields::of(&text, separator);
    let columns = head(&mut fields);
    match &columns[..] {
        [] => fields = Fields::of(&text, separator),
        names => draft.put(BlockKind::Rows, &names.join(" | ")),
    }
    let mut rows = usize::from(!columns.is_empty());
    let mut block = Block::default();
    let fault = loop {
        block.room = draft.room();
        match fields.row(|field| block.value(&columns, field)) {
            Ok(true) => block.end_row(),
            Ok(false) => break None,
            Err(reason) => break Some(reason),
        }
        rows += 1;
        if rows.is_multiple_of(ROWS_PER_CHECK) {
            budget.check()?;
        }
        if rows.is_multiple_of(ROWS_PER_BLOCK) {
            draft.put(BlockKind::Rows, &std::mem::take(&mut block).text);
            if draft.is_full() {
                break None;
            }
        }
    };
    draft.put(BlockKind::Rows, &block.text);
    if let Some(reason) = fault {
        draft = super::plain::text(text, budget);
        draft.warn(None, format!("no valid CSV: {reason}"));
    }
    Ok(draft)
}

/// Returns the column names, if the first row is a header: several distinct texts, none of them a number.
fn head(fields: &mut Fields<'_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut is_head = true;
    let read = fields.row(|field| {
        let name = field.trim();
        is_head &= !name.is_empty()
            && name.parse::<f64>().is_err()
            && name.len() < 100
            && names.len() < COLUMNS_MAX;
        if is_head {
            names.push(name.to_owned());
        }
    });
    let mut once: Vec<&str> = names.iter().map(String::as_str).collect();
    once.sort_unstable();
    once.dedup();
    is_head &= read == Ok(true) && names.len() > 1 && once.len() == names.len();
    match is_head {
        true => names.iter().map(|name| fold(name)).collect(),
        false => Vec::new(),
    }
}

/// Joins a field's lines into one.
fn fold(field: &str) -> String {
    field.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The lines of rows, as far as there is room.
#[derive(Default)]
pub(super) struct Block {
    pub(super) text: String,
    /// Room for text, in bytes; text beyond it is left out.
    pub(super) room: usize,
    /// Start of the last line.
    line: usize,
    /// Number of fields in the current row so far.
    fields: usize,
}

impl Block {
    /// Appends a value to the line, after its column's name if there is one; empty values are left out.
    pub(super) fn value(&mut self, columns: &[String], field: &str) {
        let column = columns.get(self.fields).filter(|name| !name.is_empty());
        self.fields += 1;
        let mut words = field.split_whitespace();
        let Some(first) = words.next() else {
            return;
        };
        if self.is_over() {
            return;
        }
        if self.text.len() > self.line {
            self.text.push_str(" | ");
        }
        if let Some(column) = column {
            self.text.push_str(column);
            self.text.push_str(": ");
        }
        self.text.push_str(first);
        for word in words {
            self.text.push(' ');
            self.text.push_str(word);
        }
    }

    pub(super) fn end_row(&mut self) {
        if !self.is_over() {
            self.text.push('\n');
        }
        self.line = self.text.len();
        self.fields = 0;
    }

    /// Whether the text exceeds the room; trailing white space does not count.
    fn is_over(&self) -> bool {
        self.text.len() > self.room && self.text.trim_end().len() > self.room
    }
}

/// Reader of a text's fields, row by row.
struct Fields<'t> {
    reader: Reader,
    rest: &'t [u8],
    /// Buffer for the current field.
    field: Vec<u8>,
}

impl<'t> Fields<'t> {
    fn of(text: &'t str, separator: u8) -> Self {
        Self {
            reader: ReaderBuilder::new().delimiter(separator).build(),
            rest: text.as_bytes(),
            field: vec![0; FIELD_MAX + 1],
        }
    }

    /// Calls `tell` with each field of the next row; returns whether there is one.
    fn row(&mut self, mut tell: impl FnMut(&str)) -> Result<bool, String> {
        let line = self.reader.line();
        let mut length = 0;
        loop {
            let room = self.field.get_mut(length..).unwrap_or_default();
            let (result, read, written) = self.reader.read_field(self.rest, room);
            self.rest = self.rest.get(read..).unwrap_or_default();
            length += written;
            if length > FIELD_MAX {
                return Err(format!(
                    "a field in line {line} is longer than {FIELD_MAX} bytes; is a quote not closed?"
                ));
            }
            match result {
                // The input is complete, so the next call finds its end.
                ReadFieldResult::InputEmpty | ReadFieldResult::OutputFull => {}
                ReadFieldResult::Field { record_end } => {
                    let field = self.field.get(..length).unwrap_or_default();
                    // Separators and quotes are ASCII, so each field of a valid text is valid UTF-8.
                    tell(std::str::from_utf8(field).unwrap_or_default());
                    length = 0;
                    if record_end {
                        return Ok(true);
                    }
                }
                ReadFieldResult::End => return Ok(false),
            }
        }
    }
}

/// Detects the separator: the candidate whose count is the same in most of the first lines, then the most frequent.
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{ExtractedText, Limits, extract};

    /// Returns the fields as a reader of whole rows finds them.
    fn rows(text: &str, separator: u8) -> Vec<Vec<String>> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(separator)
            .from_reader(text.as_bytes());
        let rows = reader.records().map(|row| row.unwrap());
        rows.map(|row| row.iter().map(str::to_owned).collect())
            .collect()
    }

    fn read_within(text: &str, text_bytes: usize) -> ExtractedText {
        let limits = Limits {
            text_bytes,
            ..Limits::default()
        };
        extract(text.as_bytes(), "a.csv", &limits).unwrap()
    }

    proptest! {
        /// Reading field by field finds the same rows as a reader of whole rows.
        #[test]
        fn fields_are_those_of_rows(text in "[ab,;\"\n \u{e9}\u{feff}]{0,80}") {
            let mut fields = Fields::of(&text, b',');
            let mut found = Vec::new();
            loop {
                let mut row = Vec::new();
                if !fields.row(|field| row.push(field.to_owned())).unwrap() {
                    break;
                }
                found.push(row);
            }
            prop_assert_eq!(found, rows(&text, b','));
        }

        /// With little room, the text is a prefix of the text with much room.
        #[test]
        fn little_room_gives_a_beginning(
            text in "([ab]{1,9}[, ]|,|\n){0,80}",
            room in 0..200_usize,
        ) {
            let (cut, whole) = (read_within(&text, room), read_within(&text, 1 << 20));
            let cut_text = cut.text.trim_end();
            prop_assert!(cut_text.len() <= room);
            prop_assert!(whole.text.starts_with(cut_text), "{:?} {:?}", cut.text, whole.text);
            let is_told = cut.warnings.iter().any(|warning| warning.reason.contains("cut after"));
            prop_assert_eq!(is_told, cut_text.len() < whole.text.trim_end().len());
        }
    }

    /// An oversized field is reported with its line, also far into the file; an oversized row is accepted.
    #[test]
    fn only_fields_are_bounded() {
        let row = "ab,".repeat(FIELD_MAX);
        let document = read_within(&row, 1 << 30);
        assert!(document.warnings.is_empty());
        assert_eq!(document.text.matches("ab").count(), FIELD_MAX);
        let long = format!("a,b\n1,2\n3,{}\n", "x".repeat(FIELD_MAX + 1));
        let warning = read_within(&long, 1 << 30).warnings.pop().unwrap();
        assert!(
            warning.reason.contains("a field in line 3 is longer"),
            "{warning}"
        );
        let most = format!("a,b\n3,{}\n", "x".repeat(FIELD_MAX));
        assert!(read_within(&most, 1 << 30).warnings.is_empty());
    }
}
