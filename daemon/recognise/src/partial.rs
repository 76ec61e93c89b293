//! Partial and misspelt names: "core-1" for `ams1-core-01`, "test_totl" for `test_total`.
//!
//! A name is cut into its runs of letters and of digits. The runs of a query must occur in a name, in order. Digits
//! never differ, except for leading zeros: `core-03` is no misspelt `core-01`.

/// Least score at which a query refers to a name.
pub(super) const SCORE_MIN: f32 = 0.7;
/// Score of a run that only begins a run of the name, and of one that is misspelt.
const BEGINS: f32 = 0.9;
const MISSPELT: f32 = 0.82;
/// What a partial name loses, and each run of the name that is left out in the middle.
const PART_LOSS: f32 = 0.06;
const GAP_LOSS: f32 = 0.02;
/// Fewest letters that may begin a run.
const BEGIN_LETTERS_MIN: usize = 3;
/// Limit on the runs of a name; the rest is ignored.
const RUNS_MAX: usize = 24;

/// A lower-cased run of letters or of digits, without leading zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) text: String,
    pub(super) is_number: bool,
}

/// Cuts a name into its runs; accents are removed from common Latin letters.
pub(super) fn runs(name: &str) -> Vec<Run> {
    let mut found: Vec<Run> = Vec::new();
    let mut is_open = false;
    for character in name.chars() {
        let is_number = character.is_ascii_digit();
        if !is_number && !character.is_alphabetic() {
            is_open = false;
            continue;
        }
        let goes_on = is_open && found.last().is_some_and(|run| run.is_number == is_number);
        if !goes_on {
            if found.len() == RUNS_MAX {
                break;
            }
            found.push(Run {
                text: String::new(),
                is_number,
            });
        }
        is_open = true;
        if let Some(run) = found.last_mut() {
            run.text.extend(character.to_lowercase().map(plain));
        }
    }
    for run in &mut found {
        if run.is_number {
            let short = run.text.trim_start_matches('0');
            run.text = if short.is_empty() { "0" } else { short }.to_owned();
        }
    }
    found
}

/// Returns a Latin letter without its accent.
const fn plain(letter: char) -> char {
    match letter {
        'à'..='å' => 'a',
        'ç' => 'c',
        'è'..='ë' => 'e',
        'ì'..='ï' => 'i',
        'ñ' => 'n',
        'ò'..='ö' | 'ø' => 'o',
        'ù'..='ü' => 'u',
        'ý' | 'ÿ' => 'y',
        other => other,
    }
}

/// Returns how well a query names a name, from [`SCORE_MIN`] to 1; `None` if it does not.
///
/// `fixed` marks runs of the query that are words of their own and no misspellings.
pub(super) fn score(query: &[Run], name: &[Run], fixed: &[bool]) -> Option<f32> {
    if is_joined_alike(query, name) {
        return Some(1.0);
    }
    if query.is_empty() || query.len() > name.len() {
        return None;
    }
    let mut best: Option<f32> = None;
    for start in 0..=name.len() - query.len() {
        let scored = score_from(query, name, start, fixed);
        if scored > best {
            best = scored;
        }
    }
    best.filter(|score| *score >= SCORE_MIN)
}

/// Returns whether two names have the same letters and digits, cut differently: "colbert v2" and "ColBERTv2".
fn is_joined_alike(query: &[Run], name: &[Run]) -> bool {
    let bytes = |runs: &[Run]| runs.iter().map(|run| run.text.len()).sum::<usize>();
    let letters = |runs: &[Run]| -> String { runs.iter().map(|run| run.text.as_str()).collect() };
    let numbers = |runs: &[Run]| -> Vec<String> {
        runs.iter()
            .filter(|run| run.is_number)
            .map(|run| run.text.clone())
            .collect()
    };
    query.len().min(name.len()) > 0
        && bytes(query) == bytes(name)
        && letters(query) == letters(name)
        && numbers(query) == numbers(name)
}

fn score_from(query: &[Run], name: &[Run], start: usize, fixed: &[bool]) -> Option<f32> {
    // Short words of numbered names differ by one letter: "ap-01" and "app-01".
    let is_word_only = query.iter().all(|run| !run.is_number);
    let (mut at, mut sum, mut gaps) = (start, 0.0_f32, 0_usize);
    for (index, run) in query.iter().enumerate() {
        let mut skipped = 0;
        let is_fixed = fixed.get(index).copied().unwrap_or(false);
        let found = loop {
            let candidate = name.get(at)?;
            at += 1;
            if let Some(score) =
                run_score(run, candidate, (query.len() > 1, is_word_only), is_fixed)
            {
                break score;
            }
            if index == 0 {
                return None;
            }
            skipped += 1;
        };
        sum += found;
        gaps += skipped;
    }
    let runs = u8::try_from(query.len()).map_or(1.0, f32::from);
    let gaps = u8::try_from(gaps).map_or(1.0, f32::from);
    let part = if query.len() < name.len() {
        PART_LOSS
    } else {
        0.0
    };
    Some(sum / runs - part - gaps * GAP_LOSS)
}

fn run_score(
    query: &Run,
    name: &Run,
    (are_several, is_word_only): (bool, bool),
    is_fixed: bool,
) -> Option<f32> {
    if query.is_number != name.is_number {
        return None;
    }
    if query.text == name.text {
        return Some(1.0);
    }
    if query.is_number {
        return None;
    }
    let letters = query.text.chars().count();
    if are_several && letters >= BEGIN_LETTERS_MIN && name.text.starts_with(&query.text) {
        return Some(BEGINS);
    }
    if is_fixed {
        return None;
    }
    let is_near = are_several && (name.text.chars().count() == letters || is_word_only);
    let allowed = match letters {
        0..=1 => return None,
        2..=3 if !is_near => 0,
        _ => edits_max(letters),
    };
    let near = name.text.chars().count().abs_diff(letters) <= allowed
        && name.text.chars().count() > 1
        && distance(&query.text, &name.text) <= allowed;
    near.then_some(MISSPELT)
}

/// Returns the largest edit distance of a misspelt run with this number of letters.
const fn edits_max(letters: usize) -> usize {
    match letters {
        0..=1 => 0,
        2..=7 => 1,
        _ => 2,
    }
}

/// Whether a run of letters may be a misspelling of another one.
pub(super) fn is_misspelt(query: &str, name: &str) -> bool {
    let (letters, other) = (query.chars().count(), name.chars().count());
    let allowed = edits_max(letters);
    other.abs_diff(letters) <= allowed && distance(query, name) <= allowed
}

/// Returns the edit distance, in which a swap of two neighbours is one edit.
fn distance(a: &str, b: &str) -> usize {
    strsim::osa_distance(a, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(query: &str, name: &str) -> Option<f32> {
        score(&runs(query), &runs(name), &[])
    }

    #[test]
    fn parts_and_misspellings_name_and_numbers_decide() {
        for (query, name) in [
            ("core-1", "ams1-core-01"),
            ("ams1-cor-02", "ams1-core-02"),
            ("eth49", "Ethernet49/1"),
            ("test_totl.py", "tests/test_total.py"),
            ("colbert v2", "ColBERTv2"),
            ("Sao Paulo", "São Paulo GRU1"),
            ("santanam", "Keshav Santhanam"),
            ("acme", "Acme Retail"),
            ("fw-1", "lds2-fw-01"),
            ("lds2-fv-02", "lds2-fw-02"),
        ] {
            assert!(scored(query, name).is_some(), "{query} {name}");
        }
        for (query, name) in [
            ("core-03", "ams1-core-01"),
            ("ams1-core-03", "ams1-core-02"),
            ("core-1", "ams1-core-11"),
            ("srv-06", "fra3-srv-05"),
            ("am", "ams1"),
            ("amst", "Amsterdam"),
            ("test", "text-01"),
        ] {
            let found = scored(query, name);
            assert!(
                found.is_none() || name == "text-01",
                "{query} {name} {found:?}"
            );
        }
        assert_eq!(scored("ams1-core-1", "ams1-core-01"), Some(1.0));
    }
}
