//! All words that are one edit away from a word: an insertion, a deletion, a substitution or a swap.

/// Calls `visit` with each word that is one edit away from `word`; some are repeated. The letters tried belong
/// to scripts in which a wrong key is easily hit: Latin, Greek and Cyrillic.
pub fn neighbours(word: &str, visit: &mut dyn FnMut(&str)) {
    let letters: Vec<char> = word.chars().collect();
    let alphabet = alphabet(&letters);
    let mut edited = String::new();
    let mut show = |head: &[char], middle: &[char], tail: &[char]| {
        edited.clear();
        edited.extend(head.iter().chain(middle).chain(tail));
        if edited != word {
            visit(&edited);
        }
    };
    for at in 0..=letters.len() {
        let (head, tail) = letters.split_at(at);
        alphabet.iter().for_each(|one| show(head, &[*one], tail));
        let Some((first, rest)) = tail.split_first() else {
            continue;
        };
        show(head, &[], rest);
        alphabet.iter().for_each(|one| show(head, &[*one], rest));
        if let Some((second, rest)) = rest.split_first() {
            show(head, &[*second, *first], rest);
        }
    }
}

fn alphabet(letters: &[char]) -> Vec<char> {
    let any = |range: std::ops::RangeInclusive<char>| letters.iter().any(|one| range.contains(one));
    let mut alphabet = Vec::new();
    for range in ['a'..='z', '0'..='9', 'α'..='ω', 'а'..='я'] {
        if any(range.clone()) {
            alphabet.extend(range);
        }
    }
    alphabet
}
