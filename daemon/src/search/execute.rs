//! Execution of a search: two ranked lists, fused, and the top hits reranked.

use std::time::{Duration, Instant};

use lored_ingest::quotable;
use lored_models::{EmbeddingStage, Model};
use lored_retrieval::ranking::{
    ListScore, RankedList, TEXT_SHARE, TEXT_SHARE_FIRST_TIER, best_sentence, fuse, rerank,
};
use lored_retrieval::text::{Class, IndexedText, Query, Terms};
use lored_retrieval::vectors::VectorError;

use super::filter::Scope;
use super::index::{AdvanceState, Index, IndexError};
use super::request::{Mode, SearchRequest};
use super::stages::name;
use crate::log::Position;

/// Number of hits of each list to fuse; it must cover the hits that are reranked.
const FUSED: usize = 100;
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

/// Applies the rest of the log within the time limit; returns a description of the missing events.
pub fn freshen(
    index: &Index,
    published: &crate::engine::PublishedState,
    blobs: &crate::store::Blobs,
    wait: Duration,
) -> Result<Option<String>, IndexError> {
    match index.advance(published, blobs, Instant::now() + wait)? {
        AdvanceState::All => Ok(None),
        AdvanceState::Part(Position(reached)) => {
            let tail = published.tail.position.0;
            Ok(Some(format!(
                "the index is catching up: {} events of {tail} are not indexed yet; search again for \
                 the rest",
                tail.saturating_sub(reached)
            )))
        }
    }
}

impl Search<'_> {
    /// Searches for at least `limit` hits, if there are as many. Without vectors it falls back to text and reports it.
    pub fn run(&self, limit: usize) -> Result<SearchOutcome, IndexError> {
        let asked = self.ask.mode;
        if asked == Mode::Text {
            return self.text(limit);
        }
        let vectors = match self.vectors(limit.max(FUSED)) {
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
        let mut searched = self.hybrid(vectors)?;
        if asked == Mode::Semantic {
            self.rerank(&mut searched);
        }
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
        let filter: Option<&dyn Fn(&IndexedText) -> bool> = match self.scope.is_all() {
            true => None,
            false => Some(&has),
        };
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
        Ok(SearchOutcome {
            hits: hits.collect(),
            total: found.total,
            used: Mode::Text,
            terms: found.terms,
            ..SearchOutcome::default()
        })
    }

    /// Searches for the nearest texts; `None` if there is no model.
    fn vectors(&self, limit: usize) -> Result<Option<NearestTexts>, IndexError> {
        let Some((stage, ranking, model)) = self.index.ranking()? else {
            return Ok(None);
        };
        let has = |unit: &IndexedText| self.scope.has(unit);
        let among = match self.scope.is_all() {
            true => None,
            false => Some(self.index.text.units(Some(&has))?),
        };
        let total = match &among {
            Some(among) => among.len() as u64,
            None => self.index.text.counts().units(),
        };
        let query = model.embed(&self.ask.query);
        let store = ranking.read();
        let wanted = |key: u64| match &among {
            Some(among) => among.binary_search(&key).is_ok(),
            None => true,
        };
        let mut hits: Vec<(u64, f32)> = Vec::new();
        for hit in store.search(&query, limit, wanted)? {
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
            hits,
            total,
            stage,
            model: format!("{} ({} tier)", model.id(), name(stage)),
            query,
        }))
    }

    fn vector(&self, near: NearestTexts) -> Result<SearchOutcome, IndexError> {
        // The terms are only needed for highlights.
        let terms = self.words(0, &[])?.terms;
        let hits = (1..).zip(&near.hits).map(|(rank, (key, score))| RankedHit {
            score: f64::from(*score),
            vector: list_score(rank, *score),
            parts: [0.0, f64::from(*score)],
            ..RankedHit::unscored(*key)
        });
        Ok(SearchOutcome {
            hits: hits.collect(),
            total: near.total,
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
        let share = match near.stage {
            EmbeddingStage::First => TEXT_SHARE_FIRST_TIER,
            EmbeddingStage::Second => TEXT_SHARE,
        };
        let hits = fuse(
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
        Ok(SearchOutcome {
            hits,
            total: near.total,
            partial: near.partial(),
            used: Mode::Hybrid,
            model: Some(near.model),
            terms: found.terms,
            ..SearchOutcome::default()
        })
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

fn list_score(rank: usize, score: f32) -> Option<ListScore> {
    let rank = Some(rank);
    Some(ListScore { rank, score })
}

/// The nearest texts to a query.
struct NearestTexts {
    /// Number of texts without a vector.
    missing_vectors: usize,
    hits: Vec<(u64, f32)>,
    total: u64,
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
