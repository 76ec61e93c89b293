//! The validated search request, for every search operation.

use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;

use lored_retrieval::ranking::Fusion;
use lored_retrieval::text::Kind;
use lored_suspicion::Origin;

use super::metadata::Condition;

/// Default number of results of a page.
pub const RESULTS: u64 = 10;
/// Maximum number of results of a page.
pub const RESULTS_MAX: u64 = 50;
/// The mode of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Full text: BM25.
    Text,
    /// Semantic similarity: the nearest vectors.
    Vector,
    /// Full text and vectors, fused.
    #[default]
    Hybrid,
    /// Like hybrid, with the top hits reranked by their best sentences, which are returned as captions.
    Semantic,
}

/// The method that fuses two lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fusing {
    /// Standard deviations from the mean.
    #[default]
    ZScores,
    /// Reciprocal ranks.
    ReciprocalRanks,
}

/// A validated search request.
#[derive(Clone, Debug, Default)]
pub struct SearchRequest {
    /// The query: words or a question.
    pub query: String,
    /// The mode.
    pub mode: Mode,
    /// The kinds of texts to search; empty finds nothing.
    pub kinds: Vec<Kind>,
    /// Restricts the search to words of these; empty finds all.
    pub origins: Vec<Origin>,
    /// Restricts the search to what these agents recorded; empty finds all.
    pub agents: Vec<String>,
    /// Leaves out what is rather not about the query. A list of hits has it at its end; an answer needs none of it.
    pub is_likely_only: bool,
    /// Restricts the search to this session.
    pub session: Option<String>,
    /// Restricts the search to this project.
    pub project: Option<String>,
    /// Restricts the search to what was said or recorded in this period, in seconds since 1970.
    pub period: Option<Range<u64>>,
    /// Periods that the query names; what was said in them comes first.
    pub named_days: Vec<Range<u64>>,
    /// Project whose texts come first in a search without a scope.
    pub first: Option<String>,
    /// The caller's folder; documents in it belong to that project.
    pub folder: Option<PathBuf>,
    /// Restricts documents.
    pub document_filter: Option<DocumentFilter>,
    /// Maximum number of results of the page.
    pub most: usize,
    /// The fusion method.
    pub fusing: Fusing,
    /// The constant of reciprocal rank fusion.
    pub k: f64,
    /// Whether results explain their scores.
    pub explain: bool,
    /// Whether results include their whole text.
    pub include_content: bool,
}

/// A filter for documents. All fields must match; within a list, one value is enough.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DocumentFilter {
    /// Context ids, exact.
    pub context_ids: Vec<String>,
    /// A context's id or name, exact.
    pub context: Option<String>,
    /// A context's name, exact.
    pub context_name: Option<String>,
    /// Categories, ignoring case.
    pub categories: Vec<String>,
    /// A file name, exact.
    pub file_name: Option<String>,
    /// A file type, as [`plain_type`] returns it.
    pub file_type: Option<String>,
    /// Tags, ignoring case.
    pub tags: Vec<String>,
    /// Chunk names.
    pub pattern: Option<Pattern>,
    /// Chunk numbers.
    pub range: Option<RangeInclusive<u64>>,
    /// Conditions on other front-matter fields.
    pub conditions: Vec<(String, Condition)>,
}

/// A pattern for chunk names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// All chunks of the file with this name, or the chunk with this name.
    Exactly(String),
    /// Chunks with this name prefix.
    Beginning(String),
}

impl SearchRequest {
    /// Returns the fusion of the lists. `text_share` is higher with first-tier vectors.
    #[must_use]
    pub fn fusion(&self, text_share: f64) -> Fusion {
        match self.fusing {
            Fusing::ZScores => Fusion::ZScores { text_share },
            Fusing::ReciprocalRanks => Fusion::ReciprocalRanks { k: self.k },
        }
    }
}

/// Normalises a file type: lower case, without its dot, and one name for `md` and `markdown`, `txt` and `text`, `html` and
/// `htm`.
#[must_use]
pub fn plain_type(file_type: &str) -> String {
    let plain = file_type.trim_start_matches('.').to_lowercase();
    match plain.as_str() {
        "markdown" => "md".to_owned(),
        "text" => "txt".to_owned(),
        "htm" => "html".to_owned(),
        _ => plain,
    }
}
