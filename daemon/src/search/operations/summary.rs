//! The `get_index_summary` operation.

use std::collections::BTreeMap;

use lore::protocol::documents::{
    ContextSummary, DetailLevel, Facet, FileFailure, GetIndexSummaryArgs, GetIndexSummaryReply,
    IndexState,
};
use lored_models::EmbeddingStage;

use super::result_page::open;
use crate::clock::format_time;
use crate::documents::operations::contexts::contexts;
use crate::documents::{self, Catalogue, Entry, type_of};
use crate::error::Refusal;
use crate::operation::{Access, Call, Context, MemoryBound, Op, blocking};
use crate::state::State;

/// Maximum numbers of contexts, file types, categories and tags in a detailed summary.
const DETAILED: [usize; 4] = [5, 10, 10, 15];

/// The `get_index_summary` operation.
pub struct GetIndexSummary;

impl Op for GetIndexSummary {
    type Args = GetIndexSummaryArgs;
    type Reply = GetIndexSummaryReply;
    const NAME: &'static str = "get_index_summary";
    const TITLE: &'static str = "Summarise the index of documents";
    const DESCRIPTION: &'static str = "Get comprehensive overview of the document index including statistics, \
        document types, categories, and system health.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(call: Call<GetIndexSummaryArgs>) -> Result<GetIndexSummaryReply, Refusal> {
        let Call { cx, args, .. } = call;
        let state = State::live(&cx, args.at_least).await?;
        blocking(move || summary(&cx, &state, args.detail_level.unwrap_or_default())).await
    }

    fn readable(reply: &GetIndexSummaryReply) -> Option<String> {
        let mut text = format!(
            "{} documents, {} chunks, {} contexts",
            reply.total_documents, reply.total_chunks, reply.total_contexts
        );
        for (name, facets) in [
            ("File types", &reply.file_types),
            ("Categories", &reply.categories),
            ("Tags", &reply.tags),
        ] {
            if !facets.is_empty() {
                let all: Vec<String> = facets
                    .iter()
                    .map(|facet| format!("{} ({})", facet.value, facet.documents))
                    .collect();
                text.push_str(&format!("\n{name}: {}", all.join(", ")));
            }
        }
        for context in &reply.contexts {
            text.push_str(&format!(
                "\n- {} ({}): {} documents, {} chunks",
                context.context_id, context.context_name, context.documents, context.chunks
            ));
        }
        if let Some(index) = &reply.index {
            text.push_str(&format!(
                "\nIndex: {} bytes, {} events behind, {} units, model {} ({} tier), {} files failed",
                index.bytes, index.lag, index.units, index.model, index.tier, index.failed
            ));
        }
        Some(text)
    }
}

fn summary(
    cx: &Context,
    state: &State,
    level: DetailLevel,
) -> Result<GetIndexSummaryReply, Refusal> {
    let catalogue = documents::Documents::of(cx)?.catalogue(state)?;
    let all = contexts(&catalogue, None);
    let mut reply = GetIndexSummaryReply {
        detail_level: level,
        total_documents: catalogue.len() as u64,
        total_chunks: catalogue
            .all()
            .map(|entry| u64::from(entry.row.taken.chunks))
            .sum(),
        total_contexts: all.len() as u64,
        file_types: Vec::new(),
        categories: Vec::new(),
        tags: Vec::new(),
        contexts: Vec::new(),
        failures: Vec::new(),
        index: None,
        position: state.position(),
        durable: cx.engine.is_durable(),
        warnings: Vec::new(),
    };
    let most = match level {
        DetailLevel::Basic => return Ok(reply),
        DetailLevel::Detailed => DETAILED,
        DetailLevel::Comprehensive => [usize::MAX; 4],
    };
    let entries = || catalogue.all().map(|entry| &**entry);
    reply.file_types = facets(entries(), most[1], file_type);
    reply.categories = facets(entries(), most[2], category);
    reply.tags = facets(entries(), most[3], tags);
    reply.contexts = summaries(&catalogue, most[0], level);
    if level == DetailLevel::Comprehensive {
        for (source, _) in documents::all_sources(state)? {
            for (path, failure) in documents::failures(state, &source)? {
                reply.failures.push(FileFailure {
                    path,
                    reason: failure.reason,
                    at: format_time(failure.at),
                });
            }
        }
        reply.index = Some(index(cx, state, reply.failures.len() as u64)?);
    }
    Ok(reply)
}

fn file_type(entry: &Entry) -> Vec<String> {
    vec![entry.row.taken.file_type.clone()]
}

fn category(entry: &Entry) -> Vec<String> {
    entry.row.taken.category.clone().into_iter().collect()
}

fn tags(entry: &Entry) -> Vec<String> {
    entry.row.taken.tags.clone()
}

/// Counts the values of documents, most frequent first, ties by name.
fn facets<'e>(
    entries: impl Iterator<Item = &'e Entry>,
    most: usize,
    values: impl Fn(&Entry) -> Vec<String>,
) -> Vec<Facet> {
    let mut counted: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for entry in entries {
        for value in values(entry) {
            let count = counted.entry(value).or_default();
            count.0 += 1;
            count.1 += u64::from(entry.row.taken.chunks);
        }
    }
    let mut facets: Vec<Facet> = counted
        .into_iter()
        .map(|(value, (documents, chunks))| Facet {
            value,
            documents,
            chunks,
        })
        .collect();
    facets.sort_by_key(|facet| std::cmp::Reverse(facet.documents));
    facets.truncate(most);
    facets
}

/// Summarises contexts, largest first, ties by id; a comprehensive summary includes their contents.
fn summaries(catalogue: &Catalogue, most: usize, level: DetailLevel) -> Vec<ContextSummary> {
    let mut all: Vec<_> = contexts(catalogue, None).into_iter().collect();
    all.sort_by_key(|(_, counted)| std::cmp::Reverse(counted.documents));
    all.truncate(most);
    let is_whole = level == DetailLevel::Comprehensive;
    let mut by_context: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    for entry in catalogue.all().filter(|_| is_whole) {
        by_context
            .entry(&entry.row.taken.context_id)
            .or_default()
            .push(entry);
    }
    all.into_iter()
        .map(|(id, counted)| {
            let own = || {
                let own = by_context.get(id.as_str());
                own.into_iter().flatten().copied()
            };
            ContextSummary {
                context_type: type_of(&id).to_owned(),
                file_types: facets(own(), usize::MAX, file_type),
                categories: facets(own(), usize::MAX, category),
                context_name: counted.name,
                documents: counted.documents,
                chunks: counted.chunks,
                context_id: id,
            }
        })
        .collect()
}

fn index(cx: &Context, state: &State, failed: u64) -> Result<IndexState, Refusal> {
    let index = open(cx)?;
    let stage = index.ranking_tier();
    let known = stage.and_then(|stage| index.models().known(stage));
    Ok(IndexState {
        bytes: index.bytes(),
        lag: state.position().0.saturating_sub(index.applied().0),
        units: index.text.counts().units(),
        model: known.map_or_else(|| "none".to_owned(), |known| known.id.clone()),
        tier: match stage {
            Some(EmbeddingStage::First) => "first",
            Some(EmbeddingStage::Second) => "second",
            None => "none",
        }
        .to_owned(),
        embedded: index.second_counts().0,
        failed,
    })
}
