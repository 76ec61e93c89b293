//! Parses JSON within a text to a flat list of nodes with their positions.
//!
//! The input is lenient, like tool output: text before and after a value, several values on separate lines, a
//! value cut off at the end of the searched text, JSON within strings of other JSON. The cost is bounded: depth
//! and nesting are limited, and only parsed values create nodes.

use super::Flat;

/// Limit on the nesting of arrays and objects; deeper values are not read as JSON.
const DEPTH_MAX: usize = 128;
/// Limit on JSON within strings of JSON.
const NESTED_MAX: usize = 3;
/// Limit on failed attempts to find JSON in a text.
const ATTEMPTS_MAX: usize = 16;
/// Shortest string that may be JSON, in bytes: `{"id":1}`.
const NESTED_BYTES_MIN: usize = 8;

/// A value and its position.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Key in the enclosing object; `None` in an array and at the root.
    pub(crate) key: Option<String>,
    pub(crate) value: Value,
    /// Byte range in the text, quotes and brackets included.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Index after the last nested node.
    pub(crate) next: usize,
}

/// A JSON value.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A decoded string with a mapping to its source bytes.
    Text(Flat),
    /// A number, as written.
    Number(String),
    /// `true`, `false` or `null`.
    Word,
    /// An array; its elements follow.
    List,
    /// An object; its members follow.
    Object,
    /// A string that is itself JSON; its root follows.
    Nested,
}

/// A JSON value found in a text.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// In document order: a node is followed by its nested nodes.
    pub(crate) nodes: Vec<Node>,
    /// Byte range in the text.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Document {
    /// Returns the direct children of a node and their indices.
    pub(crate) fn children(&self, of: usize) -> impl Iterator<Item = (usize, &Node)> {
        let end = self.nodes.get(of).map_or(0, |node| node.next);
        let mut at = of + 1;
        std::iter::from_fn(move || {
            let node = self.nodes.get(at).filter(|_| at < end)?;
            let here = at;
            at = node.next;
            Some((here, node))
        })
    }

    /// Returns the member of an object by key.
    pub(crate) fn member(&self, of: usize, key: &str) -> Option<(usize, &Node)> {
        self.children(of)
            .find(|(_, node)| node.key.as_deref() == Some(key))
    }
}

/// Finds the JSON values of a text: each object or array that begins a line. With `is_cut`, the text is a
/// truncated part of its source, and its last value may be incomplete.
pub(crate) fn documents(text: &str, is_cut: bool) -> Vec<Document> {
    let mut found = Vec::new();
    let (mut from, mut attempts) = (0, 0);
    while attempts < ATTEMPTS_MAX {
        let Some(start) = next_start(text, from) else {
            break;
        };
        let mut reader = Reader {
            source: Flat::default(),
            text,
            at: start,
            nodes: Vec::new(),
            is_cut,
            nested: 0,
        };
        if reader.value(None, 0).is_some() {
            from = reader.at.max(start + 1);
            let (nodes, end) = (reader.nodes, reader.at);
            found.push(Document { nodes, start, end });
        } else {
            attempts += 1;
            from = start + 1;
        }
    }
    found
}

/// Finds the next place from an offset on where JSON may begin: a line that begins with a bracket, or a bracket
/// before a quoted key within a line.
fn next_start(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let rest = text.get(at..)?;
        let before = text.get(..at)?.trim_end_matches([' ', '\t', '\r']);
        let begins = before.is_empty() || before.ends_with('\n');
        let blank = rest.len() - rest.trim_start().len();
        let first = rest.trim_start().bytes().next()?;
        let is_line = begins || rest.get(..blank).is_some_and(|blank| blank.contains('\n'));
        if is_line && (first == b'{' || first == b'[') {
            return Some(at + blank);
        }
        let line = rest.get(blank..)?;
        let line_end = line.find('\n');
        let line = line.get(..line_end.unwrap_or(line.len()))?;
        if let Some(offset) = inner_start(line) {
            return Some(at + blank + offset);
        }
        at += blank + line_end? + 1;
    }
}

/// Returns where an object or a list of objects begins within a line.
fn inner_start(line: &str) -> Option<usize> {
    let bytes = line.as_bytes();
    let mut from = 0;
    while let Some(offset) = line.get(from..)?.find(['{', '[']) {
        let at = from + offset;
        let next = |at: usize| {
            let rest = bytes.get(at + 1..).unwrap_or_default();
            rest.iter().copied().find(|byte| *byte != b' ')
        };
        let begins = match bytes.get(at) {
            Some(b'{') => next(at) == Some(b'"'),
            _ => matches!(bytes.get(at + 1), Some(b'{')) && next(at + 1) == Some(b'"'),
        };
        let is_alone = at == 0
            || bytes
                .get(at - 1)
                .is_some_and(|byte| b" \t:=(".contains(byte));
        if begins && is_alone {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

/// Parses one value.
struct Reader<'a> {
    /// Maps the bytes of `text` to the source; empty if `text` is the source.
    source: Flat,
    text: &'a str,
    at: usize,
    nodes: Vec<Node>,
    is_cut: bool,
    /// Number of enclosing JSON strings.
    nested: usize,
}

impl Reader<'_> {
    /// Parses a value; `None` if it is invalid.
    fn value(&mut self, key: Option<String>, depth: usize) -> Option<()> {
        let (start, place) = (self.at, self.nodes.len());
        match self.peek()? {
            b'{' | b'[' if depth >= DEPTH_MAX => return None,
            b'{' => {
                self.put(key, Value::Object, start);
                self.members(b'}', depth)?;
            }
            b'[' => {
                self.put(key, Value::List, start);
                self.members(b']', depth)?;
            }
            b'"' => {
                let text = self.string()?;
                self.put_text(key, text, start);
            }
            b'-' | b'0'..=b'9' => {
                let is_part = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
                let rest = self.text.get(start..)?;
                let number = rest.split(|c| !is_part(c)).next()?.to_owned();
                self.at += number.len();
                self.put(key, Value::Number(number), start);
            }
            _ => {
                let rest = self.text.get(start..)?;
                let word = ["true", "false", "null"]
                    .iter()
                    .find(|word| rest.starts_with(**word));
                self.at += word?.len();
                self.put(key, Value::Word, start);
            }
        }
        let (end, next) = (self.source_of(self.at), self.nodes.len());
        let node = self.nodes.get_mut(place)?;
        (node.end, node.next) = (end, next);
        Some(())
    }

    /// Parses the members of an object or array, from the opening to the closing bracket.
    fn members(&mut self, close: u8, depth: usize) -> Option<()> {
        self.at += 1;
        self.blank();
        if self.take(close) {
            return Some(());
        }
        loop {
            let read = self.nodes.len();
            if self.one_member(close, depth).is_none() {
                if self.is_cut && self.is_near_end() {
                    self.nodes.truncate(read);
                    self.at = self.text.len();
                    return Some(());
                }
                return None;
            }
            self.blank();
            if self.take(close) {
                return Some(());
            }
            if !self.take(b',') {
                let ends = self.is_cut && self.at >= self.text.len();
                return ends.then_some(());
            }
            self.blank();
        }
    }

    fn one_member(&mut self, close: u8, depth: usize) -> Option<()> {
        let mut key = None;
        if close == b'}' {
            if self.peek()? != b'"' {
                return None;
            }
            key = Some(self.string()?.text().to_owned());
            self.blank();
            if !self.take(b':') {
                return None;
            }
            self.blank();
        }
        self.value(key, depth + 1)
    }

    /// Returns whether parsing failed at the end of the text, within an unfinished string, number or word.
    fn is_near_end(&self) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default();
        rest.len() < 6 || (rest.starts_with('"') && !rest.contains('\n'))
    }

    /// Parses a string, quotes included.
    fn string(&mut self) -> Option<Flat> {
        let mut flat = Flat::default();
        let mut at = self.at + 1;
        loop {
            let rest = self.text.get(at..)?;
            let plain = rest.find(['"', '\\'])?;
            if plain > 0 {
                self.push_plain(&mut flat, rest.get(..plain)?, at);
            }
            at += plain;
            if rest.as_bytes().get(plain) == Some(&b'"') {
                self.at = at + 1;
                return Some(flat);
            }
            let (character, length) = escape(self.text.get(at..)?)?;
            flat.push_decoded(character, self.source_of(at), self.source_of(at + length));
            at += length;
        }
    }

    /// Appends unescaped text. Within nested JSON, its characters may be escaped in the source.
    fn push_plain(&self, flat: &mut Flat, piece: &str, at: usize) {
        if self.nested == 0 {
            flat.push(piece, at);
            return;
        }
        for (offset, character) in piece.char_indices() {
            let start = self.source_of(at + offset);
            let end = self.source_of(at + offset + character.len_utf8());
            if end - start == character.len_utf8() {
                flat.push(
                    piece
                        .get(offset..offset + character.len_utf8())
                        .unwrap_or_default(),
                    start,
                );
            } else {
                flat.push_decoded(character, start, end);
            }
        }
    }

    /// Adds a string, or the nodes of its content if that is JSON.
    fn put_text(&mut self, key: Option<String>, text: Flat, start: usize) {
        let is_json = self.nested < NESTED_MAX
            && text.text().len() >= NESTED_BYTES_MIN
            && text.text().trim_start().starts_with(['{', '[']);
        if is_json && let Some(nodes) = self.nested_nodes(&text) {
            let place = self.nodes.len();
            self.put(key, Value::Nested, start);
            for mut node in nodes {
                node.next += place + 1;
                self.nodes.push(node);
            }
            return;
        }
        self.put(key, Value::Text(text), start);
    }

    /// Parses a string that contains only JSON.
    fn nested_nodes(&self, text: &Flat) -> Option<Vec<Node>> {
        let mut reader = Reader {
            source: text.clone(),
            text: text.text(),
            at: 0,
            nodes: Vec::new(),
            is_cut: false,
            nested: self.nested + 1,
        };
        reader.blank();
        reader.value(None, 0)?;
        reader.blank();
        (reader.at == reader.text.len()).then_some(reader.nodes)
    }

    fn put(&mut self, key: Option<String>, value: Value, start: usize) {
        let start = self.source_of(start);
        self.nodes.push(Node {
            key,
            value,
            start,
            end: start,
            next: self.nodes.len() + 1,
        });
    }

    fn source_of(&self, at: usize) -> usize {
        if self.nested == 0 {
            at
        } else {
            self.source.source(at)
        }
    }

    fn blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }
}

/// Decodes an escape; returns the character and the escape's length. Unpaired surrogates become the replacement
/// character, as in most readers.
fn escape(text: &str) -> Option<(char, usize)> {
    let plain = match text.as_bytes().get(1)? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return code_units(text),
        _ => return None,
    };
    Some((plain, 2))
}

/// Undoes one level of escapes in the content of a string.
pub(crate) fn unescaped(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(rest.get(..at)?);
        let (character, length) = escape(rest.get(at..)?)?;
        out.push(character);
        rest = rest.get(at + length..)?;
    }
    out.push_str(rest);
    Some(out)
}

fn code_units(text: &str) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 4)?;
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        u16::from_str_radix(digits, 16).ok().filter(|_| is_hex)
    };
    let first = unit(2)?;
    if let Some(character) = char::from_u32(first.into()) {
        return Some((character, 6));
    }
    let second = if text.get(6..8) == Some("\\u") {
        unit(8)
    } else {
        None
    };
    let pair = second.and_then(|second| char::decode_utf16([first, second]).next()?.ok());
    Some(pair.map_or((char::REPLACEMENT_CHARACTER, 6), |character| {
        (character, 12)
    }))
}
