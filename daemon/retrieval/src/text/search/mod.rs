//! A search over all segments of an index.

mod accumulator;
mod matches;
mod scoring;
mod term_stats;
mod variants;
mod words;

pub use self::accumulator::ScoreAccumulator;
pub use self::matches::matches;
use self::term_stats::TermStats;
#[cfg(test)]
pub use self::words::WORDS_MAX;
pub use self::words::{MatchQuality, Terms, Variant, Word};
use super::analyser::Analyser;
use super::error::Error;
use super::indexed_text::Class;
use super::postings::{CorpusCounts, Field, View};
use super::selection::Filter;
use crate::top_hits::{Hit, ScoredHit, TopHits};

/// A search query.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// The query's words; a unit with any of them matches.
    pub text: &'a str,
    /// The classes to search.
    pub classes: &'a [Class],
    /// Limit on the hits, which are the best ones.
    pub limit: usize,
    /// Keys whose scores are also returned, even if they are not hits or do not pass the filter.
    pub also: &'a [u64],
}

/// Result of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextHits {
    /// The best units by score, best first. Ties go to the lower key.
    pub hits: Vec<Hit>,
    /// Number of units that match and pass the filter.
    pub total: u64,
    /// Scores of [`Query::also`], in its order; 0 for keys that do not match or do not exist.
    pub also: Vec<f32>,
    /// The analysed query.
    pub terms: Terms,
    /// The score that a text with every word of the query approaches, for documents and for talk.
    pub bounds: [f32; Class::ALL.len()],
    /// The weight of a word that no other text has, for documents and for talk. 0 in an index with so few texts that all
    /// of their words are rare.
    pub rarest: [f32; Class::ALL.len()],
}

/// Searches all segments.
pub fn search(
    views: &[View<'_>],
    query: &Query<'_>,
    filter: Option<Filter<'_>>,
    analyser: &mut Analyser,
    accumulator: &mut ScoreAccumulator,
) -> Result<TextHits, Error> {
    let mut terms = Terms::of(query.text, analyser);
    let classes: Vec<Class> = Class::ALL
        .into_iter()
        .filter(|class| query.classes.contains(class))
        .collect();
    let fields: Vec<Field> = classes.iter().map(|class| Field::own(*class)).collect();
    let mut stats = TermStats::of(views);
    let mut typos_left = variants::TYPO_WORDS_MAX;
    for word in &mut terms.words {
        word.units = stats.living(&fields, &word.term)?;
        word.variants = variants::variants(&mut stats, &fields, word, analyser, &mut typos_left)?;
    }
    let mut tally = CorpusCounts::default();
    views.iter().for_each(|view| tally.join(view.tally));
    let clauses = scoring::clauses(&mut stats, &classes, &terms, &tally)?;
    let norms = scoring::norms(&tally);
    let mut bounds = [0.0; Class::ALL.len()];
    for (bound, class) in bounds.iter_mut().zip(Class::ALL) {
        if classes.contains(&class) {
            *bound = scoring::bound(&mut stats, class, &terms, &tally)? as f32;
        }
    }
    let rarest = Class::ALL.map(|class| scoring::rarest(class, &tally) as f32);

    let mut found = TextHits {
        also: vec![0.0; query.also.len()],
        bounds,
        rarest,
        ..TextHits::default()
    };
    let mut best = TopHits::new(query.limit);
    for (at, view) in views.iter().enumerate() {
        accumulator.add_up(view, at, &clauses, &norms)?;
        for (score, key) in found.also.iter_mut().zip(query.also) {
            if let Some(unit) = view.find(*key) {
                *score = accumulator.score(unit);
            }
        }
        found.total += collect(view, filter, accumulator, &mut best);
    }
    found.terms = terms;
    found.hits = best.into_hits().map(|(hit, ())| hit).collect();
    Ok(found)
}

/// Collects the best units of a segment; returns the number of units that match and pass the filter.
fn collect(
    view: &View<'_>,
    filter: Option<Filter<'_>>,
    accumulator: &mut ScoreAccumulator,
    best: &mut TopHits<()>,
) -> u64 {
    let mut shown = 0;
    let known = filter.and_then(|filter| match accumulator.has_many() {
        true => Some(view.selections.of(view.part, filter)),
        false => view.selections.known(view.part, filter),
    });
    let passes = |at| match (&known, filter) {
        (Some(known), _) => known.has(at),
        (None, Some(filter)) => (filter.passes)(&view.part.unit(at)),
        (None, None) => true,
    };
    let counted = accumulator.drain(view.gone, filter.is_some(), best, |best, at, score| {
        if score < best.bar() && filter.is_none() {
            shown += 1;
            return;
        }
        if !passes(at) {
            return;
        }
        shown += 1;
        if score >= best.bar() {
            let (key, data) = (view.part.key(at), ());
            best.offer(ScoredHit { score, key, data });
        }
    });
    counted + shown
}
