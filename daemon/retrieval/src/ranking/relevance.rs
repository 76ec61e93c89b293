//! The score of a hit: how often a hit with such matches was right.
//!
//! A logistic regression over two properties of the hit alone: the share of the query's word weight that its text has,
//! and the cosine of the vectors. So a score does not depend on the other hits, or on how many there are. It was fitted
//! on the first 30 hits of each query of public collections, which weigh alike.

/// Version of the vectors that a cosine comes from, because models differ in the cosines that they give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorScale {
    /// Static embeddings of the first tier.
    Static,
    /// A transformer of the second tier.
    Transformer,
}

/// Minimum score of a hit; below it, a text is unrelated.
pub const UNRELATED: f64 = 0.002;

/// Minimum scores of the best hit. Below them, nothing is known about a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floors {
    /// If a text of the index has a word of the query.
    pub of_words: f64,
    /// If none has: the nearest texts to words that do not exist score more than unrelated texts do.
    pub of_unknown_words: f64,
}

/// The floors of hits whose words and vectors were compared.
pub const FLOORS: Floors = Floors {
    of_words: 0.004,
    of_unknown_words: 0.015,
};
/// The floors of hits whose vectors alone were compared.
pub const FLOORS_OF_VECTORS: Floors = Floors {
    of_words: 0.004,
    of_unknown_words: 0.04,
};

/// Coefficients: the constant, the weight of the words, and the weight of the cosine.
struct Coefficients(f64, f64, f64);

const WORDS_ALONE: Coefficients = Coefficients(-4.01, 9.74, 0.0);
const STATIC: Coefficients = Coefficients(-6.76, 7.55, 6.36);
const TRANSFORMER: Coefficients = Coefficients(-6.3, 6.5, 6.8);
const STATIC_ALONE: Coefficients = Coefficients(-6.69, 0.0, 8.92);
const TRANSFORMER_ALONE: Coefficients = Coefficients(-6.5, 0.0, 9.5);

/// Returns the score of a hit, from 0 to 1.
///
/// `words` is the share of the query's word weight that the text has, from 0 to 1; `cosine` is that of the vectors.
/// `None` means that the search did not compare words or vectors.
#[must_use]
pub fn relevance(words: Option<f64>, cosine: Option<(VectorScale, f64)>) -> f64 {
    let Coefficients(constant, of_words, of_cosine) = match (words, cosine) {
        (Some(_), None) => WORDS_ALONE,
        (Some(_), Some((VectorScale::Static, _))) => STATIC,
        (Some(_), Some((VectorScale::Transformer, _))) => TRANSFORMER,
        (None, Some((VectorScale::Static, _))) => STATIC_ALONE,
        (None, Some((VectorScale::Transformer, _))) => TRANSFORMER_ALONE,
        (None, None) => return 0.0,
    };
    let words = words.unwrap_or(0.0).clamp(0.0, 1.0);
    let cosine = cosine.map_or(0.0, |(_, cosine)| cosine.clamp(-1.0, 1.0));
    let sum = constant + of_words * words + of_cosine * cosine;
    1.0 / (1.0 + (-sum).exp())
}
