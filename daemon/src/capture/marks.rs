//! Marks of observations: what a hook and a transcript report of the same thing is found by its content and time, where
//! they give it different ids.
//!
//! A row has the observations of a session with one content in one window of time. Each may be met once by a report of the
//! other origin: who says the same words twice within a window said them twice.

use lored_hosts::{KEY_WINDOW_MS, Observation, Origin};

use super::SPACE;
use crate::events::capture::ContentMark;
use crate::log::Position;
use crate::rows::{self, key_in};
use crate::store::{Error, Rows, RowsMut, remove_all};

/// Observations of a row that are kept, the newest ones.
const ROW_MAX: usize = 32;
/// Size of an observation in a row, in bytes.
const ENTRY_BYTES: usize = 17;
/// Bits of an entry's last byte.
const IS_TRANSCRIPT: u8 = 1;
const IS_MET: u8 = 2;
const HAS_COMMON_ID: u8 = 4;

/// A marked observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Marked {
    at_ms: i64,
    position: Position,
    is_transcript: bool,
    has_common_id: bool,
    is_met: bool,
}

impl Marked {
    fn encode(self) -> [u8; ENTRY_BYTES] {
        let mut entry = [0; ENTRY_BYTES];
        let bits = [
            (self.is_transcript, IS_TRANSCRIPT),
            (self.has_common_id, HAS_COMMON_ID),
            (self.is_met, IS_MET),
        ];
        let bits = bits.into_iter().filter(|(is_set, _)| *is_set);
        let bits = bits.fold(0, |bits, (_, bit)| bits | bit);
        let bytes = self.at_ms.to_be_bytes().into_iter();
        let bytes = bytes.chain(self.position.0.to_be_bytes()).chain([bits]);
        for (place, byte) in entry.iter_mut().zip(bytes) {
            *place = byte;
        }
        entry
    }

    fn decode(entry: &[u8]) -> Option<Self> {
        let (at_ms, rest) = entry.split_first_chunk::<8>()?;
        let (position, bits) = rest.split_first_chunk::<8>()?;
        let bits = *bits.first()?;
        Some(Self {
            at_ms: i64::from_be_bytes(*at_ms),
            position: Position(u64::from_be_bytes(*position)),
            is_transcript: bits & IS_TRANSCRIPT != 0,
            has_common_id: bits & HAS_COMMON_ID != 0,
            is_met: bits & IS_MET != 0,
        })
    }
}

/// Returns the mark of an observation, at its own time or this one.
#[must_use]
pub(super) fn mark_of(observation: &Observation, now_ms: i64) -> ContentMark {
    ContentMark {
        content: observation.content_key.number(),
        at_ms: observation.source.at_ms.unwrap_or(now_ms),
        is_transcript: observation.origin == Origin::Transcript,
        has_common_id: observation.has_common_id(),
    }
}

/// Returns the number of the window that a time is in.
const fn window(at_ms: i64) -> i64 {
    at_ms.div_euclid(KEY_WINDOW_MS)
}

fn key(session: &str, content: u64, window: i64) -> Vec<u8> {
    let mut key = key_in(b'm', session, "");
    key.extend(content.to_be_bytes());
    key.extend(window.to_be_bytes());
    key
}

fn read(rows: &dyn Rows, key: &[u8]) -> Result<Vec<Marked>, Error> {
    let Some(row) = rows.get(SPACE, key)? else {
        return Ok(Vec::new());
    };
    let entries = row.chunks(ENTRY_BYTES).map(Marked::decode);
    let entries: Option<Vec<_>> = entries.collect();
    entries.ok_or_else(|| rows::damaged(SPACE, key))
}

fn put(rows: &mut dyn RowsMut, key: &[u8], entries: &[Marked]) {
    let entries: Vec<u8> = entries.iter().flat_map(|one| one.encode()).collect();
    rows.put(SPACE, key, &entries);
}

/// Adds an observation.
pub(super) fn note(
    rows: &mut dyn RowsMut,
    session: &str,
    mark: ContentMark,
    position: Position,
) -> Result<(), Error> {
    let key = key(session, mark.content, window(mark.at_ms));
    let mut entries = read(rows, &key)?;
    if entries.len() >= ROW_MAX {
        entries.remove(0);
    }
    entries.push(Marked {
        at_ms: mark.at_ms,
        position,
        is_transcript: mark.is_transcript,
        has_common_id: mark.has_common_id,
        is_met: false,
    });
    put(rows, &key, &entries);
    Ok(())
}

/// Notes that a report of the other origin met an observation.
pub(super) fn note_met(
    rows: &mut dyn RowsMut,
    session: &str,
    mark: ContentMark,
    position: Position,
) -> Result<(), Error> {
    let key = key(session, mark.content, window(mark.at_ms));
    let mut entries = read(rows, &key)?;
    // It may have been forgotten since.
    if let Some(met) = entries.iter_mut().find(|one| one.position == position) {
        met.is_met = true;
        put(rows, &key, &entries);
    }
    Ok(())
}

/// Returns the observation of the other origin that reports the same thing as this mark: the nearest one within the window
/// that was not met yet, with its own mark.
///
/// # Errors
/// When a row cannot be read.
pub(super) fn find(
    rows: &dyn Rows,
    session: &str,
    mark: ContentMark,
) -> Result<Option<(Position, ContentMark)>, Error> {
    let mut nearest: Option<(u64, Marked)> = None;
    let own = window(mark.at_ms);
    for window in [own, own.saturating_sub(1), own.saturating_add(1)] {
        for entry in read(rows, &key(session, mark.content, window))? {
            let apart = entry.at_ms.abs_diff(mark.at_ms);
            let is_nearer = nearest.is_none_or(|(before, _)| apart < before);
            // Two ids that would be the same if they meant the same.
            let is_other = entry.has_common_id && mark.has_common_id;
            let is_its = entry.is_transcript != mark.is_transcript && !entry.is_met && !is_other;
            if is_its && is_nearer && apart <= KEY_WINDOW_MS.unsigned_abs() {
                nearest = Some((apart, entry));
            }
        }
    }
    Ok(nearest.map(|(_, entry)| {
        let mark = ContentMark {
            at_ms: entry.at_ms,
            is_transcript: entry.is_transcript,
            has_common_id: entry.has_common_id,
            ..mark
        };
        (entry.position, mark)
    }))
}

/// Removes the marks of a session.
///
/// # Errors
/// When a row cannot be read.
pub fn forget(rows: &mut dyn RowsMut, session: &str) -> Result<(), Error> {
    remove_all(rows, SPACE, &key_in(b'm', session, ""))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::store::MemoryStore;

    const fn mark(at_ms: i64, is_transcript: bool) -> ContentMark {
        ContentMark {
            content: 7,
            at_ms,
            is_transcript,
            has_common_id: false,
        }
    }

    #[test]
    fn a_report_meets_the_nearest_of_the_other_origin_once() {
        let mut rows = MemoryStore::new();
        for (at, position) in [(9_999, 3), (10_001, 4), (40_000, 5), (-1, 6)] {
            note(&mut rows, "s", mark(at, false), Position(position)).unwrap();
        }
        let sought = mark(10_002, true);
        let (position, met) = find(&rows, "s", sought).unwrap().unwrap();
        assert_eq!((position, met), (Position(4), mark(10_001, false)));
        note_met(&mut rows, "s", met, position).unwrap();
        let (position, met) = find(&rows, "s", sought).unwrap().unwrap();
        assert_eq!(position, Position(3));
        note_met(&mut rows, "s", met, position).unwrap();
        assert_eq!(find(&rows, "s", sought).unwrap(), None);
        assert_eq!(find(&rows, "s", mark(10_002, false)).unwrap(), None);
        assert_eq!(find(&rows, "t", mark(40_000, true)).unwrap(), None);
        assert!(find(&rows, "s", mark(-2, true)).unwrap().is_some());
        assert!(find(&rows, "s", mark(50_001, true)).unwrap().is_none());
        let known = ContentMark {
            has_common_id: true,
            ..mark(90_000, false)
        };
        note(&mut rows, "s", known, Position(7)).unwrap();
        let has_id = ContentMark {
            has_common_id: true,
            ..mark(90_001, true)
        };
        assert_eq!(find(&rows, "s", has_id).unwrap(), None, "ids decide");
        assert!(find(&rows, "s", mark(90_001, true)).unwrap().is_some());
        assert!(find(&rows, "s", mark(i64::MIN, true)).unwrap().is_none());
        assert!(find(&rows, "s", mark(i64::MAX, true)).unwrap().is_none());
        forget(&mut rows, "s").unwrap();
        assert!(rows == MemoryStore::new());
    }

    /// A row is bounded: who repeats one thing thousands of times in ten seconds loses the oldest.
    #[test]
    fn a_row_keeps_the_newest() {
        let mut rows = MemoryStore::new();
        for position in 1..=100 {
            note(&mut rows, "s", mark(5, true), Position(position)).unwrap();
        }
        let row = rows.get(SPACE, &key("s", 7, 0)).unwrap().unwrap();
        assert_eq!(row.len(), ROW_MAX * ENTRY_BYTES);
        let last = Marked::decode(row.rchunks(ENTRY_BYTES).next().unwrap()).unwrap();
        assert_eq!(last.position, Position(100));
    }
}
