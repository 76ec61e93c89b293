//! The stems of a text, as captions compare them.

use std::cell::RefCell;
use std::collections::BTreeSet;

use lored_retrieval::text::analyser::{Analyser, AnalysisMode};

thread_local! {
    /// Making one costs more than a sentence does.
    static ANALYSER: RefCell<Analyser> = RefCell::new(Analyser::default());
}

/// The stems of the words of a text that mean something.
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
