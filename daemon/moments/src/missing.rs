//! The name that a failed command misses, and the like name that another one printed: "harbor-db" is "harbour-db".

use crate::text::list::WordList;

/// What a failure says of a name that is not there.
static MISSING: WordList = WordList::new(
    "not found | no such | does not exist | doesn't exist | did not match | could not find | cannot find | can't find | \
    no rule to make target | unknown | not recognized | unrecognized | notfound | no matching",
);

/// The failure itself names what may have been meant.
static ADVICE: WordList =
    WordList::new("did you mean | similar name | most similar | perhaps you meant");

/// Lines of an output that are read, the first and the last ones.
const LINES_MAX: usize = 40;
/// Bytes of a line that are read.
const LINE_BYTES_MAX: usize = 400;
/// Words of a command that may be missing.
const ARGUMENTS_MAX: usize = 16;
/// Letters and digits of a missing name at least, and those of names that are compared letter by letter.
const NAME_MIN: usize = 4;
const ALIKE_MIN: usize = 6;
/// Share of the longer of two names that both begin with.
const COMMON_SHARE: f32 = 0.7;

/// Share of a printed name that the missing one is, and of the missing name that a printed one is: in a project "tide", many
/// names begin so.
const LONGER_SHARE: f32 = 0.5;
const SHORTER_SHARE: f32 = 0.7;

/// How near a printed name is to a missing one; the nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchQuality {
    /// They differ in marks alone.
    Marks,
    /// One continues the other.
    Longer,
    /// They differ in a few letters.
    Letters,
}

/// Returns the words of a failed command that its error says are missing; none if the error itself names another one.
#[must_use]
pub fn missing_names(command: &str, output: &str) -> Vec<String> {
    let all: Vec<&str> = output.lines().collect();
    let ends = all
        .iter()
        .take(LINES_MAX)
        .chain(all.iter().skip(LINES_MAX).rev().take(LINES_MAX));
    let lines: Vec<String> = ends
        .map(|line| crate::text::beginning(line, LINE_BYTES_MAX).to_lowercase())
        .collect();
    let is_any = |list: &WordList, line: &String| list.iter().any(|phrase| line.contains(phrase));
    if lines.iter().any(|line| is_any(&ADVICE, line)) {
        return Vec::new();
    }
    let errors: Vec<&String> = lines.iter().filter(|line| is_any(&MISSING, line)).collect();
    let mut names: Vec<String> = Vec::new();
    for word in command.split_whitespace().skip(1).take(ARGUMENTS_MAX) {
        for name in word
            .split(['/', ':', '=', ','])
            .filter(|name| is_name(name))
        {
            let name = name.to_lowercase();
            if errors.iter().any(|error| has_word(error, &name)) && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// Returns how near the nearest word of a printed line is to a missing name, with that word. `Err` if the line has the very
/// name: it is not missing everywhere.
pub fn nearest<'l>(name: &str, line: &'l str) -> Result<Option<(MatchQuality, &'l str)>, ()> {
    let mut best = None;
    let words = line.split(|c: char| {
        c.is_whitespace() || matches!(c, '/' | '|' | ',' | '=' | '"' | '\'' | '`')
    });
    for word in words {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        // "tide-worker.service", "lint-all: runs every linter".
        let stem = word.split([':', '.']).next().unwrap_or(word);
        for printed in [word, stem] {
            if printed.eq_ignore_ascii_case(name) {
                return Err(());
            }
            let near = quality(name, printed).map(|near| (near, printed));
            best = match (best, near) {
                (Some(best), Some(near)) => Some(std::cmp::min_by_key(
                    best,
                    near,
                    |one: &(MatchQuality, &str)| one.0,
                )),
                (best, near) => best.or(near),
            };
        }
    }
    Ok(best)
}

fn quality(name: &str, printed: &str) -> Option<MatchQuality> {
    let (one, other) = (letters(name), letters(printed));
    if one.len() < NAME_MIN || other.len() < NAME_MIN {
        return None;
    }
    if one == other {
        return Some(MatchQuality::Marks);
    }
    let printed = printed.to_lowercase();
    let share = one.len().min(other.len()) as f32 / one.len().max(other.len()) as f32;
    let is_most = (continues(&printed, name) && share >= LONGER_SHARE)
        || (continues(name, &printed) && share >= SHORTER_SHARE);
    if is_most {
        return Some(MatchQuality::Longer);
    }
    let common = one
        .iter()
        .zip(&other)
        .take_while(|(one, other)| one == other)
        .count();
    let longer = one.len().max(other.len());
    let is_long = one.len().min(other.len()) >= ALIKE_MIN;
    let is_alike =
        common as f32 >= COMMON_SHARE * longer as f32 || is_one_letter_off(&one, &other, common);
    (is_long && is_alike).then_some(MatchQuality::Letters)
}

/// Whether a name is another one and more, behind a mark.
fn continues(longer: &str, shorter: &str) -> bool {
    longer
        .strip_prefix(shorter)
        .is_some_and(|rest| rest.starts_with(['-', '_', '.', ':']))
}

/// Whether two names that begin alike differ in one letter: another one, one more or one less.
fn is_one_letter_off(one: &[char], other: &[char], common: usize) -> bool {
    let (one, other) = (one.get(common..), other.get(common..));
    let (Some(one), Some(other)) = (one, other) else {
        return false;
    };
    let rest = |of: &'_ [char], skipped: usize| of.get(skipped..).map(<[char]>::to_vec);
    let is_equal = |skipped: (usize, usize)| {
        let pair = rest(one, skipped.0).zip(rest(other, skipped.1));
        pair.is_some_and(|(one, other)| one == other)
    };
    is_equal((1, 1)) || is_equal((0, 1)) || is_equal((1, 0))
}

fn letters(name: &str) -> Vec<char> {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// Whether a word of a command may name a thing: options do not.
fn is_name(word: &str) -> bool {
    !word.starts_with('-') && letters(word).len() >= NAME_MIN && word.contains(char::is_alphabetic)
}

/// Whether a line has a name between other characters than those of names; an ending may follow it.
fn has_word(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let joins = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        let after = line
            .get(at + name.len()..)
            .and_then(|after| after.chars().next());
        !before.is_some_and(|c| joins(c) || c == '.') && !after.is_some_and(joins)
    })
}
