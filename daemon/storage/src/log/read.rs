//! Reads the log by record, by position, in order, and by stream. Forgotten events have no content from their
//! tombstone on, even while their bytes are still stored.

use std::ops::ControlFlow;

use super::{EventScope, LOG, LoggedEvent, Position, RecordKey, codec, forgotten, index, record};
use crate::store::{Direction, Error, Rows, after_prefix};

/// The log in one consistent state of rows.
#[derive(Clone, Copy)]
pub struct Log<'r> {
    rows: &'r dyn Rows,
}

/// Positions and records of one stream, oldest first.
pub type Stream = Vec<(Position, RecordKey)>;

fn corrupt(key: &[u8], reason: String) -> Error {
    Error::corrupt(LOG.name(), key, reason)
}

fn decode_record(key: &[u8], value: &[u8]) -> Result<Vec<LoggedEvent>, Error> {
    record::decode(value)
        .and_then(|slices| slices.into_iter().map(codec::decode_event).collect())
        .map_err(|reason| corrupt(key, reason))
}

impl<'r> Log<'r> {
    /// Returns the log in these rows.
    #[must_use]
    pub fn new(rows: &'r dyn Rows) -> Self {
        Self { rows }
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
        let event = codec::decode_event(slice).map_err(|reason| corrupt(&key, reason))?;
        if event.position() != position {
            return Err(corrupt(
                &key,
                format!("the event at {position} has another position"),
            ));
        }
        self.redact_forgotten(event)
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
        decode_record(&key, &value)
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
                let key = <[u8; 8]>::try_from(key)
                    .map_err(|_| corrupt(key, "not a record key".to_owned()))?;
                found = Some(RecordKey(Position(u64::from_be_bytes(key))));
                Ok(ControlFlow::Break(()))
            },
        )?;
        Ok(found)
    }

    /// Returns the newest event.
    pub fn last(&self) -> Result<Option<LoggedEvent>, Error> {
        let mut last = None;
        self.rows.scan(
            LOG,
            &[],
            &[u8::MAX; 9],
            Direction::Backward,
            &mut |key, value| {
                last = decode_record(key, value)?.pop();
                Ok(ControlFlow::Break(()))
            },
        )?;
        Ok(last)
    }

    /// Visits events from a position on, in order, with their records; `Break` ends the walk.
    pub fn walk(
        &self,
        from: Position,
        visit: &mut dyn FnMut(LoggedEvent, RecordKey) -> Result<ControlFlow<()>, Error>,
    ) -> Result<(), Error> {
        let low = self.record_of(from)?.unwrap_or(RecordKey(Position(0)));
        let is_anything_forgotten = forgotten::is_anything(self.rows)?;
        self.rows.scan(
            LOG,
            &low.to_bytes(),
            &[u8::MAX; 9],
            Direction::Forward,
            &mut |key, value| {
                let first = <[u8; 8]>::try_from(key)
                    .map(u64::from_be_bytes)
                    .map_err(|_| corrupt(key, "not a record key".to_owned()))?;
                let slices = record::decode(value).map_err(|reason| corrupt(key, reason))?;
                // Positions in a record have no gaps, so events before `from` are not decoded.
                let skipped = usize::try_from(from.0.saturating_sub(first)).unwrap_or(usize::MAX);
                for slice in slices.into_iter().skip(skipped) {
                    let mut event =
                        codec::decode_event(slice).map_err(|reason| corrupt(key, reason))?;
                    if is_anything_forgotten {
                        event = self.redact_forgotten(event)?;
                    }
                    if visit(event, RecordKey(Position(first)))? == ControlFlow::Break(()) {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Ok(ControlFlow::Continue(()))
            },
        )
    }

    /// Visits the events of a stream before a position, newest first; `Break` ends the walk.
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
                visit(self.event(record, position)?)
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
