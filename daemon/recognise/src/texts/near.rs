//! Known names that a partial or misspelt one may mean.

use super::TextSearch;
use crate::partial::{Run, SCORE_MIN, runs, score};
use crate::{KnownName, Mention, PastMention, PossibleMention, TextSource};
use std::cell::LazyCell;
use std::collections::HashMap;

/// Scores that differ less are equal.
const TIE: f32 = 0.05;
/// A name of more words is a title, and no word of it a name.
const TITLE_WORDS_MIN: usize = 4;
/// Kinds whose names have no parts that name them.
pub(super) const WHOLE: [&str; 10] = [
    "ip_address",
    "prefix",
    "mac_address",
    "url",
    "email",
    "commit",
    "error_code",
    "exception",
    "environment_variable",
    "host",
];
/// Kinds that a plain word names rather than the numbered things that have it in their names.
pub(super) const NAMED: [&str; 7] = [
    "person", "contact", "tenant", "site", "customer", "company", "author",
];

/// Kinds that people call by a short number.
pub(super) const NUMBERED: [&str; 4] = ["issue", "pull_request", "ticket", "order"];
/// Shortest number that names a thing of any kind, in digits.
pub(super) const NUMBER_CHARS_MIN: usize = 4;

/// Names that a partial one may mean, at most; of more, none is meant.
const NEAR_MAX: usize = 256;

/// A known name that a partial one may mean.
#[derive(Clone, Copy)]
pub(super) struct NearName<'a> {
    pub(super) name: &'a KnownName,
    pub(super) score: f32,
}

/// Which known entity a partial name means.
pub(super) enum Decision<'n, 'a> {
    One(&'n NearName<'a>),
    Several(Vec<&'n NearName<'a>>),
    Nothing,
}

impl<'a> TextSearch<'a> {
    /// Returns the known names of the session that a query may be a part or a misspelling of, the best first, each
    /// entity once. A query that a pattern found, of kind `shaped`, has the end of the name.
    pub(super) fn near(&self, query: &[Run], shaped: Option<&str>) -> Vec<NearName<'a>> {
        let is_part_word = |run: &Run| {
            let words = self.packs.kind_words.values();
            words
                .flat_map(|word| word.parts.iter())
                .any(|part| *part == run.text)
        };
        // "fw" is a word of its own, and no misspelt "sw". Most words are near no name.
        let fixed: LazyCell<Vec<bool>, _> =
            LazyCell::new(|| query.iter().map(is_part_word).collect());
        let is_short_number = shaped.is_none()
            && query
                .iter()
                .all(|run| run.is_number && run.text.len() < NUMBER_CHARS_MIN);
        let mut found: Vec<NearName<'a>> = Vec::new();
        let mut places: HashMap<(&str, &str), usize> = HashMap::new();
        for layer in self.knowledge.gazetteers {
            layer.similar(query, &mut |name, own| {
                if WHOLE.contains(&&*name.kind)
                    || &*name.kind == "device_role"
                    || (is_short_number && !NUMBERED.contains(&&*name.kind))
                {
                    return;
                }
                let alias = &*name.alias;
                let head = alias.split(": ").next().unwrap_or(alias);
                let Some(score) = score(query, own, &fixed) else {
                    return;
                };
                if !self.is_allowed(query, own, name, head, shaped, score) {
                    return;
                }
                let near = NearName { name, score };
                let root = self.knowledge.root(&name.kind, &name.key);
                let at = *places.entry((&name.kind, root)).or_insert(found.len());
                match found.get_mut(at) {
                    Some(known) if known.score >= score => {}
                    Some(known) => *known = near,
                    None => found.push(near),
                }
            });
        }
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        found.truncate(NEAR_MAX);
        found
    }

    pub(super) fn is_allowed(
        &self,
        query: &[Run],
        own: &[Run],
        name: &KnownName,
        head: &str,
        shaped: Option<&str>,
        score: f32,
    ) -> bool {
        let kind = &*name.kind;
        let has_end = score_end(query, own);
        if let Some(shaped) = shaped {
            let are_files = (shaped == "file_path") == (kind == "file_path");
            let is_interface = shaped == "interface" && kind == "interface";
            return are_files && (has_end || is_interface);
        }
        let words = head.split_whitespace().count();
        if words >= TITLE_WORDS_MIN {
            return query.len() == own.len();
        }
        let is_letters = query.iter().all(|run| !run.is_number);
        match kind {
            "file_path" | "symbol" | "package" | "branch" => {
                // The whole of the last part, without an ending.
                let last = head
                    .rsplit(['/', ':', '.'])
                    .find(|part| part.len() > 4)
                    .unwrap_or(head);
                let stem = runs(last);
                query.len() == stem.len() || query.len() == own.len()
            }
            "issue" | "pull_request" | "ticket" => {
                !is_letters || query.len() == own.len() || query.len() > 1
            }
            _ => is_letters || query.len() > 1 || score >= 0.9,
        }
    }

    /// Decides which known entity a partial name means.
    pub(super) fn decide<'n>(&self, near: &'n [NearName<'a>], is_plain: bool) -> Decision<'n, 'a> {
        let Some(best) = near.first() else {
            return Decision::Nothing;
        };
        let equal: Vec<&NearName<'a>> = near
            .iter()
            .filter(|one| best.score - one.score < TIE)
            .collect();
        if let [only] = equal.as_slice() {
            return Decision::One(only);
        }
        if is_plain {
            let named: Vec<&&NearName<'a>> = equal
                .iter()
                .filter(|one| NAMED.contains(&&*one.name.kind))
                .collect();
            if let [only] = named.as_slice() {
                return Decision::One(only);
            }
        }
        // The one that the conversation mentioned clearly later than the others.
        let place = |near: &NearName<'_>| {
            let is_it = |past: &PastMention| {
                past.mention.kind == near.name.kind
                    && past.mention.key == *near.name.key
                    && !past.is_nested
            };
            let texts = self.knowledge.past.iter();
            let mut texts = texts
                .enumerate()
                .filter(|(_, text)| text.source != TextSource::Result);
            texts
                .find(|(_, text)| text.mentions.iter().any(is_it))
                .map_or(usize::MAX, |(at, _)| at)
        };
        let mut by_place: Vec<(usize, &NearName<'a>)> =
            equal.iter().map(|one| (place(one), *one)).collect();
        by_place.sort_by_key(|(place, _)| *place);
        match by_place.as_slice() {
            [(first, one), (second, _), ..]
                if *first != usize::MAX && second.saturating_sub(*first) >= 2 =>
            {
                Decision::One(one)
            }
            _ => Decision::Several(by_place.into_iter().map(|(_, one)| one).take(2).collect()),
        }
    }

    pub(super) fn possible(
        &self,
        near: &NearName<'_>,
        (start, end): (usize, usize),
    ) -> PossibleMention {
        PossibleMention {
            mention: Mention::of_known(near.name),
            start,
            end,
            score: near.score.clamp(0.05, 1.0),
        }
    }
}

/// Returns whether the last run of a query is the last run of a name, up to a misspelling.
fn score_end(query: &[Run], own: &[Run]) -> bool {
    match (query.last(), own.last()) {
        (Some(query), Some(own)) => {
            query == own
                || (!query.is_number
                    && !own.is_number
                    && score(
                        std::slice::from_ref(query),
                        std::slice::from_ref(own),
                        &[false],
                    )
                    .is_some_and(|score| score >= SCORE_MIN))
        }
        _ => false,
    }
}
