//! JSON parser with offsets. serde_json gives values without their offsets, and stops at the first stray byte.

use super::flat::{Source, Span};
use super::nodes::{Kind, NodeId, NodeLabel, Nodes};
use super::scan::{ParentSlot, Scan, ScanError};

/// Parses one value that begins at `start`. Returns its end, or the offset of the syntax error.
///
/// After an error `out` is incomplete, and the caller must roll it back.
pub(super) fn read(
    source: &Source<'_>,
    out: &mut Nodes,
    start: usize,
    place: ParentSlot,
    level: u8,
) -> Result<usize, usize> {
    let mut scan = Scan::new(source, out, start, level);
    match value(&mut scan, place) {
        Ok(()) => {
            scan.flush();
            Ok(scan.pos)
        }
        Err(ScanError) => Err(scan.pos),
    }
}

/// Parses the whole text of the string leaf `leaf` as an object or array, whose members are added under that leaf.
pub(super) fn read_inside(
    source: &Source<'_>,
    out: &mut Nodes,
    leaf: NodeId,
    depth: u16,
    level: u8,
) -> Result<(), ScanError> {
    let mut scan = Scan::new(source, out, 0, level);
    scan.depth = depth;
    scan.blanks();
    value(&mut scan, ParentSlot::Within(Some(leaf)))?;
    scan.blanks();
    if scan.pos < source.text.len() {
        return Err(ScanError);
    }
    scan.flush();
    Ok(())
}

fn value(scan: &mut Scan<'_>, place: ParentSlot) -> Result<(), ScanError> {
    match scan.peek() {
        Some(b'{') => object(scan, place),
        Some(b'[') => array(scan, place),
        Some(b'"') => {
            let text = string(scan)?;
            scan.leaf(place, Kind::String, text);
            Ok(())
        }
        Some(b'-' | b'0'..=b'9') => {
            let start = scan.here();
            number(scan)?;
            let end = scan.here();
            // `-Infinity` is not a JSON number.
            let last = scan.pos.checked_sub(1).and_then(|last| scan.at(last));
            let kind = if last == Some(b'y') {
                Kind::Null
            } else {
                Kind::Number
            };
            scan.leaf(place, kind, Span { start, end });
            Ok(())
        }
        Some(_) => word(scan, place),
        None => Err(ScanError),
    }
}

/// The literals of JSON, and those that Python and JavaScript write for numbers that JSON lacks (parsed as null).
const WORDS: [(&str, Kind); 5] = [
    ("true", Kind::Bool(true)),
    ("false", Kind::Bool(false)),
    ("null", Kind::Null),
    ("NaN", Kind::Null),
    ("Infinity", Kind::Null),
];

fn word(scan: &mut Scan<'_>, place: ParentSlot) -> Result<(), ScanError> {
    let start = scan.here();
    for (word, kind) in WORDS {
        if scan.take_word(word) {
            let end = scan.here();
            scan.leaf(place, kind, Span { start, end });
            return Ok(());
        }
    }
    Err(ScanError)
}

fn object(scan: &mut Scan<'_>, place: ParentSlot) -> Result<(), ScanError> {
    let id = scan.enter(place, Kind::Object)?;
    scan.blanks();
    if !scan.take(b'}') {
        loop {
            scan.blanks();
            if scan.peek() != Some(b'"') {
                return Err(ScanError);
            }
            let key = string(scan)?;
            scan.blanks();
            if !scan.take(b':') {
                return Err(ScanError);
            }
            scan.blanks();
            let label = NodeLabel::Key(key);
            value(scan, ParentSlot::New { parent: id, label })?;
            scan.blanks();
            if scan.comma() {
                continue;
            }
            if scan.take(b'}') {
                break;
            }
            return Err(ScanError);
        }
    }
    scan.leave(place, id);
    Ok(())
}

fn array(scan: &mut Scan<'_>, place: ParentSlot) -> Result<(), ScanError> {
    let id = scan.enter(place, Kind::Array)?;
    scan.blanks();
    if !scan.take(b']') {
        let mut index = 0;
        loop {
            scan.blanks();
            let label = NodeLabel::Index(index);
            value(scan, ParentSlot::New { parent: id, label })?;
            index += 1;
            scan.blanks();
            if scan.comma() {
                continue;
            }
            if scan.take(b']') {
                break;
            }
            return Err(ScanError);
        }
    }
    scan.leave(place, id);
    Ok(())
}

/// Parses a string from its opening to its closing quote. The span is the content without escapes.
fn string(scan: &mut Scan<'_>) -> Result<Span, ScanError> {
    scan.pos += 1;
    let start = scan.here();
    loop {
        match scan.peek() {
            Some(b'"') => break,
            Some(b'\\') => {
                scan.flush();
                escape(scan)?;
                scan.skip_copy();
            }
            Some(0..=0x1f) | None => return Err(ScanError),
            Some(_) => scan.pos += 1,
        }
    }
    let end = scan.here();
    scan.pos += 1;
    Ok(Span { start, end })
}

fn escape(scan: &mut Scan<'_>) -> Result<(), ScanError> {
    let at = scan.pos;
    let escaped = scan.at(at + 1).ok_or(ScanError)?;
    scan.pos += 2;
    let c = match escaped {
        b'"' | b'\\' | b'/' => char::from(escaped),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => unicode(scan)?,
        _ => return Err(ScanError),
    };
    scan.stand_in(c, at);
    Ok(())
}

/// Parses the four digits after `\u`, and the second half of a surrogate pair.
///
/// A lone half becomes the replacement character.
fn unicode(scan: &mut Scan<'_>) -> Result<char, ScanError> {
    let first = hex(scan, 4)?;
    if !(0xd800..0xdc00).contains(&first) {
        return Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    let back = scan.pos;
    if scan.take_word("\\u") {
        let second = hex(scan, 4)?;
        if (0xdc00..0xe000).contains(&second) {
            let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        scan.pos = back;
    }
    Ok(char::REPLACEMENT_CHARACTER)
}

/// Parses exactly `count` hexadecimal digits.
pub(super) fn hex(scan: &mut Scan<'_>, count: usize) -> Result<u32, ScanError> {
    let mut code = 0;
    for _ in 0..count {
        let digit = scan.peek().map(char::from).and_then(|c| c.to_digit(16));
        code = code * 16 + digit.ok_or(ScanError)?;
        scan.pos += 1;
    }
    Ok(code)
}

/// Parses a JSON number.
pub(super) fn number(scan: &mut Scan<'_>) -> Result<(), ScanError> {
    if scan.take(b'-') && scan.take_word("Infinity") {
        return Ok(());
    }
    if !scan.take(b'0') {
        digits(scan)?;
    }
    if scan.take(b'.') {
        digits(scan)?;
    }
    if scan.take(b'e') || scan.take(b'E') {
        let _ = scan.take(b'+') || scan.take(b'-');
        digits(scan)?;
    }
    Ok(())
}

fn digits(scan: &mut Scan<'_>) -> Result<(), ScanError> {
    let start = scan.pos;
    while matches!(scan.peek(), Some(b'0'..=b'9')) {
        scan.pos += 1;
    }
    if scan.pos == start {
        Err(ScanError)
    } else {
        Ok(())
    }
}
