//! Phrases with "it", "that" and "this" that refer to nothing: "it seems", "is it possible", "this way".

use super::words::Words;

/// Verbs after an "it" that means nothing.
const SEEMS: [&str; 22] = [
    "seems", "seemed", "looks", "appears", "makes", "takes", "took", "depends", "turns", "turned",
    "rains", "rained", "snows", "sounds", "happens", "would", "could", "might", "should", "says",
    "matters", "feels",
];
/// Adjectives and nouns of "it is ... to" and "it is ... that".
const JUDGED: [&str; 50] = [
    "possible",
    "impossible",
    "safe",
    "usual",
    "unusual",
    "normal",
    "necessary",
    "hard",
    "easy",
    "difficult",
    "better",
    "best",
    "good",
    "bad",
    "nice",
    "important",
    "interesting",
    "odd",
    "strange",
    "weird",
    "clear",
    "unclear",
    "obvious",
    "likely",
    "unlikely",
    "true",
    "late",
    "early",
    "time",
    "okay",
    "ok",
    "fine",
    "enough",
    "worth",
    "useful",
    "common",
    "wise",
    "sensible",
    "expected",
    "considered",
    "said",
    "known",
    "great",
    "funny",
    "sad",
    "surprising",
    "allowed",
    "recommended",
    "a",
    "easier",
];
/// What "it is" says of the weather and the hour.
const WEATHER: [&str; 14] = [
    "raining",
    "snowing",
    "storming",
    "hailing",
    "freezing",
    "cold",
    "hot",
    "warm",
    "sunny",
    "windy",
    "dark",
    "monday",
    "friday",
    "lunchtime",
];
const BE: [&str; 7] = ["is", "was", "s", "be", "been", "isn", "wasn"];

/// Returns the number of words of a phrase that refers to nothing.
pub(super) fn skipped(words: &Words, at: usize) -> Option<usize> {
    let word = |offset: usize| words.lower(at + offset);
    match (word(0), word(1), word(2)) {
        ("do" | "did" | "does" | "doing" | "done" | "try", "it" | "that" | "this", next)
            if next != "one"
                && is_end_or(
                    words,
                    at + 1,
                    &["that", "this", "the", "again", "now", "then"],
                ) =>
        {
            Some(2)
        }
        ("would" | "could" | "will", "it", "cost" | "take" | "help" | "be" | "make") => Some(3),
        ("keep" | "lose" | "have" | "want" | "do", "both", _)
            if is_end_or(words, at + 1, &["when", "if", "and", "then"]) =>
        {
            Some(2)
        }
        ("keep", "that" | "it", _) if words.ends(at + 1) => Some(2),
        ("in" | "by", "this" | "that", "way" | "case") => Some(3),
        ("this" | "that" | "the", "way" | "time" | "kind" | "sort" | "case" | "moment", _) => {
            Some(2)
        }
        ("leave" | "forget" | "skip", "it" | "that", _) => Some(2),
        (
            "note" | "said" | "so" | "think" | "hope" | "sure" | "say" | "know" | "good" | "odd"
            | "mean" | "means" | "found" | "find" | "means" | "is",
            "that",
            next,
        ) if is_clause_start(next) => Some(2),
        ("that" | "this", "is" | "s" | "was", next)
            if (JUDGED.contains(&next) || is_exclamation(next)) && !words.ends(at) =>
        {
            Some(3)
        }
        ("that", "seems" | "sounds" | "looks" | "helps" | "makes", _) => Some(2),
        ("that" | "it", "s", _) if is_exclamation(word(2)) => Some(2),
        ("that" | "this", "explains" | "explained", _) => Some(3),
        ("it", "getting", _) => Some(2),
        ("it", "s" | "is" | "was", weather) | ("is" | "was", "it", weather)
            if WEATHER.contains(&weather) =>
        {
            Some(3)
        }
        // "It's the pool change" says what something is.
        ("it", "s" | "is" | "was", "the") => Some(2),
        ("it", next, after) => idle_it(words, at, next, after),
        (be, "it", next) if BE.contains(&be) => {
            let after = word(3);
            let joins = matches!(after, "to" | "that" | "if" | "for" | "when" | "how")
                || after.ends_with("ing");
            (JUDGED.contains(&next) && next != "a" && joins).then_some(3)
        }
        ("there", "is" | "are" | "was" | "were" | "s" | "isn" | "any", _)
        | ("is" | "are" | "was" | "were", "there", _) => Some(2),
        _ => None,
    }
}

fn idle_it(words: &Words, at: usize, next: &str, after: &str) -> Option<usize> {
    let word = |offset: usize| words.lower(at + offset);
    if SEEMS.contains(&next) {
        return match next {
            "looks" => (after != "at").then_some(2),
            "makes" => matches!(after, "sense" | "no" | "a" | "me").then_some(2),
            "takes" | "took" | "turns" | "turned" => Some(2),
            "would" | "could" | "might" | "should" => {
                let is_idle = matches!(after, "cost" | "be" | "take" | "help" | "make" | "seem");
                let judged = after != "be" || JUDGED.contains(&word(3));
                (is_idle && judged).then_some(3)
            }
            _ => Some(2),
        };
    }
    if next == "might" || next == "may" {
        return (after == "be").then_some(2);
    }
    if !BE.contains(&next) {
        return None;
    }
    let at_judged = if matches!(
        after,
        "very" | "so" | "too" | "really" | "quite" | "not" | "t" | "a" | "an" | "getting"
    ) {
        3
    } else {
        2
    };
    let judged = word(at_judged);
    if matches!(judged, "late" | "early" | "time" | "getting") || after == "getting" {
        return Some(at_judged + 1);
    }
    if !JUDGED.contains(&judged) && !judged.ends_with("er") {
        return None;
    }
    // "it is odd that", "it was easier than I thought"; "it is interesting." judges something.
    let rest = (1..=4).map(|offset| word(at_judged + offset));
    let joins = rest.take_while(|word| !word.is_empty()).any(|word| {
        matches!(
            word,
            "to" | "that" | "if" | "than" | "how" | "when" | "nobody" | "what" | "whether"
        ) || word.ends_with("ing")
    });
    // The "that" of "it is strange that" refers to nothing, either.
    joins.then_some(at_judged + 1 + usize::from(word(at_judged + 1) == "that"))
}

fn is_exclamation(word: &str) -> bool {
    matches!(
        word,
        "odd"
            | "great"
            | "good"
            | "fine"
            | "nice"
            | "weird"
            | "strange"
            | "bad"
            | "a"
            | "all"
            | "it"
            | "why"
            | "how"
            | "what"
            | "ok"
            | "okay"
            | "right"
            | "true"
            | "too"
            | "enough"
    )
}

fn is_clause_start(word: &str) -> bool {
    matches!(
        word,
        "we" | "i"
            | "you"
            | "he"
            | "she"
            | "they"
            | "it"
            | "the"
            | "there"
            | "nobody"
            | "everybody"
            | "everyone"
            | "no"
            | "all"
            | "some"
            | "a"
            | "an"
            | "this"
            | "these"
            | "our"
            | "your"
            | "my"
    )
}

fn is_end_or(words: &Words, at: usize, next: &[&str]) -> bool {
    words.ends(at) || !words.joins(at) || next.contains(&words.lower(at + 1))
}
