//! Packs values as Zstandard frames (RFC 8878), whole or as a delta (docs/decisions/0003).

use std::sync::Mutex;

use zstd_safe::{CCtx, CParameter, DCtx, SafeResult, compress_bound, get_error_name};

use crate::locks::lock_unpoisoned;

/// Level 1 cannot use the base, because its table is small; 6 takes three times as long and saves nothing.
const LEVEL: i32 = 3;
/// Longer values use long-distance matching, because at this level only the last MiB of a base is indexed.
const LONG_BYTES: usize = 512 << 10;
const WINDOW_LOG_MIN: u32 = 10;
const WINDOW_LOG_MAX: u32 = 27;

/// Contexts for reuse: creating one takes as long as packing 50 KB.
static PACKERS: Mutex<Vec<CCtx<'static>>> = Mutex::new(Vec::new());
static UNPACKERS: Mutex<Vec<DCtx<'static>>> = Mutex::new(Vec::new());
/// Maximum number of contexts of each kind.
const KEPT_MAX: usize = 2;

/// Drops the contexts; called when the daemon is idle.
pub fn release() {
    lock_unpoisoned(&PACKERS).clear();
    lock_unpoisoned(&UNPACKERS).clear();
}

/// Runs `work` with a kept context, or a new one.
fn with<C, T>(
    kept: &Mutex<Vec<C>>,
    make: impl FnOnce() -> Option<C>,
    work: impl FnOnce(&mut C) -> T,
) -> Option<T> {
    let found = lock_unpoisoned(kept).pop();
    let mut context = found.or_else(make)?;
    let done = work(&mut context);
    let mut kept = lock_unpoisoned(kept);
    if kept.len() < KEPT_MAX {
        kept.push(context);
    }
    Some(done)
}

/// Packs a value; `None` when the result is not shorter.
#[must_use]
pub fn pack(value: &[u8]) -> Option<Vec<u8>> {
    let mut packed = Vec::with_capacity(compress_bound(value.len()));
    with(&PACKERS, CCtx::try_create, |context| {
        context.compress(&mut packed, value, LEVEL)
    })?
    .ok()?;
    packed.shrink_to_fit();
    (packed.len() < value.len()).then_some(packed)
}

/// Packs a value as a delta against a base, which must not share its memory; `None` when the delta has more than
/// `room` bytes.
#[must_use]
pub fn pack_against(base: &[u8], value: &[u8], room: usize) -> Option<Vec<u8>> {
    // Packing stops when the room is used up.
    let mut packed = Vec::with_capacity(room.min(compress_bound(value.len())));
    if base.len().max(value.len()) > LONG_BYTES {
        pack_long(base, value, &mut packed)
    } else {
        // A base is text, so it never looks like a dictionary with a header.
        with(&PACKERS, CCtx::try_create, |context| {
            context.compress_using_dict(&mut packed, value, base, LEVEL)
        })?
    }
    .ok()?;
    packed.shrink_to_fit();
    Some(packed)
}

/// Packs a short value with a dictionary of text like it.
#[must_use]
pub fn pack_like(dictionary: &[u8], value: &[u8]) -> Option<Vec<u8>> {
    let mut packed = Vec::with_capacity(compress_bound(value.len()));
    with(&PACKERS, CCtx::try_create, |context| {
        context.compress_using_dict(&mut packed, value, dictionary, LEVEL)
    })?
    .ok()?;
    Some(packed)
}

/// Packs with long-distance matching, which needs a separate context.
fn pack_long(base: &[u8], value: &[u8], packed: &mut Vec<u8>) -> SafeResult {
    let longest = base.len().max(value.len());
    let window_log = usize::BITS - longest.leading_zeros();
    let mut context = CCtx::create();
    context.set_parameter(CParameter::CompressionLevel(LEVEL))?;
    context.set_parameter(CParameter::WindowLog(
        window_log.clamp(WINDOW_LOG_MIN, WINDOW_LOG_MAX),
    ))?;
    context.set_parameter(CParameter::EnableLongDistanceMatching(true))?;
    context.ref_prefix(base)?;
    context.compress2(packed, value)
}

/// Unpacks a value of `length` bytes, which the caller has limited: the frame's own length reserves no memory.
///
/// # Errors
/// The reason when the frame is damaged or has another length. A damaged frame may also give other bytes, so compare
/// their hash.
pub fn unpack(packed: &[u8], length: usize, base: Option<&[u8]>) -> Result<Vec<u8>, String> {
    let mut value = Vec::new();
    let out_of_memory = |_| format!("no memory for its {length} bytes");
    value.try_reserve_exact(length).map_err(out_of_memory)?;
    with(&UNPACKERS, DCtx::try_create, |context| {
        context.decompress_using_dict(&mut value, packed, base.unwrap_or_default())
    })
    .ok_or("no memory to unpack it")?
    .map_err(|code| get_error_name(code).to_owned())?;
    if value.len() != length {
        return Err(format!("it holds {} bytes, not {length}", value.len()));
    }
    Ok(value)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Words that repeat, as texts do.
    fn text(bytes: usize, seed: u64) -> Vec<u8> {
        let clock = crate::clock::Clock::fixed(0, seed);
        let mut text = Vec::with_capacity(bytes + 16);
        while text.len() < bytes {
            let word = u16::from_be_bytes(clock.random());
            text.extend(format!("word{} ", word % 900).bytes());
        }
        text.truncate(bytes);
        text
    }

    /// Values of all sizes are read back, whole and as deltas. The size of a delta depends on the new part of the value,
    /// not on its length.
    #[test]
    fn values_read_back() {
        for bytes in [0, 1, 7, 100, 5000, 200 << 10, 2 << 20] {
            let base = text(bytes, 1);
            let mut value = base[..bytes / 2].to_vec();
            value.extend(text(900, 2));
            value.extend(&base[bytes / 2..]);
            let delta = pack_against(&base, &value, usize::MAX).unwrap();
            assert_eq!(unpack(&delta, value.len(), Some(&base)).unwrap(), value);
            assert!(unpack(&delta, value.len() + 1, Some(&base)).is_err());
            assert!(unpack(&delta, value.len() - 1, Some(&base)).is_err());
            if bytes >= 200 << 10 {
                assert!(delta.len() < 4000, "{} of {bytes}", delta.len());
                assert_eq!(pack_against(&base, &value, 100), None, "no room");
            }
            match pack(&value) {
                Some(packed) => assert_eq!(unpack(&packed, value.len(), None).unwrap(), value),
                None => assert!(value.len() < 20, "{} bytes do not pack", value.len()),
            }
        }
        assert_eq!(pack(b""), None);
        assert!(unpack(b"", 1, None).is_err());
    }

    /// A frame that claims a tebibyte is refused within the length that was asked for.
    #[test]
    fn a_frames_claims_reserve_nothing() {
        let mut bomb = vec![0x28, 0xb5, 0x2f, 0xfd, 0xe0];
        bomb.extend((1_u64 << 40).to_le_bytes());
        bomb.extend([0x03, 0, 0x10, b'a']);
        assert!(unpack(&bomb, 1000, None).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Frames with changed or missing bytes are errors or other bytes, never a panic.
        #[test]
        fn damaged_frames_are_told(
            seed in any::<u64>(),
            at in any::<prop::sample::Index>(),
            change in 1_u8..,
            arbitrary in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            let base = text(3000, seed);
            let value = [&text(1000, seed ^ 1)[..], &base[500..]].concat();
            let mut delta = pack_against(&base, &value, usize::MAX).unwrap();
            let cut = at.index(delta.len());
            prop_assert!(unpack(&delta[..cut], value.len(), Some(&base)).is_err());
            delta[cut] ^= change;
            let _ = unpack(&delta, value.len(), Some(&base));
            let _ = unpack(&arbitrary, 1000, Some(&base));
        }
    }
}
