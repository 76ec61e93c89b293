//! The seal of a log's end, as bytes in a file and as a line of text for people to keep elsewhere.

use std::str::FromStr;

use super::super::StoreId;
use super::key::SealKey;

/// First part of a seal's text.
const PREFIX: &str = "lore-seal-1";

/// The end of a log, under a code that only the daemon's key makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seal {
    /// The store.
    pub store: StoreId,
    /// Last position.
    pub position: u64,
    /// Chain link at that position; it covers every event up to there.
    pub link: [u8; 32],
    /// HMAC-SHA-256 of the above.
    pub code: [u8; 32],
}

/// The reason why a text is not a seal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a seal is one line as `lored seal` prints it: {PREFIX}:STORE:POSITION:LINK:CODE; {0}")]
pub struct SealTextError(String);

impl Seal {
    /// Seals the end of a log.
    #[must_use]
    pub fn of(key: &SealKey, store: StoreId, position: u64, link: [u8; 32]) -> Self {
        Self {
            store,
            position,
            link,
            code: code(key, store, position, &link),
        }
    }

    /// Returns whether this key made the seal.
    #[must_use]
    pub fn is_made_with(&self, key: &SealKey) -> bool {
        self.code == code(key, self.store, self.position, &self.link)
    }
}

fn code(key: &SealKey, store: StoreId, position: u64, link: &[u8; 32]) -> [u8; 32] {
    key.code(&[b"lore end\0", &store.0, &position.to_be_bytes(), link])
}

impl std::fmt::Display for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let hex =
            |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02x}")).collect() };
        write!(
            f,
            "{PREFIX}:{}:{}:{}:{}",
            hex(&self.store.0),
            self.position,
            hex(&self.link),
            hex(&self.code)
        )
    }
}

impl FromStr for Seal {
    type Err = SealTextError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = |what: &str| SealTextError(what.to_owned());
        let parts: Vec<&str> = text.trim().split(':').collect();
        let [prefix, store, position, link, code] = parts.as_slice() else {
            return Err(SealTextError(format!("this has {} parts", parts.len())));
        };
        if *prefix != PREFIX {
            return Err(wrong("this begins otherwise"));
        }
        Ok(Self {
            store: StoreId(
                bytes(store).ok_or_else(|| wrong("the store has 32 hexadecimal digits"))?,
            ),
            position: position
                .parse()
                .map_err(|_| wrong("the position is a number"))?,
            link: bytes(link).ok_or_else(|| wrong("the link has 64 hexadecimal digits"))?,
            code: bytes(code).ok_or_else(|| wrong("the code has 64 hexadecimal digits"))?,
        })
    }
}

fn bytes<const N: usize>(hex: &str) -> Option<[u8; N]> {
    let digits = hex.as_bytes();
    if digits.len() != 2 * N || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let mut found = [0; N];
    for (byte, two) in found.iter_mut().zip(digits.as_chunks::<2>().0) {
        *byte = u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok()?;
    }
    Some(found)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A seal survives its text, and only its own key made it.
    #[test]
    fn a_seal_reads_back() {
        let key = SealKey::new([1; 32]);
        let seal = Seal::of(&key, StoreId([7; 16]), 12, [3; 32]);
        let text = seal.to_string();
        assert!(text.starts_with("lore-seal-1:0707"), "{text}");
        let read: Seal = format!(" {text}\n").parse().unwrap();
        assert_eq!(read, seal);
        assert!(read.is_made_with(&key));
        assert!(!read.is_made_with(&SealKey::new([2; 32])));
        let moved = Seal {
            position: 11,
            ..read
        };
        assert!(!moved.is_made_with(&key));
    }

    /// Each malformed part is named.
    #[test]
    fn malformed_texts_are_refused() {
        let good = Seal::of(&SealKey::new([1; 32]), StoreId([7; 16]), 12, [3; 32]).to_string();
        for (text, says) in [
            (String::new(), "1 parts"),
            (good.replace("lore-seal-1", "lore-seal-2"), "begins"),
            (good.replace(":12:", ":x:"), "position"),
            (good.replace("0303", "0z03"), "link"),
            (good[..good.len() - 1].to_owned(), "code"),
        ] {
            let error = text.parse::<Seal>().unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    proptest! {
        /// Any text is refused or read, without a panic.
        #[test]
        fn any_text_is_read_or_refused(text in "(lore-seal-1:)?[0-9a-fé:]{0,80}") {
            let _ = text.parse::<Seal>();
        }
    }
}
