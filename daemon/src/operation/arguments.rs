//! The memory of a call's arguments, reserved before they are parsed: values of a few bytes each take many times their
//! text.

use super::Op;
use crate::budget::{self, Shortage};
use crate::error::Refusal;

/// Arguments up to this size are not counted, in bytes: what is made of them fits into the free part of a call's memory.
const COUNTED_BYTES_MIN: usize = 64 << 10;

/// Reserves the memory for what an operation makes of its arguments.
///
/// # Errors
/// `INVALID_INPUT` when they have more keys and items than a call may take memory for; the refusals of
/// [`budget::reserve`].
pub fn reserve<O: Op>(json: &[u8]) -> Result<(), Refusal> {
    if json.len() < COUNTED_BYTES_MIN {
        return Ok(());
    }
    let items = items(json);
    budget::reserve(items.saturating_mul(O::ARGUMENT_ITEM_BYTES)).map_err(|shortage| {
        let Shortage::Call { bytes_max } = shortage else {
            return shortage.into();
        };
        Refusal::invalid(format!(
            "the arguments have {items} keys and items; at most {} are possible for `{}`",
            bytes_max / O::ARGUMENT_ITEM_BYTES,
            O::NAME
        ))
        .hint("Send less at once, or large content as a text.")
    })
}

/// Counts the keys and items of JSON: commas outside of texts, and opening brackets that are not closed at once.
fn items(json: &[u8]) -> usize {
    let (mut count, mut rest) = (0, json);
    loop {
        let end = memchr::memchr(b'"', rest).unwrap_or(rest.len());
        let (outside, text) = rest.split_at(end);
        let next = outside.iter().skip(1).chain(std::iter::once(&b'"'));
        let marks = outside.iter().zip(next).filter(|(byte, next)| match byte {
            b',' => true,
            b'[' | b'{' => !matches!(next, b']' | b'}'),
            _ => false,
        });
        count += marks.count();
        let Some((_, text)) = text.split_first() else {
            return count;
        };
        rest = after_text(text);
    }
}

/// Returns what comes after the quote that ends a text.
fn after_text(mut text: &[u8]) -> &[u8] {
    while let Some(at) = memchr::memchr2(b'"', b'\\', text) {
        let is_end = text.get(at) == Some(&b'"');
        text = text.get(at + 1..).unwrap_or_default();
        if is_end {
            return text;
        }
        text = text.get(1..).unwrap_or_default();
    }
    &[]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts with commas, brackets and escaped quotes count as one item; broken JSON ends the count.
    #[test]
    fn marks_inside_of_texts_do_not_count() {
        for (json, count) in [
            (r#"{}"#, 0),
            (r#"[1,[2,3],{}]"#, 5),
            (r#"["a",[["b"]]]"#, 4),
            (r#"{"a":"x,y,[{","b\"],[":"\\","c":[]}"#, 3),
            (r#"["a,\"#, 1),
            (r#"["a,b"#, 1),
            ("", 0),
        ] {
            assert_eq!(items(json.as_bytes()), count, "{json}");
        }
    }
}
