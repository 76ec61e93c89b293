//! The state of one file on a disk: synced content, and changes after the sync.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::UnsyncedState;
use crate::Random;

/// Size of a disk write in bytes.
const PAGE: u64 = 4096;
/// Size of an atomic disk write in bytes.
const SECTOR: u64 = 512;
/// One in this many pages is torn, when any content may be left.
const TORN_ONE_IN: u64 = 7;

/// A file on a disk.
#[derive(Clone, Debug, Default)]
pub(super) struct StoredFile {
    /// Synced pages; a missing page is zeros.
    pages: BTreeMap<u64, Vec<u8>>,
    length: u64,
    /// Changes that are not synced, in order.
    open: Vec<Open>,
}

#[derive(Clone, Debug)]
enum Open {
    Written { at: u64, bytes: Arc<[u8]> },
    Resized { length: u64 },
}

impl StoredFile {
    pub(super) fn write(&mut self, at: u64, bytes: Arc<[u8]>) {
        self.open.push(Open::Written { at, bytes });
    }

    pub(super) fn resize(&mut self, length: u64) {
        self.open.push(Open::Resized { length });
    }

    /// Marks all changes as synced.
    pub(super) fn sync(&mut self) {
        for open in std::mem::take(&mut self.open) {
            match open {
                Open::Written { at, bytes } => {
                    for (at, piece) in pieces(at, &bytes) {
                        self.put(at, piece);
                    }
                    self.length = self.length.max(at + bytes.len() as u64);
                }
                Open::Resized { length } => self.cut(length),
            }
        }
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Iterates the synced content as offsets and bytes; the gaps are zeros.
    pub(super) fn pieces(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.pages.iter().map(|(page, bytes)| {
            let at = page * PAGE;
            let within = self.length.saturating_sub(at).min(PAGE) as usize;
            (at, bytes.get(..within).unwrap_or(bytes))
        })
    }

    /// Returns the file after a cut, with all content synced.
    pub(super) fn left(&self, left: UnsyncedState, random: &mut Random) -> Self {
        let mut kept = self.clone();
        match left {
            UnsyncedState::Everything => kept.sync(),
            UnsyncedState::Nothing => kept.open.clear(),
            UnsyncedState::Lengths | UnsyncedState::FirstPages | UnsyncedState::LastPages => {
                let reached = self.reached_of_one(left);
                kept.reach(self.open.len(), &reached, || PAGE);
            }
            UnsyncedState::Anything => {
                // Lengths and contents reach the disk independently.
                let lengths = random.range(0, self.open.len() as u64 + 1) as usize;
                let reached = self
                    .times_written()
                    .into_iter()
                    .map(|(page, times)| (page, random.range(0, times + 1)))
                    .collect();
                kept.reach(lengths, &reached, || match random.one_in(TORN_ONE_IN) {
                    true => random.range(0, PAGE / SECTOR) * SECTOR,
                    false => PAGE,
                });
            }
        }
        kept
    }

    /// Counts the writes of each page since the sync.
    fn times_written(&self) -> BTreeMap<u64, u64> {
        let mut times = BTreeMap::new();
        for page in self.pages_written() {
            *times.entry(page).or_default() += 1;
        }
        times
    }

    /// Iterates the pages written since the sync, in order, each once per write.
    fn pages_written(&self) -> impl DoubleEndedIterator<Item = u64> {
        let written: Vec<u64> = self
            .open
            .iter()
            .filter_map(|open| match open {
                Open::Written { at, bytes } => Some(pieces(*at, bytes)),
                Open::Resized { .. } => None,
            })
            .flatten()
            .map(|(at, _)| at / PAGE)
            .collect();
        written.into_iter()
    }

    /// Returns the writes per page that reached the disk, where at most one page did.
    fn reached_of_one(&self, left: UnsyncedState) -> BTreeMap<u64, u64> {
        let mut written = self.pages_written();
        let one = match left {
            UnsyncedState::FirstPages => written.next(),
            UnsyncedState::LastPages => written.next_back(),
            UnsyncedState::Everything
            | UnsyncedState::Nothing
            | UnsyncedState::Lengths
            | UnsyncedState::Anything => None,
        };
        one.map(|page| (page, u64::MAX)).into_iter().collect()
    }

    /// Applies the first changes of the length, and the first contents of each page;
    /// of a page's last content only the first bytes.
    fn reach(
        &mut self,
        lengths: usize,
        reached: &BTreeMap<u64, u64>,
        mut last: impl FnMut() -> u64,
    ) {
        let mut seen: BTreeMap<u64, u64> = BTreeMap::new();
        let mut length = self.length;
        for (number, open) in std::mem::take(&mut self.open).into_iter().enumerate() {
            let counts = number < lengths;
            match open {
                Open::Resized { length: new } if counts => {
                    self.cut(new);
                    length = new;
                }
                Open::Resized { .. } => {}
                Open::Written { at, bytes } => {
                    for (at, piece) in pieces(at, &bytes) {
                        let page = at / PAGE;
                        let seen = seen.entry(page).or_default();
                        *seen += 1;
                        let times = reached.get(&page).copied().unwrap_or(0);
                        let bytes_left = match (*seen).cmp(&times) {
                            std::cmp::Ordering::Less => PAGE,
                            std::cmp::Ordering::Equal => last(),
                            std::cmp::Ordering::Greater => 0,
                        };
                        let end = bytes_left.saturating_sub(at % PAGE) as usize;
                        self.put(at, piece.get(..end).unwrap_or(piece));
                    }
                    if counts {
                        length = length.max(at + bytes.len() as u64);
                    }
                }
            }
        }
        self.length = length;
        // Pages beyond the end are dropped.
        self.pages.retain(|page, _| page * PAGE < length);
    }

    /// Writes bytes within one page.
    fn put(&mut self, at: u64, piece: &[u8]) {
        let page = self
            .pages
            .entry(at / PAGE)
            .or_insert_with(|| vec![0; PAGE as usize]);
        let from = (at % PAGE) as usize;
        let place = page.get_mut(from..from + piece.len());
        place.expect("a piece within a page").copy_from_slice(piece);
    }

    /// Changes the length; bytes beyond it read as zeros if the file grows again.
    fn cut(&mut self, length: u64) {
        self.pages.retain(|page, _| page * PAGE < length);
        let behind = (length % PAGE) as usize;
        if let Some(last) = self.pages.get_mut(&(length / PAGE)) {
            last.get_mut(behind..).unwrap_or_default().fill(0);
        }
        self.length = length;
    }
}

/// Splits bytes at page boundaries, with their offsets.
fn pieces(at: u64, bytes: &[u8]) -> Vec<(u64, &[u8])> {
    let mut pieces = Vec::new();
    let (mut at, mut rest) = (at, bytes);
    while !rest.is_empty() {
        let room = (PAGE - at % PAGE) as usize;
        let (piece, behind) = rest.split_at(room.min(rest.len()));
        pieces.push((at, piece));
        at += piece.len() as u64;
        rest = behind;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kept: &StoredFile) -> Vec<u8> {
        let mut all = vec![0; kept.length() as usize];
        for (at, bytes) in kept.pieces() {
            let at = at as usize;
            all.get_mut(at..at + bytes.len())
                .expect("within the file")
                .copy_from_slice(bytes);
        }
        all
    }

    fn left(kept: &StoredFile, left: UnsyncedState) -> Vec<u8> {
        read(&kept.left(left, &mut Random::new(1)))
    }

    /// Builds two pages of which the first is synced; then each is written, and the file shrinks and grows.
    #[test]
    fn a_cut_leaves_what_was_synced_and_what_was_asked_for() {
        let page = PAGE as usize;
        let mut kept = StoredFile::default();
        kept.write(0, vec![1; page].into());
        kept.sync();
        kept.write(10, vec![2; page].into());
        kept.write(2 * PAGE, vec![3; 5].into());
        let safe = vec![1; page];
        let whole = [
            &vec![1; 10][..],
            &vec![2; page],
            &vec![0; page - 10],
            &[3; 5],
        ]
        .concat();
        assert_eq!(left(&kept, UnsyncedState::Nothing), safe);
        assert_eq!(left(&kept, UnsyncedState::Everything), whole);
        let zeros = [&safe[..], &vec![0; page + 5]].concat();
        assert_eq!(left(&kept, UnsyncedState::Lengths), zeros);
        let first = [&vec![1; 10][..], &vec![2; page - 10], &vec![0; page + 5]].concat();
        assert_eq!(left(&kept, UnsyncedState::FirstPages), first);
        let last = [&safe[..], &vec![0; page], &[3; 5]].concat();
        assert_eq!(left(&kept, UnsyncedState::LastPages), last);
        kept.resize(4);
        kept.resize(6);
        assert_eq!(left(&kept, UnsyncedState::Everything), [1, 1, 1, 1, 0, 0]);
        assert_eq!(left(&kept, UnsyncedState::Nothing), safe);
        kept.sync();
        assert_eq!(left(&kept, UnsyncedState::Nothing), [1, 1, 1, 1, 0, 0]);
    }

    /// When any content may be left, every page has one of its contents, and each of them occurs.
    #[test]
    fn anything_is_one_of_the_contents_of_a_page() {
        let mut kept = StoredFile::default();
        kept.write(0, vec![1; PAGE as usize].into());
        kept.sync();
        kept.write(0, vec![2; PAGE as usize].into());
        kept.write(0, vec![3; PAGE as usize].into());
        let mut random = Random::new(7);
        let mut seen = [false; 4];
        for _ in 0..200 {
            let bytes = read(&kept.left(UnsyncedState::Anything, &mut random));
            assert_eq!(bytes.len(), PAGE as usize);
            for sector in bytes.chunks(SECTOR as usize) {
                let first = sector.first().copied().unwrap_or_default();
                assert!((1..=3).contains(&first) && sector.iter().all(|byte| *byte == first));
                *seen.get_mut(usize::from(first)).expect("one of three") = true;
            }
        }
        assert_eq!(seen, [false, true, true, true]);
    }
}
