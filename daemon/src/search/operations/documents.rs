//! The `search_documents` operation.

use lore::protocol::search::{SearchDocumentsArgs, SearchReply};
use lored_retrieval::text::Kind;

use super::given::{document_filter, fusing, mode};
use super::readable::readable;
use super::result_page::{Page, answer};
use crate::documents::operations::page_size;
use crate::error::Refusal;
use crate::operation::cursor::List;
use crate::operation::{Access, Call, MemoryBound, Op};
use crate::search::request::{RESULTS, RESULTS_MAX, SearchRequest};
use crate::state::State;

/// The usual constant of reciprocal rank fusion.
pub const K: u64 = 60;

/// The `search_documents` operation.
pub struct SearchDocuments;

impl Op for SearchDocuments {
    type Args = SearchDocumentsArgs;
    type Reply = SearchReply;
    const NAME: &'static str = "search_documents";
    const TITLE: &'static str = "Search documents";
    const DESCRIPTION: &'static str = "Search across all indexed documents with flexible filtering and multiple \
        search modes. Supports any document type including work items, API documentation, legal documents, \
        project files, and more.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<SearchDocumentsArgs>) -> Result<SearchReply, Refusal> {
        let Call { cx, args, .. } = call;
        let ask = SearchRequest {
            query: args.query,
            mode: mode(args.search_type.unwrap_or_default()),
            kinds: vec![Kind::Document],
            document_filter: document_filter(args.filters.unwrap_or_default())?,
            most: page_size("max_results", args.max_results, RESULTS, RESULTS_MAX)?,
            fusing: fusing(args.fusion.unwrap_or_default()),
            k: args.k.unwrap_or(K) as f64,
            explain: args.explain.unwrap_or(false),
            include_content: args.include_content.unwrap_or(true),
            ..SearchRequest::default()
        };
        let state = State::live(&cx, args.at_least).await?;
        let page = Page {
            next: args.next,
            list: List::Documents,
        };
        answer(cx, state, ask, page).await
    }

    fn readable(reply: &SearchReply) -> Option<String> {
        let has_content = reply.results.iter().any(|result| result.content.is_some());
        Some(readable(reply, has_content))
    }
}
