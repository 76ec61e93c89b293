//! Blobs: large bodies as files, named by the SHA-256 of their content and stored once.
//!
//! A blob is durable before the event that names it is queued (durability rule 3). A refusal or a kill can therefore
//! leave blobs that no event names. [`Blobs::remove_released`] removes those of refused writes, and [`Blobs::sweep`]
//! all others.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use super::Error;
use super::durable::{parent, sync_folder};

/// First byte of a blob file: the codec of the rest. The stored values never change.
const RAW: u8 = 0;
const LZ4: u8 = 1;
/// Codec byte and content length, little-endian u64.
const HEADER_BYTES: usize = 9;
/// Minimum age for a sweep: a younger blob may belong to an unfinished write of a daemon that just died.
const ORPHAN_AGE: Duration = Duration::from_secs(3600);

/// A reference to a blob in an event: content hash and length in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlobRef {
    /// SHA-256 of the content.
    pub hash: [u8; 32],
    /// Length of the content, in bytes.
    pub bytes: u64,
}

impl BlobRef {
    /// Returns the reference for this content.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        Self {
            hash: Sha256::digest(content).into(),
            bytes: content.len() as u64,
        }
    }

    /// Returns the hash in hexadecimal.
    #[must_use]
    pub fn hex(&self) -> String {
        self.hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// A durable blob whose event is not committed yet. It is not removed while this value exists.
#[derive(Debug)]
pub struct PendingBlob {
    blob: BlobRef,
    pending: Arc<Mutex<Pending>>,
}

/// Blobs of writes in flight.
#[derive(Debug, Default)]
struct Pending {
    held: HashMap<[u8; 32], PendingHolds>,
    /// New blobs whose writes have ended, with or without an event.
    released: Vec<[u8; 32]>,
}

/// A blob of writes in flight.
#[derive(Debug, Default)]
struct PendingHolds {
    /// Number of writes.
    count: usize,
    /// Whether one of them wrote the file.
    is_new: bool,
}

impl PendingBlob {
    /// Returns the reference for the event.
    #[must_use]
    pub fn reference(&self) -> BlobRef {
        self.blob
    }

    /// Creates a pending blob without a file, for tests of references in events.
    #[doc(hidden)]
    #[must_use]
    pub fn nowhere(content: &[u8]) -> Self {
        Self {
            blob: BlobRef::of(content),
            pending: Arc::default(),
        }
    }
}

impl Drop for PendingBlob {
    fn drop(&mut self) {
        let mut pending = lock(&self.pending);
        let Some(held) = pending.held.get_mut(&self.blob.hash) else {
            return;
        };
        held.count = held.count.saturating_sub(1);
        if held.count == 0
            && let Some(held) = pending.held.remove(&self.blob.hash)
            && held.is_new
        {
            pending.released.push(self.blob.hash);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // After a panic, the worst case is a count that is too high, which retains a blob, or a shard that is synced again.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The folder of blobs. Cheap to share.
#[derive(Debug)]
pub struct Blobs {
    dir: PathBuf,
    pending: Arc<Mutex<Pending>>,
    /// Shards whose names are known to be durable.
    shards: Mutex<HashSet<PathBuf>>,
    next_temporary: AtomicU64,
}

impl Blobs {
    /// Opens or creates the folder and removes leftovers of unfinished writes.
    pub fn open(dir: &Path) -> Result<Self, Error> {
        let temporary = dir.join("new");
        match fs::remove_dir_all(&temporary) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::file("removing", &temporary)(error)),
        }
        fs::create_dir_all(&temporary).map_err(Error::file("creating", &temporary))?;
        Ok(Self {
            dir: dir.to_path_buf(),
            pending: Arc::default(),
            shards: Mutex::default(),
            next_temporary: AtomicU64::new(0),
        })
    }

    fn path(&self, blob: &BlobRef) -> PathBuf {
        let hex = blob.hex();
        let (shard, _) = hex.split_at(2);
        self.dir.join(shard).join(&hex)
    }

    /// Stores content durably and returns its reference. Existing content is not written again.
    ///
    /// Blocking, and as slow as the disk: never call it on the writer thread.
    ///
    /// # Errors
    /// [`Error::File`] when the disk refuses; no incomplete file has the final name then.
    pub fn put(&self, content: &[u8]) -> Result<PendingBlob, Error> {
        self.keep(content, false)
    }

    /// Stores content like [`Self::put`], but replaces an existing file, which may be damaged.
    pub fn replace(&self, content: &[u8]) -> Result<PendingBlob, Error> {
        self.keep(content, true)
    }

    fn keep(&self, content: &[u8], is_full: bool) -> Result<PendingBlob, Error> {
        let blob = BlobRef::of(content);
        lock(&self.pending).held.entry(blob.hash).or_default().count += 1;
        let pending = PendingBlob {
            blob,
            pending: Arc::clone(&self.pending),
        };
        let path = self.path(&blob);
        let shard = path.parent().unwrap_or(&self.dir).to_path_buf();
        self.ensure_shard(&shard)?;
        if is_full || !path.exists() {
            self.write(content, &path)?;
            if let Some(held) = lock(&self.pending).held.get_mut(&blob.hash) {
                held.is_new = true;
            }
        }
        // Also for an existing blob: the daemon that renamed it may have died before the sync.
        sync_dir(&shard)?;
        Ok(pending)
    }

    /// Creates a shard and makes its name durable. An existing shard may be new, from another thread or a killed
    /// daemon, so each is synced once.
    fn ensure_shard(&self, shard: &Path) -> Result<(), Error> {
        let mut durable = lock(&self.shards);
        if !durable.contains(shard) {
            fs::create_dir_all(shard).map_err(Error::file("creating", shard))?;
            sync_dir(&self.dir)?;
            sync_dir(parent(&self.dir))?;
            durable.insert(shard.to_path_buf());
        }
        Ok(())
    }

    fn write(&self, content: &[u8], path: &Path) -> Result<(), Error> {
        let number = self.next_temporary.fetch_add(1, Ordering::Relaxed);
        let new = self.dir.join("new");
        let temporary = new.join(number.to_string());
        // On file systems that persist names separately, a temporary name that is lost in a power cut cannot be renamed.
        // The sync costs little, because the file's own sync has mostly written the name.
        let result = write_file(&temporary, content)
            .and_then(|()| sync_dir(&new))
            .and_then(|()| fs::rename(&temporary, path).map_err(Error::file("renaming", path)));
        if result.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        result
    }

    /// Reads a blob and verifies it against its reference.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when it is missing or does not match, [`Error::File`] when it cannot be read.
    pub fn get(&self, blob: &BlobRef) -> Result<Vec<u8>, Error> {
        let corrupt = |reason: &str| Error::Corrupt {
            space: "blobs",
            key: blob.hex(),
            reason: reason.to_owned(),
        };
        let path = self.path(blob);
        let file = match fs::read(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(corrupt("the file is missing"));
            }
            Err(error) => return Err(Error::file("reading", &path)(error)),
        };
        let (header, kept) = file
            .split_at_checked(HEADER_BYTES)
            .ok_or_else(|| corrupt("the file is too short"))?;
        if header.get(1..) != Some(&blob.bytes.to_le_bytes()[..]) {
            return Err(corrupt("the length is not the one its event names"));
        }
        let content = match header.first() {
            Some(&RAW) => kept.to_vec(),
            Some(&LZ4) => lz4_flex::block::decompress(kept, blob.bytes as usize)
                .map_err(|error| corrupt(&error.to_string()))?,
            _ => return Err(corrupt("unknown codec")),
        };
        if BlobRef::of(&content) != *blob {
            return Err(corrupt("the content does not match its hash"));
        }
        Ok(content)
    }

    /// Removes a blob that no event names any more, unless a write in flight holds it. Returns whether it was removed.
    /// `is_named` must read the newest state; it is called while no write can start to hold the blob.
    ///
    /// # Errors
    /// The error of `is_named`.
    pub fn remove_unnamed(
        &self,
        hash: &[u8; 32],
        is_named: impl FnOnce() -> Result<bool, Error>,
    ) -> Result<bool, Error> {
        // A `put` of the same content comes before (it is pending, or its event is published) or after (it finds no file
        // and writes one).
        let pending = lock(&self.pending);
        if pending.held.contains_key(hash) || is_named()? {
            return Ok(false);
        }
        let blob = BlobRef {
            hash: *hash,
            bytes: 0,
        };
        Ok(fs::remove_file(self.path(&blob)).is_ok())
    }

    /// Returns the number of blobs that [`Self::remove_released`] checks.
    #[must_use]
    pub fn released(&self) -> usize {
        lock(&self.pending).released.len()
    }

    /// Removes the new blobs of writes that have ended and recorded no event. `is_named` must read the newest state.
    /// Returns the number of removed blobs.
    ///
    /// # Errors
    /// The error of `is_named`; the remaining blobs are checked by the next call.
    pub fn remove_released(
        &self,
        is_named: impl Fn(&[u8; 32]) -> Result<bool, Error>,
    ) -> Result<usize, Error> {
        let mut removed = 0;
        loop {
            let Some(hash) = lock(&self.pending).released.pop() else {
                return Ok(removed);
            };
            match self.remove_unnamed(&hash, || is_named(&hash)) {
                Ok(is_removed) => removed += usize::from(is_removed),
                Err(error) => {
                    lock(&self.pending).released.push(hash);
                    return Err(error);
                }
            }
        }
    }

    /// Removes blobs for which `is_named` returns false. Young blobs and those of writes in flight stay. Returns the
    /// number of removed blobs.
    ///
    /// # Errors
    /// [`Error`] when the folder cannot be read, or the error of `is_named`.
    pub fn sweep(
        &self,
        now: SystemTime,
        is_named: impl Fn(&[u8; 32]) -> Result<bool, Error>,
    ) -> Result<usize, Error> {
        let is_young = |file: &fs::DirEntry| {
            file.metadata()
                .and_then(|metadata| metadata.modified())
                .is_ok_and(|at| now.duration_since(at).unwrap_or_default() < ORPHAN_AGE)
        };
        self.sweep_those(|file| !is_young(file), is_named)
    }

    /// Sweeps like [`Self::sweep`], including young blobs; the removals are durable on return.
    pub fn sweep_all(
        &self,
        is_named: impl Fn(&[u8; 32]) -> Result<bool, Error>,
    ) -> Result<usize, Error> {
        self.sweep_those(|_| true, is_named)
    }

    fn sweep_those(
        &self,
        may_go: impl Fn(&fs::DirEntry) -> bool,
        is_named: impl Fn(&[u8; 32]) -> Result<bool, Error>,
    ) -> Result<usize, Error> {
        let mut swept = 0;
        let list = |dir: &Path| fs::read_dir(dir).map_err(Error::file("listing", dir));
        for shard in list(&self.dir)?.flatten() {
            if !shard.path().is_dir() || shard.file_name() == "new" {
                continue;
            }
            let before = swept;
            for file in list(&shard.path())?.flatten() {
                let Some(hash) = file.file_name().to_str().and_then(parse_hex) else {
                    continue;
                };
                if may_go(&file) {
                    swept += usize::from(self.remove_unnamed(&hash, || is_named(&hash))?);
                }
            }
            if swept > before {
                sync_dir(&shard.path())?;
            }
        }
        Ok(swept)
    }

    /// Returns the size of a blob on disk, in bytes; 0 when it does not exist.
    #[must_use]
    pub fn stored_bytes(&self, hash: &[u8; 32]) -> u64 {
        let blob = BlobRef {
            hash: *hash,
            bytes: 0,
        };
        fs::metadata(self.path(&blob)).map_or(0, |metadata| metadata.len())
    }
}

fn parse_hex(name: &str) -> Option<[u8; 32]> {
    if name.len() != 64 || !name.is_ascii() {
        return None;
    }
    let mut hash = [0; 32];
    for (at, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(name.get(at * 2..at * 2 + 2)?, 16).ok()?;
    }
    Some(hash)
}

fn write_file(path: &Path, content: &[u8]) -> Result<(), Error> {
    let packed = lz4_flex::block::compress(content);
    let (codec, kept) = if packed.len() < content.len() {
        (LZ4, packed.as_slice())
    } else {
        (RAW, content)
    };
    let mut file = fs::File::create(path).map_err(Error::file("creating", path))?;
    let write = |file: &mut fs::File| {
        file.write_all(&[codec])?;
        file.write_all(&(content.len() as u64).to_le_bytes())?;
        file.write_all(kept)?;
        file.sync_all()
    };
    write(&mut file).map_err(Error::file("writing", path))
}

fn sync_dir(dir: &Path) -> Result<(), Error> {
    sync_folder(dir).map_err(Error::file("syncing", dir))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Content survives a round trip and is stored once; a flipped bit is detected.
    #[test]
    fn a_blob_is_stored_once_and_checked() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let blobs = Blobs::open(dir.path()).expect("opens");
        for content in [&b""[..], b"short", &[b'x'; 100_000]] {
            let first = blobs.put(content).expect("stores").reference();
            let again = blobs.put(content).expect("stores").reference();
            assert_eq!(first, again);
            assert_eq!(blobs.get(&first).expect("reads"), content);
        }
        let blob = BlobRef::of(b"short");
        let path = blobs.path(&blob);
        let mut bytes = fs::read(&path).expect("reads");
        *bytes.last_mut().expect("not empty") ^= 1;
        fs::write(&path, bytes).expect("writes");
        assert!(matches!(blobs.get(&blob), Err(Error::Corrupt { .. })));
        fs::remove_file(&path).expect("removes");
        assert!(matches!(blobs.get(&blob), Err(Error::Corrupt { .. })));
    }

    /// A blob goes with the write that was refused, unless an event names it, or another write holds it.
    #[test]
    fn blobs_of_refused_writes_are_removed() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let blobs = Blobs::open(dir.path()).expect("opens");
        let named = blobs.put(b"named").expect("stores").reference();
        let is_named = |hash: &[u8; 32]| Ok(*hash == named.hash);
        let refused = blobs.put(b"refused").expect("stores").reference();
        let held = blobs.put(b"held").expect("stores");
        let also_held = blobs.put(b"held").expect("stores");
        drop(also_held);
        assert_eq!(blobs.released(), 2);
        assert_eq!(blobs.remove_released(is_named).expect("removes"), 1);
        assert!(blobs.get(&refused).is_err());
        assert!(blobs.get(&named).is_ok() && blobs.get(&held.reference()).is_ok());
        // An existing blob is not new, so a refused write of the same content leaves it.
        drop(blobs.put(b"named").expect("stores"));
        assert_eq!(blobs.released(), 0);
        let reference = held.reference();
        drop(held);
        assert!(
            blobs
                .remove_released(|_| Err(Error::Foreign {
                    path: dir.path().to_path_buf(),
                    reason: "unreadable".to_owned(),
                }))
                .is_err()
        );
        assert_eq!(blobs.remove_released(is_named).expect("removes"), 1);
        assert!(blobs.get(&reference).is_err());
    }

    /// A sweep removes old blobs that no event names, and no others.
    #[test]
    fn a_sweep_takes_orphans_alone() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let blobs = Blobs::open(dir.path()).expect("opens");
        let named = blobs.put(b"named").expect("stores").reference();
        let held = blobs.put(b"held").expect("stores");
        let orphan = blobs.put(b"orphan").expect("stores").reference();
        let is_named = |hash: &[u8; 32]| Ok(*hash == named.hash);
        let made = fs::metadata(blobs.path(&orphan)).and_then(|file| file.modified());
        let now = made.expect("its time");
        assert_eq!(blobs.sweep(now, is_named).expect("sweeps"), 0);
        let later = now + 2 * ORPHAN_AGE;
        assert_eq!(blobs.sweep(later, is_named).expect("sweeps"), 1);
        assert!(blobs.get(&orphan).is_err());
        assert!(blobs.get(&named).is_ok());
        assert!(blobs.get(&held.reference()).is_ok());
    }
}
