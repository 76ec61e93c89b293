//! Search for other feature modules: finds texts that are relevant to a question.

use std::collections::BTreeSet;
use std::time::Duration;

use lored_retrieval::text::Kind;

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
/// Number of hits to read for each requested text.
const LOOKED_AT: usize = 4;

/// A search by another feature module.
#[derive(Clone, Debug)]
pub struct PreparedSearch<'f> {
    /// A message or a task.
    pub question: &'f str,
    /// The kinds of texts.
    pub kinds: &'f [Kind],
    /// Restricts messages, steps and checkpoints to these sessions; empty for all.
    pub sessions: &'f [String],
    /// Maximum number of texts.
    pub most: usize,
}

/// Finds texts that contain at least half of a question's words, best first.
///
/// Search is optional for packs: its errors are logged, and the result is empty.
pub fn find(
    cx: &Context,
    state: &State,
    find: &PreparedSearch<'_>,
) -> Result<Vec<HitDetails>, Refusal> {
    let wanted = stems(find.question);
    let Some(room) = cx
        .extensions
        .get::<SearchIndexes>()
        .filter(|_| !wanted.is_empty())
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
        mode: Mode::Text,
        kinds: find.kinds.to_vec(),
        most: find.most,
        include_content: true,
        ..SearchRequest::default()
    };
    let mut scope = Scope::of(&ask, state, &catalogue)?;
    scope.within(find.sessions);
    let reader = Reader::new(cx, state, &catalogue);
    let searched = room.index().and_then(|index| {
        freshen(&index, state.published(), &cx.blobs, WAIT)?;
        let search = Search {
            index: &index,
            ask: &ask,
            scope: &scope,
            text_of: &|key| reader.text(key),
        };
        search.run(find.most * LOOKED_AT)
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
    for hit in &searched.hits {
        if found.len() == find.most {
            break;
        }
        if let Some(one) = reader.described(hit.key)?
            && is_about(&wanted, &one.text)
        {
            found.push(one);
        }
    }
    Ok(found)
}

/// Returns whether a text contains half of the words, and at least two of them if there are two.
fn is_about(wanted: &BTreeSet<String>, text: &str) -> bool {
    let shared = wanted.intersection(&stems(text)).count();
    let least = wanted.len().div_ceil(2).max(2).min(wanted.len());
    shared >= least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_shares_half_of_the_words() {
        let wanted = stems("the router at the northern site is down");
        assert!(is_about(
            &wanted,
            "Routers of sites in the north: northern routers."
        ));
        assert!(!is_about(&wanted, "A router."));
        assert!(is_about(&stems("router"), "Routers everywhere."));
        assert!(!is_about(&stems("router lunch"), "Routers everywhere."));
    }
}
