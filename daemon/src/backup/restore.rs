//! Restores a store from a backup: verified first, built under a temporary name, then renamed.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use super::Error;
use super::check::{self, BackupContents};
use super::manifest::Manifest;
use super::source::BESIDE;
use crate::checkpoints;
use crate::clock::Clock;
use crate::engine::{DataFolder, Fold, SealedLog, Settings, Tail, restore};
use crate::events::blobs_of;
use crate::log::objects::{self, Object, ObjectLocation};
use crate::log::{Hash, LOG, Log, Position, encode_record};
use crate::store::seal::{Origin, SealFile, SealKey, Sealer};
use crate::store::watermark::{DurableHead, WatermarkFile};
use crate::store::{Blobs, RowsMut, Store, Transaction, creation};

/// Bytes of records per commit.
const BATCH_BYTES: usize = 4 << 20;

/// Restores the backup in `folder`, whose manifest was read, to the new data folder `data`. With a key, its events get
/// codes, and the restored log is sealed in the data folder, where its first daemon finds the seal. Without one, that
/// daemon seals the log as it is then.
///
/// # Errors
/// [`Error`]; `data` does not exist then.
pub fn restore_to(
    folder: &Path,
    manifest: &Manifest,
    data: &Path,
    fold: &dyn Fold,
    settings: &Settings,
    key: Option<&SealKey>,
    progress: &mut dyn FnMut(&str, Position),
) -> Result<BackupContents, Error> {
    let held = check::check(folder, manifest, &mut |at| progress("checked", at))?;
    let store = manifest.store_id(folder)?;
    let restoring = Restore {
        folder,
        manifest,
        data,
        fold,
        settings,
        key,
        sealer: key.map(|key| Sealer::new(key, store, 1)),
        newest_forgetting: held.newest_forgetting,
    };
    let built = creation::create(data, |aside| restoring.build(aside, progress));
    match built {
        Ok(()) => Ok(held),
        Err(creation::Error::Build { source, .. }) => Err(source),
        Err(creation::Error::Exists(path)) => Err(Error::refused(format!("{path:?} exists"))),
        Err(creation::Error::Io { path, source }) => {
            Err(Error::file("putting in its place", &path)(source))
        }
    }
}

struct Restore<'r> {
    folder: &'r Path,
    manifest: &'r Manifest,
    /// Where the data folder will be.
    data: &'r Path,
    fold: &'r dyn Fold,
    settings: &'r Settings,
    key: Option<&'r SealKey>,
    sealer: Option<Sealer>,
    newest_forgetting: Position,
}

impl Restore<'_> {
    fn build(&self, aside: &Path, progress: &mut dyn FnMut(&str, Position)) -> Result<(), Error> {
        let data = DataFolder::new(aside, aside);
        let mut store = self.log(&data, &BTreeSet::new(), progress)?;
        let forgotten = self.forgotten(&store)?;
        if !forgotten.is_empty() {
            // Content that was forgotten after it was backed up is not restored: the store is built without it.
            drop(store);
            let path = data.store();
            std::fs::remove_dir_all(&path).map_err(Error::file("removing", &path))?;
            store = self.log(&data, &forgotten, progress)?;
        }
        let blobs = Blobs::open(&data.blobs())?;
        self.objects(&store, &blobs)?;
        self.blobs(&store, &blobs)?;
        self.prove(&store, &blobs)?;
        store.flush()?;
        let tail = Tail {
            position: Position(self.manifest.position),
            link: self.manifest.last_link(self.folder)?,
            time: 0,
        };
        let head = DurableHead {
            position: tail.position.0,
            link: tail.link.0,
        };
        WatermarkFile::create(&data.watermark_path(), store.id().0, head)
            .map_err(|error| Error::refused(error.to_string()))?;
        if let Some(key) = self.key {
            let log = SealedLog {
                tail,
                forgotten: self.newest_forgetting,
                origin: Origin::Restored,
                from: Position(1),
            };
            let end = log.end(self.data, &Clock::System);
            SealFile::create(&data.restored(), key, store.id(), end)
                .map_err(|error| Error::refused(error.to_string()))?;
        }
        for name in BESIDE {
            if self
                .manifest
                .beside
                .iter()
                .any(|beside| beside.name == name)
            {
                let path = aside.join(name);
                let bytes = check::read_beside(self.folder, name, self.manifest)?;
                std::fs::write(&path, bytes).map_err(Error::file("writing", &path))?;
            }
        }
        Ok(())
    }

    /// Creates a store with the log and folds its views. Events at the positions in `without` lose their content.
    fn log(
        &self,
        data: &DataFolder,
        without: &BTreeSet<Position>,
        progress: &mut dyn FnMut(&str, Position),
    ) -> Result<Store, Error> {
        let id = self.manifest.store_id(self.folder)?;
        let store = restore::begin(&data.store(), id, self.fold, self.settings)?;
        let mut tx = Transaction::new(&store);
        let mut bytes = 0;
        check::walk(self.folder, self.manifest, &mut |part, events| {
            let Some(first) = events.first().map(|event| event.position()) else {
                return Ok(());
            };
            let mut events = events.to_vec();
            for event in &mut events {
                event.seal = None;
                if let Some(sealer) = &self.sealer {
                    event.seal_with(sealer);
                }
                if without.contains(&event.position()) {
                    event.payload = None;
                    event.key = None;
                }
            }
            tx.put(LOG, &first.0.to_be_bytes(), &encode_record(&events));
            bytes += part.len();
            if bytes >= BATCH_BYTES {
                let full = std::mem::replace(&mut tx, Transaction::new(&store));
                restore::write(&store, full.into_changes())?;
                bytes = 0;
            }
            progress("restored", first);
            Ok(())
        })?;
        restore::write(&store, tx.into_changes())?;
        restore::fold(&store, self.fold)?;
        Ok(store)
    }

    /// Returns the positions of forgotten events that still have content.
    fn forgotten(&self, store: &Store) -> Result<BTreeSet<Position>, Error> {
        let (mut found, mut last) = (BTreeSet::new(), None);
        let log = Log::new(store);
        log.walk(Position(1), &mut |_, record| {
            if last.replace(record) == Some(record) {
                return Ok(std::ops::ControlFlow::Continue(()));
            }
            // Read from the record, because a walk omits forgotten content.
            for event in log.record(record)? {
                let says = event.payload.is_some() || event.key.is_some();
                if says && self.fold.is_forgotten(store, &event.header)? {
                    found.insert(event.position());
                }
            }
            Ok(std::ops::ControlFlow::Continue(()))
        })?;
        Ok(found)
    }

    /// Restores the objects in use and their blobs. Other objects of the backup were deleted meanwhile.
    fn objects(&self, store: &Store, blobs: &Blobs) -> Result<(), Error> {
        let lacks = |what: String| Error::damaged(&self.folder.join("objects"), what);
        let newest = check::newest(self.folder, self.manifest)?;
        let in_use: HashSet<Hash> = checkpoints::objects_in_use(store)?.into_iter().collect();
        if let Some(hash) = in_use.iter().find(|hash| !newest.contains_key(hash)) {
            return Err(lacks(format!("the object {hash} is missing")));
        }
        let mut tx = Transaction::new(store);
        let mut bytes = 0;
        check::rows(self.folder, self.manifest, &mut |number, hash, row| {
            if newest.get(&hash) != Some(&number) || !in_use.contains(&hash) {
                return Ok(());
            }
            let object =
                Object::decode(row).ok_or_else(|| lacks(format!("{hash} is not an object")))?;
            if let ObjectLocation::Blob(blob) = &object.place {
                self.blob(blob, blobs)?;
            }
            objects::put(&mut tx, &hash, &object);
            bytes += row.len();
            if bytes >= BATCH_BYTES {
                let full = std::mem::replace(&mut tx, Transaction::new(store));
                restore::write(store, full.into_changes())?;
                bytes = 0;
            }
            Ok(())
        })?;
        Ok(restore::write(store, tx.into_changes())?)
    }

    fn blobs(&self, store: &Store, blobs: &Blobs) -> Result<(), Error> {
        let mut named = BTreeSet::new();
        Log::new(store).walk(Position(1), &mut |event, _| {
            let of = blobs_of(&event)?;
            named.extend(of.iter().map(|blob| (blob.hash, blob.bytes)));
            Ok(std::ops::ControlFlow::Continue(()))
        })?;
        for (hash, bytes) in named {
            self.blob(&crate::store::BlobRef { hash, bytes }, blobs)?;
        }
        Ok(())
    }

    fn blob(&self, blob: &crate::store::BlobRef, blobs: &Blobs) -> Result<(), Error> {
        if let Some(content) = check::blob(self.folder, self.manifest, blob)? {
            blobs.put(&content)?;
        }
        Ok(())
    }

    fn prove(&self, store: &Store, blobs: &Blobs) -> Result<(), Error> {
        let mut faults = Vec::new();
        checkpoints::check_objects(store, blobs, &mut |fault| {
            faults.push(fault.what);
            Ok(())
        })?;
        match faults.first() {
            None => Ok(()),
            Some(first) => Err(Error::damaged(&self.folder.join("objects"), first)),
        }
    }
}
