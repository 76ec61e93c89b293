//! Captions: the two sentences of a text that say most about a query, quoted exactly.

use std::collections::BTreeSet;
use std::ops::Range;

use super::fusion::standard;
use super::rerank::cosine;

/// Sentences of a caption.
const PARTS: usize = 2;

/// The best sentences of a text, in the order of the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Caption {
    /// One or two sentences.
    pub parts: Vec<CaptionPart>,
}

/// One sentence of a caption.
#[derive(Debug, Clone, PartialEq)]
pub struct CaptionPart {
    /// Where it stands in the text, in bytes.
    pub range: Range<usize>,
    /// How well it suits: higher is better, only within one text.
    pub score: f64,
}

/// The words of a text as captions compare them: lower case, letters and digits only.
#[must_use]
pub fn words(text: &str) -> BTreeSet<String> {
    let words = text
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// The best two sentences by the words they share with the query and by their vectors, half and half.
///
/// `ranges` and `vectors` are the sentences', in order; `query_words` are those that mean something,
/// prepared as `prepare` does with a sentence (stems, for one). With one sentence, that one.
#[must_use]
pub fn caption(
    text: &str,
    ranges: &[Range<usize>],
    vectors: &[Vec<f32>],
    query: (&BTreeSet<String>, &[f32]),
    prepare: impl Fn(&str) -> BTreeSet<String>,
) -> Caption {
    let (query_words, query_vector) = query;
    let shared = |range: &Range<usize>| {
        let sentence = prepare(text.get(range.clone()).unwrap_or_default());
        query_words.intersection(&sentence).count() as f64
    };
    let overlaps = standard(&ranges.iter().map(shared).collect::<Vec<_>>());
    let cosines = vectors
        .iter()
        .map(|vector| f64::from(cosine(query_vector, vector)))
        .collect::<Vec<_>>();
    let mut parts: Vec<CaptionPart> = ranges
        .iter()
        .zip(overlaps.iter().zip(standard(&cosines)))
        .map(|(range, (overlap, distance))| CaptionPart {
            range: range.clone(),
            score: (overlap + distance) / 2.0,
        })
        .collect();
    parts.sort_by(|left, right| {
        right
            .score
            .total_cmp(&left.score)
            .then(left.range.start.cmp(&right.range.start))
    });
    parts.truncate(PARTS);
    parts.sort_by_key(|part| part.range.start);
    Caption { parts }
}
