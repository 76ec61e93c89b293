//! The names in a text: known names, patterns, and parts or misspellings of known names.

mod evidence;
mod near;
mod partial_words;
mod people;

use crate::choose::{Candidate, choose};
use crate::everyday::{is_bare, is_everyday};
use crate::gazetteer::search_all;
use crate::names::{canonical_key, shown_name};
use crate::packs::PackSet;
use crate::partial::runs;
use crate::tables;
use crate::{
    Gazetteer, Knowledge, KnownName, Mention, PossibleMention, RecognitionMethod, TextSource,
};
use near::{Decision, WHOLE};

/// Confidence of a name known to the session, and of one known to its project.
const SESSION_CONFIDENCE: f32 = 0.97;
const PROJECT_CONFIDENCE: f32 = 0.96;
/// Confidence of a cell of a table whose column holds a kind.
const CELL_CONFIDENCE: f32 = 0.98;

/// Confidence of a person's name by a common first name.
const PERSON_CONFIDENCE: f32 = 0.8;

/// Length of the short id of a container, in bytes.
const CONTAINER_ID_BYTES: usize = 12;

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
    if let Some(person) = packs.place_of("person") {
        candidates.extend(
            people::names(text)
                .into_iter()
                .map(|(start, end)| Candidate {
                    start,
                    end,
                    confidence: PERSON_CONFIDENCE,
                    what: CandidateMention::Pattern(person),
                }),
        );
    }
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
        let is_container = kind == "commit"
            && name.len() == CONTAINER_ID_BYTES
            && (self.text.contains("CONTAINER ID") || self.text.contains("IMAGE ID"));
        if is_container || (kind == "file_path" && is_requested(line)) {
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
        if kind == "file_path"
            && !name.contains('/')
            && let Some(known) = self.only_file(name)
        {
            return (
                confidence,
                Some((RecognitionMethod::Pattern, Mention::of_known(known))),
            );
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

    /// Returns the only file known to the session whose path ends with a name.
    fn only_file(&self, name: &str) -> Option<&'a KnownName> {
        let (mut found, mut is_only): (Option<&'a KnownName>, bool) = (None, true);
        for layer in self.knowledge.gazetteers {
            layer.similar(&runs(name), &mut |known, _| {
                let ends = &*known.kind == "file_path"
                    && known
                        .alias
                        .strip_suffix(name)
                        .is_some_and(|folder| folder.ends_with('/'));
                if ends {
                    is_only &= found.is_none_or(|found| found.key == known.key);
                    found = Some(known);
                }
            });
        }
        found.filter(|_| is_only)
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
                layer.similar(&query, &mut |known, _| {
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
}

/// Returns whether the method of a request stands before: `GET /users/5` names an address and no file.
fn is_requested(line: &str) -> bool {
    let word = line.trim_end_matches([' ', '"']).rsplit([' ', '"']).next();
    matches!(
        word,
        Some("GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS")
    )
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
