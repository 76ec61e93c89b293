//! Reads JSON of unknown size and origin into a tree of limited size. Long strings lose their middle, deep or surplus
//! values are left out, and every such cut is reported.
//!
//! The input is never copied as a whole: a payload of 64 MB becomes a tree of at most [`KEPT_BYTES_MAX`] bytes of text
//! and [`NODES_MAX`] values. General parsers first build every string in full.

mod raw;
mod shortener;

use serde_json::{Map, Number, Value};

use raw::{decode, end_of_head, left_out_between, note, shortened_before, start_of_tail};
pub use shortener::Shortener;

/// Nesting beyond which values are left out.
pub const DEPTH_MAX: usize = 48;
/// Values that are kept; fields of the outermost object may use twice as many.
pub const NODES_MAX: usize = 50_000;
/// Bytes of text that are kept. Beyond, only short fields of the outermost object are: hosts put ids after results.
pub const KEPT_BYTES_MAX: usize = 4 << 20;
/// Bytes of one string that are kept, with the note about what was left out.
pub const TEXT_BYTES_MAX: usize = 256 << 10;
/// Cuts that are listed by name; further ones are only counted.
pub const CUTS_MAX: usize = 32;

/// The part of [`TEXT_BYTES_MAX`] that comes from the end of a string: errors are usually there.
const TAIL_BYTES: usize = 64 << 10;
/// Bytes of the note about what was left out, at most.
const NOTE_BYTES_MAX: usize = 64;
/// Bytes from the beginning of a string that is too long.
const HEAD_BYTES: usize = TEXT_BYTES_MAX - TAIL_BYTES - NOTE_BYTES_MAX;
/// Bytes of a string in the outermost object that are kept when the budget is used up.
const SHORT_BYTES: usize = 512;
/// Bytes of a name of a field.
const NAME_BYTES_MAX: usize = 256;
/// Digits of a number.
const NUMBER_BYTES_MAX: usize = 128;

/// A JSON text as a tree of limited size.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The tree.
    pub value: Value,
    /// The first [`CUTS_MAX`] cuts.
    pub cuts: Vec<Cut>,
    /// Bytes of the input that all cuts left out.
    pub left_out: usize,
}

/// A value that is not in the tree in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Its place, as a JSON pointer (RFC 6901).
    pub pointer: String,
    /// Bytes of the input that were left out.
    pub bytes: usize,
}

/// The input is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The byte at which reading stopped.
    pub at: usize,
}

/// Reads a whole JSON text.
///
/// # Errors
///
/// [`SyntaxError`] if the bytes are not one JSON value with nothing but whitespace around it. Invalid UTF-8 in a string
/// is not an error: it becomes U+FFFD.
pub fn read(bytes: &[u8]) -> Result<Document, SyntaxError> {
    let mut reader = Reader::new(bytes);
    let value = reader.value(0)?.unwrap_or_default();
    reader.whitespace();
    if reader.at < bytes.len() {
        return Err(reader.malformed());
    }
    Ok(Document {
        value,
        cuts: reader.cuts,
        left_out: reader.left_out,
    })
}

/// Reads the elements of a list in the outermost object one by one, without building the others: returns the bytes
/// of each element of the field `name`, and nothing if the text is not such an object.
#[must_use]
pub fn elements<'b>(bytes: &'b [u8], name: &str) -> Vec<&'b [u8]> {
    let mut reader = Reader::new(bytes);
    let mut found = Vec::new();
    // What was found before a fault is still good.
    let _ = reader.list_elements(name, &mut found);
    found
}

/// A step of the path to the value that is being read.
enum Step {
    Field(String),
    Index(usize),
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
    nodes: usize,
    kept: usize,
    path: Vec<Step>,
    cuts: Vec<Cut>,
    left_out: usize,
}

impl<'b> Reader<'b> {
    fn new(bytes: &'b [u8]) -> Self {
        let at = if bytes.starts_with(b"\xEF\xBB\xBF") {
            3
        } else {
            0
        };
        Self {
            bytes,
            at,
            nodes: 0,
            kept: 0,
            path: Vec::new(),
            cuts: Vec::new(),
            left_out: 0,
        }
    }

    const fn malformed(&self) -> SyntaxError {
        SyntaxError { at: self.at }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn whitespace(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Consumes `byte` after whitespace, if it is there.
    fn take(&mut self, byte: u8) -> bool {
        self.whitespace();
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    /// Reads a value; `None` if it is one too many.
    fn value(&mut self, depth: usize) -> Result<Option<Value>, SyntaxError> {
        self.whitespace();
        let nodes_max = if depth <= 1 { 2 * NODES_MAX } else { NODES_MAX };
        let is_surplus = self.nodes >= nodes_max;
        if depth >= DEPTH_MAX || is_surplus {
            let from = self.at;
            self.skip()?;
            self.cut(self.at - from);
            self.nodes += usize::from(!is_surplus);
            return Ok((!is_surplus).then_some(Value::Null));
        }
        self.nodes += 1;
        self.kept_value(depth).map(Some)
    }

    fn kept_value(&mut self, depth: usize) -> Result<Value, SyntaxError> {
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => {
                let raw = self.raw_string()?;
                Ok(Value::String(self.text(raw, depth)))
            }
            Some(b't') => self.word(b"true", Value::Bool(true)),
            Some(b'f') => self.word(b"false", Value::Bool(false)),
            Some(b'n') => self.word(b"null", Value::Null),
            _ => self.number(),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, SyntaxError> {
        self.at += 1;
        let mut fields = Map::new();
        if self.take(b'}') {
            return Ok(Value::Object(fields));
        }
        loop {
            self.whitespace();
            let raw = self.raw_string()?;
            let short = match raw.len() > NAME_BYTES_MAX {
                true => raw
                    .get(..end_of_head(raw, NAME_BYTES_MAX))
                    .unwrap_or_default(),
                false => raw,
            };
            let name = decode(short);
            if !self.take(b':') {
                return Err(self.malformed());
            }
            self.path.push(Step::Field(name));
            if short.len() < raw.len() {
                self.cut(raw.len() - short.len());
            }
            let value = self.value(depth + 1)?;
            if let (Some(Step::Field(name)), Some(value)) = (self.path.pop(), value) {
                self.kept += name.len();
                if self.kept <= 2 * KEPT_BYTES_MAX {
                    fields.insert(name, value);
                }
            }
            if !self.take(b',') {
                break;
            }
        }
        if self.take(b'}') {
            Ok(Value::Object(fields))
        } else {
            Err(self.malformed())
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, SyntaxError> {
        self.at += 1;
        let mut values = Vec::new();
        if self.take(b']') {
            return Ok(Value::Array(values));
        }
        for index in 0.. {
            self.path.push(Step::Index(index));
            let value = self.value(depth + 1)?;
            self.path.pop();
            values.extend(value);
            if !self.take(b',') {
                break;
            }
        }
        if self.take(b']') {
            Ok(Value::Array(values))
        } else {
            Err(self.malformed())
        }
    }

    fn list_elements(&mut self, name: &str, found: &mut Vec<&'b [u8]>) -> Result<(), SyntaxError> {
        if !self.take(b'{') || self.take(b'}') {
            return Ok(());
        }
        loop {
            self.whitespace();
            let raw = self.raw_string()?;
            if !self.take(b':') {
                return Err(self.malformed());
            }
            self.whitespace();
            if raw != name.as_bytes() || self.peek() != Some(b'[') {
                self.skip()?;
            } else {
                self.at += 1;
                while !self.take(b']') {
                    let from = self.at;
                    self.skip()?;
                    found.extend(self.bytes.get(from..self.at));
                    self.take(b',');
                }
            }
            if !self.take(b',') {
                return Ok(());
            }
        }
    }

    fn word(&mut self, word: &[u8], value: Value) -> Result<Value, SyntaxError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        if !rest.starts_with(word) {
            return Err(self.malformed());
        }
        self.at += word.len();
        Ok(value)
    }

    fn number(&mut self) -> Result<Value, SyntaxError> {
        let from = self.at;
        while matches!(
            self.peek(),
            Some(b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
        ) {
            self.at += 1;
        }
        let digits = self.bytes.get(from..self.at).unwrap_or_default();
        if digits.len() > NUMBER_BYTES_MAX {
            self.cut(digits.len());
            return Ok(Value::Null);
        }
        std::str::from_utf8(digits)
            .ok()
            .and_then(|digits| digits.parse::<Number>().ok())
            .map(Value::Number)
            .ok_or(SyntaxError { at: from })
    }

    /// Returns the bytes between the quotes of the string that begins here.
    fn raw_string(&mut self) -> Result<&'b [u8], SyntaxError> {
        if self.peek() != Some(b'"') {
            return Err(self.malformed());
        }
        let from = self.at + 1;
        let mut at = from;
        loop {
            let rest = self.bytes.get(at..).unwrap_or_default();
            match memchr::memchr2(b'"', b'\\', rest) {
                None => {
                    self.at = self.bytes.len();
                    return Err(self.malformed());
                }
                Some(place) if rest.get(place) == Some(&b'"') => {
                    let end = at + place;
                    self.at = end + 1;
                    return Ok(self.bytes.get(from..end).unwrap_or_default());
                }
                Some(place) => at += place + 2,
            }
        }
    }

    /// Passes one value without building it, at any depth.
    fn skip(&mut self) -> Result<(), SyntaxError> {
        let mut depth = 0usize;
        loop {
            self.whitespace();
            match self.peek() {
                Some(b'"') => {
                    self.raw_string()?;
                }
                Some(b'{' | b'[') => {
                    depth += 1;
                    self.at += 1;
                }
                Some(b'}' | b']') if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                Some(b',' | b':') if depth > 0 => self.at += 1,
                Some(b'0'..=b'9' | b'a'..=b'z' | b'-' | b'+' | b'.' | b'E') => {
                    while matches!(
                        self.peek(),
                        Some(b'0'..=b'9' | b'a'..=b'z' | b'-' | b'+' | b'.' | b'E')
                    ) {
                        self.at += 1;
                    }
                }
                _ => return Err(self.malformed()),
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Decodes a string, without its middle if it is too long.
    fn text(&mut self, raw: &[u8], depth: usize) -> String {
        let budget = match KEPT_BYTES_MAX.checked_sub(self.kept) {
            Some(left) if left > 0 => TEXT_BYTES_MAX.min(left.max(SHORT_BYTES)),
            _ if depth <= 1 && self.kept < 2 * KEPT_BYTES_MAX => SHORT_BYTES,
            _ => 0,
        };
        if raw.len() <= budget {
            self.kept += raw.len();
            if let Some(bytes) = shortened_before(raw) {
                self.cut(bytes);
            }
            return decode(raw);
        }
        let tail = TAIL_BYTES.min(budget / 4);
        let head = end_of_head(raw, budget.saturating_sub(tail + NOTE_BYTES_MAX));
        let from = start_of_tail(raw, raw.len() - tail);
        let bytes = left_out_between(raw, head, from);
        let head = raw.get(..head).unwrap_or_default();
        let note = note(bytes);
        let end = raw.get(from..).unwrap_or_default();
        self.kept += head.len() + note.len() + end.len();
        self.cut(bytes);
        if budget == 0 {
            return String::new();
        }
        let [head, note, end] = [head, note.as_bytes(), end].map(decode);
        head + &note + &end
    }

    fn cut(&mut self, bytes: usize) {
        self.left_out = self.left_out.saturating_add(bytes);
        if self.cuts.len() < CUTS_MAX {
            let mut pointer = String::new();
            for step in &self.path {
                pointer.push('/');
                match step {
                    Step::Field(name) => {
                        pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                    }
                    Step::Index(index) => pointer.push_str(&index.to_string()),
                }
            }
            self.cuts.push(Cut { pointer, bytes });
        }
    }
}
