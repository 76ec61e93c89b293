//! The manifest of a backup. It is written last; without it there is no backup.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Error;
use super::segment::Segment;
use crate::log::Hash;
use crate::store::{FORMAT_VERSION, StoreId};

/// The format version; this field never leaves the manifest.
pub const VERSION: u32 = 1;
/// The format identifier.
pub const FORMAT: &str = "lore-backup";
/// The file name of the manifest.
pub const NAME: &str = "manifest.json";
/// Maximum size of a manifest, in bytes.
const BYTES_MAX: u64 = 256 << 20;

/// The manifest of a backup: one store up to one position.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// `lore-backup`.
    pub format: String,
    /// The format version.
    pub version: u32,
    /// The store's ID, hexadecimal.
    pub store: String,
    /// The store format version of the program that made the backup.
    pub store_format: u32,
    /// The last position.
    pub position: u64,
    /// The chain link of the last event, hexadecimal.
    pub link: String,
    /// Time of the backup, RFC 3339.
    pub made_at: String,
    /// Version of the program that made the backup.
    pub lored: String,
    /// Segments of the log, in order.
    pub log: Vec<Segment>,
    /// Segments of objects; for an object with several rows, the last row is valid.
    pub objects: Vec<Segment>,
    /// Auxiliary files next to the log.
    pub beside: Vec<DataFileEntry>,
    /// Blobs, hexadecimal, that events name and that were deleted while the backup was made, because the events that
    /// name them were forgotten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
    /// Number of forget operations whose content is still in this backup.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub forgotten_since: u64,
    /// SHA-256 of this manifest with this field empty, hexadecimal.
    pub sha256: String,
}

/// An auxiliary file of the data folder that cannot be rebuilt from events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataFileEntry {
    /// File name in the data folder.
    pub name: String,
    /// Path in the backup.
    pub file: String,
    /// Length in bytes.
    pub bytes: u64,
    /// SHA-256 of its bytes, hexadecimal.
    pub sha256: String,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Manifest {
    /// Reads the manifest of a backup.
    ///
    /// # Errors
    /// [`Error::Refused`] when the manifest is missing or has a newer version; [`Error::Damaged`] when it was altered.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(NAME);
        let bytes = match std::fs::metadata(&path) {
            Ok(metadata) if metadata.len() > BYTES_MAX => {
                return Err(Error::damaged(&path, "it is too long for a manifest"));
            }
            Ok(_) => std::fs::read(&path).map_err(Error::file("reading", &path))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(Error::refused(none_there(folder)));
            }
            Err(error) => return Err(Error::file("reading", &path)(error)),
        };
        Self::parse(&bytes, &path)
    }

    /// Parses a manifest; `path` is its file, for errors.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Self, Error> {
        #[derive(Deserialize)]
        struct SuperblockCopy {
            format: String,
            version: u32,
        }
        let superblock: SuperblockCopy = serde_json::from_slice(bytes)
            .map_err(|error| Error::damaged(path, format!("it is not a manifest: {error}")))?;
        if superblock.format != FORMAT {
            return Err(Error::damaged(path, "it is the manifest of something else"));
        }
        if superblock.version > VERSION {
            return Err(Error::refused(format!(
                "{path:?} is of version {} of the format; this lored reads up to {VERSION}: use the \
                 release that made it, or a newer one",
                superblock.version
            )));
        }
        let mut manifest: Self = serde_json::from_slice(bytes)
            .map_err(|error| Error::damaged(path, format!("it cannot be read: {error}")))?;
        let said = std::mem::take(&mut manifest.sha256);
        if manifest.sum() != said {
            return Err(Error::damaged(path, "it does not match its own SHA-256"));
        }
        manifest.sha256 = said;
        if manifest.store_format > FORMAT_VERSION {
            return Err(Error::refused(format!(
                "{path:?} holds a store of format {}; this lored reads up to {FORMAT_VERSION}: use the release that \
                 made it ({}), or a newer one",
                manifest.store_format, manifest.lored
            )));
        }
        let files = manifest.log.iter().chain(&manifest.objects);
        let mut files = files
            .map(|segment| &segment.file)
            .chain(manifest.beside.iter().map(|beside| &beside.file));
        if let Some(file) = files.find(|file| !is_within(file)) {
            return Err(Error::damaged(path, format!("it names {file:?}")));
        }
        Ok(manifest)
    }

    /// Returns the bytes of the manifest file.
    #[must_use]
    pub fn text(mut self) -> String {
        self.sha256 = String::new();
        self.sha256 = self.sum();
        self.json()
    }

    /// Returns the ID of the backed-up store.
    pub fn store_id(&self, folder: &Path) -> Result<StoreId, Error> {
        StoreId::parse(&self.store)
            .ok_or_else(|| Error::damaged(&folder.join(NAME), "it names no store"))
    }

    /// Returns the chain link of the last event.
    pub fn last_link(&self, folder: &Path) -> Result<Hash, Error> {
        let link = self.link.parse();
        link.map_err(|what: String| Error::damaged(&folder.join(NAME), format!("`link`: {what}")))
    }

    fn sum(&self) -> String {
        Hash::of(self.json().as_bytes()).to_string()
    }

    fn json(&self) -> String {
        // Serialising a struct of strings and numbers cannot fail.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// Returns the message for a missing manifest.
fn none_there(folder: &Path) -> String {
    match folder.join(super::folder::PLATE).exists() {
        true => format!(
            "the backup in {folder:?} was never finished: it has no {NAME}; run `lored backup` for it once \
             more, with the store that it is of"
        ),
        false => format!("{folder:?} is not a backup: it has no {NAME}"),
    }
}

/// Returns whether a file name stays inside the backup folder.
fn is_within(file: &str) -> bool {
    let path = PathBuf::from(file);
    !file.is_empty()
        && path
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        Manifest {
            format: FORMAT.to_owned(),
            version: VERSION,
            store: "07".repeat(16),
            store_format: 1,
            position: 2,
            link: "ab".repeat(32),
            made_at: "2026-01-31T12:00:00.000000Z".to_owned(),
            lored: "0.1.0".to_owned(),
            log: vec![Segment {
                file: "log/1-2.log".to_owned(),
                first: Some(1),
                last: Some(2),
                bytes: 90,
                sha256: "cd".repeat(32),
            }],
            ..Manifest::default()
        }
    }

    /// A manifest survives a round trip; any flipped bit is detected or changes nothing.
    #[test]
    fn flips_are_told() {
        let path = Path::new("manifest.json");
        let text = manifest().text();
        let read = Manifest::parse(text.as_bytes(), path).unwrap();
        assert_eq!(read.clone().text(), text);
        for at in 0..text.len() {
            for bit in 0..8 {
                let mut bytes = text.clone().into_bytes();
                *bytes.get_mut(at).unwrap() ^= 1 << bit;
                if let Ok(flipped) = Manifest::parse(&bytes, path) {
                    assert_eq!(flipped, read, "byte {at}, bit {bit}");
                }
            }
        }
    }

    /// A newer version is refused by its number, whatever the other fields are; a path out of the folder is refused.
    #[test]
    fn newer_and_hostile_ones_are_refused() {
        let path = Path::new("manifest.json");
        let newer = r#"{"format": "lore-backup", "version": 2, "shards": []}"#;
        let refused = Manifest::parse(newer.as_bytes(), path).unwrap_err();
        assert!(refused.to_string().contains("version 2"), "{refused}");
        for file in ["../../etc/passwd", "/etc/passwd", ""] {
            let mut hostile = manifest();
            hostile.log.first_mut().unwrap().file = file.to_owned();
            assert!(
                Manifest::parse(hostile.text().as_bytes(), path).is_err(),
                "{file}"
            );
        }
    }
}
