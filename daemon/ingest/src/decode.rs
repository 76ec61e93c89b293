//! Decodes bytes to text, in any encoding.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};
use std::borrow::Cow;

/// Number of bytes examined to detect binary data and the encoding.
const LOOKED_AT: usize = 1 << 18;
/// Number of bytes at the beginning in which an encoding may be declared.
const DECLARED_WITHIN: usize = 1024;
/// More than one control character in this many bytes means binary data.
const BYTES_PER_CONTROL: usize = 20;
/// Text with more than this many valid multi-byte characters for each invalid sequence is UTF-8 with errors.
const RIGHT_PER_WRONG: usize = 4;

/// Decoded text, with a warning about the decoding.
pub(super) struct Decoded {
    pub text: String,
    pub warning: Option<String>,
}

/// Decodes bytes to text with `\n` line ends; `None` if they are not text. Owned UTF-8 bytes are reused.
pub(super) fn decode(bytes: Cow<'_, [u8]>) -> Option<Decoded> {
    let (text, warning) = match read(&bytes)? {
        Read::AsItIs => (String::from_utf8(bytes.into_owned()).ok()?, None),
        Read::As(text, warning) => (text, warning),
    };
    Some(Decoded {
        text: with_line_feeds(text)?,
        warning,
    })
}

/// Replaces each `\r\n` and each lone `\r` by `\n`.
fn with_line_feeds(text: String) -> Option<String> {
    if !text.contains('\r') {
        return Some(text);
    }
    let mut bytes = text.into_bytes();
    bytes.dedup_by(|here, before| {
        let is_pair = (*before, *here) == (b'\r', b'\n');
        if is_pair {
            *before = b'\n';
        }
        is_pair
    });
    for byte in &mut bytes {
        if *byte == b'\r' {
            *byte = b'\n';
        }
    }
    String::from_utf8(bytes).ok()
}

/// Result of decoding.
enum Read {
    /// The bytes are valid UTF-8.
    AsItIs,
    /// The decoded text, with an optional warning.
    As(String, Option<String>),
}

fn read(bytes: &[u8]) -> Option<Read> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        let rest = bytes.get(mark..).unwrap_or_default();
        return as_encoded(rest, encoding);
    }
    let head = bytes.get(..LOOKED_AT).unwrap_or(bytes);
    if let Some(encoding) = utf_16(head) {
        return as_encoded(bytes, encoding);
    }
    if is_mixed(head) {
        return None;
    }
    if std::str::from_utf8(bytes).is_ok() {
        return Some(Read::AsItIs);
    }
    if is_nearly_utf8(bytes) {
        let text = String::from_utf8_lossy(bytes).into_owned();
        return Some(Read::As(text, Some("some bytes are not UTF-8".to_owned())));
    }
    if let Some(encoding) = declared(head) {
        return as_encoded(bytes, encoding);
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(head, head.len() == bytes.len());
    as_encoded(bytes, detector.guess(None, Utf8Detection::Deny))
}

/// Whether a file with this beginning is binary.
pub(super) fn is_binary(head: &[u8]) -> bool {
    Encoding::for_bom(head).is_none() && utf_16(head).is_none() && is_mixed(head)
}

/// Whether there are zero bytes or too many control characters for a text.
fn is_mixed(head: &[u8]) -> bool {
    head.contains(&0) || controls(head) > head.len() / BYTES_PER_CONTROL
}

fn as_encoded(bytes: &[u8], encoding: &'static Encoding) -> Option<Read> {
    let (text, had_faults) = encoding.decode_without_bom_handling(bytes);
    if text
        .get(..text.floor_char_boundary(LOOKED_AT))?
        .contains('\0')
    {
        return None;
    }
    let name = encoding.name();
    let warning = match had_faults {
        true => Some(format!("read as {name}, with faults")),
        false if encoding == encoding_rs::UTF_8 => None,
        false => Some(format!("read as {name}")),
    };
    Some(Read::As(text.into_owned(), warning))
}

/// Returns the encoding that HTML or XML declares.
fn declared(head: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(head.get(..DECLARED_WITHIN).unwrap_or(head));
    let head = head.trim_start();
    if !head.starts_with('<') {
        return None;
    }
    let rest = ["charset=", "encoding="]
        .iter()
        .find_map(|key| Some(head.split_once(key)?.1))?;
    let label = rest.trim_start_matches(['"', '\'']);
    let end = label.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':')))?;
    // A false declaration of UTF-8 is ignored, and the encoding is guessed from the bytes.
    Encoding::for_label(label.get(..end)?.as_bytes()).filter(|found| *found != encoding_rs::UTF_8)
}

/// Detects UTF-16 without a byte order mark: in mostly Latin text, only every second byte is zero.
fn utf_16(head: &[u8]) -> Option<&'static Encoding> {
    let pairs = head.chunks_exact(2);
    let count = pairs.len();
    let (mut first, mut second) = (0, 0);
    for pair in pairs {
        first += usize::from(pair.first() == Some(&0));
        second += usize::from(pair.last() == Some(&0));
    }
    let most = |zeros: usize, others: usize| zeros > count / 2 && others == 0 && count > 1;
    if most(second, first) {
        Some(UTF_16LE)
    } else if most(first, second) {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// Counts control characters that texts do not have. Tabs, line ends, form feeds, backspaces (overstrikes) and
/// escapes (colours) are common in texts.
fn controls(head: &[u8]) -> usize {
    let is_control = |byte: &u8| matches!(byte, 0..=7 | 11 | 14..=26 | 28..=31 | 127);
    head.iter().filter(|byte| is_control(byte)).count()
}

fn is_nearly_utf8(bytes: &[u8]) -> bool {
    let (mut right, mut wrong) = (0usize, 0usize);
    for chunk in bytes.utf8_chunks() {
        right += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        wrong += usize::from(!chunk.invalid().is_empty());
    }
    right > wrong.saturating_mul(RIGHT_PER_WRONG)
}
