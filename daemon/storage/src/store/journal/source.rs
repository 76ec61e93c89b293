//! Reads a journal file by position through a fixed buffer, so that a length in the file is never trusted.

use std::{fs::File, io, ops::Range, os::unix::fs::FileExt, path::Path};
use xxhash_rust::xxh3::Xxh3;

/// Size of the buffer for walking headers, hashing and scanning, in bytes.
pub(super) const WINDOW_BYTES: usize = 128 * 1024;
/// Zeros, for comparison when a scan looks for content.
static ZEROS: [u8; 4096] = [0; 4096];

/// A read-only file with a buffered window of its bytes.
pub(super) struct Source {
    file: File,
    len: u64,
    window: Vec<u8>,
    window_at: u64,
}

impl Source {
    /// Opens a file and reads its length, once.
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

    /// Returns the file's length in bytes.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Returns the bytes of `at..at + count` if the file contains them all; `count` is at most the window's size.
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

    /// Returns at most one window of bytes from `at`; empty at the end of the file.
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

    /// Returns the first offset at or after `at` with a non-zero byte.
    pub(super) fn first_content(&mut self, mut at: u64) -> io::Result<Option<u64>> {
        loop {
            let chunk = self.chunk(at)?;
            if chunk.is_empty() {
                return Ok(None);
            }
            for part in chunk.chunks(ZEROS.len()) {
                // Whole blocks are compared, because pre-allocated journals contain 64 MiB of zeros.
                if ZEROS.get(..part.len()) != Some(part) {
                    let inside = part.iter().position(|byte| *byte != 0).unwrap_or(0);
                    return Ok(Some(at + inside as u64));
                }
                at += part.len() as u64;
            }
        }
    }

    /// Returns the end of the last non-zero byte, at least `floor`.
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

/// Converts a file length to a length in memory.
fn clamped(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
