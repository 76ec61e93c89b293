//! The stems of a text, for comparisons in captions.

use std::cell::RefCell;
use std::collections::BTreeSet;

use lored_retrieval::text::analyser::{Analyser, AnalysisMode};

thread_local! {
    /// Reused, because creating an analyser costs more than analysing a sentence.
    static ANALYSER: RefCell<Analyser> = RefCell::new(Analyser::default());
}

/// Returns the stems of a text's words, without stop words.
#[must_use]
pub fn stems(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    ANALYSER.with_borrow_mut(|analyser| {
        analyser.tokens(text, AnalysisMode::Query, &mut |token| {
            found.insert(token.term.to_owned());
            true
        });
    });
    found
}
