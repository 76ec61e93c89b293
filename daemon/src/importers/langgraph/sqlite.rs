//! Reads tables of a SQLite database with SQLite itself: read-only, in one transaction, with its locks and its
//! write-ahead log, so a program may write to the database meanwhile.
//!
//! The file may contain any bytes. Its schema runs no code of its own, values have a limit, and no table yields more
//! rows than the file has room for.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension};

/// Limit on a value and on a row, in bytes.
const ROW_BYTES_MAX: i32 = 256 << 20;
/// Bytes that a row takes at least in a database file: its pointer, size and id.
const ROW_BYTES_MIN: u64 = 4;

/// A value of a row.
pub type Value = rusqlite::types::Value;

type Read<T> = Result<T, String>;

/// A table and the names of its columns.
#[derive(Debug)]
pub struct Table {
    name: &'static str,
    columns: Vec<String>,
}

impl Table {
    /// Returns whether the table has a column.
    #[must_use]
    pub fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|name| name == column)
    }

    fn select(&self, columns: &[&str]) -> String {
        let columns = columns.iter().map(|column| match self.has(column) {
            true => format!(", \"{column}\""),
            false => ", NULL".to_owned(),
        });
        let columns: String = columns.collect();
        format!("SELECT rowid{columns} FROM \"{}\"", self.name)
    }
}

/// An open database.
pub struct Database {
    connection: Connection,
    /// Upper bound on the rows of a table. A damaged file can lead to the same page again and again.
    rows_max: u64,
}

impl Database {
    /// Opens the database in a file and begins the transaction that all reads share.
    pub fn open(path: &Path) -> Read<Self> {
        let bytes = std::fs::metadata(path)
            .map_err(|error| error.to_string())?
            .len();
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let log = std::fs::metadata(log);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(explained)?;
        let defend = |connection: &Connection| {
            connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, ROW_BYTES_MAX)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
            connection.execute_batch("PRAGMA cell_size_check = ON; BEGIN")
        };
        defend(&connection).map_err(explained)?;
        let bytes = bytes + log.map_or(0, |log| log.len());
        Ok(Self {
            connection,
            rows_max: bytes / ROW_BYTES_MIN,
        })
    }

    /// Finds a table by name. Views and virtual tables do not count: they can run code.
    pub fn table(&self, name: &'static str) -> Read<Option<Table>> {
        let read = || {
            let sql = "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1";
            let sql = self
                .connection
                .query_one(sql, [name], |row| row.get::<_, String>(0));
            let Some(sql) = sql.optional()? else {
                return Ok(None);
            };
            if !sql
                .get(..13)
                .is_some_and(|start| start.eq_ignore_ascii_case("CREATE TABLE "))
            {
                return Ok(None);
            }
            let mut columns = self
                .connection
                .prepare("SELECT name FROM pragma_table_info(?1)")?;
            let columns = columns
                .query_map([name], |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            Ok(Some(Table { name, columns }))
        };
        read().map_err(explained)
    }

    /// Visits some columns of every row of a table, in the order of row ids. A missing column is NULL.
    pub fn scan(
        &self,
        table: &Table,
        columns: &[&str],
        visit: &mut dyn FnMut(i64, &[Value]),
    ) -> Read<()> {
        let sql = format!("{} ORDER BY rowid", table.select(columns));
        let mut statement = self.connection.prepare(&sql).map_err(explained)?;
        let mut rows = statement.query([]).map_err(explained)?;
        let mut values = Vec::new();
        let mut count = 0;
        while let Some(row) = rows.next().map_err(explained)? {
            count += 1;
            if count > self.rows_max {
                return Err(
                    "the database is damaged: a table has more rows than fit into the file"
                        .to_owned(),
                );
            }
            let id = row.get(0).map_err(explained)?;
            read_into(&mut values, row, columns.len()).map_err(explained)?;
            visit(id, &values);
        }
        Ok(())
    }

    /// Reads some columns of the row with an id. A missing column is NULL.
    pub fn row(&self, table: &Table, columns: &[&str], id: i64) -> Read<Vec<Value>> {
        let sql = format!("{} WHERE rowid = ?1", table.select(columns));
        let mut statement = self.connection.prepare(&sql).map_err(explained)?;
        let read = statement.query_one([id], |row| {
            let mut values = Vec::new();
            read_into(&mut values, row, columns.len())?;
            Ok(values)
        });
        read.map_err(explained)
    }
}

fn read_into(
    values: &mut Vec<Value>,
    row: &rusqlite::Row<'_>,
    columns: usize,
) -> rusqlite::Result<()> {
    values.clear();
    for column in 1..=columns {
        values.push(match row.get_ref(column)? {
            // Bytes that are not UTF-8 are replaced, not refused.
            ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
            value => value.try_into().unwrap_or(Value::Null),
        });
    }
    Ok(())
}

#[allow(clippy::needless_pass_by_value)]
fn explained(error: rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => "it is not a SQLite database".to_owned(),
        Some(ErrorCode::DatabaseCorrupt) => format!("the database is damaged: {error}"),
        Some(ErrorCode::DatabaseBusy) => {
            "another program has locked the database; end it or try again".to_owned()
        }
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly) => format!(
            "{error}: the folder must be writable while the database has a journal or a write-ahead log"
        ),
        _ => error.to_string(),
    }
}
