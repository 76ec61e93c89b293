//! Limits concurrent connections and evicts one for a new connection when all slots are taken.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::locks::lock_unpoisoned;

/// Maximum number of evicted connections that may still be open while new ones are accepted.
const LEAVING_MAX: usize = 64;

/// One connection's slot, released when dropped.
pub struct ConnectionSlot {
    number: u64,
    connection_slots: Arc<ConnectionSlots>,
    has_finished: Arc<AtomicBool>,
}

/// All connection slots.
pub struct ConnectionSlots {
    taken: Mutex<OccupiedSlots>,
    max: usize,
    /// Notified whenever an evicted connection has closed.
    is_gone: Notify,
}

#[derive(Default)]
struct OccupiedSlots {
    by_number: BTreeMap<u64, SlotHolder>,
    next: u64,
    /// Number of evicted connections whose descriptors are still open.
    leaving: usize,
}

struct SlotHolder {
    uid: u32,
    has_finished: Arc<AtomicBool>,
    gives_way: CancellationToken,
}

impl OccupiedSlots {
    /// Selects the connection to evict for a new connection of this user. First choice: the oldest connection without
    /// an answer, of the same user or of a user with more connections. Otherwise the oldest connection of the user with
    /// the most, if that is more than the new connection's user would have.
    /// So a user who takes all slots cannot block the first connection of others.
    fn gives_way_to(&self, uid: u32) -> Option<u64> {
        let mut connection_slots: BTreeMap<u32, usize> = BTreeMap::new();
        for one in self.by_number.values() {
            *connection_slots.entry(one.uid).or_default() += 1;
        }
        let own = connection_slots.get(&uid).copied().unwrap_or_default();
        let has_more = |other: u32| {
            connection_slots
                .get(&other)
                .is_some_and(|count| *count > own + 1)
        };
        let is_idle = |one: &SlotHolder| {
            let has_finished = one.has_finished.load(Ordering::Relaxed);
            !has_finished && (one.uid == uid || has_more(one.uid))
        };
        let idle = self.by_number.iter().find(|(_, one)| is_idle(one));
        if let Some((number, _)) = idle {
            return Some(*number);
        }
        let (most, count) = connection_slots
            .into_iter()
            .max_by_key(|(_, count)| *count)?;
        let oldest = self.by_number.iter().find(|(_, one)| one.uid == most);
        oldest
            .filter(|_| count > own + 1)
            .map(|(number, _)| *number)
    }
}

impl ConnectionSlots {
    /// Creates `max` free slots.
    pub fn new(max: usize) -> Arc<Self> {
        Arc::new(Self {
            taken: Mutex::default(),
            max,
            is_gone: Notify::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, OccupiedSlots> {
        lock_unpoisoned(&self.taken)
    }

    /// Takes a slot for a new connection of a user. When all are taken, another connection is evicted; `None` when
    /// none can be.
    pub fn take(
        self: &Arc<Self>,
        uid: u32,
        gives_way: CancellationToken,
    ) -> Option<ConnectionSlot> {
        let mut taken = self.lock();
        if taken.by_number.len() >= self.max {
            let number = taken.gives_way_to(uid)?;
            if let Some(slot_holder) = taken.by_number.remove(&number) {
                slot_holder.gives_way.cancel();
                taken.leaving += 1;
            }
        }
        let number = taken.next;
        taken.next += 1;
        let has_finished = Arc::new(AtomicBool::new(false));
        let slot_holder = SlotHolder {
            uid,
            has_finished: Arc::clone(&has_finished),
            gives_way,
        };
        taken.by_number.insert(number, slot_holder);
        Some(ConnectionSlot {
            number,
            connection_slots: Arc::clone(self),
            has_finished,
        })
    }

    /// Waits until few evicted connections are still open. A burst of new connections would otherwise use up all
    /// descriptors before the evicted ones close.
    pub async fn room(&self) {
        loop {
            let is_gone = self.is_gone.notified();
            if self.lock().leaving < LEAVING_MAX {
                return;
            }
            is_gone.await;
        }
    }
}

impl ConnectionSlot {
    /// Creates the only slot, for tests of one transport.
    #[cfg(test)]
    pub fn alone() -> Option<Self> {
        ConnectionSlots::new(1).take(0, CancellationToken::new())
    }

    /// Protects this connection: it is no longer evicted before connections without an answer.
    pub fn has_finished_a_call(&self) {
        self.has_finished.store(true, Ordering::Relaxed);
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut taken = self.connection_slots.lock();
        if taken.by_number.remove(&self.number).is_none() {
            taken.leaving -= 1;
            drop(taken);
            self.connection_slots.is_gone.notify_waiters();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    /// Connections without an answer are evicted first, then those of the user with the most. A user with as many
    /// connections evicts none.
    #[test]
    fn seats_are_shared() {
        let connection_slots = ConnectionSlots::new(4);
        let tokens: Vec<CancellationToken> = (0..6).map(|_| CancellationToken::new()).collect();
        let take = |uid: u32, number: usize| connection_slots.take(uid, tokens[number].clone());
        let mut first: Vec<ConnectionSlot> =
            (0..4).map(|number| take(1, number).unwrap()).collect();
        for connection_slot in [0, 2, 3] {
            first[connection_slot].has_finished_a_call();
        }
        let newcomer = take(1, 4).expect("the second one is idle");
        assert!(tokens[1].is_cancelled() && !tokens[0].is_cancelled());
        newcomer.has_finished_a_call();
        assert!(take(1, 5).is_none(), "all of one user's, all in use");
        let other = take(2, 5).expect("user 1 has four, user 2 none");
        assert!(tokens[0].is_cancelled());
        other.has_finished_a_call();
        let second = connection_slots.take(2, CancellationToken::new()).unwrap();
        second.has_finished_a_call();
        assert!(
            connection_slots.take(2, CancellationToken::new()).is_none(),
            "two each"
        );
        first.clear();
    }

    /// A user with the most slots, all in use, evicts no connection that waits for its first answer.
    #[test]
    fn a_first_seat_is_kept() {
        let connection_slots = ConnectionSlots::new(4);
        let take = |uid: u32| {
            let token = CancellationToken::new();
            (connection_slots.take(uid, token.clone()), token)
        };
        let many: Vec<_> = (0..4).map(|_| take(1)).collect();
        for (connection_slot, _) in &many {
            connection_slot.as_ref().unwrap().has_finished_a_call();
        }
        let (first, token) = take(2);
        assert!(first.is_some(), "user 1 has four, user 2 none");
        assert!(take(1).0.is_none() && !token.is_cancelled());
        let (second, other) = take(2);
        assert!(second.is_some() && token.is_cancelled(), "its own idle one");
        assert!(
            take(3).0.is_some() && !other.is_cancelled(),
            "of whoever has most"
        );
    }

    /// No connection is accepted while many evicted ones are open; accepting continues when one closes.
    #[tokio::test]
    async fn newcomers_wait_for_those_who_leave() {
        let connection_slots = ConnectionSlots::new(1);
        let mut all = Vec::new();
        for _ in 0..=LEAVING_MAX {
            connection_slots.room().await;
            all.push(connection_slots.take(1, CancellationToken::new()).unwrap());
        }
        let mut waits = pin!(connection_slots.room());
        let mut polled = || waits.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled().is_pending(), "one sits, the others are leaving");
        let sits = all.pop();
        drop(sits);
        assert!(polled().is_pending(), "who sat had not given way");
        all.pop();
        assert!(polled().is_ready());
    }
}
