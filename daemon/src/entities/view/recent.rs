//! Recent mentions of a session: candidates for "that device", "it" and "the second one".
//!
//! Key: `l` session 0 position (u64) place (u32), for each text with mentions. Readers go back over the last
//! texts; in a fork also over those of its parent before the fork.

use std::collections::HashSet;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::{EntityFold, SPACE, keys};
use crate::events::entities::{Mention, MentionSource};
use crate::log::codec;
use crate::sessions::Line;
use crate::store::{Direction, Error, Rows};

/// Maximum number of entities kept as recently mentioned.
const RECENT_MAX: usize = 32;
/// Maximum number of entities kept of a listing.
const LISTED_MAX: usize = 64;
/// Maximum number of texts read back.
const TEXTS_MAX: usize = 64;

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

impl NamedEntity {
    fn is(&self, other: &Self) -> bool {
        self.kind == other.kind && self.key == other.key
    }
}

/// Recent mentions of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recent {
    /// Entities, the last mentioned first, each once.
    pub last: Vec<NamedEntity>,
    /// Entities of the last text that named two or more of one kind, in text order.
    pub listed: Vec<NamedEntity>,
}

/// Mentions of one text.
#[derive(Default, Serialize, Deserialize)]
struct TextRow {
    /// Its last entities, the last mentioned first.
    last: Vec<NamedEntity>,
    /// Its first entities in order, if it names two or more of one kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    listed: Vec<NamedEntity>,
}

/// Returns the recent mentions of a session; a fork continues those of its parent before the fork.
pub fn recent(rows: &dyn Rows, lines: &[Line]) -> Result<Recent, Error> {
    let mut found = Recent::default();
    let mut texts = 0;
    for line in lines {
        let low = keys::prefix(b'l', &line.session);
        let high = keys::end_of_line(line, &low);
        let visit: crate::store::RowVisitor<'_> = &mut |key, value| {
            let is_full = found.last.len() >= RECENT_MAX && !found.listed.is_empty();
            if texts == TEXTS_MAX || is_full {
                return Ok(ControlFlow::Break(()));
            }
            texts += 1;
            let row: TextRow = keys::decode(key, value)?;
            for named in row.last {
                if !found.last.iter().any(|known| known.is(&named)) {
                    found.last.push(named);
                }
            }
            if found.listed.is_empty() {
                found.listed = row.listed;
            }
            Ok(ControlFlow::Continue(()))
        };
        rows.scan(SPACE, &low, &high, Direction::Backward, visit)?;
    }
    found.last.truncate(RECENT_MAX);
    Ok(found)
}

/// Records the mentions of a text; `place` is the number of its first mention in the event.
pub(super) fn note(folding: &mut EntityFold<'_>, mentions: &[Mention], place: u32) {
    let mut row = TextRow::default();
    for mention in mentions.iter().filter(|mention| !mention.nested) {
        let named = NamedEntity {
            kind: mention.kind.clone(),
            key: mention.key.clone(),
            name: mention.name.clone(),
        };
        if mention.how != MentionSource::Reference
            && !row.listed.iter().any(|known| known.is(&named))
        {
            row.listed.push(named.clone());
        }
        row.last.retain(|known| !known.is(&named));
        row.last.insert(0, named);
    }
    if row.last.is_empty() {
        return;
    }
    row.last.truncate(RECENT_MAX);
    let mut kinds = HashSet::new();
    if row.listed.iter().all(|named| kinds.insert(&named.kind)) {
        row.listed.clear();
    }
    row.listed.truncate(LISTED_MAX);
    let mut key = keys::prefix(b'l', folding.session);
    key.extend(folding.event.position().0.to_be_bytes());
    key.extend(place.to_be_bytes());
    folding.rows.put(SPACE, &key, &codec::encode(&row));
}
