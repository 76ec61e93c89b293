//! Document operations: sources, the structure of documents, and their content.

pub mod content;
pub mod contexts;
mod explore;
mod put;
mod sources;
mod upload;

pub(super) use content::modified;

use std::sync::Arc;

use super::catalogue::{Catalogue, Entry};
use super::text_parts::PartRow;
use crate::error::Refusal;
use crate::events::documents::{TextPart, imported};
use crate::hint::{arg, hint};
use crate::operation::{Context, Operation};
use crate::state::State;

/// The document operations of the operation table.
pub const OPERATIONS: &[Operation] = &[
    Operation::of::<sources::AddSource>(),
    Operation::of::<sources::RemoveSource>(),
    Operation::of::<sources::ListSources>(),
    Operation::of::<sources::Rescan>(),
    Operation::of::<put::PutDocument>(),
    Operation::of::<upload::RemoveDocument>(),
    Operation::of::<upload::ListDocuments>(),
    Operation::of::<contexts::GetDocumentContexts>(),
    Operation::of::<explore::ExploreDocumentStructure>(),
    Operation::of::<content::GetDocumentContent>(),
];

/// Limit on the contexts that a refusal or an empty reply suggests.
const NAMED_MAX: usize = 5;

/// Checks the number of entries that a page of a reply may have.
pub fn page_size(
    argument: &str,
    wanted: Option<u64>,
    usual: u64,
    most: u64,
) -> Result<usize, Refusal> {
    let wanted = wanted.unwrap_or(usual);
    if (1..=most).contains(&wanted) {
        return Ok(usize::try_from(wanted).unwrap_or(usize::MAX));
    }
    let message = format!("`{argument}`: got {wanted}, expected 1 to {most}");
    Err(Refusal::invalid(message).hint(hint![
        "Use ",
        arg("next"),
        " of the reply for the following page."
    ]))
}

/// A part of a document with its text.
pub(super) struct Read {
    /// Ranges and headings of the chunks.
    pub part: TextPart,
    /// Text of the part.
    pub text: String,
}

/// Reads a part of a document.
pub(super) fn read(cx: &Context, state: &State, part: &PartRow) -> Result<Read, Refusal> {
    let (record, position) = part.place();
    let mut part = imported(&state.log().event(record, position)?)?;
    let text = std::mem::replace(&mut part.text, crate::steps::Text::Inline(String::new()));
    Ok(Read {
        text: text.read(&cx.blobs)?,
        part,
    })
}

impl Read {
    /// Returns the text, headings and start offset of a chunk, by its index in this part.
    pub fn chunk(&self, number: usize) -> Option<(&str, &[String], u64)> {
        let (start, end, headings) = self.part.chunks.get(number)?;
        let text = self.text.get(*start as usize..*end as usize)?;
        let headings = self.part.headings.get(*headings as usize);
        Some((
            text,
            headings.map_or(&[], Vec::as_slice),
            self.part.start + u64::from(*start),
        ))
    }
}

/// Returns the name of a chunk: the file name and the chunk number.
#[must_use]
pub fn chunk_index(file_name: &str, number: u64) -> String {
    format!("{file_name}_chunk_{number}")
}

/// Lists the context ids that are most similar to a text, the most similar first.
#[must_use]
pub fn nearest_contexts(catalogue: &Catalogue, wanted: &str) -> Vec<String> {
    let mut ids: Vec<&str> = catalogue
        .all()
        .map(|entry| entry.row.taken.context_id.as_str())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    lore::protocol::several_nearest(wanted, ids, NAMED_MAX)
        .into_iter()
        .map(str::to_owned)
        .collect()
}

/// Lists all documents, sorted by context, then path.
#[must_use]
pub fn in_order(catalogue: &Catalogue) -> Vec<&Arc<Entry>> {
    let mut all: Vec<&Arc<Entry>> = catalogue.all().collect();
    all.sort_by(|a, b| {
        let key = |entry: &Entry| {
            let taken = &entry.row.taken;
            (
                taken.context_id.clone(),
                taken.path.clone(),
                entry.id.clone(),
            )
        };
        key(a).cmp(&key(b))
    });
    all
}
