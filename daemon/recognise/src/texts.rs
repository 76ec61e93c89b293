//! The names in a text: known names, patterns, and parts or misspellings of known names.

use super::choose::{Candidate, choose};
use super::edges::{is_word, without_punctuation};
use super::everyday::{is_bare, is_everyday};
use super::gazetteer::search_all;
use super::names::{canonical_key, shown_name};
use super::packs::PackSet;
use super::partial::{Run, SCORE_MIN, runs, score};
use super::tables;
use super::{
    Gazetteer, Knowledge, KnownName, Mention, PossibleMention, RecognitionMethod, TextSource,
};
use std::collections::HashSet;

/// Confidence of a name known to the session, and of one known to its project.
const SESSION_CONFIDENCE: f32 = 0.97;
const PROJECT_CONFIDENCE: f32 = 0.96;
/// Confidence of a cell of a table whose column holds a kind.
const CELL_CONFIDENCE: f32 = 0.98;
/// Scores that differ less are equal.
const TIE: f32 = 0.05;
/// Limit on the words of a text that are compared with known names.
const WORDS_MAX: usize = 2000;
/// Shortest misspelt word without a digit, in characters.
const MISSPELT_CHARS_MIN: usize = 5;
/// A name of more words is a title, and no word of it a name.
const TITLE_WORDS_MIN: usize = 4;
/// Kinds whose names have no parts that name them.
const WHOLE: [&str; 10] = [
    "ip_address",
    "prefix",
    "mac_address",
    "url",
    "email",
    "commit",
    "error_code",
    "exception",
    "environment_variable",
    "host",
];
/// Kinds that a plain word names rather than the numbered things that have it in their names.
const NAMED: [&str; 7] = [
    "person", "contact", "tenant", "site", "customer", "company", "author",
];

/// The names found in a text.
#[derive(Default)]
pub(super) struct TextNames {
    /// Without overlaps, in order.
    pub(super) names: Vec<Candidate<(RecognitionMethod, Mention)>>,
    pub(super) possible: Vec<PossibleMention>,
    pub(super) marked: Vec<String>,
}

/// Finds the names in a text.
pub(super) fn names_in(packs: &PackSet, text: &str, knowledge: &Knowledge<'_>) -> TextNames {
    /// Converted to a mention only when selected, because most candidates are not.
    enum CandidateMention<'a> {
        Known(&'a KnownName),
        Cell(Mention),
        Pattern(usize),
    }
    let finder = TextSearch {
        packs,
        text,
        knowledge,
    };
    let layers: Vec<&Gazetteer> = knowledge
        .gazetteers
        .iter()
        .copied()
        .chain(knowledge.project)
        .collect();
    let mut candidates = Vec::new();
    search_all(&layers, text, |layer, start, end, name| {
        let is_project = layer >= knowledge.gazetteers.len();
        let word = text.get(start..end).unwrap_or_default();
        if !packs.is_kind_word(&word.to_lowercase())
            && finder.is_evident((start, end), name, is_project)
        {
            candidates.push(Candidate {
                start,
                end,
                confidence: if is_project {
                    PROJECT_CONFIDENCE
                } else {
                    SESSION_CONFIDENCE
                },
                what: CandidateMention::Known(name),
            });
        }
    });
    candidates.extend(
        tables::cells(packs, text, knowledge)
            .into_iter()
            .map(|cell| Candidate {
                start: cell.start,
                end: cell.end,
                confidence: CELL_CONFIDENCE,
                what: CandidateMention::Cell(cell.mention),
            }),
    );
    candidates.extend(packs.find(text).map(|(rule, (start, end))| Candidate {
        start,
        end,
        confidence: rule.confidence,
        what: CandidateMention::Pattern(rule.kind),
    }));
    let mut found = TextNames::default();
    for candidate in choose(candidates) {
        let (start, end) = (candidate.start, candidate.end);
        let (confidence, what) = match candidate.what {
            CandidateMention::Known(name) => (
                candidate.confidence,
                Some((RecognitionMethod::Known, Mention::of_known(name))),
            ),
            CandidateMention::Cell(mention) => {
                let known = finder.known(&mention.kind, &mention.name);
                let mention = known.map_or(mention, Mention::of_known);
                (
                    candidate.confidence,
                    Some((RecognitionMethod::Json, mention)),
                )
            }
            CandidateMention::Pattern(kind) => {
                let Some(kind) = packs.kinds.get(kind) else {
                    continue;
                };
                let confidence = candidate.confidence;
                finder.of_pattern(&kind.name, (start, end), confidence, &mut found)
            }
        };
        found.names.extend(what.map(|what| Candidate {
            start,
            end,
            confidence,
            what,
        }));
    }
    if knowledge.source != TextSource::Result && !layers.is_empty() {
        finder.partial_words(&mut found);
    }
    found
}

struct TextSearch<'a> {
    packs: &'a PackSet,
    text: &'a str,
    knowledge: &'a Knowledge<'a>,
}

/// A known name that a partial one may mean.
struct NearName<'a> {
    name: &'a KnownName,
    score: f32,
}

impl<'a> TextSearch<'a> {
    /// Returns the mention of a name that a pattern found.
    fn of_pattern(
        &self,
        kind: &str,
        span: (usize, usize),
        confidence: f32,
        found: &mut TextNames,
    ) -> (f32, Option<(RecognitionMethod, Mention)>) {
        let name = self.text.get(span.0..span.1).unwrap_or_default();
        let line = self.text.get(..span.0).unwrap_or_default();
        let line = line.rsplit('\n').next().unwrap_or_default();
        if kind == "commit" && is_diff_index(line) {
            // The hashes of a diff's index are those of files.
            return (confidence, None);
        }
        let name = if kind == "file_path" {
            without_side(name, line)
        } else {
            name
        };
        if let Some(known) = self.known(kind, name) {
            return (
                confidence,
                Some((RecognitionMethod::Pattern, Mention::of_known(known))),
            );
        }
        let lower = name
            .trim_end_matches("()")
            .trim_end_matches('!')
            .to_lowercase();
        let needs_evidence =
            matches!(kind, "symbol" | "device_role") && is_bare(&lower) && is_everyday(&lower);
        if needs_evidence && !self.is_beside_kind_word(span, kind) && !self.is_known_part(&lower) {
            // Marked by two texts independently: that is evidence.
            let is_again = self
                .knowledge
                .past
                .iter()
                .any(|past| past.marked.contains(&lower));
            if !is_again {
                found.marked.push(lower);
                return (confidence, None);
            }
        }
        if self.knowledge.source != TextSource::Result && !WHOLE.contains(&kind) {
            let query = runs(name);
            let is_number = query.iter().all(|run| run.is_number);
            let near = if is_number {
                Vec::new()
            } else {
                self.near(&query, Some(kind))
            };
            match self.decide(&near, false) {
                Decision::One(near) => {
                    return (
                        near.score,
                        Some((RecognitionMethod::Near, Mention::of_known(near.name))),
                    );
                }
                Decision::Several(all) => {
                    found
                        .possible
                        .extend(all.into_iter().map(|near| self.possible(near, span)));
                    return (confidence, None);
                }
                Decision::Nothing => {}
            }
        }
        let mention = shown_name(name).map(|shown| Mention {
            kind: kind.into(),
            key: canonical_key(kind, name),
            name: shown,
        });
        (
            confidence,
            mention.map(|mention| (RecognitionMethod::Pattern, mention)),
        )
    }

    /// Returns a known entity of a kind by its name. A number of an issue may be one of a pull request, and a commit
    /// may be shortened.
    fn known(&self, kind: &str, name: &str) -> Option<&'a KnownName> {
        let layers = || {
            self.knowledge
                .gazetteers
                .iter()
                .copied()
                .chain(self.knowledge.project)
        };
        let by_name = |kind: &str| layers().find_map(|layer| layer.lookup(kind, name));
        if let Some(known) = by_name(kind) {
            return Some(known);
        }
        if kind == "issue" && name.starts_with('#') {
            return by_name("pull_request");
        }
        if kind == "commit" && name.len() >= 7 {
            let query = runs(name);
            let mut found: Option<&KnownName> = None;
            for layer in self.knowledge.gazetteers {
                layer.similar(&query, &mut |known| {
                    let is_same = known.kind.as_ref() == "commit"
                        && (known.key.starts_with(name) || name.starts_with(&*known.key));
                    if is_same {
                        found = Some(known);
                    }
                });
            }
            return found;
        }
        None
    }

    /// Returns whether a word marked as code is the name of a file that the session knows, without its ending.
    fn is_known_part(&self, word: &str) -> bool {
        let query = runs(word);
        let mut is_known = false;
        for layer in self.knowledge.gazetteers {
            layer.similar(&query, &mut |name| {
                let file = name.alias.rsplit('/').next().unwrap_or_default();
                let stem = file.split('.').next().unwrap_or_default();
                is_known |= &*name.kind == "file_path" && stem.eq_ignore_ascii_case(word);
            });
        }
        is_known
    }

    /// Returns whether a known name is evident where its words stand.
    fn is_evident(&self, span: (usize, usize), name: &KnownName, is_project: bool) -> bool {
        let word = self.text.get(span.0..span.1).unwrap_or_default();
        let alias = &*name.alias;
        let mut parts = alias.split_whitespace();
        let are_everyday = alias
            .chars()
            .all(|c| c.is_alphabetic() || c.is_whitespace())
            && parts.all(|part| is_everyday(&part.to_lowercase()));
        if !is_bare(alias) {
            // "Winter reading" in its own spelling, but not "winter reading".
            return !are_everyday || (word == alias && word.chars().any(char::is_uppercase));
        }
        if is_project {
            return false;
        }
        if self.is_marked(span) || self.is_beside_kind_word(span, &name.kind) {
            return true;
        }
        if are_everyday {
            let before = self.before(span.0);
            let is_person = matches!(&*name.kind, "person" | "contact" | "author");
            let is_branch = &*name.kind == "branch"
                && matches!(before, "on" | "onto" | "into" | "from" | "against" | "with")
                && self.ends_phrase(span.1);
            let is_capital = word.starts_with(char::is_uppercase) && word == alias;
            return is_branch || (is_person && is_capital && !before.is_empty());
        }
        // "NetBox" is not the machine "netbox".
        let has_inner = |text: &str| text.chars().skip(1).any(char::is_uppercase);
        word == alias || !has_inner(word) || has_inner(alias)
    }

    /// Returns whether a span is marked as code or quoted.
    fn is_marked(&self, (start, end): (usize, usize)) -> bool {
        let before = self
            .text
            .get(..start)
            .and_then(|text| text.chars().next_back());
        let after = self.text.get(end..).and_then(|text| text.chars().next());
        before.is_some() && before == after && matches!(before, Some('`' | '"'))
    }

    /// Returns whether a word for the kind is beside a span: "branch main", "the main branch".
    fn is_beside_kind_word(&self, span: (usize, usize), kind: &str) -> bool {
        let is_of = |word: &str| {
            let word = word.to_lowercase();
            let known = self.packs.kind_words.get(&word);
            let known = known.and_then(|known| self.packs.kinds.get(known.kind));
            known.is_some_and(|of| &*of.name == kind) || word == kind
        };
        is_of(self.before(span.0)) || is_of(self.after(span.1))
    }

    fn before(&self, at: usize) -> &'a str {
        let text = self.text.get(..at).unwrap_or_default();
        let text = text.trim_end_matches(['`', '"', '\'']);
        let trimmed = text.trim_end_matches(' ');
        if trimmed.len() == text.len() {
            return "";
        }
        let start = trimmed.rfind(|c| !is_word(c)).map_or(0, |at| {
            at + trimmed
                .get(at..)
                .and_then(|rest| rest.chars().next())
                .map_or(1, char::len_utf8)
        });
        trimmed.get(start..).unwrap_or_default()
    }

    fn after(&self, at: usize) -> &'a str {
        let text = self.text.get(at..).unwrap_or_default();
        let text = text.trim_start_matches(['`', '"', '\'']);
        let Some(rest) = text.strip_prefix(' ') else {
            return "";
        };
        rest.get(..rest.find(|c| !is_word(c)).unwrap_or(rest.len()))
            .unwrap_or_default()
    }

    fn ends_phrase(&self, at: usize) -> bool {
        let after = self.after(at);
        after.is_empty()
            || matches!(
                after,
                "and"
                    | "or"
                    | "but"
                    | "is"
                    | "was"
                    | "has"
                    | "by"
                    | "in"
                    | "with"
                    | "for"
                    | "again"
                    | "now"
                    | "please"
            )
    }

    /// Returns the known names of the session that a query may be a part or a misspelling of, the best first, each
    /// entity once. A query that a pattern found, of kind `shaped`, has the end of the name.
    fn near(&self, query: &[Run], shaped: Option<&str>) -> Vec<NearName<'a>> {
        let is_part_word = |run: &Run| {
            let words = self.packs.kind_words.values();
            words
                .flat_map(|word| word.parts.iter())
                .any(|part| *part == run.text)
        };
        // "fw" is a word of its own, and no misspelt "sw".
        let fixed: Vec<bool> = query.iter().map(is_part_word).collect();
        let mut found: Vec<NearName<'a>> = Vec::new();
        for layer in self.knowledge.gazetteers {
            layer.similar(query, &mut |name| {
                if WHOLE.contains(&&*name.kind) || &*name.kind == "device_role" {
                    return;
                }
                let alias = &*name.alias;
                let head = alias.split(": ").next().unwrap_or(alias);
                let own = runs(head);
                let Some(score) = score(query, &own, &fixed) else {
                    return;
                };
                if !self.is_allowed(query, &own, name, head, shaped, score) {
                    return;
                }
                let known = found
                    .iter_mut()
                    .find(|near| near.name.kind == name.kind && near.name.key == name.key);
                match known {
                    Some(known) if known.score >= score => {}
                    Some(known) => *known = NearName { name, score },
                    None => found.push(NearName { name, score }),
                }
            });
        }
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        found
    }

    fn is_allowed(
        &self,
        query: &[Run],
        own: &[Run],
        name: &KnownName,
        head: &str,
        shaped: Option<&str>,
        score: f32,
    ) -> bool {
        let kind = &*name.kind;
        let has_end = score_end(query, own);
        if let Some(shaped) = shaped {
            let are_files = (shaped == "file_path") == (kind == "file_path");
            let is_interface = shaped == "interface" && kind == "interface";
            return are_files && (has_end || is_interface);
        }
        let words = head.split_whitespace().count();
        if words >= TITLE_WORDS_MIN {
            return query.len() == own.len();
        }
        let is_letters = query.iter().all(|run| !run.is_number);
        match kind {
            "file_path" | "symbol" | "package" | "branch" => {
                // The whole of the last part, without an ending.
                let last = head
                    .rsplit(['/', ':', '.'])
                    .find(|part| part.len() > 4)
                    .unwrap_or(head);
                let stem = runs(last);
                query.len() == stem.len() || query.len() == own.len()
            }
            "issue" | "pull_request" | "ticket" => {
                !is_letters || query.len() == own.len() || query.len() > 1
            }
            _ => is_letters || query.len() > 1 || score >= 0.9,
        }
    }

    /// Decides which known entity a partial name means.
    fn decide<'n>(&self, near: &'n [NearName<'a>], is_plain: bool) -> Decision<'n, 'a> {
        let Some(best) = near.first() else {
            return Decision::Nothing;
        };
        let equal: Vec<&NearName<'a>> = near
            .iter()
            .filter(|one| best.score - one.score < TIE)
            .collect();
        if let [only] = equal.as_slice() {
            return Decision::One(only);
        }
        if is_plain {
            let named: Vec<&&NearName<'a>> = equal
                .iter()
                .filter(|one| NAMED.contains(&&*one.name.kind))
                .collect();
            if let [only] = named.as_slice() {
                return Decision::One(only);
            }
        }
        // The one that the conversation mentioned clearly later than the others.
        let place = |near: &NearName<'_>| {
            let is_it = |past: &super::PastMention| {
                past.mention.kind == near.name.kind
                    && past.mention.key == *near.name.key
                    && !past.is_nested
            };
            let texts = self.knowledge.past.iter();
            let mut texts = texts
                .enumerate()
                .filter(|(_, text)| text.source != TextSource::Result);
            texts
                .find(|(_, text)| text.mentions.iter().any(is_it))
                .map_or(usize::MAX, |(at, _)| at)
        };
        let mut by_place: Vec<(usize, &NearName<'a>)> =
            equal.iter().map(|one| (place(one), *one)).collect();
        by_place.sort_by_key(|(place, _)| *place);
        match by_place.as_slice() {
            [(first, one), (second, _), ..]
                if *first != usize::MAX && second.saturating_sub(*first) >= 2 =>
            {
                Decision::One(one)
            }
            _ => Decision::Several(by_place.into_iter().map(|(_, one)| one).take(2).collect()),
        }
    }

    fn possible(&self, near: &NearName<'_>, (start, end): (usize, usize)) -> PossibleMention {
        PossibleMention {
            mention: Mention::of_known(near.name),
            start,
            end,
            score: near.score.clamp(0.05, 1.0),
        }
    }

    /// Finds words that are parts or misspellings of names, one or two words at a time.
    fn partial_words(&self, found: &mut TextNames) {
        let chunks = self.chunks(found);
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
            || (is_number && !self.is_number_name(span, word))
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
                return is_equal
                    && matches!(
                        &*one.name.kind,
                        "issue" | "pull_request" | "ticket" | "order"
                    );
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
            Decision::One(one) if is_begun && is_everyday_word => {
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
            let single = super::discourse::singular(&noun);
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
        word.len() >= 2
            && !is_unit
            && !percent
            && !before.is_empty()
            && !matches!(
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
            )
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

/// Returns whether a line of a diff names the hashes of a file up to here: "index 6f5f4e9..".
fn is_diff_index(line: &str) -> bool {
    let line = line.trim_start();
    let hash = line.strip_prefix("index ").unwrap_or("-");
    hash.bytes()
        .all(|byte| byte.is_ascii_hexdigit() || byte == b'.')
}

/// Returns the path of a file without the `a/` or `b/` that a diff puts before it.
fn without_side<'t>(name: &'t str, line: &str) -> &'t str {
    let is_diff =
        line.contains("diff --git ") || line.starts_with("--- ") || line.starts_with("+++ ");
    let path = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/"));
    path.filter(|_| is_diff).unwrap_or(name)
}

enum Decision<'n, 'a> {
    One(&'n NearName<'a>),
    Several(Vec<&'n NearName<'a>>),
    Nothing,
}

/// Returns whether the last run of a query is the last run of a name, up to a misspelling.
fn score_end(query: &[Run], own: &[Run]) -> bool {
    match (query.last(), own.last()) {
        (Some(query), Some(own)) => {
            query == own
                || (!query.is_number
                    && !own.is_number
                    && score(
                        std::slice::from_ref(query),
                        std::slice::from_ref(own),
                        &[false],
                    )
                    .is_some_and(|score| score >= SCORE_MIN))
        }
        _ => false,
    }
}
