//! Limits of external JSON, checked before any value is built from it.

use super::{Code, ErrorBody};

/// Maximum nesting depth of arrays and objects in a body.
pub const DEPTH_MAX: usize = 128;

/// Maximum number of keys and items in one body, because a tree costs many times their text.
pub const VALUES_MAX: usize = 2_000_000;

/// Checks the depth and the number of values of a JSON text in one pass, before it is parsed.
///
/// It does not check the syntax: the parser may still refuse the text.
///
/// # Errors
/// `INVALID_INPUT`, naming the limit, when the text is deeper than [`DEPTH_MAX`] or has more than
/// [`VALUES_MAX`] keys and items.
pub fn within_limits(json: &[u8]) -> Result<(), ErrorBody> {
    let (mut depth, mut values) = (0_usize, 0_usize);
    let mut at = 0;
    while let Some(byte) = json.get(at) {
        at += 1;
        match byte {
            b'"' => at += string_length(json.get(at..).unwrap_or_default()),
            b'[' | b'{' => {
                depth += 1;
                values += 1;
                if depth > DEPTH_MAX {
                    return Err(too_deep());
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' | b':' => values += 1,
            _ => {}
        }
        if values > VALUES_MAX {
            return Err(too_many());
        }
    }
    Ok(())
}

/// Number of bytes up to and including the closing quote of a string, or to the end.
fn string_length(rest: &[u8]) -> usize {
    let mut at = 0;
    while let Some(found) = memchr::memchr2(b'"', b'\\', rest.get(at..).unwrap_or_default()) {
        at += found + 1;
        if rest.get(at - 1) == Some(&b'"') {
            return at;
        }
        // An escaped character, even a quote, is part of the string.
        at += 1;
    }
    rest.len()
}

pub(super) fn too_deep() -> ErrorBody {
    ErrorBody::new(
        Code::InvalidInput,
        format!("the body is nested deeper than {DEPTH_MAX} arrays and objects"),
    )
    .hint("send it as text, or flatter")
}

pub(super) fn too_many() -> ErrorBody {
    ErrorBody::new(
        Code::InvalidInput,
        format!("the body has more than {VALUES_MAX} keys and items"),
    )
    .hint("send it as text, or in parts")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_counted_outside_of_strings() {
        let nested = |depth| "[".repeat(depth) + &"]".repeat(depth);
        assert!(within_limits(nested(128).as_bytes()).is_ok());
        let refused = within_limits(nested(129).as_bytes()).unwrap_err();
        assert!(refused.message.contains("128"), "{refused}");
        let text = format!(r#""\"{}""#, "[".repeat(1000));
        assert!(within_limits(text.as_bytes()).is_ok());
    }

    #[test]
    fn many_small_values_are_refused() {
        let json = format!("[{}0]", "0,".repeat(VALUES_MAX));
        let refused = within_limits(json.as_bytes()).unwrap_err();
        assert!(refused.message.contains("2000000"), "{refused}");
    }
}
