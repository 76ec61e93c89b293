//! Search results for a message or a task: passages of documents, and earlier messages.

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

/// Maximum number of document passages in a pack.
const DOCUMENTS: usize = 4;
/// Maximum number of earlier messages on the same subject in a pack.
const MESSAGES: usize = 3;

/// Encodes the dependency of a pack on the documents: the position of their last change.
pub fn rests_on(state: &State) -> Result<[u8; 8], Error> {
    Ok(documents::changed(state)?.0.to_be_bytes())
}

/// Searches for document passages about a text, best first.
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

/// Returns the positions of messages about a text in a session and its ancestors, best first.
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
