//! Document operations: sources, the structure of documents, and their content.

pub mod content;
pub mod contexts;
mod explore;
mod put;
mod sources;
mod upload;

pub(super) use content::modified;

use std::collections::BTreeSet;
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
        format!("A page has 1 to {most} results.");
        "Use ", arg("next"), " of the reply for the following page."
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

/// Number of nearest values to name.
const NEAREST: usize = 3;
/// Maximum edits between a value and one that is named as near, as a divisor of the longer one's length.
const EDITS: usize = 3;

/// Returns the known values that are nearest to a value: the same but for case or a path, a part of it, or few edits
/// away. If there are only a few, all are named.
#[must_use]
pub fn nearest_names(value: &str, known: BTreeSet<String>) -> Vec<String> {
    let wanted = value.to_lowercase();
    let wanted = wanted.rsplit(['/', '\\']).next().unwrap_or(&wanted);
    let mut scored: Vec<(usize, String)> = known
        .iter()
        .filter_map(|one| {
            let lower = one.to_lowercase();
            let longer = lower.chars().count().max(wanted.chars().count());
            let edits = strsim::levenshtein(&lower, wanted);
            let is_part = !wanted.is_empty() && (lower.contains(wanted) || wanted.contains(&lower));
            (is_part || edits <= longer / EDITS).then(|| (edits, one.clone()))
        })
        .collect();
    scored.sort();
    if scored.is_empty() && known.len() <= NEAREST {
        return known.into_iter().collect();
    }
    scored
        .into_iter()
        .take(NEAREST)
        .map(|(_, one)| one)
        .collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_values_are_named() {
        let known = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
        let files = [
            "contract.docx.md",
            "login.md",
            "readme.md",
            "invoices.md",
            "x.rs",
        ];
        assert_eq!(
            nearest_names("Contract.docx.md", known(&files)),
            ["contract.docx.md"]
        );
        assert_eq!(nearest_names("legal/login.md", known(&files)), ["login.md"]);
        assert_eq!(nearest_names("lgoin.md", known(&files)), ["login.md"]);
        assert_eq!(nearest_names("zzz", known(&files)), [""; 0]);
        assert_eq!(nearest_names("docx", known(&["md", "txt"])), ["md", "txt"]);
    }
}
