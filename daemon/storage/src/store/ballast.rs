//! Disk space: free and used bytes, a ballast file that is released when the disk is full, and the detection of
//! disk-full errors.

use std::{
    error::Error as StdError,
    fs::{File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

/// Default size of the ballast file, in bytes.
pub const RESERVE_BYTES_DEFAULT: u64 = 8 * 1024 * 1024;

/// Name of the ballast file in its folder.
const NAME: &str = "reserve";

/// Maximum depth to which a chain of errors is followed.
const CHAIN_MAX: usize = 16;

/// Returns the bytes that this user may still use in the file system of `path`.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let stat = rustix::fs::statvfs(path)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Returns the disk usage of a folder and its contents, in bytes. Sparse files count with their allocated blocks;
/// unreadable entries count as 0.
#[must_use]
pub fn taken_bytes(folder: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let Ok(entries) = std::fs::read_dir(folder) else {
        return 0;
    };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => taken_bytes(&entry.path()),
            Ok(metadata) => metadata.blocks() * 512,
            Err(_) => 0,
        })
        .sum()
}

/// Bytes that [`try_space`] allocates.
const TRY_BYTES: usize = 64 * 1024;

/// Allocates a little space in a folder and releases it.
///
/// # Errors
/// I/O, for example a full disk or an exhausted quota.
pub fn try_space(folder: &Path) -> io::Result<()> {
    let path = folder.join("reserve.try");
    let tried = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&path)
        .and_then(|mut file| {
            io::Write::write_all(&mut file, &[0; TRY_BYTES])?;
            file.sync_all()
        });
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => tried.and(Err(error)),
        Ok(()) | Err(_) => tried,
    }
}

/// Returns whether a store's error comes from a full disk or an exhausted quota.
#[must_use]
pub fn is_full(error: &fjall::Error) -> bool {
    chain_is_full(error)
}

/// Returns the same as [`is_full`] for an error of the operating system.
#[must_use]
pub fn is_full_io(error: &io::Error) -> bool {
    chain_is_full(error)
}

fn chain_is_full(error: &(dyn StdError + 'static)) -> bool {
    let mut next = Some(error);
    for _ in 0..CHAIN_MAX {
        let Some(error) = next else { return false };
        next = match error.downcast_ref::<io::Error>() {
            Some(io)
                if matches!(
                    io.kind(),
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
                ) =>
            {
                return true;
            }
            // `io::Error::source` returns the source of the wrapped error, not the wrapped error itself.
            Some(io) => io.get_ref().map(|inner| inner as &(dyn StdError + 'static)),
            None => error.source(),
        };
    }
    false
}

/// A file of allocated blocks that is released when the disk is full, so that the store can complete its work.
#[derive(Debug)]
pub struct BallastFile {
    path: PathBuf,
    bytes: u64,
}

impl BallastFile {
    /// Creates a ballast of `bytes` in a folder without allocating it.
    #[must_use]
    pub fn new(folder: &Path, bytes: u64) -> Self {
        Self {
            path: folder.join(NAME),
            bytes,
        }
    }

    /// Allocates the space, or completes a partial allocation; idempotent.
    ///
    /// # Errors
    /// I/O; on a full disk, no partial ballast remains.
    pub fn take(&self) -> io::Result<()> {
        if self.bytes == 0 || self.is_held()? {
            return Ok(());
        }
        let taken = self.allocate();
        if taken.is_err() {
            self.give_up()?;
        }
        taken
    }

    /// Releases the space; idempotent.
    pub fn give_up(&self) -> io::Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Returns whether all of the space is allocated.
    pub fn is_held(&self) -> io::Result<bool> {
        match std::fs::symlink_metadata(&self.path) {
            Ok(found) => Ok(found.is_file() && found.len() >= self.bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn allocate(&self) -> io::Result<()> {
        let file: File = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
            .open(&self.path)?;
        rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, self.bytes)?;
        file.sync_all()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]

    use super::*;
    use std::os::unix::fs::MetadataExt;

    /// The ballast allocates real blocks and can be released and allocated again.
    #[test]
    fn space_is_taken_and_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let reserve = BallastFile::new(folder.path(), 1 << 20);
        assert!(!reserve.is_held().unwrap());
        for _ in 0..2 {
            reserve.take().unwrap();
            reserve.take().unwrap();
            assert!(reserve.is_held().unwrap());
            let found = std::fs::metadata(folder.path().join(NAME)).unwrap();
            assert_eq!(found.len(), 1 << 20);
            assert!(
                found.blocks() * 512 >= 1 << 20,
                "blocks are allocated, not promised"
            );
            reserve.give_up().unwrap();
            reserve.give_up().unwrap();
            assert!(!reserve.is_held().unwrap());
        }
        assert!(free_bytes(folder.path()).unwrap() > 0);
    }

    /// A size above the disk's capacity is refused as full, and nothing stays allocated.
    #[test]
    fn too_much_is_refused_whole() {
        let folder = tempfile::tempdir().unwrap();
        let reserve = BallastFile::new(folder.path(), 1 << 50);
        let error = reserve.take().unwrap_err();
        assert!(
            is_full_io(&error) || error.kind() == io::ErrorKind::FileTooLarge,
            "{error:?}"
        );
        assert!(!folder.path().join(NAME).exists());
    }

    /// A partial ballast is completed.
    #[test]
    fn a_short_reserve_is_completed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(NAME), [0; 100]).unwrap();
        let reserve = BallastFile::new(folder.path(), 1 << 16);
        assert!(!reserve.is_held().unwrap());
        reserve.take().unwrap();
        assert!(reserve.is_held().unwrap());
    }

    /// A full disk is recognised at every depth of an error chain.
    #[test]
    fn full_is_told_from_fault() {
        let full = || io::Error::from_raw_os_error(rustix::io::Errno::NOSPC.raw_os_error());
        let quota = io::Error::from_raw_os_error(rustix::io::Errno::DQUOT.raw_os_error());
        let fault = || io::Error::from_raw_os_error(rustix::io::Errno::IO.raw_os_error());
        assert!(is_full(&fjall::Error::Io(full())));
        assert!(is_full(&fjall::Error::Io(quota)));
        assert!(is_full(&fjall::Error::Storage(fjall::LsmError::Io(full()))));
        assert!(is_full(&fjall::Error::Io(io::Error::other(full()))));
        assert!(is_full_io(&io::Error::other(fjall::Error::Storage(
            fjall::LsmError::Io(full())
        ))));
        assert!(!is_full(&fjall::Error::Io(fault())));
        assert!(!is_full(&fjall::Error::Storage(fjall::LsmError::Io(
            fault()
        ))));
        assert!(!is_full(&fjall::Error::Poisoned));
        assert!(!is_full_io(&io::Error::other("no space left on device")));
    }
}
