//! Reads a session from the tree of JSON files in which opencode kept its sessions before it had a database: the file of
//! the session, `storage/session/PROJECT/SESSION.json`; of each message, `storage/message/SESSION/MESSAGE.json`; and of each
//! of its parts, `storage/part/MESSAGE/PART.json`. Ids grow with time.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use lored_hosts::Host;
use serde_json::Value;

use super::cursors::open_file;
use super::databases::{RECORD_BYTES_MAX, fields, is_complete, with_fields};

/// Messages of a session, and parts of a message, that are read.
const FILES_MAX: usize = 20_000;
/// Bytes of the records of a session, beyond which the rest is left out.
const SESSION_BYTES_MAX: usize = 64 << 20;

/// Whether a file is that of a session in such a tree.
#[must_use]
pub fn is_session(host: Host, path: &Path) -> bool {
    let names: Vec<_> = path.iter().rev().skip(2).take(2).collect();
    let is_json = path.extension().is_some_and(|ending| ending == "json");
    host == Host::OpenCode && is_json && names == ["session", "storage"]
}

/// Returns the messages of a session, as `opencode export` prints them, without answers that have not ended. `described` is
/// the text of the session's file.
///
/// # Errors
/// When a file cannot be read.
pub fn messages(path: &Path, described: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    let described: Value = serde_json::from_slice(described).unwrap_or_default();
    let of_session = |name: &str| described.get(name).and_then(Value::as_str);
    let session = path.file_stem().and_then(|stem| stem.to_str());
    let storage = path.ancestors().nth(3);
    let (Some(session), Some(storage)) = (session, storage) else {
        return Ok(Vec::new());
    };
    let mut left = SESSION_BYTES_MAX;
    let mut found = Vec::new();
    for file in files(&storage.join("message").join(session))? {
        let text = text_of(&file)?;
        let Some(id) = file.file_stem().and_then(|stem| stem.to_str()) else {
            continue;
        };
        let own = fields(&[
            ("id", Some(id)),
            ("sessionID", Some(session)),
            ("sessionParentID", of_session("parentID")),
            ("folder", of_session("directory")),
        ]);
        let Some(info) = with_fields(own, &text).filter(|_| is_complete(&text)) else {
            continue;
        };
        let mut record = [b"{\"info\":", &info[..], b",\"parts\":["].concat();
        let mut is_first = true;
        for part in files(&storage.join("part").join(id))? {
            let text = text_of(&part)?;
            let id = part.file_stem().and_then(|stem| stem.to_str());
            let Some(part) = with_fields(fields(&[("id", id)]), &text) else {
                continue;
            };
            if record.len() + part.len() > RECORD_BYTES_MAX {
                break;
            }
            if !std::mem::take(&mut is_first) {
                record.push(b',');
            }
            record.extend(part);
        }
        record.extend(b"]}");
        let Some(rest) = left.checked_sub(record.len()) else {
            break;
        };
        left = rest;
        found.push(record);
    }
    Ok(found)
}

/// Returns the JSON files of a folder in the order of their names; none if there is no such folder.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let is_json = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "json");
    let paths = entries.flatten().map(|entry| entry.path()).filter(is_json);
    let mut paths: Vec<PathBuf> = paths.take(FILES_MAX).collect();
    paths.sort();
    Ok(paths)
}

/// Returns the text of a file, which is never a link; a longer one than is kept is cut off, and therefore no object.
fn text_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let limit = u64::try_from(RECORD_BYTES_MAX).unwrap_or(u64::MAX);
    open_file(path)?.take(limit).read_to_end(&mut text)?;
    Ok(text)
}
