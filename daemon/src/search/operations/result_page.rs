//! Running a search from the request to the reply, for every search operation.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use lore::protocol::Position as WirePosition;
use lore::protocol::search::SearchReply;

use super::filters;
use super::given::search_type;
use super::result::result;
use crate::documents::operations::nearest_contexts;
use crate::documents::{self, Catalogue};
use crate::error::{Code, Refusal};
use crate::hint::{Tool, hint};
use crate::operation::cursor::{Cursor, List};
use crate::operation::{Context, blocking};
use crate::search::execute::{RankedHit, Search, SearchOutcome, freshen};
use crate::search::feature::SearchIndexes;
use crate::search::filter::Scope;
use crate::search::hit_details::Reader;
use crate::search::index::{Index, IndexError};
use crate::search::request::{Mode, SearchRequest};
use crate::state::State;

/// What a reply says when no text is near enough to the query.
pub(super) const NOTHING_KNOWN: &str =
    "nothing is known about this: no text scores above the threshold";
/// Maximum number of hits for paging.
const HITS_MAX: usize = 10_000;

/// Hits that are looked at for each result of some origins or agents.
const HITS_PER_RESULT: usize = 20;

/// The start of a page, and its list.
pub struct Page {
    /// The cursor from the previous page.
    pub next: Option<String>,
    /// The list that the cursor belongs to.
    pub list: List,
}

/// Runs a search with a query.
pub async fn answer(
    cx: Arc<Context>,
    state: State,
    ask: SearchRequest,
    page: Page,
) -> Result<SearchReply, Refusal> {
    if ask.query.trim().is_empty() {
        return Err(Refusal::invalid("`query` is empty").hint(hint![
            "Give words, a question, or a concept.";
            "Filters alone are for ", Tool::ExploreDocumentStructure, "."
        ]));
    }
    blocking(move || searched(&cx, &state, &ask, &page)).await
}

/// Lists documents without a query: every chunk that passes the filters, by context, path and number.
pub async fn in_order(
    cx: Arc<Context>,
    state: State,
    ask: SearchRequest,
    page: Page,
) -> Result<SearchReply, Refusal> {
    blocking(move || searched(&cx, &state, &ask, &page)).await
}

fn searched(
    cx: &Context,
    state: &State,
    ask: &SearchRequest,
    page: &Page,
) -> Result<SearchReply, Refusal> {
    let room = SearchIndexes::of(cx)?;
    let failed = |error: IndexError| {
        room.close(&error);
        refused(&error)
    };
    let index = room.index().map_err(|error| refused(&error))?;
    let wait = Duration::from_millis(room.limits.wait_ms_max);
    let partial = freshen(&index, state.published(), &cx.blobs, wait).map_err(failed)?;
    let catalogue = documents::Documents::of(cx)?.catalogue(state)?;
    let scope = Scope::of(ask, state, &catalogue)?;
    let reader = Reader::new(cx, state, &catalogue);
    let search = Search {
        index: &index,
        ask,
        scope: &scope,
        text_of: &|key| reader.text(key),
    };
    let place = PageStart::read(cx, state, page)?;
    // Those of other origins and agents are passed over.
    let looked_at = match ask.origins.is_empty() && ask.agents.is_empty() {
        true => ask.most,
        false => ask.most * HITS_PER_RESULT,
    };
    let wanted = (place.offset + looked_at + 1).min(HITS_MAX);
    let mut searched = match ask.query.is_empty() {
        true => chunks_in_order(&catalogue, &scope),
        false => likely(&search, wanted).map_err(failed)?,
    };
    if let Some(project) = &ask.first {
        let folder = ask.folder.as_deref();
        let own = scope.first_of(project, folder, state, &catalogue)?;
        let first = Search {
            scope: &own,
            ..search
        };
        let first = likely(&first, wanted).map_err(failed)?;
        put_first(&mut searched, first);
    }
    let is_cut = searched.hits.len() >= wanted;
    searched.partial = partial.or(searched.partial);
    reply(
        cx,
        state,
        &search,
        &reader,
        &catalogue,
        searched,
        (page.list, place, is_cut),
    )
}

/// Searches, without what is rather not about the query if only the rest is asked for.
fn likely(search: &Search<'_>, wanted: usize) -> Result<SearchOutcome, IndexError> {
    let mut searched = search.run(wanted)?;
    if search.ask.is_likely_only {
        searched.keep_likely();
    }
    Ok(searched)
}

/// Puts the hits of the caller's project before the others, which are then those of the rest of the machine.
fn put_first(searched: &mut SearchOutcome, first: SearchOutcome) {
    let own: BTreeSet<u64> = first.hits.iter().map(|hit| hit.key).collect();
    let mut hits = first.hits;
    let others = std::mem::take(&mut searched.hits).into_iter();
    hits.extend(others.filter(|hit| !own.contains(&hit.key)));
    searched.total = searched.total.max(hits.len() as u64);
    searched.own = Some(own.into_iter().collect());
    searched.hits = hits;
}

/// Lists every chunk of the documents in a scope, unranked.
fn chunks_in_order(catalogue: &Catalogue, scope: &Scope) -> SearchOutcome {
    let mut searched = SearchOutcome {
        used: Mode::Text,
        ..SearchOutcome::default()
    };
    for entry in documents::operations::in_order(catalogue) {
        let row = &entry.row;
        for number in 0..row.taken.chunks {
            let Some(part) = row.parts.of_chunk(number) else {
                continue;
            };
            if scope.has_chunk(&entry.id, u64::from(number)) {
                searched.total += 1;
                if searched.hits.len() < HITS_MAX {
                    let key = lored_retrieval::text::key(part.position, number - part.first_chunk);
                    searched.hits.push(RankedHit::unscored(key));
                }
            }
        }
    }
    searched
}

/// Converts an error of the indexes.
pub(super) fn refused(error: &IndexError) -> Refusal {
    let code = match error {
        IndexError::Store(_) => Code::Corrupt,
        IndexError::Text(_)
        | IndexError::Vectors(_)
        | IndexError::Model(_)
        | IndexError::Io { .. } => Code::StorageUnavailable,
    };
    Refusal::new(code, format!("search failed: {error}"))
        .hint("Retry: a damaged index is rebuilt from the log.")
}

/// The start of a page: after a hit or, if that hit no longer exists, at its number.
struct PageStart {
    offset: usize,
    behind: Option<u64>,
}

impl PageStart {
    fn read(cx: &Context, state: &State, page: &Page) -> Result<Self, Refusal> {
        let Some(next) = page.next.as_deref() else {
            return Ok(Self {
                offset: 0,
                behind: None,
            });
        };
        let store = cx.engine.store_id();
        let cursor = Cursor::read(next, "next", page.list, store, state.position())?;
        let number = |bytes: Option<&[u8]>| {
            let bytes = bytes.and_then(|bytes| <[u8; 8]>::try_from(bytes).ok());
            bytes.map_or(0, u64::from_be_bytes)
        };
        Ok(Self {
            offset: usize::try_from(number(cursor.key.get(..8)))
                .unwrap_or(usize::MAX)
                .min(HITS_MAX),
            behind: Some(number(cursor.key.get(8..16))),
        })
    }

    fn begin(&self, hits: &[RankedHit]) -> usize {
        let behind = self
            .behind
            .and_then(|key| hits.iter().position(|hit| hit.key == key));
        behind.map_or(self.offset, |at| at + 1)
    }
}

fn reply(
    cx: &Context,
    state: &State,
    search: &Search<'_>,
    reader: &Reader<'_>,
    catalogue: &Catalogue,
    searched: SearchOutcome,
    (list, place, is_cut): (List, PageStart, bool),
) -> Result<SearchReply, Refusal> {
    let ask = search.ask;
    let begin = place.begin(&searched.hits);
    let shown = |hit: &RankedHit| result(reader, search, &searched, hit);
    let (results, next) = shown_of(&searched.hits, begin, ask.most, is_cut, shown)?;
    let next = next.map(|(offset, key)| {
        let mut bytes = offset.to_be_bytes().to_vec();
        bytes.extend(key.to_be_bytes());
        Cursor::behind_row(&bytes, state.position()).text(list, cx.engine.store_id())
    });
    let mut warnings = Vec::new();
    if searched.terms.cut {
        warnings.push("the query is too long: only its first words were searched".to_owned());
    }
    let is_listing = ask.query.is_empty();
    if !is_listing && searched.terms.words.is_empty() && searched.used == Mode::Text {
        warnings
            .push("the query has no searchable word: only stop words or punctuation".to_owned());
    }
    let is_empty = results.is_empty();
    if is_empty && place.offset == 0 {
        let nothing = filters::why_nothing(search, state, catalogue, list == List::Everything)?;
        match (nothing.is_empty(), is_listing) {
            (false, _) => warnings.extend(nothing),
            // Another warning already says why.
            (true, false) if warnings.is_empty() => warnings.push(NOTHING_KNOWN.to_owned()),
            (true, _) => {}
        }
    }
    let models = search.index.models();
    if let (Some(why), true) = (
        models.why_no_second().filter(|_| models.is_second_wanted()),
        searched.model.is_some(),
    ) {
        warnings.push(format!(
            "the second-tier model is not used for ranking: {why}"
        ));
    }
    Ok(SearchReply {
        query: ask.query.clone(),
        search_type: search_type(ask.mode),
        search_type_used: search_type(searched.used),
        reason: searched.reason,
        model: searched.model,
        total: searched.total,
        results,
        next,
        partial: searched.partial,
        nearest_contexts: match is_empty {
            true => nearest(ask, catalogue),
            false => Vec::new(),
        },
        position: WirePosition(state.position().0),
        durable: cx.engine.is_durable(),
        warnings,
    })
}

/// The results of a page, and the number and key of the hit after which the next page starts.
type ResultPage<T> = (Vec<T>, Option<(u64, u64)>);

/// Renders at most `most` hits of a page; returns them with the start of the next page, if there may be one. Hits
/// whose texts no longer exist are skipped. If there are more hits than these (`is_cut`), a short page is not the
/// last one.
fn shown_of<T>(
    hits: &[RankedHit],
    begin: usize,
    most: usize,
    is_cut: bool,
    show: impl Fn(&RankedHit) -> Result<Option<T>, Refusal>,
) -> Result<ResultPage<T>, Refusal> {
    let mut results = Vec::new();
    let mut last = None;
    for (at, hit) in hits.iter().enumerate().skip(begin) {
        if results.len() == most {
            return Ok((results, last));
        }
        results.extend(show(hit)?);
        last = Some((at as u64 + 1, hit.key));
    }
    Ok((results, last.filter(|_| is_cut)))
}

/// Returns contexts with names similar to the requested one.
fn nearest(ask: &SearchRequest, catalogue: &Catalogue) -> Vec<String> {
    let document_filter = ask.document_filter.as_ref();
    let wanted = document_filter.and_then(|document_filter| {
        let name = document_filter.context_name.as_ref();
        let context = document_filter.context.as_ref();
        context.or(document_filter.context_ids.first()).or(name)
    });
    match wanted {
        Some(wanted) => nearest_contexts(catalogue, wanted),
        None => Vec::new(),
    }
}

/// Returns the indexes for reading, and opens them if necessary.
pub fn open(cx: &Context) -> Result<Arc<Index>, Refusal> {
    SearchIndexes::of(cx)?
        .index()
        .map_err(|error| refused(&error))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A page that is short or empty because of removed hits has a next page while there are more hits.
    #[test]
    fn a_page_of_hits_that_are_gone_is_not_the_last() {
        let hits: Vec<RankedHit> = (1..=4).map(RankedHit::unscored).collect();
        let page = |begin, most, is_cut, gone: &[u64]| {
            let show = |hit: &RankedHit| Ok((!gone.contains(&hit.key)).then_some(hit.key));
            shown_of(&hits, begin, most, is_cut, show).unwrap()
        };
        assert_eq!(page(0, 3, true, &[]), (vec![1, 2, 3], Some((3, 3))));
        assert_eq!(page(0, 3, true, &[1, 3]), (vec![2, 4], Some((4, 4))));
        assert_eq!(page(0, 3, true, &[1, 2, 3, 4]), (vec![], Some((4, 4))));
        assert_eq!(page(0, 3, false, &[1, 3]), (vec![2, 4], None));
        assert_eq!(page(4, 3, true, &[]), (vec![], None), "it ends");
    }
}
