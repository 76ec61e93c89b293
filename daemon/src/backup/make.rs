//! Makes a backup of everything up to one position while others write.
//!
//! Pages are read from different states of the store, so content that an early event names can be deleted before it
//! is read. Each deletion is itself an event, before the end of the log at the time of that answer. The backup
//! continues at least to that position. It then holds everything that a store with these events needs.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use super::folder::{Folder, blob_file};
use super::manifest::{DataFileEntry, FORMAT, Manifest, NAME, VERSION};
use super::page::{OBJECTS_MAX, Page, Tag, blob_of_row};
use super::segment::{self, Content, Segment, Writer};
use super::{Error, Source};
use crate::clock::{Clock, format_time};
use crate::log::{EventKind, Hash, LoggedEvent, Position};
use crate::sessions;
use crate::store::{BlobRef, FORMAT_VERSION};

/// Maximum number of pages after the expected last one. Beyond it, content is deleted faster than it is read.
const ROUNDS_MAX: u32 = 10_000;

/// Options of a backup.
#[derive(Clone, Copy, Debug, Default)]
pub struct BackupOptions {
    /// Reuse nothing of the previous backup except blobs that match their hash.
    pub is_full: bool,
}

/// Result of a backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Position of the folder's previous backup; 0 without one.
    pub before: Position,
    /// Position of the new backup.
    pub position: Position,
    /// Bytes written.
    pub written: u64,
    /// Number of blobs written.
    pub blobs: u64,
    /// Number of forget operations whose content is still in the backup.
    pub forgotten_since: u64,
}

/// Creates or continues the backup in a folder. `progress` receives each position and the target position.
///
/// # Errors
/// [`Error`]; the previous backup is unchanged.
pub fn make(
    source: &mut dyn Source,
    path: &Path,
    clock: &Clock,
    choices: BackupOptions,
    progress: &mut dyn FnMut(Position, Position),
) -> Result<Report, Error> {
    // Cursors are read first, so that none is ahead of the log.
    let beside = source.data_files()?;
    let store = source.page(Position(u64::MAX))?.store;
    let mut folder = Folder::open(path, store)?;
    let sweeps_blobs = choices.is_full || folder.may_have_strays()?;
    let base = match path.join(NAME).exists() && !choices.is_full {
        true => Some(Manifest::read(path)?),
        false => None,
    };
    let before = Position(base.as_ref().map_or(0, |base| base.position));
    let first = source.page(before)?;
    if let Some(base) = &base {
        goes_on(base, &first, path)?;
        is_there(base, path)?;
    }
    let known = known(path, base.as_ref())?;
    let link = base
        .as_ref()
        .map_or(Ok(Hash::default()), |base| base.last_link(path))?;
    // Content forgotten after this position was still whole in an earlier page or in the previous backup.
    let whole_up_to = base.as_ref().map_or(first.position, |_| before);
    let mut manifest = base.unwrap_or_else(|| nothing(store));
    let mut making = BackupBuilder {
        known,
        source,
        link,
        at: before,
        whole_up_to,
        needed: first.position,
        folder: &mut folder,
        log: None,
        objects: None,
        gone: std::mem::take(&mut manifest.gone).into_iter().collect(),
        manifest,
        blobs: 0,
        is_full: choices.is_full,
        sweeps_blobs,
    };
    making.run(first, progress)?;
    making.finish(beside, before, clock)
}

/// Checks that a store continues from the end of a backup of it.
fn goes_on(base: &Manifest, first: &Page, path: &Path) -> Result<(), Error> {
    let (held, has) = (base.position, first.position.0);
    let Some(link) = first.link else {
        return Err(Error::refused(format!(
            "the store has {has} events and the backup in {path:?} has {held}: the store lost some, or an older \
             one was put back. Nothing was changed. `lored restore` brings the backup back; or give another \
             folder for a backup of the store as it is"
        )));
    };
    if link.to_string() != base.link {
        return Err(Error::refused(format!(
            "the store's event at {held} is not the one in the backup {path:?}: two stores went on from the same \
             backup. Nothing was changed; give another folder"
        )));
    }
    Ok(())
}

/// Checks that the files of the previous backup exist with the right lengths. `lored verify --backup` reads them.
fn is_there(base: &Manifest, path: &Path) -> Result<(), Error> {
    for of in base.log.iter().chain(&base.objects) {
        segment::open(path, of)?;
    }
    Ok(())
}

fn nothing(store: crate::store::StoreId) -> Manifest {
    Manifest {
        format: FORMAT.to_owned(),
        version: VERSION,
        store: store.to_string(),
        link: Hash::default().to_string(),
        ..Manifest::default()
    }
}

/// Returns the tag of each object's row in a backup.
fn known(path: &Path, base: Option<&Manifest>) -> Result<HashMap<Hash, Tag>, Error> {
    let mut known = HashMap::new();
    for of in base.iter().flat_map(|base| &base.objects) {
        segment::read(path, of, Content::Objects, &mut |part| {
            let object = segment::object(part);
            let (hash, row) = object.map_err(|what| Error::damaged(&path.join(&of.file), what))?;
            known.insert(hash, Tag::of(row));
            Ok(())
        })?;
    }
    Ok(known)
}

struct BackupBuilder<'m> {
    source: &'m mut dyn Source,
    folder: &'m mut Folder,
    manifest: Manifest,
    known: HashMap<Hash, Tag>,
    /// End of the written log.
    at: Position,
    link: Hash,
    whole_up_to: Position,
    /// Minimum end position of the backup.
    needed: Position,
    log: Option<(Writer, Position)>,
    objects: Option<Writer>,
    /// Blobs, hexadecimal, that did not exist when last requested.
    gone: BTreeSet<String>,
    blobs: u64,
    is_full: bool,
    /// Unreferenced blobs are removed at the end.
    sweeps_blobs: bool,
}

impl BackupBuilder<'_> {
    fn run(
        &mut self,
        first: Page,
        progress: &mut dyn FnMut(Position, Position),
    ) -> Result<(), Error> {
        let mut page = first;
        let mut rounds = 0;
        loop {
            self.take(&page)?;
            progress(self.at, self.needed);
            if self.at >= self.needed {
                return Ok(());
            }
            rounds += u32::from(page.last == page.position);
            if rounds > ROUNDS_MAX {
                return Err(Error::refused(
                    "content is deleted faster than it can be read: try again when less is going on",
                ));
            }
            page = self.source.page(self.at)?;
            if page.records.is_empty() {
                return Err(Error::refused(format!(
                    "the store gives nothing behind position {}, though its log goes on to {}: run `lored \
                     verify`",
                    self.at, self.needed
                )));
            }
        }
    }

    fn take(&mut self, page: &Page) -> Result<(), Error> {
        for record in &page.records {
            self.record(record)?;
        }
        if page.objects_gone > 0 {
            self.needed = self.needed.max(page.position);
        }
        let lacking: Vec<(Hash, Tag)> = page
            .objects
            .iter()
            .filter(|(hash, tag)| self.known.get(hash) != Some(tag))
            .copied()
            .collect();
        for some in lacking.chunks(OBJECTS_MAX) {
            self.take_objects(some)?;
        }
        page.blobs.iter().try_for_each(|blob| self.blob(blob))
    }

    fn record(&mut self, record: &[u8]) -> Result<(), Error> {
        if self.log.as_ref().is_some_and(|(log, _)| log.is_full()) {
            self.close_log()?;
        }
        let first = Position(self.at.0 + 1);
        let events = segment::events(record, &mut self.link, &mut self.at).map_err(|what| {
            Error::refused(format!(
                "the store's log is damaged: {what}; run `lored verify`"
            ))
        })?;
        let reports = |event: &LoggedEvent| {
            sessions::is_tombstone(event) || event.header.kind == EventKind::EventsForgotten
        };
        let is_told = |event: &LoggedEvent| reports(event) && event.position() > self.whole_up_to;
        let reported = events.iter().filter(|event| is_told(event)).count();
        self.manifest.forgotten_since += reported as u64;
        let (writer, _) = match &mut self.log {
            Some(log) => log,
            None => {
                let writer = Writer::create(self.folder.aside(), Content::Log)?;
                self.log.insert((writer, first))
            }
        };
        writer.push(&[record])
    }

    fn close_log(&mut self) -> Result<(), Error> {
        let Some((writer, first)) = self.log.take() else {
            return Ok(());
        };
        let (first, last) = (first.0, self.at.0);
        let named = format!("{first:012}-{last:012}");
        let mut segment = named_segment(self.folder, writer, &named)?;
        (segment.first, segment.last) = (Some(first), Some(last));
        self.manifest.log.push(segment);
        Ok(())
    }

    fn take_objects(&mut self, wanted: &[(Hash, Tag)]) -> Result<(), Error> {
        let hashes: Vec<Hash> = wanted.iter().map(|(hash, _)| *hash).collect();
        let (rows, position) = self.source.objects(&hashes)?;
        let mut as_named = 0;
        for (hash, row) in rows {
            let tag = Tag::of(&row);
            as_named += usize::from(wanted.contains(&(hash, tag)));
            let blob = blob_of_row(&row)
                .map_err(|what| Error::refused(format!("the object {hash} is damaged: {what}")))?;
            if let Some(blob) = blob {
                self.blob(&blob)?;
            }
            if self.objects.as_ref().is_some_and(Writer::is_full) {
                self.close_objects()?;
            }
            let writer = match &mut self.objects {
                Some(writer) => writer,
                None => {
                    let writer = Writer::create(self.folder.aside(), Content::Objects)?;
                    self.objects.insert(writer)
                }
            };
            writer.push(&[&hash.0, &row])?;
            self.known.insert(hash, tag);
        }
        // An object was deleted; or it was saved again, as a delta against an object that only later events name.
        if as_named < wanted.len() {
            self.needed = self.needed.max(position);
        }
        Ok(())
    }

    fn close_objects(&mut self) -> Result<(), Error> {
        let Some(writer) = self.objects.take() else {
            return Ok(());
        };
        let named = format!("{:012}", self.at.0);
        let segment = named_segment(self.folder, writer, &named)?;
        self.manifest.objects.push(segment);
        Ok(())
    }

    /// Copies a blob unless it exists. A blob that was gone is requested again, because it may have been saved again.
    fn blob(&mut self, blob: &BlobRef) -> Result<(), Error> {
        let file = self.folder.blob_name(blob)?;
        let path = self.folder.path().join(&file);
        let is_there = match path.metadata() {
            Ok(metadata) if metadata.len() != blob.bytes => false,
            // A full backup repairs, so it reads existing blobs completely.
            Ok(_) if self.is_full => super::check::is_blob_whole(self.folder.path(), blob),
            Ok(_) => true,
            Err(_) => false,
        };
        if is_there {
            self.gone.remove(&blob.hex());
            return Ok(());
        }
        let mut content = Vec::new();
        loop {
            let (piece, position) = self
                .source
                .piece(blob, content.len() as u64)
                .map_err(|error| error.of_blob(blob))?;
            let Some(piece) = piece else {
                self.needed = self.needed.max(position);
                self.gone.insert(blob.hex());
                return Ok(());
            };
            let is_end = piece.is_empty();
            content.extend(piece);
            if is_end || content.len() as u64 >= blob.bytes {
                break;
            }
        }
        if BlobRef::of(&content) != *blob {
            return Err(Error::refused(format!(
                "the blob {} came with other bytes than its name says; run `lored verify`",
                blob.hex()
            )));
        }
        self.gone.remove(&blob.hex());
        self.blobs += 1;
        self.folder.put(&file, &content)
    }

    fn finish(
        mut self,
        beside: Vec<(String, Vec<u8>)>,
        before: Position,
        clock: &Clock,
    ) -> Result<Report, Error> {
        self.close_log()?;
        self.close_objects()?;
        let mut manifest = self.manifest;
        manifest.position = self.at.0;
        manifest.link = self.link.to_string();
        manifest.made_at = format_time(clock.now());
        manifest.lored = env!("CARGO_PKG_VERSION").to_owned();
        manifest.store_format = FORMAT_VERSION;
        manifest.gone = self.gone.into_iter().collect();
        manifest.beside = Vec::new();
        for (name, bytes) in beside {
            let sha256 = Hash::of(&bytes).to_string();
            let file = format!("{name}.{}", sha256.get(..16).unwrap_or_default());
            if !self.folder.path().join(&file).exists() || self.is_full {
                self.folder.put(&file, &bytes)?;
            }
            manifest.beside.push(DataFileEntry {
                name,
                file,
                bytes: bytes.len() as u64,
                sha256,
            });
        }
        let report = Report {
            before,
            position: self.at,
            written: 0,
            blobs: self.blobs,
            forgotten_since: manifest.forgotten_since,
        };
        if self.sweeps_blobs {
            self.folder.begin_sweep()?;
        }
        self.folder.put_manifest(&manifest.clone().text())?;
        remove_what_is_left(self.folder, &manifest, self.sweeps_blobs)?;
        Ok(Report {
            written: self.folder.written,
            ..report
        })
    }
}

/// Names a finished segment. The name contains a prefix of its SHA-256, so names are unique.
fn named_segment(folder: &mut Folder, writer: Writer, named: &str) -> Result<Segment, Error> {
    let ending = writer.content().folder();
    let (aside, bytes, hash) = writer.finish()?;
    let sha256 = hash.to_string();
    let short = sha256.get(..16).unwrap_or_default();
    let file = format!("{ending}/{named}-{short}.{ending}");
    folder.name(&aside, &file, bytes)?;
    Ok(Segment {
        file,
        bytes,
        sha256,
        ..Segment::default()
    })
}

/// Removes segments of killed runs and of the previous backup and, if required, unreferenced blobs.
fn remove_what_is_left(
    folder: &mut Folder,
    manifest: &Manifest,
    sweeps_blobs: bool,
) -> Result<(), Error> {
    let segments = manifest.log.iter().chain(&manifest.objects);
    let mut kept: BTreeSet<String> = segments.map(|segment| segment.file.clone()).collect();
    if sweeps_blobs {
        let blobs = super::check::blobs_named(folder.path(), manifest)?;
        kept.extend(blobs.iter().map(blob_file));
    }
    folder.sweep(&|name| kept.contains(name) || (!sweeps_blobs && name.starts_with("blobs/")))?;
    if sweeps_blobs {
        folder.end_sweep()?;
    }
    folder.sweep_beside(manifest)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests;
