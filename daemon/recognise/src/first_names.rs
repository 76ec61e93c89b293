//! Common first names: whether "she" or "he" stands for a person, and where a text names one.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Two lines of common first names, lower-cased: women's and men's. Names of both are in neither.
const NAMES: &str = include_str!("first_names.txt");

static WOMEN: LazyLock<HashSet<&str>> = LazyLock::new(|| line(0));
static MEN: LazyLock<HashSet<&str>> = LazyLock::new(|| line(1));

/// Words within the names of people that have no capital.
const PARTICLES: [&str; 15] = [
    "van", "von", "de", "der", "den", "del", "della", "da", "di", "du", "la", "le", "bin", "ibn",
    "ter",
];

/// Whether a pronoun may stand for a person, from worst to best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NameMatch {
    /// The first name is one of the other pronoun.
    No,
    /// The first name is not known.
    Perhaps,
    /// The first name is one of this pronoun.
    Yes,
}

fn line(number: usize) -> HashSet<&'static str> {
    let line = NAMES.lines().nth(number).unwrap_or_default();
    line.split(' ').collect()
}

/// Returns whether a lower-case word is a common first name.
pub(crate) fn is_first_name(word: &str) -> bool {
    WOMEN.contains(word) || MEN.contains(word)
}

/// Returns whether a word joins the parts of a person's name: "Ilse van Wyk".
pub(crate) fn is_particle(word: &str) -> bool {
    PARTICLES.contains(&word)
}

/// Returns whether a pronoun may stand for a person of this name. People may be called otherwise than their names
/// suggest, so this only decides between several of them.
pub(crate) fn fits(name: &str, pronoun: &str) -> NameMatch {
    let first = name
        .split(|c: char| !c.is_alphabetic())
        .find(|part| !part.is_empty())
        .unwrap_or_default()
        .to_lowercase();
    let (own, other) = match pronoun.starts_with("he") && !pronoun.starts_with("her")
        || pronoun.starts_with("hi")
    {
        true => (&MEN, &WOMEN),
        false => (&WOMEN, &MEN),
    };
    match (own.contains(&*first), other.contains(&*first)) {
        (true, _) => NameMatch::Yes,
        (false, true) => NameMatch::No,
        (false, false) => NameMatch::Perhaps,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_names_fit_pronouns() {
        for (name, pronoun, fit) in [
            ("Hanne Lindqvist", "she", NameMatch::Yes),
            ("hanne.lindqvist", "hers", NameMatch::Yes),
            ("Marek Dvorak", "her", NameMatch::No),
            ("Marek Dvorak", "himself", NameMatch::Yes),
            ("Marek Dvorak", "he", NameMatch::Yes),
            ("Kim Park", "she", NameMatch::Perhaps),
            ("", "he", NameMatch::Perhaps),
        ] {
            assert_eq!(fits(name, pronoun), fit, "{name} {pronoun}");
        }
    }
}
