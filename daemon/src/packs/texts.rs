//! The texts of packs as models received them, beside the events of the packs.
//!
//! A text repeats what was recorded elsewhere, so it must not outlive it: forgetting removes the texts of all packs that might have
//! forgotten content, before their events go, if they go at all. After [`super::PackSettings::text_days`] a text goes by itself.

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};

use lore::protocol::names::{Part, WhyLeftOut, of_word, word};
use serde::{Deserialize, Serialize};

use super::assembly::{BuiltPack, Omission, labels};
use crate::clock::Micros;
use crate::events::packs::{Item, PackDependency};
use crate::log::{OBJECTS, Position, codec, texts};
use crate::store::{Error, Rows, RowsMut};

const DAY_MICROS: Micros = 24 * 3600 * 1_000_000;
/// Texts that are looked at for their age whenever one is kept.
const EXPIRED_AT_ONCE: usize = 4;
/// Pieces that were left out, of which a text says so.
const LEFT_OUT_MAX: usize = 100;

/// The text of a pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackText {
    /// When it was put together.
    pub at: Micros,
    /// The sessions whose content may be in it, with the pack's own.
    pub sessions: BTreeSet<String>,
    /// Whether it may have content that belongs to no session: of context files, documents, or a message to a project.
    pub has_others: bool,
    /// The text.
    pub text: String,
    /// Its parts that rest on something: start and end in bytes, and the place among the pack's sources.
    pub parts: Vec<(u64, u64, u64)>,
    /// What was not put into it, the most important first. It names events only by their positions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<OmittedPiece>,
}

/// A piece that is not in a text, or only in part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OmittedPiece {
    /// Its event.
    pub position: u64,
    /// The part, as a word.
    pub part: String,
    /// Bytes of it that are missing, for a text that was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The reason, as a word.
    pub why: String,
}

impl OmittedPiece {
    /// Describes a piece by its event.
    #[must_use]
    pub fn new(position: Position, part: Part, bytes: Option<u64>, why: WhyLeftOut) -> Self {
        Self {
            position: position.0,
            part: word(part),
            bytes,
            why: word(why),
        }
    }

    /// Returns the part and the reason; `None` when they are words of another version.
    #[must_use]
    pub fn words(&self) -> Option<(Part, WhyLeftOut)> {
        Some((of_word(&self.part)?, of_word(&self.why)?))
    }
}

impl PackText {
    /// Creates the text of a pack of a session, or of none.
    #[must_use]
    pub fn new(
        own: Option<&str>,
        text: String,
        parts: impl IntoIterator<Item = (PackDependency, Range<usize>)>,
        rests_on: &[PackDependency],
    ) -> Self {
        let mut sessions: BTreeSet<String> = own.map(str::to_owned).into_iter().collect();
        let mut has_others = own.is_none();
        for one in rests_on {
            sessions.extend(one.session.clone());
            has_others |= matches!(one.item, Item::ContextFile(_) | Item::Document { .. });
        }
        let place = |one: &PackDependency| rests_on.iter().position(|other| other == one);
        let parts = parts.into_iter().filter_map(|(one, range)| {
            Some((range.start as u64, range.end as u64, place(&one)? as u64))
        });
        Self {
            at: 0,
            sessions,
            has_others,
            parts: parts.collect(),
            text,
            left_out: Vec::new(),
        }
    }

    /// Creates the text of a pack that was built within a budget.
    #[must_use]
    pub fn of(
        own: Option<&str>,
        built: &BuiltPack,
        rests_on: &[PackDependency],
        left_out: &[&Omission],
    ) -> Self {
        let mut start = 0;
        let mut parts = Vec::new();
        for section in &built.sections {
            for (source, range) in section.sources.iter().zip(&section.ranges) {
                let session = source.session.clone();
                let one = PackDependency {
                    session: session.filter(|session| Some(session.as_str()) != own),
                    item: source.item.clone(),
                };
                parts.push((one, start + range.start..start + range.end));
            }
            start += section.text.len() + labels::BETWEEN.len();
        }
        let left_out = left_out.iter().take(LEFT_OUT_MAX);
        let left_out = left_out
            .map(|one| OmittedPiece::new(one.source.position, one.part, one.bytes, one.why));
        Self {
            left_out: left_out.collect(),
            ..Self::new(own, built.prompt.clone(), parts, rests_on)
        }
    }
}

/// Reads the text beside the event of a pack; `None` if it was forgotten, is older than texts are kept, or was never kept.
///
/// # Errors
/// [`Error`] when the row cannot be read.
pub fn get(rows: &dyn Rows, pack: Position) -> Result<Option<PackText>, Error> {
    let row = texts::get(rows, pack)?;
    row.map(|row| decode(pack, &row)).transpose()
}

fn decode(pack: Position, row: &[u8]) -> Result<PackText, Error> {
    let at = pack.0.to_be_bytes();
    codec::decode(row).map_err(|reason| Error::corrupt(OBJECTS.name(), &at, reason))
}

/// Keeps a text beside the event of a pack, and removes some that are older than `days`.
///
/// # Errors
/// [`Error`] when a row cannot be read.
pub fn keep(
    rows: &mut dyn RowsMut,
    pack: Position,
    text: &PackText,
    days: u64,
) -> Result<(), Error> {
    let before = text.at.saturating_sub(days.saturating_mul(DAY_MICROS));
    let mut expired = Vec::new();
    texts::scan(rows, Position(0), &mut |at, row| {
        // A damaged row must not stop packs from being made: it goes, too.
        let is_kept = decode(at, row).is_ok_and(|text| text.at >= before);
        if expired.len() == EXPIRED_AT_ONCE || is_kept {
            return Ok(ControlFlow::Break(()));
        }
        expired.push(at);
        Ok(ControlFlow::Continue(()))
    })?;
    remove(rows, &expired);
    texts::put(rows, pack, &codec::encode(text));
    Ok(())
}

/// Finds the texts that `may_have` forgotten content.
///
/// # Errors
/// [`Error`] when a row cannot be read.
pub fn find(
    rows: &dyn Rows,
    may_have: &dyn Fn(&PackText, Position) -> bool,
) -> Result<Vec<Position>, Error> {
    let mut found = Vec::new();
    texts::scan(rows, Position(0), &mut |at, row| {
        // A damaged row must not stop forgetting, and what it has is not known.
        if decode(at, row).map_or(true, |text| may_have(&text, at)) {
            found.push(at);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// Removes texts.
pub fn remove(rows: &mut dyn RowsMut, packs: &[Position]) {
    for at in packs {
        texts::remove(rows, *at);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::store::MemoryStore;

    fn text(day: u64, session: &str) -> PackText {
        PackText {
            at: day * DAY_MICROS,
            ..PackText::new(Some(session), format!("of day {day}"), [], &[])
        }
    }

    fn days(rows: &MemoryStore) -> Vec<u64> {
        let found = find(rows, &|_, _| true).unwrap().into_iter();
        found.map(|at| at.0).collect()
    }

    #[test]
    fn texts_go_when_they_are_old() {
        let mut rows = MemoryStore::new();
        for day in 1..=9 {
            keep(&mut rows, Position(day), &text(day, "s"), 5).unwrap();
        }
        assert_eq!(days(&rows), [4, 5, 6, 7, 8, 9]);
        assert_eq!(get(&rows, Position(4)).unwrap(), Some(text(4, "s")));
        // After a pause, some go with each text.
        keep(&mut rows, Position(100), &text(100, "s"), 5).unwrap();
        assert_eq!(days(&rows), [8, 9, 100]);
    }

    #[test]
    fn texts_are_found_by_what_they_may_have() {
        let mut rows = MemoryStore::new();
        for (at, session) in [(1, "a"), (2, "b"), (3, "a")] {
            keep(&mut rows, Position(at), &text(at, session), 90).unwrap();
        }
        let of_a = find(&rows, &|text, at| {
            text.sessions.contains("a") && at > Position(1)
        });
        let of_a = of_a.unwrap();
        assert_eq!(of_a, [Position(3)]);
        remove(&mut rows, &of_a);
        assert_eq!(days(&rows), [1, 2]);
        assert_eq!(get(&rows, Position(3)).unwrap(), None);
    }

    #[test]
    fn a_damaged_text_stops_neither_packs_nor_forgetting() {
        let mut rows = MemoryStore::new();
        keep(&mut rows, Position(2), &text(2, "s"), 90).unwrap();
        texts::put(&mut rows, Position(1), b"damaged");
        assert!(get(&rows, Position(1)).is_err());
        assert_eq!(find(&rows, &|_, _| false).unwrap(), [Position(1)]);
        keep(&mut rows, Position(3), &text(3, "s"), 90).unwrap();
        assert_eq!(days(&rows), [2, 3]);
    }

    #[test]
    fn parts_name_their_sources_and_texts_their_sessions() {
        let of = |session: Option<&str>, item| PackDependency {
            session: session.map(str::to_owned),
            item,
        };
        let said = of(Some("other"), Item::Message("m-1".to_owned()));
        let chunk = of(
            None,
            Item::Document {
                document: "d".to_owned(),
                chunk: 0,
            },
        );
        let rests_on = [said.clone(), chunk.clone()];
        let parts = [(chunk, 0..3), (said, 4..9)];
        let text = PackText::new(Some("own"), "one words".to_owned(), parts, &rests_on);
        assert_eq!(text.parts, [(0, 3, 1), (4, 9, 0)]);
        assert!(text.has_others && text.sessions.iter().eq(["other", "own"]));
        assert!(PackText::new(None, String::new(), [], &[]).has_others);
    }
}
