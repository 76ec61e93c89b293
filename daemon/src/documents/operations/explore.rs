//! `explore_document_structure`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use lore::protocol::documents::{
    ExploreDocumentStructureArgs, ExploreDocumentStructureReply, StructureItem, StructureType,
};

use super::contexts::contexts;
use super::{chunk_index, in_order, nearest_contexts, nearest_names, read};
use crate::documents::catalogue::{Catalogue, Entry};
use crate::documents::feature::Documents;
use crate::documents::types::type_of;
use crate::error::{Code, Refusal};
use crate::hint::{Tool, hint};
use crate::operation::{Access, Call, Context, MemoryBound, Op, blocking};
use crate::state::State;

/// Characters in a chunk's preview.
const PREVIEW_CHARS: usize = 150;
const ITEMS: u64 = 50;
const ITEMS_MAX: u64 = 200;
/// Maximum number of the first item of a page.
const START_MAX: usize = u32::MAX as usize;

/// `explore_document_structure`.
pub struct ExploreDocumentStructure;

impl Op for ExploreDocumentStructure {
    type Args = ExploreDocumentStructureArgs;
    type Reply = ExploreDocumentStructureReply;
    const NAME: &'static str = "explore_document_structure";
    const TITLE: &'static str = "Explore the structure of documents";
    const DESCRIPTION: &'static str = "Navigate and explore document hierarchies, file structures, and chunk \
        organization for better understanding of available content.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Page;

    async fn call(
        call: Call<ExploreDocumentStructureArgs>,
    ) -> Result<ExploreDocumentStructureReply, Refusal> {
        let Call { cx, args, .. } = call;
        let most = args.max_items.unwrap_or(ITEMS);
        if !(1..=ITEMS_MAX).contains(&most) {
            return Err(Refusal::invalid(format!(
                "`max_items`: got {most}, expected 1 to {ITEMS_MAX}"
            )));
        }
        let first = page_start(args.next.as_deref())?;
        let state = State::live(&cx, args.at_least).await?;
        blocking(move || explore(&cx, &state, &args, first..first + most as usize)).await
    }

    fn readable(reply: &ExploreDocumentStructureReply) -> Option<String> {
        let mut text = format!("{} of {}", reply.items.len(), reply.total);
        for item in &reply.items {
            text.push_str(&format!("\n- {}", item.id));
            let file = item.file_name.as_ref().filter(|name| item.name != **name);
            if let Some(name) = file.filter(|_| item.chunk_index.is_none()) {
                text.push_str(&format!(" {name}"));
            }
            if item.name != item.id {
                text.push_str(&format!(" ({})", item.name));
            }
            let counts = [(item.documents, "documents"), (item.chunks, "chunks")];
            for (count, what) in counts {
                if let Some(count) = count {
                    text.push_str(&format!(", {count} {what}"));
                }
            }
            if let Some(preview) = &item.preview {
                text.push_str(&format!(": {preview}"));
            }
        }
        if let Some(next) = &reply.next {
            text.push_str(&format!("\nMore: next = {next}"));
        }
        Some(text)
    }
}

/// Reads the number of the first item of a page. The order of documents is fixed, so a number is enough.
fn page_start(next: Option<&str>) -> Result<usize, Refusal> {
    let Some(next) = next.filter(|next| !next.is_empty()) else {
        return Ok(0);
    };
    let number = next
        .strip_prefix("item-")
        .and_then(|number| number.parse().ok());
    number.filter(|number| *number < START_MAX).ok_or_else(|| {
        Refusal::invalid(format!(
            "`next` is `{}`; expected the `next` of the previous page",
            crate::sanitize::line(crate::sanitize::head(next, 64))
        ))
    })
}

fn explore(
    cx: &Context,
    state: &State,
    args: &ExploreDocumentStructureArgs,
    page: Range<usize>,
) -> Result<ExploreDocumentStructureReply, Refusal> {
    let catalogue = Documents::of(cx)?.catalogue(state)?;
    let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let (context, file) = (given(&args.context_id), given(&args.file_name));
    let wanted: Vec<&Arc<Entry>> = in_order(&catalogue)
        .into_iter()
        .filter(|entry| {
            let taken = &entry.row.taken;
            context.as_ref().is_none_or(|id| taken.context_id == *id)
                && file
                    .as_ref()
                    .is_none_or(|name| entry.row.file_name() == name)
        })
        .collect();
    if wanted.is_empty() && (context.is_some() || file.is_some()) {
        return Err(nothing(&catalogue, context.as_deref(), file.as_deref()));
    }
    let structure_type = args.structure_type.unwrap_or_default();
    let mut reply = ExploreDocumentStructureReply {
        structure_type,
        total: 0,
        items: Vec::new(),
        next: None,
        total_contexts: None,
        contexts_by_type: None,
        available_categories: None,
        position: state.position(),
        durable: cx.engine.is_durable(),
    };
    let items = match structure_type {
        StructureType::Contexts => explore_contexts(&catalogue, &wanted, &mut reply),
        StructureType::Files => wanted.iter().map(|entry| file_item(entry)).collect(),
        StructureType::Chunks => {
            reply.total = wanted
                .iter()
                .map(|entry| u64::from(entry.row.taken.chunks))
                .sum();
            reply.items = chunks(cx, state, &wanted, &page)?;
            reply.next = next_of(&reply, &page);
            return Ok(reply);
        }
        StructureType::Categories => categories(&wanted),
    };
    reply.total = items.len() as u64;
    reply.items = items
        .into_iter()
        .skip(page.start)
        .take(page.len())
        .collect();
    reply.next = next_of(&reply, &page);
    Ok(reply)
}

/// Returns the start of the following page, if there is one.
fn next_of(reply: &ExploreDocumentStructureReply, page: &Range<usize>) -> Option<String> {
    let is_last = reply.items.is_empty() || page.end as u64 >= reply.total;
    (!is_last).then(|| format!("item-{}", page.end))
}

/// Refuses an unknown context or file, and suggests existing contexts.
fn nothing(catalogue: &Catalogue, context: Option<&str>, file: Option<&str>) -> Refusal {
    let wanted = context.or(file).unwrap_or_default();
    let what = match (context, file) {
        (Some(context), Some(file)) => format!("the context `{context}` has no file `{file}`"),
        (Some(context), None) => format!("context `{context}` not found"),
        (None, file) => format!(
            "no document has the file name `{}`",
            file.unwrap_or_default()
        ),
    };
    let refusal = Refusal::new(Code::NotFound, what);
    if context.is_none() {
        let names = catalogue
            .all()
            .map(|entry| entry.row.file_name().to_owned());
        let near = nearest_names(wanted, names.collect());
        if !near.is_empty() {
            return refusal.hint(format!("The nearest files are {}.", near.join(", ")));
        }
    }
    let near = nearest_contexts(catalogue, wanted);
    match near.as_slice() {
        [] => refusal.hint(hint![
            Tool::ExploreDocumentStructure,
            " without a filter lists what there is."
        ]),
        near => refusal.hint(format!("The nearest contexts are {}.", near.join(", "))),
    }
}

fn item(id: &str, name: &str) -> StructureItem {
    StructureItem {
        id: id.to_owned(),
        name: name.to_owned(),
        context_id: None,
        file_name: None,
        file_type: None,
        category: None,
        tags: Vec::new(),
        chunk_index: None,
        number: None,
        documents: None,
        chunks: None,
        preview: None,
    }
}

fn explore_contexts(
    catalogue: &Catalogue,
    wanted: &[&Arc<Entry>],
    reply: &mut ExploreDocumentStructureReply,
) -> Vec<StructureItem> {
    let ids: BTreeSet<&str> = wanted
        .iter()
        .map(|entry| entry.row.taken.context_id.as_str())
        .collect();
    let mut by_type: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut items = Vec::new();
    for (id, counted) in contexts(catalogue, None) {
        if ids.contains(id.as_str()) {
            by_type
                .entry(type_of(&id).to_owned())
                .or_default()
                .push(id.clone());
            items.push(StructureItem {
                documents: Some(counted.documents),
                chunks: Some(counted.chunks),
                ..item(&id, &counted.name)
            });
        }
    }
    reply.total_contexts = Some(items.len() as u64);
    reply.contexts_by_type = Some(by_type);
    let categories = wanted
        .iter()
        .filter_map(|entry| entry.row.taken.category.clone());
    let categories: BTreeSet<String> = categories.collect();
    reply.available_categories = Some(categories.into_iter().collect());
    items
}

fn file_item(entry: &Entry) -> StructureItem {
    let taken = &entry.row.taken;
    StructureItem {
        context_id: Some(taken.context_id.clone()),
        file_name: Some(entry.row.file_name().to_owned()),
        file_type: Some(taken.file_type.clone()),
        category: taken.category.clone(),
        tags: taken.tags.clone(),
        chunks: Some(u64::from(taken.chunks)),
        ..item(&entry.id, &taken.title)
    }
}

fn categories(wanted: &[&Arc<Entry>]) -> Vec<StructureItem> {
    let mut found: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for entry in wanted {
        if let Some(category) = &entry.row.taken.category {
            let counted = found.entry(category).or_default();
            counted.0 += 1;
            counted.1 += u64::from(entry.row.taken.chunks);
        }
    }
    let items = found.into_iter().map(|(category, counted)| StructureItem {
        documents: Some(counted.0),
        chunks: Some(counted.1),
        ..item(category, category)
    });
    items.collect()
}

fn chunks(
    cx: &Context,
    state: &State,
    wanted: &[&Arc<Entry>],
    page: &Range<usize>,
) -> Result<Vec<StructureItem>, Refusal> {
    let most = page.len();
    let mut before = page.start;
    let mut items = Vec::new();
    for entry in wanted {
        let of_document = entry.row.taken.chunks as usize;
        if before >= of_document {
            before -= of_document;
            continue;
        }
        for row in entry.row.parts.iter() {
            if items.len() >= most {
                return Ok(items);
            }
            let read = read(cx, state, &row)?;
            let of_part = read.part.chunks.len();
            let first = before.min(of_part);
            before -= first;
            let last = of_part.min(first + most - items.len());
            for number in first..last {
                let Some((text, headings, _)) = read.chunk(number) else {
                    continue;
                };
                let number = u64::from(row.first_chunk) + number as u64;
                let index = chunk_index(entry.row.file_name(), number);
                items.push(StructureItem {
                    context_id: Some(entry.row.taken.context_id.clone()),
                    file_name: Some(entry.row.file_name().to_owned()),
                    chunk_index: Some(index),
                    number: Some(number),
                    preview: Some(text.chars().take(PREVIEW_CHARS).collect()),
                    ..item(&format!("{}#{number}", entry.id), &headings.join(" › "))
                });
            }
        }
    }
    Ok(items)
}
