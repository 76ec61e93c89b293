//! Reads the log by record, by position, in order, and by stream. Forgotten events have no content from their
//! tombstone on, even while their bytes are still stored.

use std::fmt;
use std::ops::ControlFlow;

use super::{EventScope, LOG, LoggedEvent, Position, RecordKey, codec, forgotten, index, record};
use crate::store::seal::Sealer;
use crate::store::{Direction, Error, Rows, after_prefix};

/// The log in one consistent state of rows. Every event is checked before it is returned: its content against its
/// hashes and, where the store has a key, its code.
#[derive(Clone, Copy)]
pub struct Log<'r> {
    rows: &'r dyn Rows,
    sealer: Option<&'r Sealer>,
}

/// Callback of a walk that goes on after damage: a position, its event or the damage, and its record.
pub type EventVisitor<'v> = &'v mut dyn FnMut(
    Position,
    Result<LoggedEvent, Error>,
    RecordKey,
) -> Result<ControlFlow<()>, Error>;

/// Positions and records of one stream, oldest first.
pub type Stream = Vec<(Position, RecordKey)>;

fn corrupt(key: &[u8], reason: String) -> Error {
    Error::corrupt(LOG.name(), key, reason)
}

/// Returns the first position of the record with this key.
fn first_of(key: &[u8]) -> Result<u64, Error> {
    <[u8; 8]>::try_from(key)
        .map(u64::from_be_bytes)
        .map_err(|_| corrupt(key, "not a record key".to_owned()))
}

impl<'r> Log<'r> {
    /// Returns the log in these rows.
    #[must_use]
    pub fn new(rows: &'r dyn Rows) -> Self {
        Self {
            rows,
            sealer: rows.sealer(),
        }
    }

    /// Returns the event at a position in a known record, for lists: `None` when it is damaged, which is noted.
    ///
    /// # Errors
    /// [`Error`], but for [`Error::Corrupt`].
    pub fn whole(
        &self,
        record: RecordKey,
        position: Position,
    ) -> Result<Option<LoggedEvent>, Error> {
        match self.event(record, position) {
            Ok(event) => Ok(Some(event)),
            Err(Error::Corrupt { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Decodes the event that should be at a position, and checks that it is what was recorded.
    fn genuine(&self, key: &[u8], position: Position, stored: &[u8]) -> Result<LoggedEvent, Error> {
        let event =
            codec::decode_event(stored).map_err(|reason| self.damaged(key, position, &reason))?;
        if event.position() != position {
            let why = "the event there belongs to another position";
            return Err(self.damaged(key, position, &why));
        }
        if self
            .sealer
            .is_some_and(|sealer| sealer.is_checked(position.0, stored))
        {
            return Ok(event);
        }
        event
            .check_genuine(self.sealer)
            .map_err(|error| self.damaged(key, position, &error))?;
        if let Some(sealer) = self.sealer {
            sealer.remember(position.0, stored);
        }
        Ok(event)
    }

    /// Describes damage at a position, and notes it for later replies.
    fn damaged(&self, key: &[u8], position: Position, why: &dyn fmt::Display) -> Error {
        if let Some(sealer) = self.sealer {
            sealer.note_damage(&format!("position {position}: {why}"));
        }
        corrupt(
            key,
            format!("position {position}: {why}; `lored verify` lists all damage"),
        )
    }

    /// Returns the rows that it reads.
    #[must_use]
    pub fn rows(&self) -> &'r dyn Rows {
        self.rows
    }

    /// Returns the event at a position in a known record.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when the record is missing, damaged or does not contain the position.
    pub fn event(&self, record: RecordKey, position: Position) -> Result<LoggedEvent, Error> {
        let key = record.to_bytes();
        let value = self
            .rows
            .get(LOG, &key)?
            .ok_or_else(|| corrupt(&key, "the record is missing".to_owned()))?;
        let at = position.0.checked_sub(record.0.0);
        let slice = at
            .and_then(|at| usize::try_from(at).ok())
            .map_or(Ok(None), |at| record::nth(&value, at))
            .map_err(|reason| corrupt(&key, reason))?
            .ok_or_else(|| corrupt(&key, format!("the record has no position {position}")))?;
        self.redact_forgotten(self.genuine(&key, position, slice)?)
    }

    /// Removes forgotten content from an event.
    fn redact_forgotten(&self, event: LoggedEvent) -> Result<LoggedEvent, Error> {
        let says = event.payload.is_some() || event.key.is_some();
        Ok(
            if says && forgotten::is_forgotten(self.rows, &event.header)? {
                event.without_content()
            } else {
                event
            },
        )
    }

    /// Returns every event of a record in order, including content that is forgotten but still stored.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when the record is missing or damaged.
    pub fn record(&self, record: RecordKey) -> Result<Vec<LoggedEvent>, Error> {
        let key = record.to_bytes();
        let value = self.rows.get(LOG, &key)?;
        let value = value.ok_or_else(|| corrupt(&key, "the record is missing".to_owned()))?;
        let slices = record::decode(&value).map_err(|reason| corrupt(&key, reason))?;
        let positions = record.0.0..;
        let events = positions.zip(slices);
        events
            .map(|(at, slice)| self.genuine(&key, Position(at), slice))
            .collect()
    }

    /// Returns the event at a position, if the log reaches that far.
    pub fn at(&self, position: Position) -> Result<Option<LoggedEvent>, Error> {
        match self.record_of(position)? {
            Some(record) => match self.event(record, position) {
                Ok(event) => Ok(Some(event)),
                Err(error) => match self.last()? {
                    Some(last) if last.position() >= position => Err(error),
                    _ => Ok(None),
                },
            },
            None => Ok(None),
        }
    }

    /// Returns the record that would contain a position: the last one that starts at or before it.
    fn record_of(&self, position: Position) -> Result<Option<RecordKey>, Error> {
        let Some(end) = position.0.checked_add(1) else {
            return Ok(None);
        };
        let mut found = None;
        self.rows.scan(
            LOG,
            &[],
            &end.to_be_bytes(),
            Direction::Backward,
            &mut |key, _| {
                found = Some(RecordKey(Position(first_of(key)?)));
                Ok(ControlFlow::Break(()))
            },
        )?;
        Ok(found)
    }

    /// Returns the row, key and value, that has these bytes for the event at a position: the record that should contain
    /// it, or one of its own where that is not possible.
    pub fn row_with(
        &self,
        position: Position,
        stored: &[u8],
    ) -> Result<(RecordKey, Vec<u8>), Error> {
        if let Some(record) = self.record_of(position)?
            && let Some(value) = self.rows.get(LOG, &record.to_bytes())?
            && let Ok(at) = usize::try_from(position.0 - record.0.0)
            && let Ok(value) = record::with_event(&value, at, stored)
        {
            return Ok((record, value));
        }
        Ok((RecordKey(position), record::of_stored(stored)))
    }

    /// Returns the newest event, unchecked: the end of a log is known although it is damaged.
    pub fn last(&self) -> Result<Option<LoggedEvent>, Error> {
        let mut last = None;
        self.rows.scan(
            LOG,
            &[],
            &[u8::MAX; 9],
            Direction::Backward,
            &mut |key, value| {
                let slices = record::decode(value).map_err(|reason| corrupt(key, reason))?;
                let newest = slices.last().map(|slice| codec::decode_event(slice));
                last = newest.transpose().map_err(|reason| corrupt(key, reason))?;
                Ok(ControlFlow::Break(()))
            },
        )?;
        Ok(last)
    }

    /// Visits events from a position on, in order, with their records; `Break` ends the walk. Damage ends it, too.
    pub fn walk(
        &self,
        from: Position,
        visit: &mut dyn FnMut(LoggedEvent, RecordKey) -> Result<ControlFlow<()>, Error>,
    ) -> Result<(), Error> {
        self.walk_all(from, &mut |_, event, record| visit(event?, record))
    }

    /// Visits events as [`Self::walk`], but passes damaged ones over: what follows the log, or lists it, goes on with the
    /// next. The damage is noted ([`Sealer::note_damage`]).
    pub fn walk_whole(
        &self,
        from: Position,
        visit: &mut dyn FnMut(LoggedEvent, RecordKey) -> Result<ControlFlow<()>, Error>,
    ) -> Result<(), Error> {
        self.walk_all(from, &mut |_, event, record| match event {
            Ok(event) => visit(event, record),
            Err(Error::Corrupt { .. }) => Ok(ControlFlow::Continue(())),
            Err(error) => Err(error),
        })
    }

    /// Visits every position from one on, in order, as [`Self::walk`], but goes on after damage: a position then has an
    /// error in place of its event. A record that cannot be split into events is one error at its first position.
    pub fn walk_all(&self, from: Position, visit: EventVisitor<'_>) -> Result<(), Error> {
        let low = self.record_of(from)?.unwrap_or(RecordKey(Position(0)));
        let is_anything_forgotten = forgotten::is_anything(self.rows)?;
        self.rows.scan(
            LOG,
            &low.to_bytes(),
            &[u8::MAX; 9],
            Direction::Forward,
            &mut |key, value| {
                let first = first_of(key)?;
                let record = RecordKey(Position(first));
                let slices = match record::decode(value) {
                    Ok(slices) => slices,
                    Err(reason) => {
                        let at = Position(first.max(from.0));
                        return visit(at, Err(self.damaged(key, at, &reason)), record);
                    }
                };
                // Positions in a record have no gaps, so events before `from` are not decoded.
                let skipped = usize::try_from(from.0.saturating_sub(first)).unwrap_or(usize::MAX);
                for (at, slice) in (first..).zip(slices).skip(skipped) {
                    let at = Position(at);
                    let mut event = self.genuine(key, at, slice);
                    if is_anything_forgotten {
                        event = event.and_then(|event| self.redact_forgotten(event));
                    }
                    if visit(at, event, record)? == ControlFlow::Break(()) {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Ok(ControlFlow::Continue(()))
            },
        )
    }

    /// Visits the events of a stream before a position, newest first; `Break` ends the walk. Damaged events are passed
    /// over, as in [`Self::walk_whole`].
    pub fn back(
        &self,
        scope: EventScope<'_>,
        before: Position,
        visit: &mut dyn FnMut(LoggedEvent) -> Result<ControlFlow<()>, Error>,
    ) -> Result<(), Error> {
        let low = index::stream_prefix(scope);
        let mut high = low.clone();
        high.extend(before.0.to_be_bytes());
        self.rows.scan(
            super::INDEX,
            &low,
            &high,
            Direction::Backward,
            &mut |key, value| {
                let (position, record) = index::decode_stream(key, value)?;
                match self.whole(record, position)? {
                    Some(event) => visit(event),
                    None => Ok(ControlFlow::Continue(())),
                }
            },
        )
    }

    /// Returns positions and records of a stream's events after one position and up to another, oldest first, at most
    /// `limit`.
    pub fn stream(
        &self,
        scope: EventScope<'_>,
        after: Position,
        up_to: Position,
        limit: usize,
    ) -> Result<Stream, Error> {
        let prefix = index::stream_prefix(scope);
        let bound = |position: Option<u64>| match position {
            Some(position) => {
                let mut key = prefix.clone();
                key.extend(position.to_be_bytes());
                key
            }
            None => after_prefix(&prefix),
        };
        let low = bound(after.0.checked_add(1));
        let high = bound(up_to.0.checked_add(1));
        let mut found = Vec::new();
        self.rows.scan(
            super::INDEX,
            &low,
            &high,
            Direction::Forward,
            &mut |key, value| {
                if found.len() == limit {
                    return Ok(ControlFlow::Break(()));
                }
                found.push(index::decode_stream(key, value)?);
                Ok(ControlFlow::Continue(()))
            },
        )?;
        Ok(found)
    }
}
