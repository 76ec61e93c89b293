//! Selects the files of a source for upload to a daemon that cannot read them. The rules, the reading and
//! the comparison by hash are the same as for local sources.

use std::collections::BTreeMap;
use std::io;

use super::path_set::PathSet;
use super::read::{Content, ReadFailure, read};
use super::scope::SourceScope;
use super::walk::{Step, WalkError};
use crate::clock::Clock;
use crate::log::Hash;

/// A finding about a source's files.
#[derive(Debug)]
pub enum UploadCandidate {
    /// A file that is new or changed: its path and content.
    File(String, Content),
    /// A file that cannot be read: its path and the reason.
    Failed(String, String),
    /// A known file that no longer exists or is excluded.
    Gone(String),
    /// An error of the walk.
    Trouble(WalkError),
}

/// Counts of a source's files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Number of files found.
    pub found: u64,
    /// Number of unchanged files.
    pub unchanged: u64,
}

/// Visits the files of a source one at a time. `known` maps the paths that the daemon has to their hashes,
/// or to `None` for stale documents. `bytes_max` limits the length of a file.
pub fn candidate(
    reach: &SourceScope,
    mut known: BTreeMap<String, Option<Hash>>,
    bytes_max: u64,
    clock: &Clock,
    tell: &mut dyn FnMut(UploadCandidate) -> io::Result<()>,
) -> io::Result<Count> {
    let mut count = Count::default();
    let mut unread = PathSet::default();
    for step in reach.walk(&PathSet::all()) {
        let found = match step {
            Step::File(found) => found,
            Step::Folder(_) => continue,
            Step::Trouble(trouble) => {
                if trouble.is_unread {
                    unread.add(trouble.path.clone());
                }
                tell(UploadCandidate::Trouble(trouble))?;
                continue;
            }
        };
        count.found += 1;
        let path = found.path;
        let reason = match read(reach.base(), &path, bytes_max, clock) {
            Ok(content) if known.remove(&path) == Some(Some(content.hash)) => {
                count.unchanged += 1;
                continue;
            }
            Ok(content) => {
                tell(UploadCandidate::File(path, content))?;
                continue;
            }
            // If the file is known, it is reported as gone at the end.
            Err(ReadFailure::Gone | ReadFailure::Skipped(_)) => continue,
            Err(ReadFailure::Unsettled) => "is written to all the time; try again later".to_owned(),
            Err(ReadFailure::Barred(reason) | ReadFailure::Failed(reason)) => reason,
        };
        known.remove(&path);
        tell(UploadCandidate::Failed(path, reason))?;
    }
    for path in known.into_keys().filter(|path| !unread.hold(path)) {
        tell(UploadCandidate::Gone(path))?;
    }
    Ok(count)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Formats the findings for a folder.
    fn offered(folder: &Path, known: &[(&str, Option<&[u8]>)]) -> (Vec<String>, Count) {
        let exclude = ["old/".to_owned()];
        let reach = SourceScope::new(folder, &[], &exclude, &[]).unwrap();
        let known = known.iter().map(|(path, bytes)| {
            let hash = bytes.map(Hash::of);
            ((*path).to_owned(), hash)
        });
        let mut reported = Vec::new();
        let count = candidate(
            &reach,
            known.collect(),
            20,
            &Clock::System,
            &mut |candidate| {
                reported.push(match candidate {
                    UploadCandidate::File(path, content) => {
                        assert_eq!(content.hash, Hash::of(&content.bytes));
                        format!("{path}={}", String::from_utf8_lossy(&content.bytes))
                    }
                    UploadCandidate::Failed(path, reason) => format!("{path}!{reason}"),
                    UploadCandidate::Gone(path) => format!("{path}-"),
                    UploadCandidate::Trouble(trouble) => format!("?{}", trouble.path),
                });
                Ok(())
            },
        );
        (reported, count.unwrap())
    }

    /// New and changed files are offered, and known files that are excluded are gone. The rules are those of a
    /// local source.
    #[test]
    fn what_is_not_known_is_offered() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("docs");
        for (path, says) in [
            ("a.md", "one"),
            ("sub/b.md", "two"),
            ("c.md", "three"),
            ("old/d.md", "four"),
            ("e.md", "five"),
            (".loreignore", "e.md\n"),
            ("long.md", "more than twenty bytes"),
            ("picture", "\x7fELF"),
        ] {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, says).unwrap();
        }
        std::os::unix::fs::symlink(folder.join("a.md"), folder.join("link.md")).unwrap();
        let long = "long.md!has 22 bytes; at most 20 are read, so split it";
        let (reported, count) = offered(&folder, &[]);
        assert_eq!(reported, ["a.md=one", "c.md=three", long, "sub/b.md=two"]);
        assert_eq!((count.found, count.unchanged), (5, 0));

        let known: &[(&str, Option<&[u8]>)] = &[
            ("a.md", Some(b"one")),
            ("c.md", None),
            ("e.md", Some(b"five")),
            ("long.md", Some(b"short")),
            ("picture", Some(b"text")),
            ("sub/b.md", Some(b"before")),
            ("sub/gone.md", Some(b"x")),
        ];
        let (reported, count) = offered(&folder, known);
        let gone = ["e.md-", "picture-", "sub/gone.md-"];
        let sent = ["c.md=three", long, "sub/b.md=two"];
        assert_eq!(reported, [&sent[..], &gone[..]].concat());
        assert_eq!((count.found, count.unchanged), (5, 1));
    }

    /// If a folder cannot be read, its files do not count as gone.
    #[test]
    fn what_cannot_be_seen_is_not_gone() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("a.md"), "one").unwrap();
        let reach = SourceScope::new(home.path(), &[], &[], &[]).unwrap();
        let path = reach.path();
        drop(home);
        let known = BTreeMap::from([("a.md".to_owned(), None)]);
        let mut gone = 0;
        let count = candidate(&reach, known, 20, &Clock::System, &mut |candidate| {
            gone += u64::from(matches!(candidate, UploadCandidate::Gone(_)));
            Ok(())
        });
        assert!(!path.exists());
        assert_eq!((count.unwrap(), gone), (Count::default(), 0));
    }
}
