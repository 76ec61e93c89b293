//! How far the transcripts of hosts were read: a file beside the log.
//!
//! A line of JSON for each part that was read and is recorded; the last line of a path counts. The first line names the store.
//! Whatever is wrong with the file, it is only read again: keys keep everything from being recorded twice.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use crate::locks::lock_unpoisoned;
use crate::log::{Hash, Position};
use crate::store::durable;

/// Bytes from the beginning of a file, and from before the place up to which it was read, by which it is known again.
const CHECKED_BYTES: u64 = 4 << 10;
/// Lines of the file beyond twice those that count, after which it is rewritten.
const LINES_MORE: usize = 1000;
/// Longest line that is read.
const LINE_BYTES_MAX: u64 = 64 << 10;

/// How far one file was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadUpTo {
    /// The host, by its name on the command line.
    pub host: String,
    /// Path of the file.
    pub path: PathBuf,
    /// Bytes that were read.
    pub bytes: u64,
    /// Records in them.
    pub records: u64,
    /// What the file is known by: see [`check_of`].
    pub check: String,
    /// The end of the log when all of it was recorded.
    pub position: u64,
}

/// The first line of the file.
#[derive(Debug, Serialize, Deserialize)]
struct Heading {
    store: String,
    /// When transcripts were first followed, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since_ms: Option<i64>,
}

/// How far files were read, of one store.
#[derive(Debug)]
pub struct TranscriptCursors {
    file: PathBuf,
    store: String,
    /// The end of the log at the start: what is beyond it was not kept.
    end: Position,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    is_loaded: bool,
    known: HashMap<PathBuf, ReadUpTo>,
    since_ms: Option<i64>,
    /// Lines of the file.
    lines: usize,
}

impl TranscriptCursors {
    /// Creates them; the file is read when it is needed.
    #[must_use]
    pub fn new(file: PathBuf, store: impl ToString, end: Position) -> Self {
        Self {
            file,
            store: store.to_string(),
            end,
            inner: Mutex::default(),
        }
    }

    /// Returns how far a file was read, if it was.
    ///
    /// Reads a file at the first call; do not call it on the event loop.
    #[must_use]
    pub fn get(&self, path: &Path) -> Option<ReadUpTo> {
        let mut inner = lock_unpoisoned(&self.inner);
        self.load(&mut inner);
        inner.known.get(path).cloned()
    }

    /// Keeps how far a file was read, once all of it is recorded.
    ///
    /// Writes a file; do not call it on the event loop.
    pub fn put(&self, read: ReadUpTo) {
        let mut inner = lock_unpoisoned(&self.inner);
        self.load(&mut inner);
        let line = serde_json::to_string(&read).unwrap_or_default();
        inner.known.insert(read.path.clone(), read);
        let kept = if inner.lines > 2 * inner.known.len() + LINES_MORE || inner.lines == 0 {
            self.write_all(&mut inner)
        } else {
            inner.lines += 1;
            append(&self.file, &line)
        };
        if let Err(error) = kept {
            tracing::warn!(%error, "how far transcripts were read is not kept; they are read again after a restart");
        }
    }

    /// Returns when transcripts were first followed: now, if they never were. In milliseconds since 1970.
    ///
    /// Reads and writes a file; do not call it on the event loop.
    #[must_use]
    pub fn since(&self, now_ms: i64) -> i64 {
        let mut inner = lock_unpoisoned(&self.inner);
        self.load(&mut inner);
        if let Some(since) = inner.since_ms {
            return since;
        }
        inner.since_ms = Some(now_ms);
        if let Err(error) = self.write_all(&mut inner) {
            tracing::warn!(%error, "when transcripts were first followed is not kept");
        }
        now_ms
    }

    fn load(&self, inner: &mut Inner) {
        if std::mem::replace(&mut inner.is_loaded, true) {
            return;
        }
        match self.read(inner) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                tracing::warn!(%error, "how far transcripts were read is not known; they are read again");
            }
        }
    }

    fn read(&self, inner: &mut Inner) -> io::Result<()> {
        let mut lines = BufReader::new(File::open(&self.file)?);
        let mut line = Vec::new();
        let mut next = |line: &mut Vec<u8>| {
            line.clear();
            (&mut lines).take(LINE_BYTES_MAX).read_until(b'\n', line)
        };
        next(&mut line)?;
        let heading: Option<Heading> = serde_json::from_slice(&line).ok();
        let Some(heading) = heading.filter(|heading| heading.store == self.store) else {
            return Ok(());
        };
        inner.since_ms = heading.since_ms;
        inner.lines = 1;
        while next(&mut line)? > 0 {
            inner.lines += 1;
            // The end of the log may be gone after a power cut, and an older copy may have been restored.
            if let Ok(read) = serde_json::from_slice::<ReadUpTo>(&line)
                && read.position <= self.end.0
            {
                inner.known.insert(read.path.clone(), read);
            }
        }
        Ok(())
    }

    fn write_all(&self, inner: &mut Inner) -> io::Result<()> {
        let store = self.store.clone();
        let since_ms = inner.since_ms;
        let mut text = serde_json::to_string(&Heading { store, since_ms })? + "\n";
        for read in inner.known.values() {
            text += &serde_json::to_string(read)?;
            text += "\n";
        }
        durable::replace(&self.file, &[text.as_bytes()])?;
        inner.lines = inner.known.len() + 1;
        Ok(())
    }
}

fn append(file: &Path, line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(file)?;
    file.write_all(format!("{line}\n").as_bytes())
}

/// Returns what a file is known by that was read up to a place: a hash of its beginning and of what is before the place. A
/// file that was cut and has grown again beyond the place has something else there.
///
/// # Errors
/// When the file cannot be read, or is shorter.
pub fn check_of(file: &mut File, up_to: u64) -> io::Result<String> {
    let mut bytes = vec![0; usize::try_from(up_to.min(CHECKED_BYTES)).unwrap_or_default()];
    file.seek(SeekFrom::Start(0))?;
    file.read_exact(&mut bytes)?;
    let mut before = vec![0; bytes.len()];
    file.seek(SeekFrom::Start(up_to - bytes.len() as u64))?;
    file.read_exact(&mut before)?;
    bytes.append(&mut before);
    Ok(short_hash(&bytes))
}

/// Returns the first half of a hash, in hexadecimal.
pub fn short_hash(bytes: &[u8]) -> String {
    let mut hash = Hash::of(bytes).to_string();
    hash.truncate(32);
    hash
}

/// Opens a file for reading, if it is one: never a link, a pipe or a device.
///
/// # Errors
/// When it cannot be opened, or is not a file.
pub fn open_file(path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("not a file")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(path: &str, bytes: u64, position: u64) -> ReadUpTo {
        ReadUpTo {
            host: "codex".to_owned(),
            path: PathBuf::from(path),
            bytes,
            position,
            ..ReadUpTo::default()
        }
    }

    #[test]
    fn the_last_line_of_a_path_counts_and_the_file_stays_small() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("transcripts");
        let open = |end| TranscriptCursors::new(file.clone(), "store-1", Position(end));
        let cursors = open(0);
        for round in 1..=3 * LINES_MORE as u64 {
            cursors.put(read("/a", round, round));
        }
        cursors.put(read("/b", 7, 9_999));
        assert_eq!(cursors.get(Path::new("/b")).unwrap().bytes, 7);
        let lines = fs::read_to_string(&file).unwrap().lines().count();
        assert!(lines < 2 * LINES_MORE, "{lines}");
        let again = open(9_999);
        assert_eq!(again.get(Path::new("/a")).unwrap().bytes, 3000);
        assert_eq!(again.get(Path::new("/b")).unwrap().bytes, 7);
    }

    /// What was read beyond the end of the log is read again, and so is everything in another store.
    #[test]
    fn cursors_ahead_of_the_log_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("transcripts");
        let cursors = TranscriptCursors::new(file.clone(), "store-1", Position(0));
        cursors.put(read("/a", 10, 5));
        cursors.put(read("/a", 20, 8));
        for (store, end, expected) in [
            ("store-1", 8, Some(20)),
            ("store-1", 7, Some(10)),
            ("store-1", 4, None),
            ("store-2", 8, None),
        ] {
            let cursors = TranscriptCursors::new(file.clone(), store, Position(end));
            let found = cursors.get(Path::new("/a")).map(|read| read.bytes);
            assert_eq!(found, expected, "{store} {end}");
        }
        fs::write(&file, b"{\"store\":\"store-1\"}\n{torn\n\xff\n").unwrap();
        let cursors = TranscriptCursors::new(file, "store-1", Position(9));
        assert_eq!(cursors.get(Path::new("/a")), None);
        cursors.put(read("/c", 1, 1));
        assert_eq!(cursors.get(Path::new("/c")).unwrap().bytes, 1);
    }

    #[test]
    fn a_file_that_was_cut_and_has_grown_again_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        fs::write(&path, "one\ntwo\nthree\n").unwrap();
        let check = check_of(&mut open_file(&path).unwrap(), 8).unwrap();
        fs::write(&path, "one\ntwo\nfour\nfive\n").unwrap();
        assert_eq!(check_of(&mut open_file(&path).unwrap(), 8).unwrap(), check);
        fs::write(&path, "one\nsix\nfour\nfive\n").unwrap();
        assert_ne!(check_of(&mut open_file(&path).unwrap(), 8).unwrap(), check);
        fs::write(&path, "one\n").unwrap();
        assert!(check_of(&mut open_file(&path).unwrap(), 8).is_err());
    }
}
