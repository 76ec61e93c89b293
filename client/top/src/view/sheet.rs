//! A table that fits its area: the least important columns are dropped first.

use ratatui::buffer::Buffer;
use ratatui::layout::{Alignment, Constraint, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Row, Table, Widget};

use super::labels::{ColourMode, Tone, fit, harmless, width};

/// A column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Heading.
    pub name: &'static str,
    /// Minimum width, in terminal columns.
    pub min: u16,
    /// Maximum useful width, in terminal columns.
    pub max: u16,
    /// Drop and growth priority: 0 is dropped last and grows first.
    pub rank: u8,
    /// Whether the column is right-aligned, for numbers.
    pub is_right: bool,
}

impl Column {
    /// Creates a text column.
    pub const fn text(name: &'static str, min: u16, max: u16, rank: u8) -> Self {
        Self {
            name,
            min,
            max,
            rank,
            is_right: false,
        }
    }

    /// Creates a number column.
    pub const fn number(name: &'static str, width: u16, rank: u8) -> Self {
        Self {
            name,
            min: width,
            max: width,
            rank,
            is_right: true,
        }
    }
}

/// Text and style of a cell.
pub type CellText = (String, Tone);

/// Draws a heading and as many rows as fit; `rows` are already scrolled.
pub fn draw(
    area: Rect,
    buffer: &mut Buffer,
    paint: ColourMode,
    columns: &[Column],
    rows: &[Vec<CellText>],
) {
    let selected = widths(columns, &needed(columns, rows), area.width);
    let line = |text: &str, tone: Tone, at: usize, width: u16| {
        let is_right = columns.get(at).is_some_and(|column| column.is_right);
        let span = Span::styled(fit(text, width.into()), paint.style(tone));
        Line::from(span).alignment(match is_right {
            true => Alignment::Right,
            false => Alignment::Left,
        })
    };
    let heading = selected.iter().map(|(at, width)| {
        let name = columns.get(*at).map_or("", |column| column.name);
        Cell::new(line(name, Tone::Faint, *at, *width))
    });
    let rows = rows.iter().map(|row| {
        Row::new(selected.iter().map(|(at, width)| {
            let empty = (String::new(), Tone::Plain);
            let (text, tone) = row.get(*at).unwrap_or(&empty);
            Cell::new(line(text, *tone, *at, *width))
        }))
    });
    let constraints = selected.iter().map(|(_, width)| Constraint::Length(*width));
    Table::new(rows, constraints)
        .header(Row::new(heading))
        .column_spacing(1)
        .render(area, buffer);
}

/// Returns the preferred width of each column: its widest cell, within its bounds.
fn needed(columns: &[Column], rows: &[Vec<CellText>]) -> Vec<u16> {
    let widest = |at: usize| {
        let texts = rows.iter().filter_map(|row| row.get(at));
        let widths = texts.map(|(text, _)| width(&harmless(text)));
        u16::try_from(widths.max().unwrap_or(0)).unwrap_or(u16::MAX)
    };
    let columns = columns.iter().enumerate();
    columns
        .map(|(at, column)| widest(at).clamp(column.min, column.max))
        .collect()
}

/// Returns the columns that fit, and their widths.
fn widths(columns: &[Column], needed: &[u16], room: u16) -> Vec<(usize, u16)> {
    let mut by_rank: Vec<(usize, &Column)> = columns.iter().enumerate().collect();
    by_rank.sort_by_key(|(_, column)| column.rank);
    let (mut left, mut selected) = (room, Vec::new());
    for (at, column) in by_rank {
        let (gap, width) = match selected.is_empty() {
            true => (0, column.min.min(room)),
            false => (1, column.min),
        };
        let Some(rest) = left.checked_sub(width.saturating_add(gap)) else {
            break;
        };
        left = rest;
        selected.push((at, width));
    }
    // The remaining width goes first to columns that need it, then to columns that can use it.
    for (at, width) in &mut selected {
        let wanted = needed.get(*at).copied().unwrap_or(0);
        let more = wanted.saturating_sub(*width).min(left);
        *width += more;
        left -= more;
    }
    for (at, width) in &mut selected {
        let max = columns.get(*at).map_or(0, |column| column.max);
        let more = max.saturating_sub(*width).min(left);
        *width += more;
        left -= more;
    }
    selected.sort_by_key(|(at, _)| *at);
    selected
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 3] = [
        Column::number("N", 5, 1),
        Column::text("NAME", 8, 20, 0),
        Column::text("MORE", 10, 60, 2),
    ];

    #[test]
    fn what_matters_least_goes_first() {
        let widths = |room| widths(&COLUMNS, &[5, 8, 10], room);
        assert_eq!(widths(5), [(1, 5)]);
        assert_eq!(widths(13), [(1, 13)]);
        assert_eq!(widths(14), [(0, 5), (1, 8)]);
        assert_eq!(widths(24), [(0, 5), (1, 18)]);
        assert_eq!(widths(25), [(0, 5), (1, 8), (2, 10)]);
        assert_eq!(widths(200), [(0, 5), (1, 20), (2, 60)]);
        assert_eq!(widths(0), [(1, 0)]);
    }

    #[test]
    fn what_needs_room_gets_it_first() {
        let rows = [vec![
            ("1".to_owned(), Tone::Plain),
            ("a name".to_owned(), Tone::Plain),
            ("x".repeat(30), Tone::Plain),
        ]];
        let needed = needed(&COLUMNS, &rows);
        assert_eq!(needed, [5, 8, 30]);
        assert_eq!(widths(&COLUMNS, &needed, 40), [(0, 5), (1, 8), (2, 25)]);
        assert_eq!(widths(&COLUMNS, &needed, 50), [(0, 5), (1, 13), (2, 30)]);
    }
}
