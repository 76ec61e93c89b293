//! What other rooms draw on search for: texts that say something about a question.

use std::collections::BTreeSet;
use std::time::Duration;

use lored_retrieval::text::Kind;

use super::execute::{Search, freshen};
use super::feature::SearchIndexes;
use super::filter::Scope;
use super::hit_details::Reader;
use super::request::{Fusing, Mode, SearchRequest};
use super::stems::stems;
use crate::documents::{self, Catalogue};
use crate::error::Refusal;
use crate::operation::Context;
use crate::state::State;

pub use super::hit_details::HitDetails;

/// How long is waited until all of the log is applied: a pack is to be quick, and the newest messages are
/// in it anyway.
const WAIT: Duration = Duration::from_millis(50);
/// Hits that are looked at, for each text that is wanted.
const LOOKED_AT: usize = 4;

/// What is looked for.
#[derive(Clone, Debug)]
pub struct PreparedSearch<'f> {
    /// A message, a task.
    pub question: &'f str,
    /// Kinds of texts.
    pub kinds: &'f [Kind],
    /// Only what was said and done in these sessions; empty: everywhere.
    pub sessions: &'f [String],
    /// Texts that are wanted at most.
    pub most: usize,
}

/// The texts that have half of a question's words at least, the best first. Search is a help here and no
/// more: what goes wrong in it is logged, and nothing is found then.
///
/// # Errors
/// When a row or an event cannot be read.
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
        session: None,
        project: None,
        document_filter: None,
        most: find.most,
        fusing: Fusing::default(),
        k: 0.0,
        explain: false,
        include_content: true,
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
            tracing::warn!(%error, "nothing could be searched for a pack");
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

/// Whether a text has half of the words, and two of them if there are two.
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
