//! Renders a value within a number of tokens.
//!
//! What fits stays as it is, to the byte. Of arrays and objects whole parts are kept, by rank, and a part is shortened
//! only if it is too long alone. Numbers, literals and keys never change.

mod messages;
mod pieces;

use std::collections::HashMap;

use serde_json::value::RawValue;

use super::TruncationAction;
use super::marker::{MarkerOrigin, marker};
use super::sequence::{Allowances, Part, all_within, first_within, level};
use super::text::{KeptPart, cut, largest, text_json};
use super::white_space::squeeze;
use crate::checkpoints::conversation;
use crate::tokens::Tokens;

pub(super) use messages::ConversationFinder;
use pieces::{
    Array, MARKER_KEY, Member, Pieces, array_json, object_json, parts_max, single_elements,
};
pub(super) use pieces::{Members, message_floors};

/// Maximum depth of nesting that is shortened.
const DEPTH_MAX: usize = 32;
/// Tokens that a piece may take more inside a text than alone, with its comma.
const MARGIN: f64 = 1.0;
/// Tokens of a pair of brackets.
const BRACKETS: f64 = 2.0;
/// An object's member is too long alone beyond this share of its room.
const MEMBER_SHARE: f64 = 0.25;
/// A marker names its origin if that takes at most this part of the room.
const ORIGIN_PART: usize = 5;
/// Maximum number of repetitions in which estimates of tokens were too low.
const REPEATS_MAX: u32 = 100;

/// A shortened value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rendered {
    pub json: String,
    /// The last step that changed it.
    pub done: TruncationAction,
    /// Whether a conversation was shortened.
    pub has_messages: bool,
    /// Number of whole messages of its conversations.
    pub whole_messages: usize,
}

/// The surroundings of a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surroundings<'a> {
    /// The nearest key.
    pub key: &'a str,
    /// Whether only the newest data matter, as in a log.
    pub is_log: bool,
}

/// Renders a value as JSON with at most `allowed` tokens; `None` if nothing of it fits.
pub(super) fn render(
    json: &str,
    allowed: f64,
    surroundings: Surroundings<'_>,
    origin: Option<&MarkerOrigin<'_>>,
    conversations: &ConversationFinder,
    tokens: &Tokens,
) -> Option<Rendered> {
    let mut renderer = Renderer {
        tokens,
        conversations,
        failed: HashMap::new(),
        state: State {
            origin,
            done: TruncationAction::Whole,
        },
        has_messages: false,
        whole_messages: 0,
        repeats_left: REPEATS_MAX,
    };
    let json = renderer.value(json, allowed, surroundings, DEPTH_MAX)?;
    Some(Rendered {
        json,
        done: renderer.state.done,
        has_messages: renderer.has_messages,
        whole_messages: renderer.whole_messages,
    })
}

struct Renderer<'a> {
    tokens: &'a Tokens,
    conversations: &'a ConversationFinder,
    /// The largest rooms into which nothing of a value fits, by the address of its first byte. Without them each level of a
    /// deep value tries those within it twice.
    failed: HashMap<usize, f64>,
    state: State<'a>,
    has_messages: bool,
    whole_messages: usize,
    repeats_left: u32,
}

/// What a repetition resets.
#[derive(Clone, Copy)]
struct State<'a> {
    /// Only one marker of a value names its origin.
    origin: Option<&'a MarkerOrigin<'a>>,
    done: TruncationAction,
}

impl Renderer<'_> {
    fn value(
        &mut self,
        json: &str,
        allowed: f64,
        place: Surroundings<'_>,
        depth: usize,
    ) -> Option<String> {
        let max = whole(allowed - MARGIN)?;
        let address = json.as_ptr().addr();
        if self
            .failed
            .get(&address)
            .is_some_and(|room| allowed <= *room)
        {
            return None;
        }
        if self.tokens.count_within(json, max).is_some() {
            return Some(json.to_owned());
        }
        let shortened = match json.as_bytes().first() {
            Some(b'"') => self.text(json, max, place),
            Some(b'[') if depth > 0 => self.array(json, allowed, place, depth - 1),
            Some(b'{') if depth > 0 => self.object(json, allowed, place, depth - 1),
            Some(_) | None => None,
        };
        if shortened.is_none() {
            let room = self.failed.entry(address).or_insert(allowed);
            *room = room.max(allowed);
        }
        shortened
    }

    fn text(&mut self, json: &str, max: usize, place: Surroundings<'_>) -> Option<String> {
        // A lone surrogate is not text, and not canonical.
        let text: String = serde_json::from_str(json).ok()?;
        let squeezed = squeeze(&text);
        if squeezed != text {
            let json = text_json(&squeezed);
            if self.tokens.count_within(&json, max).is_some() {
                self.note(TruncationAction::Whitespace);
                return Some(json);
            }
        }
        let origin = self.origin(max);
        let part = if place.is_log {
            KeptPart::Tail
        } else {
            KeptPart::Ends
        };
        let chars = squeezed.chars().count();
        let cut = largest(chars, |kept| {
            let (head, tail) = cut(&squeezed, kept, part);
            let left_out = chars - head.chars().count() - tail.chars().count();
            let marker = marker(&format!("{left_out} characters"), origin);
            let json = text_json(&format!("{head}{marker}{tail}"));
            self.tokens.count_within(&json, max).map(|_| json)
        })?;
        self.used(origin);
        self.note(TruncationAction::Strings);
        Some(cut)
    }

    fn array(
        &mut self,
        json: &str,
        allowed: f64,
        place: Surroundings<'_>,
        depth: usize,
    ) -> Option<String> {
        let elements: Vec<&RawValue> = serde_json::from_str(json).ok()?;
        let groups = conversation::groups(&elements);
        let is_conversation = groups.is_some();
        self.has_messages |= is_conversation;
        let mut groups = groups.unwrap_or_else(|| single_elements(&elements, place));
        groups.truncate(parts_max(allowed));
        let ranked = groups.iter().flat_map(|group| &group.messages);
        let ranked = ranked.filter_map(|at| Some((*at, elements.get(*at)?)));
        let needs = ranked.map(|(at, element)| (at, self.need(element.get(), allowed)));
        let array = Array {
            needs: needs.collect(),
            elements,
            groups,
            is_conversation,
        };
        let before = self.state;
        let of_others = std::mem::take(&mut self.whole_messages);
        let fitted = self.fitted(allowed, |this, room| {
            this.array_within(&array, room, place, depth)
        });
        let kept = match fitted {
            Some(_) => self.whole_messages,
            None => 0,
        };
        self.whole_messages = of_others + kept;
        if !array.is_conversation {
            return fitted;
        }
        let Some((json, count)) = self.short_messages(&array, kept, allowed) else {
            return fitted;
        };
        self.state = before;
        self.note(TruncationAction::Arrays);
        self.whole_messages = of_others + count;
        Some(json)
    }

    /// Renders a conversation as more of its first short messages by rank than are whole otherwise, with their number.
    fn short_messages(
        &self,
        array: &Array<'_>,
        otherwise: usize,
        allowed: f64,
    ) -> Option<(String, usize)> {
        let sets = array.short_sets();
        let more = sets.iter().filter(|set| set.len() > otherwise);
        let fits = |json: &String| self.count(json) + MARGIN <= allowed;
        let total = array.elements.len();
        more.flat_map(|set| {
            let left_out = total - set.len();
            let marker =
                (left_out > 0).then(|| marker(&format!("{left_out} of {total} messages"), None));
            let without = marker.is_some().then(|| array_json(set, None));
            let forms = std::iter::once(array_json(set, marker)).chain(without);
            forms.map(|json| (json, set.len()))
        })
        .find(|(json, _)| fits(json))
    }

    fn array_within(
        &mut self,
        array: &Array<'_>,
        room: f64,
        place: Surroundings<'_>,
        depth: usize,
    ) -> Option<String> {
        let parts: Vec<Part> = array.groups.iter().map(|group| array.part(group)).collect();
        if let Some(allowances) = all_within(&parts, room - BRACKETS) {
            let before = self.state;
            let pieces = self.elements(array, &allowances, place, depth);
            if pieces.len() == array.elements.len() {
                self.note_messages(array, &pieces);
                return Some(array_json(&pieces, None));
            }
            self.state = before;
        }
        let reserve = self.origin_reserve(room);
        let origin = self.origin(whole(room)?);
        self.used(origin);
        let longest = self.count(&text_json(&marker(&array.longest_left_out(), None)));
        let room = room - BRACKETS - MARGIN - longest - reserve;
        let pieces = self.elements(array, &first_within(&parts, room), place, depth);
        if pieces.is_empty() {
            return None;
        }
        let is_cut = pieces.len() < array.elements.len();
        if is_cut {
            self.note(TruncationAction::Arrays);
        }
        self.note_messages(array, &pieces);
        let marker = is_cut.then(|| marker(&array.left_out(&pieces), origin));
        Some(array_json(&pieces, marker))
    }

    fn note_messages(&mut self, array: &Array<'_>, pieces: &Pieces) {
        if array.is_conversation {
            self.whole_messages = array.whole_messages(pieces);
        }
    }

    /// Renders the elements of the allowed groups, by index.
    fn elements(
        &mut self,
        array: &Array<'_>,
        allowances: &Allowances,
        place: Surroundings<'_>,
        depth: usize,
    ) -> Pieces {
        let mut pieces = Pieces::new();
        for (group, allowance) in array.groups.iter().zip(allowances) {
            let Some(allowance) = *allowance else {
                continue;
            };
            let before = self.state;
            let needs = group.messages.iter().map(|at| (array.need(*at), 1.0));
            let each = level(needs, allowance);
            let rendered: Option<Vec<String>> = group
                .messages
                .iter()
                .map(|at| {
                    let element = array.elements.get(*at)?;
                    self.value(element.get(), array.need(*at).min(each), place, depth)
                })
                .collect();
            // A group is kept as a whole.
            let Some(rendered) = rendered else {
                self.state = before;
                continue;
            };
            pieces.extend(group.messages.iter().copied().zip(rendered));
        }
        pieces
    }

    fn object(
        &mut self,
        json: &str,
        allowed: f64,
        place: Surroundings<'_>,
        depth: usize,
    ) -> Option<String> {
        let Members(members) = serde_json::from_str(json).ok()?;
        let members = members.into_iter().map(|(key, value)| {
            let key_tokens = self.key_tokens(&key);
            Member {
                need: key_tokens + self.need(value.get(), allowed),
                key,
                value: value.get(),
            }
        });
        let members: Vec<Member<'_>> = members.collect();
        // Small members first: they say what the large ones are, and most of them fit.
        let mut ranks: Vec<usize> = (0..members.len()).collect();
        let need = |at: &usize| members.get(*at).map_or(0.0, |member| member.need);
        ranks.sort_by(|a, b| need(a).total_cmp(&need(b)));
        ranks.truncate(parts_max(allowed));
        self.fitted(allowed, |this, room| {
            this.object_within(&members, &ranks, room, place, depth)
        })
    }

    fn object_within(
        &mut self,
        members: &[Member<'_>],
        ranks: &[usize],
        room: f64,
        place: Surroundings<'_>,
        depth: usize,
    ) -> Option<String> {
        let ranked = ranks.iter().filter_map(|at| members.get(*at));
        let parts: Vec<Part> = ranked
            .map(|member| Part {
                need: member.need,
                share: MEMBER_SHARE,
                takes_rest: !self.conversations.has_messages(member.value),
            })
            .collect();
        if let Some(allowances) = all_within(&parts, room - BRACKETS) {
            let before = self.state;
            let pieces = self.members(members, ranks, &allowances, place, depth);
            if pieces.len() == members.len() {
                return Some(object_json(&pieces, None));
            }
            self.state = before;
        }
        let reserve = self.origin_reserve(room);
        let origin = self.origin(whole(room)?);
        self.used(origin);
        let count = members.len();
        let what =
            |left_out: usize, origin| marker(&format!("{left_out} of {count} members"), origin);
        let longest = self.count(MARKER_KEY) + self.count(&text_json(&what(count, None)));
        let room = room - BRACKETS - 3.0 * MARGIN - longest - reserve;
        let pieces = self.members(members, ranks, &first_within(&parts, room), place, depth);
        if pieces.is_empty() {
            return None;
        }
        let left_out = count - pieces.len();
        if left_out > 0 {
            self.note(TruncationAction::Members);
        }
        let has_place = !members.iter().any(|member| member.key == MARKER_KEY);
        let marker = (left_out > 0 && has_place).then(|| what(left_out, origin));
        Some(object_json(&pieces, marker))
    }

    fn members(
        &mut self,
        members: &[Member<'_>],
        ranks: &[usize],
        allowances: &Allowances,
        place: Surroundings<'_>,
        depth: usize,
    ) -> Pieces {
        let mut pieces = Pieces::new();
        for (at, allowance) in ranks.iter().zip(allowances) {
            let (Some(member), Some(allowance)) = (members.get(*at), *allowance) else {
                continue;
            };
            let place = Surroundings {
                key: &member.key,
                ..place
            };
            let allowance = allowance - self.key_tokens(&member.key);
            if let Some(value) = self.value(member.value, allowance, place, depth) {
                pieces.insert(*at, format!("{}:{value}", text_json(&member.key)));
            }
        }
        pieces
    }

    /// Repeats a rendering with less room while its text takes more tokens than its parts.
    fn fitted(
        &mut self,
        allowed: f64,
        mut render: impl FnMut(&mut Self, f64) -> Option<String>,
    ) -> Option<String> {
        let before = self.state;
        let mut room = allowed;
        loop {
            let json = render(self, room)?;
            let over = self.count(&json) + MARGIN - allowed;
            if over <= 0.0 {
                return Some(json);
            }
            self.repeats_left = self.repeats_left.checked_sub(1)?;
            self.state = before;
            room -= over.max(1.0);
        }
    }

    /// Tokens of a piece with its comma, or infinity if they exceed what is allowed.
    fn need(&self, json: &str, allowed: f64) -> f64 {
        let max = whole(allowed).unwrap_or(0);
        let count = self.tokens.count_within(json, max);
        count.map_or(f64::INFINITY, |count| count as f64 + MARGIN)
    }

    /// Tokens of a key with its punctuation.
    fn key_tokens(&self, key: &str) -> f64 {
        self.count(&text_json(key)) + 2.0 * MARGIN
    }

    fn count(&self, text: &str) -> f64 {
        self.tokens.count(text) as f64
    }

    /// Returns the origin for the next marker, if none has named it and there is room.
    fn origin<'o>(&self, max: usize) -> Option<&'o MarkerOrigin<'o>>
    where
        Self: 'o,
    {
        let origin = self.state.origin?;
        let max = max / ORIGIN_PART;
        self.tokens
            .count_within(&origin.to_string(), max)
            .map(|_| origin)
    }

    /// Tokens that an origin may take. They grow with the room without a step, so that what else fits does so, too.
    fn origin_reserve(&self, room: f64) -> f64 {
        let origin = self
            .state
            .origin
            .map_or(0.0, |origin| self.count(&origin.to_string()));
        origin.min(room / ORIGIN_PART as f64)
    }

    fn used(&mut self, origin: Option<&MarkerOrigin<'_>>) {
        if origin.is_some() {
            self.state.origin = None;
        }
    }

    fn note(&mut self, done: TruncationAction) {
        self.state.done = self.state.done.max(done);
    }
}

/// Returns the whole tokens of an allowance; `None` if there are none.
fn whole(allowed: f64) -> Option<usize> {
    // Sums of shares miss a whole number by rounding.
    let allowed = (allowed + 1e-6).floor();
    (allowed >= 1.0).then_some(allowed as usize)
}

#[cfg(test)]
mod tests;
