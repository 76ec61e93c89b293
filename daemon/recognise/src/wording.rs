//! The wording of names and nouns: parts, abbreviations, the singular.

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
pub(super) fn singular(noun: &str) -> String {
    if let Some(stem) = noun.strip_suffix("ies") {
        return format!("{stem}y");
    }
    for ending in ["sses", "xes", "ches", "shes"] {
        if noun.ends_with(ending) {
            return noun.strip_suffix("es").unwrap_or(noun).to_owned();
        }
    }
    match noun.strip_suffix('s') {
        Some(stem) if !stem.ends_with('s') && stem.len() > 1 => stem.to_owned(),
        _ => noun.to_owned(),
    }
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
