//! Captions: the two sentences of a text that match a query best, quoted exactly.

use std::collections::BTreeSet;
use std::ops::Range;

use super::fusion::standard;
use super::rerank::cosine;

/// Limit on the sentences of a caption.
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
    /// Byte range in the text.
    pub range: Range<usize>,
    /// Relevance of the sentence; higher is better. Comparable only within one text.
    pub score: f64,
}

/// Returns the distinct words of a text for captions: lower case, letters and digits only.
#[must_use]
pub fn words(text: &str) -> BTreeSet<String> {
    let words = text
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Selects the best two sentences: shared words with the query and vector similarity count half each.
///
/// `ranges` and `vectors` belong to the sentences, in order. `query_words` are the query's words without stop
/// words, in the form that `prepare` returns for a sentence (such as stems). A single sentence is always selected.
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
