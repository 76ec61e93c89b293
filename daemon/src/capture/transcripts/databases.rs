//! Reads the databases in which some hosts keep transcripts: a part of them becomes records, as if they were lines.
//!
//! A database is opened read-only, and only while a part is read. Its file may contain any bytes: no code of its schema runs,
//! values have a limit, and a table that is another one is an error.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lored_hosts::transcript::Database;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};
use serde_json::{Map, Value, json};

use super::cursor_database;
use super::open_files::OpenTranscript;

/// Limit on a value, in bytes.
const VALUE_BYTES_MAX: i32 = 64 << 20;
/// Time that the host may hold a lock.
const BUSY: Duration = Duration::from_millis(200);
/// Changed messages of opencode that are listed at a time: its table has no index by time.
const LISTED_MAX: u32 = 20_000;
/// Rows of a part, and bytes of its records after which no further one is added.
const ROWS_MAX: u32 = 100;
const PART_BYTES: usize = 8 << 20;
/// Bytes of one record, beyond which the rest of a message is left out.
pub(super) const RECORD_BYTES_MAX: usize = 64 << 20;
/// Time after which an answer that never ended is taken as it is, in milliseconds.
pub(super) const ABANDONED_MS: i64 = 10 * 60_000;

/// The next records of a database.
#[derive(Debug, Default)]
pub struct Records {
    /// The records, as JSON.
    pub records: Vec<Vec<u8>>,
    /// Whether there are no more for now.
    pub is_at_end: bool,
}

/// Returns the path of the log beside a database, where its last changes are.
#[must_use]
pub fn log_of(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    PathBuf::from(log)
}

/// Reads the next records, and moves the place in `open`.
///
/// # Errors
/// When the file is not such a database, or cannot be read.
pub fn read_on(
    open: &mut OpenTranscript,
    kind: Database,
    path: &Path,
    now_ms: i64,
) -> io::Result<Records> {
    let connection = connect(path).map_err(explained)?;
    match kind {
        Database::OpenCode => opencode(&connection, open, now_ms),
        Database::Goose => goose(&connection, open),
        Database::Cursor => cursor_database::read_on(&connection, open, path, now_ms),
    }
    .map_err(explained)
}

/// Moves the place behind all that a database has, for who follows it from now on.
///
/// # Errors
/// When the file is not such a database, or cannot be read.
pub fn to_end(
    open: &mut OpenTranscript,
    kind: Database,
    path: &Path,
    now_ms: i64,
) -> io::Result<()> {
    let connection = connect(path).map_err(explained)?;
    let last = |sql: &str| {
        let last: Option<i64> = connection.query_row(sql, [], |row| row.get(0))?;
        Ok(last.unwrap_or_default())
    };
    let end = match kind {
        Database::OpenCode => Ok(now_ms),
        Database::Goose => last("SELECT max(id) FROM messages"),
        Database::Cursor => cursor_database::end(&connection).map(|(end, old)| {
            open.whole = old;
            end
        }),
    };
    open.bytes = u64::try_from(end.map_err(explained)?).unwrap_or_default();
    Ok(())
}

pub(super) fn has_table(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1";
    Ok(connection.query_row::<i64, _, _>(sql, [name], |row| row.get(0))? > 0)
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags)?;
    let connection = match defend(&connection) {
        Ok(()) => connection,
        // A database that no one has open needs a shared file to be made, which a reader must not do. It does not change, either.
        Err(_) if std::fs::metadata(log_of(path)).map_or(0, |log| log.len()) == 0 => {
            let path = path.to_string_lossy();
            let path = path
                .replace('%', "%25")
                .replace('?', "%3f")
                .replace('#', "%23");
            let still = format!("file:{path}?immutable=1");
            let flags = flags | OpenFlags::SQLITE_OPEN_URI;
            let connection = Connection::open_with_flags(still, flags)?;
            defend(&connection)?;
            connection
        }
        Err(error) => return Err(error),
    };
    Ok(connection)
}

fn defend(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.busy_timeout(BUSY)?;
    connection.execute_batch("PRAGMA cell_size_check = ON; BEGIN")?;
    // The first access to the file.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
}

fn explained(error: rusqlite::Error) -> io::Error {
    io::Error::other(format!("SQLite: {error}"))
}

/// Returns a column as bytes; empty if it is null or a number.
pub(super) fn bytes<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<&'r [u8]> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes,
        _ => &[],
    })
}

fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    Ok(String::from_utf8_lossy(bytes(row, column)?).into_owned())
}

/// Returns a JSON object with fields before its own; `None` if it is none.
pub(super) fn with_fields(fields: Map<String, Value>, object: &[u8]) -> Option<Vec<u8>> {
    let rest = object.trim_ascii_start().strip_prefix(b"{")?;
    let mut with = Value::from(fields).to_string().into_bytes();
    with.pop();
    if rest.trim_ascii_start().first() != Some(&b'}') {
        with.push(b',');
    }
    with.extend_from_slice(rest);
    Some(with)
}

pub(super) fn fields(fields: &[(&str, Option<&str>)]) -> Map<String, Value> {
    let given = fields.iter();
    let given = given.filter_map(|(name, value)| Some(((*name).to_owned(), json!((*value)?))));
    given.collect()
}

fn opencode(
    connection: &Connection,
    open: &mut OpenTranscript,
    now_ms: i64,
) -> rusqlite::Result<Records> {
    if open.listed.is_empty() {
        let sql = "SELECT time_updated, id FROM message WHERE (time_updated, id) > (?1, ?2) \
                   ORDER BY time_updated, id LIMIT ?3";
        let mut statement = connection.prepare(sql)?;
        let from = i64::try_from(open.bytes).unwrap_or(i64::MAX);
        let rows = statement.query_map((from, &open.whole, LISTED_MAX), |row| {
            Ok((row.get(0)?, text(row, 1)?))
        })?;
        open.listed = rows.collect::<Result<_, _>>()?;
    }
    let mut found = Records {
        // Behind what is listed there may be more.
        is_at_end: open.listed.is_empty(),
        ..Records::default()
    };
    let sql = "SELECT m.session_id, m.data, s.directory, s.parent_id FROM message m \
               LEFT JOIN session s ON s.id = m.session_id WHERE m.id = ?1";
    let mut message = connection.prepare(sql)?;
    let mut parts =
        connection.prepare("SELECT id, data FROM part WHERE message_id = ?1 ORDER BY id")?;
    let mut size = 0;
    for _ in 0..ROWS_MAX {
        if size >= PART_BYTES {
            break;
        }
        let Some((updated, id)) = open.listed.pop_front() else {
            break;
        };
        let record = message.query_row([&id], |row| {
            let (session, folder) = (text(row, 0)?, text(row, 2)?);
            let parent = text(row, 3)?;
            let data = bytes(row, 1)?;
            if !is_complete(data) && now_ms - updated < ABANDONED_MS {
                // It changes once more when it is, and is listed again.
                return Ok(None);
            }
            let own = fields(&[
                ("id", Some(&id)),
                ("sessionID", Some(&session)),
                (
                    "sessionParentID",
                    Some(&parent)
                        .filter(|parent| !parent.is_empty())
                        .map(String::as_str),
                ),
                (
                    "folder",
                    Some(&folder)
                        .filter(|folder| !folder.is_empty())
                        .map(String::as_str),
                ),
            ]);
            Ok(with_fields(own, data))
        });
        let info = match record {
            Ok(info) => info,
            // It was deleted meanwhile.
            Err(rusqlite::Error::QueryReturnedNoRows) => None,
            Err(error) => return Err(error),
        };
        if let Some(info) = info {
            let mut record = b"{\"info\":".to_vec();
            record.extend(info);
            record.extend(b",\"parts\":[");
            let mut rows = parts.query([&id])?;
            let mut is_first = true;
            while let Some(row) = rows.next()? {
                let part = text(row, 0)?;
                if record.len() + bytes(row, 1)?.len() > RECORD_BYTES_MAX {
                    break;
                }
                if let Some(part) = with_fields(fields(&[("id", Some(&part))]), bytes(row, 1)?) {
                    if !std::mem::take(&mut is_first) {
                        record.push(b',');
                    }
                    record.extend(part);
                }
            }
            record.extend(b"]}");
            size += record.len();
            found.records.push(record);
        }
        open.bytes = u64::try_from(updated).unwrap_or_default();
        open.whole = id;
    }
    Ok(found)
}

/// Whether a message of opencode has all of its parts: one of a user, or an answer that ended.
pub(super) fn is_complete(data: &[u8]) -> bool {
    let Ok(data) = serde_json::from_slice::<Value>(data) else {
        return true;
    };
    let is_answer = data.get("role").and_then(Value::as_str) == Some("assistant");
    let has_ended = ["/time/completed", "/error"];
    let has_ended = has_ended.iter().filter_map(|name| data.pointer(name));
    !is_answer || has_ended.into_iter().any(|value| !value.is_null())
}

fn goose(connection: &Connection, open: &mut OpenTranscript) -> rusqlite::Result<Records> {
    let sql = "SELECT m.id, m.message_id, m.session_id, m.role, m.content_json, m.created_timestamp, s.working_dir \
               FROM messages m LEFT JOIN sessions s ON s.id = m.session_id WHERE m.id > ?1 ORDER BY m.id LIMIT ?2";
    let mut statement = connection.prepare(sql)?;
    let from = i64::try_from(open.bytes).unwrap_or(i64::MAX);
    let mut rows = statement.query((from, ROWS_MAX))?;
    let mut found = Records::default();
    let (mut number, mut size) = (0, 0);
    while size < PART_BYTES
        && let Some(row) = rows.next()?
    {
        number += 1;
        open.bytes = u64::try_from(row.get::<_, i64>(0)?).unwrap_or_default();
        let (id, session) = (text(row, 1)?, text(row, 2)?);
        let (role, folder) = (text(row, 3)?, text(row, 6)?);
        let mut own = fields(&[
            (
                "id",
                Some(&id).filter(|id| !id.is_empty()).map(String::as_str),
            ),
            ("session", Some(&session)),
            ("cwd", Some(&folder)),
            ("role", Some(&role)),
        ]);
        own.insert("created".to_owned(), json!(row.get::<_, Option<i64>>(5)?));
        let mut record = Value::from(own).to_string().into_bytes();
        record.pop();
        record.extend(b",\"content\":");
        record.extend_from_slice(bytes(row, 4)?);
        record.push(b'}');
        size += record.len();
        found.records.push(record);
    }
    found.is_at_end = number < ROWS_MAX && size < PART_BYTES;
    Ok(found)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn objects_get_fields_before_their_own() {
        let own = || fields(&[("id", Some("m")), ("none", None)]);
        let with = |object: &str| {
            let found = with_fields(own(), object.as_bytes());
            found.map(|found| String::from_utf8(found).unwrap())
        };
        assert_eq!(with(" {\"a\":1}").unwrap(), r#"{"id":"m","a":1}"#);
        assert_eq!(with("{ }").unwrap(), r#"{"id":"m" }"#);
        assert_eq!(with("[1]"), None);
        assert_eq!(with(""), None);
    }

    #[test]
    fn what_is_no_database_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("opencode.db");
        for bytes in [&b""[..], b"SQLite format 3\0", &[7; 4096]] {
            std::fs::write(&path, bytes).unwrap();
            let file = super::super::FoundFile::at(lored_hosts::Host::OpenCode, &path).unwrap();
            let mut open = OpenTranscript::new(&file, 0);
            let read = read_on(&mut open, Database::OpenCode, &path, 0);
            let message = read.unwrap_err().to_string();
            assert!(message.starts_with("SQLite: "), "{message}");
        }
    }
}
