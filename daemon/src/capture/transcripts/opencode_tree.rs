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

/// Whether a file is that of a session in such a tree.
#[must_use]
pub fn is_session(host: Host, path: &Path) -> bool {
    let names: Vec<_> = path.iter().rev().skip(2).take(2).collect();
    let is_json = path.extension().is_some_and(|ending| ending == "json");
    host == Host::OpenCode && is_json && names == ["session", "storage"]
}

/// Returns the names of a session's messages in order.
///
/// # Errors
/// When the folder cannot be read.
pub fn message_names(path: &Path) -> io::Result<Vec<String>> {
    let Some((storage, session)) = place_of(path) else {
        return Ok(Vec::new());
    };
    let files = files(&storage.join("message").join(session))?;
    let names = files.iter().filter_map(|file| file.file_stem()?.to_str());
    Ok(names.map(str::to_owned).collect())
}

/// Returns a message of a session as `opencode export` prints it; `None` for an answer that has not ended. `described` is the
/// session's file.
///
/// # Errors
/// When a file cannot be read.
pub fn message(path: &Path, described: &Value, name: &str) -> io::Result<Option<Vec<u8>>> {
    let of_session = |name: &str| described.get(name).and_then(Value::as_str);
    let Some((storage, session)) = place_of(path) else {
        return Ok(None);
    };
    let text = text_of(
        &storage
            .join("message")
            .join(session)
            .join(name)
            .with_extension("json"),
    )?;
    let own = fields(&[
        ("id", Some(name)),
        ("sessionID", Some(session)),
        ("sessionParentID", of_session("parentID")),
        ("folder", of_session("directory")),
    ]);
    let Some(info) = with_fields(own, &text).filter(|_| is_complete(&text)) else {
        return Ok(None);
    };
    let mut record = [b"{\"info\":", &info[..], b",\"parts\":["].concat();
    let mut is_first = true;
    for part in files(&storage.join("part").join(name))? {
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
    Ok(Some(record))
}

/// Returns the folder `storage` above the file of a session, and the id of the session.
fn place_of(path: &Path) -> Option<(&Path, &str)> {
    Some((path.ancestors().nth(3)?, path.file_stem()?.to_str()?))
}

/// Returns the JSON files of a folder in the order of their names. A folder that does not exist has none.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let listed = match fs::symlink_metadata(folder) {
        Ok(metadata) if metadata.is_symlink() => {
            let reason = "a symbolic link, which is not followed";
            return Err(named(folder, &io::Error::other(reason)));
        }
        Ok(_) => fs::read_dir(folder),
        Err(error) => Err(error),
    };
    let entries = match listed {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(named(folder, &error)),
    };
    let is_json = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "json");
    let paths = entries.flatten().map(|entry| entry.path()).filter(is_json);
    let mut paths: Vec<PathBuf> = paths.take(FILES_MAX).collect();
    paths.sort();
    Ok(paths)
}

/// Returns the text of a file. A link is not followed. A text that is too long is cut off, so it is not valid JSON, and the
/// caller leaves it out.
fn text_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let limit = u64::try_from(RECORD_BYTES_MAX).unwrap_or(u64::MAX);
    let opened = open_file(path).map_err(|error| named(path, &error))?;
    opened.take(limit).read_to_end(&mut text)?;
    Ok(text)
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
