//! Recent texts of a session with what they mention: what "that device", "it" and "the second one" may mean.
//!
//! Key: `l` session 0 position (u64) place (u32), for each text with mentions and for each message. Readers go back
//! over the last texts; in a fork also over those of its parent before the fork.

use std::sync::Arc;

use lored_recognise::{PastMention, PastText, TextSource};
use serde::{Deserialize, Serialize};

use super::{EntityFold, SPACE, keys};
use crate::events::entities::{EntityRef, Mention, MentionSource};
use crate::log::{Position, codec};
use crate::rows::until;
use crate::sessions::Line;
use crate::store::{Direction, Error, Rows};

/// Maximum number of entities kept of a text: its subjects before the parts of others.
const KEPT_MAX: usize = 64;
/// Maximum number of texts read back.
const TEXTS_MAX: usize = 64;
/// Maximum number of entities read back.
const ENTITIES_MAX: usize = 600;

/// Entity with its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedEntity {
    /// Kind of the entity.
    pub kind: String,
    /// Canonical key.
    pub key: String,
    /// Name as written.
    pub name: String,
}

/// Who wrote a text, as stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Writer {
    Person,
    Agent,
    #[default]
    Result,
}

impl Writer {
    #[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
    fn is_result(&self) -> bool {
        *self == Self::Result
    }
}

/// A text whose mentions are folded.
#[derive(Clone, Copy, Debug, Default)]
pub struct FoldedText<'t> {
    /// Who wrote it.
    pub source: TextSource,
    /// Everyday words that it marks as code.
    pub marked: &'t [String],
}

/// An entity of a text.
#[derive(Serialize, Deserialize)]
struct MentionedRow {
    kind: String,
    key: String,
    name: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    weight: u8,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    words: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parents: Vec<EntityRef>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    nested: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    reference: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
const fn is_zero(number: &u8) -> bool {
    *number == 0
}

/// Mentions of one text.
#[derive(Default, Serialize, Deserialize)]
struct TextRow {
    #[serde(default, skip_serializing_if = "Writer::is_result")]
    writer: Writer,
    /// Its entities in text order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    mentions: Vec<MentionedRow>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    marked: Vec<String>,
    /// In rows of earlier releases, instead of `mentions`: the last entities, the last mentioned first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    last: Vec<NamedEntity>,
}

/// Returns the recent texts of a session as the rows have them, the latest first; a fork continues those of its parent before
/// the fork.
#[cfg(test)]
pub fn recent(rows: &dyn Rows, lines: &[Line]) -> Result<Vec<Arc<PastText>>, Error> {
    let texts = lines
        .iter()
        .map(|line| recent_since(rows, line, Position(0)));
    Ok(most_recent(
        texts.collect::<Result<Vec<_>, _>>()?.into_iter().flatten(),
    ))
}

/// Returns the recent texts of one session that came after a position, the latest first.
pub fn recent_since(
    rows: &dyn Rows,
    line: &Line,
    after: Position,
) -> Result<Vec<Arc<PastText>>, Error> {
    let prefix = keys::prefix(b'l', &line.session);
    let low = [prefix.as_slice(), &after.0.saturating_add(1).to_be_bytes()].concat();
    let high = keys::end_of_line(line, &prefix);
    let (mut found, mut entities) = (Vec::new(), 0);
    rows.scan(
        SPACE,
        &low,
        &high,
        Direction::Backward,
        &mut |key, value| {
            let row: TextRow = keys::decode(key, value)?;
            let text = past(row);
            entities += text.mentions.len();
            found.push(Arc::new(text));
            Ok(until(is_enough(found.len(), entities)))
        },
    )?;
    Ok(found)
}

/// Returns as many texts as references reach back to, of texts in their order, the latest first.
pub fn most_recent(texts: impl Iterator<Item = Arc<PastText>>) -> Vec<Arc<PastText>> {
    let mut entities = 0;
    let mut found = Vec::new();
    for text in texts {
        if is_enough(found.len(), entities) {
            break;
        }
        entities += text.mentions.len();
        found.push(text);
    }
    found
}

const fn is_enough(texts: usize, entities: usize) -> bool {
    texts >= TEXTS_MAX || entities >= ENTITIES_MAX
}

fn past(row: TextRow) -> PastText {
    let of = |named: NamedEntity| lored_recognise::Mention {
        kind: named.kind.into(),
        key: named.key,
        name: named.name,
    };
    let earlier = row.last.into_iter().rev();
    let earlier = earlier.map(|named| PastMention::new(of(named), 0));
    let mentions = row.mentions.into_iter().map(|one| {
        let named = NamedEntity {
            kind: one.kind,
            key: one.key,
            name: one.name,
        };
        let mut mention = PastMention::new(of(named), one.weight);
        mention.words = one.words;
        let parents = one.parents.into_iter();
        mention.parents = parents.map(|parent| (parent.kind, parent.key)).collect();
        mention.is_nested = one.nested;
        mention.is_reference = one.reference;
        mention
    });
    PastText {
        source: match row.writer {
            Writer::Person => TextSource::Person,
            Writer::Agent => TextSource::Agent,
            Writer::Result => TextSource::Result,
        },
        mentions: earlier.chain(mentions).collect(),
        marked: row.marked,
    }
}

/// Records the mentions of a text; `place` is the number of its first mention in the event.
pub(super) fn note(
    folding: &mut EntityFold<'_>,
    mentions: &[Mention],
    place: u32,
    text: FoldedText<'_>,
) {
    if mentions.is_empty() && text.marked.is_empty() && text.source == TextSource::Result {
        return;
    }
    let subjects = mentions.iter().filter(|mention| !mention.nested).count();
    let mut nested_left = KEPT_MAX.saturating_sub(subjects);
    let kept = mentions.iter().filter(|mention| {
        if !mention.nested {
            return true;
        }
        let is_kept = nested_left > 0;
        nested_left = nested_left.saturating_sub(1);
        is_kept
    });
    let row = TextRow {
        writer: match text.source {
            TextSource::Person => Writer::Person,
            TextSource::Agent => Writer::Agent,
            TextSource::Result => Writer::Result,
        },
        mentions: kept
            .take(KEPT_MAX)
            .map(|mention| MentionedRow {
                kind: mention.kind.clone(),
                key: mention.key.clone(),
                name: mention.name.clone(),
                weight: mention.weight,
                words: mention.words.clone(),
                parents: mention.parents.clone(),
                nested: mention.nested,
                reference: mention.how == MentionSource::Reference,
            })
            .collect(),
        marked: text.marked.to_vec(),
        last: Vec::new(),
    };
    let mut key = keys::prefix(b'l', folding.session);
    key.extend(folding.event.position().0.to_be_bytes());
    key.extend(place.to_be_bytes());
    folding.rows.put(SPACE, &key, &codec::encode(&row));
}
