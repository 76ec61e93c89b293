//! Limits the nesting of CBOR before it is decoded: decoders recurse, and a stack ends.

/// Maximum nesting.
const DEPTH_MAX: usize = 64;

/// Number of items of an array or a map without a length, which a break ends.
const OPEN: u64 = u64::MAX;

// Major types of RFC 8949, section 3.1.
const BYTES: u8 = 2;
const TEXT: u8 = 3;
const ARRAY: u8 = 4;
const MAP: u8 = 5;
const TAG: u8 = 6;
const BREAK: u8 = 0xff;

/// Checks the nesting of a value. Other defects are left to the decoder.
///
/// # Errors
/// A message when it is nested too deeply.
pub(super) fn check(bytes: &[u8]) -> Result<(), String> {
    let mut rest = bytes;
    // Items that are left in each array, map, tag and text in pieces. Most values are decoded often, so it is no list.
    let (mut open, mut depth) = ([0_u64; DEPTH_MAX], 0_usize);
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first == BREAK {
            match open.get(..depth).and_then(<[u64]>::last) {
                Some(&OPEN) => depth -= 1,
                _ => return Ok(()),
            }
        } else {
            let Some((argument, after)) = argument(first & 31, rest) else {
                return Ok(());
            };
            rest = after;
            let items = match first >> 5 {
                BYTES | TEXT if argument != OPEN => {
                    let length = usize::try_from(argument).unwrap_or(usize::MAX);
                    let Some(after) = rest.get(length..) else {
                        return Ok(());
                    };
                    rest = after;
                    0
                }
                BYTES | TEXT | ARRAY => argument,
                MAP if argument == OPEN => OPEN,
                MAP => argument.saturating_mul(2).min(OPEN - 1),
                TAG => 1,
                _ => 0,
            };
            if items > 0 {
                let Some(level) = open.get_mut(depth) else {
                    return Err(format!("nested more than {DEPTH_MAX} levels deep"));
                };
                *level = items;
                depth += 1;
                continue;
            }
        }
        // An item has ended, and with it perhaps those around it.
        loop {
            match open.get_mut(..depth).and_then(<[u64]>::last_mut) {
                None => return Ok(()),
                Some(&mut OPEN) => break,
                Some(left) => {
                    *left -= 1;
                    if *left > 0 {
                        break;
                    }
                    depth -= 1;
                }
            }
        }
    }
    Ok(())
}

/// Returns the argument of a head and the bytes after it; `None` where it is incomplete or invalid.
fn argument(info: u8, rest: &[u8]) -> Option<(u64, &[u8])> {
    let length = match info {
        0..=23 => return Some((info.into(), rest)),
        24 => 1,
        25 => 2,
        26 => 4,
        27 => 8,
        31 => return Some((OPEN, rest)),
        _ => return None,
    };
    let (argument, rest) = rest.split_at_checked(length)?;
    let argument = argument
        .iter()
        .fold(0, |value: u64, byte| value << 8 | u64::from(*byte));
    Some((argument.min(OPEN - 1), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(head: &[u8], levels: usize) -> Vec<u8> {
        let mut bytes = head.repeat(levels);
        bytes.push(0);
        bytes
    }

    /// Arrays, maps, tags and open arrays count alike. What follows a nested value is checked, too.
    #[test]
    fn levels_are_counted() {
        for head in [&[0x81][..], &[0xa1, 0x61, b'a'], &[0xc1], &[0x9f]] {
            assert_eq!(check(&nested(head, DEPTH_MAX)), Ok(()), "{head:x?}");
            assert!(check(&nested(head, DEPTH_MAX + 1)).is_err(), "{head:x?}");
        }
        let mut two = vec![0x82];
        two.extend(nested(&[0x81], 60));
        two.extend(nested(&[0x81], 70));
        assert!(check(&two).is_err());
        // 60 levels end, and 60 begin.
        two.truncate(62);
        two.extend(nested(&[0x81], 60));
        assert_eq!(check(&two), Ok(()));
    }

    /// Texts are passed over whatever they contain, and what is incomplete is left to the decoder.
    #[test]
    fn texts_have_no_levels() {
        let mut text = vec![0x82, 0x78, 200];
        text.extend([0x81; 200]);
        text.extend(nested(&[0x81], 10));
        assert_eq!(check(&text), Ok(()));
        for cut in 0..text.len() {
            assert_eq!(check(text.get(..cut).unwrap_or_default()), Ok(()));
        }
        assert_eq!(
            check(&[0x9b, 255, 255, 255, 255, 255, 255, 255, 255]),
            Ok(())
        );
    }
}
