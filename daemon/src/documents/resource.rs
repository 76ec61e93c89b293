//! Serves the resource `lore://document/{id}`: documents by URI.

use std::sync::Arc;

use super::catalogue::Entry;
use super::command::unknown_document;
use super::feature::Documents;
use super::operations::{modified, read};
use super::view::{self, DocumentRow};
use crate::error::Refusal;
use crate::events::Event;
use crate::events::documents::DocumentEvent;
use crate::log::LoggedEvent;
use crate::operation::{Caller, Context, blocking};
use crate::resource::{AffectedResources, Entry as Listed, Page, Resource, only_page};
use crate::state::State;
use crate::store::Rows;

/// Limit on the listed documents; the most recently ingested are listed.
const LISTED_MAX: usize = 100;
/// Limit on the documents that are searched to complete an argument.
const CANDIDATES_MAX: usize = 20_000;

/// The text of a document.
pub struct Document;

impl Resource for Document {
    const TEMPLATE: &'static str = "lore://document/{id}";
    const NAME: &'static str = "document";
    const TITLE: &'static str = "Document";
    const DESCRIPTION: &'static str =
        "The complete text of a document as it was ingested; searches return the ids.";
    const MIME: &'static str = "text/plain";

    async fn list(
        cx: Arc<Context>,
        _caller: Caller,
        cursor: Option<String>,
    ) -> Result<Page, Refusal> {
        only_page(cursor.as_deref())?;
        Ok(Page {
            entries: newest(cx, LISTED_MAX).await?,
            next: None,
        })
    }

    async fn candidates(cx: Arc<Context>, _caller: Caller) -> Result<Vec<Listed>, Refusal> {
        newest(cx, CANDIDATES_MAX).await
    }

    async fn read(cx: Arc<Context>, _caller: Caller, id: String) -> Result<String, Refusal> {
        let state = State::live(&cx, None).await?;
        blocking(move || text(&cx, &state, &row(&state, &id)?)).await
    }

    fn check(rows: &dyn Rows, id: &str) -> Result<(), Refusal> {
        row(rows, id).map(drop)
    }

    /// The removal of a source affects only the list, because the event does not name its documents.
    fn touched(_: &LoggedEvent, meta: Option<&Event>) -> AffectedResources {
        let Some(meta) = meta else {
            return AffectedResources::default();
        };
        match meta {
            Event::Document(DocumentEvent::Ingested(meta)) => {
                AffectedResources::one(&meta.document, true)
            }
            Event::Document(DocumentEvent::Removed(gone)) => {
                AffectedResources::one(&gone.document, true)
            }
            Event::Document(DocumentEvent::SourceRemoved) => AffectedResources {
                list: true,
                ..AffectedResources::default()
            },
            // Further parts are committed with the event that ingests the file.
            Event::Document(
                DocumentEvent::SourceAdded(_)
                | DocumentEvent::PartAdded(_)
                | DocumentEvent::Restatted(_)
                | DocumentEvent::FileFailed(_)
                | DocumentEvent::FailureCleared(_),
            )
            | Event::Session(_)
            | Event::Step(_)
            | Event::Message(_)
            | Event::Entity(_)
            | Event::Pack(_)
            | Event::Checkpoint(_)
            | Event::Project(_)
            | Event::Capture(_)
            | Event::Trust(_)
            | Event::Forgetting(_) => AffectedResources::default(),
        }
    }
}

/// Lists documents, the most recently ingested first.
async fn newest(cx: Arc<Context>, most: usize) -> Result<Vec<Listed>, Refusal> {
    let state = State::live(&cx, None).await?;
    blocking(move || {
        let catalogue = Documents::of(&cx)?.catalogue(&state)?;
        let mut newest: Vec<&Arc<Entry>> = catalogue.all().collect();
        newest.sort_by_key(|entry| std::cmp::Reverse((entry.row.at, entry.row.version())));
        let newest = newest.into_iter().take(most);
        Ok(newest.map(|entry| listed(entry)).collect())
    })
    .await
}

fn listed(entry: &Entry) -> Listed {
    let taken = &entry.row.taken;
    Listed {
        id: entry.id.clone(),
        title: Some(taken.title.clone()),
        description: Some(format!(
            "{} in {}, of {}",
            taken.path,
            taken.context_name,
            modified(&entry.row)
        )),
        bytes: Some(taken.text_bytes),
    }
}

/// Joins the parts to the whole text. A part can begin before the end of the previous part, because a
/// sentence is repeated; the repeated text is skipped.
fn text(cx: &Context, state: &State, row: &DocumentRow) -> Result<String, Refusal> {
    let mut whole = String::new();
    for part in row.parts.iter() {
        let read = read(cx, state, &part)?;
        let reported = (whole.len() as u64).saturating_sub(read.part.start);
        let reported = usize::try_from(reported).unwrap_or(usize::MAX);
        whole.push_str(read.text.get(reported..).unwrap_or_default());
    }
    Ok(whole)
}

/// Returns the row of the document that a URI identifies.
fn row(rows: &dyn Rows, id: &str) -> Result<DocumentRow, Refusal> {
    view::document(rows, id)?.ok_or_else(|| unknown_document(id))
}
