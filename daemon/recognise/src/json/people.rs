//! People whom a field names: `"installed_by": "Magnus Leask"`.

use crate::everyday::is_everyday;
use crate::first_names::is_particle;

/// Fields with people, besides those that end with "by" and those of the packs.
const PERSON_FIELDS: [&str; 17] = [
    "reporter",
    "requester",
    "owner",
    "contact",
    "lead",
    "manager",
    "engineer",
    "technician",
    "responder",
    "on_call",
    "oncall",
    "supervisor",
    "maintainer",
    "speaker",
    "organizer",
    "sender",
    "teacher",
];
/// Limit on the words of a person's name.
const WORDS_MAX: usize = 4;
/// Returns whether a field says who did something, or who is responsible.
pub(super) fn is_person_field(field: &str) -> bool {
    field.ends_with("_by") || field.ends_with("By") || PERSON_FIELDS.contains(&field)
}

/// Returns whether a field holds the name of a person.
pub(super) fn is_person(field: &str, text: &str) -> bool {
    is_person_field(field) && is_person_name(text)
}

/// Returns whether a text has the form of a person's name: two to four words with capitals, none of them everyday language.
pub(super) fn is_person_name(text: &str) -> bool {
    let words: Vec<&str> = text.split(' ').collect();
    let is_word = |word: &&str| {
        let mut letters = word.chars();
        let is_capital = letters.next().is_some_and(char::is_uppercase);
        let rest = |c: char| c.is_alphabetic() || matches!(c, '-' | '\'' | '’' | '.');
        let is_shouted = word.len() > 3 && !word.chars().any(char::is_lowercase);
        is_particle(word) || (is_capital && letters.all(rest) && !is_shouted)
    };
    let is_own = |word: &&str| is_particle(word) || !is_everyday(&word.to_lowercase());
    (2..=WORDS_MAX).contains(&words.len()) && words.iter().all(is_word) && words.iter().all(is_own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_hold_the_names_of_people() {
        for (field, text) in [
            ("installed_by", "Magnus Leask"),
            ("createdBy", "Ilse van Wyk"),
            ("owner", "Anne-Marie O'Neill"),
            ("on_call", "J. Ström"),
        ] {
            assert!(is_person(field, text), "{field} {text}");
        }
        for (field, text) in [
            ("installed_by", "apt"),
            ("sorted_by", "Name"),
            ("owner", "Platform Team"),
            ("owner", "PAYMENTS OPS"),
            ("title", "Magnus Leask"),
            ("created_by", "b.ek"),
            ("owner", ""),
        ] {
            assert!(!is_person(field, text), "{field} {text}");
        }
    }
}
