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

mod categories;
mod choose;
mod discourse;
mod edges;
mod everyday;
mod first_names;
mod gazetteer;
mod json;
mod knowledge;
mod matches;
mod names;
pub mod packs;
mod partial;
mod past;
mod references;
mod roles;
mod tables;
#[cfg(test)]
mod tests;
mod texts;
mod wording;

pub use gazetteer::{Gazetteer, KnownName};
pub use json::TYPE_KEYS;
pub use knowledge::{Knowledge, Mention, SameEntity};
pub use matches::{Data, EntityLink, Match, PossibleMention, RecognitionMethod, TextMentions};
pub use names::{MatchQuality, UNKNOWN_KIND, canonical_key, is_hidden, match_known, shown_name};
pub use packs::{PackError, PackSet};
pub use past::{PastMention, PastText, TextSource};

use choose::Candidate;
use json::{Flat, Object, Read};
use std::collections::HashSet;
use std::sync::Arc;

/// Limit on the searched text, in bytes.
pub const TEXT_BYTES_MAX: usize = 1 << 20;
/// Limit on the matches of one text.
pub const MATCHES_MAX: usize = 500;
/// Limit on a name, in bytes.
pub const NAME_BYTES_MAX: usize = 256;

/// Separates strings of JSON in the text that is searched: no match contains it.
const BREAK: char = '\0';
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
    let kinds = std::mem::take(&mut read.kinds);
    let mut matches: Vec<Match> = objects
        .into_iter()
        .filter_map(|it| of_object(packs, &kinds, it))
        .collect();
    let mut entities: HashSet<(Arc<str>, String)> = HashSet::new();
    for hit in &matches {
        let slug = hit.slug.as_ref().map(|slug| canonical_key(&hit.kind, slug));
        let keys = slug.into_iter().chain([hit.key.clone()]);
        entities.extend(keys.map(|key| (Arc::clone(&hit.kind), key)));
    }
    let mut possible = Vec::new();
    let marked;
    if documents.is_empty() {
        let found = texts::names_in(packs, searched, knowledge);
        matches.extend(found.names.iter().map(|name| of_name(name, None)));
        possible = found.possible;
        marked = found.marked;
        if knowledge.source != TextSource::Result {
            let resolved = references_in(packs, searched, found.names, knowledge);
            let is_named = |mention: &Mention| {
                let root = knowledge.root(&mention.kind, &mention.key);
                matches.iter().any(|hit| {
                    hit.kind == mention.kind && knowledge.root(&hit.kind, &hit.key) == root
                })
            };
            let (meant, unsure): (Vec<_>, Vec<_>) =
                resolved.into_iter().partition(|resolved| resolved.is_meant);
            let unsure = unsure
                .into_iter()
                .filter(|resolved| !is_named(&resolved.mention));
            possible.extend(unsure.map(|resolved| PossibleMention {
                mention: resolved.mention,
                start: resolved.start,
                end: resolved.end,
                score: resolved.confidence,
            }));
            let meant = meant
                .into_iter()
                .filter(|resolved| !is_named(&resolved.mention));
            let meant: Vec<Match> = meant.map(of_reference).collect();
            matches.extend(meant);
        }
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
        let within = texts::names_in(packs, prose.text(), knowledge);
        marked = within.marked;
        let within = within
            .names
            .iter()
            .map(|found| of_name(found, Some(&prose)));
        matches.extend(within.filter(|hit| {
            // An entity found in a field is not matched again by its name or slug in the prose.
            !entities.contains(&(Arc::clone(&hit.kind), hit.key.clone()))
        }));
    }
    let more = matches::cut(&mut matches, MATCHES_MAX);
    roles::weigh(searched, knowledge.source, &mut matches);
    TextMentions {
        matches,
        possible,
        marked,
        more,
        searched_bytes: is_cut.then_some(searched.len()),
    }
}

/// Resolves the references of a text without JSON.
fn references_in(
    packs: &PackSet,
    text: &str,
    names: Vec<Candidate<(RecognitionMethod, Mention)>>,
    knowledge: &Knowledge<'_>,
) -> Vec<references::ResolvedReference> {
    let names: Vec<Candidate<Mention>> = names
        .into_iter()
        .map(|found| Candidate {
            start: found.start,
            end: found.end,
            confidence: found.confidence,
            what: found.what.1,
        })
        .collect();
    references::resolve(packs, text, knowledge.source, &names, knowledge)
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

fn of_object(packs: &PackSet, kinds: &[Arc<str>], object: Object) -> Option<Match> {
    let kind = match object.kind.checked_sub(packs.kinds.len()) {
        None => packs.kinds.get(object.kind)?.name.clone(),
        // A kind that only the type of the object names.
        Some(own) => Arc::clone(kinds.get(own)?),
    };
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
        aliases: object.aliases,
        words: object.words,
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
