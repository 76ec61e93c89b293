//! The state that a read sees: the last durable state, or a session at an earlier moment.

use std::collections::HashSet;
use std::sync::Arc;

use lore::protocol::AsOf;

use crate::budget;
use crate::clock::Micros;
use crate::engine::{Fold, PublishedState};
use crate::error::{Code, Refusal};
use crate::events::Event;
use crate::hint::{arg, hint};
use crate::log::{EventScope, Header, KEPT, Log, Position, RecordKey};
use crate::operation::{Context, Moment};
use crate::sessions;
use crate::store::seal::Sealer;
use crate::store::{Bytes, Direction, Error, Keyspace, MemoryStore, RowVisitor, Rows};

/// Rows for reads. The log is always complete; views are as of the requested moment.
pub struct State {
    live: Arc<PublishedState>,
    past_rows: Option<MemoryStore>,
    position: Position,
}

impl State {
    /// Returns the last durable state, at `at_least` or later.
    ///
    /// # Errors
    /// `TIMEOUT` when that position is not reached.
    pub async fn live(cx: &Context, at_least: Option<Position>) -> Result<Self, Refusal> {
        let live = cx.read(at_least).await?;
        Ok(Self {
            position: live.tail.position,
            live,
            past_rows: None,
        })
    }

    /// Returns this state with one session at an earlier moment. Folds again the events of the session, of its project
    /// and of global scope up to then.
    ///
    /// Reads every event of the session, so call it off the event loop.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND` when the session did not exist then, or was forgotten later.
    pub fn back_to(
        mut self,
        fold: &dyn Fold,
        session: &str,
        as_of: &AsOf,
    ) -> Result<Self, Refusal> {
        let moment = Moment::of(as_of)?;
        if let Some(tombstone) = sessions::forgotten(&self, session)? {
            return Err(sessions::was_forgotten(session, &tombstone));
        }
        let project = sessions::get(&self, session)?.and_then(|row| row.project);
        let up_to = match moment {
            Moment::Position(position) => position.min(self.live.tail.position),
            Moment::Time(_) => self.live.tail.position,
        };
        let (memory, last) = self.fold_up_to(fold, session, project.as_deref(), moment, up_to)?;
        self.past_rows = Some(memory);
        self.position = match moment {
            Moment::Position(_) => up_to,
            Moment::Time(_) => last,
        };
        if sessions::exists(&self, session)? {
            Ok(self)
        } else {
            Err(Refusal::new(
                Code::SessionNotFound,
                format!("the session `{session}` did not exist yet at {as_of}"),
            )
            .hint(hint!["Name a later moment in ", arg("as_of"), "."]))
        }
    }

    fn fold_up_to(
        &self,
        fold: &dyn Fold,
        session: &str,
        project: Option<&str>,
        moment: Moment,
        up_to: Position,
    ) -> Result<(MemoryStore, Position), Error> {
        let log = Log::new(&self.live.snapshot);
        let mut events: Vec<(Position, RecordKey)> = Vec::new();
        for line in sessions::lineage(&self.live.snapshot, session)? {
            let scope = EventScope::Session(&line.session);
            let up_to = up_to.min(line.up_to);
            events.extend(log.stream(scope, Position(0), up_to, usize::MAX)?);
        }
        let around = [project.map(EventScope::Project), Some(EventScope::Global)];
        for scope in around.into_iter().flatten() {
            events.extend(log.stream(scope, Position(0), up_to, usize::MAX)?);
        }
        events.sort_unstable();
        let mut memory = MemoryStore::new();
        let mut last = Position(0);
        let mut streams = StreamEnds::at(moment);
        for (position, record) in events {
            budget::check()?;
            let event = log.event(record, position)?;
            if streams.is_past(&event.header) {
                continue;
            }
            let meta = Event::of(&event)?;
            fold.apply(&mut memory, &log, &event, meta.as_ref(), record)?;
            last = position;
        }
        Ok((memory, last))
    }

    /// The position for the reply.
    #[must_use]
    pub fn position(&self) -> Position {
        self.position
    }

    /// The durable state that this is, or looks back from.
    #[must_use]
    pub fn published(&self) -> &PublishedState {
        &self.live
    }

    /// The log, including events after the moment.
    #[must_use]
    pub fn log(&self) -> Log<'_> {
        Log::new(&self.live.snapshot)
    }
}

impl State {
    /// Returns the rows of a keyspace: past ones, except for the log.
    fn rows(&self, space: Keyspace) -> &dyn Rows {
        match &self.past_rows {
            Some(past_rows) if !KEPT.contains(&space) => past_rows,
            _ => &self.live.snapshot,
        }
    }
}

impl Rows for State {
    fn get(&self, space: Keyspace, key: &[u8]) -> Result<Option<Bytes>, Error> {
        budget::check()?;
        self.rows(space).get(space, key)
    }

    fn scan(
        &self,
        space: Keyspace,
        low: &[u8],
        high: &[u8],
        direction: Direction,
        visit: RowVisitor<'_>,
    ) -> Result<(), Error> {
        budget::check()?;
        self.rows(space).scan(space, low, high, direction, visit)
    }

    fn sealer(&self) -> Option<&Sealer> {
        self.live.snapshot.sealer()
    }
}

/// The streams that have ended at a moment. A stream ends with its first event that happened later: what was imported
/// happened before it was recorded, and may have times that run backwards.
struct StreamEnds {
    time: Option<Micros>,
    ended: HashSet<(Option<String>, Option<String>)>,
}

impl StreamEnds {
    fn at(moment: Moment) -> Self {
        Self {
            time: match moment {
                Moment::Time(time) => Some(time),
                Moment::Position(_) => None,
            },
            ended: HashSet::new(),
        }
    }

    /// Returns whether an event is after the end of its stream. The events of a stream are asked for in order.
    fn is_past(&mut self, header: &Header) -> bool {
        let Some(time) = self.time else {
            return false;
        };
        let is_later = header.happened_at() > time;
        if !is_later && self.ended.is_empty() {
            return false;
        }
        let of_project = header.project.clone().filter(|_| header.session.is_none());
        let stream = (header.session.clone(), of_project);
        if is_later {
            self.ended.insert(stream);
            return true;
        }
        self.ended.contains(&stream)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use std::ops::ControlFlow;

    use proptest::prelude::*;

    use super::*;
    use crate::engine::tests::{histories, live, store_of};
    use crate::log::INDEX;
    use crate::projections::Projections;
    use crate::{checkpoints, entities, messages, packs, steps};

    type Row = (&'static str, Vec<u8>, Vec<u8>);

    /// Returns the rows of one session, including registrations of its project and of global scope.
    fn rows_about(rows: &dyn Rows, session: &str, project: Option<&str>) -> Vec<Row> {
        let mut found = Vec::new();
        let spaces = [
            INDEX,
            sessions::SPACE,
            steps::SPACE,
            checkpoints::SPACE,
            messages::SPACE,
            entities::SPACE,
            packs::SPACE,
        ];
        for space in spaces {
            rows.scan(
                space,
                &[],
                &[u8::MAX; 9],
                Direction::Forward,
                &mut |key, value| {
                    let has =
                        |name: &str| key.windows(name.len()).any(|part| part == name.as_bytes());
                    let of_project = project.is_some_and(has) && space == steps::SPACE;
                    // The size of objects is counted over all sessions, so only the live rows have it.
                    let counts = space == checkpoints::SPACE && !matches!(key, [b's' | b'm', ..]);
                    let of_all = space == steps::SPACE && matches!(key, [b'x' | b'y', b'g', ..]);
                    // Forks of a session are not part of it.
                    let is_fork = space == sessions::SPACE
                        && matches!(key, [b'k', ..])
                        && !key.ends_with(session.as_bytes());
                    // The dependents of its sources are also known from packs of other sessions.
                    let others = space == packs::SPACE && !matches!(key, [b's' | b'w', ..]);
                    if (has(session) && !counts && !others && !is_fork) || of_project || of_all {
                        found.push((space.name(), key.to_vec(), value.to_vec()));
                    }
                    Ok(ControlFlow::Continue(()))
                },
            )
            .unwrap();
        }
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        /// At any position, or at the time of any event, the view of a session equals its rows right after
        /// that event was folded. The same holds for a fork.
        #[test]
        fn a_look_back_shows_what_was(history in histories()) {
            let (fixture, commits) = live(&history);
            let dir = tempfile::tempdir().unwrap();
            let store = store_of(dir.path(), &commits);
            let published = Arc::new(PublishedState {
                snapshot: store.snapshot(),
                tail: fixture.tail,
            });
            let look = |session: &str, as_of: AsOf| {
                let state = State {
                    live: Arc::clone(&published),
                    past_rows: None,
                    position: fixture.tail.position,
                };
                state.back_to(&Projections, session, &as_of)
            };
            let mut then = MemoryStore::new();
            let mut walked = Vec::new();
            let log = Log::new(&fixture.rows);
            log.walk_whole(Position(1), &mut |event, record| {
                    let meta = Event::of(&event)?;
                    Projections.apply(&mut then, &log, &event, meta.as_ref(), record)?;
                    walked.push((event.position(), event.header.time, then.clone()));
                    Ok(ControlFlow::Continue(()))
                })
                .unwrap();
            for (at, (position, time, then)) in walked.iter().enumerate() {
                let is_last_of_its_time =
                    walked.get(at + 1).is_none_or(|(_, next, _)| next != time);
                for session in ["s-0", "s-1", "s-2", "s-3", "f-4", "f-5", "f-6", "f-7"] {
                    let seen = look(session, AsOf::Position(*position));
                    let is_forgotten = sessions::forgotten(&fixture.rows, session).unwrap().is_some();
                    let row = sessions::get(then, session).unwrap();
                    let Some(row) = row.filter(|_| !is_forgotten) else {
                        prop_assert_eq!(seen.err().unwrap().code, Code::SessionNotFound);
                        continue;
                    };
                    let about = |rows: &dyn Rows| rows_about(rows, session, row.project.as_deref());
                    let seen = seen.unwrap();
                    prop_assert_eq!(seen.position(), *position);
                    prop_assert_eq!(about(&seen), about(then));
                    if is_last_of_its_time {
                        let time = crate::clock::format_time(*time);
                        let seen = look(session, AsOf::Time(time)).unwrap();
                        prop_assert_eq!(about(&seen), about(then));
                    }
                }
            }
        }
    }
}
