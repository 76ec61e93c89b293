//! People whom a text names by a common first name and a surname.

use crate::edges::is_word;
use crate::everyday::is_everyday;
use crate::first_names::{is_first_name, is_particle};

/// Limit on the names of people that are taken from a text.
const PEOPLE_MAX: usize = 64;
/// Shortest first name that is taken from prose, in bytes.
const FIRST_BYTES_MIN: usize = 3;
/// First names that are also words, months, places and titles: "Summer Sale", "Georgia Tech", "Crystal Reports".
const AMBIGUOUS: [&str; 104] = [
    "april",
    "june",
    "august",
    "auguste",
    "summer",
    "autumn",
    "hope",
    "faith",
    "grace",
    "ruby",
    "jade",
    "amber",
    "crystal",
    "pearl",
    "opal",
    "holly",
    "rosemary",
    "hazel",
    "olive",
    "violet",
    "poppy",
    "daisy",
    "iris",
    "sierra",
    "georgia",
    "victoria",
    "florence",
    "carolina",
    "charlotte",
    "virginia",
    "madison",
    "austin",
    "houston",
    "lincoln",
    "jackson",
    "jordan",
    "chester",
    "lance",
    "chase",
    "grant",
    "clay",
    "dean",
    "drake",
    "duke",
    "mark",
    "will",
    "bill",
    "frank",
    "jack",
    "dale",
    "glen",
    "heath",
    "hunter",
    "carter",
    "mason",
    "cooper",
    "parker",
    "taylor",
    "tanner",
    "tucker",
    "foster",
    "harris",
    "harrison",
    "nelson",
    "wilson",
    "morgan",
    "sterling",
    "prosper",
    "modeste",
    "constance",
    "mercy",
    "prudence",
    "verity",
    "christian",
    "bailey",
    "brooke",
    "gene",
    "kelvin",
    "newton",
    "miles",
    "even",
    "kent",
    "jose",
    "ling",
    "max",
    "rex",
    "ace",
    "art",
    "jay",
    "kit",
    "ken",
    "don",
    "guy",
    "ram",
    "dev",
    "min",
    "tor",
    "per",
    "fei",
    "may",
    "joy",
    "ivy",
    "rob",
    "pat",
];

/// Returns the places of names such as "Magnus Leask" and "Ilse van Wyk".
pub(super) fn names(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut words = words(text).peekable();
    while let Some((start, first)) = words.next() {
        if !is_capitalised(first) || found.len() == PEOPLE_MAX {
            continue;
        }
        let lower = first.to_lowercase();
        let is_clear = first.len() >= FIRST_BYTES_MIN && !AMBIGUOUS.contains(&&*lower);
        if !is_clear || !is_first_name(&lower) || is_everyday(&lower) {
            continue;
        }
        let mut end = start + first.len();
        let mut surname = None;
        while let Some((at, word)) = words.peek().copied() {
            let is_beside = text.get(end..at) == Some(" ");
            let is_between = surname.is_none() && is_particle(word);
            if !is_beside || !(is_between || is_capitalised(word)) {
                break;
            }
            words.next();
            end = at + word.len();
            if !is_between {
                surname = Some(word);
                // "Ana Sofía Reyes" has two first names.
                if !is_first_name(&word.to_lowercase()) {
                    break;
                }
            }
        }
        // "Anna Tuesday" is no person.
        if surname.is_some_and(|surname| !is_everyday(&surname.to_lowercase())) {
            found.push((start, end));
        }
    }
    found
}

fn is_capitalised(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_uppercase)
        && letters.clone().next().is_some_and(char::is_lowercase)
        && letters.all(|c| c.is_alphabetic() || c == '-')
}

/// Returns the words of a text with their places; a hyphen belongs to a word.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| is_word(c) || c == '-';
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let start = at + rest.find(is_part)?;
        let rest = text.get(start..)?;
        let end = start + rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        at = end;
        Some((start, text.get(start..end)?))
    })
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn a_first_name_and_a_surname_are_a_person() {
        for (text, found) in [
            ("put in by Magnus Leask in May", vec!["Magnus Leask"]),
            (
                "Peter van Damme and Anna Björk agree",
                vec!["Peter van Damme", "Anna Björk"],
            ),
            ("Ask Magnus. Leask is a place", vec![]),
            ("Anna Tuesday", vec![]),
            ("peter schmidt", vec![]),
            ("Will Report", vec![]),
            ("", vec![]),
        ] {
            let names: Vec<&str> = names(text)
                .into_iter()
                .map(|(from, to)| &text[from..to])
                .collect();
            assert_eq!(names, found, "{text}");
        }
    }
}
