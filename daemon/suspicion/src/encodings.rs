//! Texts that are written in another way: base64, hexadecimal digits, escapes, letters apart, rot13, backwards.

use std::ops::Range;

use memchr::memmem;

use crate::ciphers;
use crate::fold::Folded;
use crate::lexicon::LEXICON;
use crate::signals::Event;

/// Shortest run of base64 or hexadecimal digits that is decoded.
const RUN_BYTES_MIN: usize = 24;

/// Bytes of a run that show whether it is a text.
const PROBE_BYTES: usize = 24;

/// Maximum number of bytes of one run that is decoded.
const RUN_BYTES_MAX: usize = 8 * 1024;

/// Escaped letters in a row that are decoded.
const ESCAPES_MIN: usize = 6;

/// Single letters in a row that are read as words.
const LETTERS_MIN: usize = 8;

/// Bytes before and after a word in rot13 or backwards that are read with it.
const AROUND_BYTES: usize = 240;

/// Reads an escape: its character and its length.
type ReadEscape = fn(&[u8]) -> Option<(u32, usize)>;

/// A part of a window in plain text.
#[derive(Debug)]
pub struct Decoded {
    /// Where it stands in the window.
    pub range: Range<usize>,
    pub text: String,
    /// Words are not apart.
    pub is_joined: bool,
    /// Letters that need no encoding are encoded.
    pub is_disguise: bool,
    /// In a way that nobody writes a text in: any order in it is suspicious.
    pub is_odd: bool,
}

/// Returns the encoded parts of a window.
pub fn decoded(window: &str, folded: &Folded, events: &[Event]) -> Vec<Decoded> {
    let mut all = Vec::new();
    runs(window, &mut all);
    escapes(window, &mut all);
    letters(window, &mut all);
    marked(window, folded, events, &mut all);
    ciphers::decoded(window, &mut all);
    all
}

/// Base64 and hexadecimal digits.
fn runs(window: &str, all: &mut Vec<Decoded>) {
    let bytes = window.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        // Nothing shorter than a run lies between two bytes that are in none.
        let probe = at + RUN_BYTES_MIN - 1;
        match bytes.get(probe) {
            None => break,
            Some(byte) if !is_digit(*byte) => {
                at = probe + 1;
                continue;
            }
            Some(_) => {}
        }
        let before = bytes.get(at..probe).unwrap_or_default();
        if let Some(last) = before.iter().rposition(|byte| !is_digit(*byte)) {
            at += last + 1;
            continue;
        }
        let end = end_of_run(bytes, probe);
        let run = bytes.get(at..end).unwrap_or_default();
        let base32 = || unbase32(run).map(|text| (text, true));
        let base64 = || unbase64(run).map(|text| (text, false));
        let digits = unhex(run).map(|text| (text, false));
        if let Some((text, is_odd)) = digits.or_else(base32).or_else(base64) {
            all.push(Decoded {
                range: at..end,
                text,
                is_joined: false,
                is_disguise: true,
                is_odd,
            });
        } else if let Some(text) = ciphers::words_in_one(run) {
            all.push(Decoded {
                range: at..end,
                text,
                is_joined: false,
                is_disguise: false,
                is_odd: false,
            });
        }
        at = end.max(at + 1);
    }
}

/// Returns where a run of digits ends. A long one goes on in the next line.
fn end_of_run(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    let mut line_start = from.saturating_sub(RUN_BYTES_MIN);
    loop {
        match bytes.get(at) {
            Some(byte) if is_digit(*byte) => at += 1,
            Some(b'\n') if at - line_start >= RUN_BYTES_MIN => {
                line_start = at + 1;
                at += 1;
            }
            _ => return at,
        }
    }
}

fn is_digit(byte: u8) -> bool {
    class(byte) & DIGIT != 0
}

fn unhex(run: &[u8]) -> Option<String> {
    let digits = |run: &[u8]| {
        let mut bytes = Vec::with_capacity(run.len() / 2);
        for pair in run.chunks_exact(2) {
            let [high, low] = pair else { return None };
            let (high, low) = (
                char::from(*high).to_digit(16)?,
                char::from(*low).to_digit(16)?,
            );
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        }
        Some(bytes)
    };
    let run = run.strip_prefix(b"0x").unwrap_or(run);
    text(digits(run.get(..PROBE_BYTES)?)?)?;
    text(digits(run.get(..run.len().min(RUN_BYTES_MAX))?)?)
}

/// Decodes base32, as far as it is a text.
fn unbase32(run: &[u8]) -> Option<String> {
    text(ciphers::unbase32(run.get(..PROBE_BYTES)?)?)?;
    text(ciphers::unbase32(run.get(..run.len().min(RUN_BYTES_MAX))?)?)
}

/// Decodes base64 of both alphabets, as far as it is a text.
fn unbase64(run: &[u8]) -> Option<String> {
    text(sextets(run.get(..PROBE_BYTES)?))?;
    text(sextets(run.get(..run.len().min(RUN_BYTES_MAX))?))
}

fn sextets(run: &[u8]) -> Vec<u8> {
    let (mut bytes, mut bits, mut count) = (Vec::with_capacity(run.len() / 4 * 3), 0u32, 0);
    for byte in run {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => continue,
        };
        bits = (bits << 6 | u32::from(value)) & 0xff_ffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    bytes
}

/// Returns bytes as text if they are printable, also with a zero beside each. A last character that is cut is left out.
fn text(mut bytes: Vec<u8>) -> Option<String> {
    if bytes.len() > 1 && bytes.iter().skip(1).step_by(2).all(|byte| *byte == 0) {
        bytes = bytes.into_iter().step_by(2).collect();
    }
    let is_printable = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~' | 0x80..);
    if !bytes.iter().all(is_printable) {
        return None;
    }
    match String::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            let is_cut = bytes.len() - valid < 4 && valid > 0;
            bytes.truncate(valid);
            String::from_utf8(bytes).ok().filter(|_| is_cut)
        }
    }
}

/// `%49%67`, `&#73;&#103;`, `\u0049\u0067` and `\x49\x67`.
fn escapes(window: &str, all: &mut Vec<Decoded>) {
    let forms: [(&[u8], ReadEscape); 4] = [
        (b"%", percent),
        (b"&#", entity),
        (b"\\u", unicode_escape),
        (b"\\x", byte_escape),
    ];
    let bytes = window.as_bytes();
    for (opening, read) in forms {
        let mut from = 0;
        while let Some(found) = memmem::find(bytes.get(from..).unwrap_or_default(), opening) {
            let start = from + found;
            let escaped = escaped(bytes, start, opening, read);
            from = escaped.end.max(start + 1);
            if escaped.count >= ESCAPES_MIN {
                all.push(Decoded {
                    range: start..from,
                    text: String::from_utf8_lossy(&escaped.text).into_owned(),
                    is_joined: false,
                    is_disguise: escaped.letters >= ESCAPES_MIN,
                    is_odd: escaped.letters >= LETTERS_MIN,
                });
            }
        }
    }
}

#[derive(Default)]
struct Escaped {
    text: Vec<u8>,
    count: usize,
    letters: usize,
    end: usize,
}

/// Reads escapes from a place on, with the few plain bytes between them.
fn escaped(bytes: &[u8], start: usize, opening: &[u8], read: ReadEscape) -> Escaped {
    let mut escaped = Escaped {
        end: start,
        ..Escaped::default()
    };
    let (mut at, mut plain) = (start, 0);
    while plain < ESCAPES_MIN && escaped.text.len() < RUN_BYTES_MAX {
        let rest = bytes.get(at..).unwrap_or_default();
        match rest.starts_with(opening).then(|| read(rest)).flatten() {
            Some((code, length)) => {
                at += length;
                plain = 0;
                escaped.count += 1;
                escaped.end = at;
                match u8::try_from(code) {
                    Ok(byte) if byte.is_ascii() || opening == b"%" || opening == b"\\x" => {
                        escaped.letters += usize::from(byte.is_ascii_alphabetic());
                        escaped.text.push(byte);
                    }
                    _ => {
                        let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                        escaped.text.extend(c.to_string().bytes());
                    }
                }
            }
            None => match rest.first() {
                Some(byte) if byte.is_ascii() && *byte != b'\n' && escaped.count > 0 => {
                    escaped.text.push(*byte);
                    at += 1;
                    plain += 1;
                }
                _ => break,
            },
        }
    }
    escaped
}

fn hex(bytes: Option<&[u8]>) -> Option<u32> {
    let mut value = 0;
    for byte in bytes? {
        value = value * 16 + char::from(*byte).to_digit(16)?;
    }
    Some(value)
}

/// `%49`, and `%2549` if it was escaped twice.
fn percent(rest: &[u8]) -> Option<(u32, usize)> {
    let code = hex(rest.get(1..3))?;
    let twice = (code == u32::from(b'%'))
        .then(|| hex(rest.get(3..5)))
        .flatten();
    Some(twice.map_or((code, 3), |code| (code, 5)))
}

fn byte_escape(rest: &[u8]) -> Option<(u32, usize)> {
    Some((hex(rest.get(2..4))?, 4))
}

fn unicode_escape(rest: &[u8]) -> Option<(u32, usize)> {
    Some((hex(rest.get(2..6))?, 6))
}

fn entity(rest: &[u8]) -> Option<(u32, usize)> {
    let end = rest.iter().take(10).position(|byte| *byte == b';')?;
    let digits = std::str::from_utf8(rest.get(2..end)?).ok()?;
    let code = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some((code, end + 1))
}

/// Letters that are written apart: `i g n o r e`, `i.g.n.o.r.e`.
fn letters(window: &str, all: &mut Vec<Decoded>) {
    let bytes = window.as_bytes();
    let (mut at, mut done) = (0, 0);
    // A run has letters and marks in turn, so it shows in any four of its bytes.
    while let Some([first, second, third, fourth]) = bytes.get(at..at + 4) {
        let marks = u32::from(class(*first)) << 24
            | u32::from(class(*second)) << 16
            | u32::from(class(*third)) << 8
            | u32::from(class(*fourth));
        let is_run = marks & APART == 0x0102_0102 || marks & APART == 0x0201_0201;
        if !is_run {
            at += 4;
            continue;
        }
        let start = start_of_letters(bytes, at, done);
        let (text, end) = joined_letters(bytes, start);
        if text.len() >= LETTERS_MIN {
            all.push(Decoded {
                range: start..end,
                is_joined: !text.contains(' '),
                text,
                is_disguise: true,
                is_odd: true,
            });
        }
        done = end;
        at = end.max(at + 1);
    }
}

const fn is_between(byte: u8) -> bool {
    matches!(byte, b' ' | b'.' | b'-' | b'_' | b'*' | b'|' | b'/' | b'\n')
}

const LETTER: u8 = 1;
const BETWEEN: u8 = 2;
/// The two for each of four bytes.
const APART: u32 = 0x0303_0303;
/// A digit of base64 or of a number.
const DIGIT: u8 = 4;

/// What each byte is.
#[expect(
    clippy::indexing_slicing,
    reason = "every byte has a place, and the compiler makes the table"
)]
static CLASSES: [u8; 256] = {
    let (mut classes, mut byte) = ([0; 256], 0_u8);
    loop {
        if byte.is_ascii_alphabetic() {
            classes[byte as usize] |= LETTER;
        } else if is_between(byte) {
            classes[byte as usize] |= BETWEEN;
        }
        if byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_') {
            classes[byte as usize] |= DIGIT;
        }
        if byte == u8::MAX {
            break classes;
        }
        byte += 1;
    }
};

fn class(byte: u8) -> u8 {
    CLASSES.get(usize::from(byte)).copied().unwrap_or_default()
}

/// Goes back to the first letter of a run, as far as no run was read before.
fn start_of_letters(bytes: &[u8], at: usize, done: usize) -> usize {
    let mut start = at;
    if bytes.get(at).is_some_and(|byte| is_between(*byte)) {
        start += 1;
    }
    while start >= done + 2 {
        match bytes.get(start - 2..start) {
            Some([letter, mark]) if letter.is_ascii_alphabetic() && is_between(*mark) => start -= 2,
            _ => break,
        }
    }
    start
}

/// Reads single letters with up to four marks between them, and their end. Other marks than between the first two are
/// between words.
fn joined_letters(bytes: &[u8], start: usize) -> (String, usize) {
    let (mut text, mut at) = (String::new(), start);
    let within = bytes.get(start + 1).copied();
    while let Some(letter) = bytes.get(at).filter(|byte| byte.is_ascii_alphabetic()) {
        let is_word = bytes.get(at + 1).is_some_and(u8::is_ascii_alphabetic);
        if is_word || text.len() >= RUN_BYTES_MAX {
            break;
        }
        text.push(char::from(*letter));
        let marks = bytes.get(at + 1..).unwrap_or_default();
        let count = marks
            .iter()
            .take(4)
            .take_while(|byte| is_between(**byte))
            .count();
        if count > 1 || marks.first().copied() != within {
            text.push(' ');
        }
        at += 1 + count;
    }
    text.truncate(text.trim_end().len());
    (text, at)
}

/// Rot13 and texts that are written backwards, where their words were found.
fn marked(window: &str, folded: &Folded, events: &[Event], all: &mut Vec<Decoded>) {
    let mut end = [0; 2];
    for event in events {
        let is_rotated = event.class == LEXICON.rotated;
        if !is_rotated && event.class != LEXICON.reversed {
            continue;
        }
        let [rotated_end, reversed_end] = &mut end;
        let done = if is_rotated {
            rotated_end
        } else {
            reversed_end
        };
        let start = folded.offset(event.start, window);
        if start < *done {
            continue;
        }
        let from = window.floor_char_boundary(start.saturating_sub(AROUND_BYTES));
        let to = window.floor_char_boundary(start.saturating_add(2 * AROUND_BYTES));
        *done = to;
        let around = window.get(from..to).unwrap_or_default();
        all.push(Decoded {
            range: start..window.ceil_char_boundary(folded.offset(event.end, window)),
            text: match is_rotated {
                true => around.chars().map(rotate).collect(),
                false => around.chars().rev().collect(),
            },
            is_joined: false,
            is_disguise: true,
            is_odd: false,
        });
    }
}

fn rotate(c: char) -> char {
    let rotate = |first: u8| char::from(first + (c as u8 - first + 13) % 26);
    match c {
        'a'..='z' => rotate(b'a'),
        'A'..='Z' => rotate(b'A'),
        other => other,
    }
}
