//! Arrays and objects that are shortened, and the JSON of the parts that are kept.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{BRACKETS, MARGIN, Surroundings, whole};
use crate::checkpoints::budget::marker::{longest_messages_left_out, messages_left_out};
use crate::checkpoints::budget::order;
use crate::checkpoints::budget::sequence::Part;
use crate::checkpoints::budget::text::text_json;
use crate::checkpoints::conversation::{self, Group};
use crate::tokens::Tokens;

/// An array's element is too long alone beyond this share of its room.
const ELEMENT_SHARE: f64 = 0.25;
/// Maximum tokens of a message that stays whole also if it is too long alone.
const SHORT_MESSAGE_TOKENS: f64 = 150.0;
/// Number of groups of a conversation that stay whole in little room: the first request, the last one, and the newest.
/// Only those of a single message do: else a larger budget, with room for one of a higher rank, could keep fewer
/// messages.
const SHORT_GROUPS_MAX: usize = 3;
/// The key of a marker in an object.
pub(super) const MARKER_KEY: &str = "…";

/// An array that is shortened.
pub(super) struct Array<'a> {
    pub elements: Vec<&'a RawValue>,
    /// Tokens of the ranked elements, by index.
    pub needs: HashMap<usize, f64>,
    /// By rank.
    pub groups: Vec<Group>,
    pub is_conversation: bool,
}

impl Array<'_> {
    pub fn need(&self, at: usize) -> f64 {
        self.needs.get(&at).copied().unwrap_or(f64::INFINITY)
    }

    pub fn part(&self, group: &Group) -> Part {
        Part {
            need: group.messages.iter().map(|at| self.need(*at)).sum(),
            share: group.share,
            takes_rest: group.messages.len() == 1,
        }
    }

    /// Counts the whole messages of a conversation.
    pub fn whole_messages(&self, pieces: &Pieces) -> usize {
        let is_whole = |(at, piece): &(&usize, &String)| {
            let element = self.elements.get(**at);
            element.is_some_and(|element| element.get() == piece.as_str())
        };
        pieces.iter().filter(is_whole).count()
    }

    /// Lists the sets of short messages among the first by rank, the largest first, then those of the highest ranks.
    pub fn short_sets(&self) -> Vec<Pieces> {
        let first = self.groups.iter().take(SHORT_GROUPS_MAX);
        let first = first.filter(|group| group.messages.len() == 1);
        let short = first.filter(|group| self.part(group).need <= SHORT_MESSAGE_TOKENS);
        let short = short.flat_map(|group| &group.messages);
        let short: Vec<(usize, String)> = short
            .filter_map(|at| Some((*at, self.elements.get(*at)?.get().to_owned())))
            .collect();
        // The bits of a number are the members of a set; the first one is the highest.
        let has = |set: u32, rank: usize| set >> (SHORT_GROUPS_MAX - 1 - rank) & 1 == 1;
        let mut sets: Vec<u32> = (1..1 << SHORT_GROUPS_MAX).collect();
        sets.sort_by_key(|set| (Reverse(set.count_ones()), Reverse(*set)));
        let is_there = |set: &u32| (short.len()..SHORT_GROUPS_MAX).all(|rank| !has(*set, rank));
        let sets = sets.into_iter().filter(is_there);
        let members = |set: u32| {
            let ranked = short
                .iter()
                .enumerate()
                .filter(move |(rank, _)| has(set, *rank));
            ranked.map(|(_, member)| member.clone()).collect()
        };
        sets.map(members).collect()
    }

    pub fn left_out(&self, pieces: &Pieces) -> String {
        let count = self.elements.len();
        if self.is_conversation {
            let is_kept: Vec<bool> = (0..count).map(|at| pieces.contains_key(&at)).collect();
            return messages_left_out(&is_kept);
        }
        format!("{} of {count} elements", count - pieces.len())
    }

    /// A text that takes at least as many tokens as [`Self::left_out`].
    pub fn longest_left_out(&self) -> String {
        let count = self.elements.len();
        match self.is_conversation {
            true => longest_messages_left_out(count),
            false => format!("{count} of {count} elements"),
        }
    }
}

/// Returns the tokens within which a conversation keeps one short message whole, two, and three; none for other values,
/// and for a conversation whose first messages by rank are long.
pub(in crate::checkpoints::budget) fn message_floors(json: &str, tokens: &Tokens) -> Vec<f64> {
    let elements: Vec<&RawValue> = serde_json::from_str(json).unwrap_or_default();
    let groups = conversation::groups(&elements).unwrap_or_default();
    let first = groups.iter().take(SHORT_GROUPS_MAX);
    let first = first.filter(|group| group.messages.len() == 1);
    let messages = first.flat_map(|group| &group.messages);
    let max = SHORT_MESSAGE_TOKENS - MARGIN;
    let needs = messages.filter_map(|at| {
        let message = elements.get(*at)?;
        let count = tokens.count_within(message.get(), max as usize)?;
        Some(count as f64 + MARGIN)
    });
    let mut needs: Vec<f64> = needs.collect();
    needs.sort_by(f64::total_cmp);
    let mut sum = BRACKETS + MARGIN;
    let floors = needs.into_iter().map(|need| {
        sum += need;
        sum
    });
    floors.collect()
}

/// Ranks the elements of an array that is not a conversation, each alone.
pub(super) fn single_elements(elements: &[&RawValue], place: Surroundings<'_>) -> Vec<Group> {
    let count = elements.len();
    let ranks = if place.is_log {
        order::newest_first(count, false)
    } else if order::is_history(place.key, elements) {
        order::newest_first(count, true)
    } else {
        order::head_first(count)
    };
    let groups = ranks.into_iter().map(|at| Group {
        messages: vec![at],
        share: ELEMENT_SHARE,
    });
    groups.collect()
}

/// A member of an object that is shortened.
pub(super) struct Member<'a> {
    pub key: String,
    pub value: &'a str,
    /// Tokens of key and value.
    pub need: f64,
}

/// The kept parts of an array or object as JSON, by index.
pub(super) type Pieces = BTreeMap<usize, String>;

/// Returns the maximum number of parts within some tokens: each has at least one, with its comma.
pub(super) fn parts_max(allowed: f64) -> usize {
    whole(allowed / 2.0).unwrap_or(0) + 1
}

/// Joins the kept pieces; the marker stands where the first one is missing.
pub(super) fn array_json(pieces: &Pieces, marker: Option<String>) -> String {
    joined('[', pieces, marker.map(|marker| text_json(&marker)), ']')
}

pub(super) fn object_json(pieces: &Pieces, marker: Option<String>) -> String {
    let marker = marker.map(|marker| format!("{}:{}", text_json(MARKER_KEY), text_json(&marker)));
    joined('{', pieces, marker, '}')
}

fn joined(open: char, pieces: &Pieces, marker: Option<String>, close: char) -> String {
    let gap = pieces
        .keys()
        .zip(0..)
        .take_while(|(at, next)| *at == next)
        .count();
    let (before, after) = (pieces.values().take(gap), pieces.values().skip(gap));
    let parts: Vec<&str> = before
        .chain(&marker)
        .chain(after)
        .map(String::as_str)
        .collect();
    format!("{open}{}{close}", parts.join(","))
}

/// The members of an object in order, with values as JSON.
pub(in crate::checkpoints::budget) struct Members<'a>(pub Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Object)
    }
}
