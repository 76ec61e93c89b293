//! The objects of a PDF and their parser. The size and nesting of an object are bounded.

use std::collections::BTreeMap;

/// Limit on the nesting of arrays and dictionaries.
const DEPTH_MAX: usize = 48;
/// Limit on the values of one object, nested ones included.
const VALUES_MAX: usize = 500_000;
/// Limit on the size of one object in bytes, without stream data.
const OBJECT_BYTES_MAX: usize = 4 << 20;

/// A dictionary; keys have no leading slash.
pub(super) type Dict = BTreeMap<Vec<u8>, Object>;

/// A PDF value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Object {
    /// Also used for booleans and unknown values, because no text depends on them.
    Null,
    Number(f64),
    Name(Vec<u8>),
    Text(Vec<u8>),
    Array(Vec<Object>),
    Dict(Dict),
    /// A reference to another object, by its number.
    Reference(u32),
    /// A keyword of the file structure or an operator of a content stream.
    Word(Vec<u8>),
}

impl Object {
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub fn name(&self) -> Option<&[u8]> {
        match self {
            Self::Name(name) => Some(name),
            _ => None,
        }
    }

    pub fn array(&self) -> Option<&[Object]> {
        match self {
            Self::Array(array) => Some(array),
            _ => None,
        }
    }

    pub fn dict(&self) -> Option<&Dict> {
        match self {
            Self::Dict(dict) => Some(dict),
            _ => None,
        }
    }
}

/// Parses objects in sequence.
pub(super) struct Lexer<'p> {
    bytes: &'p [u8],
    pub at: usize,
    values: usize,
    /// Whether `1 0 R` is a reference; in content streams it is not.
    has_references: bool,
}

impl<'p> Lexer<'p> {
    /// Creates a lexer for an object of a file or an object stream.
    pub fn new(bytes: &'p [u8], at: usize) -> Self {
        let end = bytes.len().min(at.saturating_add(OBJECT_BYTES_MAX));
        Self {
            bytes: bytes.get(..end).unwrap_or_default(),
            at,
            values: 0,
            has_references: true,
        }
    }

    /// Creates a lexer for a content stream or a character map.
    pub fn of_content(bytes: &'p [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            values: 0,
            has_references: false,
        }
    }

    /// Parses the next object; `None` at the end or beyond the limits.
    pub fn next(&mut self) -> Option<Object> {
        self.values = 0;
        self.object(0)
    }

    fn object(&mut self, depth: usize) -> Option<Object> {
        self.values += 1;
        if depth > DEPTH_MAX || self.values > VALUES_MAX {
            return None;
        }
        self.skip_space();
        match self.peek()? {
            b'/' => Some(Object::Name(self.name())),
            b'(' => Some(Object::Text(self.literal())),
            b'<' if self.peek_at(1) == Some(b'<') => self.dict(depth),
            b'<' => Some(Object::Text(self.hex())),
            b'[' => self.array(depth),
            b'+' | b'-' | b'.' | b'0'..=b'9' => Some(self.number_or_reference()),
            b']' | b'{' | b'}' | b')' => {
                self.at += 1;
                Some(Object::Null)
            }
            b'>' => {
                self.at += if self.peek_at(1) == Some(b'>') { 2 } else { 1 };
                Some(Object::Null)
            }
            _ => Some(self.word()),
        }
    }

    pub fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    /// Returns the unread bytes.
    pub fn rest(&self) -> &'p [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    pub fn skip_space(&mut self) {
        while let Some(byte) = self.peek() {
            if byte == b'%' {
                let line = self
                    .rest()
                    .iter()
                    .position(|byte| matches!(byte, b'\n' | b'\r'));
                self.at += line.unwrap_or(self.rest().len());
            } else if is_space(byte) {
                self.at += 1;
            } else {
                break;
            }
        }
    }

    fn name(&mut self) -> Vec<u8> {
        self.at += 1;
        let mut name = Vec::new();
        while let Some(byte) = self.peek().filter(|byte| is_regular(*byte)) {
            self.at += 1;
            let escaped = (byte == b'#').then(|| {
                let high = hex_digit(self.peek()?)?;
                Some(high << 4 | hex_digit(self.peek_at(1)?)?)
            });
            match escaped.flatten() {
                Some(byte) => {
                    self.at += 2;
                    name.push(byte);
                }
                None => name.push(byte),
            }
        }
        name
    }

    fn literal(&mut self) -> Vec<u8> {
        self.at += 1;
        let mut text = Vec::new();
        let mut open = 1usize;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'(' => open += 1,
                b')' => {
                    open -= 1;
                    if open == 0 {
                        break;
                    }
                }
                b'\\' => {
                    self.escape(&mut text);
                    continue;
                }
                _ => {}
            }
            text.push(byte);
        }
        text
    }

    fn escape(&mut self, text: &mut Vec<u8>) {
        let Some(byte) = self.peek() else { return };
        self.at += 1;
        match byte {
            b'n' => text.push(b'\n'),
            b'r' => text.push(b'\r'),
            b't' => text.push(b'\t'),
            b'b' => text.push(8),
            b'f' => text.push(12),
            b'\n' => {}
            b'\r' => {
                if self.peek() == Some(b'\n') {
                    self.at += 1;
                }
            }
            b'0'..=b'7' => {
                let mut code = u32::from(byte - b'0');
                for _ in 0..2 {
                    let Some(digit) = self.peek().filter(|byte| (b'0'..=b'7').contains(byte))
                    else {
                        break;
                    };
                    self.at += 1;
                    code = code * 8 + u32::from(digit - b'0');
                }
                text.push((code & 0xff) as u8);
            }
            other => text.push(other),
        }
    }

    fn hex(&mut self) -> Vec<u8> {
        self.at += 1;
        let mut text = Vec::new();
        let mut high = None;
        while let Some(byte) = self.peek() {
            self.at += 1;
            if byte == b'>' {
                break;
            }
            let Some(digit) = hex_digit(byte) else {
                continue;
            };
            match high.take() {
                None => high = Some(digit),
                Some(high) => text.push(high << 4 | digit),
            }
        }
        text.extend(high.map(|high| high << 4));
        text
    }

    fn dict(&mut self, depth: usize) -> Option<Object> {
        self.at += 2;
        let mut dict = Dict::new();
        loop {
            self.skip_space();
            match self.peek()? {
                b'>' => {
                    self.at += if self.peek_at(1) == Some(b'>') { 2 } else { 1 };
                    return Some(Object::Dict(dict));
                }
                b'/' => {
                    let key = self.name();
                    self.skip_space();
                    // The key has no value.
                    if self.peek() == Some(b'>') && self.peek_at(1) == Some(b'>') {
                        continue;
                    }
                    let value = self.object(depth + 1)?;
                    dict.insert(key, value);
                }
                // Invalid data between the entries; `endobj` and `stream` end the dictionary.
                _ => {
                    if let Object::Word(word) = self.object(depth + 1)?
                        && matches!(word.as_slice(), b"endobj" | b"stream")
                    {
                        return None;
                    }
                }
            }
        }
    }

    fn array(&mut self, depth: usize) -> Option<Object> {
        self.at += 1;
        let mut array = Vec::new();
        loop {
            self.skip_space();
            if self.peek()? == b']' {
                self.at += 1;
                return Some(Object::Array(array));
            }
            array.push(self.object(depth + 1)?);
        }
    }

    fn number_or_reference(&mut self) -> Object {
        let number = self.number();
        if !self.has_references || number < 0.0 || number.fract() != 0.0 {
            return Object::Number(number);
        }
        let behind = self.at;
        if self.digits().is_some() {
            self.skip_space();
            let is_reference =
                self.peek() == Some(b'R') && self.peek_at(1).is_none_or(|byte| !is_regular(byte));
            if is_reference && number <= f64::from(u32::MAX) {
                self.at += 1;
                return Object::Reference(number as u32);
            }
        }
        self.at = behind;
        Object::Number(number)
    }

    /// Skips white space and parses a whole number.
    pub fn digits(&mut self) -> Option<usize> {
        self.skip_space();
        let digits = self
            .rest()
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let text = self.rest().get(..digits)?;
        self.at += digits;
        std::str::from_utf8(text).ok()?.parse().ok()
    }

    fn number(&mut self) -> f64 {
        let rest = self.rest();
        let is_part = |byte: &&u8| matches!(byte, b'+' | b'-' | b'.' | b'0'..=b'9');
        let length = rest.iter().take_while(is_part).count().max(1);
        self.at += length;
        let text = rest
            .get(..length.min(64))
            .and_then(|text| std::str::from_utf8(text).ok());
        let text = text.unwrap_or_default();
        // Tolerates malformed numbers such as "--5" and "5-3".
        let sign = text.starts_with('-');
        let digits = text.trim_start_matches(['-', '+']);
        let end = digits.find(['-', '+']).unwrap_or(digits.len());
        let number: f64 = digits
            .get(..end)
            .and_then(|text| text.parse().ok())
            .unwrap_or_default();
        if sign { -number } else { number }
    }

    fn word(&mut self) -> Object {
        let rest = self.rest();
        let length = rest
            .iter()
            .take_while(|byte| is_regular(**byte))
            .count()
            .max(1);
        self.at += length;
        Object::Word(rest.get(..length).unwrap_or_default().to_vec())
    }
}

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, 0 | 9 | 10 | 12 | 13 | 32)
}

fn is_regular(byte: u8) -> bool {
    !is_space(byte)
        && !matches!(
            byte,
            b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%'
        )
}

pub(super) fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}
