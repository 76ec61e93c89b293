//! Tests with databases built byte by byte, and databases whose headers claim too much.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::path::PathBuf;

use super::wal::WalChecksum;
use super::*;

const PAGE: usize = 65_536;

fn varint_of(number: usize) -> Vec<u8> {
    let mut bytes = vec![(number & 0x7f) as u8];
    let mut rest = number >> 7;
    while rest > 0 {
        bytes.insert(0, (rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    bytes
}

/// Encodes a row of few values.
pub fn row(values: &[Value]) -> Vec<u8> {
    let (mut kinds, mut body) = (Vec::new(), Vec::new());
    for value in values {
        let (kind, bytes) = match value {
            Value::Null => (0, Vec::new()),
            Value::Integer(number) => (6, number.to_be_bytes().to_vec()),
            Value::Real(number) => (7, number.to_be_bytes().to_vec()),
            Value::Text(text) => (13 + 2 * text.len(), text.as_bytes().to_vec()),
            Value::Blob(bytes) => (12 + 2 * bytes.len(), bytes.clone()),
        };
        kinds.extend(varint_of(kind));
        body.extend(bytes);
    }
    let header = varint_of(kinds.len() + 1);
    assert_eq!(header.len(), 1, "few values");
    [header, kinds, body].concat()
}

/// Builds a database with these tables, each on a separate page; long rows use overflow pages.
pub fn database(tables: &[(&str, &str, Vec<Vec<u8>>)]) -> Vec<u8> {
    let text = |text: &str| Value::Text(text.to_owned());
    let schema = tables.iter().enumerate().map(|(n, (name, columns, _))| {
        let root = Value::Integer(n as i64 + 2);
        let sql = text(&format!("CREATE TABLE {name} ({columns})"));
        row(&[text("table"), text(name), text(name), root, sql])
    });
    let mut all = vec![schema.collect()];
    all.extend(tables.iter().map(|(_, _, rows)| rows.clone()));
    let mut pages = vec![vec![0; PAGE]; all.len()];
    for (n, rows) in all.iter().enumerate() {
        let header = if n == 0 { HEADER_BYTES } else { 0 };
        let mut at = PAGE;
        for (cell, payload) in rows.iter().enumerate() {
            let bytes = cell_of(payload, &mut pages);
            at -= bytes.len();
            pages[n][at..at + bytes.len()].copy_from_slice(&bytes);
            let pointer = header + 8 + 2 * cell;
            pages[n][pointer..pointer + 2].copy_from_slice(&(at as u16).to_be_bytes());
        }
        pages[n][header] = LEAF;
        let count = (rows.len() as u16).to_be_bytes();
        pages[n][header + 3..header + 5].copy_from_slice(&count);
    }
    let first = &mut pages[0];
    first[..MAGIC.len()].copy_from_slice(MAGIC);
    // Pages of 65536 bytes, UTF-8 text.
    first[17] = 1;
    first[59] = 1;
    pages.concat()
}

/// Builds a cell; its overflow goes to added pages.
fn cell_of(payload: &[u8], pages: &mut Vec<Vec<u8>>) -> Vec<u8> {
    let least = (PAGE - 12) * 32 / 255 - 23;
    let fitting = match payload.len() > PAGE - 35 {
        true => least + (payload.len() - least) % (PAGE - 4),
        false => payload.len(),
    };
    let local = if fitting > PAGE - 35 { least } else { fitting };
    let (here, behind) = payload.split_at(local);
    let mut bytes = [varint_of(payload.len()), vec![1], here.to_vec()].concat();
    if behind.is_empty() {
        return bytes;
    }
    bytes.extend((pages.len() as u32 + 1).to_be_bytes());
    let mut chunks = behind.chunks(PAGE - 4).peekable();
    while let Some(chunk) = chunks.next() {
        let next = match chunks.peek() {
            Some(_) => pages.len() as u32 + 2,
            None => 0,
        };
        let mut page = [&next.to_be_bytes()[..], chunk].concat();
        page.resize(PAGE, 0);
        pages.push(page);
    }
    bytes
}

/// Builds a write-ahead log of one transaction that rewrites page 1 unchanged, and claims this many pages.
fn log_of(database: &[u8], pages: u32) -> Vec<u8> {
    let mut sum = WalChecksum {
        is_big: true,
        sums: (0, 0),
    };
    let mut header: Vec<u8> = [0x377f_0683_u32, 3_007_000, PAGE as u32, 0, 7, 8]
        .iter()
        .flat_map(|word| word.to_be_bytes())
        .collect();
    sum.add(&header);
    header.extend(sum.pair().to_be_bytes());
    let mut frame: Vec<u8> = [1, pages]
        .iter()
        .flat_map(|word| word.to_be_bytes())
        .collect();
    let page = &database[..PAGE];
    sum.add(&frame);
    sum.add(page);
    frame.extend([7_u32, 8].iter().flat_map(|word| word.to_be_bytes()));
    frame.extend(sum.pair().to_be_bytes());
    [&header[..], &frame, page].concat()
}

struct TestHome {
    _folder: tempfile::TempDir,
    path: PathBuf,
    log: PathBuf,
}

fn home(bytes: &[u8]) -> TestHome {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.sqlite");
    std::fs::write(&path, bytes).unwrap();
    TestHome {
        log: folder.path().join("a.sqlite-wal"),
        path,
        _folder: folder,
    }
}

fn read(path: &Path) -> Read<Vec<Vec<Value>>> {
    let database = Database::open(path)?;
    let table = database.table("t")?.unwrap();
    let mut rows = Vec::new();
    database.scan(&table, &mut |_, row| {
        rows.push(row.to_vec());
        Ok(())
    })?;
    Ok(rows)
}

/// Built databases are read back, with and without a log.
#[test]
fn what_was_made_is_read() {
    let rows = [
        vec![Value::Integer(-7), Value::Text("ä".repeat(200_000))],
        vec![Value::Null, Value::Blob(vec![0, 255])],
    ];
    let made = database(&[("t", "a, b", rows.iter().map(|one| row(one)).collect())]);
    let home = home(&made);
    assert_eq!(read(&home.path).unwrap(), rows);
    let pages = (made.len() / PAGE) as u32;
    std::fs::write(&home.log, log_of(&made, pages)).unwrap();
    assert_eq!(read(&home.path).unwrap(), rows);
    let database = Database::open(&home.path).unwrap();
    assert_eq!(database.wal.unwrap().places.len(), 1, "the log counts");
}

/// A row that claims 190 MiB, on a page that overflows to itself, is refused once all pages were read, however many
/// pages the log claims. A row with more values than a table has columns is also refused.
#[test]
fn claims_are_no_measure() {
    let mut row = vec![0; 2 << 20];
    let header = varint_of(200_000_000);
    row[..header.len()].copy_from_slice(&header);
    let length = row.len();
    let mut made = database(&[("t", "a", vec![row.clone()])]);
    // Enlarged so that the local part on the first page keeps its length.
    let claimed = length + 3000 * (PAGE - 4);
    let (is, claims) = (varint_of(length), varint_of(claimed));
    let cell = (0..made.len()).find(|at| made[*at..].starts_with(&is));
    let cell = cell.unwrap();
    made[cell..cell + claims.len()].copy_from_slice(&claims);
    let last = made.len() - PAGE;
    let own = (made.len() / PAGE) as u32;
    made[last..last + 4].copy_from_slice(&own.to_be_bytes());
    let home_of_it = home(&made);
    assert!(read(&home_of_it.path).unwrap_err().contains("circle"));
    std::fs::write(&home_of_it.log, log_of(&made, u32::MAX)).unwrap();
    let open = Database::open(&home_of_it.path).unwrap();
    assert_eq!(open.pages, u32::MAX);
    assert!(read(&home_of_it.path).unwrap_err().contains("circle"));

    let header = varint_of(length);
    row[..header.len()].copy_from_slice(&header);
    let many = home(&database(&[("t", "a", vec![row])]));
    let reported = read(&many.path).unwrap_err();
    assert!(reported.contains("more than 32767 values"), "{reported}");
}

/// An unreadable log is reported and not ignored: without it, rows would be missing.
#[test]
fn a_log_that_cannot_be_read_is_told() {
    let made = database(&[("t", "a", vec![row(&[Value::Integer(1)])])]);
    let home = home(&made);
    assert_eq!(read(&home.path).unwrap().len(), 1);
    std::os::unix::fs::symlink(&home.log, &home.log).unwrap();
    let reported = read(&home.path).unwrap_err();
    assert!(
        reported.contains("write-ahead log cannot be read"),
        "{reported}"
    );
    std::fs::remove_file(&home.log).unwrap();
    std::fs::create_dir(&home.log).unwrap();
    let reported = read(&home.path).unwrap_err();
    assert!(
        reported.contains("write-ahead log cannot be read"),
        "{reported}"
    );
}
