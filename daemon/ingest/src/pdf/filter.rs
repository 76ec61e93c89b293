//! Decodes the filters of a stream, bounded by a given size.

use super::object::{Dict, Object, hex_digit, is_space};
use flate2::read::{DeflateDecoder, ZlibDecoder};
use std::borrow::Cow;
use std::io::Read;
use std::ops::Range;

/// Limit on chained filters.
const FILTERS_MAX: usize = 4;

/// Why a stream cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FilterError {
    /// The decoded data exceeds the limit.
    TooLarge,
    /// A filter or predictor is unknown or only for images, or there are too many filters.
    Unknown,
}

/// Decodes the data of a stream; no step may yield more than `most` bytes.
pub(super) fn decoded(dict: &Dict, raw: &[u8], most: usize) -> Result<Vec<u8>, FilterError> {
    let filters: Vec<&[u8]> = match dict.get(&b"Filter"[..]).or_else(|| dict.get(&b"F"[..])) {
        Some(Object::Name(name)) => vec![name],
        Some(Object::Array(names)) => names.iter().filter_map(Object::name).collect(),
        _ => Vec::new(),
    };
    if filters.len() > FILTERS_MAX {
        return Err(FilterError::Unknown);
    }
    let predictor = match dict.get(&b"DecodeParms"[..]) {
        Some(Object::Dict(parameters)) => Some(parameters),
        Some(Object::Array(all)) => all.iter().find_map(Object::dict),
        _ => None,
    };
    if raw.len() > most {
        return Err(FilterError::TooLarge);
    }
    let mut data = Cow::Borrowed(raw);
    for filter in filters {
        let next = match filter {
            b"FlateDecode" | b"Fl" => flate(&data, most)?,
            b"LZWDecode" | b"LZW" => lzw(&data, most, early_change(predictor))?,
            b"ASCII85Decode" | b"A85" => ascii_85(&data),
            b"ASCIIHexDecode" | b"AHx" => ascii_hex(&data),
            b"RunLengthDecode" | b"RL" => run_length(&data, most)?,
            _ => return Err(FilterError::Unknown),
        };
        data = Cow::Owned(next);
    }
    match predictor {
        Some(parameters) => unpredicted(data.into_owned(), parameters),
        None => Ok(data.into_owned()),
    }
}

/// Decodes deflate data. If the data is damaged, the part before the fault is returned.
fn flate(data: &[u8], most: usize) -> Result<Vec<u8>, FilterError> {
    let out = bounded(ZlibDecoder::new(data), most)?;
    if !out.is_empty() || data.is_empty() {
        return Ok(out);
    }
    // The zlib header is missing or wrong.
    let out = bounded(DeflateDecoder::new(data), most)?;
    match out.is_empty() {
        true => bounded(DeflateDecoder::new(data.get(2..).unwrap_or_default()), most),
        false => Ok(out),
    }
}

fn bounded(from: impl Read, most: usize) -> Result<Vec<u8>, FilterError> {
    let mut out = Vec::new();
    let mut from = from.take(most as u64 + 1);
    // The data read before a fault is kept.
    let _ = from.read_to_end(&mut out);
    if out.len() > most {
        return Err(FilterError::TooLarge);
    }
    Ok(out)
}

fn early_change(parameters: Option<&Dict>) -> bool {
    let change = parameters.and_then(|dict| dict.get(&b"EarlyChange"[..]));
    change.and_then(Object::number) != Some(0.0)
}

/// Decodes LZW: codes of 9 to 12 bits, most significant bit first. A table entry is the output of one code and
/// the first byte of the next code's output, stored as a range of the output.
fn lzw(data: &[u8], most: usize, is_early: bool) -> Result<Vec<u8>, FilterError> {
    const CLEAR: usize = 256;
    const END: usize = 257;
    const ENTRIES_MAX: usize = 4096 - END;
    let mut out: Vec<u8> = Vec::new();
    let mut entries: Vec<Range<usize>> = Vec::new();
    let (mut bits, mut held) = (0u32, 0u32);
    for byte in data {
        held = held << 8 | u32::from(*byte);
        bits += 8;
        let width = match END + entries.len().max(1) + usize::from(is_early) {
            0..512 => 9,
            512..1024 => 10,
            1024..2048 => 11,
            _ => 12,
        };
        if bits < width {
            continue;
        }
        bits -= width;
        let code = (held >> bits) as usize;
        held &= (1 << bits) - 1;
        if code == END {
            break;
        }
        if code == CLEAR {
            entries.clear();
            continue;
        }
        let start = out.len();
        if let Ok(byte) = u8::try_from(code) {
            out.push(byte);
        } else if let Some(entry) = entries.get(code - END - 1).cloned() {
            // Copied byte by byte, because the entry's last byte may be the first byte that this loop writes.
            for at in entry {
                out.extend(out.get(at).copied());
            }
        } else {
            break;
        }
        if out.len() > most {
            return Err(FilterError::TooLarge);
        }
        if entries.len() < ENTRIES_MAX {
            entries.push(start..out.len() + 1);
        }
    }
    Ok(out)
}

fn ascii_85(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut group = Vec::with_capacity(5);
    for byte in data.iter().copied().filter(|byte| !is_space(*byte)) {
        match byte {
            b'~' => break,
            b'z' if group.is_empty() => out.extend([0; 4]),
            b'!'..=b'u' => group.push(byte - b'!'),
            _ => {}
        }
        if group.len() == 5 {
            push_85(&mut out, &group, 4);
            group.clear();
        }
    }
    if group.len() > 1 {
        let taken = group.len() - 1;
        group.resize(5, 84);
        push_85(&mut out, &group, taken);
    }
    out
}

fn push_85(out: &mut Vec<u8>, group: &[u8], taken: usize) {
    let value = group.iter().fold(0u32, |value, digit| {
        value.wrapping_mul(85).wrapping_add(u32::from(*digit))
    });
    out.extend(value.to_be_bytes().iter().take(taken));
}

fn ascii_hex(data: &[u8]) -> Vec<u8> {
    let digits = data.iter().take_while(|byte| **byte != b'>');
    let digits: Vec<u8> = digits.filter_map(|byte| hex_digit(*byte)).collect();
    let pairs = digits.chunks(2);
    pairs
        .map(|pair| pair.first().unwrap_or(&0) << 4 | pair.get(1).unwrap_or(&0))
        .collect()
}

fn run_length(data: &[u8], most: usize) -> Result<Vec<u8>, FilterError> {
    let mut out = Vec::new();
    let mut rest = data;
    while let Some((length, behind)) = rest.split_first() {
        let length = usize::from(*length);
        match length {
            128 => break,
            0..128 => {
                let taken = behind.get(..=length).unwrap_or(behind);
                out.extend_from_slice(taken);
                rest = behind.get(taken.len()..).unwrap_or_default();
            }
            _ => {
                let Some((byte, behind)) = behind.split_first() else {
                    break;
                };
                out.extend(std::iter::repeat_n(*byte, 257 - length));
                rest = behind;
            }
        }
        if out.len() > most {
            return Err(FilterError::TooLarge);
        }
    }
    Ok(out)
}

/// Undoes PNG prediction from the bytes to the left and above. Other predictors are only used for images.
fn unpredicted(data: Vec<u8>, parameters: &Dict) -> Result<Vec<u8>, FilterError> {
    let number = |key: &[u8], usual: usize| {
        let found = parameters.get(key).and_then(Object::number);
        found.map_or(usual, |number| number.clamp(0.0, 1e6) as usize)
    };
    match number(b"Predictor", 1) {
        0 | 1 => return Ok(data),
        10.. => {}
        _ => return Err(FilterError::Unknown),
    }
    let bits = number(b"Colors", 1).saturating_mul(number(b"BitsPerComponent", 8));
    let step = bits.div_ceil(8).max(1);
    let row_bytes = bits
        .saturating_mul(number(b"Columns", 1))
        .div_ceil(8)
        .max(1);
    let mut above = vec![0; row_bytes.min(data.len())];
    let mut out: Vec<u8> = Vec::with_capacity(data.len());
    for row in data.chunks(row_bytes.saturating_add(1)) {
        let Some((kind, row)) = row.split_first() else {
            break;
        };
        let mut done: Vec<u8> = Vec::with_capacity(row.len());
        for (at, byte) in row.iter().enumerate() {
            let before = |row: &[u8]| at.checked_sub(step).and_then(|at| row.get(at).copied());
            let left = before(&done).unwrap_or_default();
            let up = above.get(at).copied().unwrap_or_default();
            let corner = before(&above).unwrap_or_default();
            let guess = match kind {
                1 => left,
                2 => up,
                3 => ((u16::from(left) + u16::from(up)) / 2) as u8,
                4 => paeth(left, up, corner),
                _ => 0,
            };
            done.push(byte.wrapping_add(guess));
        }
        out.extend_from_slice(&done);
        above = done;
    }
    Ok(out)
}

fn paeth(left: u8, up: u8, corner: u8) -> u8 {
    let guess = i16::from(left) + i16::from(up) - i16::from(corner);
    let far = |byte: u8| (guess - i16::from(byte)).abs();
    if far(left) <= far(up) && far(left) <= far(corner) {
        left
    } else if far(up) <= far(corner) {
        up
    } else {
        corner
    }
}
