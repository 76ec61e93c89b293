//! The piece hashes of the newest packs of a session, and of a project outside sessions.
//!
//! | key | value |
//! | --- | --- |
//! | `s` session 0 position (u64) · `p` project 0 position | hashes of the pieces, 8 bytes each |
//!
//! All numbers are big-endian. Only the newest packs are retained, because older ones are not cited any more. The
//! citing event stores the recognised spans, so nothing depends on these rows later.

use super::pieces::PieceHash;
use crate::log::Position;
use crate::rows::{self, key_in, until};
use crate::store::{Bytes, Direction, Error, Keyspace, Rows, RowsMut, remove_all};
use std::collections::HashSet;

/// The keyspace of this view, version 1.
pub const SPACE: Keyspace = Keyspace::new("quotes.1");

/// Number of newest packs for each owner whose hashes are retained.
pub const KEPT_PACKS: usize = 8;

/// The owner of a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackOwner<'o> {
    /// A session.
    Session(&'o str),
    /// A project, across its sessions; empty for packs without a project.
    Project(&'o str),
}

impl PackOwner<'_> {
    fn prefix(self) -> Vec<u8> {
        match self {
            Self::Session(session) => key_in(b's', session, ""),
            Self::Project(project) => key_in(b'p', project, ""),
        }
    }

    fn key(self, position: Position) -> Vec<u8> {
        let mut key = self.prefix();
        key.extend(position.0.to_be_bytes());
        key
    }
}

/// Stores the hashes of a pack and removes the oldest pack's above the limit.
pub fn remember(
    rows: &mut dyn RowsMut,
    owner: PackOwner<'_>,
    position: Position,
    pieces: &[PieceHash],
) -> Result<(), Error> {
    let value: Vec<u8> = pieces.iter().flat_map(|hash| hash.to_be_bytes()).collect();
    rows.put(SPACE, &owner.key(position), &value);
    let newest = newest(rows, &owner.prefix(), KEPT_PACKS + 1)?;
    // At most one pack is surplus, because older ones are already removed.
    if let Some((at, _)) = newest.get(KEPT_PACKS) {
        rows.remove(SPACE, &owner.key(*at));
    }
    Ok(())
}

/// Lists the newest packs, newest first: their positions and rows.
fn newest(rows: &dyn Rows, prefix: &[u8], limit: usize) -> Result<Vec<(Position, Bytes)>, Error> {
    let mut found = Vec::new();
    let backward = Direction::Backward;
    rows::walk(rows, SPACE, prefix, backward, &mut |at, value| {
        found.push((rows::position(at)?, value.clone()));
        Some(until(found.len() >= limit))
    })?;
    Ok(found)
}

/// Removes the hashes of an owner's packs.
pub fn forget(rows: &mut dyn RowsMut, owner: PackOwner<'_>) -> Result<(), Error> {
    remove_all(rows, SPACE, &owner.prefix())
}

/// The piece hashes of the newest packs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CitedPieces(HashSet<PieceHash>);

impl CitedPieces {
    /// Loads the hashes for these owners: a session and its ancestors, and its project.
    pub fn to<'o>(
        rows: &dyn Rows,
        owners: impl IntoIterator<Item = PackOwner<'o>>,
    ) -> Result<Self, Error> {
        let mut known = HashSet::new();
        for owner in owners {
            for (_, value) in newest(rows, &owner.prefix(), KEPT_PACKS)? {
                let hashes = value.as_chunks::<8>().0.iter();
                known.extend(hashes.map(|hash| u64::from_be_bytes(*hash)));
            }
        }
        Ok(Self(known))
    }

    /// Returns whether no hashes are known, so that no text is a citation.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the cited parts of a text as byte ranges; free when no hashes are known.
    #[must_use]
    pub fn spans(&self, text: &str) -> Vec<std::ops::Range<usize>> {
        if self.is_empty() {
            return Vec::new();
        }
        super::quoted_spans(text, |hash| self.0.contains(&hash))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::store::MemoryStore;

    const LINE: &str = "The uplinks of switch-nyc-01 are down since the maintenance of last night.";

    fn known(rows: &MemoryStore, owner: PackOwner<'_>) -> CitedPieces {
        CitedPieces::to(rows, [owner]).unwrap()
    }

    /// Only the owner of a pack knows its hashes; only the newest packs are known, and none after the session was
    /// forgotten.
    #[test]
    fn the_newest_packs_are_remembered() {
        let mut rows = MemoryStore::new();
        let (own, other) = (PackOwner::Session("s-1"), PackOwner::Session("s-2"));
        let pieces = super::super::pieces(LINE);
        assert!(known(&rows, own).spans(LINE).is_empty());
        remember(&mut rows, own, Position(1), &pieces).unwrap();
        let whole = 0..LINE.len();
        assert_eq!(known(&rows, own).spans(LINE), std::slice::from_ref(&whole));
        for owner in [other, PackOwner::Project("s-1"), PackOwner::Session("s")] {
            assert!(known(&rows, owner).is_empty());
        }
        for position in 2..=KEPT_PACKS as u64 + 1 {
            remember(&mut rows, own, Position(position), &[position]).unwrap();
        }
        assert!(
            known(&rows, own).spans(LINE).is_empty(),
            "the oldest is gone"
        );
        assert_eq!(rows.len(SPACE), KEPT_PACKS);
        remember(&mut rows, other, Position(20), &pieces).unwrap();
        forget(&mut rows, own).unwrap();
        assert!(known(&rows, own).is_empty() && !known(&rows, other).is_empty());
    }
}
