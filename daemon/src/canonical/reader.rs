//! The one pass over a text: checks it, copies what stays, notes which objects are out of order.

use std::cmp::Ordering;

use super::malformed::Found;
use super::order::{Member, Shuffled, Unordered};
use super::text::{is_number, push_escaped};
use super::{Canonical, DEPTH_MAX, Malformed, Place};

/// The longest part of a text that a message shows, in characters.
const SHOWN_MAX: usize = 200;

/// Reads a JSON object.
pub(super) fn read(json: &str) -> Result<Canonical, Malformed> {
    let mut reader = Reader {
        json,
        at: 0,
        copied: 0,
        out: String::with_capacity(json.len()),
        members: Vec::new(),
        path: Vec::new(),
        shuffled: Vec::new(),
    };
    reader.blank();
    if reader.peek() != Some(b'{') {
        return Err(Malformed::NotAnObject {
            found: reader.found(),
            at: reader.place(),
        });
    }
    let in_order = reader.members()?;
    if !in_order {
        reader.sort(0)?;
    }
    reader.blank();
    if reader.at < json.len() {
        return Err(Malformed::Trailing {
            found: reader.found(),
            at: reader.place(),
        });
    }
    reader.flush();
    let unordered = Unordered {
        text: reader.out,
        members: reader.members,
        in_order,
        shuffled: reader.shuffled,
    };
    Ok(unordered.arrange())
}

/// Which part of the container around it a value is.
enum Step {
    /// The value of the member at this index of [`Reader::members`].
    Key(usize),
    /// The item of an array, from 0.
    Index(usize),
}

struct Reader<'a> {
    json: &'a str,
    /// How far the text is read.
    at: usize,
    /// How far it is copied to `out`: what lies between stays as it is.
    copied: usize,
    out: String,
    /// The members read so far of every open object, outermost first.
    members: Vec<Member>,
    /// The way to the value being read; as long as the nesting is deep.
    path: Vec<Step>,
    shuffled: Vec<Shuffled>,
}

impl Reader<'_> {
    fn value(&mut self) -> Result<(), Malformed> {
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'{') => self.object(),
            Some(b'[') => self.array(),
            Some(b'-' | b'+' | b'.' | b'0'..=b'9') => self.number(),
            _ => self.literal(),
        }
    }

    /// An object inside another value.
    fn object(&mut self) -> Result<(), Malformed> {
        self.bounded()?;
        let start = self.position();
        let (first, shuffled) = (self.members.len(), self.shuffled.len());
        if self.members()? {
            self.members.truncate(first);
        } else {
            self.sort(first)?;
            let members = self.members.split_off(first);
            self.shuffled.push(Shuffled {
                span: start..self.position(),
                inside: self.shuffled.len() - shuffled,
                members,
            });
        }
        Ok(())
    }

    /// The members of an object, from its opening brace to behind its closing one. They stay on
    /// [`Reader::members`]; says whether they are in order.
    fn members(&mut self) -> Result<bool, Malformed> {
        let first = self.members.len();
        let mut in_order = true;
        self.at += 1;
        self.blank();
        if self.take(b'}') {
            return Ok(true);
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.syntax("a key in quotes"));
            }
            let (came_at, start) = (self.at, self.position());
            self.string()?;
            let member = Member {
                start,
                key_end: self.position(),
                end: 0,
                came_at,
            };
            in_order = in_order && self.follows(first, &member)?;
            self.path.push(Step::Key(self.members.len()));
            self.members.push(member);
            self.separator(b':', "`:`")?;
            self.value()?;
            self.path.pop();
            let end = self.position();
            if let Some(member) = self.members.last_mut() {
                member.end = end;
            }
            self.blank();
            if self.take(b'}') {
                return Ok(in_order);
            }
            self.separator(b',', "`,` or `}`")?;
        }
    }

    /// Whether a key belongs behind the one read before it, if there is one in its object.
    fn follows(&mut self, first: usize, member: &Member) -> Result<bool, Malformed> {
        // Keys are compared as they are in `out`.
        self.flush();
        let Some(before) = self.members.get(first..).and_then(<[Member]>::last) else {
            return Ok(true);
        };
        match before.order(member, &self.out) {
            Ordering::Less => Ok(true),
            Ordering::Equal => Err(self.duplicate(member)),
            Ordering::Greater => Ok(false),
        }
    }

    /// Brings the members from `first` on, those of one object, into their order.
    fn sort(&mut self, first: usize) -> Result<(), Malformed> {
        self.flush();
        let members = self.members.get_mut(first..).unwrap_or_default();
        members.sort_unstable_by(|a, b| a.order(b, &self.out));
        let members = self.members.get(first..).unwrap_or_default();
        let neighbours = members.iter().zip(members.iter().skip(1));
        for (a, b) in neighbours {
            if a.order(b, &self.out) == Ordering::Equal {
                let second = if a.came_at < b.came_at { b } else { a };
                return Err(self.duplicate(second));
            }
        }
        Ok(())
    }

    fn array(&mut self) -> Result<(), Malformed> {
        self.bounded()?;
        self.at += 1;
        self.blank();
        if self.take(b']') {
            return Ok(());
        }
        for index in 0.. {
            self.path.push(Step::Index(index));
            self.value()?;
            self.path.pop();
            self.blank();
            if self.take(b']') {
                break;
            }
            self.separator(b',', "`,` or `]`")?;
        }
        Ok(())
    }

    /// A string, from its opening quote to behind its closing one.
    fn string(&mut self) -> Result<(), Malformed> {
        let opening = self.at;
        self.at += 1;
        loop {
            let rest = self.rest();
            let Some(plain) = memchr::memchr2(b'"', b'\\', rest) else {
                return Err(Malformed::OpenString {
                    at: self.place_of(opening),
                });
            };
            self.no_control(rest.get(..plain).unwrap_or_default())?;
            self.at += plain;
            if self.take(b'"') {
                return Ok(());
            }
            self.escape()?;
        }
    }

    /// The least byte of a span is found many bytes at a time, the first control character is not.
    fn no_control(&self, span: &[u8]) -> Result<(), Malformed> {
        if span.iter().fold(u8::MAX, |least, byte| least.min(*byte)) >= b' ' {
            return Ok(());
        }
        let mut bytes = span.iter().copied().enumerate();
        match bytes.find(|(_, byte)| *byte < b' ') {
            Some((index, byte)) => Err(Malformed::ControlCharacter {
                byte,
                at: self.place_of(self.at + index),
            }),
            None => Ok(()),
        }
    }

    /// An escape, from its backslash on.
    fn escape(&mut self) -> Result<(), Malformed> {
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

    /// The character of a `\u` escape, or of the two that make a surrogate pair, and their length.
    fn code_units(&self) -> Result<(char, usize), Malformed> {
        let lone = |unit| Malformed::LoneSurrogate {
            unit,
            at: self.place(),
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

    /// The code unit of the `\u` escape at an offset.
    fn code_unit(&self, at: usize) -> Result<u16, Malformed> {
        let digits = self.json.get(at + 2..at + 6);
        digits
            // The parser of integers would take a sign.
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|digits| u16::from_str_radix(digits, 16).ok())
            .ok_or_else(|| self.no_escape(at))
    }

    /// A number stays as it is written.
    fn number(&mut self) -> Result<(), Malformed> {
        let rest = self.rest();
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        let length = rest.iter().position(|byte| !is_part(byte));
        let number = rest.get(..length.unwrap_or(rest.len())).unwrap_or(rest);
        if !is_number(number) {
            let shown = number.iter().take(SHOWN_MAX).copied();
            return Err(Malformed::Number {
                number: shown.map(char::from).collect(),
                at: self.place(),
            });
        }
        self.at += number.len();
        Ok(())
    }

    fn literal(&mut self) -> Result<(), Malformed> {
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

    /// Takes a colon or comma with the white space around it.
    fn separator(&mut self, byte: u8, expected: &'static str) -> Result<(), Malformed> {
        self.blank();
        if !self.take(byte) {
            return Err(self.syntax(expected));
        }
        self.blank();
        Ok(())
    }

    /// Leaves out white space.
    fn blank(&mut self) {
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        let rest = self.rest();
        if rest.first().is_some_and(is_blank) {
            let length = rest.iter().position(|byte| !is_blank(byte));
            self.leave_out(length.unwrap_or(rest.len()));
        }
    }

    /// Passes over bytes without copying them.
    fn leave_out(&mut self, bytes: usize) {
        self.flush();
        self.at += bytes;
        self.copied = self.at;
    }

    /// Copies what is read and stays as it is.
    fn flush(&mut self) {
        let span = self.json.get(self.copied..self.at);
        self.out.push_str(span.unwrap_or_default());
        self.copied = self.at;
    }

    /// How long the output is once everything read is copied.
    fn position(&self) -> usize {
        self.out.len() + (self.at - self.copied)
    }

    fn rest(&self) -> &[u8] {
        self.json.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.json.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// Refuses an array or object that lies too deep; the outermost object has no step.
    fn bounded(&self) -> Result<(), Malformed> {
        if self.path.len() < DEPTH_MAX {
            return Ok(());
        }
        Err(Malformed::TooDeep { at: self.place() })
    }

    fn place(&self) -> Place {
        self.place_of(self.at)
    }

    fn place_of(&self, at: usize) -> Place {
        Place::of(self.json.as_bytes(), at)
    }

    /// What stands where something else should.
    fn found(&self) -> Found {
        let rest = self.json.get(self.at..).unwrap_or_default();
        rest.chars().next().map_or(Found::End, Found::Character)
    }

    fn syntax(&self, expected: &'static str) -> Malformed {
        Malformed::Syntax {
            expected,
            found: self.found(),
            at: self.place(),
        }
    }

    fn no_escape(&self, at: usize) -> Malformed {
        Malformed::Escape {
            at: self.place_of(at),
        }
    }

    /// The member's key is the second of its name in the object being read.
    fn duplicate(&self, member: &Member) -> Malformed {
        let mut object = String::new();
        for step in &self.path {
            object.push('/');
            match step {
                Step::Key(member) => {
                    let member = self.members.get(*member);
                    let key = member.map(|member| member.unescaped_key(&self.out));
                    object += &key
                        .unwrap_or_default()
                        .replace('~', "~0")
                        .replace('/', "~1");
                }
                Step::Index(index) => object += &index.to_string(),
            }
        }
        Malformed::DuplicateKey {
            key: shortened(&member.unescaped_key(&self.out)),
            object: shortened(&object),
            at: self.place_of(member.came_at),
        }
    }
}

/// The beginning of a text that is too long for a message.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned() + "…",
        None => text.to_owned(),
    }
}
