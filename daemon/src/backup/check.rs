//! Verifies a backup: every file against its hash, every event against the hash chain, every blob against its name.

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

/// Callback for each part of the log: the part's bytes and its events.
pub type LogVisitor<'v> = &'v mut dyn FnMut(&[u8], &[LoggedEvent]) -> Result<(), Error>;

/// Callback for each object row: the row number, the object's hash, the row.
pub type ObjectRowVisitor<'v> = &'v mut dyn FnMut(u64, Hash, &[u8]) -> Result<(), Error>;

/// Counts of the contents of a complete backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackupContents {
    /// Number of events.
    pub events: u64,
    /// Number of these events that were forgotten on purpose.
    pub forgotten: u64,
    /// Position of the newest event that forgot something; 0 if there is none.
    pub newest_forgetting: Position,
    /// Number of objects.
    pub objects: u64,
    /// Number of blobs that events and objects reference.
    pub blobs: u64,
}

/// Verifies the backup in a folder and calls `progress` with each position.
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
            if event.header.kind.forgets() {
                held.newest_forgetting = event.position();
            }
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

/// Walks the whole log of a backup, part by part, and verifies it up to the manifest's chain link.
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

/// Maps each object of a backup to the number of its newest row, as counted by [`rows`].
pub fn newest(folder: &Path, manifest: &Manifest) -> Result<HashMap<Hash, u64>, Error> {
    let mut newest = HashMap::new();
    rows(folder, manifest, &mut |number, hash, _| {
        newest.insert(hash, number);
        Ok(())
    })?;
    Ok(newest)
}

/// Visits every object row with its number.
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

/// Visits the blobs that the newest object rows reference.
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

/// Returns a blob's content; `None` if the blob was deleted while the backup was made.
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

/// Returns whether a blob exists and matches its name.
#[must_use]
pub fn is_blob_whole(folder: &Path, blob: &BlobRef) -> bool {
    std::fs::read(folder.join(blob_file(blob))).is_ok_and(|content| BlobRef::of(&content) == *blob)
}

/// Reads an auxiliary file that the backup stores next to the log.
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

/// Lists the blobs that events and objects of a backup reference.
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
