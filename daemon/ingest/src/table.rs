//! A table as read from HTML and office documents, and its Markdown form.

/// A table is layout instead of data if a cell has more lines than this, or more bytes than [`CELL_BYTES_MAX`].
const CELL_LINES_MAX: usize = 3;
const CELL_BYTES_MAX: usize = 600;

/// Rows of cells; the last row and its last cell are still open.
#[derive(Default)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
    row: Vec<String>,
    cell: String,
}

impl Table {
    /// Adds a line to the open cell.
    pub fn line(&mut self, text: &str) {
        if !self.cell.is_empty() && !text.is_empty() {
            self.cell.push('\n');
        }
        self.cell.push_str(text);
    }

    /// Ends the open cell, empty or not.
    pub fn end_cell(&mut self) {
        self.row.push(std::mem::take(&mut self.cell));
    }

    /// Ends the open row; empty rows are dropped.
    pub fn end_row(&mut self) {
        if !self.cell.is_empty() {
            self.end_cell();
        }
        let row = std::mem::take(&mut self.row);
        if row.iter().any(|cell| !cell.is_empty()) {
            self.rows.push(row);
        }
    }

    /// Returns whether the table is only layout: it has long cells, or fewer than 1.5 filled cells per row.
    pub fn is_layout(&self) -> bool {
        let rows = self.rows.iter().chain([&self.row]);
        let cells = rows.flatten().chain([&self.cell]);
        let filled: Vec<&String> = cells.filter(|cell| !cell.is_empty()).collect();
        let is_long =
            |cell: &&String| cell.len() > CELL_BYTES_MAX || cell.lines().count() > CELL_LINES_MAX;
        filled.iter().any(is_long) || filled.len() * 2 < self.rows.len() * 3
    }

    /// Returns the lines of all cells, row by row.
    pub fn into_lines(mut self) -> Vec<String> {
        self.end_row();
        let cells = self.rows.iter().flatten();
        cells
            .flat_map(|cell| cell.lines().map(str::to_owned))
            .collect()
    }

    /// Renders the table as Markdown with the first row as the header.
    pub fn into_markdown(mut self) -> String {
        self.end_row();
        let mut out = String::new();
        for (at, row) in self.rows.iter().enumerate() {
            push_row(&mut out, row.iter().map(String::as_str));
            if at == 0 {
                push_row(&mut out, row.iter().map(|_| "---"));
            }
        }
        out
    }
}

fn push_row<'c>(out: &mut String, cells: impl Iterator<Item = &'c str>) {
    out.push('|');
    for cell in cells {
        for word in cell.split_whitespace() {
            out.push(' ');
            out.push_str(word);
        }
        out.push_str(" |");
    }
    out.push('\n');
}
