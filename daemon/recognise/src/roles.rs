//! The prominence of the entities of a text, and the words that the text says of them.

use super::edges::is_word;
use super::everyday::stem;
use super::{Match, RecognitionMethod, TextSource};

/// Weights in hundredths: the subject of a sentence, the first of the other names, any name, a name after a
/// preposition; each sentence after the first costs a little.
const SUBJECT: u8 = 100;
const FIRST: u8 = 80;
const OTHER: u8 = 72;
const ASIDE: u8 = 62;
const LATER_LOSS: u8 = 5;
/// Weight of a name that the text says does not exist.
pub(super) const ABSENT: u8 = 1;
/// Weights of a result's objects and of those within them.
const TOP_OBJECT: u8 = 35;
const NESTED_OBJECT: u8 = 15;
/// Words before a name that is still the subject of its sentence.
const SUBJECT_WORDS_MAX: usize = 3;
/// Limit on a sentence, in bytes.
const SENTENCE_BYTES_MAX: usize = 512;
/// Limit on the words said of an entity in one text.
const WORDS_MAX: usize = 10;
/// Words before and after a name that may be said of it.
const BEFORE_MAX: usize = 3;
const AFTER_MAX: usize = 9;

const PREPOSITIONS: [&str; 21] = [
    "in", "on", "of", "at", "for", "with", "by", "from", "to", "into", "onto", "under", "behind",
    "via", "through", "about", "against", "within", "inside", "near", "per",
];
/// Words that are the subject themselves, or a verb: what follows is an object.
const OTHER_SUBJECTS: [&str; 20] = [
    "it", "they", "he", "she", "we", "i", "you", "there", "this", "that", "is", "are", "was",
    "has", "have", "uses", "see", "use", "asked", "added",
];
/// Words that say nothing of an entity.
const FUNCTION: [&str; 62] = [
    "a", "an", "the", "is", "are", "was", "were", "be", "been", "has", "have", "had", "does", "do",
    "did", "it", "its", "they", "he", "she", "and", "or", "but", "which", "that", "this", "these",
    "those", "who", "there", "here", "not", "no", "yes", "of", "in", "on", "at", "for", "with",
    "by", "from", "to", "into", "about", "only", "also", "still", "now", "then", "so", "as",
    "than", "both", "all", "one", "two", "three", "will", "can", "would", "us",
];

/// Fields that name the object that has them.
const NAMING: [&str; 6] = [
    "name",
    "hostname",
    "display",
    "display_name",
    "full_name",
    "fullName",
];

/// Returns the field whose whole value in a JSON text is between two places.
fn field_of(text: &str, (start, end): (usize, usize)) -> Option<&str> {
    let before = text.get(..start)?.strip_suffix('"')?.trim_end();
    let key = before.strip_suffix(':')?.trim_end().strip_suffix('"')?;
    let is_whole = text.get(end..)?.starts_with('"');
    let key = key.get(key.rfind('"')? + 1..)?;
    is_whole.then_some(key)
}

/// Returns how many objects and lists of a JSON text are open at each of the places, which are in its order.
fn depths(text: &str, places: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut bytes = text.bytes().enumerate().peekable();
    let (mut depth, mut is_string, mut is_escaped) = (0_usize, false, false);
    let mut found = Vec::new();
    for place in places {
        while let Some((_, byte)) = bytes.next_if(|(at, _)| *at < place) {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' if is_string => is_escaped = true,
                b'"' => is_string = !is_string,
                b'{' | b'[' if !is_string => depth += 1,
                b'}' | b']' if !is_string => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        found.push(depth);
    }
    found
}

/// An object of a result that only a pattern found, by its name: what its other fields are about belongs to it.
fn weigh_named_objects(text: &str, matches: &mut [Match]) {
    if !text.trim_start().starts_with(['{', '[']) {
        return;
    }
    let depths = depths(text, matches.iter().map(|hit| hit.start));
    let is_name = |hit: &Match| {
        field_of(text, (hit.start, hit.end)).is_some_and(|field| NAMING.contains(&field))
    };
    let Some(top) = depths.iter().min().copied() else {
        return;
    };
    let at_top: Vec<bool> = matches
        .iter()
        .zip(&depths)
        .map(|(hit, depth)| *depth == top && is_name(hit))
        .collect();
    let by_pattern = |(hit, is_top): (&Match, &bool)| *is_top && hit.how != RecognitionMethod::Json;
    if !matches.iter().zip(&at_top).any(by_pattern) {
        return;
    }
    for (hit, is_top) in matches.iter_mut().zip(at_top) {
        hit.is_nested = !is_top;
        hit.weight = if is_top { TOP_OBJECT } else { NESTED_OBJECT };
    }
}

/// Sets weight and words of the matches of a text, which are in its order.
pub(super) fn weigh(text: &str, source: TextSource, matches: &mut [Match]) {
    let spans: Vec<(usize, usize)> = matches.iter().map(|hit| (hit.start, hit.end)).collect();
    let mut first_of_sentence = usize::MAX;
    let mut before_it: Option<u8> = None;
    for (at, hit) in matches.iter_mut().enumerate() {
        if hit.how == RecognitionMethod::Json {
            hit.weight = if hit.is_nested {
                NESTED_OBJECT
            } else {
                TOP_OBJECT
            };
            continue;
        }
        if source == TextSource::Result {
            hit.weight = NESTED_OBJECT;
            continue;
        }
        let (start, end) = (hit.start, hit.end);
        let (from, is_later) = sentence_of(text, start);
        let before: Vec<&str> = words(text.get(from..start).unwrap_or_default()).collect();
        let is_first = first_of_sentence != from;
        first_of_sentence = from;
        let last = before
            .last()
            .map(|word| word.to_lowercase())
            .unwrap_or_default();
        let last_but_one = before.iter().rev().nth(1).map(|word| word.to_lowercase());
        let is_aside = PREPOSITIONS.contains(&last.as_str())
            || last_but_one
                .as_ref()
                .is_some_and(|word| PREPOSITIONS.contains(&word.as_str()));
        let joins = at
            .checked_sub(1)
            .and_then(|at| spans.get(at))
            .and_then(|last| text.get(last.1..start));
        let is_joined = joins.is_some_and(|gap| {
            matches!(
                gap.trim(),
                "," | "and" | "or" | ", and" | "&" | "`, `" | "` and `"
            )
        });
        let base = if let Some(base) = before_it.filter(|_| is_joined) {
            // "sw-1 and sw-2 are up": both are the subject.
            base
        } else if is_first
            && before.len() <= SUBJECT_WORDS_MAX
            && !is_aside
            && !before
                .iter()
                .any(|word| OTHER_SUBJECTS.contains(&word.to_lowercase().as_str()))
        {
            SUBJECT
        } else if is_aside {
            ASIDE
        } else if is_first {
            FIRST
        } else {
            OTHER
        };
        before_it = Some(base);
        if last == "no" || (last == "the" && last_but_one.as_deref() == Some("no")) {
            // "There is no sw-3."
            hit.weight = ABSENT;
            continue;
        }
        hit.weight = base - if is_later { LATER_LOSS } else { 0 };
        if hit.how == RecognitionMethod::Reference {
            continue;
        }
        let until = spans.get(at + 1).map_or(text.len(), |next| next.0.max(end));
        let since = at
            .checked_sub(1)
            .and_then(|at| spans.get(at))
            .map_or(0, |last| last.1.min(start));
        let is_last = spans.get(at + 1).is_none();
        let said = said_of(text, (since.max(from), start), (end, until), is_last);
        hit.words.extend(said);
        hit.words.truncate(WORDS_MAX);
    }
    if source == TextSource::Result {
        weigh_named_objects(text, matches);
    }
}

/// Returns the words beside a name: before it up to a comma or "and", after it up to the end of the sentence.
///
/// Unless the name is the last one, what follows the last comma or "and" belongs to the next name.
fn said_of(
    text: &str,
    before: (usize, usize),
    after: (usize, usize),
    is_last: bool,
) -> Vec<String> {
    let all = text.get(before.0..before.1).unwrap_or_default();
    let left = all
        .rsplit([',', ';', ':', '\n', '('])
        .next()
        .unwrap_or_default();
    let mut left: Vec<&str> = words(left).collect();
    if left.is_empty() {
        left.extend(called_before(all));
    }
    if let Some(at) = left
        .iter()
        .rposition(|word| matches!(*word, "and" | "or" | "but"))
    {
        left.drain(..=at);
    }
    let surplus = left.len().saturating_sub(BEFORE_MAX);
    let right = text.get(after.0..after.1).unwrap_or_default();
    let ends = right.find(['\n', ';', '!', '?']).unwrap_or(right.len());
    let ends = right.find(". ").map_or(ends, |at| at.min(ends));
    let right = right.get(..ends).unwrap_or_default();
    let right = if is_last || ends < after.1.saturating_sub(after.0) {
        right
    } else {
        let cut = [",", " and ", " or ", " but ", "("]
            .iter()
            .filter_map(|mark| right.rfind(mark))
            .max();
        cut.and_then(|cut| right.get(..cut)).unwrap_or(right)
    };
    let mut said: Vec<String> = Vec::new();
    let beside = left
        .into_iter()
        .skip(surplus)
        .chain(words(right).take(AFTER_MAX));
    for word in beside {
        let word = word.to_lowercase();
        let says = word.len() > 2
            && word.len() <= 24
            && !FUNCTION.contains(&word.as_str())
            && !said.iter().any(|known| stem(known) == stem(&word));
        if says {
            said.push(word);
        }
    }
    said
}

/// Returns the noun that a name explains: "with a helper, `utc_to_tai()`", "a new benchmark: BatBench-9".
fn called_before(before: &str) -> Option<&str> {
    let before = before.trim_end_matches(|c: char| !is_word(c) && c != ',' && c != ':');
    let before = before.strip_suffix([',', ':'])?;
    let mut words = words(before).rev();
    let noun = words.next()?;
    let articles = ["a", "an", "the", "its", "their", "our"];
    words
        .take(2)
        .any(|word| articles.contains(&word))
        .then_some(noun)
}

/// Returns the start of the sentence around an offset, and whether it is a later one.
fn sentence_of(text: &str, at: usize) -> (usize, bool) {
    let mut low = at.saturating_sub(SENTENCE_BYTES_MAX);
    while !text.is_char_boundary(low) {
        low += 1;
    }
    let before = text.get(low..at).unwrap_or_default();
    let mut from = low;
    let mut characters = before.char_indices().peekable();
    while let Some((place, character)) = characters.next() {
        let ends = match character {
            '\n' | ';' => true,
            '.' | '!' | '?' | ':' => characters
                .peek()
                .is_some_and(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if ends {
            from = low + place + character.len_utf8();
        }
    }
    (from, from > 0)
}

fn words(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(|c: char| !is_word(c))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_depths_of_places_in_json() {
        let text = r#"{"id":2,"name": "a\"{","site":{"name":"LA1"}}"#;
        let at = |part: &str| text.find(part).map_or(0, |at| at);
        let places = [at("2"), at("LA1")];
        assert_eq!(depths(text, places.into_iter()), [1, 2]);
        let place = (at("LA1"), at("LA1") + 3);
        assert_eq!(field_of(text, place), Some("name"));
        assert_eq!(field_of(text, (place.0, place.1 - 1)), None, "a part");
        assert_eq!(field_of(text, (at("2"), at("2") + 1)), None);
        assert_eq!(field_of("", (0, 0)), None);
        assert_eq!(field_of("x\"", (5, 9)), None);
    }
}
