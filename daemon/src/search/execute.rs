//! Execution of a search: two ranked lists, fused, and the top hits reranked.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use lored_ingest::quotable;
use lored_models::{EmbeddingStage, Model};
use lored_retrieval::ranking::{
    ListScore, QUESTION_WORDS, RankedList, TEXT_SHARE, TEXT_SHARE_CODE, TEXT_SHARE_FIRST_TIER,
    VectorScale, answers, best_sentence, floor, further_floor, fuse, keep_likely, least_cosine,
    prefer, relevance, rerank, settle,
};
use lored_retrieval::text::{Class, Filter, IndexedText, Query, Terms};
use lored_retrieval::vectors::VectorError;

use super::ascending_keys::AscendingKeys;
use super::filter::Scope;
use super::index::{AdvanceState, Index, IndexError};
use super::request::{Mode, SearchRequest};
use super::stages::name;
use crate::log::Position;

/// Number of hits of each list to fuse; it must cover the hits that are reranked.
const FUSED: usize = 100;
/// Vectors are looked up by their keys if fewer than one in this many is in the scope; otherwise all are scanned.
const LOOKED_UP_SHARE: usize = 32;
/// Events that a search may apply in each millisecond that it waits. It does not begin with more of them: it would wait
/// in vain, and the follower is at work on them.
const APPLIED_EACH_MS: u128 = 10;
/// What a text of a day that the question names is preferred by, in standard deviations.
const NAMED_DAYS_BONUS: f64 = 1.0;
const _: () = assert!(lored_retrieval::ranking::DEPTH <= FUSED);

/// A hit with the parts of its score.
pub type RankedHit = lored_retrieval::ranking::RankedHit<u64>;

/// The outcome of a search.
#[derive(Debug, Default)]
pub struct SearchOutcome {
    /// The hits, best first.
    pub hits: Vec<RankedHit>,
    /// Number of matches.
    pub total: u64,
    /// The mode that was used.
    pub used: Mode,
    /// The reason if this is not the requested mode.
    pub reason: Option<String>,
    /// The embedding model.
    pub model: Option<String>,
    /// The query's terms.
    pub terms: Terms,
    /// The query's embedding by the first tier, if captions are requested.
    pub query: Option<Vec<f32>>,
    /// A description of the texts that were not searched in time.
    pub partial: Option<String>,
    /// The hits of the caller's project, if they come first, in order of their keys.
    pub own: Option<Vec<u64>>,
    /// Score below which a hit is rather not about the query; 0 without a comparison of vectors.
    pub floor: f64,
}

impl SearchOutcome {
    /// Leaves out the hits below the floor.
    pub fn keep_likely(&mut self) {
        if self.floor > 0.0 {
            keep_likely(&mut self.hits, self.floor);
            self.total = self.hits.len() as u64;
        }
    }
}

/// The inputs of a search.
pub struct Search<'s> {
    /// The indexes.
    pub index: &'s Index,
    /// The request.
    pub ask: &'s SearchRequest,
    /// The texts to search.
    pub scope: &'s Scope,
    /// Returns the text of a key, for its sentences.
    pub text_of: &'s dyn Fn(u64) -> Option<String>,
}

/// Applies the rest of the log within the time limit, unless there is too much of it; returns a description of the missing
/// events.
pub fn freshen(
    index: &Index,
    published: &crate::engine::PublishedState,
    blobs: &crate::store::Blobs,
    wait: Duration,
) -> Result<Option<String>, IndexError> {
    let tail = published.tail.position.0;
    let indexed = index.text.position();
    let rest = u128::from(tail.saturating_sub(indexed));
    let reached = match rest > wait.as_millis() * APPLIED_EACH_MS {
        true => AdvanceState::Part(Position(indexed)),
        false => index.advance(published, blobs, Instant::now() + wait)?,
    };
    match reached {
        AdvanceState::All => Ok(None),
        AdvanceState::Part(Position(reached)) => Ok(Some(format!(
            "the index is catching up: {} events of {tail} are not indexed yet; search again for \
             the rest",
            tail.saturating_sub(reached)
        ))),
    }
}

impl Search<'_> {
    /// Searches for at least `limit` hits, if there are as many. Without vectors it falls back to text and reports it.
    pub fn run(&self, limit: usize) -> Result<SearchOutcome, IndexError> {
        let asked = self.ask.mode;
        if asked == Mode::Text {
            return self.text(limit);
        }
        // More are only of use to a search by vectors alone.
        let near = FUSED.max(usize::from(asked == Mode::Vector) * limit);
        let vectors = match self.vectors(near) {
            Ok(Some(vectors)) => vectors,
            Ok(None) => {
                let why = "no embedding model is available".to_owned();
                return self.fallen_back(limit, why);
            }
            // Damaged vectors are rebuilt when the index is opened again.
            Err(error @ IndexError::Vectors(VectorError::Damaged { .. })) => return Err(error),
            Err(error) => {
                let why = format!("vector search failed: {error}");
                return self.fallen_back(limit, why);
            }
        };
        if asked == Mode::Vector {
            return self.vector(vectors);
        }
        let scale = scale(vectors.stage);
        let mut searched = self.hybrid(vectors)?;
        if asked == Mode::Semantic {
            self.rerank(&mut searched);
        }
        settle(&mut searched.hits, floor(true, scale));
        searched.floor = further_floor(scale);
        searched.total = searched.hits.len() as u64;
        Ok(searched)
    }

    fn fallen_back(&self, limit: usize, why: String) -> Result<SearchOutcome, IndexError> {
        let searched = self.text(limit)?;
        Ok(SearchOutcome {
            reason: Some(why),
            ..searched
        })
    }

    fn classes(&self) -> &'static [Class] {
        let has = |class| self.ask.kinds.iter().any(|kind| kind.class() == class);
        match (has(Class::Documents), has(Class::Talk)) {
            (true, true) => &Class::ALL,
            (true, false) => &[Class::Documents],
            (false, true) => &[Class::Talk],
            (false, false) => &[],
        }
    }

    fn words(
        &self,
        limit: usize,
        also: &[u64],
    ) -> Result<lored_retrieval::text::TextHits, IndexError> {
        let query = Query {
            text: &self.ask.query,
            classes: self.classes(),
            limit,
            also,
        };
        let has = |unit: &IndexedText| self.scope.has(unit);
        let filter = self.filter(self.classes(), &has);
        Ok(self.index.text.search(&query, filter)?)
    }

    fn text(&self, limit: usize) -> Result<SearchOutcome, IndexError> {
        let found = self.words(limit, &[])?;
        let hits = (1..).zip(&found.hits).map(|(rank, hit)| RankedHit {
            score: f64::from(hit.score),
            text: list_score(rank, hit.score),
            parts: [f64::from(hit.score), 0.0],
            ..RankedHit::unscored(hit.key)
        });
        let mut hits: Vec<RankedHit> = hits.collect();
        self.weigh(&mut hits, Some(found.bounds), None)?;
        settle(&mut hits, 0.0);
        let is_known = self.is_answered(&found, hits.first())?;
        if !is_known {
            hits.clear();
        }
        Ok(SearchOutcome {
            hits,
            total: if is_known { found.total } else { 0 },
            used: Mode::Text,
            terms: found.terms,
            ..SearchOutcome::default()
        })
    }

    /// Returns whether a search by words alone found more than words of a question that match by chance.
    fn is_answered(
        &self,
        found: &lored_retrieval::text::TextHits,
        best: Option<&RankedHit>,
    ) -> Result<bool, IndexError> {
        let Some(best) = best.filter(|_| found.terms.words.len() >= QUESTION_WORDS) else {
            return Ok(true);
        };
        let class = self.class_of(best.key)?;
        let [bound, rarest] = [found.bounds, found.rarest].map(|of| f64::from(of_class(of, class)));
        let score = best.text.map_or(0.0, |text| f64::from(text.score));
        Ok(bound <= 0.0 || rarest <= 0.0 || answers(score / bound, score / rarest))
    }

    fn class_of(&self, key: u64) -> Result<Class, IndexError> {
        let unit = self.index.text.unit(key)?;
        Ok(unit.map_or(Class::Documents, |unit| unit.kind.class()))
    }

    /// Returns the filter for texts of some classes; `None` if all of them are in the scope.
    fn filter<'f>(
        &self,
        classes: &[Class],
        passes: &'f dyn Fn(&IndexedText) -> bool,
    ) -> Option<Filter<'f>> {
        (!self.scope.is_all_of(classes)).then(|| Filter {
            passes,
            fingerprint: self.scope.fingerprint(),
        })
    }

    /// Searches for the nearest texts; `None` if there is no model.
    fn vectors(&self, limit: usize) -> Result<Option<NearestTexts>, IndexError> {
        let Some((stage, ranking, model)) = self.index.ranking()? else {
            return Ok(None);
        };
        let has = |unit: &IndexedText| self.scope.has(unit);
        let filter = self.filter(&Class::ALL, &has);
        let among = filter.map(|filter| self.index.text.selected(filter));
        let among = among.transpose()?;
        let query = model.embed(&self.ask.query);
        let store = ranking.read();
        // A search by vectors alone leaves out texts that are farther away. The other modes also use their words.
        let lowest = match self.ask.mode {
            Mode::Vector => least_cosine(scale(stage)),
            Mode::Text | Mode::Hybrid | Mode::Semantic => f32::NEG_INFINITY,
        };
        let parts = among.iter().flatten();
        let parts: Vec<AscendingKeys<'_>> =
            parts.map(|part| AscendingKeys::new(part.keys())).collect();
        let wanted = |key| among.is_none() || parts.iter().any(|part| part.has(key));
        let keys = || {
            let parts = among.iter().flatten();
            parts.flat_map(|part| part.keys().iter().copied())
        };
        // Looking up a row takes longer than passing over one.
        let selected = among.iter().flatten().map(|part| part.keys().len());
        let are_few = among.is_some() && selected.sum::<usize>() < store.len() / LOOKED_UP_SHARE;
        let nearest = match are_few {
            true => store.search_keys(&query, limit, lowest, keys())?,
            false => store.search_near(&query, limit, lowest, wanted)?,
        };
        // A search by vectors alone counts all texts that are near enough.
        let count = match self.ask.mode == Mode::Vector && nearest.len() == limit {
            true => store.count_near(&query, lowest, wanted)?,
            false => nearest.len(),
        };
        let mut hits: Vec<(u64, f32)> = Vec::new();
        for hit in nearest {
            // A vector can outlive its text if the text was removed while the text index was rebuilt.
            if self.index.text.contains(hit.key)? {
                hits.push((hit.key, hit.score));
            }
        }
        drop(store);
        let missing_vectors = match stage {
            EmbeddingStage::First => self.index.missing_vectors(stage),
            // The second tier only lacks old texts beyond its limit.
            EmbeddingStage::Second => 0,
        };
        Ok(Some(NearestTexts {
            missing_vectors,
            count,
            hits,
            stage,
            model: format!("{} ({} tier)", model.id(), name(stage)),
            query,
        }))
    }

    fn vector(&self, near: NearestTexts) -> Result<SearchOutcome, IndexError> {
        // The terms are only needed for highlights.
        let terms = self.words(0, &[])?.terms;
        let scale = scale(near.stage);
        let hits = (1..).zip(&near.hits).map(|(rank, (key, score))| RankedHit {
            score: f64::from(*score),
            vector: list_score(rank, *score),
            parts: [0.0, f64::from(*score)],
            ..RankedHit::unscored(*key)
        });
        let mut hits: Vec<RankedHit> = hits.collect();
        self.weigh(&mut hits, None, Some(scale))?;
        let floor = floor(false, scale);
        settle(&mut hits, floor);
        let total = match hits.is_empty() {
            true => 0,
            false => near.count.max(hits.len()),
        };
        Ok(SearchOutcome {
            floor,
            total: total as u64,
            hits,
            partial: near.partial(),
            used: Mode::Vector,
            model: Some(near.model),
            terms,
            ..SearchOutcome::default()
        })
    }

    fn hybrid(&self, mut near: NearestTexts) -> Result<SearchOutcome, IndexError> {
        near.hits.truncate(FUSED);
        let by_vector: Vec<u64> = near.hits.iter().map(|(key, _)| *key).collect();
        let found = self.words(FUSED, &by_vector)?;
        let ranked: Vec<(u64, f32)> = found.hits.iter().map(|hit| (hit.key, hit.score)).collect();
        let is_ranked = |key: &u64| ranked.iter().any(|(ranked, _)| ranked == key);
        let also_text: Vec<(u64, f32)> = by_vector
            .iter()
            .zip(&found.also)
            .filter(|(key, _)| !is_ranked(key))
            .map(|(key, score)| (*key, *score))
            .collect();
        let others: Vec<u64> = ranked
            .iter()
            .map(|(key, _)| *key)
            .filter(|key| !by_vector.contains(key))
            .collect();
        let also_vector = self.vector_scores(&near, &others)?;
        let is_code = found.terms.asks_for_code() && self.classes() == [Class::Documents];
        let share = match near.stage {
            EmbeddingStage::First => TEXT_SHARE_FIRST_TIER,
            EmbeddingStage::Second if is_code => TEXT_SHARE_CODE,
            EmbeddingStage::Second => TEXT_SHARE,
        };
        let mut hits = fuse(
            RankedList {
                ranked: &ranked,
                also: &also_text,
            },
            RankedList {
                ranked: &near.hits,
                also: &also_vector,
            },
            self.ask.fusion(share),
        );
        self.prefer_named_days(&mut hits)?;
        self.weigh(&mut hits, Some(found.bounds), Some(scale(near.stage)))?;
        Ok(SearchOutcome {
            total: hits.len() as u64,
            hits,
            partial: near.partial(),
            used: Mode::Hybrid,
            model: Some(near.model),
            terms: found.terms,
            ..SearchOutcome::default()
        })
    }

    /// Prefers texts of the days that the question names.
    fn prefer_named_days(&self, hits: &mut [RankedHit]) -> Result<(), IndexError> {
        if self.ask.named_days.is_empty() {
            return Ok(());
        }
        let mut of_days = BTreeSet::new();
        for hit in &*hits {
            if let Some(unit) = self.index.text.unit(hit.key)?
                && unit.kind.class() == Class::Talk
                && self
                    .ask
                    .named_days
                    .iter()
                    .any(|days| days.contains(&unit.time))
            {
                of_days.insert(hit.key);
            }
        }
        prefer(hits, NAMED_DAYS_BONUS, |key| of_days.contains(&key));
        Ok(())
    }

    /// Computes the relevance of hits from their own scores. `bounds` are the text scores of a perfect match in each
    /// class; without them or without a scale, words or vectors were not compared.
    fn weigh(
        &self,
        hits: &mut [RankedHit],
        bounds: Option<[f32; 2]>,
        scale: Option<VectorScale>,
    ) -> Result<(), IndexError> {
        for hit in hits {
            let words = match bounds {
                None => None,
                Some(bounds) => {
                    let bound = of_class(bounds, self.class_of(hit.key)?);
                    let score = hit.text.map_or(0.0, |text| f64::from(text.score));
                    // A query of stop words only says nothing about words.
                    (bound > 0.0).then(|| score / f64::from(bound))
                }
            };
            let cosine = scale.map(|scale| {
                let cosine = hit.vector.map_or(0.0, |vector| f64::from(vector.score));
                (scale, cosine)
            });
            hit.relevance = relevance(words, cosine);
        }
        Ok(())
    }

    fn vector_scores(
        &self,
        near: &NearestTexts,
        keys: &[u64],
    ) -> Result<Vec<(u64, f32)>, IndexError> {
        let Some(stage) = self.index.stage(near.stage) else {
            return Ok(Vec::new());
        };
        let scores = stage.read().scores(&near.query, keys)?;
        Ok(scores.into_iter().map(|hit| (hit.key, hit.score)).collect())
    }

    /// Reranks the top hits by their best sentences. Without a model the order stays, and the reason is reported.
    fn rerank(&self, searched: &mut SearchOutcome) {
        let model = match self.index.models().first() {
            Ok(model) => model,
            Err(error) => {
                searched.reason = Some(format!("reranking failed: {error}"));
                return;
            }
        };
        let query = model.embed(&self.ask.query);
        rerank(&mut searched.hits, |key| self.best(&model, &query, key));
        searched.used = Mode::Semantic;
        searched.query = Some(query);
    }

    fn best(&self, model: &Model, query: &[f32], key: u64) -> Option<f32> {
        let text = (self.text_of)(key)?;
        let ranges = quotable(&text).into_iter();
        let sentences: Vec<&str> = ranges.filter_map(|range| text.get(range)).collect();
        best_sentence(query, &model.embed_many(&sentences))
    }
}

/// Returns the number for a class of two, for documents and for talk.
fn of_class([documents, talk]: [f32; 2], class: Class) -> f32 {
    match class {
        Class::Documents => documents,
        Class::Talk => talk,
    }
}

/// Returns the scale of a tier's cosines.
fn scale(stage: EmbeddingStage) -> VectorScale {
    match stage {
        EmbeddingStage::First => VectorScale::Static,
        EmbeddingStage::Second => VectorScale::Transformer,
    }
}

fn list_score(rank: usize, score: f32) -> Option<ListScore> {
    let rank = Some(rank);
    Some(ListScore { rank, score })
}

/// The nearest texts to a query.
struct NearestTexts {
    /// Number of texts without a vector.
    missing_vectors: usize,
    /// Number of texts that are near enough, for a search by vectors alone.
    count: usize,
    hits: Vec<(u64, f32)>,
    stage: EmbeddingStage,
    model: String,
    query: Vec<f32>,
}

impl NearestTexts {
    /// Describes the texts that could not be ranked by vectors.
    fn partial(&self) -> Option<String> {
        (self.missing_vectors > 0).then(|| {
            format!(
                "{} texts have no vector yet and were ranked by text search only; search again for the rest",
                self.missing_vectors
            )
        })
    }
}
