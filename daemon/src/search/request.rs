//! What a search asks for, checked: the same for every operation that searches.

use std::ops::RangeInclusive;

use lored_retrieval::ranking::Fusion;
use lored_retrieval::text::Kind;

use super::metadata::Condition;
use crate::error::Refusal;

/// Results of a page, unless another number is asked for, and at most.
pub const RESULTS: u64 = 10;
/// At most.
pub const RESULTS_MAX: u64 = 50;
/// How a search is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Words: BM25.
    Text,
    /// Meaning: the nearest vectors.
    Vector,
    /// Both, fused.
    #[default]
    Hybrid,
    /// Both, fused, and the head reranked by its best sentences, which are quoted.
    Semantic,
}

/// How two lists become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fusing {
    /// By standard deviations from the mean.
    #[default]
    ZScores,
    /// By reciprocal ranks.
    ReciprocalRanks,
}

/// A search.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// Words, a question.
    pub query: String,
    /// How.
    pub mode: Mode,
    /// What kinds of things; none of them: nothing is found.
    pub kinds: Vec<Kind>,
    /// Only what was said and done in this session.
    pub session: Option<String>,
    /// Only what belongs to this project.
    pub project: Option<String>,
    /// What documents are narrowed to.
    pub document_filter: Option<DocumentFilter>,
    /// Results of the page.
    pub most: usize,
    /// How two lists become one.
    pub fusing: Fusing,
    /// The constant of reciprocal ranks.
    pub k: f64,
    /// Whether each result says how its score came about.
    pub explain: bool,
    /// Whether results have their whole text.
    pub include_content: bool,
}

/// What documents are narrowed to. Between fields all must hold, within a list any.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DocumentFilter {
    /// Contexts, exactly.
    pub context_ids: Vec<String>,
    /// A context by its id or its name, exactly.
    pub context: Option<String>,
    /// A context's name, exactly.
    pub context_name: Option<String>,
    /// Categories, in any case.
    pub categories: Vec<String>,
    /// A file's name, exactly.
    pub file_name: Option<String>,
    /// A file's extension, in any case; `md` and `markdown` are one.
    pub file_type: Option<String>,
    /// Tags, in any case.
    pub tags: Vec<String>,
    /// Which chunks by their names.
    pub pattern: Option<Pattern>,
    /// Which chunks by their numbers.
    pub range: Option<RangeInclusive<u64>>,
    /// What the front matter must say besides.
    pub conditions: Vec<(String, Condition)>,
}

/// Names of chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// All chunks of a file, or one by its whole name.
    Exactly(String),
    /// Those whose name begins so.
    Beginning(String),
}

/// Checks how many results are wanted.
///
/// # Errors
/// `INVALID_INPUT` when they are none or too many.
pub fn results(wanted: Option<u64>, default: u64, most: u64) -> Result<usize, Refusal> {
    let wanted = wanted.unwrap_or(default);
    if (1..=most).contains(&wanted) {
        return Ok(usize::try_from(wanted).unwrap_or(usize::MAX));
    }
    Err(
        Refusal::invalid(format!("`max_results`: got {wanted}, expected 1 to {most}"))
            .hint("Use `next` of the reply for the following page."),
    )
}

impl SearchRequest {
    /// How the lists are fused; of the first tier's vectors the text counts more.
    #[must_use]
    pub fn fusion(&self, text_share: f64) -> Fusion {
        match self.fusing {
            Fusing::ZScores => Fusion::ZScores { text_share },
            Fusing::ReciprocalRanks => Fusion::ReciprocalRanks { k: self.k },
        }
    }
}

/// A file type in lower case without its dot; the names of Markdown are one.
#[must_use]
pub fn plain_type(file_type: &str) -> String {
    let plain = file_type.trim_start_matches('.').to_lowercase();
    match plain.as_str() {
        "markdown" => "md".to_owned(),
        _ => plain,
    }
}
