//! Codes of single events: made when an event is recorded, checked before it is served.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use hmac::{Hmac, Mac};
use sha2::Sha256;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::super::StoreId;
use super::key::{SealKey, new_mac};

/// Number of events whose check is remembered. One takes 8 bytes.
const CHECKED_MAX: usize = CHUNKS * CHUNK_EVENTS;
/// The memory for them is taken in chunks, as events are checked.
const CHUNKS: usize = 32;
const CHUNK_EVENTS: usize = 512;

/// The code of an event: the first 16 bytes of an HMAC-SHA-256.
pub type EventSeal = [u8; 16];

/// The reason why an event is not genuine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The event has no code, although every event from some position on has one.
    #[error("the event is not sealed, so this daemon did not write it")]
    Unsealed,
    /// The code does not fit.
    #[error("the seal of the event does not fit, so this daemon did not write it")]
    Wrong,
}

/// Makes and checks the codes of one store's events.
///
/// A code covers the event's header, with its position, the hash of its payload and its link, so an event cannot be
/// changed, moved or put into another store. Who changes a payload changes its hash, which is checked beside.
#[derive(Debug)]
pub struct Sealer {
    mac: Hmac<Sha256>,
    /// First position at which every event has a code. Events before it were recorded by a release without seals, or
    /// accepted by a person.
    from: u64,
    /// Fingerprints of stored events that were checked, by position. The bytes of an event are its own witness: a
    /// changed event has another fingerprint, and is checked again.
    checked: [OnceLock<Box<[AtomicU64]>>; CHUNKS],
    seed: u64,
    /// The first damage that a read met.
    met: Mutex<Option<String>>,
    has_met: AtomicBool,
}

impl Sealer {
    /// Returns the sealer of a store, whose events from position `from` on have codes.
    #[must_use]
    pub fn new(key: &SealKey, store: StoreId, from: u64) -> Self {
        let own = key.code(&[b"lore events\0", &store.0]);
        let seed = key.code(&[b"lore fingerprints\0", &store.0]);
        let (seed, _) = seed.split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
        Self {
            mac: new_mac(&own),
            from,
            checked: [const { OnceLock::new() }; CHUNKS],
            seed: u64::from_le_bytes(*seed),
            met: Mutex::default(),
            has_met: AtomicBool::new(false),
        }
    }

    /// Returns the first position at which every event has a code.
    #[must_use]
    pub fn from(&self) -> u64 {
        self.from
    }

    /// Returns the code of an event.
    #[must_use]
    pub fn seal(&self, header: &[u8], payload_hash: &[u8; 32], link: &[u8; 32]) -> EventSeal {
        let whole = self
            .begin(header, payload_hash, link)
            .finalize()
            .into_bytes();
        let mut code = EventSeal::default();
        code.iter_mut().zip(whole).for_each(|(to, from)| *to = from);
        code
    }

    /// Checks the code of an event at a position.
    ///
    /// # Errors
    /// [`SealError`].
    pub fn check(
        &self,
        position: u64,
        header: &[u8],
        payload_hash: &[u8; 32],
        link: &[u8; 32],
        seal: Option<&EventSeal>,
    ) -> Result<(), SealError> {
        match seal {
            _ if position < self.from => Ok(()),
            None => Err(SealError::Unsealed),
            // In constant time: the code of a forged event is not found byte by byte.
            Some(seal) => self
                .begin(header, payload_hash, link)
                .verify_truncated_left(seal)
                .map_err(|_| SealError::Wrong),
        }
    }

    fn begin(&self, header: &[u8], payload_hash: &[u8; 32], link: &[u8; 32]) -> Hmac<Sha256> {
        let mut mac = self.mac.clone();
        mac.update(payload_hash);
        mac.update(link);
        mac.update(header);
        mac
    }

    /// Returns whether exactly these stored bytes were checked before.
    #[must_use]
    pub fn is_checked(&self, position: u64, stored: &[u8]) -> bool {
        self.slot(position).load(Ordering::Relaxed) == self.fingerprint(position, stored)
    }

    /// Remembers that these stored bytes were checked.
    pub fn remember(&self, position: u64, stored: &[u8]) {
        let fingerprint = self.fingerprint(position, stored);
        self.slot(position).store(fingerprint, Ordering::Relaxed);
    }

    /// Notes damage that a read met; the first one is kept. A list that leaves a damaged event out says so with it.
    pub fn note_damage(&self, met: &str) {
        let mut first = self.lock();
        first.get_or_insert_with(|| met.to_owned());
        self.has_met.store(true, Ordering::Relaxed);
    }

    /// Returns the first damage that a read met; `None` when none did.
    #[must_use]
    pub fn damage(&self) -> Option<String> {
        match self.has_met.load(Ordering::Relaxed) {
            true => self.lock().clone(),
            false => None,
        }
    }

    /// Forgets the damage that was met: a verification found that there is none any more.
    pub fn clear_damage(&self) {
        *self.lock() = None;
        self.has_met.store(false, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Option<String>> {
        self.met.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn slot(&self, position: u64) -> &AtomicU64 {
        let place = (position % CHECKED_MAX as u64) as usize;
        let empty = || std::iter::repeat_with(AtomicU64::default);
        // The remainder is below the number of all slots.
        #[allow(clippy::indexing_slicing)]
        let chunk =
            self.checked[place / CHUNK_EVENTS].get_or_init(|| empty().take(CHUNK_EVENTS).collect());
        #[allow(clippy::indexing_slicing)]
        &chunk[place % CHUNK_EVENTS]
    }

    /// Never 0, which is an empty slot.
    fn fingerprint(&self, position: u64, stored: &[u8]) -> u64 {
        xxh3_64_with_seed(stored, self.seed ^ position) | 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: StoreId = StoreId([7; 16]);

    fn sealer(key: u8, id: StoreId, from: u64) -> Sealer {
        Sealer::new(&SealKey::new([key; 32]), id, from)
    }

    /// Every part of an event, the key and the store are covered. Events before the first sealed one need no code, and
    /// one by another key, of a restored or accepted log, does not matter.
    #[test]
    fn every_part_is_covered() {
        let own = sealer(1, ID, 5);
        let (header, payload, link) = (b"header".as_slice(), [2; 32], [3; 32]);
        let code = own.seal(header, &payload, &link);
        let check = |sealer: &Sealer, position, header: &[u8], payload, link, code| {
            sealer.check(position, header, payload, link, code)
        };
        assert_eq!(check(&own, 9, header, &payload, &link, Some(&code)), Ok(()));
        let wrong = Err(SealError::Wrong);
        assert_eq!(
            check(&own, 9, b"other", &payload, &link, Some(&code)),
            wrong
        );
        assert_eq!(check(&own, 9, header, &[4; 32], &link, Some(&code)), wrong);
        assert_eq!(
            check(&own, 9, header, &payload, &[4; 32], Some(&code)),
            wrong
        );
        for other in [sealer(2, ID, 5), sealer(1, StoreId([8; 16]), 5)] {
            assert_eq!(
                check(&other, 9, header, &payload, &link, Some(&code)),
                wrong
            );
        }
        assert_eq!(check(&own, 4, header, &payload, &link, None), Ok(()));
        assert_eq!(
            check(&own, 4, header, &payload, &link, Some(&[0; 16])),
            Ok(())
        );
        let unsealed = Err(SealError::Unsealed);
        assert_eq!(check(&own, 5, header, &payload, &link, None), unsealed);
    }

    /// Only the very bytes that were checked are known, each position for itself.
    #[test]
    fn only_checked_bytes_are_known() {
        let own = sealer(1, ID, 1);
        assert!(!own.is_checked(3, b"event"));
        own.remember(3, b"event");
        assert!(own.is_checked(3, b"event"));
        assert!(!own.is_checked(3, b"evenT"));
        assert!(!own.is_checked(4, b"event"));
        own.remember(3 + CHECKED_MAX as u64, b"other");
        assert!(!own.is_checked(3, b"event"));
    }
}
