//! Reads tables of a SQLite database file: format 3 with its write-ahead log, without locks, indexes or other
//! SQLite features (https://www.sqlite.org/fileformat2.html).
//!
//! The file may contain any bytes: each page is visited once, sizes are limited, and invalid data is refused with
//! an explanation.

#[cfg(test)]
pub(super) mod tests;
mod wal;

use std::collections::HashSet;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use self::wal::Wal;

/// Limit on a value and on a row, in bytes.
pub const ROW_BYTES_MAX: usize = 256 << 20;
/// Limit on a database, in bytes.
const FILE_BYTES_MAX: u64 = 64 << 30;
/// Limit on the values of a row: SQLite tables have no more columns.
const VALUES_MAX: usize = 32_767;
/// Limit on the depth of trees.
const DEPTH_MAX: usize = 40;
const MAGIC: &[u8] = b"SQLite format 3\0";
const HEADER_BYTES: usize = 100;
const LEAF: u8 = 13;
const INTERIOR: u8 = 5;
const UTF8: u32 = 1;

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// NULL.
    Null,
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// A text; invalid UTF-8 is replaced.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

impl Value {
    /// Returns a text, or a blob that is UTF-8, as text.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Blob(bytes) => String::from_utf8(bytes.clone()).ok(),
            Self::Integer(number) => Some(number.to_string()),
            Self::Real(_) | Self::Null => None,
        }
    }

    /// Returns a blob's or a text's bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Blob(bytes) => bytes,
            Self::Null | Self::Integer(_) | Self::Real(_) => &[],
        }
    }
}

/// Location of a row: page and cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellLocation {
    page: u32,
    cell: usize,
}

/// A table: its root page, and the names of its columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    root: u32,
    /// Column names, in row order.
    pub columns: Vec<String>,
}

impl Table {
    /// Returns the index of a column.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns
            .iter()
            .position(|column| column.eq_ignore_ascii_case(name))
    }
}

/// An open database.
pub struct Database {
    file: File,
    page_bytes: usize,
    usable: usize,
    /// Number of pages according to the header.
    pages: u32,
    /// Limit on the pages that can exist: the header's number does not bound work or memory.
    stored: u64,
    wal: Option<Wal>,
}

type Read<T> = Result<T, String>;

fn number(bytes: &[u8], at: usize, length: usize) -> Read<u64> {
    let bytes = at.checked_add(length).and_then(|end| bytes.get(at..end));
    let bytes = bytes.ok_or("a page ends too early")?;
    Ok(bytes
        .iter()
        .fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

impl Database {
    /// Opens the database in a file.
    ///
    /// # Errors
    /// When the file is not a readable database.
    pub fn open(path: &Path) -> Read<Self> {
        let file = File::open(path).map_err(|error| error.to_string())?;
        let bytes = file.metadata().map_err(|error| error.to_string())?.len();
        if bytes > FILE_BYTES_MAX {
            return Err(format!(
                "it has {bytes} bytes; at most {FILE_BYTES_MAX} are read"
            ));
        }
        let mut header = [0; HEADER_BYTES];
        file.read_exact_at(&mut header, 0)
            .map_err(|_| "it is shorter than the header of a database".to_owned())?;
        if header.get(..MAGIC.len()) != Some(MAGIC) {
            return Err("it is not a SQLite database".to_owned());
        }
        let page_bytes = match number(&header, 16, 2)? {
            1 => 65_536,
            bytes => bytes as usize,
        };
        let reserved = number(&header, 20, 1)? as usize;
        if !page_bytes.is_power_of_two() || page_bytes < 512 || page_bytes - reserved < 480 {
            return Err(format!(
                "its pages have {page_bytes} bytes, {reserved} of them reserved"
            ));
        }
        if ![0, u64::from(UTF8)].contains(&number(&header, 56, 4)?) {
            return Err("its texts are UTF-16; only UTF-8 is read".to_owned());
        }
        let wal = wal::read(path, page_bytes)?;
        let in_file = bytes / page_bytes as u64;
        let pages = u32::try_from(in_file).unwrap_or(u32::MAX);
        Ok(Self {
            file,
            page_bytes,
            usable: page_bytes - reserved,
            pages: wal.as_ref().map_or(pages, |wal| wal.pages),
            stored: in_file + wal.as_ref().map_or(0, |wal| wal.places.len() as u64),
            wal,
        })
    }

    fn page(&self, page: u32) -> Read<Vec<u8>> {
        if page == 0 || page > self.pages {
            return Err(format!("it names page {page}, and has {}", self.pages));
        }
        let mut bytes = vec![0; self.page_bytes];
        let in_wal = self
            .wal
            .as_ref()
            .and_then(|wal| Some((&wal.file, *wal.places.get(&page)?)));
        let (file, at) = match in_wal {
            Some(place) => place,
            None => (&self.file, u64::from(page - 1) * self.page_bytes as u64),
        };
        file.read_exact_at(&mut bytes, at)
            .map_err(|error| format!("page {page} cannot be read: {error}"))?;
        Ok(bytes)
    }

    /// Finds a table by name.
    ///
    /// # Errors
    /// When the schema is unreadable, or this kind of table is not supported.
    pub fn table(&self, name: &str) -> Read<Option<Table>> {
        let schema = Table {
            root: 1,
            columns: Vec::new(),
        };
        let mut found = None;
        self.scan(&schema, &mut |_, row| {
            let text = |at: usize| row.get(at).and_then(Value::text).unwrap_or_default();
            if text(0) == "table" && text(1) == name {
                let root = match row.get(3) {
                    Some(Value::Integer(root)) => u32::try_from(*root).unwrap_or(0),
                    _ => 0,
                };
                let columns = columns(&text(4))?;
                found = Some(Table { root, columns });
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Visits every row of a table with its location.
    ///
    /// # Errors
    /// When a page is unreadable, or `visit` returns an error.
    pub fn scan(
        &self,
        table: &Table,
        visit: &mut dyn FnMut(CellLocation, &[Value]) -> Read<()>,
    ) -> Read<()> {
        let mut seen = HashSet::new();
        // Rows share no bytes, so their total cannot exceed the file's size.
        let mut room = self.stored * self.page_bytes as u64;
        let mut open = vec![(table.root, 0)];
        while let Some((number_of, depth)) = open.pop() {
            if depth > DEPTH_MAX || !seen.insert(number_of) {
                return Err("its pages lead in a circle".to_owned());
            }
            let page = self.page(number_of)?;
            let header = header_at(number_of);
            let cells = number(&page, header + 3, 2)? as usize;
            match page.get(header) {
                Some(&INTERIOR) => {
                    let right = number(&page, header + 8, 4)? as u32;
                    open.push((right, depth + 1));
                    for cell in (0..cells).rev() {
                        let at = number(&page, header + 12 + 2 * cell, 2)? as usize;
                        open.push((number(&page, at, 4)? as u32, depth + 1));
                    }
                }
                Some(&LEAF) => {
                    for cell in 0..cells {
                        let (row, length) = self.cell(&page, number_of, cell)?;
                        room = room
                            .checked_sub(length as u64)
                            .ok_or("its rows have more bytes than it has")?;
                        let page = number_of;
                        visit(CellLocation { page, cell }, &row)?;
                    }
                }
                _ => return Err(format!("page {number_of} is none of a table")),
            }
        }
        Ok(())
    }

    /// Reads the row at a location from a scan.
    pub fn row(&self, place: CellLocation) -> Read<Vec<Value>> {
        let page = self.page(place.page)?;
        let (row, _) = self.cell(&page, place.page, place.cell)?;
        Ok(row)
    }

    /// Reads a row; returns its values and its size in bytes.
    fn cell(&self, page: &[u8], number_of: u32, cell: usize) -> Read<(Vec<Value>, usize)> {
        let at = number(page, header_at(number_of) + 8 + 2 * cell, 2)? as usize;
        let (length, at) = varint(page, at)?;
        let (_, at) = varint(page, at)?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > ROW_BYTES_MAX {
            return Err(format!(
                "a row has {length} bytes; at most {ROW_BYTES_MAX} are read"
            ));
        }
        Ok((record(&self.payload(page, at, length)?)?, length))
    }

    /// Returns the bytes of a row: those on its page, then those on overflow pages.
    fn payload(&self, page: &[u8], at: usize, length: usize) -> Read<Vec<u8>> {
        let most = self.usable - 35;
        let least = (self.usable - 12) * 32 / 255 - 23;
        let local = match length <= most {
            true => length,
            false => {
                let fitting = least + (length - least) % (self.usable - 4);
                if fitting <= most { fitting } else { least }
            }
        };
        let here = at.checked_add(local).and_then(|end| page.get(at..end));
        let mut payload = here.ok_or("a row leaves its page")?.to_vec();
        if length == local {
            return Ok(payload);
        }
        let mut next = number(page, at + local, 4)? as u32;
        let mut pages = 0;
        while payload.len() < length {
            pages += 1;
            if pages > self.stored {
                return Err("its pages lead in a circle".to_owned());
            }
            let page = self.page(next)?;
            let wanted = (length - payload.len()).min(self.usable - 4);
            payload.extend(page.get(4..4 + wanted).ok_or("a row leaves its page")?);
            next = number(&page, 0, 4)? as u32;
        }
        Ok(payload)
    }
}

/// Returns the offset of a page's header; the first page begins with the database header.
fn header_at(page: u32) -> usize {
    match page {
        1 => HEADER_BYTES,
        _ => 0,
    }
}

/// Reads a number of 1 to 9 bytes; returns it and the offset after it.
fn varint(bytes: &[u8], at: usize) -> Read<(u64, usize)> {
    let mut value: u64 = 0;
    for step in 0..9 {
        let byte = *bytes.get(at + step).ok_or("a number leaves its page")?;
        if step == 8 {
            return Ok((value << 8 | u64::from(byte), at + 9));
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Ok((value, at + step + 1));
        }
    }
    Err("a number has no end".to_owned())
}

/// Decodes the values of a row.
fn record(payload: &[u8]) -> Read<Vec<Value>> {
    let (header, mut at) = varint(payload, 0)?;
    let header = usize::try_from(header).unwrap_or(usize::MAX);
    let mut body = header;
    let mut values = Vec::new();
    while at < header {
        if values.len() == VALUES_MAX {
            return Err(format!("a row has more than {VALUES_MAX} values"));
        }
        let (kind, behind) = varint(payload, at)?;
        at = behind;
        let length = match kind {
            0 | 8 | 9 => 0,
            1..=4 => kind as usize,
            5 => 6,
            6 | 7 => 8,
            10 | 11 => return Err("a row has a value of no known kind".to_owned()),
            _ => usize::try_from((kind - 12) / 2).unwrap_or(usize::MAX),
        };
        let end = body.checked_add(length);
        let bytes = end.and_then(|end| payload.get(body..end));
        let bytes = bytes.ok_or("a value leaves its row")?;
        body += length;
        values.push(value(kind, bytes));
    }
    Ok(values)
}

fn value(kind: u64, bytes: &[u8]) -> Value {
    let whole = || {
        let start = match bytes.first() {
            Some(first) if first & 0x80 != 0 => -1,
            _ => 0,
        };
        bytes
            .iter()
            .fold(start, |number: i64, byte| number << 8 | i64::from(*byte))
    };
    match kind {
        0 => Value::Null,
        7 => Value::Real(f64::from_bits(whole() as u64)),
        8 => Value::Integer(0),
        9 => Value::Integer(1),
        1..=6 => Value::Integer(whole()),
        _ if kind.is_multiple_of(2) => Value::Blob(bytes.to_vec()),
        _ => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
    }
}

/// Parses the column names of a `CREATE TABLE` statement.
fn columns(sql: &str) -> Read<Vec<String>> {
    let open = sql.find('(').ok_or("a table has no columns")?;
    let close = sql.rfind(')').filter(|close| *close > open);
    let close = close.ok_or("a table has no columns")?;
    if sql
        .get(close..)
        .is_some_and(|end| end.to_ascii_uppercase().contains("WITHOUT"))
    {
        return Err("a table has no row ids; such tables are not read".to_owned());
    }
    let mut columns = Vec::new();
    let (mut depth, mut part) = (0_u32, String::new());
    let inner = sql.get(open + 1..close).unwrap_or_default();
    for character in inner.chars().chain([',']) {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                let name = part.split_whitespace().next().unwrap_or_default();
                let name = name.trim_matches(['"', '`', '[', ']']);
                let upper = name.to_ascii_uppercase();
                let is_column = !["PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "CONSTRAINT", ""]
                    .contains(&upper.as_str());
                columns.extend(is_column.then(|| name.to_owned()));
                part.clear();
                continue;
            }
            _ => {}
        }
        part.push(character);
    }
    Ok(columns)
}
