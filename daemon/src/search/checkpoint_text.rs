//! The searchable texts of checkpoints: what each adds to the one before.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use super::dates::date_in_words;
use super::groups::{of_checkpoint, of_session};
use super::searchable_text::{Pieces, SearchableText, TEXT_BYTES_MAX, cut, seconds};
use crate::checkpoints::{self, CheckpointSaved, Metadata};
use crate::events::Event;
use crate::events::checkpoints::CheckpointEvent;
use crate::log::{Log, LoggedEvent};
use crate::store::{Blobs, Error};
use lored_retrieval::text::Kind;

/// Maximum length of what a checkpoint's context adds to the one before, as far as it is indexed, in bytes.
const CONTEXT_BYTES_MAX: usize = 16 * 1024;

/// Returns the lines of a checkpoint's context that the session's checkpoint before has not, up to a limit; `None` if the
/// context cannot be read. Agents save the same context again and again, with few changes.
fn new_lines(
    log: &Log<'_>,
    blobs: &Blobs,
    event: &LoggedEvent,
    (session, saved): (&str, &CheckpointSaved),
) -> Result<Option<String>, Error> {
    let rows = log.rows();
    // The context of a deleted checkpoint is gone; its texts go with the deletion.
    let Some(context) = checkpoints::uncached_json(rows, blobs, saved) else {
        return Ok(None);
    };
    let mut earlier = None;
    if let Some(row) = checkpoints::newest(rows, session, Some(event.position()))? {
        let before = log.event(row.record, row.position)?;
        if let Some(Event::Checkpoint(CheckpointEvent::Saved(before))) = Event::of(&before)? {
            earlier = checkpoints::uncached_json(rows, blobs, &before);
        }
    }
    // Hashes, because most lines are known: a live index and a rebuilt one compute the same.
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let mut known: HashSet<u64> = HashSet::new();
    if let Some(earlier) = earlier {
        checkpoints::for_each_line(&earlier, TEXT_BYTES_MAX, &mut |line| {
            known.insert(hasher.hash_one(line));
        });
    }
    let mut new = String::new();
    checkpoints::for_each_line(&context, TEXT_BYTES_MAX, &mut |line| {
        if new.len() < CONTEXT_BYTES_MAX && !known.contains(&hasher.hash_one(line)) {
            new.push_str(line);
            new.push('\n');
        }
    });
    new.truncate(new.floor_char_boundary(CONTEXT_BYTES_MAX));
    Ok(Some(new))
}

/// Extracts the metadata of a checkpoint, and what its context adds to the one before.
pub(super) fn of_saved(
    log: &Log<'_>,
    blobs: &Blobs,
    event: &LoggedEvent,
    saved: &CheckpointSaved,
) -> Result<Option<Pieces>, Error> {
    let Some(session) = &event.header.session else {
        return Ok(None);
    };
    let metadata = Metadata::of_event(event)?;
    let mut all = Vec::new();
    if !metadata.map.is_empty() {
        let text = serde_json::to_string(&metadata.map).unwrap_or_default();
        all.push(SearchableText::whole(text));
    }
    if let Some(context) = new_lines(log, blobs, event, (session, saved))? {
        let first = all.len();
        let pieces = (first..).zip(cut(&context, "talk.txt"));
        all.extend(pieces.map(|(number, piece)| SearchableText {
            number: u32::try_from(number).unwrap_or(u32::MAX),
            ..piece
        }));
    }
    if all.is_empty() {
        return Ok(None);
    }
    Ok(Some(Pieces {
        kind: Kind::Checkpoint,
        group: of_checkpoint(&saved.checkpoint.to_string()),
        session: of_session(session),
        title: String::new(),
        spoken: date_in_words(event.header.happened_at()),
        time: seconds(event),
        all,
    }))
}
