//! Assigns a layer by the words of a key.

use super::{Layer, Rule};

/// Maximum number of characters of a key that are read.
pub const KEY_CHARS_MAX: usize = 400;

/// The layers of words in keys; words are in lower case and singular (plurals match, too).
///
/// A key is read as an English compound:
/// 1. A key that begins with `_` is EPHEMERAL, and so is one that ends with `at` (`createdAt`).
/// 2. A [passing](LayerWords::passing) word makes the whole key EPHEMERAL wherever it stands:
///    `tempResult`, `debugInfo`. `internal` does so unless the head is CRITICAL (`internalError`).
/// 3. Otherwise the head decides: the last word (`cacheConfig`, `errorLog`), or the last one before a preposition
///    (`resultOfAnalysis`). [Hollow](LayerWords::hollow) words are skipped, because the word before them names the
///    content (`errorDetails`, `logEntries`).
/// 4. A head without a layer gets the highest of CRITICAL and IMPORTANT among the other words; but not EPHEMERAL,
///    because `logLevel` is not a log. A CRITICAL noun counts only before a [telling](LayerWords::telling) head
///    (`errorMessage`, `customerEmail`, `reasonForFailure`): `errorRate` is not an error, and `user_id` not a user. A
///    [judging](LayerWords::judging) word counts before any head: `failedTests`.
/// 5. What a [source](LayerWords::sources) returned is material: `searchResults`.
///
/// Two adjacent words that form a listed word are that word: `time_stamp`, `changeLog`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerWords {
    /// Aims, outcomes, people, failures.
    pub critical: Vec<String>,
    /// How the work goes on.
    pub important: Vec<String>,
    /// Material; also words that only look like words of another layer.
    pub useful: Vec<String>,
    /// Worthless later.
    pub ephemeral: Vec<String>,
    /// Words that make the whole key EPHEMERAL.
    pub passing: Vec<String>,
    /// Words that make the whole key EPHEMERAL unless its head is CRITICAL.
    pub inner: Vec<String>,
    /// Words that do not describe the content.
    pub hollow: Vec<String>,
    /// Heads that say something about the CRITICAL word beside them.
    pub telling: Vec<String>,
    /// CRITICAL words that judge whatever head they stand before.
    pub judging: Vec<String>,
    /// Words before `results` that make them material.
    pub sources: Vec<String>,
}

/// Words after which a compound is only described further.
const PREPOSITIONS: &[&str] = &[
    "about", "by", "during", "for", "from", "in", "of", "on", "per", "to", "with",
];

impl Default for LayerWords {
    fn default() -> Self {
        let list = |words: &str| words.split_whitespace().map(str::to_owned).collect();
        Self {
            critical: list(
                "goal objective target requirement result answer decision conclusion user customer \
                 error failure urgent urgency required criterion criteria constraint outcome purpose mission \
                 failed failing exception decided decisionlog task instruction question brief",
            ),
            important: list(
                "plan strategy approach method process workflow config settings parameters state \
                 status progress configuration setting parameter param planned step todo roadmap \
                 milestone methodology procedure blocker hypothesis hypotheses assumption current",
            ),
            useful: list(
                "data content information details example analysis report summary findings info \
                 detail finding analyses changelog backtrace stacktrace stdout stderr useragent",
            ),
            ephemeral: list("cache buffer log timestamp logging"),
            passing: list(
                "temp tmp temporary debug trace cached buffered scratch transient throwaway",
            ),
            inner: list("internal"),
            hollow: list(
                "data content information info detail details value text item list entry line dump \
                 record output made taken",
            ),
            telling: list(
                "message msg reason cause text name email address request ask prompt feedback preference input",
            ),
            judging: list("failed failing urgent urgency required decided"),
            sources: list(
                "search tool query web api function command grep scan sql lookup retrieval rag fetch crawl http \
                 browser vector db database shell lint raw partial intermediate",
            ),
        }
    }
}

impl LayerWords {
    /// The layer that the words of a key speak for, if they do.
    #[must_use]
    pub fn layer(&self, key: &str) -> Option<(Layer, Rule)> {
        if key.starts_with('_') {
            return Some((Layer::Ephemeral, Rule::Underscore));
        }
        let words = self.joined(split(key));
        if words.len() > 1 && words.last().is_some_and(|last| last == "at") {
            return Some((Layer::Ephemeral, Rule::Time));
        }
        if let Some(word) = words.iter().find(|word| holds(&self.passing, word)) {
            return Some((Layer::Ephemeral, Rule::Word(word.clone())));
        }
        if let Some(material) = self.material(&words) {
            return Some((Layer::Useful, Rule::Word(material)));
        }
        let head = self.head(&words);
        let head_layer = head.and_then(|head| self.layer_of(head));
        let inner = words.iter().find(|word| holds(&self.inner, word));
        let (layer, word) = match (head_layer, head, inner) {
            (Some(Layer::Critical), Some(head), _) => (Layer::Critical, head),
            (_, _, Some(inner)) => (Layer::Ephemeral, inner.as_str()),
            (Some(layer), Some(head), None) => (layer, head),
            (_, head, None) => self.by_the_others(&words, head)?,
        };
        Some((layer, Rule::Word(word.to_owned())))
    }

    /// Returns the word that names the content of the key.
    fn head<'a>(&self, words: &'a [String]) -> Option<&'a str> {
        let is_preposition = |word: &String| PREPOSITIONS.contains(&word.as_str());
        // A preposition at the start, as in `toDo`, describes nothing.
        let end = words.iter().skip(1).position(is_preposition);
        let before = words.get(..end.map_or(words.len(), |end| end + 1))?;
        let mut from_the_end = before.iter().rev();
        let full = from_the_end.find(|word| !holds(&self.hollow, word));
        full.map(String::as_str)
    }

    /// Returns whether a word makes a whole key EPHEMERAL.
    pub(super) fn is_passing(&self, word: &str) -> bool {
        holds(&self.passing, word) || holds(&self.inner, word)
    }

    /// Returns the words of a key that names what a source returned.
    fn material(&self, words: &[String]) -> Option<String> {
        let mut pairs = words.windows(2);
        pairs.find_map(|pair| match pair {
            [source, result] if matches!(result.as_str(), "result" | "results") => {
                holds(&self.sources, source).then(|| format!("{source} {result}"))
            }
            _ => None,
        })
    }

    /// Returns the layer of a key whose head has none.
    fn by_the_others<'a>(
        &self,
        words: &'a [String],
        head: Option<&str>,
    ) -> Option<(Layer, &'a str)> {
        // A plural has many contents, and is not about the word beside it.
        let is_telling =
            head.is_some_and(|head| self.telling.iter().any(|telling| telling == head));
        let layers = words.iter().filter_map(|word| {
            let layer = self.layer_of(word)?;
            let counts = match layer {
                Layer::Critical => is_telling || holds(&self.judging, word),
                Layer::Important | Layer::Useful => true,
                Layer::Ephemeral => false,
            };
            counts.then_some((layer, word.as_str()))
        });
        layers.min_by_key(|(layer, _)| *layer)
    }

    fn layer_of(&self, word: &str) -> Option<Layer> {
        let lists = [
            (&self.critical, Layer::Critical),
            (&self.important, Layer::Important),
            (&self.useful, Layer::Useful),
            (&self.ephemeral, Layer::Ephemeral),
        ];
        let mut lists = lists.into_iter();
        lists.find_map(|(list, layer)| holds(list, word).then_some(layer))
    }

    /// Joins adjacent words that form a listed word.
    fn joined(&self, words: Vec<String>) -> Vec<String> {
        let mut joined: Vec<String> = Vec::with_capacity(words.len());
        for word in words {
            if let Some(last) = joined.last_mut() {
                let both = format!("{last}{word}");
                if self.layer_of(&both).is_some() {
                    *last = both;
                    continue;
                }
            }
            joined.push(word);
        }
        joined
    }
}

/// Returns whether a list contains a word or its singular.
fn holds(list: &[String], word: &str) -> bool {
    let singular = |ending: &str, instead: &str| {
        let stem = word.strip_suffix(ending);
        stem.is_some_and(|stem| {
            list.iter()
                .any(|listed| listed.strip_suffix(instead) == Some(stem))
        })
    };
    list.iter().any(|listed| listed == word)
        || singular("s", "")
        || singular("es", "")
        || singular("ies", "y")
}

/// Splits a key into words in lower case, without digits: `HTTPServer_errorLog2` is http, server, error, log.
pub fn split(key: &str) -> Vec<String> {
    let characters: Vec<char> = key.chars().take(KEY_CHARS_MAX).collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (at, &character) in characters.iter().enumerate() {
        let is_letter = character.is_alphabetic();
        if !is_letter || begins_a_word(&characters, at) {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        }
        if is_letter {
            word.extend(character.to_lowercase());
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// Returns whether a capital begins a word: after a small letter, or as the last of several before a small letter (the S
/// of `HTTPServer`, but not the D of `userIDs`).
fn begins_a_word(characters: &[char], at: usize) -> bool {
    let is = |at: Option<usize>, test: fn(char) -> bool| {
        let character = at.and_then(|at| characters.get(at));
        character.is_some_and(|character| test(*character))
    };
    let is_small = |at| is(at, |c| c.is_alphabetic() && !c.is_uppercase());
    let is_capital = |at| is(at, char::is_uppercase);
    if !is_capital(Some(at)) {
        return false;
    }
    let is_plural = is(Some(at + 1), |c| c == 's') && !is_small(Some(at + 2));
    let ends_acronym = is_capital(at.checked_sub(1)) && is_small(Some(at + 1)) && !is_plural;
    is_small(at.checked_sub(1)) || ends_acronym
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_split_as_they_are_spelled() {
        for (key, words) in [
            ("loginFlow", "login flow"),
            ("HTTPServer", "http server"),
            ("parseHTTPResponse", "parse http response"),
            ("userIDs", "user ids"),
            ("IDs_and-URLs", "ids and urls"),
            ("BUILD_CONFIG", "build config"),
            ("kebab-case.and dots/too", "kebab case and dots too"),
            ("v2Plan10b", "v plan b"),
            ("sha256", "sha"),
            ("größeÄndern", "größe ändern"),
            ("計画", "計画"),
            ("_", ""),
            ("", ""),
        ] {
            assert_eq!(split(key).join(" "), words, "{key}");
        }
    }

    #[test]
    fn plurals_are_understood() {
        let words = LayerWords::default();
        for key in "goals strategies statuses processes users caches".split(' ') {
            assert!(words.layer(key).is_some(), "{key}");
        }
        for key in ["goal", "statu", "proces", "s", "es", "ies"] {
            assert_eq!(words.layer(key).is_some(), key == "goal", "{key}");
        }
    }

    /// Configured lists replace the defaults.
    #[test]
    fn the_lists_can_be_changed() {
        let words = LayerWords {
            critical: vec!["banana".to_owned()],
            ..LayerWords::default()
        };
        let layer = |key| words.layer(key).map(|(layer, _)| layer);
        assert_eq!(layer("ripeBananas"), Some(Layer::Critical));
        assert_eq!(layer("goal"), None);
    }

    /// A key is read up to a limit, so that a very long key costs little.
    #[test]
    fn an_endless_key_is_read_to_its_limit() {
        let key = "x".repeat(KEY_CHARS_MAX) + "_goal";
        assert_eq!(LayerWords::default().layer(&key), None);
    }
}
