//! Proving a backup: every file against its hash, every event against the chain, every blob against its name.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use super::Error;
use super::folder::blob_file;
use super::manifest::{Manifest, NAME};
use super::page::blob_of_row;
use super::segment::{self, Content};
use crate::events::blobs_of;
use crate::log::{Hash, LoggedEvent, Position};
use crate::store::BlobRef;

/// What a walk calls for each part of the log: its bytes, and its events.
pub type LogVisitor<'v> = &'v mut dyn FnMut(&[u8], &[LoggedEvent]) -> Result<(), Error>;

/// What is called for each row of an object: its number, the object, the row.
pub type ObjectRowVisitor<'v> = &'v mut dyn FnMut(u64, Hash, &[u8]) -> Result<(), Error>;

/// What a whole backup holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackupContents {
    /// Events.
    pub events: u64,
    /// Of these, forgotten on purpose.
    pub forgotten: u64,
    /// Objects.
    pub objects: u64,
    /// Blobs that events and objects name.
    pub blobs: u64,
}

/// Proves the backup in a folder. `progress` is told each position.
///
/// # Errors
/// [`Error::Damaged`] with the file and what is wrong with it, the first that is found.
pub fn check(
    folder: &Path,
    manifest: &Manifest,
    progress: &mut dyn FnMut(Position),
) -> Result<BackupContents, Error> {
    let mut held = BackupContents::default();
    let mut blobs = BTreeSet::new();
    walk(folder, manifest, &mut |_, events| {
        for event in events {
            held.events += 1;
            held.forgotten += u64::from(event.payload.is_none());
            let named = blobs_of(event).map_err(|error| describe(folder, &error))?;
            blobs.extend(named.iter().map(|blob| (blob.hash, blob.bytes)));
            progress(event.position());
        }
        Ok(())
    })?;
    held.objects = blobs_of_objects(folder, manifest, &mut |blob| {
        blobs.insert((blob.hash, blob.bytes));
    })?;
    held.blobs = blobs.len() as u64;
    for (hash, bytes) in blobs {
        blob(folder, manifest, &BlobRef { hash, bytes })?;
    }
    for beside in &manifest.beside {
        read_beside(folder, &beside.name, manifest)?;
    }
    Ok(held)
}

fn describe(folder: &Path, error: &crate::store::Error) -> Error {
    Error::damaged(&folder.join(Content::Log.folder()), error.to_string())
}

/// Walks the whole log of a backup, part by part, and proves it up to the manifest's link.
///
/// # Errors
/// [`Error::Damaged`], or what `visit` returned.
pub fn walk(folder: &Path, manifest: &Manifest, visit: LogVisitor<'_>) -> Result<(), Error> {
    let (mut link, mut at) = (Hash::default(), Position(0));
    for of in &manifest.log {
        let path = folder.join(&of.file);
        if of.first != Some(at.0 + 1) {
            let what = format!("the segments have a gap behind position {at}");
            return Err(Error::damaged(&folder.join(NAME), what));
        }
        segment::read(folder, of, Content::Log, &mut |part| {
            let events = segment::events(part, &mut link, &mut at);
            visit(part, &events.map_err(|what| Error::damaged(&path, what))?)
        })?;
        if of.last != Some(at.0) {
            let what = format!("it ends at position {at}, not where the manifest says");
            return Err(Error::damaged(&path, what));
        }
    }
    if at.0 != manifest.position || link.to_string() != manifest.link {
        let what = format!(
            "its log does not end with the event at {}",
            manifest.position
        );
        return Err(Error::damaged(&folder.join(NAME), what));
    }
    Ok(())
}

/// The number of the newest row of each object of a backup, as [`rows`] counts them.
///
/// # Errors
/// [`Error::Damaged`].
pub fn newest(folder: &Path, manifest: &Manifest) -> Result<HashMap<Hash, u64>, Error> {
    let mut newest = HashMap::new();
    rows(folder, manifest, &mut |number, hash, _| {
        newest.insert(hash, number);
        Ok(())
    })?;
    Ok(newest)
}

/// Visits every row of an object, with its number.
///
/// # Errors
/// [`Error::Damaged`], or what `visit` returned.
pub fn rows(folder: &Path, manifest: &Manifest, visit: ObjectRowVisitor<'_>) -> Result<(), Error> {
    let mut number = 0;
    for of in &manifest.objects {
        let path = folder.join(&of.file);
        segment::read(folder, of, Content::Objects, &mut |part| {
            let object = segment::object(part);
            let (hash, row) = object.map_err(|what| Error::damaged(&path, what))?;
            number += 1;
            visit(number, hash, row)
        })?;
    }
    Ok(())
}

/// Visits the blobs that the newest rows of objects name.
fn blobs_of_objects(
    folder: &Path,
    manifest: &Manifest,
    visit: &mut dyn FnMut(BlobRef),
) -> Result<u64, Error> {
    let newest = newest(folder, manifest)?;
    rows(folder, manifest, &mut |number, hash, row| {
        if newest.get(&hash) == Some(&number) {
            let blob = blob_of_row(row);
            let blob = blob.map_err(|what| Error::damaged(&folder.join("objects"), what))?;
            blob.into_iter().for_each(&mut *visit);
        }
        Ok(())
    })?;
    Ok(newest.len() as u64)
}

/// The content of a blob; none for one that went while the backup was made.
///
/// # Errors
/// [`Error::Damaged`] when it is missing, or not what its name says.
pub fn blob(folder: &Path, manifest: &Manifest, blob: &BlobRef) -> Result<Option<Vec<u8>>, Error> {
    let path = folder.join(blob_file(blob));
    match std::fs::read(&path) {
        Ok(content) if BlobRef::of(&content) == *blob => Ok(Some(content)),
        Ok(_) => Err(Error::damaged(&path, "it is not what its name says")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            match manifest.gone.contains(&blob.hex()) {
                true => Ok(None),
                false => Err(Error::damaged(&path, "the file is missing")),
            }
        }
        Err(error) => Err(Error::file("reading", &path)(error)),
    }
}

/// Whether a blob is there and is what its name says.
#[must_use]
pub fn is_blob_whole(folder: &Path, blob: &BlobRef) -> bool {
    std::fs::read(folder.join(blob_file(blob))).is_ok_and(|content| BlobRef::of(&content) == *blob)
}

/// A file beside the log, as it was.
///
/// # Errors
/// [`Error::Damaged`].
pub fn read_beside(folder: &Path, name: &str, manifest: &Manifest) -> Result<Vec<u8>, Error> {
    let Some(beside) = manifest.beside.iter().find(|beside| beside.name == name) else {
        return Ok(Vec::new());
    };
    let path = folder.join(&beside.file);
    match std::fs::read(&path) {
        Ok(bytes) if Hash::of(&bytes).to_string() == beside.sha256 => Ok(bytes),
        Ok(_) => Err(Error::damaged(&path, "it does not match its SHA-256")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(Error::damaged(&path, "the file is missing"))
        }
        Err(error) => Err(Error::file("reading", &path)(error)),
    }
}

/// The blobs that events and objects of a backup name.
///
/// # Errors
/// [`Error::Damaged`].
pub fn blobs_named(folder: &Path, manifest: &Manifest) -> Result<Vec<BlobRef>, Error> {
    let mut blobs = Vec::new();
    walk(folder, manifest, &mut |_, events| {
        for event in events {
            blobs.extend(blobs_of(event).map_err(|error| describe(folder, &error))?);
        }
        Ok(())
    })?;
    blobs_of_objects(folder, manifest, &mut |blob| blobs.push(blob))?;
    Ok(blobs)
}
