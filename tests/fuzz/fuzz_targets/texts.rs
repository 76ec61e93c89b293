//! Texts for search, packs and terminals: each is split at valid positions.
#![no_main]

use std::collections::HashSet;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use lored::citations::{PieceHash, outside, pieces, quoted_spans};
use lored::sanitize;
use lored::tokens::Tokens;
use lored_ingest::{quotable, sentences};
use lored_retrieval::text::analyser::{Analyser, AnalysisMode};

static TOKENS: LazyLock<Tokens> = LazyLock::new(Tokens::default);

fuzz_target!(|text: &str| {
    let mut analyser = Analyser::new();
    for mode in [AnalysisMode::Index, AnalysisMode::Query] {
        analyser.tokens(text, mode, &mut |token| {
            assert!(!token.term.is_empty() && text.get(token.range).is_some());
            true
        });
    }
    for range in sentences(text).into_iter().chain(quotable(text)) {
        assert!(text.get(range).is_some());
    }
    let known: HashSet<PieceHash> = pieces(text).into_iter().collect();
    let spans = quoted_spans(text, |piece| known.contains(&piece));
    assert!(outside(text, &spans).map(str::len).sum::<usize>() <= text.len());
    let beginning = TOKENS.beginning(text, 9);
    assert!(text.starts_with(beginning) && TOKENS.count(beginning) <= 9);
    assert!(!sanitize::line(text).contains('\n'));
    assert_eq!(sanitize::text(&sanitize::text(text)), sanitize::text(text));
    assert!(sanitize::head(text, 9).len() <= 9);
});
