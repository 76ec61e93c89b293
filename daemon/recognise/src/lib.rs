//! Entity recognition for lored: which entities a text mentions. The functions are pure: the same packs, text
//! and knowledge give the same matches.
//!
//! The crate stores nothing and reads no events. The daemon (`daemon/src/entities`) manages a session's
//! knowledge and processes the matches.
//!
//! Three layers examine a text. **Patterns**: the rules of the packs, such as the shape of an address. **Known
//! names**: the [`Gazetteer`]s, first the session's, then its project's. **References**: "that device", "the
//! second one", "its". JSON, as the whole text, on separate lines or within strings of other JSON, is read by
//! **field** instead. Its objects become entities, nested ones their parents or children, and only prose within
//! is searched.
//!
//! # Precedence
//! A span belongs to one entity, whichever pack or layer found it:
//! 1. A value in a JSON field is the entity that the field declares.
//! 2. Of overlapping names, the longer wins, then the more confident. A known name is more confident than any
//!    pattern, the session's more than the project's.
//! 3. Then the earlier pack wins (built-in packs first, `netbox` before `code`, then the folder's packs by file
//!    name), then the earlier rule.
//! 4. A reference counts only where no name is. A plural reference ("both") means several entities on the same
//!    span.
//!
//! # Bounds
//! At most the first [`TEXT_BYTES_MAX`] bytes of a text are searched, and at most [`MATCHES_MAX`] matches are
//! returned; [`TextMentions`] reports truncation. Names have at most [`NAME_BYTES_MAX`] bytes; longer texts are
//! not names. JSON is read to a depth of 128.

mod choose;
mod edges;
mod gazetteer;
mod json;
mod knowledge;
mod matches;
mod names;
pub mod packs;
mod references;
#[cfg(test)]
mod tests;

pub use gazetteer::{Gazetteer, KnownName};
pub use json::TYPE_KEYS;
pub use knowledge::{Knowledge, Mention, listing, mentions};
pub use matches::{Data, EntityLink, Match, RecognitionMethod, TextMentions};
pub use names::{MatchQuality, UNKNOWN_KIND, canonical_key, is_hidden, match_known, shown_name};
pub use packs::{PackError, PackSet};

use choose::{Candidate, choose};
use json::{Flat, Object, Read};
use std::collections::HashSet;
use std::sync::Arc;

/// Limit on the searched text, in bytes.
pub const TEXT_BYTES_MAX: usize = 1 << 20;
/// Limit on the matches of one text.
pub const MATCHES_MAX: usize = 500;
/// Limit on a name, in bytes.
pub const NAME_BYTES_MAX: usize = 256;

/// Confidence of a name known to the session, and of one known to its project.
const KNOWN_CONFIDENCE: [f32; 2] = [0.97, 0.96];
/// Confidence of a JSON object, and of a name in a JSON field.
const OBJECT_CONFIDENCE: f32 = 1.0;
const FIELD_CONFIDENCE: f32 = 0.85;

/// Finds the entities that a text mentions.
#[must_use]
pub fn recognise(packs: &PackSet, text: &str, knowledge: &Knowledge<'_>) -> TextMentions {
    let searched = beginning(text);
    let is_cut = searched.len() < text.len();
    let documents = json::documents(searched, is_cut);
    let mut read = Read::new(packs);
    let reported = knowledge.objects.and_then(|kind| packs.place_of(kind));
    for document in &documents {
        read.document(document, reported);
    }
    let objects = std::mem::take(&mut read.objects);
    let mut matches: Vec<Match> = objects
        .into_iter()
        .filter_map(|it| of_object(packs, it))
        .collect();
    let mut entities: HashSet<(Arc<str>, String)> = HashSet::new();
    for hit in &matches {
        let slug = hit.slug.as_ref().map(|slug| canonical_key(&hit.kind, slug));
        let keys = slug.into_iter().chain([hit.key.clone()]);
        entities.extend(keys.map(|key| (Arc::clone(&hit.kind), key)));
    }
    if documents.is_empty() {
        matches.extend(in_prose(packs, searched, knowledge));
    } else {
        // The text around the JSON is prose, too.
        let mut prose = read.prose;
        let mut from = 0;
        for document in &documents {
            prose.push(searched.get(from..document.start).unwrap_or_default(), from);
            prose.push_break();
            from = document.end;
        }
        prose.push(searched.get(from..).unwrap_or_default(), from);
        let within = names_in(packs, prose.text(), knowledge).into_iter();
        let within = within.map(|found| of_name(&found, Some(&prose)));
        matches.extend(within.filter(|hit| {
            // An entity found in a field is not matched again by its name or slug in the prose.
            !entities.contains(&(Arc::clone(&hit.kind), hit.key.clone()))
        }));
    }
    let more = matches::cut(&mut matches, MATCHES_MAX);
    TextMentions {
        matches,
        more,
        searched_bytes: is_cut.then_some(searched.len()),
    }
}

/// Finds the names and references in a text without JSON.
fn in_prose(packs: &PackSet, text: &str, knowledge: &Knowledge<'_>) -> Vec<Match> {
    let found = names_in(packs, text, knowledge);
    let mut matches: Vec<Match> = found.iter().map(|found| of_name(found, None)).collect();
    if knowledge.references {
        let names: Vec<Candidate<Mention>> = found
            .into_iter()
            .map(|found| Candidate {
                start: found.start,
                end: found.end,
                confidence: found.confidence,
                what: found.what.1,
            })
            .collect();
        let resolved = references::resolve(packs, text, &names, knowledge);
        matches.extend(resolved.into_iter().map(of_reference));
    }
    matches
}

/// Finds the names in a text by patterns and gazetteers, without overlaps, in order.
fn names_in(
    packs: &PackSet,
    text: &str,
    knowledge: &Knowledge<'_>,
) -> Vec<Candidate<(RecognitionMethod, Mention)>> {
    /// Converted to a mention only when selected, because most candidates are not.
    enum CandidateMention<'a> {
        Known(&'a KnownName),
        Pattern(usize),
    }
    let mut candidates = Vec::new();
    gazetteer::search_all(knowledge.gazetteers, text, |layer, start, end, name| {
        let word = text.get(start..end).unwrap_or_default();
        if !packs.is_kind_word(&word.to_lowercase()) {
            let confidence = KNOWN_CONFIDENCE.get(layer).or(KNOWN_CONFIDENCE.last());
            candidates.push(Candidate {
                start,
                end,
                confidence: confidence.copied().unwrap_or_default(),
                what: CandidateMention::Known(name),
            });
        }
    });
    candidates.extend(packs.find(text).map(|(rule, (start, end))| Candidate {
        start,
        end,
        confidence: rule.confidence,
        what: CandidateMention::Pattern(rule.kind),
    }));
    let selected = choose(candidates).into_iter();
    let mentioned = selected.filter_map(|candidate| {
        let what = match candidate.what {
            CandidateMention::Known(name) => (RecognitionMethod::Known, Mention::of_known(name)),
            CandidateMention::Pattern(kind) => {
                let name = text.get(candidate.start..candidate.end)?;
                let kind = &packs.kinds.get(kind)?.name;
                (
                    RecognitionMethod::Pattern,
                    mention_of(kind, name, knowledge)?,
                )
            }
        };
        Some(Candidate {
            start: candidate.start,
            end: candidate.end,
            confidence: candidate.confidence,
            what,
        })
    });
    mentioned.collect()
}

/// Returns the entity of a kind that a name in a text refers to: a known one, or else a new one with this name.
fn mention_of(kind: &str, name: &str, knowledge: &Knowledge<'_>) -> Option<Mention> {
    let mut known = knowledge.gazetteers.iter();
    if let Some(known) = known.find_map(|gazetteer| gazetteer.lookup(kind, name)) {
        return Some(Mention::of_known(known));
    }
    Some(Mention {
        kind: kind.into(),
        key: canonical_key(kind, name),
        name: shown_name(name)?,
    })
}

fn of_name(found: &Candidate<(RecognitionMethod, Mention)>, prose: Option<&Flat>) -> Match {
    let source = |at: usize| prose.map_or(at, |prose| prose.source(at));
    let (how, mention) = &found.what;
    let span = (source(found.start), source(found.end));
    Match::new(mention.clone(), span, *how, found.confidence)
}

fn of_reference(resolved: references::ResolvedReference) -> Match {
    let span = (resolved.start, resolved.end);
    Match::new(
        resolved.mention,
        span,
        RecognitionMethod::Reference,
        resolved.confidence,
    )
}

fn of_object(packs: &PackSet, object: Object) -> Option<Match> {
    let kind = packs.kinds.get(object.kind)?.name.clone();
    let mention = Mention {
        kind,
        key: object.key,
        name: object.name,
    };
    let confidence = if object.is_object {
        OBJECT_CONFIDENCE
    } else {
        FIELD_CONFIDENCE
    };
    Some(Match {
        is_nested: object.is_nested,
        parents: object.parents,
        id: object.id,
        slug: object.slug,
        display: object.display,
        data: object.data,
        ..Match::new(mention, object.span, RecognitionMethod::Json, confidence)
    })
}

/// Returns the searched part of a text; it ends at a character boundary and, if possible, a word boundary.
fn beginning(text: &str) -> &str {
    if text.len() <= TEXT_BYTES_MAX {
        return text;
    }
    let mut end = TEXT_BYTES_MAX;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let cut = text.get(..end).unwrap_or_default();
    let word = cut
        .rfind(char::is_whitespace)
        .filter(|at| end - at <= NAME_BYTES_MAX);
    word.and_then(|at| cut.get(..at)).unwrap_or(cut)
}
