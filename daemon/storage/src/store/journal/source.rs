//! A journal file read by position through one fixed buffer, so that no length found in it is trusted.

use std::{fs::File, io, ops::Range, os::unix::fs::FileExt, path::Path};
use xxhash_rust::xxh3::Xxh3;

/// Bytes held in memory at once while walking headers, hashing and scanning.
pub(super) const WINDOW_BYTES: usize = 128 * 1024;
/// What a scan for content compares with.
static ZEROS: [u8; 4096] = [0; 4096];

/// A read-only file with a window of its bytes.
pub(super) struct Source {
    file: File,
    len: u64,
    window: Vec<u8>,
    window_at: u64,
}

impl Source {
    /// Opens a file; its length is taken once, here.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let len = file.metadata()?.len();
        Ok(Self {
            file,
            len,
            window: Vec::new(),
            window_at: 0,
        })
    }

    /// The file's length in bytes.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// The bytes of `at..at + count` if the file holds them all; `count` is at most the window's size.
    pub(super) fn bytes(&mut self, at: u64, count: usize) -> io::Result<Option<&[u8]>> {
        let Some(end) = at.checked_add(count as u64).filter(|end| *end <= self.len) else {
            return Ok(None);
        };
        let held = self.window_at..self.window_at + self.window.len() as u64;
        if at < held.start || end > held.end {
            self.load(at)?;
        }
        let from = usize::try_from(at - self.window_at).unwrap_or(usize::MAX);
        Ok(self.window.get(from..from.saturating_add(count)))
    }

    /// As many bytes from `at` as the window has: empty at the end of the file.
    pub(super) fn chunk(&mut self, at: u64) -> io::Result<&[u8]> {
        if at >= self.len {
            return Ok(&[]);
        }
        let held = self.window_at..self.window_at + self.window.len() as u64;
        if !held.contains(&at) {
            self.load(at)?;
        }
        let from = usize::try_from(at - self.window_at).unwrap_or(usize::MAX);
        Ok(self.window.get(from..).unwrap_or_default())
    }

    /// Feeds a range of the file to a hasher, window by window.
    pub(super) fn hash(&mut self, range: Range<u64>, hasher: &mut Xxh3) -> io::Result<()> {
        let mut at = range.start;
        while at < range.end {
            let chunk = self.chunk(at)?;
            let count = chunk.len().min(clamped(range.end - at));
            let Some(part) = chunk.get(..count).filter(|part| !part.is_empty()) else {
                return Err(io::ErrorKind::UnexpectedEof.into());
            };
            hasher.update(part);
            at += count as u64;
        }
        Ok(())
    }

    /// Reads a range into `into`, replacing what it held. Only for ranges whose checksum has been verified.
    pub(super) fn copy(&self, range: Range<u64>, into: &mut Vec<u8>) -> io::Result<()> {
        if range.end > self.len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        into.clear();
        into.resize(clamped(range.end.saturating_sub(range.start)), 0);
        self.file.read_exact_at(into, range.start)
    }

    /// The first offset at or after `at` whose byte is not zero.
    pub(super) fn first_content(&mut self, mut at: u64) -> io::Result<Option<u64>> {
        loop {
            let chunk = self.chunk(at)?;
            if chunk.is_empty() {
                return Ok(None);
            }
            for part in chunk.chunks(ZEROS.len()) {
                // A whole block is compared at once: pre-allocated journals hold 64 MiB of zeros.
                if ZEROS.get(..part.len()) != Some(part) {
                    let inside = part.iter().position(|byte| *byte != 0).unwrap_or(0);
                    return Ok(Some(at + inside as u64));
                }
                at += part.len() as u64;
            }
        }
    }

    /// The offset behind the last byte that is not zero, at least `floor`.
    pub(super) fn content_end(&mut self, floor: u64) -> io::Result<u64> {
        let mut end = floor;
        let mut at = floor;
        while let Some(found) = self.first_content(at)? {
            let chunk = self.chunk(found)?;
            let block = chunk.get(..chunk.len().min(ZEROS.len())).unwrap_or(chunk);
            let last = block.iter().rposition(|byte| *byte != 0).unwrap_or(0);
            end = found + last as u64 + 1;
            at = found + block.len().max(1) as u64;
        }
        Ok(end)
    }

    fn load(&mut self, at: u64) -> io::Result<()> {
        let count = clamped(self.len.saturating_sub(at)).min(WINDOW_BYTES);
        self.window.clear();
        self.window.resize(count, 0);
        self.window_at = at;
        let read = self.file.read_exact_at(&mut self.window, at);
        if read.is_err() {
            self.window.clear();
        }
        read
    }
}

/// A file length as a count of bytes in memory.
fn clamped(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
