//! Stop words: words that are not specific to any subject.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

/// The list with which the ranking quality was measured: English function words, and the remainders of
/// contractions after an apostrophe.
const WORDS: &str = "\
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself \
    she her hers herself it its itself they them their theirs themselves what which who whom this \
    that these those am is are was were be been being have has had having do does did doing would \
    should could ought a an the and but if or because as until while of at by for with about \
    against between into through during before after above below to from up down in out on off \
    over under again further then once here there when where why how all any both each few more \
    most other some such no nor not only own same so than too very s t d m ll re ve can will just";

/// Length of the longest stop word, in bytes.
const LONGEST: usize = 10;

static SET: LazyLock<FxHashSet<&'static str>> = LazyLock::new(|| WORDS.split(' ').collect());

/// Whether a word, in lower case and without accents, is a stop word.
pub fn is_one(word: &str) -> bool {
    word.len() <= LONGEST && SET.contains(word)
}
