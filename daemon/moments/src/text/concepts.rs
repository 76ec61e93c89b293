//! Words that mean nearly the same in projects: what a prompt asks for in other words than a decision was made in.
//!
//! Each line of `concepts.txt` is one group, in several languages. A word may be in several groups.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::words::stem_any;

/// The number of a group.
pub type Concept = u16;

static GROUPS: LazyLock<FxHashMap<String, Vec<Concept>>> = LazyLock::new(|| {
    let mut groups = FxHashMap::<String, Vec<Concept>>::default();
    for (line, number) in include_str!("concepts.txt").lines().zip(0..) {
        for word in line.split_whitespace() {
            let of_word = groups.entry(stem_any(word)).or_default();
            if of_word.last() != Some(&number) {
                of_word.push(number);
            }
        }
    }
    groups
});

/// Returns the groups of a stem.
#[must_use]
pub fn concepts(stem: &str) -> &'static [Concept] {
    GROUPS.get(stem).map(Vec::as_slice).unwrap_or_default()
}
