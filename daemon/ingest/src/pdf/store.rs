//! The objects of a PDF by number. One scan of the file finds them. The cross-reference table is not used, so
//! its claims need not be trusted and a broken one does no harm.

use super::filter::{FilterError, decoded};
use super::object::{Dict, Lexer, Object};
use crate::IngestError;
use crate::limits::Budget;
use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;

/// Limit on the objects of a file.
const OBJECTS_MAX: usize = 1_000_000;
/// Divisor of the size limits for streams: nested forms hold several streams at once.
const SHARE: usize = 4;
/// Limit on a chain of references.
const HOPS_MAX: usize = 16;

/// The location of an object.
#[derive(Debug, Clone, Copy)]
enum ObjectLocation {
    /// Offset in the file, after `obj`.
    File(usize),
    /// Offset in a decoded object stream.
    Inner { stream: usize, at: usize },
}

/// The object index of a file. Objects are parsed on access.
pub(super) struct Store<'p> {
    bytes: &'p [u8],
    places: HashMap<u32, ObjectLocation>,
    /// The decoded object streams.
    inflated: Vec<Vec<u8>>,
    /// Bytes that object streams may still decode to.
    room: usize,
    stream_bytes: usize,
    /// Number of bytes that were scanned again after a broken object.
    again: usize,
    /// From this offset on, the file has no `endstream`; avoids repeated searches.
    endless: Cell<usize>,
    /// Object number of the catalog.
    root: Option<u32>,
    is_encrypted: bool,
}

impl<'p> Store<'p> {
    /// Scans a file.
    pub fn open(bytes: &'p [u8], budget: &Budget<'_>) -> Result<Self, IngestError> {
        let mut store = Self {
            bytes,
            places: HashMap::new(),
            inflated: Vec::new(),
            room: budget.limits.parts_bytes / SHARE,
            stream_bytes: budget.limits.part_bytes / SHARE,
            again: 0,
            endless: Cell::new(usize::MAX),
            root: None,
            is_encrypted: false,
        };
        store.scan(budget)?;
        match store.is_encrypted {
            true => Err(IngestError::Encrypted { what: "PDF".into() }),
            false => Ok(store),
        }
    }

    fn scan(&mut self, budget: &Budget<'_>) -> Result<(), IngestError> {
        let mut at = 0;
        while let Some(next) = find_any(self.bytes, at) {
            budget.check()?;
            if self.places.len() >= OBJECTS_MAX {
                break;
            }
            at = match next {
                ScannedItem::Trailer(behind) => {
                    let mut lexer = Lexer::new(self.bytes, behind);
                    if let Some(Object::Dict(dict)) = lexer.next() {
                        self.trailer(&dict);
                    }
                    behind
                }
                ScannedItem::Object { number, behind } => {
                    self.places.insert(number, ObjectLocation::File(behind));
                    self.pass(number, behind)
                }
                ScannedItem::Other(behind) => behind,
            };
        }
        Ok(())
    }

    fn trailer(&mut self, dict: &Dict) {
        if let Some(Object::Reference(root)) = dict.get(&b"Root"[..]) {
            self.root = Some(*root);
        }
        self.is_encrypted |= dict.contains_key(&b"Encrypt"[..]);
    }

    /// Reads an object's references (catalog, trailer, object stream) and returns where the scan continues.
    fn pass(&mut self, number: u32, at: usize) -> usize {
        let mut lexer = Lexer::new(self.bytes, at);
        lexer.skip_space();
        if !lexer.rest().starts_with(b"<<") {
            return at;
        }
        let Some(Object::Dict(dict)) = lexer.next() else {
            // A broken object may contain intact ones, so it is scanned again, up to once the file's size in total.
            self.again += lexer.at - at;
            return if self.again > self.bytes.len() {
                lexer.at
            } else {
                at
            };
        };
        let behind = lexer.at;
        let Some(data) = self.stream_data(&dict, behind) else {
            if is_type(&dict, b"Catalog") && self.root.is_none() {
                self.root = Some(number);
            }
            return behind;
        };
        if is_type(&dict, b"XRef") {
            self.trailer(&dict);
        } else if is_type(&dict, b"ObjStm") {
            self.inflate(&dict, data.clone());
        }
        data.end
    }

    /// Returns the range of the stream data that follows a dictionary, if any.
    fn stream_data(&self, dict: &Dict, at: usize) -> Option<Range<usize>> {
        let mut lexer = Lexer::new(self.bytes, at);
        lexer.skip_space();
        let rest = lexer.rest().strip_prefix(b"stream")?;
        let line_end = match rest {
            [b'\r', b'\n', ..] => 2,
            [b'\n' | b'\r', ..] => 1,
            _ => 0,
        };
        let start = lexer.at + b"stream".len() + line_end;
        // The declared length is used only if `endstream` follows it.
        let length = match dict.get(&b"Length"[..]) {
            Some(Object::Number(length)) => Some(*length),
            Some(Object::Reference(number)) => self.get(*number).and_then(|length| length.number()),
            _ => None,
        };
        if let Some(length) = length.filter(|length| (0.0..1e12).contains(length)) {
            let end = start.saturating_add(length as usize);
            let mut lexer = Lexer::new(self.bytes, end);
            lexer.skip_space();
            if lexer.rest().starts_with(b"endstream") {
                return Some(start..end);
            }
        }
        let rest = self.bytes.get(start..)?;
        let mut length = None;
        if start < self.endless.get() {
            length = find(rest, b"endstream");
            if length.is_none() {
                self.endless.set(start);
            }
        }
        let length = length.or_else(|| find(rest, b"endobj"));
        Some(start..start + length.unwrap_or(rest.len()))
    }

    /// Decodes an object stream and indexes its objects.
    fn inflate(&mut self, dict: &Dict, data: Range<usize>) {
        let most = self.room.min(self.stream_bytes);
        let raw = self.bytes.get(data).unwrap_or_default();
        let Ok(inner) = decoded(dict, raw, most) else {
            return;
        };
        let Some(first) = dict.get(&b"First"[..]).and_then(Object::number) else {
            return;
        };
        let first = first.max(0.0) as usize;
        self.room -= inner.len();
        let stream = self.inflated.len();
        let mut lexer = Lexer::new(&inner, 0);
        while lexer.at < first
            && let (Some(number), Some(offset)) = (lexer.digits(), lexer.digits())
            && let Ok(number) = u32::try_from(number)
            && self.places.len() < OBJECTS_MAX
        {
            let at = first.saturating_add(offset);
            self.places
                .insert(number, ObjectLocation::Inner { stream, at });
        }
        self.inflated.push(inner);
    }

    /// Parses an object by its number.
    pub fn get(&self, number: u32) -> Option<Object> {
        let mut lexer = match *self.places.get(&number)? {
            ObjectLocation::File(at) => Lexer::new(self.bytes, at),
            ObjectLocation::Inner { stream, at } => Lexer::new(self.inflated.get(stream)?, at),
        };
        lexer.next()
    }

    /// Resolves a reference, also through other references.
    pub fn resolved(&self, value: &Object) -> Option<Object> {
        let mut value = value.clone();
        for _ in 0..HOPS_MAX {
            match value {
                Object::Reference(number) => value = self.get(number)?,
                other => return Some(other),
            }
        }
        None
    }

    /// Returns the resolved value of a key.
    pub fn value(&self, dict: &Dict, key: &[u8]) -> Option<Object> {
        self.resolved(dict.get(key)?)
    }

    /// Returns the resolved dictionary of a key.
    pub fn dict(&self, dict: &Dict, key: &[u8]) -> Option<Dict> {
        match self.value(dict, key)? {
            Object::Dict(dict) => Some(dict),
            _ => None,
        }
    }

    /// Returns the dictionary and the decoded data of a stream by its number.
    pub fn stream(&self, number: u32) -> Option<Result<(Dict, Vec<u8>), FilterError>> {
        let ObjectLocation::File(at) = *self.places.get(&number)? else {
            return None;
        };
        let mut lexer = Lexer::new(self.bytes, at);
        let Some(Object::Dict(mut dict)) = lexer.next() else {
            return None;
        };
        let data = self.stream_data(&dict, lexer.at)?;
        for key in [&b"Filter"[..], b"DecodeParms"] {
            if let Some(value) = self.value(&dict, key) {
                dict.insert(key.to_vec(), value);
            }
        }
        let raw = self.bytes.get(data)?;
        Some(decoded(&dict, raw, self.stream_bytes).map(|data| (dict, data)))
    }

    /// Returns the size limit of a stream, in bytes.
    pub fn stream_bytes(&self) -> usize {
        self.stream_bytes
    }

    /// Returns the document's catalog.
    pub fn catalog(&self) -> Option<Dict> {
        match self.get(self.root?)? {
            Object::Dict(dict) => Some(dict),
            _ => None,
        }
    }

    /// Returns the numbers of all objects, sorted.
    pub fn numbers(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = self.places.keys().copied().collect();
        numbers.sort_unstable();
        numbers
    }
}

/// Returns whether a dictionary's `Type` is `name`.
pub(super) fn is_type(dict: &Dict, name: &[u8]) -> bool {
    dict.get(&b"Type"[..]).and_then(Object::name) == Some(name)
}

/// An item found by the scan.
enum ScannedItem {
    Object {
        number: u32,
        behind: usize,
    },
    Trailer(usize),
    /// No item; the scan continues at this offset.
    Other(usize),
}

/// Finds the next `1 0 obj` or `trailer`.
fn find_any(bytes: &[u8], from: usize) -> Option<ScannedItem> {
    let rest = bytes.get(from..)?;

    let at = rest
        .windows(3)
        .position(|window| matches!(window, b"obj" | b"tra"))?;
    let at = from + at;
    let behind = at + 3;
    if bytes.get(at..)?.starts_with(b"trailer") {
        return Some(ScannedItem::Trailer(at + 7));
    }
    if bytes.get(at..behind)? != b"obj" {
        return Some(ScannedItem::Other(behind));
    }
    let head = bytes.get(at.saturating_sub(24)..at).unwrap_or_default();
    Some(match number_before(head) {
        Some(number) => ScannedItem::Object { number, behind },
        None => ScannedItem::Other(behind),
    })
}

/// Returns the first of two whole numbers at the end of `head`.
fn number_before(head: &[u8]) -> Option<u32> {
    let text: String = head.iter().map(|byte| char::from(*byte)).collect();
    let mut words = text.split_ascii_whitespace().rev();
    let is_whole = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
    words.next().filter(is_whole)?;
    let number = words.next()?;
    // The text before the number may lack a separating space: `endobj1 0 obj`.
    let digits = number.len() - number.bytes().rev().take_while(u8::is_ascii_digit).count();
    number.get(digits..)?.parse().ok()
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}
