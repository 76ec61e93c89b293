//! What an event does to the set of what can be found.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use lored_retrieval::text::{Addition, Change, Unit, key};

use super::pieces::{
    Pieces, is_talk, of_checkpoint, of_context, of_document, of_session, of_source, pieces,
};
use crate::checkpoints::CheckpointFact;
use crate::documents::DocumentFact;
use crate::log::{EventsForgotten, Log, Position, RecordKey, ScopeOf, Stamped};
use crate::projects::ProjectFact;
use crate::sessions;
use crate::store::{Blobs, Error};

/// How many texts before a message or result stand beside it.
const BESIDE: usize = 2;
/// How many events of its session are looked through for them.
const LOOKED_BACK: usize = 16;

/// What one event changes.
#[derive(Debug, Default)]
pub struct Changes {
    /// For the index of texts, in order.
    pub text: Vec<Change>,
    /// For the vectors: key and text of each unit that is new.
    pub embed: Vec<(u64, String)>,
    /// Something was forgotten: it is to leave the files, too.
    pub is_forgetting: bool,
    /// Where the events are that stood beside what was forgotten: they are added anew next
    /// ([`added_anew`]).
    pub anew: Vec<(Position, RecordKey)>,
}

/// What an event changes. A text that cannot be read is left out, and logged: whoever reads it is told.
///
/// # Errors
/// [`Error`] when the event or the index of the log cannot be read.
pub fn changes(log: &Log<'_>, blobs: &Blobs, event: &Stamped) -> Result<Changes, Error> {
    let before = event.position().0;
    let mut changes = Changes::default();
    if let (Some(session), true) = (&event.header.session, sessions::is_tombstone(event)) {
        changes.text.push(Change::RemoveSession {
            session: of_session(session),
            before,
        });
        changes.is_forgetting = true;
        return Ok(changes);
    }
    if let Some(told) = EventsForgotten::of(event)? {
        forget(log, event, &told, &mut changes)?;
        changes.is_forgetting = true;
        return Ok(changes);
    }
    for group in groups_replaced(event)? {
        changes.text.push(Change::RemoveGroup { group, before });
    }
    if let (Some(DocumentFact::Removed), Some(source)) =
        (DocumentFact::of(event)?, &event.header.project)
    {
        changes.text.push(Change::RemoveSession {
            session: of_source(source),
            before,
        });
    }
    add(log, blobs, event, &mut changes)?;
    Ok(changes)
}

/// Adds the units of an event.
fn add(log: &Log<'_>, blobs: &Blobs, event: &Stamped, changes: &mut Changes) -> Result<(), Error> {
    let position = event.position().0;
    let found = match pieces(blobs, event) {
        Ok(found) => found,
        Err(error @ Error::Corrupt { .. }) => {
            tracing::warn!(position, %error, "a text cannot be searched");
            None
        }
        Err(error) => return Err(error),
    };
    let Some(found) = found else {
        return Ok(());
    };
    let beside = beside(log, blobs, event)?;
    for (number, piece) in (0..).zip(&found.all) {
        let unit = Unit {
            key: key(position, number),
            kind: found.kind,
            group: found.group,
            session: found.session,
            number: piece.number,
        };
        let text = found.indexed(piece);
        let around = match is_talk(event) {
            true => format!("{beside}{text}"),
            false => String::new(),
        };
        changes.embed.push((unit.key, found.embedded(piece)));
        changes
            .text
            .push(Change::Add(Addition { unit, text, around }));
    }
    Ok(())
}

/// The changes that add some events anew, as they are without what was forgotten beside them.
///
/// # Errors
/// As [`changes`].
pub fn added_anew(
    log: &Log<'_>,
    blobs: &Blobs,
    events: &[(Position, RecordKey)],
) -> Result<Changes, Error> {
    let mut changes = Changes::default();
    for (position, record) in events {
        let event = log.event(*record, *position)?;
        if is_talk(&event) && event.payload.is_some() {
            let position = position.0;
            changes.text.push(Change::RemovePosition { position });
            add(log, blobs, &event, &mut changes)?;
        }
    }
    Ok(changes)
}

/// Removes the units of forgotten events, and finds those that may have had them beside them, each once.
fn forget(
    log: &Log<'_>,
    tombstone: &Stamped,
    told: &EventsForgotten,
    changes: &mut Changes,
) -> Result<(), Error> {
    let scope = tombstone.scope();
    let end = Position(tombstone.position().0.saturating_sub(1));
    let mut next = BTreeMap::new();
    for (first, last) in &told.ranges {
        let after = Position(first.saturating_sub(1));
        let forgotten = log.stream(scope, after, Position(*last), usize::MAX)?;
        let forgotten = forgotten.into_iter().map(|(position, _)| position.0);
        let removed = forgotten.map(|position| Change::RemovePosition { position });
        changes.text.extend(removed);
        // Only what is said in a session has anything beside it.
        if matches!(scope, ScopeOf::Session(_)) {
            next.extend(log.stream(scope, Position(*last), end, LOOKED_BACK)?);
        }
    }
    let is_forgotten = |position: &Position| {
        let after = told
            .ranges
            .partition_point(|(first, _)| *first <= position.0);
        let range = after.checked_sub(1).and_then(|at| told.ranges.get(at));
        range.is_some_and(|(_, last)| position.0 <= *last)
    };
    next.retain(|position, _| !is_forgotten(position));
    changes.anew = next.into_iter().collect();
    Ok(())
}

/// The groups whose earlier units go with an event.
fn groups_replaced(event: &Stamped) -> Result<Vec<u64>, Error> {
    if let Some(fact) = DocumentFact::of(event)? {
        return Ok(match fact {
            DocumentFact::Taken(taken) => vec![of_document(&taken.document)],
            DocumentFact::Gone(gone) => vec![of_document(&gone.document)],
            DocumentFact::Added(_)
            | DocumentFact::Removed
            | DocumentFact::Continued(_)
            | DocumentFact::Touched(_)
            | DocumentFact::Failed(_)
            | DocumentFact::FailureGone(_) => Vec::new(),
        });
    }
    if let Some(ProjectFact::Written(written)) = ProjectFact::of(event)? {
        let project = event.header.project.as_deref().unwrap_or_default();
        return Ok(vec![of_context(project, &written.file_type)]);
    }
    if let Some(CheckpointFact::Deleted(deleted)) = CheckpointFact::of(event)? {
        let gone = deleted.gone.iter();
        return Ok(gone
            .map(|gone| of_checkpoint(&gone.checkpoint.to_string()))
            .collect());
    }
    Ok(Vec::new())
}

/// The beginnings of the texts before an event in its session, in their order.
fn beside(log: &Log<'_>, blobs: &Blobs, event: &Stamped) -> Result<String, Error> {
    let Some(session) = event.header.session.as_deref().filter(|_| is_talk(event)) else {
        return Ok(String::new());
    };
    let mut texts: Vec<String> = Vec::new();
    let mut looked = 0;
    log.back(
        ScopeOf::Session(session),
        event.position(),
        &mut |earlier| {
            looked += 1;
            if is_talk(&earlier)
                && let Ok(Some(found)) = pieces(blobs, &earlier)
            {
                texts.push(text_beside(&found));
            }
            Ok(match texts.len() < BESIDE && looked < LOOKED_BACK {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            })
        },
    )?;
    texts.reverse();
    Ok(texts.concat())
}

fn text_beside(found: &Pieces) -> String {
    let mut text = found.title.clone();
    text.push('\n');
    text.push_str(&found.beside());
    text
}

#[cfg(test)]
mod tests;
