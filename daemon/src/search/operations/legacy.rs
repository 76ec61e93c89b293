//! The eight tools of work-item servers, as searches for documents. They are listed for hosts with the profile
//! `legacy`, for compatibility with existing clients.
//!
//! A work item is a context, by its id or its name. The arguments of the first two tools come from their source;
//! the arguments of the others are named like its filters.

use std::sync::Arc;

use lore::protocol::Position;
use lore::protocol::documents::{
    DetailLevel, GetDocumentContextsArgs, GetDocumentContextsReply, GetIndexSummaryArgs,
    GetIndexSummaryReply,
};
use lore::protocol::search::{
    ChunkRange, Filters, GetWorkItemListArgs, GetWorkItemSummaryArgs, SearchByChunkArgs,
    SearchByWorkItemArgs, SearchChunkRangeArgs, SearchFileChunksArgs, SearchReply, SearchType,
    SearchWorkItemsArgs, SemanticSearchArgs,
};
use lored_retrieval::text::Kind;

use super::documents::K;
use super::given;
use super::readable::readable;
use super::result_page::{Page, answer, in_order};
use super::summary::GetIndexSummary;
use crate::documents::operations::contexts::GetDocumentContexts;
use crate::documents::operations::page_size;
use crate::error::Refusal;
use crate::hint::{Tool, hint};
use crate::operation::cursor::List;
use crate::operation::{Access, Call, Context, MemoryBound, Op};
use crate::search::request::SearchRequest;
use crate::state::State;

/// Default number of results.
const RESULTS: u64 = 5;

/// The request of the six searches.
#[derive(Default)]
struct LegacyQuery {
    /// The query; without one, all matching chunks are listed in order.
    query: Option<String>,
    search_type: Option<SearchType>,
    /// A context by its id or its name.
    work_item: Option<String>,
    filters: Filters,
    max_results: Option<u64>,
    at_least: Option<Position>,
    /// The cursor from the previous page.
    next: Option<String>,
}

/// Searches; a page has at most `most` results.
async fn search(cx: Arc<Context>, wanted: LegacyQuery, most: u64) -> Result<SearchReply, Refusal> {
    let is_listing = wanted.query.is_none();
    let mut document_filter = given::document_filter(wanted.filters)?;
    if let Some(work_item) = wanted.work_item.filter(|id| !id.is_empty()) {
        document_filter.get_or_insert_default().context = Some(work_item);
    }
    let search_type = match is_listing {
        true => SearchType::Text,
        false => wanted.search_type.unwrap_or_default(),
    };
    let ask = SearchRequest {
        query: wanted.query.unwrap_or_default(),
        mode: given::mode(search_type),
        kinds: vec![Kind::Document],
        document_filter,
        most: page_size("max_results", wanted.max_results, RESULTS, most)?,
        k: K as f64,
        include_content: true,
        ..SearchRequest::default()
    };
    let state = State::live(&cx, wanted.at_least).await?;
    let page = Page {
        next: wanted.next,
        list: List::Documents,
    };
    match is_listing {
        true => in_order(cx, state, ask, page).await,
        false => answer(cx, state, ask, page).await,
    }
}

/// Checks that a text is not empty.
fn required(name: &str, text: String) -> Result<String, Refusal> {
    if text.is_empty() {
        return Err(Refusal::invalid(format!("`{name}` is empty")).hint(hint![
            Tool::ExploreDocumentStructure,
            " shows contexts, files and chunks."
        ]));
    }
    Ok(text)
}

/// Declares a search: its type, arguments, name, title, description, maximum number of results, and request.
macro_rules! search {
    ($op:ident, $args:ident, $name:literal, $title:literal, $sentence:literal, $most:literal, $wanted:expr) => {
        #[doc = concat!("`", $name, "`.")]
        pub struct $op;

        impl Op for $op {
            type Args = $args;
            type Reply = SearchReply;
            const NAME: &'static str = $name;
            const TITLE: &'static str = $title;
            const DESCRIPTION: &'static str = $sentence;
            const ACCESS: Access = Access::Read;
            const MEMORY: MemoryBound = MemoryBound::Page;

            async fn call(call: Call<$args>) -> Result<SearchReply, Refusal> {
                let wanted: fn($args) -> Result<LegacyQuery, Refusal> = $wanted;
                search(call.cx, wanted(call.args)?, $most).await
            }

            fn readable(reply: &SearchReply) -> Option<String> {
                Some(readable(reply, true))
            }
        }
    };
}

search!(
    SearchWorkItems,
    SearchWorkItemsArgs,
    "search_work_items",
    "Search work items",
    "Searches the documents of all work items, or of one. Newer: `search_documents`.",
    20,
    |args| Ok(LegacyQuery {
        query: Some(args.query),
        search_type: args.search_type,
        work_item: args.work_item_id,
        max_results: args.max_results,
        at_least: args.at_least,
        next: args.next,
        ..LegacyQuery::default()
    })
);

search!(
    SearchByWorkItem,
    SearchByWorkItemArgs,
    "search_by_work_item",
    "Search one work item",
    "Searches the documents of one work item; without `query` gives its chunks in their order. Newer: \
     `search_documents` with the filter `context_id`.",
    10,
    |args| Ok(LegacyQuery {
        query: args.query,
        work_item: Some(required("work_item_id", args.work_item_id)?),
        max_results: args.max_results,
        at_least: args.at_least,
        next: args.next,
        ..LegacyQuery::default()
    })
);

search!(
    SemanticSearch,
    SemanticSearchArgs,
    "semantic_search",
    "Search by meaning",
    "Searches documents by meaning. Newer: `search_documents` with `search_type` semantic.",
    15,
    |args| Ok(LegacyQuery {
        query: Some(args.query),
        search_type: Some(SearchType::Semantic),
        work_item: args.work_item_id,
        max_results: args.max_results,
        at_least: args.at_least,
        next: args.next,
        ..LegacyQuery::default()
    })
);

search!(
    SearchByChunk,
    SearchByChunkArgs,
    "search_by_chunk",
    "Search chunks",
    "Searches the chunks whose names fit a pattern; without `query` gives them in their order. Newer: \
     `search_documents` with the filter `chunk_pattern`.",
    15,
    |args| Ok(LegacyQuery {
        query: args.query,
        filters: Filters {
            chunk_pattern: Some(required("chunk_pattern", args.chunk_pattern)?),
            ..Filters::default()
        },
        max_results: args.max_results,
        at_least: args.at_least,
        next: args.next,
        ..LegacyQuery::default()
    })
);

search!(
    SearchFileChunks,
    SearchFileChunksArgs,
    "search_file_chunks",
    "Search one file",
    "Searches the chunks of a file; without `query` gives them in their order. Newer: \
     `search_documents` with the filter `file_name`.",
    20,
    |args| Ok(LegacyQuery {
        query: args.query,
        filters: Filters {
            file_name: Some(required("file_name", args.file_name)?),
            ..Filters::default()
        },
        max_results: args.max_results,
        at_least: args.at_least,
        next: args.next,
        ..LegacyQuery::default()
    })
);

search!(
    SearchChunkRange,
    SearchChunkRangeArgs,
    "search_chunk_range",
    "Read chunks of a file",
    "Gives the chunks of a file from one number to another, both included, in their order. Newer: \
     `get_document_content`.",
    20,
    |args| Ok(LegacyQuery {
        filters: Filters {
            file_name: Some(required("file_name", args.file_name)?),
            chunk_range: Some(ChunkRange {
                start: args.start.unwrap_or(0),
                end: args.end.unwrap_or(u64::MAX),
            }),
            ..Filters::default()
        },
        max_results: args.max_results,
        at_least: args.at_least,
        next: args.next,
        ..LegacyQuery::default()
    })
);

/// The `get_work_item_list` operation.
pub struct GetWorkItemList;

impl Op for GetWorkItemList {
    type Args = GetWorkItemListArgs;
    type Reply = GetDocumentContextsReply;
    const NAME: &'static str = "get_work_item_list";
    const TITLE: &'static str = "List work items";
    const DESCRIPTION: &'static str =
        "Lists all work items: every context with its documents. Newer: `get_document_contexts`.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<GetWorkItemListArgs>) -> Result<GetDocumentContextsReply, Refusal> {
        let call = call.map(|args| GetDocumentContextsArgs {
            at_least: args.at_least,
            ..GetDocumentContextsArgs::default()
        });
        GetDocumentContexts::call(call).await
    }

    fn readable(reply: &GetDocumentContextsReply) -> Option<String> {
        GetDocumentContexts::readable(reply)
    }
}

/// The `get_work_item_summary` operation.
pub struct GetWorkItemSummary;

impl Op for GetWorkItemSummary {
    type Args = GetWorkItemSummaryArgs;
    type Reply = GetIndexSummaryReply;
    const NAME: &'static str = "get_work_item_summary";
    const TITLE: &'static str = "Summarise work items";
    const DESCRIPTION: &'static str = "Counts documents, chunks and work items, and names the most frequent file \
        types, categories and tags. Newer: `get_index_summary`.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<GetWorkItemSummaryArgs>) -> Result<GetIndexSummaryReply, Refusal> {
        let call = call.map(|args| GetIndexSummaryArgs {
            detail_level: Some(DetailLevel::Detailed),
            at_least: args.at_least,
            agent: args.agent,
        });
        GetIndexSummary::call(call).await
    }

    fn readable(reply: &GetIndexSummaryReply) -> Option<String> {
        GetIndexSummary::readable(reply)
    }
}
