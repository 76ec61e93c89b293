//! Stores which version each file had when it was last written or read: the base of a manual edit.
//!
//! The file `projects.seen` next to the folder has one line `project file_type version hash` for each. It may lag
//! behind, but is never ahead. If it is lost, a manual edit counts as based on the newest version.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::log::Hash;
use crate::projects::disk::Name;
use crate::store::durable;

/// A version of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// Version number.
    pub number: u64,
    /// SHA-256 of the content.
    pub hash: Hash,
}

/// The last known version of each file on disk.
#[derive(Debug)]
pub struct LastSynced {
    path: PathBuf,
    of: BTreeMap<Name, Version>,
}

impl LastSynced {
    /// Reads the stored versions; invalid lines are skipped.
    #[must_use]
    pub fn open(path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).unwrap_or_default();
        Self {
            of: text.lines().filter_map(line).collect(),
            path,
        }
    }

    /// Returns the version that was last on disk; `None` if the file was absent.
    #[must_use]
    pub fn get(&self, name: &Name) -> Option<Version> {
        self.of.get(name).copied()
    }

    /// Records the version that is on disk now, and stores it.
    pub fn note(&mut self, name: &Name, version: Option<Version>) {
        let before = match version {
            Some(version) => self.of.insert(name.clone(), version),
            None => self.of.remove(name),
        };
        if before != version {
            self.write_down();
        }
    }

    /// Removes the versions of a project whose files are all gone.
    pub fn forget(&mut self, project: &str) {
        let count = self.of.len();
        self.of.retain(|name, _| name.project() != project);
        if self.of.len() != count {
            self.write_down();
        }
    }

    fn write_down(&self) {
        if let Err(error) = durable::replace(&self.path, &[self.text().as_bytes()]) {
            tracing::debug!(%error, "what is on disk was not written down");
        }
    }

    fn text(&self) -> String {
        let lines = self.of.iter().map(|(name, version)| {
            format!(
                "{} {} {} {}\n",
                name.project(),
                name.file_type(),
                version.number,
                version.hash
            )
        });
        lines.collect()
    }
}

fn line(line: &str) -> Option<(Name, Version)> {
    let mut words = line.split_ascii_whitespace();
    let name = Name::new(words.next()?, words.next()?).ok()?;
    let number = words.next()?.parse().ok()?;
    let hash = words.next().and_then(hash)?;
    Some((name, Version { number, hash }))
}

fn hash(digits: &str) -> Option<Hash> {
    let mut hash = [0; 32];
    if digits.len() != 2 * hash.len() {
        return None;
    }
    for (byte, at) in hash.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(digits.get(at..at + 2)?, 16).ok()?;
    }
    Some(Hash(hash))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Recorded versions survive a restart; damaged lines are skipped.
    #[test]
    fn versions_are_remembered() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("projects.seen");
        let [one, two] = ["bugs", "features"].map(|of| Name::new("shop-1", of).unwrap());
        let version = Version {
            number: 7,
            hash: Hash::of(b"x"),
        };
        let mut seen = LastSynced::open(path.clone());
        seen.note(&one, Some(version));
        seen.note(&two, Some(version));
        seen.note(&two, None);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("\u{e9} x\n{text}shop-1 features 1 zz\n")).unwrap();
        let seen = LastSynced::open(path);
        assert_eq!((seen.get(&one), seen.get(&two)), (Some(version), None));
        let mut seen = seen;
        seen.forget("shop");
        assert_eq!(seen.get(&one), Some(version));
        seen.forget("shop-1");
        assert_eq!(seen.get(&one), None);
    }
}
