//! The cursor of the single pass over a text: reads its tokens and copies unchanged spans.

use super::CanonicalError;
use super::malformed::{place, shortened};
use super::text::{is_number, plain_bytes, push_escaped};

/// A text being read, and the output so far.
pub(super) struct Cursor<'a> {
    json: &'a str,
    /// End of the read text.
    at: usize,
    /// End of the text that is copied to `out`; the rest up to `at` is unchanged.
    copied: usize,
    out: String,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(json: &'a str) -> Self {
        Self {
            json,
            at: 0,
            copied: 0,
            out: String::with_capacity(json.len()),
        }
    }

    /// Returns the output; refuses trailing text.
    pub(super) fn finish(mut self) -> Result<String, CanonicalError> {
        self.blank();
        if self.at < self.json.len() {
            let reason = format!("{}, behind the end of the object", self.found());
            return Err(CanonicalError::invalid(&reason));
        }
        self.flush();
        Ok(self.out)
    }

    /// Reads a string, from its opening quote to after its closing quote.
    pub(super) fn string(&mut self) -> Result<(), CanonicalError> {
        let opening = self.at;
        self.at += 1;
        loop {
            self.at += plain_bytes(self.rest());
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                Some(byte) => {
                    return Err(CanonicalError::invalid(&format!(
                        "control character {} in a string; write it as \\u{byte:04x}",
                        self.place_of(self.at)
                    )));
                }
                None => {
                    return Err(CanonicalError::invalid(&format!(
                        "the string that begins {} has no closing quote",
                        self.place_of(opening)
                    )));
                }
            }
        }
    }

    /// Reads an escape, starting at its backslash.
    fn escape(&mut self) -> Result<(), CanonicalError> {
        match self.rest().get(1) {
            Some(b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'/') => {
                self.leave_out(1);
                self.at += 1;
            }
            Some(b'u') => {
                let (character, length) = self.code_units()?;
                self.leave_out(length);
                push_escaped(&mut self.out, character);
            }
            _ => return Err(self.no_escape(self.at)),
        }
        Ok(())
    }

    /// Decodes a `\u` escape, or the two of a surrogate pair; returns the character and the length.
    fn code_units(&self) -> Result<(char, usize), CanonicalError> {
        let lone = |unit: u16| {
            CanonicalError::invalid(&format!(
                "\\u{unit:04x} {} is half of a surrogate pair, the other half is missing",
                self.place_of(self.at)
            ))
        };
        let first = self.code_unit(self.at)?;
        if let Some(character) = char::from_u32(first.into()) {
            return Ok((character, 6));
        }
        if self.rest().get(6..8) != Some(b"\\u") {
            return Err(lone(first));
        }
        let second = self.code_unit(self.at + 6)?;
        match char::decode_utf16([first, second]).next() {
            Some(Ok(character)) => Ok((character, 12)),
            _ => Err(lone(first)),
        }
    }

    /// Returns the code unit of the `\u` escape at an offset.
    fn code_unit(&self, at: usize) -> Result<u16, CanonicalError> {
        let digits = self.json.get(at + 2..at + 6);
        digits
            // The integer parser would accept a sign.
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|digits| u16::from_str_radix(digits, 16).ok())
            .ok_or_else(|| self.no_escape(at))
    }

    /// Reads a number, which stays unchanged.
    pub(super) fn number(&mut self) -> Result<(), CanonicalError> {
        let rest = self.rest();
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        let length = rest.iter().position(|byte| !is_part(byte));
        let number = rest.get(..length.unwrap_or(rest.len())).unwrap_or(rest);
        if !is_number(number) {
            return Err(CanonicalError::invalid(&format!(
                "`{}` {} is not a number; numbers are like 0, -1, 2.5 or 1e9, without leading zeros \
                 or plus",
                shortened(&String::from_utf8_lossy(number)),
                self.place_of(self.at)
            )));
        }
        self.at += number.len();
        Ok(())
    }

    pub(super) fn literal(&mut self) -> Result<(), CanonicalError> {
        let literals: [&[u8]; 3] = [b"true", b"false", b"null"];
        let found = literals
            .into_iter()
            .find(|literal| self.rest().starts_with(literal));
        match found {
            Some(literal) => {
                self.at += literal.len();
                Ok(())
            }
            None => Err(self.syntax("a value")),
        }
    }

    /// Reads a colon or comma and the white space around it.
    pub(super) fn separator(&mut self, byte: u8, expected: &str) -> Result<(), CanonicalError> {
        self.blank();
        if !self.take(byte) {
            return Err(self.syntax(expected));
        }
        self.blank();
        Ok(())
    }

    /// Drops white space.
    pub(super) fn blank(&mut self) {
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        let rest = self.rest();
        if rest.first().is_some_and(is_blank) {
            let length = rest.iter().position(|byte| !is_blank(byte));
            self.leave_out(length.unwrap_or(rest.len()));
        }
    }

    /// Skips bytes without copying them.
    fn leave_out(&mut self, bytes: usize) {
        self.flush();
        self.at += bytes;
        self.copied = self.at;
    }

    /// Copies the text that is read and unchanged.
    pub(super) fn flush(&mut self) {
        let span = self.json.get(self.copied..self.at);
        self.out.push_str(span.unwrap_or_default());
        self.copied = self.at;
    }

    /// Returns the length of the output once everything read is copied.
    pub(super) fn position(&self) -> usize {
        self.out.len() + (self.at - self.copied)
    }

    fn rest(&self) -> &[u8] {
        self.json.as_bytes().get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.json.as_bytes().get(self.at).copied()
    }

    pub(super) fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// Returns the output up to the last flush.
    pub(super) fn written(&self) -> &str {
        &self.out
    }

    /// Returns the number of bytes read.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Reads bytes that stay unchanged.
    pub(super) fn pass(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Describes the position at an offset.
    pub(super) fn place_of(&self, at: usize) -> String {
        place(self.json.as_bytes(), at)
    }

    /// Describes the position and the unexpected character or end at the cursor.
    pub(super) fn found(&self) -> String {
        let rest = self.json.get(self.at..).unwrap_or_default();
        let found = match rest.chars().next() {
            Some(character) => format!("{character:?}"),
            None => "the end of the text".to_owned(),
        };
        format!("{} is {found}", self.place_of(self.at))
    }

    pub(super) fn syntax(&self, expected: &str) -> CanonicalError {
        CanonicalError::invalid(&format!("{}, where {expected} should be", self.found()))
    }

    fn no_escape(&self, at: usize) -> CanonicalError {
        CanonicalError::invalid(&format!(
            "no such escape {}; there are \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four hexadecimal \
             digits",
            self.place_of(at)
        ))
    }
}
