//! Pages from the write-ahead log of a database: only complete transactions with matching checksums.

use std::collections::HashMap;
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::{Read, number};

/// Limit on a log, in bytes.
const BYTES_MAX: u64 = 4 << 30;
const HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;

/// A write-ahead log with at least one transaction.
pub struct Wal {
    /// Log file.
    pub file: File,
    /// Offset of each page's newest version.
    pub places: HashMap<u32, u64>,
    /// Number of pages in the database according to the last transaction.
    pub pages: u32,
}

/// Reads the log of the database in this file; `None` when it is missing or has no complete transaction.
///
/// # Errors
/// When the log is unreadable or too large.
pub fn read(path: &Path, page_bytes: usize) -> Read<Option<Wal>> {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    let file = match File::open(PathBuf::from(name)) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(&error)),
    };
    let bytes = file.metadata().map_err(|error| unreadable(&error))?.len();
    if bytes > BYTES_MAX {
        return Err(format!(
            "its write-ahead log has {bytes} bytes; at most {BYTES_MAX} are read"
        ));
    }
    let mut header = [0; HEADER_BYTES];
    if !fill(&file, &mut header, 0)? {
        return Ok(None);
    }
    let magic = number(&header, 0, 4)?;
    if magic & !1 != 0x377f_0682 || number(&header, 8, 4)? as usize != page_bytes {
        return Ok(None);
    }
    let mut sum = WalChecksum {
        is_big: magic & 1 == 1,
        sums: (0, 0),
    };
    sum.add(header.get(..24).unwrap_or_default());
    if sum.pair() != number(&header, 24, 8)? {
        return Ok(None);
    }
    let salts = number(&header, 16, 8)?;
    let (mut places, mut open, mut pages) = (HashMap::new(), Vec::new(), 0);
    let mut frame = vec![0; FRAME_HEADER_BYTES + page_bytes];
    let mut at = HEADER_BYTES as u64;
    while fill(&file, &mut frame, at)? {
        sum.add(frame.get(..8).unwrap_or_default());
        sum.add(frame.get(FRAME_HEADER_BYTES..).unwrap_or_default());
        if number(&frame, 8, 8)? != salts || number(&frame, 16, 8)? != sum.pair() {
            break;
        }
        let page = number(&frame, 0, 4)? as u32;
        open.push((page, at + FRAME_HEADER_BYTES as u64));
        let pages_then = number(&frame, 4, 4)? as u32;
        if pages_then > 0 {
            // A transaction is complete.
            places.extend(open.drain(..));
            pages = pages_then;
        }
        at += frame.len() as u64;
    }
    Ok((!places.is_empty()).then_some(Wal {
        file,
        places,
        pages,
    }))
}

/// Fills the buffer from an offset; `false` when the file ends before.
fn fill(file: &File, bytes: &mut [u8], at: u64) -> Read<bool> {
    match file.read_exact_at(bytes, at) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(unreadable(&error)),
    }
}

fn unreadable(error: &std::io::Error) -> String {
    format!("its write-ahead log cannot be read: {error}")
}

/// The running checksum of a log.
pub struct WalChecksum {
    /// Whether words are big-endian.
    pub is_big: bool,
    /// Current value.
    pub sums: (u32, u32),
}

impl WalChecksum {
    /// Adds bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        let (mut a, mut b) = self.sums;
        for pair in bytes.as_chunks::<8>().0 {
            let [w, x, y, z, p, q, r, s] = *pair;
            let word = |bytes: [u8; 4]| match self.is_big {
                true => u32::from_be_bytes(bytes),
                false => u32::from_le_bytes(bytes),
            };
            a = a.wrapping_add(word([w, x, y, z])).wrapping_add(b);
            b = b.wrapping_add(word([p, q, r, s])).wrapping_add(a);
        }
        self.sums = (a, b);
    }

    /// Returns the checksum as frames store it.
    #[must_use]
    pub fn pair(&self) -> u64 {
        u64::from(self.sums.0) << 32 | u64::from(self.sums.1)
    }
}
