//! Which version each file had when it was written or read last: what an edit by hand was made from.
//!
//! A file beside the folder, `projects.seen`: one line `project file_type version hash` each. It may be
//! behind, never ahead; a lost one makes an edit by hand follow the newest version.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::log::Hash;
use crate::projects::disk::Name;
use crate::store::durable;

/// A version of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// Its number.
    pub number: u64,
    /// The hash of its content.
    pub hash: Hash,
}

/// What was seen on disk last.
#[derive(Debug)]
pub struct LastSynced {
    path: PathBuf,
    of: BTreeMap<Name, Version>,
}

impl LastSynced {
    /// Reads what was written down; lines that are none are left out.
    #[must_use]
    pub fn open(path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).unwrap_or_default();
        Self {
            of: text.lines().filter_map(line).collect(),
            path,
        }
    }

    /// The version that was on disk last; `None` when the file was not there.
    #[must_use]
    pub fn get(&self, name: &Name) -> Option<Version> {
        self.of.get(name).copied()
    }

    /// Notes what is on disk now, and writes it down.
    pub fn note(&mut self, name: &Name, version: Option<Version>) {
        let before = match version {
            Some(version) => self.of.insert(name.clone(), version),
            None => self.of.remove(name),
        };
        if before != version {
            self.write_down();
        }
    }

    /// Nothing of a project is on disk any more.
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

    /// What was noted is there after a restart; what is damaged is left out.
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
