//! What recognition finds, and how much of it is told.

use super::Mention;
use super::json::unescaped;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

/// What a text mentions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextMentions {
    /// In order of the text.
    pub matches: Vec<Match>,
    /// How many matches were left out since there were too many: repeated mentions first, then
    /// entities that are only nested in others.
    pub more: usize,
    /// How many bytes were searched, if not all of the text was.
    pub searched_bytes: Option<usize>,
}

/// One mention of an entity.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The kind of the entity, as a pack names it.
    pub kind: Arc<str>,
    /// The canonical key of the entity, one within its kind.
    pub key: String,
    /// Its name: safe to show, at most 256 bytes.
    pub name: String,
    /// Where the mention begins in the text, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// How it was found.
    pub how: RecognitionMethod,
    /// How sure it is: above 0, at most 1.
    pub confidence: f32,
    /// Whether it is only part of other entities' data, rather than what the text is about.
    pub is_nested: bool,
    /// What it belongs to, as the text says it.
    pub parents: Vec<EntityLink>,
    /// Its id in the system it comes from, as written there.
    pub id: Option<String>,
    /// Its slug.
    pub slug: Option<String>,
    /// How that system shows it, if not by its name.
    pub display: Option<String>,
    /// Its own data, if the text has it as a result by itself.
    pub data: Option<Data>,
}

/// How a mention was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecognitionMethod {
    /// By a rule of a pack.
    Pattern,
    /// As a name that is known.
    Known,
    /// As a reference to what was mentioned.
    Reference,
    /// In a field of JSON.
    Json,
}

impl RecognitionMethod {
    /// One word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pattern => "pattern",
            Self::Known => "known",
            Self::Reference => "reference",
            Self::Json => "json",
        }
    }
}

/// An entity that another belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityLink {
    /// The field that says so, such as `site`.
    pub field: String,
    /// The kind of the other entity.
    pub kind: Arc<str>,
    /// Its canonical key.
    pub key: String,
}

/// Where the JSON object of an entity stands in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// Its opening bracket.
    pub start: usize,
    /// Behind its closing bracket.
    pub end: usize,
    /// How many strings of JSON it is within: so often its quotes are escaped.
    pub levels: u8,
}

impl Data {
    /// The object as JSON text; `None` if it is not in `text`.
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
        }
    }
}

/// Orders matches by the text and leaves at most `most`: the first of each entity before repeated
/// ones, and what the text is about before what is nested. Returns how many went.
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
