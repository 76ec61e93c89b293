//! Words of a text that are parts or misspellings of known names.

use super::near::{Decision, NAMED, NUMBER_CHARS_MIN, NUMBERED};
use super::{TextNames, TextSearch};
use crate::choose::Candidate;
use crate::discourse::singular;
use crate::edges::{is_word, without_punctuation};
use crate::everyday::is_everyday;
use crate::partial::{Run, runs};
use crate::{KnownName, Mention, PossibleMention, RecognitionMethod};
use std::collections::HashSet;

/// Limit on the words of a text that are compared with known names.
const WORDS_MAX: usize = 2000;
/// Shortest misspelt word without a digit, in characters.
const MISSPELT_CHARS_MIN: usize = 5;

impl<'a> TextSearch<'a> {
    /// Finds words that are parts or misspellings of names, one or two words at a time.
    pub(super) fn partial_words(&self, found: &mut TextNames) {
        let chunks = self.chunks(found);
        let word = |chunk: &(usize, usize)| self.text.get(chunk.0..chunk.1).unwrap_or_default();
        let runs: Vec<Vec<Run>> = chunks.iter().map(|chunk| runs(word(chunk))).collect();
        let layers = self.knowledge.gazetteers;
        let mut taken: HashSet<usize> = HashSet::new();
        for count in [2, 1] {
            for at in 0..chunks.len() {
                let Some(last) = chunks.get(at + count - 1) else {
                    break;
                };
                let Some(first) = chunks.get(at) else {
                    break;
                };
                if (at..at + count).any(|one| taken.contains(&one))
                    || (count == 2 && first.1 + 1 != last.0)
                {
                    continue;
                }
                // Most words are like no name.
                let query = runs.iter().skip(at).take(count).flatten();
                if !layers.iter().any(|layer| layer.has_similar(query.clone())) {
                    continue;
                }
                let span = (first.0, last.1);
                let Some(decided) = self.partial_word(span, count) else {
                    continue;
                };
                taken.extend(at..at + count);
                match decided {
                    Ok((mention, score)) => found.names.push(Candidate {
                        start: span.0,
                        end: span.1,
                        confidence: score,
                        what: (RecognitionMethod::Near, mention),
                    }),
                    Err(possible) => found.possible.extend(possible),
                }
            }
        }
        found.names.sort_by_key(|name| name.start);
    }

    #[allow(clippy::type_complexity)]
    fn partial_word(
        &self,
        span: (usize, usize),
        count: usize,
    ) -> Option<Result<(Mention, f32), Vec<PossibleMention>>> {
        let word = self.text.get(span.0..span.1)?;
        let lower = word.to_lowercase();
        let query = runs(word);
        let is_everyday_word = query
            .iter()
            .all(|run| run.is_number || is_everyday(&run.text));
        let has_number = query.iter().any(|run| run.is_number);
        let is_number = query.iter().all(|run| run.is_number);
        let is_begun = count == 1 && self.is_asked_about(span);
        if self.packs.is_kind_word(&lower)
            || self.is_before_kind_noun(span)
            || (is_number && !is_begun && !self.is_number_name(span, word))
        {
            return None;
        }
        let is_structured = query.len() > 1 && count == 1;
        if count == 1 && is_everyday_word && !has_number && !is_begun && !is_structured {
            return None;
        }
        let chars = word.chars().count();
        let mut near = self.near(&query, None);
        near.retain(|one| {
            // A whole name that is not evident here is none in part either.
            if one.name.alias.to_lowercase() == lower {
                return false;
            }
            let own = runs(&one.name.alias);
            let is_equal = query.iter().all(|run| own.contains(run));
            let is_own_everyday = own
                .iter()
                .all(|run| run.is_number || is_everyday(&run.text));
            if is_number {
                // A long number names whatever has it; a short one only what people number.
                return is_equal
                    && (chars >= NUMBER_CHARS_MIN || NUMBERED.contains(&&*one.name.kind));
            }
            if is_begun && is_everyday_word {
                return is_equal;
            }
            if count == 2 && is_everyday_word {
                return is_equal && own.len() <= 3;
            }
            let least = if NAMED.contains(&&*one.name.kind) {
                MISSPELT_CHARS_MIN - 1
            } else {
                MISSPELT_CHARS_MIN
            };
            is_equal || has_number || is_structured || (chars >= least && !is_own_everyday)
        });
        match self.decide(&near, !has_number) {
            Decision::Nothing => None,
            Decision::One(one)
                if (is_begun && is_everyday_word) || (!has_number && is_of_title(one.name)) =>
            {
                Some(Err(vec![self.possible(one, span)]))
            }
            Decision::One(one) => Some(Ok((Mention::of_known(one.name), one.score))),
            Decision::Several(all) => Some(Err(all
                .into_iter()
                .map(|one| self.possible(one, span))
                .collect())),
        }
    }

    /// Returns whether a word describes the kind noun behind it: "the redis branch", "Chen's paper".
    fn is_before_kind_noun(&self, (start, end): (usize, usize)) -> bool {
        let behind = self.text.get(end..).unwrap_or_default();
        let is_owner = behind.starts_with("'s ") || behind.starts_with("’s ");
        let from = if is_owner {
            end + behind.find(' ').unwrap_or(0)
        } else {
            end
        };
        let noun = self.after(from).to_lowercase();
        let before = self.before(start).to_lowercase();
        let is_kind = self.packs.is_kind_word(&noun) || {
            let single = singular(&noun);
            let past = self.knowledge.past.iter().flat_map(|text| &text.mentions);
            past.into_iter().any(|past| *past.mention.kind == single)
        };
        let has_article = matches!(
            before.as_str(),
            "the"
                | "that"
                | "this"
                | "these"
                | "those"
                | "two"
                | "three"
                | "both"
                | "all"
                | "other"
                | "first"
                | "last"
        );
        !noun.is_empty() && is_kind && (is_owner || has_article)
    }

    /// Returns whether a word is what a short question is about: "and invoice?", "what about labels?".
    fn is_asked_about(&self, (start, end): (usize, usize)) -> bool {
        let before = self
            .text
            .get(..start)
            .unwrap_or_default()
            .trim()
            .to_lowercase();
        let after = self.text.get(end..).unwrap_or_default().trim();
        matches!(
            before.as_str(),
            "and" | "and the" | "what about" | "how about" | "or"
        ) && after.chars().all(|c| c.is_ascii_punctuation())
    }

    /// Returns whether a number is used as the name of a thing: "merge 8805 into", "the state of 74".
    fn is_number_name(&self, (start, end): (usize, usize), word: &str) -> bool {
        let before = self.before(start).to_lowercase();
        let after = self.after(end).to_lowercase();
        let is_unit =
            after.ends_with('s') && !matches!(after.as_str(), "is" | "was" | "does" | "has");
        let percent = self
            .text
            .get(end..)
            .unwrap_or_default()
            .trim_start()
            .starts_with('%');
        let joins_names = word.len() >= NUMBER_CHARS_MIN
            && matches!(
                before.as_str(),
                "to" | "for" | "by" | "and" | "or" | "about" | "from"
            );
        word.len() >= 2
            && !is_unit
            && !percent
            && !before.is_empty()
            && (joins_names
                || !matches!(
                    before.as_str(),
                    "to" | "at"
                        | "in"
                        | "for"
                        | "by"
                        | "and"
                        | "or"
                        | "than"
                        | "top"
                        | "about"
                        | "version"
                        | "port"
                        | "room"
                        | "level"
                        | "page"
                        | "since"
                        | "line"
                        | "until"
                        | "from"
                ))
    }

    /// Returns the spans of the words outside of names, without punctuation and `'s`.
    fn chunks(&self, found: &TextNames) -> Vec<(usize, usize)> {
        let is_taken = |start: usize, end: usize| {
            let names = found.names.iter().map(|name| (name.start, name.end));
            let possible = found.possible.iter().map(|one| (one.start, one.end));
            names
                .chain(possible)
                .any(|(from, to)| from < end && start < to)
        };
        let mut chunks = Vec::new();
        let mut at = 0;
        for chunk in self.text.split(char::is_whitespace) {
            let start = at;
            at += chunk.len()
                + self
                    .text
                    .get(at + chunk.len()..)
                    .and_then(|rest| rest.chars().next())
                    .map_or(0, char::len_utf8);
            let opened = chunk.len() - chunk.trim_start_matches(|c: char| !is_word(c)).len();
            let word = without_punctuation(chunk.get(opened..).unwrap_or_default());
            let word = word.trim_end_matches(|c: char| !is_word(c));
            let word = word
                .strip_suffix("'s")
                .or_else(|| word.strip_suffix("’s"))
                .unwrap_or(word);
            let (start, end) = (start + opened, start + opened + word.len());
            if chunks.len() == WORDS_MAX {
                break;
            }
            if word.len() >= 2 && word.len() <= 64 && !is_taken(start, end) {
                chunks.push((start, end));
            }
        }
        chunks
    }
}

/// Returns whether a name is the title of a piece of work, which people call by its number: a word of such a title often
/// means what the work is about.
fn is_of_title(name: &KnownName) -> bool {
    let is_work = matches!(
        &*name.kind,
        "issue" | "pull_request" | "ticket" | "task" | "incident" | "case"
    );
    is_work && name.alias != name.name && name.alias.contains(' ')
}
