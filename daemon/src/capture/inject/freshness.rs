//! Files that a sentence names, compared with what they are when it is said again.

use std::io::ErrorKind;
use std::path::Path;
use std::time::UNIX_EPOCH;

use lored_moments::{Freshness, cites};

use super::Writer;
use crate::clock::Micros;

/// Files of one sentence that are looked at.
const CITED_MAX: usize = 3;

/// The files that a sentence names, of those that its turn read or changed, and when the turn had ended.
#[derive(Clone, Debug, Default)]
pub(super) struct CitedFiles {
    paths: Vec<String>,
    as_of: Micros,
}

impl CitedFiles {
    /// Finds the named ones among the files of a turn, whose last event was at `as_of`.
    pub fn of<'f>(
        sentence: &str,
        files: impl IntoIterator<Item = &'f String>,
        as_of: Micros,
    ) -> Self {
        let named = files.into_iter().filter(|path| cites(sentence, path));
        Self {
            paths: named.take(CITED_MAX).cloned().collect(),
            as_of,
        }
    }

    /// Compares the files with the disk; `None` if the sentence names none, or if they cannot be read. A file that a turn
    /// read or changed was there, so that one that is missing is gone. Reads only what the system has of each file.
    pub fn freshness(&self, writer: &Writer<'_>) -> Option<Freshness> {
        if !writer.reaches_files {
            return None;
        }
        let found = self.paths.iter().map(|path| self.of_file(writer, path));
        found.flatten().max_by_key(|one| match one {
            Freshness::Fresh => 0,
            Freshness::Changed => 1,
            Freshness::Gone => 2,
        })
    }

    fn of_file(&self, writer: &Writer<'_>, path: &str) -> Option<Freshness> {
        let path = match (Path::new(path).is_absolute(), writer.folder) {
            (true, _) => Path::new(path).to_owned(),
            (false, Some(folder)) => Path::new(folder).join(path),
            (false, None) => return None,
        };
        let metadata = match path.metadata() {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound => return Some(Freshness::Gone),
            Err(_) => return None,
        };
        let written = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let is_later = written.as_micros() > u128::from(self.as_of);
        Some(match is_later {
            true => Freshness::Changed,
            false => Freshness::Fresh,
        })
    }
}
