//! A table as it is read from HTML and office documents, and as Markdown.

/// A table is layout, not data, if one of its cells has more lines than this, or more bytes than the
/// next.
const CELL_LINES_MAX: usize = 3;
const CELL_BYTES_MAX: usize = 600;

/// Rows of cells, the last row and its last cell still growing.
#[derive(Default)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
    row: Vec<String>,
    cell: String,
}

impl Table {
    /// Adds a line to the cell that is open.
    pub fn line(&mut self, text: &str) {
        if !self.cell.is_empty() && !text.is_empty() {
            self.cell.push('\n');
        }
        self.cell.push_str(text);
    }

    /// Ends the cell that is open, empty or not.
    pub fn end_cell(&mut self) {
        self.row.push(std::mem::take(&mut self.cell));
    }

    /// Ends the row that is open, if it says anything.
    pub fn end_row(&mut self) {
        if !self.cell.is_empty() {
            self.end_cell();
        }
        let row = std::mem::take(&mut self.row);
        if row.iter().any(|cell| !cell.is_empty()) {
            self.rows.push(row);
        }
    }

    /// Whether it only puts things beside each other: long cells, or hardly two that say anything in
    /// a row.
    pub fn is_layout(&self) -> bool {
        let rows = self.rows.iter().chain([&self.row]);
        let cells = rows.flatten().chain([&self.cell]);
        let filled: Vec<&String> = cells.filter(|cell| !cell.is_empty()).collect();
        let is_long =
            |cell: &&String| cell.len() > CELL_BYTES_MAX || cell.lines().count() > CELL_LINES_MAX;
        filled.iter().any(is_long) || filled.len() * 2 < self.rows.len() * 3
    }

    /// The lines of all its cells, row by row.
    pub fn into_lines(mut self) -> Vec<String> {
        self.end_row();
        let cells = self.rows.iter().flatten();
        cells
            .flat_map(|cell| cell.lines().map(str::to_owned))
            .collect()
    }

    /// Rows between bars, with a rule below the first one.
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
