//! The matches that recognition returns, and their limit.

use super::Mention;
use super::json::unescaped;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

/// The mentions found in a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextMentions {
    /// Ordered by position in the text.
    pub matches: Vec<Match>,
    /// Entities that a pronoun, an ordinal or a partial name may refer to, the best two. They are evidence, no
    /// mentions: a wrong one would carry into the next texts.
    pub possible: Vec<PossibleMention>,
    /// Everyday words that are marked as code, but that nothing confirms; see [`PastText::marked`](super::PastText).
    pub marked: Vec<String>,
    /// Number of matches omitted by the limit: repeated mentions first, then entities only nested in others.
    pub more: usize,
    /// Number of bytes searched, if the text was truncated.
    pub searched_bytes: Option<usize>,
}

/// An entity that a text may refer to.
#[derive(Clone, Debug, PartialEq)]
pub struct PossibleMention {
    /// The entity.
    pub mention: Mention,
    /// Start of the referring words in the text, in bytes.
    pub start: usize,
    /// End of the referring words, in bytes.
    pub end: usize,
    /// How prominent the entity is: above 0, at most 1.
    pub score: f32,
}

/// A mention of an entity.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The kind of the entity, as a pack names it.
    pub kind: Arc<str>,
    /// The canonical key of the entity, unique within its kind.
    pub key: String,
    /// The entity's display name, at most 256 bytes, without control characters.
    pub name: String,
    /// Start of the mention in the text, in bytes.
    pub start: usize,
    /// End of the mention in the text, in bytes.
    pub end: usize,
    /// The method that found the mention.
    pub how: RecognitionMethod,
    /// Confidence: above 0, at most 1.
    pub confidence: f32,
    /// Whether the entity is only part of other entities' data, and not a subject of the text.
    pub is_nested: bool,
    /// The entities that it belongs to, according to the text.
    pub parents: Vec<EntityLink>,
    /// The entity's id in its source system, as written there.
    pub id: Option<String>,
    /// The entity's slug in its source system.
    pub slug: Option<String>,
    /// The entity's display text in its source system, if it differs from the name.
    pub display: Option<String>,
    /// The entity's JSON object, if it is a top-level result in the text.
    pub data: Option<Data>,
    /// Other names of the entity in its source system: a title, a number.
    pub aliases: Vec<String>,
    /// How prominent the text makes the entity, in hundredths: the subject of a sentence 100, a nested object 15.
    pub weight: u8,
    /// Words that the text says of the entity: its role, its state, words beside its name.
    pub words: Vec<String>,
}

/// The method that found a mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecognitionMethod {
    /// A pattern of a pack matched.
    Pattern,
    /// A known name matched.
    Known,
    /// A part or a misspelling of a known name matched; the confidence is its score.
    Near,
    /// A reference was resolved to an earlier mention.
    Reference,
    /// A JSON field or object held the entity.
    Json,
}

impl RecognitionMethod {
    /// Returns the method's name, one word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pattern => "pattern",
            Self::Known => "known",
            Self::Near => "near",
            Self::Reference => "reference",
            Self::Json => "json",
        }
    }
}

/// A link to the entity that another one belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityLink {
    /// The JSON field of the link, such as `site`.
    pub field: String,
    /// The kind of the linked entity.
    pub kind: Arc<str>,
    /// The canonical key of the linked entity.
    pub key: String,
}

/// The location of an entity's JSON object in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// Offset of the opening bracket, in bytes.
    pub start: usize,
    /// Offset after the closing bracket, in bytes.
    pub end: usize,
    /// Number of enclosing JSON strings; the object's quotes are escaped once per level.
    pub levels: u8,
}

impl Data {
    /// Returns the object as JSON text; `None` if `text` does not contain it.
    #[must_use]
    pub fn json<'a>(&self, text: &'a str) -> Option<Cow<'a, str>> {
        let mut json = Cow::Borrowed(text.get(self.start..self.end)?);
        for _ in 0..self.levels {
            json = Cow::Owned(unescaped(&json)?);
        }
        Some(json)
    }
}

impl Match {
    pub(super) fn new(
        mention: Mention,
        (start, end): (usize, usize),
        how: RecognitionMethod,
        confidence: f32,
    ) -> Self {
        Self {
            kind: mention.kind,
            key: mention.key,
            name: mention.name,
            start,
            end,
            how,
            confidence,
            is_nested: false,
            parents: Vec::new(),
            id: None,
            slug: None,
            display: None,
            data: None,
            aliases: Vec::new(),
            weight: 0,
            words: Vec::new(),
        }
    }
}

/// Sorts matches by position and keeps at most `most`. First mentions take precedence over repeated ones, and
/// subjects of the text over nested entities. Returns the number of removed matches.
pub(super) fn cut(matches: &mut Vec<Match>, most: usize) -> usize {
    matches.sort_by_key(|hit| (hit.start, hit.end));
    let more = matches.len().saturating_sub(most);
    if more > 0 {
        let mut seen = HashSet::new();
        let mut ranked: Vec<(u8, Match)> = std::mem::take(matches)
            .into_iter()
            .map(|hit| {
                let is_first = seen.insert((hit.kind.clone(), hit.key.clone()));
                let rank = match (is_first, hit.is_nested) {
                    (true, false) => 0,
                    (true, true) => 1,
                    (false, _) => 2,
                };
                (rank, hit)
            })
            .collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        ranked.truncate(most);
        matches.extend(ranked.into_iter().map(|(_, hit)| hit));
        matches.sort_by_key(|hit| (hit.start, hit.end));
    }
    more
}
