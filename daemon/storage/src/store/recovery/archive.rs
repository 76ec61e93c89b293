//! The container format of lsm-tree's tables and manifests: sections, a table of contents, a trailer.
//!
//! lsm-tree allocates memory for the claimed number of entries in the table of contents before it compares the
//! checksum. One flipped bit there ends the process with an allocation of 40 GB. This reader compares first.

use std::{fs::File, io, ops::Range, os::unix::fs::FileExt, path::Path};
use xxhash_rust::xxh3::xxh3_128;

/// Magic, version, checksum type, checksum (16), position and length of the table of contents (8 each).
const TRAILER_BYTES: usize = 38;
const TRAILER_START: [u8; 6] = *b"SFA!\x01\x00";
const CONTENTS_START: [u8; 4] = *b"TOC!";
/// Maximum size of the table of contents, in bytes; a table has a dozen sections with short names.
const CONTENTS_BYTES_MAX: u64 = 1 << 16;

/// The name and byte range of a section.
pub(super) type Section = (Vec<u8>, Range<u64>);

/// Returns the sections of an archive; `None` if its table of contents or its trailer is damaged.
pub(super) fn sections(path: &Path) -> io::Result<Option<Vec<Section>>> {
    let file = File::open(path)?;
    let len = file.metadata()?.len();
    let Some(trailer_at) = len.checked_sub(TRAILER_BYTES as u64) else {
        return Ok(None);
    };
    let mut trailer = [0; TRAILER_BYTES];
    file.read_exact_at(&mut trailer, trailer_at)?;
    let Some((sum, at)) = trailer_of(&trailer) else {
        return Ok(None);
    };
    let Some(count) = trailer_at
        .checked_sub(at)
        .filter(|count| *count <= CONTENTS_BYTES_MAX)
    else {
        return Ok(None);
    };
    let mut contents = vec![0; usize::try_from(count).unwrap_or_default()];
    file.read_exact_at(&mut contents, at)?;
    Ok((xxh3_128(&contents) == sum)
        .then(|| parse(&contents))
        .flatten())
}

/// Returns the checksum and the start of the table of contents.
fn trailer_of(trailer: &[u8]) -> Option<(u128, u64)> {
    let rest = trailer.strip_prefix(&TRAILER_START)?;
    let (sum, rest) = rest.split_first_chunk::<16>()?;
    let (at, _) = rest.split_first_chunk::<8>()?;
    Some((u128::from_le_bytes(*sum), u64::from_le_bytes(*at)))
}

fn parse(contents: &[u8]) -> Option<Vec<Section>> {
    let rest = contents.strip_prefix(&CONTENTS_START)?;
    let (count, mut rest) = rest.split_first_chunk::<4>()?;
    let mut sections = Vec::new();
    for _ in 0..u32::from_le_bytes(*count) {
        let (at, after) = rest.split_first_chunk::<8>()?;
        let (len, after) = after.split_first_chunk::<8>()?;
        let (name_bytes, after) = after.split_first_chunk::<2>()?;
        let (name, after) = after.split_at_checked(usize::from(u16::from_le_bytes(*name_bytes)))?;
        let at = u64::from_le_bytes(*at);
        sections.push((name.to_vec(), at..at.checked_add(u64::from_le_bytes(*len))?));
        rest = after;
    }
    Some(sections)
}
