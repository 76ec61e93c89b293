//! One group of commands, from decision to batch. It is pure, so tests need no threads.

use std::sync::Arc;

use super::{Command, DecisionContext, EventLookup, Fold, KeyClaim, Outcome, Tail, replay};
use crate::clock::Micros;
use crate::error::{Code, Refusal};
use crate::events::{Event, NewEvent, unexpected};
use crate::log::index::{self, KeyUse};
use crate::log::{
    Actor, KeyMark, LOG, Log, LoggedEvent, Position, RecordBuilder, RecordKey, forgotten,
};
use crate::store::{Changes, Error, Rows, RowsMut, Transaction};

/// A command with its caller and idempotency key.
pub(super) struct Request {
    pub command: Box<dyn Command>,
    pub actor: Arc<Actor>,
    pub key: Option<KeyClaim>,
}

/// The commands decided after the last commit.
#[derive(Default)]
pub(super) struct Group {
    changes: Changes,
    records: RecordBuilder,
    events: Vec<Arc<LoggedEvent>>,
    /// Size of the events, in bytes.
    pub bytes: usize,
    /// The end of the log once this group is committed.
    pub tail: Tail,
    /// The events of this group that forget something.
    pub forgetting: Vec<Arc<LoggedEvent>>,
}

impl Group {
    /// Creates an empty group after `tail`.
    pub fn after(tail: Tail) -> Self {
        Self {
            tail,
            ..Self::default()
        }
    }

    /// Returns whether a commit would write nothing.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Returns all changes to commit.
    pub fn into_changes(self, base: &dyn Rows, fold: &dyn Fold) -> Changes {
        let Self {
            changes,
            records,
            events,
            tail,
            ..
        } = self;
        // The events are copied into the records at this point.
        drop(events);
        let mut tx = Transaction::resume(base, changes);
        for &space in fold.keyspaces() {
            replay::mark(&mut tx, space, tail.position);
        }
        for (key, record) in records.finish() {
            tx.put(LOG, &key.to_bytes(), &record);
        }
        tx.into_changes()
    }

    /// Decides one command over `base` and the group's earlier changes. A refused or failed command leaves no changes.
    pub fn decide(
        &mut self,
        base: &dyn Rows,
        fold: &dyn Fold,
        now: Micros,
        durable: bool,
        request: &mut Request,
    ) -> Result<Outcome, Refusal> {
        let mut tx = Transaction::resume(base, std::mem::take(&mut self.changes));
        tx.savepoint();
        let result = self.decide_in(base, &mut tx, fold, now, request);
        if result.is_err() {
            tx.roll_back();
        }
        self.changes = tx.into_changes();
        let ((event, meta), replayed) = result?;
        Ok(Outcome {
            event,
            meta,
            replayed,
            durable,
        })
    }

    fn decide_in(
        &mut self,
        base: &dyn Rows,
        tx: &mut Transaction<'_>,
        fold: &dyn Fold,
        now: Micros,
        request: &mut Request,
    ) -> Result<((Arc<LoggedEvent>, Event), bool), Refusal> {
        if let Some(claim) = &request.key
            && let Some(used) = index::get_key(tx, &claim.hash)?
        {
            return self
                .replay(tx, fold, claim, &used)
                .map(|found| (found, true));
        }
        // The log's time never runs backwards, even if the clock does.
        let now = now.max(self.tail.time);
        let new = request.command.decide(&DecisionContext {
            rows: tx,
            now,
            actor: &request.actor,
            group: &self.events,
        })?;
        let count = new.len();
        let new: Vec<_> = new.into_iter().map(NewEvent::encode).collect();
        let bytes: Vec<usize> = new
            .iter()
            .map(|(_, event)| event.body.bytes.len() + event.meta.len() + 512)
            .collect();
        let first = Position(self.tail.position.0 + 1);
        let records = self.records.place(first, &bytes);
        let mut tail = self.tail;
        let mut stamped = Vec::with_capacity(count);
        let mut reply_from = None;
        for ((at, (meta, event)), record) in new.into_iter().enumerate().zip(records) {
            let last = at + 1 == count;
            let key = request.key.as_ref().filter(|_| last);
            let mut event = LoggedEvent::stamp(
                event,
                &tail.link,
                Position(tail.position.0 + 1),
                now,
                &request.actor,
                key.map(|claim| {
                    let mark = KeyMark {
                        hash: claim.hash,
                        body: claim.body,
                    };
                    (claim.text.clone(), mark)
                }),
            );
            if let Some(sealer) = base.sealer() {
                event.seal_with(sealer);
            }
            tail = Tail {
                position: event.position(),
                link: event.link,
                time: now,
            };
            let event_lookup = GroupEvents {
                group: &self.events,
                base,
            };
            fold.apply(tx, &event_lookup, &event, Some(&meta), record)?;
            let event = Arc::new(event);
            reply_from = Some((Arc::clone(&event), meta));
            stamped.push((event, record));
        }
        let Some(reply_from) = reply_from else {
            return Err(Refusal::new(
                Code::Internal,
                "a command decided on no event",
            ));
        };
        request.command.keep(tx)?;
        tx.check_keys()?;
        for (event, record) in stamped {
            if event.header.kind.forgets() {
                self.forgetting.push(Arc::clone(&event));
            }
            let stored = self.records.push(&event, record);
            if let Some(sealer) = base.sealer() {
                // What this process has written need not be checked when it is read.
                sealer.remember(event.position().0, stored);
            }
            self.events.push(event);
        }
        self.tail = tail;
        self.bytes += bytes.iter().sum::<usize>();
        Ok((reply_from, false))
    }

    /// Returns the first reply for a repeated key, or the refusal.
    fn replay(
        &self,
        tx: &Transaction<'_>,
        fold: &dyn Fold,
        claim: &KeyClaim,
        used: &KeyUse,
    ) -> Result<(Arc<LoggedEvent>, Event), Refusal> {
        if used.body != claim.body {
            return Err(Refusal::new(
                Code::IdempotencyConflict,
                format!(
                    "the key {:?} was already used for another call, recorded at position {}",
                    claim.text, used.position
                ),
            )
            .hint("Use a new key for a new call; repeat a call with exactly the same arguments."));
        }
        let event = in_group_or_log(&self.events, tx, used.record, used.position)?;
        if event.payload.is_none() || fold.is_forgotten(tx, &event.header)? {
            return Err(Refusal::new(
                Code::NotFound,
                format!(
                    "the call with the key {:?} was recorded at position {} and its content has \
                     been forgotten on purpose",
                    claim.text, used.position
                ),
            )
            .hint("Use a new key to record it again."));
        }
        let meta =
            Event::of(&event)?.ok_or_else(|| unexpected(&event, "an event of a known kind"))?;
        Ok((event, meta))
    }
}

/// Lookup of the events before a command's own: from the open group or the log.
struct GroupEvents<'g> {
    group: &'g [Arc<LoggedEvent>],
    base: &'g dyn Rows,
}

impl EventLookup for GroupEvents<'_> {
    fn event(&self, record: RecordKey, position: Position) -> Result<Arc<LoggedEvent>, Error> {
        in_group_or_log(self.group, self.base, record, position)
    }
}

/// Reads an event from the open group or the log. What was forgotten since has no payload in either.
pub(super) fn in_group_or_log(
    group: &[Arc<LoggedEvent>],
    rows: &dyn Rows,
    record: RecordKey,
    position: Position,
) -> Result<Arc<LoggedEvent>, Error> {
    match group.iter().find(|event| event.position() == position) {
        Some(event) if event.payload.is_some() && forgotten::is_forgotten(rows, &event.header)? => {
            let mut event = LoggedEvent::clone(event);
            event.payload = None;
            Ok(Arc::new(event))
        }
        Some(event) => Ok(Arc::clone(event)),
        None => Log::new(rows).event(record, position).map(Arc::new),
    }
}
