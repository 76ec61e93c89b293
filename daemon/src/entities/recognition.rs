//! Recognition of entities in a text: applies [`lored_recognise`] with the names that the session and its
//! project know.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::feature::Entities;
use super::view::{Merges, NameOwner, confirmed};
use crate::error::Refusal;
use crate::events::entities::{EntityRef, Mention, MentionSource, PossibleMention};
use crate::log::Position;
use crate::operation::Context;
use crate::sessions::Line;
use crate::state::State;
use lored_recognise::{
    Gazetteer, Knowledge, Match, PackSet, PastText, SameEntity, TYPE_KEYS, TextMentions, TextSource,
};

/// Maximum number of entities of one event.
pub const MENTIONS_MAX: usize = 500;
/// Maximum number of entities that a text may refer to without mentioning them.
const POSSIBLE_MAX: usize = 16;
/// Maximum number of words marked as code that are kept of a text.
const MARKED_MAX: usize = 32;
/// Maximum number of words, and of other names, that are kept of an entity in a text.
const WORDS_MAX: usize = 16;
/// Maximum size of call parameters that are searched for a kind, in bytes.
const PARAMETERS_BYTES_MAX: usize = 4096;

/// Result of a recognition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recognition {
    /// Version of the recognition rules.
    pub rules: Vec<u8>,
    /// Mentioned entities, each once, in order.
    pub mentions: Vec<Mention>,
    /// Entities that the text may refer to, without mentioning them.
    pub possible: Vec<PossibleMention>,
    /// Everyday words that the text marks as code, and that nothing confirms.
    pub marked: Vec<String>,
    /// Warnings about text that was not searched and mentions that were dropped.
    pub warnings: Vec<String>,
}

/// Names and recent texts that a session knows before a text is read.
pub struct SessionContext {
    packs: Arc<PackSet>,
    gazetteers: Vec<Arc<Gazetteer>>,
    project: Option<Arc<Gazetteer>>,
    past: Vec<Arc<PastText>>,
    same: Vec<SameEntity>,
    confirmed: HashSet<(String, String)>,
}

impl SessionContext {
    /// Reads the context of a session and its project; without a session it is empty.
    pub fn of(
        cx: &Context,
        state: &State,
        lines: &[Line],
        project: Option<&str>,
    ) -> Result<Self, Refusal> {
        let module = Entities::of(cx)?;
        let mut gazetteers = Vec::new();
        for line in lines {
            let of = NameOwner::Session(line.session.clone());
            gazetteers.push(module.gazetteer(state, of, line.up_to)?);
        }
        let of_project = project.map(|project| {
            let of = NameOwner::Project(project.to_owned());
            module.gazetteer(state, of, Position(u64::MAX))
        });
        Ok(Self {
            packs: module.packs()?,
            gazetteers,
            project: of_project.transpose()?,
            past: module.recent_texts(state, lines)?,
            same: same(state, lines)?,
            confirmed: confirmed(state, lines)?,
        })
    }

    /// Returns the version of the recognition rules.
    #[must_use]
    pub fn rules(&self) -> Vec<u8> {
        self.packs.version().as_bytes().to_vec()
    }

    /// Recognises the entities of a text. Referring words ("it", "that device") and partial names are resolved in
    /// messages, not in tool output.
    #[must_use]
    pub fn recognise(&self, text: &str, source: TextSource) -> TextMentions {
        self.recognise_objects(text, source, None)
    }

    /// Recognises the entities of a call's result. If the result does not name the kind of its objects, the
    /// call's parameters may.
    #[must_use]
    pub fn recognise_result(&self, result: &str, parameters: Option<&str>) -> TextMentions {
        let reported = parameters.and_then(|parameters| self.kind_asked_for(parameters));
        self.recognise_objects(result, TextSource::Result, reported)
    }

    /// Returns the kind that a call requests, as in `{"object_type": "dcim.device"}`.
    fn kind_asked_for(&self, parameters: &str) -> Option<&str> {
        if parameters.len() > PARAMETERS_BYTES_MAX {
            return None;
        }
        let parameters: serde_json::Value = serde_json::from_str(parameters).ok()?;
        let mut words = TYPE_KEYS
            .iter()
            .filter_map(|key| parameters.get(key)?.as_str());
        words.find_map(|word| self.packs.kind_of(word))
    }

    fn recognise_objects(
        &self,
        text: &str,
        source: TextSource,
        objects: Option<&str>,
    ) -> TextMentions {
        let gazetteers: Vec<&Gazetteer> = self.gazetteers.iter().map(|known| &**known).collect();
        let knowledge = Knowledge {
            gazetteers: &gazetteers,
            project: self.project.as_deref(),
            past: &self.past,
            objects,
            source,
            same: &self.same,
            confirmed: Some(&self.confirmed),
        };
        lored_recognise::recognise(&self.packs, text, &knowledge)
    }
}

/// Returns the entities of a session that turned out to be others.
fn same(state: &State, lines: &[Line]) -> Result<Vec<SameEntity>, Refusal> {
    let merges = Merges::of(state, lines)?;
    let pairs = merges.pairs().map(|(entity, root)| SameEntity {
        kind: entity.kind.as_str().into(),
        key: entity.key.clone(),
        root: root.key,
    });
    Ok(pairs.collect())
}

/// Recognises entities in a message and in the results that belong to it.
#[must_use]
pub fn recognised(
    knowing: &SessionContext,
    text: &str,
    source: TextSource,
    results: &[&str],
) -> Recognition {
    let mut found = MergedMatches::default();
    found.take(knowing.recognise(text, source), true);
    for result in results {
        found.take(knowing.recognise(result, TextSource::Result), false);
    }
    found.into_recognition(knowing.rules())
}

/// Merged mentions of several texts of one event, each entity once.
#[derive(Default)]
pub struct MergedMatches {
    mentions: Vec<Mention>,
    possible: Vec<PossibleMention>,
    marked: Vec<String>,
    places: HashMap<EntityRef, usize>,
    left_out: usize,
    searched_bytes: Option<usize>,
}

impl MergedMatches {
    /// Adds the mentions of one text. Spans are kept only if the text is shown later.
    pub fn take(&mut self, recognised: TextMentions, has_spans: bool) {
        self.left_out += recognised.more;
        if recognised.searched_bytes.is_some() {
            self.searched_bytes = recognised.searched_bytes;
        }
        for word in recognised.marked {
            if !self.marked.contains(&word) && self.marked.len() < MARKED_MAX {
                self.marked.push(word);
            }
        }
        for one in recognised.possible {
            let possible = PossibleMention {
                kind: one.mention.kind.to_string(),
                key: one.mention.key,
                name: one.mention.name,
                score: hundredths(one.score),
            };
            let known = self
                .possible
                .iter()
                .any(|known| known.entity() == possible.entity());
            if !known && self.possible.len() < POSSIBLE_MAX {
                self.possible.push(possible);
            }
        }
        for hit in recognised.matches {
            let mention = mention(hit, has_spans);
            let entity = mention.entity();
            match self.places.get(&entity) {
                Some(at) => {
                    if let Some(known) = self.mentions.get_mut(*at) {
                        join(known, mention);
                    }
                }
                None if self.mentions.len() == MENTIONS_MAX => self.left_out += 1,
                None => {
                    self.places.insert(entity, self.mentions.len());
                    self.mentions.push(mention);
                }
            }
        }
    }

    /// Returns the merged mentions with their warnings.
    #[must_use]
    pub fn into_recognition(self, rules: Vec<u8>) -> Recognition {
        let mut warnings = Vec::new();
        if let Some(bytes) = self.searched_bytes {
            warnings.push(format!(
                "the text is long: entities were looked for in its first {bytes} bytes alone"
            ));
        }
        if self.left_out > 0 {
            warnings.push(format!(
                "{} more mentions were not kept; at most {MENTIONS_MAX} entities of one text are",
                self.left_out
            ));
        }
        Recognition {
            rules,
            mentions: self.mentions,
            possible: self.possible,
            marked: self.marked,
            warnings,
        }
    }
}

/// Converts a score from 0 to 1 to hundredths, at least 1.
fn hundredths(score: f32) -> u8 {
    // Between 1 and 100, so that nothing is lost.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let hundredths = (score * 100.0).round().clamp(1.0, 100.0) as u8;
    hundredths
}

fn mention(hit: Match, has_spans: bool) -> Mention {
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let parents = hit.parents.into_iter().map(|link| EntityRef {
        kind: link.kind.to_string(),
        key: link.key,
    });
    Mention {
        kind: hit.kind.to_string(),
        key: hit.key,
        name: hit.name,
        how: match hit.how {
            lored_recognise::RecognitionMethod::Pattern => MentionSource::Pattern,
            lored_recognise::RecognitionMethod::Known => MentionSource::Known,
            lored_recognise::RecognitionMethod::Near => MentionSource::Near,
            lored_recognise::RecognitionMethod::Reference => MentionSource::Reference,
            lored_recognise::RecognitionMethod::Json => MentionSource::Json,
        },
        span: has_spans.then(|| (offset(hit.start), offset(hit.end))),
        id: hit.id,
        slug: hit.slug,
        parents: parents.collect(),
        nested: hit.is_nested,
        score: match hit.how {
            lored_recognise::RecognitionMethod::Near => hundredths(hit.confidence),
            _ => 0,
        },
        weight: hit.weight,
        aliases: hit.aliases,
        words: hit.words,
    }
}

/// Merges another mention of the same entity; only new details are added.
fn join(known: &mut Mention, again: Mention) {
    known.nested &= again.nested;
    known.id = known.id.take().or(again.id);
    known.slug = known.slug.take().or(again.slug);
    known.weight = known.weight.max(again.weight);
    for (all, more) in [
        (&mut known.aliases, again.aliases),
        (&mut known.words, again.words),
    ] {
        for one in more {
            if all.len() < WORDS_MAX && !all.contains(&one) {
                all.push(one);
            }
        }
    }
    for parent in again.parents {
        if !known.parents.contains(&parent) {
            known.parents.push(parent);
        }
    }
}
