//! Folds the log into rows again: for views that are new, behind or ahead, and for verification.

use std::ops::ControlFlow;

use super::Fold;
use crate::events::Event;
use crate::log::{Log, LoggedEvent, Position};
use crate::rows::until;
use crate::store::seal::Sealer;
use crate::store::{Changes, Direction, Error, Keyspace, Rows, RowsMut, Store, Transaction};

/// Key of the row in each folded keyspace that stores the fold position; it sorts before every other row.
const FOLDED: &[u8] = &[0];
/// Events folded per commit; bounds memory.
const CHUNK_EVENTS: usize = 2000;
const CHUNK_BYTES: usize = 4 << 20;
/// Rows removed per commit.
const CHUNK_ROWS: usize = 10_000;
const END: [u8; 1] = [u8::MAX];

/// Returns the position up to which a keyspace is folded.
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

/// Records that a keyspace is folded up to `position`.
pub fn mark(rows: &mut dyn RowsMut, space: Keyspace, position: Position) {
    rows.put(space, FOLDED, &position.0.to_be_bytes());
}

/// Records the position of each keyspace that is behind; a keyspace that is further keeps its position.
fn mark_all(rows: &mut dyn RowsMut, behind: &[(Keyspace, Position)], at: Position) {
    for (space, folded) in behind {
        mark(rows, *space, at.max(*folded));
    }
}

/// Empties every folded keyspace.
pub fn clear(store: &Store, fold: &dyn Fold) -> Result<(), Error> {
    fold.keyspaces()
        .iter()
        .try_for_each(|space| clear_space(store, *space))
}

fn clear_space(store: &Store, space: Keyspace) -> Result<(), Error> {
    loop {
        let mut keys: Vec<Vec<u8>> = Vec::new();
        // The position is in the first row, so it is removed first: a kill in between is detected.
        store.scan(space, &[], &END, Direction::Forward, &mut |key, _| {
            keys.push(key.to_vec());
            Ok(until(keys.len() >= CHUNK_ROWS))
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

/// Progress callback of a long fold: the current and the final position.
pub type ReplayProgress = fn(Position, Position);

/// Folds every keyspace up to the end of the log. If one is ahead of the log or was only partly cleared, all are
/// emptied and folded from the start, because a fold may read one keyspace to write another.
///
/// Damaged events are left out of every view.
pub fn catch_up(
    store: &Store,
    fold: &dyn Fold,
    progress: ReplayProgress,
) -> Result<SkippedEvents, Error> {
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
    // Keyspaces may be at different positions; each event goes only to those that lack it.
    let mut behind: Vec<(Keyspace, Position)> = Vec::new();
    for &space in fold.keyspaces() {
        let at = folded(store, space)?;
        if at < tail {
            behind.push((space, at));
        }
    }
    let Some(from) = behind.iter().map(|(_, at)| at.0 + 1).min() else {
        return Ok(SkippedEvents::default());
    };
    progress(Position(from - 1), tail);
    let mut skipped = fold_range(store, store, fold, &behind, Position(from), tail, progress)?;
    if skipped.count > 0 && from > 1 {
        // An event that does not fit the rows before it may mean that they are damaged, not the log.
        clear(store, fold)?;
        let spaces = fold.keyspaces().iter();
        let all: Vec<_> = spaces.map(|space| (*space, Position(0))).collect();
        skipped = fold_range(store, store, fold, &all, Position(1), tail, progress)?;
    }
    store.sync()?;
    Ok(skipped)
}

/// The events that a fold left out, because they are damaged or not genuine.
#[derive(Debug, Default)]
pub struct SkippedEvents {
    /// Number of positions.
    pub count: u64,
    /// The first of them, and the reason.
    pub first: Option<(Position, String)>,
    /// The last of them.
    pub last: Position,
}

impl SkippedEvents {
    fn add(&mut self, at: Position, error: &Error) {
        self.count += 1;
        self.last = at;
        self.first.get_or_insert_with(|| (at, error.to_string()));
    }

    /// Describes them for a person; `None` when there are none.
    #[must_use]
    pub fn describe(&self) -> Option<String> {
        let (first, why) = self.first.as_ref()?;
        Some(format!(
            "{} damaged events between positions {first} and {} are in no view; the first: {why}",
            self.count, self.last
        ))
    }
}

fn has_rows(store: &Store, space: Keyspace) -> Result<bool, Error> {
    let mut found = false;
    store.scan(space, &[], &END, Direction::Forward, &mut |_, _| {
        found = true;
        Ok(ControlFlow::Break(()))
    })?;
    Ok(found)
}

/// Folds the events of `log` between two positions into the keyspaces of `into` that lack them. Damaged events are left
/// out, and returned.
pub fn fold_range(
    log: &dyn Rows,
    into: &Store,
    fold: &dyn Fold,
    behind: &[(Keyspace, Position)],
    from: Position,
    to: Position,
    progress: ReplayProgress,
) -> Result<SkippedEvents, Error> {
    let mut changes = Changes::default();
    let mut skipped = SkippedEvents::default();
    let (mut events, mut bytes) = (0, 0);
    let log = Log::new(log);
    log.walk_all(from, &mut |at, event, record| {
        if at > to {
            return Ok(ControlFlow::Break(()));
        }
        let mut tx = Transaction::resume(into, std::mem::take(&mut changes));
        tx.savepoint();
        let mut missing_views = MissingViewFilter { tx, behind, at };
        let applied = event.and_then(|event| {
            let meta = Event::of(&event)?;
            fold.apply(&mut missing_views, &log, &event, meta.as_ref(), record)?;
            Ok(size(&event))
        });
        let mut tx = missing_views.tx;
        match applied {
            Ok(size) => bytes += size,
            Err(error @ Error::Corrupt { .. }) => {
                // An event may also need one that is damaged.
                tx.roll_back();
                tracing::error!(position = %at, %error, "an event is left out of the views");
                skipped.add(at, &error);
            }
            Err(error) => return Err(error),
        }
        events += 1;
        if events >= CHUNK_EVENTS || bytes >= CHUNK_BYTES {
            mark_all(&mut tx, behind, at);
            into.commit(&tx.into_changes(), true)?;
            // At most one batch is unsynced: after a power cut, more would look like damage.
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
    into.commit(&tx.into_changes(), true)?;
    Ok(skipped)
}

fn size(event: &LoggedEvent) -> usize {
    event
        .payload
        .as_ref()
        .map_or(0, |payload| payload.meta.len() + payload.body.len())
        + event.header_bytes.len()
}

/// Passes only writes to keyspaces that lack the current event.
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

    fn sealer(&self) -> Option<&Sealer> {
        self.tx.sealer()
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
