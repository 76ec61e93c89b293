//! The wording of names and nouns: parts, abbreviations, the singular.

use std::borrow::Cow;

/// Returns whether a part of a name stands for a noun: "enc" for encoder, "db" for database, "fw" for firewall.
pub(super) fn is_short_for(part: &str, noun: &str) -> bool {
    if part.len() < 2 || part.len() > 5 || noun.len() < part.len() + 2 || noun.len() < 5 {
        return false;
    }
    if part.len() >= 3 && noun.starts_with(part) {
        return true;
    }
    let mut letters = noun.chars();
    let mut own = part.chars();
    if letters.next() != own.next() {
        return false;
    }
    // The consonants of the noun, in order.
    let is_consonant = |c: char| c.is_ascii_lowercase() && !"aeiou".contains(c);
    own.all(|c| is_consonant(c) && letters.any(|letter| letter == c))
}

/// Returns the lower-cased parts of a name; runs of letters and digits are parts, too.
pub(super) fn parts(name: &str) -> Vec<String> {
    let mut parts: Vec<String> = crate::partial::runs(name)
        .into_iter()
        .map(|run| run.text)
        .collect();
    for word in name.split(|c: char| !c.is_alphanumeric()) {
        let word = word.to_lowercase();
        if !word.is_empty() && !parts.contains(&word) {
            parts.push(word);
        }
    }
    parts
}

/// Returns the singular of an English noun.
pub(super) fn singular(noun: &str) -> Cow<'_, str> {
    let Some(stem) = noun.strip_suffix('s') else {
        return Cow::Borrowed(noun);
    };
    if let Some(stem) = stem.strip_suffix("ie") {
        return Cow::Owned(format!("{stem}y"));
    }
    let shorter = stem.strip_suffix('e').filter(|stem| {
        ["ss", "x", "ch", "sh"]
            .iter()
            .any(|end| stem.ends_with(end))
    });
    Cow::Borrowed(match shorter {
        Some(shorter) => shorter,
        None if !stem.ends_with('s') && stem.len() > 1 => stem,
        None => noun,
    })
}

/// Returns a key or a type in small letters with `_` between its words: `jobName` is `job_name`.
pub(super) fn snake_case(key: &str) -> String {
    let mut snake = String::with_capacity(key.len() + 4);
    for character in key.chars() {
        if character.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}
