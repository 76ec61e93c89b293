//! BM25 over the live units. Scores are summed in the order of the query's words, so a score depends only on the
//! query and the set of units.

use super::super::error::Error;
use super::super::indexed_text::Class;
use super::super::postings::{CorpusCounts, Entry, Field, PerField};
use super::term_stats::{TermPostings, TermStats};
use super::words::{MatchQuality, Terms, Word};

/// BM25 parameters: saturation of repeated words (`k1`), penalty for long texts (`b`), and the length without penalty.
/// Documents are compared with their mean. In talk the mean says little: some speak in a line, some in a page. So its
/// pivot is fixed, for one text and for three.
struct Bm25Parameters {
    k1: f64,
    b: f64,
    pivot: Option<f64>,
}

/// Number of terms of a message of usual length.
const TALK_PIVOT: f64 = 20.0;

fn shape(field: Field) -> Bm25Parameters {
    match field {
        Field::Documents => Bm25Parameters {
            k1: 1.2,
            b: 0.75,
            pivot: None,
        },
        Field::Talk => Bm25Parameters {
            k1: 0.9,
            b: 0.9,
            pivot: Some(TALK_PIVOT),
        },
        Field::Around => Bm25Parameters {
            k1: 0.9,
            b: 0.9,
            pivot: Some(3.0 * TALK_PIVOT),
        },
    }
}

/// Returns the weight of a field; talk averages its two fields.
fn share(field: Field) -> f64 {
    match field {
        Field::Documents => 1.0,
        Field::Talk | Field::Around => 0.5,
    }
}

/// Returns the weight of a variant relative to the word itself.
fn discount(quality: MatchQuality) -> f64 {
    match quality {
        MatchQuality::Beginning => 0.6,
        MatchQuality::Typo => 0.5,
    }
}

/// The length normalization in BM25's denominator: `flat + slope * length`.
#[derive(Clone, Copy, Debug, Default)]
pub struct LengthNorm {
    flat: f32,
    slope: f32,
}

impl LengthNorm {
    /// Returns the score of a word that occurs `count` times in a text of `length` words.
    #[inline]
    pub fn score(&self, weight: f32, count: u32, length: u32) -> f32 {
        let count = count as f32;
        weight * count / (count + (self.flat + self.slope * length as f32))
    }
}

/// Returns the length normalizations of all fields.
pub fn norms(tally: &CorpusCounts) -> PerField<LengthNorm> {
    let mut norms = PerField::default();
    for field in Field::ALL {
        let Bm25Parameters { k1, b, pivot } = shape(field);
        let units = tally.units(field.class()).max(1) as f64;
        let mean = (*tally.lengths.get(field) as f64 / units).max(1.0);
        *norms.get_mut(field) = LengthNorm {
            flat: (k1 * (1.0 - b)) as f32,
            slope: (k1 * b / pivot.unwrap_or(mean)) as f32,
        };
    }
    norms
}

/// A query term with its postings in each segment.
pub struct QueryTerm {
    /// Upper bound of the term's score.
    pub weight: f32,
    /// The term's entry in each segment, in the order of the segments.
    pub entries: Vec<Option<Entry>>,
}

/// A word in a field; only the best of its terms counts.
pub struct Clause {
    /// The field to search.
    pub field: Field,
    /// The word itself and its variants.
    pub query_terms: Vec<QueryTerm>,
}

/// Returns the clauses to add up for a query, in its order.
pub fn clauses(
    stats: &mut TermStats<'_>,
    classes: &[Class],
    terms: &Terms,
    tally: &CorpusCounts,
) -> Result<Vec<Clause>, Error> {
    let mut clauses = Vec::new();
    let fields = classes.iter().flat_map(|class| Field::of(*class));
    for field in fields {
        let units = tally.units(field.class());
        for word in &terms.words {
            let mut query_terms = Vec::new();
            let own = (word.term.as_str(), 1.0);
            let variants = word.variants.iter();
            let variants = variants.map(|one| (one.term.as_str(), discount(one.quality)));
            let mut worth_most = f64::INFINITY;
            for (term, discount) in std::iter::once(own).chain(variants) {
                let TermPostings { entries, living } = stats.postings(*field, term)?;
                if living == 0 {
                    continue;
                }
                // A variant never scores more than the word, however rare it is.
                let rarity = rarity(living, units).min(worth_most);
                if discount == 1.0 {
                    worth_most = rarity;
                }
                let weight = rarity * scale(*field, word) * discount;
                query_terms.push(QueryTerm {
                    weight: weight as f32,
                    entries,
                });
            }
            if !query_terms.is_empty() {
                let field = *field;
                clauses.push(Clause { field, query_terms });
            }
        }
    }
    Ok(clauses)
}

/// Returns the weight of a word in a field, relative to its rarity.
fn scale(field: Field, word: &Word) -> f64 {
    let weight = match field.class() {
        Class::Documents => word.weight_in_documents,
        Class::Talk => 1.0,
    };
    (shape(field).k1 + 1.0) * f64::from(word.count) * share(field) * weight
}

/// Returns the score that a text of a class would approach if it had every word of the query many times. A word that no
/// text has counts as the rarest.
pub fn bound(
    stats: &mut TermStats<'_>,
    class: Class,
    terms: &Terms,
    tally: &CorpusCounts,
) -> Result<f64, Error> {
    let units = tally.units(class);
    let mut bound = 0.0;
    for field in Field::of(class) {
        for word in &terms.words {
            let living = stats.postings(*field, &word.term)?.living;
            bound += rarity(living, units) * scale(*field, word);
        }
    }
    Ok(bound)
}

/// Number of texts from which on a rare word says something.
const TEXTS_LEAST: u64 = 100;

/// Returns the weight of a word that no text has; 0 if there are too few texts.
pub fn rarest(class: Class, tally: &CorpusCounts) -> f64 {
    let units = tally.units(class);
    if units < TEXTS_LEAST {
        return 0.0;
    }
    let fields = Field::of(class).iter();
    let of_fields = fields.map(|field| (shape(*field).k1 + 1.0) * share(*field));
    rarity(0, units) * of_fields.sum::<f64>()
}

/// Returns the inverse document frequency of a term that `living` of `units` units have.
fn rarity(living: u64, units: u64) -> f64 {
    let (living, units) = (living as f64, units as f64);
    ((units - living + 0.5) / (living + 0.5)).ln_1p()
}
