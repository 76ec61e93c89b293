//! Reads and writes CBOR item by item, from a slice and into a vector. Only this module and `frame.rs` use
//! CBOR.
//!
//! The underlying crate reads and writes item headers. Lengths are compared with the available bytes before any
//! allocation. serde is not involved.

use ciborium_ll::{Decoder, Encoder, Header, simple};
use serde_json::{Map, Number, Value};

use super::frame::FrameError;
use super::json::{DEPTH_MAX, VALUES_MAX};

/// Reads items from the front of a slice.
#[derive(Debug, Clone)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Number of remaining bytes.
    pub(super) const fn left(&self) -> usize {
        self.rest.len()
    }

    fn header(&mut self) -> Result<Header, FrameError> {
        let mut decoder = Decoder::from(self.rest);
        let header = decoder.pull().map_err(|error| match error {
            ciborium_ll::Error::Io(_) => FrameError::Cut,
            ciborium_ll::Error::Syntax(_) => FrameError::NotCbor,
        })?;
        let read = decoder.offset();
        self.rest = self.rest.get(read..).ok_or(FrameError::Cut)?;
        Ok(header)
    }

    fn take(&mut self, length: Option<usize>) -> Result<&'a [u8], FrameError> {
        let length = length.ok_or(FrameError::Indefinite)?;
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(FrameError::Cut)?;
        self.rest = rest;
        Ok(taken)
    }

    fn utf8(&mut self, length: Option<usize>) -> Result<&'a str, FrameError> {
        std::str::from_utf8(self.take(length)?).map_err(|_| FrameError::NotUtf8)
    }

    /// Reads the header of a map and returns its number of pairs.
    pub(super) fn map(&mut self) -> Result<usize, FrameError> {
        match self.header()? {
            Header::Map(Some(pairs)) => Ok(pairs),
            Header::Map(None) => Err(FrameError::Indefinite),
            _ => Err(FrameError::NotAMap),
        }
    }

    /// Reads a text string; `None` for any other item.
    pub(super) fn text(&mut self) -> Result<Option<&'a str>, FrameError> {
        match self.header()? {
            Header::Text(length) => self.utf8(length).map(Some),
            _ => Ok(None),
        }
    }

    /// Reads an unsigned integer; `None` for any other item.
    pub(super) fn unsigned(&mut self) -> Result<Option<u64>, FrameError> {
        match self.header()? {
            Header::Positive(number) => Ok(Some(number)),
            _ => Ok(None),
        }
    }

    /// Reads a byte string; `None` for any other item.
    pub(super) fn bytes(&mut self) -> Result<Option<&'a [u8]>, FrameError> {
        match self.header()? {
            Header::Bytes(length) => self.take(length).map(Some),
            _ => Ok(None),
        }
    }

    /// Reads a boolean; `None` for any other item.
    pub(super) fn boolean(&mut self) -> Result<Option<bool>, FrameError> {
        match self.header()? {
            Header::Simple(simple::TRUE) => Ok(Some(true)),
            Header::Simple(simple::FALSE) => Ok(Some(false)),
            _ => Ok(None),
        }
    }

    /// Whether the next item is a byte string, without reading it.
    pub(super) fn at_bytes(&self) -> Result<bool, FrameError> {
        Ok(matches!(self.clone().header()?, Header::Bytes(_)))
    }

    /// Skips one item of any kind, at most `depth` levels deep.
    pub(super) fn skip(&mut self, depth: usize) -> Result<(), FrameError> {
        let depth = depth.checked_sub(1).ok_or(FrameError::TooDeep)?;
        match self.header()? {
            Header::Bytes(length) | Header::Text(length) => self.take(length).map(drop),
            Header::Array(Some(items)) => (0..items).try_for_each(|_| self.skip(depth)),
            Header::Map(Some(pairs)) => (0..pairs).try_for_each(|_| {
                self.skip(depth)?;
                self.skip(depth)
            }),
            Header::Tag(_) => self.skip(depth),
            Header::Array(None) | Header::Map(None) => Err(FrameError::Indefinite),
            Header::Break => Err(FrameError::NotCbor),
            Header::Positive(_) | Header::Negative(_) | Header::Float(_) | Header::Simple(_) => {
                Ok(())
            }
        }
    }

    /// Reads a map with text keys as JSON, at most [`DEPTH_MAX`] deep and with at most [`VALUES_MAX`] keys and
    /// items.
    pub(super) fn json_map(&mut self) -> Result<Value, FrameError> {
        let mut values = VALUES_MAX;
        match self.header()? {
            header @ Header::Map(_) => self.json(header, DEPTH_MAX, &mut values),
            _ => Err(FrameError::Field(
                "args",
                "a map, or a byte string that holds JSON",
            )),
        }
    }

    fn json(
        &mut self,
        header: Header,
        depth: usize,
        left: &mut usize,
    ) -> Result<Value, FrameError> {
        *left = left.checked_sub(1).ok_or(FrameError::TooManyValues)?;
        Ok(match header {
            Header::Positive(number) => number.into(),
            Header::Negative(number) => negative(number),
            Header::Float(number) => Number::from_f64(number)
                .ok_or(FrameError::NotANumber)?
                .into(),
            Header::Simple(simple::TRUE) => true.into(),
            Header::Simple(simple::FALSE) => false.into(),
            Header::Simple(simple::NULL | simple::UNDEFINED) => Value::Null,
            Header::Simple(_) => return Err(FrameError::NotJson("a simple value")),
            Header::Tag(_) => return Err(FrameError::NotJson("a tag")),
            Header::Break => return Err(FrameError::NotCbor),
            Header::Text(length) => self.utf8(length)?.into(),
            Header::Bytes(length) => self.utf8(length)?.into(),
            Header::Array(length) => self.json_array(length, depth, left)?,
            Header::Map(length) => self.json_object(length, depth, left)?,
        })
    }

    fn json_array(
        &mut self,
        length: Option<usize>,
        depth: usize,
        left: &mut usize,
    ) -> Result<Value, FrameError> {
        let depth = depth.checked_sub(1).ok_or(FrameError::TooDeep)?;
        // No capacity from the claimed length: the vector grows with the actual items.
        let mut items = Vec::new();
        while length.is_none_or(|length| items.len() < length) {
            match self.header()? {
                Header::Break if length.is_none() => break,
                header => items.push(self.json(header, depth, left)?),
            }
        }
        Ok(Value::Array(items))
    }

    fn json_object(
        &mut self,
        length: Option<usize>,
        depth: usize,
        left: &mut usize,
    ) -> Result<Value, FrameError> {
        let depth = depth.checked_sub(1).ok_or(FrameError::TooDeep)?;
        let mut object = Map::new();
        let mut pairs = 0;
        while length.is_none_or(|length| pairs < length) {
            let key = match self.header()? {
                Header::Break if length.is_none() => break,
                Header::Text(length) => self.utf8(length)?.to_owned(),
                _ => return Err(FrameError::NotJson("a key that is not text")),
            };
            let header = self.header()?;
            object.insert(key, self.json(header, depth, left)?);
            pairs += 1;
        }
        Ok(Value::Object(object))
    }
}

/// Returns CBOR's -1 - n, with all its 65 bits.
fn negative(number: u64) -> Value {
    let number = -1 - i128::from(number);
    Number::from_i128(number).map_or(Value::Null, Value::Number)
}

/// Appends one header. Writing into memory does not fail.
fn push(out: &mut Vec<u8>, header: Header) {
    let written = Encoder::from(out).push(header);
    debug_assert!(written.is_ok());
}

pub(super) fn put_map(out: &mut Vec<u8>, pairs: usize) {
    push(out, Header::Map(Some(pairs)));
}

pub(super) fn put_unsigned(out: &mut Vec<u8>, number: u64) {
    push(out, Header::Positive(number));
}

pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    push(out, Header::Text(Some(text.len())));
    out.extend_from_slice(text.as_bytes());
}

/// Appends the header of a byte string; the caller appends the bytes.
pub(super) fn put_bytes_head(out: &mut Vec<u8>, length: usize) {
    push(out, Header::Bytes(Some(length)));
}

pub(super) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_bytes_head(out, bytes.len());
    out.extend_from_slice(bytes);
}

pub(super) fn put_true(out: &mut Vec<u8>) {
    push(out, Header::Simple(simple::TRUE));
}

/// Appends a JSON value. Returns `false`, with `out` incomplete, when a number has more digits than CBOR's own
/// numbers can hold.
pub(super) fn put_json(out: &mut Vec<u8>, value: &Value) -> bool {
    match value {
        Value::Null => push(out, Header::Simple(simple::NULL)),
        Value::Bool(true) => push(out, Header::Simple(simple::TRUE)),
        Value::Bool(false) => push(out, Header::Simple(simple::FALSE)),
        Value::Number(number) => return put_number(out, number),
        Value::String(text) => put_text(out, text),
        Value::Array(items) => {
            push(out, Header::Array(Some(items.len())));
            return items.iter().all(|item| put_json(out, item));
        }
        Value::Object(object) => {
            put_map(out, object.len());
            return object.iter().all(|(key, item)| {
                put_text(out, key);
                put_json(out, item)
            });
        }
    }
    true
}

fn put_number(out: &mut Vec<u8>, number: &Number) -> bool {
    if let Some(number) = number.as_u64() {
        push(out, Header::Positive(number));
        return true;
    }
    let text = number.to_string();
    let integer = number
        .as_i128()
        .map(|number| -1 - number)
        .and_then(|n| u64::try_from(n).ok());
    if let Some(negative) = integer {
        push(out, Header::Negative(negative));
        return true;
    }
    match number.as_f64().filter(|float| same_text(*float, &text)) {
        Some(float) => {
            push(out, Header::Float(float));
            true
        }
        None => false,
    }
}

/// Whether a float formats to the same digits again.
fn same_text(float: f64, text: &str) -> bool {
    Number::from_f64(float).is_some_and(|number| number.to_string() == text)
}
