//! Converts an Excel or OpenDocument workbook: each sheet is a section, each row a line of `column: value`, as
//! for CSV.
//!
//! The workbook is parsed by calamine, which inflates parts and allocates rows without these limits. The parts
//! are therefore checked against the limits first. calamine runs only where an out-of-memory failure ends just
//! a worker ([`Limits::is_isolated`]).
//!
//! [`Limits::is_isolated`]: crate::Limits::is_isolated

use std::io::Cursor;

use calamine::{Data, DataType, Ods, Reader, Xlsx};

use super::archive::Archive;
use crate::IngestError;
use crate::blocks::BlockKind;
use crate::builder::Draft;
use crate::csv::{Block, ROWS_PER_BLOCK};
use crate::kind::Kind;
use crate::limits::Budget;

/// Limit on the number of columns whose header names their values.
const COLUMNS_MAX: usize = 1 << 14;

pub(super) fn read<'b>(
    archive: &mut Archive<'_>,
    bytes: &[u8],
    kind: Kind,
    budget: &'b Budget<'b>,
) -> Result<Draft<'b>, IngestError> {
    if !budget.limits.is_isolated {
        return Err(IngestError::Fault {
            what: kind.name().into(),
            why: "workbooks are read in a worker process only, and none could be started"
                .to_owned(),
        });
    }
    archive.check()?;
    let mut draft = Draft::over(String::new(), budget);
    let broken = |error: &dyn std::fmt::Display| IngestError::Broken {
        what: kind.name().into(),
        why: error.to_string(),
    };
    let input = Cursor::new(bytes);
    if kind == Kind::Ods {
        let workbook = Ods::new(input).map_err(|error| broken(&error))?;
        sheets(workbook, &mut draft, budget)?;
    } else {
        let workbook = Xlsx::new(input).map_err(|error| broken(&error))?;
        sheets(workbook, &mut draft, budget)?;
    }
    Ok(draft)
}

fn sheets<'c, R: Reader<Cursor<&'c [u8]>>>(
    mut workbook: R,
    draft: &mut Draft<'_>,
    budget: &Budget<'_>,
) -> Result<(), IngestError>
where
    R::Error: std::fmt::Display,
{
    for name in workbook.sheet_names() {
        budget.check()?;
        if draft.is_full() {
            break;
        }
        match workbook.worksheet_range(&name) {
            Ok(range) => {
                draft.heading(1, &name);
                rows(&range, draft, budget)?;
            }
            Err(error) => draft.warn(None, format!("the sheet {name} is left out: {error}")),
        }
    }
    Ok(())
}

fn rows(
    range: &calamine::Range<Data>,
    draft: &mut Draft<'_>,
    budget: &Budget<'_>,
) -> Result<(), IngestError> {
    let mut rows = range
        .rows()
        .filter(|row| row.iter().any(|cell| !cell.is_empty()))
        .peekable();
    let columns = rows.next_if(|row| is_head(row)).map_or(Vec::new(), |row| {
        row.iter().map(text).collect::<Vec<String>>()
    });
    if !columns.is_empty() {
        draft.put(BlockKind::Rows, &columns.join(" | "));
    }
    let mut block = Block::default();
    for (at, row) in rows.enumerate() {
        block.room = draft.room();
        for cell in row {
            block.value(&columns, &text(cell));
        }
        block.end_row();
        if at % ROWS_PER_BLOCK == ROWS_PER_BLOCK - 1 {
            budget.check()?;
            draft.put(BlockKind::Rows, &std::mem::take(&mut block).text);
            if draft.is_full() {
                return Ok(());
            }
        }
    }
    draft.put(BlockKind::Rows, &block.text);
    Ok(())
}

/// Returns whether a row is a header: several different texts and nothing else.
fn is_head(row: &[Data]) -> bool {
    let mut names: Vec<&str> = row.iter().filter_map(Data::get_string).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    count == row.len()
        && names.len() == count
        && (2..=COLUMNS_MAX).contains(&count)
        && !names.contains(&"")
}

/// Returns a cell as text: dates and times as ISO 8601, errors as Excel shows them.
fn text(cell: &Data) -> String {
    match cell {
        Data::DateTime(moment) if moment.is_datetime() => iso(moment.as_f64()),
        Data::Empty => String::new(),
        cell => cell.to_string(),
    }
}

/// Formats an Excel day number as ISO 8601: the date, and the time unless it is midnight. Excel counts days
/// from 1899-12-30; times are rounded to whole seconds.
fn iso(days: f64) -> String {
    if !(0.0..2_958_466.0).contains(&days) {
        return days.to_string();
    }
    let seconds = (days * 86_400.0).round() as u64;
    let (day, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, date) = civil(day);
    let time = format!(
        "{:02}:{:02}:{:02}",
        second / 3600,
        second / 60 % 60,
        second % 60
    );
    match (day, second) {
        (0, _) => time,
        (_, 0) => format!("{year:04}-{month:02}-{date:02}"),
        _ => format!("{year:04}-{month:02}-{date:02}T{time}"),
    }
}

/// Returns the date of a day since 1899-12-30, by Howard Hinnant's algorithm `civil_from_days`
/// (chrono-compatible date algorithms).
fn civil(day: u64) -> (u64, u64, u64) {
    // 1899-12-30 is day 693 899 of the era that begins on 0000-03-01.
    let day = day + 693_899;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + u64::from(month <= 2), month, date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates() {
        for (days, wanted) in [
            (1.0, "1899-12-31"),
            (25_569.0, "1970-01-01"),
            (45_351.5, "2024-02-29T12:00:00"),
            (0.25, "06:00:00"),
            (-1.0, "-1"),
        ] {
            assert_eq!(iso(days), wanted);
        }
    }
}
