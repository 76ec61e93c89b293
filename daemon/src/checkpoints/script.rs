//! Edits as bytes: an object that consists of ranges of its base and of new text (docs/decisions/0020).
//!
//! | what | as |
//! | --- | --- |
//! | form of the new text | 0: as it is; 1: a Zstandard frame |
//! | number of steps | number |
//! | each step | length of new text, length of a copy, and where the copy begins: the distance from the end of the last copy plus the length of the new text |
//! | the new text of all steps | to the end |
//!
//! Numbers have seven bits per byte, the lowest first, with the highest bit set in all bytes but the last. Distances are
//! doubled, and those backwards one less than their double. The dictionary of the frame is the end of the longest copy.

use super::edits::Edits;
use super::pack;

const PLAIN: u8 = 0;
const FRAME: u8 = 1;
/// Maximum length of the dictionary, in bytes: more makes the frame hardly shorter.
const DICTIONARY_BYTES_MAX: usize = 4 << 10;
/// Shorter new text is not packed, in bytes.
const PACKED_BYTES_MIN: usize = 32;

/// A copy of a range of the base, after some new text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ScriptStep {
    new_bytes: usize,
    from: usize,
    bytes: usize,
}

/// Encodes how `text` was made from its base.
#[must_use]
pub fn encode(text: &[u8], edits: &Edits) -> Option<Vec<u8>> {
    let mut steps: Vec<ScriptStep> = Vec::new();
    let mut new = Vec::with_capacity(edits.new_bytes());
    let mut longest = 0..0;
    let mut step = ScriptStep::default();
    for segment in edits.segments() {
        let range = segment.at..segment.at + segment.bytes;
        match segment.from {
            None => {
                new.extend_from_slice(text.get(range)?);
                step.new_bytes = segment.bytes;
            }
            Some(from) => {
                if range.len() > longest.len() {
                    longest = range;
                }
                (step.from, step.bytes) = (from, segment.bytes);
                steps.push(std::mem::take(&mut step));
            }
        }
    }
    if step.new_bytes > 0 {
        steps.push(step);
    }
    let dictionary = text.get(dictionary(longest.start, longest.len()))?;
    let packed = (new.len() >= PACKED_BYTES_MIN)
        .then(|| pack::pack_like(dictionary, &new))
        .flatten()
        .filter(|packed| packed.len() < new.len());
    let mut out = Vec::with_capacity(steps.len() * 6 + packed.as_ref().map_or(new.len(), Vec::len));
    out.push(if packed.is_some() { FRAME } else { PLAIN });
    put(&mut out, steps.len());
    let mut end = 0_usize;
    for step in &steps {
        put(&mut out, step.new_bytes);
        put(&mut out, step.bytes);
        if step.bytes > 0 {
            let expected = end.checked_add(step.new_bytes)?;
            put(
                &mut out,
                match step.from.checked_sub(expected) {
                    Some(forwards) => forwards * 2,
                    None => (expected - step.from) * 2 - 1,
                },
            );
            end = step.from + step.bytes;
        }
    }
    out.extend_from_slice(packed.as_ref().unwrap_or(&new));
    Some(out)
}

/// Makes the text of `length` bytes from its base.
///
/// # Errors
/// The reason when the bytes are not edits of this base that make a text of this length. Damaged bytes may also give
/// another text, so compare its hash.
pub fn apply(script: &[u8], base: &[u8], length: usize) -> Result<Vec<u8>, String> {
    let damaged = || "its edits are damaged".to_owned();
    let mut text = Vec::new();
    let out_of_memory = |_| format!("no memory for its {length} bytes");
    text.try_reserve_exact(length).map_err(out_of_memory)?;
    let mut read = Steps { rest: script };
    let form = read.byte().ok_or_else(damaged)?;
    let count = read.number().ok_or_else(damaged)?;
    let steps = read;
    let (mut new_bytes, mut longest, mut end) = (0_usize, (0, 0), 0_usize);
    let mut bytes = 0_usize;
    for _ in 0..count {
        let step = read.step(end).ok_or_else(damaged)?;
        if step.bytes > 0 {
            end = step.from + step.bytes;
            if step.bytes > longest.1 {
                longest = (step.from, step.bytes);
            }
        }
        new_bytes += step.new_bytes;
        bytes = bytes
            .saturating_add(step.new_bytes)
            .saturating_add(step.bytes);
        if bytes > length || end > base.len() {
            return Err(damaged());
        }
    }
    if bytes != length {
        return Err(format!("it makes {bytes} bytes, not {length}"));
    }
    let unpacked;
    let new = match form {
        PLAIN => read.rest,
        FRAME => {
            let dictionary = base.get(dictionary(longest.0, longest.1));
            unpacked = pack::unpack(read.rest, new_bytes, dictionary)?;
            &unpacked
        }
        _ => return Err(damaged()),
    };
    if new.len() != new_bytes {
        return Err(damaged());
    }
    let (mut steps, mut new, mut end) = (steps, new, 0);
    for _ in 0..count {
        let step = steps.step(end).ok_or_else(damaged)?;
        let (own, rest) = new.split_at_checked(step.new_bytes).ok_or_else(damaged)?;
        text.extend_from_slice(own);
        new = rest;
        if step.bytes > 0 {
            end = step.from + step.bytes;
            text.extend_from_slice(base.get(step.from..end).ok_or_else(damaged)?);
        }
    }
    Ok(text)
}

/// Returns the range of the dictionary: the end of a copy.
fn dictionary(start: usize, bytes: usize) -> std::ops::Range<usize> {
    let end = start + bytes;
    end - bytes.min(DICTIONARY_BYTES_MAX)..end
}

fn put(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Encoded steps.
#[derive(Clone, Copy)]
struct Steps<'s> {
    rest: &'s [u8],
}

impl Steps<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*byte)
    }

    fn number(&mut self) -> Option<usize> {
        let (mut number, mut shift) = (0_usize, 0);
        loop {
            let byte = self.byte()?;
            number |= usize::from(byte & 0x7f).checked_shl(shift)?;
            // No length needs more.
            if shift > 42 {
                return None;
            }
            if byte < 0x80 {
                return Some(number);
            }
            shift += 7;
        }
    }

    /// Reads a step; the last copy ended at `end` of the base.
    fn step(&mut self, end: usize) -> Option<ScriptStep> {
        let (new_bytes, bytes) = (self.number()?, self.number()?);
        if bytes == 0 {
            return Some(ScriptStep {
                new_bytes,
                from: 0,
                bytes,
            });
        }
        let distance = self.number()?;
        let expected = end.checked_add(new_bytes)?;
        let from = match distance % 2 {
            0 => expected.checked_add(distance / 2)?,
            _ => expected.checked_sub(distance.div_ceil(2))?,
        };
        from.checked_add(bytes)?;
        Some(ScriptStep {
            new_bytes,
            from,
            bytes,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edited(base: &str, steps: &[(u16, u16, bool)]) -> (Edits, String) {
        let (mut edits, mut text) = (Edits::default(), String::new());
        for (from, bytes, is_copy) in steps {
            let from = usize::from(*from).min(base.len());
            let bytes = usize::from(*bytes).min(base.len() - from);
            if *is_copy {
                edits.copy(from, bytes);
                text += &base[from..from + bytes];
            } else {
                edits.insert(bytes);
                let new =
                    (text.len()..text.len() + bytes).map(|n| char::from(b'A' + (n % 26) as u8));
                text.extend(new);
            }
        }
        (edits, text)
    }

    proptest! {
        /// Edits read back for any base; damage is an error or another text, never a panic.
        #[test]
        fn edits_read_back(
            base in "[a-z ]{0,3000}",
            steps in proptest::collection::vec(any::<(u16, u16, bool)>(), 0..12),
            at in any::<prop::sample::Index>(),
            change in 1_u8..,
            arbitrary in proptest::collection::vec(any::<u8>(), 0..100),
        ) {
            let (edits, text) = edited(&base, &steps);
            let mut script = encode(text.as_bytes(), &edits).unwrap();
            let read = apply(&script, base.as_bytes(), text.len()).unwrap();
            prop_assert_eq!(read, text.as_bytes());
            prop_assert!(apply(&script, base.as_bytes(), text.len() + 1).is_err());
            let cut = at.index(script.len());
            prop_assert!(apply(&script[..cut], base.as_bytes(), text.len()).is_err());
            script[cut] ^= change;
            let _ = apply(&script, base.as_bytes(), text.len());
            let _ = apply(&arbitrary, base.as_bytes(), 1000);
        }
    }

    /// A small change of a long text takes little, and what it claims reserves nothing.
    #[test]
    fn small_changes_are_small() {
        let base = "the same words again and again, ".repeat(5000);
        let mut edits = Edits::default();
        edits.copy(0, 80_000);
        edits.insert(900);
        edits.copy(80_900, 70_000);
        let mut text = base[..80_000].to_owned();
        text += &"quite the other words again".repeat(40)[..900];
        text += &base[80_900..150_900];
        let script = encode(text.as_bytes(), &edits).unwrap();
        assert!(script.len() < 120, "{}", script.len());
        assert_eq!(
            apply(&script, base.as_bytes(), text.len()).unwrap(),
            text.as_bytes()
        );
        let claims = [PLAIN, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0];
        assert!(apply(&claims, b"", 10).is_err());
    }
}
