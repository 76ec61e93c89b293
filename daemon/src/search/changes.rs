//! The changes that an event makes to the search indexes.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;

use lored_retrieval::text::{Change, IndexedText, NewText, key};

use super::event_effect::EventEffect;
use super::groups::{of_checkpoint, of_context, of_document, of_execution, of_session, of_source};
use super::searchable_text::{EmbeddedText, Pieces, is_talk, pieces, pieces_of};
use crate::checkpoints;
use crate::events::Event;
use crate::events::checkpoints::CheckpointsDeleted;
use crate::events::forgetting::EventsForgotten;
use crate::log::{EventScope, Log, LoggedEvent, Position, RecordKey};
use crate::store::{Blobs, Error};

/// Number of preceding texts that are indexed as context of a message or result.
const BESIDE: usize = 2;
/// Number of preceding events of the session that are searched for these texts.
const LOOKED_BACK: usize = 16;
/// Sessions whose last texts are known.
const SESSIONS_MAX: usize = 256;

/// The changes of one event.
#[derive(Debug, Default)]
pub struct Changes {
    /// Changes of the text index, in order.
    pub text: Vec<Change>,
    /// New texts to embed, with their keys.
    pub embed: Vec<(u64, EmbeddedText)>,
    /// Whether something was forgotten, so that it must leave the index files, too.
    pub is_forgetting: bool,
    /// Events whose context included forgotten text, and checkpoints whose predecessor was deleted; they are indexed
    /// again afterwards ([`added_anew`]).
    pub again: Vec<(Position, RecordKey)>,
}

/// Computes the changes of an event. A text that cannot be read is omitted and logged. `recent` knows the events that were
/// read before it, in the order of the log.
pub fn changes(
    log: &Log<'_>,
    blobs: &Blobs,
    event: &LoggedEvent,
    recent: &mut RecentTexts,
) -> Result<Changes, Error> {
    let before = event.position().0;
    let mut changes = Changes::default();
    let Some(meta) = Event::of(event)? else {
        recent.note(event, None);
        return Ok(changes);
    };
    let text = &mut changes.text;
    let mut group = |group| text.push(Change::RemoveGroup { group, before });
    let of_project = event.header.project.as_deref();
    match EventEffect::of(&meta) {
        EventEffect::Document(document) => group(of_document(&document.document)),
        EventEffect::DocumentRemoved(document) => group(of_document(document)),
        EventEffect::Version(version) => {
            group(of_context(
                of_project.unwrap_or_default(),
                &version.file_type,
            ));
        }
        EventEffect::ToolCall(call) => {
            let session = event.header.session.as_deref();
            group(of_execution(session.unwrap_or_default(), &call.id));
        }
        EventEffect::CheckpointsDeleted(deleted) => {
            for gone in &deleted.gone {
                group(of_checkpoint(&gone.checkpoint.to_string()));
            }
            changes.again = after_deleted(log, event, deleted)?;
        }
        EventEffect::SourceRemoved => text.extend(of_project.map(|source| {
            let session = of_source(source);
            Change::RemoveSession { session, before }
        })),
        EventEffect::SessionForgotten => {
            text.extend(event.header.session.as_deref().map(|session| {
                let session = of_session(session);
                Change::RemoveSession { session, before }
            }));
            changes.is_forgetting = true;
        }
        EventEffect::EventsForgotten(forgotten) => {
            forget(log, event, forgotten, &mut changes)?;
            changes.is_forgetting = true;
        }
        EventEffect::Step
        | EventEffect::Message(_)
        | EventEffect::DocumentPart(_)
        | EventEffect::Checkpoint(_)
        | EventEffect::Nothing => {}
    }
    if changes.is_forgetting {
        recent.clear();
    }
    add(log, blobs, event, &meta, recent, &mut changes)?;
    Ok(changes)
}

/// Adds the texts of an event.
fn add(
    log: &Log<'_>,
    blobs: &Blobs,
    event: &LoggedEvent,
    meta: &Event,
    recent: &mut RecentTexts,
    changes: &mut Changes,
) -> Result<(), Error> {
    let position = event.position().0;
    let found = match pieces_of(log, blobs, event, meta) {
        Ok(found) => found,
        Err(error @ Error::Corrupt { .. }) => {
            tracing::warn!(position, %error, "a damaged text is not indexed");
            None
        }
        Err(error) => return Err(error),
    };
    let Some(found) = found else {
        recent.note(event, None);
        return Ok(());
    };
    let short = found.short_text();
    let before = match short.is_some() && is_talk(event) {
        true => match recent.before(event) {
            Some(before) => before,
            None => before_of(log, blobs, event)?,
        },
        false => Vec::new(),
    };
    let beside = before.concat();
    recent.note(event, is_talk(event).then(|| short.map(Arc::from)));
    for (number, piece) in (0..).zip(&found.all) {
        let unit = IndexedText {
            key: key(position, number),
            kind: found.kind,
            group: found.group,
            session: found.session,
            number: piece.number,
            time: found.time,
        };
        let text = found.indexed(piece);
        let embedded = EmbeddedText {
            context: beside.clone(),
            text: found.embedded(piece),
        };
        changes.embed.push((unit.key, embedded));
        changes.text.push(Change::Add(NewText {
            unit,
            text,
            before: is_talk(event).then(|| before.clone()),
        }));
    }
    Ok(())
}

/// Returns the checkpoints whose predecessor was deleted: what these had in common is indexed with them from now on.
fn after_deleted(
    log: &Log<'_>,
    event: &LoggedEvent,
    deleted: &CheckpointsDeleted,
) -> Result<Vec<(Position, RecordKey)>, Error> {
    let Some(session) = event.header.session.as_deref() else {
        return Ok(Vec::new());
    };
    let mut after = BTreeMap::new();
    for gone in &deleted.gone {
        let next = checkpoints::next_after(log.rows(), session, Position(gone.saved_at))?;
        // A later one is not indexed yet.
        let next = next.filter(|next| next.position < event.position());
        after.extend(next.map(|next| (next.position, next.record)));
    }
    Ok(after.into_iter().collect())
}

/// Computes the changes that index some events again, without the forgotten text in their context.
pub fn added_anew(
    log: &Log<'_>,
    blobs: &Blobs,
    events: &[(Position, RecordKey)],
) -> Result<Changes, Error> {
    let mut changes = Changes::default();
    for (position, record) in events {
        let Some(event) = log.whole(*record, *position)? else {
            continue;
        };
        if event.payload.is_some()
            && let Some(meta) = Event::of(&event)?
            && (is_talk(&event) || matches!(EventEffect::of(&meta), EventEffect::Checkpoint(_)))
        {
            let position = position.0;
            changes.text.push(Change::RemovePosition { position });
            let mut none = RecentTexts::default();
            add(log, blobs, &event, &meta, &mut none, &mut changes)?;
        }
    }
    Ok(changes)
}

/// Removes the texts of forgotten events, and collects the events with these in their context, each once.
fn forget(
    log: &Log<'_>,
    tombstone: &LoggedEvent,
    reported: &EventsForgotten,
    changes: &mut Changes,
) -> Result<(), Error> {
    let scope = tombstone.scope();
    let end = Position(tombstone.position().0.saturating_sub(1));
    let mut next = BTreeMap::new();
    for (first, last) in &reported.ranges {
        let after = Position(first.saturating_sub(1));
        let forgotten = log.stream(scope, after, Position(*last), usize::MAX)?;
        let forgotten = forgotten.into_iter().map(|(position, _)| position.0);
        let removed = forgotten.map(|position| Change::RemovePosition { position });
        changes.text.extend(removed);
        // Only texts of sessions have context.
        if matches!(scope, EventScope::Session(_)) {
            next.extend(log.stream(scope, Position(*last), end, LOOKED_BACK)?);
        }
    }
    let is_forgotten = |position: &Position| {
        let after = reported
            .ranges
            .partition_point(|(first, _)| *first <= position.0);
        let range = after.checked_sub(1).and_then(|at| reported.ranges.get(at));
        range.is_some_and(|(_, last)| position.0 <= *last)
    };
    next.retain(|position, _| !is_forgotten(position));
    changes.again = next.into_iter().collect();
    Ok(())
}

/// Returns the preceding texts of the session, in order, for a short message or result; empty for a long one, which is
/// understood alone. Long texts before it are no context.
pub(super) fn context_of(
    log: &Log<'_>,
    blobs: &Blobs,
    event: &LoggedEvent,
    own: &Pieces,
) -> Result<String, Error> {
    match is_talk(event) && own.short_text().is_some() {
        true => Ok(before_of(log, blobs, event)?.concat()),
        false => Ok(String::new()),
    }
}

/// Reads the short ones of the two texts before an event in its session, in order.
fn before_of(log: &Log<'_>, blobs: &Blobs, event: &LoggedEvent) -> Result<Vec<Arc<str>>, Error> {
    let Some(session) = event.header.session.as_deref() else {
        return Ok(Vec::new());
    };
    let mut texts: Vec<Arc<str>> = Vec::new();
    let (mut before, mut looked) = (0, 0);
    log.back(
        EventScope::Session(session),
        event.position(),
        &mut |earlier| {
            looked += 1;
            if is_talk(&earlier)
                && let Ok(Some(found)) = pieces(log, blobs, &earlier)
            {
                before += 1;
                texts.extend(found.short_text().map(Arc::from));
            }
            Ok(match before < BESIDE && looked < LOOKED_BACK {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            })
        },
    )?;
    texts.reverse();
    Ok(texts)
}

/// An event of a session: whether it is a text of talk, and that text if it is short.
type RecentText = Option<Option<Arc<str>>>;

/// The last texts of sessions, so that a walk along the log reads no event twice.
#[derive(Debug, Default)]
pub struct RecentTexts(HashMap<String, VecDeque<RecentText>>);

impl RecentTexts {
    /// Notes an event of the walk.
    fn note(&mut self, event: &LoggedEvent, text: RecentText) {
        let Some(session) = event.header.session.as_deref() else {
            return;
        };
        if !self.0.contains_key(session) {
            if self.0.len() >= SESSIONS_MAX {
                self.0.clear();
            }
            self.0.insert(session.to_owned(), VecDeque::new());
        }
        if let Some(last) = self.0.get_mut(session) {
            last.truncate(LOOKED_BACK - 1);
            last.push_front(text);
        }
    }

    /// Returns what [`before_of`] reads, if the walk has come by all of it.
    fn before(&self, event: &LoggedEvent) -> Option<Vec<Arc<str>>> {
        let last = self.0.get(event.header.session.as_deref()?)?;
        let talk = last.iter().flatten().take(BESIDE);
        let mut texts: Vec<Arc<str>> = talk.clone().flatten().cloned().collect();
        let is_whole = talk.count() == BESIDE || last.len() == LOOKED_BACK;
        texts.reverse();
        is_whole.then_some(texts)
    }

    /// Forgets all: a text may have been forgotten.
    fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests;
