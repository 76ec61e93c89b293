//! `get_document_contexts`.

use std::collections::BTreeMap;

use lore::protocol::documents::{
    DocumentContext, GetDocumentContextsArgs, GetDocumentContextsReply,
};

use crate::documents::catalogue::Catalogue;
use crate::documents::feature::Documents;
use crate::documents::types::{is_of, type_of};
use crate::error::Refusal;
use crate::operation::{Access, Call, MemoryBound, Op, blocking};
use crate::state::State;

/// Counts of a context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextCounts {
    /// Display name.
    pub name: String,
    /// Number of documents.
    pub documents: u64,
    /// Number of chunks.
    pub chunks: u64,
}

/// Counts the contexts of a category's documents, or of all documents, by context id.
#[must_use]
pub fn contexts(catalogue: &Catalogue, category: Option<&str>) -> BTreeMap<String, ContextCounts> {
    let mut found: BTreeMap<String, ContextCounts> = BTreeMap::new();
    for entry in catalogue.all() {
        let taken = &entry.row.taken;
        let is_wanted = category.is_none_or(|wanted| {
            let own = taken.category.as_deref().unwrap_or_default();
            own.eq_ignore_ascii_case(wanted)
        });
        if is_wanted {
            let counted = found.entry(taken.context_id.clone()).or_default();
            counted.name.clone_from(&taken.context_name);
            counted.documents += 1;
            counted.chunks += u64::from(taken.chunks);
        }
    }
    found
}

/// `get_document_contexts`.
pub struct GetDocumentContexts;

impl Op for GetDocumentContexts {
    type Args = GetDocumentContextsArgs;
    type Reply = GetDocumentContextsReply;
    const NAME: &'static str = "get_document_contexts";
    const TITLE: &'static str = "List contexts of documents";
    const DESCRIPTION: &'static str = "Discover all available document contexts (work items, projects, \
        contracts, etc.) in the index for exploration and filtering.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(
        call: Call<GetDocumentContextsArgs>,
    ) -> Result<GetDocumentContextsReply, Refusal> {
        let Call { cx, args, .. } = call;
        let state = State::live(&cx, args.at_least).await?;
        blocking(move || {
            let catalogue = Documents::of(&cx)?.catalogue(&state)?;
            let counts = args.include_counts.unwrap_or(true);
            let wanted = args.context_type.as_deref().filter(|text| !text.is_empty());
            let category = args.category_filter.as_deref();
            let contexts: Vec<DocumentContext> =
                contexts(&catalogue, category.filter(|text| !text.is_empty()))
                    .into_iter()
                    .filter(|(id, _)| wanted.is_none_or(|wanted| is_of(id, wanted)))
                    .map(|(id, counted)| DocumentContext {
                        context_type: type_of(&id).to_owned(),
                        context_id: id,
                        context_name: counted.name,
                        documents: counts.then_some(counted.documents),
                        chunks: counts.then_some(counted.chunks),
                    })
                    .collect();
            Ok(GetDocumentContextsReply {
                total: contexts.len() as u64,
                contexts,
                position: state.position(),
                durable: cx.engine.is_durable(),
            })
        })
        .await
    }

    fn readable(reply: &GetDocumentContextsReply) -> Option<String> {
        let mut text = format!("{} contexts\n", reply.total);
        for context in &reply.contexts {
            text.push_str(&format!(
                "\n- {} ({}, {})",
                context.context_id, context.context_name, context.context_type
            ));
            if let (Some(documents), Some(chunks)) = (context.documents, context.chunks) {
                text.push_str(&format!(": {documents} documents, {chunks} chunks"));
            }
        }
        Some(text)
    }
}
