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
pub const UNRELATED: f64 = 0.005;

/// Returns the cosine below which a text is unrelated to a query that is compared by vectors alone.
#[must_use]
pub fn least_cosine(scale: VectorScale) -> f32 {
    let Coefficients(constant, _, of_cosine) = alone(scale);
    let sum = (UNRELATED / (1.0 - UNRELATED)).ln();
    ((sum - constant) / of_cosine) as f32
}

/// Returns the minimum score of the best hit of a search that compared vectors, and words too if `has_words`. Below it,
/// nothing is known about a query.
///
/// Chosen with questions about other things: of each collection over the others, and 60 of everyday life over all. It
/// keeps the answers to at least 99 % of the questions that have one. Static embeddings separate less, so their floor
/// rejects fewer of the others; it matters only until the second tier has embedded all texts.
#[must_use]
pub const fn floor(has_words: bool, scale: VectorScale) -> f64 {
    match (scale, has_words) {
        (VectorScale::Static, true) => 0.013,
        (VectorScale::Static, false) => 0.012,
        (VectorScale::Transformer, true) => 0.02,
        (VectorScale::Transformer, false) => 0.0125,
    }
}

/// Returns the minimum score of a hit beside a better one that is rather about the question, of a search that compared
/// words and vectors.
///
/// [`floor`] is chosen for the best hit of a question. The further evidence matches less: of the right hits of questions
/// over conversations, whose messages are short, 9 to 13 % are below that floor and 2 to 6 % below half of it.
#[must_use]
pub const fn further_floor(scale: VectorScale) -> f64 {
    floor(true, scale) / 2.0
}

/// Number of words of a question from which on one of them may match by chance.
pub const QUESTION_WORDS: usize = 3;
/// Minimum share of the word weight of a question with which words alone are an answer, however common they are.
const QUESTION_SHARE: f64 = 0.25;
/// Minimum product of this share and of the weight of the matching words, in words as rare as they can be.
const QUESTION_WEIGHT: f64 = 0.079;

/// Returns whether words alone answer a question of at least [`QUESTION_WORDS`] words.
///
/// `share` is the share of its word weight that the best text has; `rare` is the weight of these words in words that no
/// other text has. A long question needs a smaller share than a short one.
#[must_use]
pub fn answers(share: f64, rare: f64) -> bool {
    share >= QUESTION_SHARE || share * rare >= QUESTION_WEIGHT
}

/// Coefficients: the constant, the weight of the words, and the weight of the cosine.
struct Coefficients(f64, f64, f64);

const WORDS_ALONE: Coefficients = Coefficients(-3.42, 7.99, 0.0);
const STATIC: Coefficients = Coefficients(-5.43, 5.86, 5.08);
const TRANSFORMER: Coefficients = Coefficients(-6.3, 6.48, 6.24);
const STATIC_ALONE: Coefficients = Coefficients(-6.04, 0.0, 7.47);
const TRANSFORMER_ALONE: Coefficients = Coefficients(-6.59, 0.0, 9.3);

const fn alone(scale: VectorScale) -> Coefficients {
    match scale {
        VectorScale::Static => STATIC_ALONE,
        VectorScale::Transformer => TRANSFORMER_ALONE,
    }
}

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
        (None, Some((scale, _))) => alone(scale),
        (None, None) => return 0.0,
    };
    let words = words.unwrap_or(0.0).clamp(0.0, 1.0);
    let cosine = cosine.map_or(0.0, |(_, cosine)| cosine.clamp(-1.0, 1.0));
    let sum = constant + of_words * words + of_cosine * cosine;
    1.0 / (1.0 + (-sum).exp())
}
