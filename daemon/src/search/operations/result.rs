//! Conversion of hits to results of the protocol, with their scores and captions.

use std::ops::Range;

use lore::protocol::Position as WirePosition;
use lore::protocol::search::{
    Caption, Kind as WireKind, LegScore as WireLeg, Range as WireRange, Scores, SearchResult,
};
use lored_ingest::quotable;
use lored_retrieval::ranking::{ListScore, caption};
use lored_retrieval::text::Kind;

use crate::error::Refusal;
use crate::search::execute::{RankedHit, Search, SearchOutcome};
use crate::search::hit_details::{HitDetails, Reader};
use crate::search::stems::stems;
use crate::trust::operations::wire_origin;

/// Length of a preview, in characters.
const PREVIEW_CHARS: usize = 400;
/// Maximum number of highlighted words in one text.
const HIGHLIGHTS_MAX: usize = 100;

/// Returns the result of a hit; `None` if its text no longer exists.
pub fn result(
    reader: &Reader<'_>,
    search: &Search<'_>,
    searched: &SearchOutcome,
    hit: &RankedHit,
) -> Result<Option<SearchResult>, Refusal> {
    let Some(found) = reader.described(hit.key)? else {
        return Ok(None);
    };
    let ask = search.ask;
    let is_by = |agent: &String| found.agent.as_ref() == Some(agent);
    if (!ask.origins.is_empty() && !ask.origins.contains(&found.origin))
        || (!ask.agents.is_empty() && !ask.agents.iter().any(is_by))
    {
        return Ok(None);
    }
    let suspect = found.is_suspect();
    let shown = match ask.include_content {
        true => found.text.len(),
        false => end_of_preview(&found.text),
    };
    let text = found.text.get(..shown).unwrap_or_default().to_owned();
    let matches = search.index.text.matches(&text, &searched.terms);
    let highlights = matches.into_iter().take(HIGHLIGHTS_MAX).map(range);
    let (content, preview) = match ask.include_content {
        true => (Some(text), None),
        false => (None, Some(text)),
    };
    Ok(Some(SearchResult {
        score: hit.score,
        scores: ask.explain.then(|| scores(hit, searched)),
        content,
        preview,
        caption: quoted(search, searched, &found),
        highlights: highlights.collect(),
        id: found.id,
        kind: wire_kind(found.kind),
        document: found.document,
        context_id: found.context_id,
        context_name: found.context_name,
        category: found.category,
        file_name: found.file_name,
        file_type: found.file_type,
        file_path: found.file_path,
        title: found.title,
        tags: found.tags,
        chunk_index: found.chunk_index,
        headings: found.headings,
        session: found.session,
        step: found.step,
        agent: found.agent,
        origin: wire_origin(found.origin),
        suspect: suspect.then_some(true),
        modified: found.modified,
        changed: found.changed,
        elsewhere: searched
            .own
            .as_ref()
            .filter(|own| own.binary_search(&hit.key).is_err())
            .map(|_| true),
        position: WirePosition(found.position.0),
    }))
}

/// Returns the best sentences of a text, if the search requested them.
fn quoted(search: &Search<'_>, searched: &SearchOutcome, found: &HitDetails) -> Option<Caption> {
    let query = searched.query.as_ref()?;
    let model = search.index.models().first().ok()?;
    let ranges = quotable(&found.text);
    let sentences: Vec<&str> = ranges
        .iter()
        .filter_map(|range| found.text.get(range.clone()))
        .collect();
    let vectors = model.embed_many(&sentences);
    let wanted = stems(&search.ask.query);
    let best = caption(&found.text, &ranges, &vectors, (&wanted, query), stems);
    let parts = best.parts.iter();
    let citations: Vec<&str> = parts
        .filter_map(|part| found.text.get(part.range.clone()))
        .collect();
    (!citations.is_empty()).then(|| Caption {
        text: citations.join(" … "),
        ranges: best
            .parts
            .into_iter()
            .map(|part| range(part.range))
            .collect(),
    })
}

/// Returns the end of a text's preview, in bytes.
fn end_of_preview(text: &str) -> usize {
    let mut ends = text.char_indices().map(|(at, _)| at);
    ends.nth(PREVIEW_CHARS).unwrap_or(text.len())
}

fn range(range: Range<usize>) -> WireRange {
    WireRange {
        start: range.start as u64,
        end: range.end as u64,
    }
}

fn scores(hit: &RankedHit, searched: &SearchOutcome) -> Scores {
    let list = |score: Option<ListScore>, part: f64| {
        score.map(|score| WireLeg {
            score: f64::from(score.score),
            rank: score.rank.map(|rank| rank as u64),
            part,
        })
    };
    let [text, vector] = hit.parts;
    let mut terms = Vec::new();
    for word in &searched.terms.words {
        terms.push(word.term.clone());
        terms.extend(word.variants.iter().map(|variant| variant.term.clone()));
    }
    Scores {
        text: list(hit.text, text),
        vector: list(hit.vector, vector),
        fused: hit.fused,
        sentence: hit.sentence.map(f64::from),
        terms,
    }
}

/// Converts a kind to the protocol.
#[must_use]
pub fn wire_kind(kind: Kind) -> WireKind {
    match kind {
        Kind::Document => WireKind::Document,
        Kind::Message => WireKind::Message,
        Kind::Step => WireKind::Step,
        Kind::Context => WireKind::Context,
        Kind::Checkpoint => WireKind::Checkpoint,
    }
}

/// Converts a kind from the protocol.
#[must_use]
pub fn kind_of(kind: WireKind) -> Kind {
    match kind {
        WireKind::Document => Kind::Document,
        WireKind::Message => Kind::Message,
        WireKind::Step => Kind::Step,
        WireKind::Context => Kind::Context,
        WireKind::Checkpoint => Kind::Checkpoint,
    }
}
