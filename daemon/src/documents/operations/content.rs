//! `get_document_content`.

use std::sync::Arc;

use lore::protocol::documents::{
    DocumentChunk, DocumentContent, GetDocumentContentArgs, GetDocumentContentReply,
};
use lore::protocol::search::ChunkRange;

use super::{chunk_index, in_order, nearest_contexts, page_size, read};
use crate::clock::format_time;
use crate::documents::catalogue::{Catalogue, Entry};
use crate::documents::command::unknown_document;
use crate::documents::feature::Documents;
use crate::documents::root::Root;
use crate::documents::view::{self, DocumentRow};
use crate::error::{Code, Refusal};
use crate::hint::{Tool, hint};
use crate::operation::cursor::{Cursor, List};
use crate::operation::{Access, Call, Context, MemoryBound, Op, blocking};
use crate::state::State;

const CHUNKS: u64 = 50;
const CHUNKS_MAX: u64 = 200;
/// Limit on the documents that a call selects by id.
const DOCUMENTS_MAX: usize = 100;

/// `get_document_content`.
pub struct GetDocumentContent;

impl Op for GetDocumentContent {
    type Args = GetDocumentContentArgs;
    type Reply = GetDocumentContentReply;
    const NAME: &'static str = "get_document_content";
    const TITLE: &'static str = "Read documents";
    const DESCRIPTION: &'static str = "Returns the text of documents, chunk by chunk in order, by the ids of search results, or by \
        context and file name.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Content;

    async fn call(call: Call<GetDocumentContentArgs>) -> Result<GetDocumentContentReply, Refusal> {
        let Call { cx, args, .. } = call;
        let most = page_size("max_chunks", args.max_chunks, CHUNKS, CHUNKS_MAX)?;
        if args.documents.len() > DOCUMENTS_MAX {
            return Err(Refusal::invalid(format!(
                "`documents` has {} ids; at most {DOCUMENTS_MAX} are read at once",
                args.documents.len()
            )));
        }
        if let Some(range) = args.chunk_range {
            check_range(range)?;
        }
        let state = State::live(&cx, args.at_least).await?;
        blocking(move || page(&cx, &state, &args, most)).await
    }
}

/// Refuses a range that ends before it begins.
pub fn check_range(range: ChunkRange) -> Result<(), Refusal> {
    if range.start <= range.end {
        return Ok(());
    }
    Err(Refusal::invalid(format!(
        "`chunk_range` begins at {} and ends at {}: no chunk is in it",
        range.start, range.end
    ))
    .hint("The first number is the lower one; both ends are included."))
}

/// Returns the selected documents, in listing order or in the order of the ids.
fn selected<'c>(
    catalogue: &'c Catalogue,
    args: &GetDocumentContentArgs,
) -> Result<Vec<&'c Arc<Entry>>, Refusal> {
    if !args.documents.is_empty() {
        return args
            .documents
            .iter()
            .map(|id| {
                let own = id.split_once('#').map_or(id.as_str(), |(own, _)| own);
                catalogue.get(own).ok_or_else(|| unknown_document(id))
            })
            .collect();
    }
    if args.context_id.is_none() && args.file_name.is_none() {
        return Err(Refusal::invalid(
            "the call names no document: `documents`, `context_id` or `file_name` is missing",
        )
        .hint(hint![Tool::SearchDocuments, " gives ids of documents."]));
    }
    let found: Vec<&Arc<Entry>> = in_order(catalogue)
        .into_iter()
        .filter(|entry| {
            let context = args.context_id.as_ref();
            context.is_none_or(|id| entry.row.taken.context_id == *id)
                && args
                    .file_name
                    .as_ref()
                    .is_none_or(|name| entry.row.file_name() == name)
        })
        .collect();
    if found.is_empty() {
        let name = args.context_id.as_ref().or(args.file_name.as_ref());
        let near = nearest_contexts(catalogue, name.map_or("", String::as_str));
        let refusal = Refusal::new(Code::NotFound, "no document is in this context or file");
        return Err(match near.as_slice() {
            [] => refusal.hint(hint![Tool::GetDocumentContexts, " lists contexts."]),
            near => refusal.hint(format!("The nearest contexts are {}.", near.join(", "))),
        });
    }
    Ok(found)
}

fn page(
    cx: &Context,
    state: &State,
    args: &GetDocumentContentArgs,
    most: usize,
) -> Result<GetDocumentContentReply, Refusal> {
    let catalogue = Documents::of(cx)?.catalogue(state)?;
    let wanted = selected(&catalogue, args)?;
    let store = cx.engine.store_id();
    // Start of the page: a document, and a chunk of it.
    let (mut at, mut from) = (0, 0);
    if let Some(next) = args.next.as_deref() {
        let cursor = Cursor::read(next, "next", List::Content, store, state.position())?;
        let key = String::from_utf8_lossy(&cursor.key).into_owned();
        let (id, number) = key.split_once('#').unwrap_or((&key, "0"));
        from = number.parse::<u64>().unwrap_or(0);
        at = wanted
            .iter()
            .position(|entry| entry.id == id)
            .unwrap_or(wanted.len());
    }
    let mut documents = Vec::new();
    let mut left = most;
    let mut next = None;
    for entry in wanted.into_iter().skip(at) {
        // Documents without a chunk in the range count too, so that every page ends.
        if left == 0 || documents.len() == most {
            next = Some((entry.id.clone(), 0));
            break;
        }
        let (chunks, rest) = chunks(cx, state, entry, args.chunk_range, from, left)?;
        from = 0;
        left -= chunks.len();
        documents.push(document(state, entry, chunks)?);
        if let Some(number) = rest {
            next = Some((entry.id.clone(), number));
            break;
        }
    }
    let next = next.map(|(id, number)| {
        let key = format!("{id}#{number}");
        Cursor::behind_row(key.as_bytes(), state.position()).text(List::Content, store)
    });
    Ok(GetDocumentContentReply {
        documents,
        next,
        position: state.position(),
        durable: cx.engine.is_durable(),
    })
}

/// Reads at most `most` chunks of a document, starting at `from`, and returns the number of the next chunk.
fn chunks(
    cx: &Context,
    state: &State,
    entry: &Entry,
    range: Option<ChunkRange>,
    from: u64,
    most: usize,
) -> Result<(Vec<DocumentChunk>, Option<u64>), Refusal> {
    let first = range.map_or(from, |range| from.max(range.start));
    let end = range.map_or(u64::MAX, |range| range.end.saturating_add(1));
    let end = end.min(u64::from(entry.row.taken.chunks));
    let mut found = Vec::new();
    let mut parts = entry.row.parts.iter().peekable();
    while let Some(row) = parts.next() {
        let begins = u64::from(row.first_chunk);
        let ends = parts.peek();
        let ends = ends.map_or(u64::from(entry.row.taken.chunks), |next| {
            u64::from(next.first_chunk)
        });
        let (low, high) = (begins.max(first), ends.min(end));
        if low >= high {
            continue;
        }
        if found.len() == most {
            return Ok((found, Some(low)));
        }
        let read = read(cx, state, &row)?;
        for number in low..high {
            if found.len() == most {
                return Ok((found, Some(number)));
            }
            let within = usize::try_from(number - begins).unwrap_or(usize::MAX);
            if let Some((text, headings, start)) = read.chunk(within) {
                found.push(DocumentChunk {
                    chunk_index: chunk_index(entry.row.file_name(), number),
                    number,
                    headings: headings.to_vec(),
                    start,
                    end: start + text.len() as u64,
                    content: text.to_owned(),
                });
            }
        }
    }
    Ok((found, None))
}

fn document(
    state: &State,
    entry: &Entry,
    chunks: Vec<DocumentChunk>,
) -> Result<DocumentContent, Refusal> {
    let taken = &entry.row.taken;
    let source = view::source(state, &entry.row.source)?;
    let root = source.map(|source| Root::of(&source.added));
    let root = root.unwrap_or_default();
    Ok(DocumentContent {
        id: entry.id.clone(),
        title: taken.title.clone(),
        context_id: taken.context_id.clone(),
        context_name: taken.context_name.clone(),
        category: taken.category.clone(),
        file_name: entry.row.file_name().to_owned(),
        file_type: taken.file_type.clone(),
        tags: taken.tags.clone(),
        modified: modified(&entry.row),
        total_chunks: u64::from(taken.chunks),
        changed: root.is_changed(taken),
        file_path: root.file_path(&taken.path).to_string_lossy().into_owned(),
        custom_metadata: (!entry.custom.is_empty()).then(|| entry.custom.clone()),
        chunks,
    })
}

/// Formats the modification time of a document's file, or the time of ingestion if the former is unreliable
/// because the file was written just before.
#[must_use]
pub fn modified(row: &DocumentRow) -> String {
    format_time(match row.taken.stamp.mtime {
        i64::MIN => row.at,
        nanoseconds => u64::try_from(nanoseconds / 1000).unwrap_or(0),
    })
}
