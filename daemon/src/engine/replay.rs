//! Folding the log into rows again: views that are new, behind or ahead, and verification.

use std::ops::ControlFlow;

use super::Fold;
use crate::events::Event;
use crate::log::{Log, LoggedEvent, Position};
use crate::store::{Changes, Direction, Error, Keyspace, Rows, RowsMut, Store, Transaction};

/// Row of each folded space that says how far it is folded: sorts before every other row.
const FOLDED: &[u8] = &[0];
/// Events folded per commit; bounds memory.
const CHUNK_EVENTS: usize = 2000;
const CHUNK_BYTES: usize = 4 << 20;
/// Rows removed per commit.
const CHUNK_ROWS: usize = 10_000;
const END: [u8; 1] = [u8::MAX];

/// How far a space is folded.
///
/// # Errors
/// [`Error`] when the row cannot be read or is damaged.
pub fn folded(rows: &dyn Rows, space: Keyspace) -> Result<Position, Error> {
    match rows.get(space, FOLDED)? {
        None => Ok(Position(0)),
        Some(value) => <[u8; 8]>::try_from(&*value)
            .map(|bytes| Position(u64::from_be_bytes(bytes)))
            .map_err(|_| Error::corrupt(space.name(), FOLDED, "not a position")),
    }
}

/// Notes that a space holds everything up to `position`.
pub fn mark(rows: &mut dyn RowsMut, space: Keyspace, position: Position) {
    rows.put(space, FOLDED, &position.0.to_be_bytes());
}

/// Notes how far each lacking space is now; one that was further stays so.
fn mark_all(rows: &mut dyn RowsMut, behind: &[(Keyspace, Position)], at: Position) {
    for (space, folded) in behind {
        mark(rows, *space, at.max(*folded));
    }
}

/// Empties every folded space.
///
/// # Errors
/// [`Error`] when the store cannot be written.
pub fn clear(store: &Store, fold: &dyn Fold) -> Result<(), Error> {
    fold.keyspaces()
        .iter()
        .try_for_each(|space| clear_space(store, *space))
}

fn clear_space(store: &Store, space: Keyspace) -> Result<(), Error> {
    loop {
        let mut keys: Vec<Vec<u8>> = Vec::new();
        // The mark is the first row, so it goes with the first rows: a kill in between is told.
        store.scan(space, &[], &END, Direction::Forward, &mut |key, _| {
            keys.push(key.to_vec());
            Ok(if keys.len() < CHUNK_ROWS {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            })
        })?;
        if keys.is_empty() {
            return Ok(());
        }
        let mut tx = Transaction::new(store);
        for key in &keys {
            tx.remove(space, key);
        }
        store.commit(&tx.into_changes(), true)?;
        store.sync()?;
    }
}

/// Told how far a long folding has come, and how far it goes.
pub type ReplayProgress = fn(Position, Position);

/// Brings every folded space to the end of the log. When one is ahead of the log, or was left half
/// cleared, all are emptied and folded from the start: a fold may read one space to write another.
///
/// # Errors
/// [`Error`] when the log cannot be read or the store not be written.
pub fn catch_up(store: &Store, fold: &dyn Fold, progress: ReplayProgress) -> Result<(), Error> {
    let tail = super::open::tail_of(store)?.position;
    let mut is_whole = true;
    for &space in fold.keyspaces() {
        let at = folded(store, space)?;
        is_whole &= at <= tail && (at > Position(0) || !has_rows(store, space)?);
    }
    if !is_whole {
        tracing::info!(%tail, "rebuilding the views");
        clear(store, fold)?;
    }
    // Spaces may be at different positions; each event goes only to those that lack it.
    let mut behind: Vec<(Keyspace, Position)> = Vec::new();
    for &space in fold.keyspaces() {
        let at = folded(store, space)?;
        if at < tail {
            behind.push((space, at));
        }
    }
    let Some(from) = behind.iter().map(|(_, at)| at.0 + 1).min() else {
        return Ok(());
    };
    progress(Position(from - 1), tail);
    fold_range(store, store, fold, &behind, Position(from), tail, progress)?;
    store.sync()
}

fn has_rows(store: &Store, space: Keyspace) -> Result<bool, Error> {
    let mut found = false;
    store.scan(space, &[], &END, Direction::Forward, &mut |_, _| {
        found = true;
        Ok(ControlFlow::Break(()))
    })?;
    Ok(found)
}

/// Folds the events of `log` from one position to another into the spaces of `into` that lack them.
///
/// # Errors
/// [`Error`] when the log cannot be read or the store not be written.
pub fn fold_range(
    log: &dyn Rows,
    into: &Store,
    fold: &dyn Fold,
    behind: &[(Keyspace, Position)],
    from: Position,
    to: Position,
    progress: ReplayProgress,
) -> Result<(), Error> {
    let mut changes = Changes::default();
    let (mut events, mut bytes) = (0, 0);
    let log = Log::new(log);
    log.walk(from, &mut |event, record| {
        if event.position() > to {
            return Ok(ControlFlow::Break(()));
        }
        let at = event.position();
        let tx = Transaction::resume(into, std::mem::take(&mut changes));
        let mut missing_views = MissingViewFilter { tx, behind, at };
        let meta = Event::of(&event)?;
        fold.apply(&mut missing_views, &log, &event, meta.as_ref(), record)?;
        let mut tx = missing_views.tx;
        events += 1;
        bytes += size(&event);
        if events >= CHUNK_EVENTS || bytes >= CHUNK_BYTES {
            mark_all(&mut tx, behind, at);
            into.commit(&tx.into_changes(), true)?;
            // Never more than one batch unsynced: a power cut would look like damage.
            into.sync()?;
            into.throttle();
            progress(at, to);
            (events, bytes) = (0, 0);
        } else {
            changes = tx.into_changes();
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let mut tx = Transaction::resume(into, changes);
    mark_all(&mut tx, behind, to);
    into.commit(&tx.into_changes(), true)
}

fn size(event: &LoggedEvent) -> usize {
    event
        .payload
        .as_ref()
        .map_or(0, |payload| payload.meta.len() + payload.body.len())
        + event.header_bytes.len()
}

/// Lets through only the writes to spaces that lack the event at hand.
struct MissingViewFilter<'t, 'b> {
    tx: Transaction<'b>,
    behind: &'t [(Keyspace, Position)],
    at: Position,
}

impl MissingViewFilter<'_, '_> {
    fn lacks(&self, space: Keyspace) -> bool {
        self.behind
            .iter()
            .any(|(name, folded)| *name == space && *folded < self.at)
    }
}

impl Rows for MissingViewFilter<'_, '_> {
    fn get(&self, space: Keyspace, key: &[u8]) -> Result<Option<crate::store::Bytes>, Error> {
        self.tx.get(space, key)
    }

    fn scan(
        &self,
        space: Keyspace,
        low: &[u8],
        high: &[u8],
        direction: Direction,
        visit: crate::store::RowVisitor<'_>,
    ) -> Result<(), Error> {
        self.tx.scan(space, low, high, direction, visit)
    }
}

impl RowsMut for MissingViewFilter<'_, '_> {
    fn put(&mut self, space: Keyspace, key: &[u8], value: &[u8]) {
        if self.lacks(space) {
            self.tx.put(space, key, value);
        }
    }

    fn remove(&mut self, space: Keyspace, key: &[u8]) {
        if self.lacks(space) {
            self.tx.remove(space, key);
        }
    }
}
