//! `remove_document` and `list_documents`: the sent documents, so that unchanged ones need not be sent again.

use lore::protocol::documents::{
    ListDocumentsArgs, ListDocumentsReply, ListedDocument, RemoveDocumentArgs, RemoveDocumentReply,
};

use super::page_size;
use super::sources::named;
use crate::documents::command;
use crate::documents::view;
use crate::error::Refusal;
use crate::log::Hash;
use crate::operation::{Access, Call, Context, MemoryBound, Op, blocking};
use crate::state::State;

/// Default number of documents in a page.
const ITEMS: u64 = 100;
/// Limit on the documents in a page.
const ITEMS_MAX: u64 = 1000;

/// `remove_document`.
pub struct RemoveDocument;

impl Op for RemoveDocument {
    type Args = RemoveDocumentArgs;
    type Reply = RemoveDocumentReply;
    const NAME: &'static str = "remove_document";
    const TITLE: &'static str = "Remove a document that was sent";
    const DESCRIPTION: &'static str =
        "Removes a sent document from search. Documents from files are removed with their files.";
    const ACCESS: Access = Access::Write;
    const MEMORY: MemoryBound = MemoryBound::Rows;
    const IS_DESTRUCTIVE: bool = true;

    async fn call(call: Call<RemoveDocumentArgs>) -> Result<RemoveDocumentReply, Refusal> {
        let claim = call.claim()?;
        let (cx, caller, args) = call.into_parts();
        let command = command::RemoveDocument {
            document: args.document.clone(),
            salt: cx.engine.clock().random(),
        };
        let outcome = cx.write(&caller, claim, 0, command).await?;
        Ok(RemoveDocumentReply {
            document: args.document,
            source: outcome.event.header.project.clone().unwrap_or_default(),
            position: outcome.event.position(),
            durable: outcome.durable,
            warnings: Vec::new(),
        })
    }
}

/// `list_documents`.
pub struct ListDocuments;

impl Op for ListDocuments {
    type Args = ListDocumentsArgs;
    type Reply = ListDocumentsReply;
    const NAME: &'static str = "list_documents";
    const TITLE: &'static str = "List the documents of a source";
    const DESCRIPTION: &'static str = "Lists the documents of a source by name, with the SHA-256 of their bytes, so that unchanged \
        ones need not be sent again.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<ListDocumentsArgs>) -> Result<ListDocumentsReply, Refusal> {
        let Call { cx, args, .. } = call;
        let most = page_size("max_items", args.max_items, ITEMS, ITEMS_MAX)?;
        let state = State::live(&cx, args.at_least).await?;
        blocking(move || page(&cx, &state, &args, most)).await
    }
}

fn page(
    cx: &Context,
    state: &State,
    args: &ListDocumentsArgs,
    most: usize,
) -> Result<ListDocumentsReply, Refusal> {
    let (source, row) = named(cx, state, &args.source)?;
    // A page ends with a name, and the next page begins after it.
    let behind = args.next.as_deref().unwrap_or_default();
    let mut paths = view::paths_behind(state, &source, behind, most + 1)?;
    let has_more = paths.len() > most;
    paths.truncate(most);
    let next = paths.last().map(|(name, _)| name.clone());
    let mut documents = Vec::with_capacity(paths.len());
    for (name, document) in paths {
        let Some(known) = view::document(state, &document)? else {
            continue;
        };
        documents.push(ListedDocument {
            document,
            name,
            stale: known.version().0 < row.reported || !known.is_whole(),
            sha256: Hash(*known.taken.hash).to_string(),
            bytes: known.taken.stamp.bytes,
            title: known.taken.title,
        });
    }
    Ok(ListDocumentsReply {
        documents,
        next: next.filter(|_| has_more),
        position: state.position(),
        durable: cx.engine.is_durable(),
    })
}
