//! References by name in a message: step values and checkpoint keys.

/// Finds names of step values in a message, for example `ID_FROM_STEP_2`: in order, each once, at most `max`.
///
/// A candidate is a word of letters, digits and `_`; `is_name` decides whether it is a name.
pub fn step_names_in(message: &str, max: usize, is_name: impl Fn(&str) -> bool) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for word in words(message) {
        if found.len() == max {
            break;
        }
        let upper = word.to_ascii_uppercase();
        let could_be = upper.contains("_FROM_STEP") || upper.contains("_FROM_FAILED_STEP");
        if could_be && is_name(word) && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

/// Returns the keys that a message contains as words, ignoring case, in the order of `keys`.
///
/// A key can hold any characters. It matches if no letter, digit or `_` precedes or follows it directly.
pub fn keys_in<'k>(message: &str, keys: impl IntoIterator<Item = &'k str>) -> Vec<&'k str> {
    let message = message.to_lowercase();
    let is_named = |key: &&str| is_word_in(&key.to_lowercase(), &message);
    keys.into_iter().filter(is_named).collect()
}

fn is_word_in(key: &str, text: &str) -> bool {
    if key.is_empty() {
        return false;
    }
    text.match_indices(key).any(|(at, found)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let behind = text
            .get(at + found.len()..)
            .and_then(|behind| behind.chars().next());
        !before.is_some_and(is_of_word) && !behind.is_some_and(is_of_word)
    })
}

/// Splits a text into words: runs of letters, digits and `_`.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character| !is_of_word(character))
        .filter(|word| !word.is_empty())
}

fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_step_values_are_found_once_and_in_order() {
        let message = "Use {{ID_FROM_STEP_2}} and `url_from_step_last`, then ID_FROM_STEP_2 again; \
            COMBINED_RESULTS_FROM_STEPS_1_TO_3, but not X_FROM_STEP_ or from step 2.";
        let is_name = |word: &str| !word.ends_with('_');
        let expected = [
            "ID_FROM_STEP_2",
            "url_from_step_last",
            "COMBINED_RESULTS_FROM_STEPS_1_TO_3",
        ];
        assert_eq!(step_names_in(message, 10, is_name), expected);
        assert_eq!(
            step_names_in(message, 1, is_name),
            expected.get(..1).unwrap_or_default()
        );
        assert!(step_names_in("", 10, is_name).is_empty());
    }

    #[test]
    fn keys_are_named_as_words() {
        let keys = ["plan", "api_url", "next step", "a.b", "", "Größe"];
        let named = |message| keys_in(message, keys);
        assert_eq!(named("What does the Plan say?"), ["plan"]);
        assert_eq!(named("the plans are planned, my_plan too"), [""; 0]);
        assert_eq!(
            named("`api_url`, a.b; next step"),
            ["api_url", "next step", "a.b"]
        );
        assert_eq!(named("die größe"), ["Größe"]);
        assert_eq!(named("api_urls"), [""; 0]);
    }
}
