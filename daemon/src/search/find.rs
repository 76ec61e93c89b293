//! Search for other feature modules: finds texts that are relevant to a question.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use lored_retrieval::text::Kind;

use super::dates;
use super::execute::{Search, freshen};
use super::feature::SearchIndexes;
use super::filter::Scope;
use super::hit_details::Reader;
use super::request::{Mode, SearchRequest};
use super::stems::stems;
use crate::documents::{self, Catalogue};
use crate::error::Refusal;
use crate::operation::Context;
use crate::state::State;

pub use super::hit_details::HitDetails;

/// Time to wait for the indexes to catch up. A pack must be quick, and it contains the newest messages anyway.
const WAIT: Duration = Duration::from_millis(50);

/// A search by another feature module.
#[derive(Clone, Debug, Default)]
pub struct PreparedSearch<'f> {
    /// A message or a task.
    pub question: &'f str,
    /// The kinds of texts.
    pub kinds: &'f [Kind],
    /// Restricts messages, steps and checkpoints to these sessions, in addition to those of `project`; empty for all.
    pub sessions: &'f [String],
    /// Restricts messages, steps and checkpoints to the sessions of this project.
    pub project: Option<&'f str>,
    /// Maximum number of texts.
    pub most: usize,
    /// Minimum score of a text, from 0 to 1.
    pub least_score: f64,
    /// No more texts are read after this many bytes of different ones; `None` for all.
    pub text_bytes_max: Option<usize>,
}

/// A text that was found, with its score from 0 to 1.
#[derive(Clone, Debug)]
pub struct FoundText {
    /// The text and its origin.
    pub details: HitDetails,
    /// The score.
    pub score: f64,
}

/// Finds the texts that are relevant to a question, best first.
///
/// Search is optional for packs: its errors are logged, and the result is empty.
pub fn find(
    cx: &Context,
    state: &State,
    find: &PreparedSearch<'_>,
) -> Result<Vec<FoundText>, Refusal> {
    let Some(room) = cx
        .extensions
        .get::<SearchIndexes>()
        .filter(|_| !stems(find.question).is_empty())
    else {
        return Ok(Vec::new());
    };
    let catalogue = match find.kinds.contains(&Kind::Document) {
        true => documents::Documents::of(cx)?.catalogue(state)?,
        false => std::sync::Arc::new(Catalogue::default()),
    };
    if find.kinds == [Kind::Document] && catalogue.is_empty() {
        return Ok(Vec::new());
    }
    let ask = SearchRequest {
        query: find.question.to_owned(),
        mode: Mode::Hybrid,
        kinds: find.kinds.to_vec(),
        most: find.most,
        named_days: dates::named_in(find.question, cx.engine.clock().now() / 1_000_000),
        include_content: true,
        ..SearchRequest::default()
    };
    let mut scope = Scope::of(&ask, state, &catalogue)?;
    scope.within(state, find.project, find.sessions)?;
    let reader = Reader::new(cx, state, &catalogue);
    let searched = room.index().and_then(|index| {
        freshen(&index, state.published(), &cx.blobs, WAIT)?;
        let search = Search {
            index: &index,
            ask: &ask,
            scope: &scope,
            text_of: &|key| reader.text(key),
        };
        search.run(find.most)
    });
    let searched = match searched {
        Ok(searched) => searched,
        Err(error) => {
            tracing::warn!(%error, "the search for a context pack failed");
            room.close(&error);
            return Ok(Vec::new());
        }
    };
    let mut found = Vec::new();
    let mut bytes_left = find.text_bytes_max.unwrap_or(usize::MAX);
    let (hasher, mut seen) = (RandomState::new(), HashSet::new());
    for hit in &searched.hits {
        if found.len() == find.most || bytes_left == 0 {
            break;
        }
        // The score of a hit is at most that of the hits before it; its relevance is its own.
        if hit.relevance < find.least_score {
            continue;
        }
        if let Some(details) = reader.described(hit.key)? {
            if seen.insert(hasher.hash_one(details.text.trim())) {
                bytes_left = bytes_left.saturating_sub(details.text.len());
            }
            found.push(FoundText {
                details,
                score: hit.relevance,
            });
        }
    }
    Ok(found)
}
