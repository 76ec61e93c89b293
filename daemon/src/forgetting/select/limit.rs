//! Limits of one commit, because other writers wait for it.

use super::{Selection, SelectionContext, StreamPart, called};
use crate::error::Refusal;
use crate::hint::{Tool, arg, aside, hint};
use crate::log::{Log, Position, StreamName};

impl SelectionContext<'_> {
    /// Returns the number of events that are folded again when a part of the stream is forgotten; 0 for a whole stream.
    fn folded(&self, part: &StreamPart, up_to: Position) -> Result<usize, Refusal> {
        if part.is_whole {
            return Ok(0);
        }
        let log = Log::new(self.rows);
        let events = log.stream(part.stream.scope(), Position(0), up_to, usize::MAX)?;
        Ok(events.len())
    }

    /// Returns whether a part cannot be forgotten because too much of its stream would be folded again.
    pub(super) fn is_too_long(&self, part: &StreamPart, up_to: Position) -> Result<bool, Refusal> {
        Ok(self.folded(part, up_to)? > self.events_max)
    }

    /// Refuses a selection that would block other writers for too long.
    ///
    /// # Errors
    /// `INVALID_INPUT`, with an alternative; `CORRUPT` when the index cannot be read.
    pub fn check(&self, selected: &Selection) -> Result<(), Refusal> {
        let sessions = selected.sessions.iter();
        let mut whole: Vec<u64> = sessions.map(|(_, counted)| counted.events).collect();
        let mut folded = 0;
        for part in &selected.parts {
            let events = self.folded(part, selected.up_to)?;
            if events > self.events_max {
                return Err(self.too_long(&part.stream, events));
            }
            folded += events;
            if part.is_whole {
                whole.push(part.positions.len() as u64);
            }
        }
        // One session or source cannot be narrowed further.
        let whole: u64 = match whole[..] {
            [_] => 0,
            _ => whole.iter().sum(),
        };
        let events = whole + folded as u64;
        if events <= self.events_max as u64 {
            return Ok(());
        }
        Err(Refusal::invalid(format!(
            "{events} events would have to be looked at in one commit, at most {} can be",
            self.events_max
        ))
        .hint(hint![
            "Narrow it, by ",
            arg("session"),
            ", ",
            arg("project"),
            " or ",
            arg("origin"),
            ", and forget one after the other."
        ]))
    }

    pub(super) fn too_long(&self, stream: &StreamName, events: usize) -> Refusal {
        let message = format!(
            "{} has {events} events; of a stream of more than {} no part can go",
            called(stream),
            self.events_max
        );
        Refusal::invalid(message).hint(match stream {
            StreamName::Session(session) => hint![
                "Forget it whole, with ",
                arg("session"),
                format!(" \"{session}\" alone; other sessions one by one.")
            ],
            StreamName::Project(project) => hint![
                "Forget a project whole, with ", arg("project"), format!(" \"{project}\" alone.");
                "Remove a source first", aside(Tool::RemoveSource),
                format!(", then forget the origin \"source:{project}\" alone.")
            ],
            StreamName::Global => hint![
                "Narrow it, by ",
                arg("session"),
                ", ",
                arg("project"),
                " or ",
                arg("origin"),
                "."
            ],
        })
    }

    /// Returns the part of a selection that fits one commit: at least one item, and at most `events_max` events.
    /// Streams that are too long to be folded again are skipped and reported among the content that stays.
    pub fn first_of(&self, selected: Selection, events_max: u64) -> Result<Selection, Refusal> {
        let mut first = Selection {
            up_to: selected.up_to,
            selector: selected.selector,
            ..Selection::default()
        };
        let mut events = 0;
        for (session, counted) in selected.sessions {
            if events > 0 && events + counted.events > events_max {
                break;
            }
            events += counted.events;
            first.sessions.push((session, counted));
        }
        for part in selected.parts {
            let folded = self.folded(&part, selected.up_to)?;
            if folded > self.events_max {
                first.keep(self.too_long(&part.stream, folded).message);
            } else if events == 0 || events + folded as u64 <= events_max {
                events += folded as u64;
                first.parts.push(part);
            }
        }
        let in_sessions = first.parts.iter();
        let in_sessions = in_sessions.filter(|part| matches!(part.stream, StreamName::Session(_)));
        first.reported.sessions_in_part = in_sessions.count() as u64;
        self.count(&mut first)?;
        Ok(first)
    }
}
