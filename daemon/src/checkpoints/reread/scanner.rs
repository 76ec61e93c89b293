//! Finds where JSON values end, without reading them: the text is checked elsewhere.

/// Returns the offset after white space.
pub fn blank(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    at + rest.iter().take_while(is_blank).count()
}

/// Returns the offset after the string that begins at `at`; `None` when it does not end.
pub fn string_end(text: &[u8], at: usize) -> Option<usize> {
    if text.get(at) != Some(&b'"') {
        return None;
    }
    let mut at = at + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text.get(at) == Some(&b'"') {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// Returns the offset after the value that begins at `at`; `None` when there is none, or when it does not end. Of a text
/// that is not JSON, it is some offset.
pub fn value_end(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at)? {
        b'"' => string_end(text, at),
        b'{' | b'[' => container_end(text, at),
        _ => {
            let rest = text.get(at..)?;
            let is_of_word = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
            let length = rest.iter().take_while(is_of_word).count();
            (length > 0).then_some(at + length)
        }
    }
}

fn container_end(text: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    loop {
        match text.get(at)? {
            b'"' => {
                at = string_end(text, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// The key and the value of a member that begins at an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberStart {
    /// Offset after the key's closing quote.
    pub key_end: usize,
    /// Offset of the value.
    pub value: usize,
}

/// Finds the value of the member whose key begins at `at`.
pub fn member(text: &[u8], at: usize) -> Option<MemberStart> {
    let key_end = string_end(text, at)?;
    let colon = blank(text, key_end);
    (text.get(colon) == Some(&b':')).then(|| MemberStart {
        key_end,
        value: blank(text, colon + 1),
    })
}

/// What follows an item of an array or object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextItem {
    /// Another item, at this offset.
    Item(usize),
    /// The end, after this offset.
    End(usize),
}

/// Returns what follows the item that ends at `at` in a container that ends with `close`; `None` when it is neither.
pub fn next_item(text: &[u8], at: usize, close: u8) -> Option<NextItem> {
    let at = blank(text, at);
    match text.get(at)? {
        b',' => Some(NextItem::Item(blank(text, at + 1))),
        byte if *byte == close => Some(NextItem::End(at + 1)),
        _ => None,
    }
}

/// Returns the first item of the container that begins at `at` and ends with `close`.
pub fn first_item(text: &[u8], at: usize, close: u8) -> NextItem {
    let at = blank(text, at + 1);
    match text.get(at) {
        Some(byte) if *byte == close => NextItem::End(at + 1),
        Some(_) | None => NextItem::Item(at),
    }
}

/// Returns the number of equal bytes at the beginning of both texts.
pub fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let mut equal = 0;
    // Large pieces are compared at the speed of memory.
    for piece in [4096, 256, 16] {
        let both = a.get(equal..).unwrap_or_default().chunks_exact(piece);
        let both = both.zip(b.get(equal..).unwrap_or_default().chunks_exact(piece));
        equal += piece * both.take_while(|(a, b)| a == b).count();
    }
    let rest = a.get(equal..).unwrap_or_default().iter();
    let rest = rest.zip(b.get(equal..).unwrap_or_default());
    equal + rest.take_while(|(a, b)| a == b).count()
}

/// Returns the number of equal bytes at the end of both texts.
pub fn common_suffix(a: &[u8], b: &[u8]) -> usize {
    let mut equal = 0;
    for piece in [256, 16] {
        let left = |text: &'_ [u8]| text.len() - equal;
        let (a, b) = (a.get(..left(a)), b.get(..left(b)));
        let both = a.unwrap_or_default().rchunks_exact(piece);
        let both = both.zip(b.unwrap_or_default().rchunks_exact(piece));
        equal += piece * both.take_while(|(a, b)| a == b).count();
    }
    let rest = |text: &'_ [u8]| text.len() - equal;
    let (a, b) = (a.get(..rest(a)), b.get(..rest(b)));
    let both = a.unwrap_or_default().iter().rev();
    let both = both.zip(b.unwrap_or_default().iter().rev());
    equal + both.take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Values end where they end, and what does not end has no end.
    #[test]
    fn values_end() {
        for text in [
            r#""a\"b\\""#,
            "12.5e-3",
            "true",
            "[]",
            r#"{"a]":[1,{"b":"}"}]}"#,
        ] {
            assert_eq!(value_end(text.as_bytes(), 0), Some(text.len()), "{text}");
            let more = format!("{text} ,1");
            assert_eq!(value_end(more.as_bytes(), 0), Some(text.len()), "{text}");
        }
        for text in ["", ",", "]", "\"a", "\"a\\", "[1", "{\"a\":\"}"] {
            assert_eq!(value_end(text.as_bytes(), 0), None, "{text}");
        }
        assert_eq!(next_item(b"1 , 2]", 1, b']'), Some(NextItem::Item(4)));
        assert_eq!(next_item(b"1 ]", 1, b']'), Some(NextItem::End(3)));
        assert_eq!(next_item(b"1 }", 1, b']'), None);
        assert_eq!(first_item(b"[ ]", 0, b']'), NextItem::End(3));
        let member = member(br#""a" : 1"#, 0).unwrap();
        assert_eq!((member.key_end, member.value), (3, 6));
    }

    proptest! {
        #[test]
        fn prefixes_and_suffixes_are_exact(
            same in proptest::collection::vec(any::<u8>(), 0..9000),
            a in proptest::collection::vec(any::<u8>(), 0..40),
            b in proptest::collection::vec(any::<u8>(), 0..40),
        ) {
            let naive = |a: &mut dyn Iterator<Item = &u8>, b: &mut dyn Iterator<Item = &u8>| {
                a.zip(b).take_while(|(a, b)| a == b).count()
            };
            let (x, y) = ([&same[..], &a].concat(), [&same[..], &b].concat());
            let wanted = naive(&mut x.iter(), &mut y.iter());
            prop_assert_eq!(common_prefix(&x, &y), wanted);
            let (x, y) = ([&a[..], &same].concat(), [&b[..], &same].concat());
            let wanted = naive(&mut x.iter().rev(), &mut y.iter().rev());
            prop_assert_eq!(common_suffix(&x, &y), wanted);
        }
    }
}
