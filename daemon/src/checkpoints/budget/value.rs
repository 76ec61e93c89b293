//! Shortens a value: texts in the middle, arrays between head and tail, at any depth. Numbers, literals, members of
//! objects and their keys never change.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::TruncationAction;
use super::white_space::squeeze;

/// Maximum depth of nesting that is shortened.
const DEPTH_MAX: usize = 32;

/// Minimum number of characters that a cut removes, because a marker has characters, too.
pub(super) const CHARS_LEFT_OUT_MIN: usize = 60;

/// Minimum number of elements that a cut removes.
pub(super) const ELEMENTS_LEFT_OUT_MIN: usize = 2;

/// Limits of a shortened value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ShortenLimit {
    /// Maximum number of characters of each text.
    pub chars: usize,
    /// Maximum number of elements of each array.
    pub elements: usize,
}

impl ShortenLimit {
    /// Removes white space only.
    pub const WHITE_SPACE: Self = Self {
        chars: usize::MAX,
        elements: usize::MAX,
    };
}

/// How to load the whole value, for its first marker.
#[derive(Clone, Copy, Debug)]
pub(super) struct MarkerOrigin<'a> {
    /// The top-level key of the value.
    pub key: &'a str,
    /// The checkpoint with the value, if it is stored.
    pub checkpoint: Option<&'a str>,
}

/// Maximum number of characters of a key in a marker.
const ORIGIN_KEY_CHARS_MAX: usize = 60;

impl fmt::Display for MarkerOrigin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(checkpoint) = self.checkpoint else {
            return Ok(());
        };
        let key: String = self.key.chars().take(ORIGIN_KEY_CHARS_MAX).collect();
        let rest = if key.len() < self.key.len() {
            "…"
        } else {
            ""
        };
        write!(f, "; load key \"{key}{rest}\" of checkpoint {checkpoint}")
    }
}

/// A value, parsed for shortening.
pub(super) struct Value<'a> {
    node: Node<'a>,
    /// Whether white space can be removed.
    pub is_loose: bool,
    /// Length of the longest text, in characters.
    pub chars_max: usize,
    /// Length of the longest array.
    pub elements_max: usize,
}

enum Node<'a> {
    /// JSON that is never shortened.
    Plain(&'a str),
    Text(Text<'a>),
    Array(Vec<Node<'a>>),
    /// Keys as JSON.
    Object(Vec<(String, Node<'a>)>),
}

struct Text<'a> {
    json: &'a str,
    /// The text without needless white space.
    squeezed: String,
    chars: usize,
    is_loose: bool,
}

impl<'a> Value<'a> {
    /// Parses JSON; any other text is one plain piece.
    pub fn read(json: &'a str) -> Self {
        let mut value = Self {
            node: Node::Plain(json),
            is_loose: false,
            chars_max: 0,
            elements_max: 0,
        };
        value.node = value.node(json, DEPTH_MAX);
        value
    }

    /// Returns whether a limit changes anything.
    pub fn feels(&self, cut: &ShortenLimit) -> bool {
        self.is_loose
            || self.chars_max.saturating_sub(cut.chars) >= CHARS_LEFT_OUT_MIN
            || self.elements_max.saturating_sub(cut.elements) >= ELEMENTS_LEFT_OUT_MIN
    }

    /// Returns the shortened value as JSON, with the last step that changed it.
    pub fn shorten(
        &self,
        cut: &ShortenLimit,
        origin: &MarkerOrigin<'_>,
    ) -> (String, TruncationAction) {
        let mut writer = Writer {
            json: String::new(),
            done: TruncationAction::Whole,
            cut,
            origin: Some(origin),
        };
        writer.node(&self.node);
        (writer.json, writer.done)
    }

    fn node(&mut self, json: &'a str, depth: usize) -> Node<'a> {
        let read = match json.as_bytes().first() {
            Some(b'"') => self.text(json),
            Some(b'[') if depth > 0 => self.array(json, depth - 1),
            Some(b'{') if depth > 0 => self.object(json, depth - 1),
            Some(_) | None => None,
        };
        read.unwrap_or(Node::Plain(json))
    }

    /// Returns `None` for a text that is never shortened.
    fn text(&mut self, json: &'a str) -> Option<Node<'a>> {
        if json.len() <= CHARS_LEFT_OUT_MIN && !json.contains(['\\', ' ', '\t']) {
            return None;
        }
        // A lone surrogate is not text, and not canonical.
        let text: String = serde_json::from_str(json).ok()?;
        let squeezed = squeeze(&text);
        let is_loose = squeezed != text;
        let chars = squeezed.chars().count();
        self.is_loose |= is_loose;
        self.chars_max = self.chars_max.max(chars);
        Some(Node::Text(Text {
            json,
            squeezed,
            chars,
            is_loose,
        }))
    }

    fn array(&mut self, json: &'a str, depth: usize) -> Option<Node<'a>> {
        let elements: Vec<&RawValue> = serde_json::from_str(json).ok()?;
        self.elements_max = self.elements_max.max(elements.len());
        let elements = elements.into_iter();
        let nodes = elements.map(|element| self.node(element.get(), depth));
        Some(Node::Array(nodes.collect()))
    }

    fn object(&mut self, json: &'a str, depth: usize) -> Option<Node<'a>> {
        let Members(members) = serde_json::from_str(json).ok()?;
        let members = members.into_iter();
        let nodes = members.map(|(key, value)| (text_json(&key), self.node(value.get(), depth)));
        Some(Node::Object(nodes.collect()))
    }
}

/// The members of an object in order, with values as JSON.
pub(super) struct Members<'a>(pub Vec<(String, &'a RawValue)>);

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

/// Writes a shortened value.
struct Writer<'a> {
    json: String,
    done: TruncationAction,
    cut: &'a ShortenLimit,
    /// Only the first marker of a value names its origin.
    origin: Option<&'a MarkerOrigin<'a>>,
}

impl Writer<'_> {
    fn node(&mut self, node: &Node<'_>) {
        match node {
            Node::Plain(json) => self.json.push_str(json),
            Node::Text(text) => self.text(text),
            Node::Array(elements) => self.array(elements),
            Node::Object(members) => {
                self.json.push('{');
                for (at, (key, value)) in members.iter().enumerate() {
                    self.comma(at);
                    self.json.push_str(key);
                    self.json.push(':');
                    self.node(value);
                }
                self.json.push('}');
            }
        }
    }

    fn text(&mut self, text: &Text<'_>) {
        let left_out = text.chars.saturating_sub(self.cut.chars);
        if left_out >= CHARS_LEFT_OUT_MIN {
            let marker = self.marker(&format!("{left_out} characters"));
            let (head, tail) = ends(&text.squeezed, self.cut.chars);
            let cut = format!("{head}{marker}{tail}");
            self.json.push_str(&text_json(&cut));
            self.done = self.done.max(TruncationAction::Strings);
        } else if text.is_loose {
            self.json.push_str(&text_json(&text.squeezed));
            self.done = self.done.max(TruncationAction::Whitespace);
        } else {
            self.json.push_str(text.json);
        }
    }

    fn array(&mut self, elements: &[Node<'_>]) {
        let count = elements.len();
        let left_out = count.saturating_sub(self.cut.elements);
        let is_cut = left_out >= ELEMENTS_LEFT_OUT_MIN;
        let head = if is_cut {
            self.cut.elements.div_ceil(2)
        } else {
            count
        };
        let tail = if is_cut { head + left_out } else { count };
        self.json.push('[');
        for (at, element) in elements.iter().enumerate() {
            if at == head {
                self.comma(at);
                let marker = self.marker(&format!("{left_out} of {count} elements"));
                self.json.push_str(&text_json(&marker));
                self.done = self.done.max(TruncationAction::Arrays);
            }
            if at < head || at >= tail {
                self.comma(at);
                self.node(element);
            }
        }
        self.json.push(']');
    }

    fn comma(&mut self, at: usize) {
        if at > 0 {
            self.json.push(',');
        }
    }

    fn marker(&mut self, what: &str) -> String {
        match self.origin.take() {
            Some(origin) => format!("…[{what} left out{origin}]…"),
            None => format!("…[{what} left out]…"),
        }
    }
}

/// Returns the beginning and the end of a text, together `chars` characters.
fn ends(text: &str, chars: usize) -> (&str, &str) {
    let (head, tail) = (chars.div_ceil(2), chars / 2);
    let head_end = text
        .char_indices()
        .nth(head)
        .map_or(text.len(), |(at, _)| at);
    let mut from_the_end = text.char_indices().rev();
    let tail_start = match tail.checked_sub(1) {
        Some(others) => from_the_end.nth(others).map_or(0, |(at, _)| at),
        None => text.len(),
    };
    let head = text.get(..head_end).unwrap_or_default();
    (head, text.get(tail_start..).unwrap_or_default())
}

/// Encodes a text as JSON.
pub(super) fn text_json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGIN: MarkerOrigin<'_> = MarkerOrigin {
        key: "notes",
        checkpoint: Some("C1"),
    };

    fn shorten(json: &str, chars: usize, elements: usize) -> (String, TruncationAction) {
        Value::read(json).shorten(&ShortenLimit { chars, elements }, &ORIGIN)
    }

    #[test]
    fn texts_are_cut_in_the_middle_and_the_first_marker_says_how_to_load() {
        let text = "a".repeat(100) + &"é".repeat(100);
        let json = format!("{{\"k\":\"{text}\",\"l\":[\"{text}\",1.50e+07]}}");
        let (cut, done) = shorten(&json, 5, 9);
        assert_eq!(
            cut,
            "{\"k\":\"aaa…[195 characters left out; load key \\\"notes\\\" of checkpoint C1]…éé\",\
             \"l\":[\"aaa…[195 characters left out]…éé\",1.50e+07]}"
        );
        assert_eq!(done, TruncationAction::Strings);
    }

    #[test]
    fn arrays_keep_head_and_tail() {
        let (cut, done) = shorten("[1,2,3,4,5,6,7]", 9, 3);
        let marker = "\"…[4 of 7 elements left out; load key \\\"notes\\\" of checkpoint C1]…\"";
        assert_eq!(cut, format!("[1,2,{marker},7]"));
        assert_eq!(done, TruncationAction::Arrays);
        assert!(shorten("[1,2,3,4,5]", 9, 0).0.starts_with("[\"…[5 of 5"));
        assert_eq!(
            shorten("[1,2,3,4]", 9, 3),
            ("[1,2,3,4]".to_owned(), TruncationAction::Whole)
        );
    }

    #[test]
    fn what_need_not_be_cut_stays_to_the_byte() {
        for json in [
            "\"\\u0001 \\\" \\\\\"",
            "{\"$serde_json::private::Number\":\"no number\"}",
            "{\"b\":-0.0,\"a\":123456789012345678901234567890.5E-3}",
            "\"\\ud800 \"",
            "",
            "no json",
        ] {
            assert_eq!(
                shorten(json, 9, 9),
                (json.to_owned(), TruncationAction::Whole)
            );
            assert!(!Value::read(json).feels(&ShortenLimit {
                chars: 9,
                elements: 9
            }));
        }
    }

    /// Deep values are not parsed beyond the limit, so they need no stack.
    #[test]
    fn depth_is_left_as_it_is() {
        let json = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(shorten(&json, 0, 5).0, json);
    }
}
