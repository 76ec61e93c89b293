//! What search finds for a message or a task: passages of documents, and what was said earlier.

use lored_retrieval::text::Kind;

use crate::documents;
use crate::error::Refusal;
use crate::events::packs::Item;
use crate::log::Position;
use crate::operation::Context;
use crate::packs::assembly::{Passage, Source};
use crate::search::{self, HitDetails, PreparedSearch};
use crate::sessions::Line;
use crate::state::State;
use crate::store::Error;

/// Passages of documents that come into a pack at most.
const DOCUMENTS: usize = 4;
/// Earlier messages that come into a pack at most, because they are about the same.
const MESSAGES: usize = 3;

/// What a pack follows from in documents: which of them there are.
///
/// # Errors
/// [`Error`] when a row cannot be read.
pub fn rests_on(state: &State) -> Result<[u8; 8], Error> {
    Ok(documents::changed(state)?.0.to_be_bytes())
}

/// The passages of documents that are about a text, the best first.
///
/// # Errors
/// When a row or an event cannot be read.
pub fn documents(cx: &Context, state: &State, text: &str) -> Result<Vec<Passage>, Refusal> {
    let find = PreparedSearch {
        question: text,
        kinds: &[Kind::Document],
        sessions: &[],
        most: DOCUMENTS,
    };
    let found = search::find(cx, state, &find)?;
    Ok(found.into_iter().filter_map(passage).collect())
}

fn passage(found: HitDetails) -> Option<Passage> {
    let path = found.file_path.unwrap_or(found.title);
    let above = std::iter::once(path).chain(found.headings);
    Some(Passage {
        source: Source {
            session: None,
            item: Item::Document {
                document: found.document?,
                chunk: found.chunk,
            },
            position: found.position,
            section: Some(above.collect::<Vec<_>>().join(" / ")),
        },
        time: found.time,
        text: found.text,
    })
}

/// Where messages about a text are in a session and those whose past it shares, the best first.
///
/// # Errors
/// When a row or an event cannot be read.
pub fn messages(
    cx: &Context,
    state: &State,
    lines: &[Line],
    text: &str,
) -> Result<Vec<Position>, Refusal> {
    let sessions: Vec<String> = lines.iter().map(|line| line.session.clone()).collect();
    let find = PreparedSearch {
        question: text,
        kinds: &[Kind::Message],
        sessions: &sessions,
        most: MESSAGES,
    };
    let found = search::find(cx, state, &find)?.into_iter();
    Ok(found.map(|found| found.position).collect())
}
