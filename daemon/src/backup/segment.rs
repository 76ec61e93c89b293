//! A segment: a file of length-prefixed parts, written once and identified by its SHA-256.
//!
//! The first line of text names the content. Then each part follows: its length (u32 big-endian) and its bytes. A
//! part of a log segment is a record; a part of an object segment is a hash (32 bytes) and a row.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Error;
use crate::log::{Hash, LoggedEvent, Position, codec, decode_record};

/// Size at which a segment is closed, in bytes.
pub const SEGMENT_BYTES: u64 = 64 << 20;
/// Maximum size of a part, in bytes; far above any record or row.
pub const PART_BYTES_MAX: u32 = 256 << 20;

/// The content type of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Log records.
    Log,
    /// Object rows.
    Objects,
}

impl Content {
    /// Returns the first line of the file.
    #[must_use]
    pub const fn line(self) -> &'static [u8] {
        match self {
            Self::Log => b"lore-backup log 1\n",
            Self::Objects => b"lore-backup objects 1\n",
        }
    }

    /// Returns the folder name in a backup, which is also the file extension.
    #[must_use]
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Objects => "objects",
        }
    }
}

/// A segment's entry in the manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Segment {
    /// Path of the file, relative to the backup folder.
    pub file: String,
    /// For a log segment: its first position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<u64>,
    /// For a log segment: its last position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<u64>,
    /// Length in bytes.
    pub bytes: u64,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
}

/// A segment that is being written, under a temporary name.
pub struct Writer {
    content: Content,
    path: PathBuf,
    file: BufWriter<File>,
    hash: Sha256,
    bytes: u64,
}

impl Writer {
    /// Creates an empty segment.
    pub fn create(path: PathBuf, content: Content) -> Result<Self, Error> {
        let file = File::create(&path).map_err(Error::file("creating", &path))?;
        let mut writer = Self {
            content,
            path,
            file: BufWriter::with_capacity(1 << 16, file),
            hash: Sha256::new(),
            bytes: 0,
        };
        writer.write(content.line())?;
        Ok(writer)
    }

    /// Returns the content type.
    #[must_use]
    pub fn content(&self) -> Content {
        self.content
    }

    /// Returns whether the segment has reached its maximum size.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.bytes >= SEGMENT_BYTES
    }

    /// Appends a part that consists of these pieces.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::Refused`] when the part is too long.
    pub fn push(&mut self, pieces: &[&[u8]]) -> Result<(), Error> {
        let length: usize = pieces.iter().map(|piece| piece.len()).sum();
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        if length > PART_BYTES_MAX {
            return Err(Error::refused("a record is too long for a backup"));
        }
        self.write(&length.to_be_bytes())?;
        pieces.iter().try_for_each(|piece| self.write(piece))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        let written = self.file.write_all(bytes);
        written.map_err(Error::file("writing", &self.path))
    }

    /// Makes the segment durable and returns its path, length and SHA-256.
    pub fn finish(self) -> Result<(PathBuf, u64, Hash), Error> {
        let file = self.file.into_inner().map_err(std::io::Error::from);
        file.and_then(|file| file.sync_all())
            .map_err(Error::file("writing", &self.path))?;
        Ok((self.path, self.bytes, Hash(self.hash.finalize().into())))
    }
}

/// Reads every part of a segment and verifies its SHA-256 at the end.
///
/// # Errors
/// [`Error::Damaged`] when the file does not match the manifest, or the error of `visit`.
pub fn read(
    folder: &Path,
    segment: &Segment,
    content: Content,
    visit: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let path = folder.join(&segment.file);
    let file = open(folder, segment)?;
    let mut hashing = Hashing {
        inner: BufReader::with_capacity(1 << 16, file),
        hash: Sha256::new(),
    };
    let parsed = parts(&mut hashing, content, &mut |part| {
        visit(part).map_err(SegmentError::Visit)
    });
    let parsed = match parsed {
        Err(SegmentError::Visit(error)) => return Err(error),
        Err(SegmentError::Io(error)) => return Err(Error::file("reading", &path)(error)),
        Err(SegmentError::Form(what)) => Err(what),
        Ok(()) => Ok(()),
    };
    if let Err(what) = parsed {
        return Err(Error::damaged(&path, what));
    }
    if Hash(hashing.hash.finalize().into()).to_string() != segment.sha256 {
        return Err(Error::damaged(&path, "it does not match its SHA-256"));
    }
    Ok(())
}

/// Opens a segment and checks its length against the manifest.
pub fn open(folder: &Path, segment: &Segment) -> Result<File, Error> {
    let path = folder.join(&segment.file);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::damaged(&path, "the file is missing"));
        }
        Err(error) => return Err(Error::file("opening", &path)(error)),
    };
    let metadata = file.metadata().map_err(Error::file("reading", &path))?;
    if !metadata.is_file() || metadata.len() != segment.bytes {
        let (is, wanted) = (metadata.len(), segment.bytes);
        let what = format!("it has {is} bytes where the manifest says {wanted}");
        return Err(Error::damaged(&path, what));
    }
    Ok(file)
}

/// Callback for each part.
pub type PartVisitor<'v, E> = &'v mut dyn FnMut(&[u8]) -> Result<(), SegmentError<E>>;

/// The reason for an incomplete read of a segment.
pub enum SegmentError<E> {
    /// The segment's format is invalid.
    Form(String),
    /// The file cannot be read.
    Io(std::io::Error),
    /// The visitor failed.
    Visit(E),
}

/// Visits the parts of a segment. No more memory is taken than bytes are there.
pub fn parts<E>(
    from: &mut dyn Read,
    content: Content,
    visit: PartVisitor<'_, E>,
) -> Result<(), SegmentError<E>> {
    let mut line = Vec::new();
    let length = content.line().len() as u64;
    from.take(length)
        .read_to_end(&mut line)
        .map_err(SegmentError::Io)?;
    if line != content.line() {
        return Err(SegmentError::Form(
            "its first line is another one".to_owned(),
        ));
    }
    let mut part = Vec::new();
    loop {
        part.clear();
        from.take(4)
            .read_to_end(&mut part)
            .map_err(SegmentError::Io)?;
        let length = match <[u8; 4]>::try_from(part.as_slice()) {
            Ok(length) => u32::from_be_bytes(length),
            Err(_) if part.is_empty() => return Ok(()),
            Err(_) => {
                return Err(SegmentError::Form(
                    "it ends in the middle of a length".to_owned(),
                ));
            }
        };
        if length > PART_BYTES_MAX {
            return Err(SegmentError::Form(format!("a part claims {length} bytes")));
        }
        part.clear();
        from.take(length.into())
            .read_to_end(&mut part)
            .map_err(SegmentError::Io)?;
        if part.len() as u64 != u64::from(length) {
            return Err(SegmentError::Form(
                "it ends in the middle of a part".to_owned(),
            ));
        }
        visit(&part)?;
    }
}

/// Decodes the events of a log part and verifies them against the previous chain link.
pub fn events(
    part: &[u8],
    previous: &mut Hash,
    at: &mut Position,
) -> Result<Vec<LoggedEvent>, String> {
    let mut found = Vec::new();
    for slice in decode_record(part)? {
        let event = codec::decode_event(slice)?;
        let expected = Position(at.0.saturating_add(1));
        event
            .check(previous, expected)
            .map_err(|error| format!("at position {expected}: {error}"))?;
        (*previous, *at) = (event.link, expected);
        found.push(event);
    }
    Ok(found)
}

/// Splits a part into the object's hash and row.
pub fn object(part: &[u8]) -> Result<(Hash, &[u8]), String> {
    part.split_first_chunk::<32>()
        .map(|(hash, row)| (Hash(*hash), row))
        .ok_or_else(|| "a part is too short for an object".to_owned())
}

struct Hashing<R> {
    inner: R,
    hash: Sha256,
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.hash.update(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A segment survives a round trip, and any changed byte of the file is detected.
        #[test]
        fn parts_come_back_or_damage_is_told(
            written in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..50), 0..6),
            at in any::<prop::sample::Index>(),
            bit in 0..8_u8,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut writer = Writer::create(folder.path().join("a"), Content::Objects).unwrap();
            for part in &written {
                writer.push(&[part]).unwrap();
            }
            let (path, bytes, hash) = writer.finish().unwrap();
            let segment = Segment {
                file: "a".to_owned(),
                bytes,
                sha256: hash.to_string(),
                ..Segment::default()
            };
            let mut found = Vec::new();
            read(folder.path(), &segment, Content::Objects, &mut |part| {
                found.push(part.to_vec());
                Ok(())
            }).unwrap();
            prop_assert_eq!(&found, &written);
            let mut content = std::fs::read(&path).unwrap();
            let at = at.index(content.len());
            *content.get_mut(at).unwrap() ^= 1 << bit;
            std::fs::write(&path, content).unwrap();
            let read = read(folder.path(), &segment, Content::Objects, &mut |_| Ok(()));
            let is_told = matches!(read, Err(Error::Damaged { .. }));
            prop_assert!(is_told);
        }

        /// Arbitrary bytes are refused or read, without a panic.
        #[test]
        fn arbitrary_bytes_never_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            for content in [Content::Log, Content::Objects] {
                bytes.splice(..0, content.line().iter().copied());
                let _ = parts::<()>(&mut bytes.as_slice(), content, &mut |part| {
                    let _ = events(part, &mut Hash::default(), &mut Position(0));
                    let _ = object(part);
                    Ok(())
                });
            }
        }
    }
}
