//! Files that a sentence names, compared with what they are when it is said again.
//!
//! What is compared is text, not time: the lines that the sentence is about, as its turn wrote or read them. A file that was
//! touched, checked out again or changed elsewhere is as it was.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use lored_moments::{Freshness, cites};
use lored_redact::SecretCounts;
use lored_suspicion::{Origin, is_suspicious};
use rustix::fs::OFlags;

use super::Writer;
use super::cited_lines::{cited_lines, like};
use crate::capture::memory::CallEnd;

/// Files of one sentence that are looked at.
const CITED_MAX: usize = 3;
/// Bytes of a file that is compared; a larger one is not read.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Bytes of a line that is said instead of the one that was there.
const NOW_BYTES_MAX: usize = 100;

/// The files that a sentence names, of those that its turn read or changed.
#[derive(Clone, Debug, Default)]
pub(super) struct CitedFiles(Vec<CitedFile>);

#[derive(Clone, Debug)]
struct CitedFile {
    path: String,
    /// Lines that the sentence is about; empty if none is known.
    lines: Vec<String>,
}

impl CitedFiles {
    /// Finds the named ones among the files of a turn, whose calls are given in their order.
    pub fn of<'f>(
        sentence: &str,
        files: impl IntoIterator<Item = &'f String>,
        calls: &[&CallEnd],
    ) -> Self {
        let named = files.into_iter().filter(|path| cites(sentence, path));
        let cited = named.take(CITED_MAX).map(|path| {
            // The newest call that shows the lines: an earlier one may have been overwritten in the same turn.
            let mut newest = calls.iter().rev().filter(|call| !call.is_failure);
            CitedFile {
                lines: newest
                    .find_map(|call| cited_lines(sentence, path, call))
                    .unwrap_or_default(),
                path: path.clone(),
            }
        });
        Self(cited.collect())
    }

    /// Compares the files with the disk; `None` if the sentence names none, or if nothing is known of them. A file that a turn
    /// read or changed was there, so that one that is missing is gone.
    pub fn freshness(&self, writer: &Writer<'_>) -> Option<Freshness> {
        if !writer.reaches_files {
            return None;
        }
        let found = self.0.iter().map(|file| file.freshness(writer));
        found.flatten().max_by_key(|one| match one {
            Freshness::Fresh => 0,
            Freshness::Changed(_) => 1,
            Freshness::Gone => 2,
        })
    }
}

impl CitedFile {
    fn freshness(&self, writer: &Writer<'_>) -> Option<Freshness> {
        let path = match (Path::new(&self.path).is_absolute(), writer.folder) {
            (true, _) => Path::new(&self.path).to_owned(),
            (false, Some(folder)) => Path::new(folder).join(&self.path),
            (false, None) => return None,
        };
        let text = match read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Some(Freshness::Gone),
            Err(_) => return None,
        };
        let mut lines = self.lines.iter();
        let changed = match text {
            // Too large, or nothing is known of it.
            None => return None,
            Some(_) if self.lines.is_empty() => return None,
            Some(text) => lines
                .find(|line| !text.contains(line.as_str()))
                .map(|line| like(line, &text)),
        };
        Some(match changed {
            None => Freshness::Fresh,
            Some(now) => Freshness::Changed(now.filter(|now| may_be_said(writer, now))),
        })
    }
}

/// Whether a line of a file may stand in a context: it is short, has no secret and gives no orders.
fn may_be_said(writer: &Writer<'_>, line: &str) -> bool {
    let redacted = writer.redactor.text(line, &mut SecretCounts::default());
    line.len() <= NOW_BYTES_MAX && redacted == line && !is_suspicious(line, Origin::Tool)
}

/// Reads a file; `None` if it is too large, or no file. A pipe would block.
fn read(path: &Path) -> std::io::Result<Option<String>> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::options()
        .read(true)
        .custom_flags(flags.bits() as i32)
        .open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() > FILE_BYTES_MAX {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}
