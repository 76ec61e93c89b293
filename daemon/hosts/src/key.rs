//! Keys of observations: what is said twice is recorded once.
//!
//! A key is made of the host's own ids where it gives any, and is then *exact*: two observations with the same exact
//! key are the same one, whenever they arrive. Otherwise it is a hash of the content. People and agents repeat
//! themselves, so such keys mean the same thing only within [`KEY_WINDOW_MS`].

use serde_json::Value;
use sha2::{Digest, Sha256};

/// Time within which two observations with the same inexact key are one, in milliseconds.
pub const KEY_WINDOW_MS: i64 = 10_000;

/// Bytes of an id that stand in a key as they are; longer ids are hashed.
const ID_BYTES_MAX: usize = 96;

/// The identity of an observation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    text: String,
    is_exact: bool,
}

impl Key {
    /// Makes a key of an id that the host gave.
    pub(crate) fn exact(scope: &str, kind: &str, id: &str) -> Self {
        Self {
            text: format!("{scope}:{kind}:{}", part(id)),
            is_exact: true,
        }
    }

    /// Makes a key of the content.
    pub(crate) fn of_content(scope: &str, kind: &str, content: Fingerprint) -> Self {
        Self {
            text: format!("{scope}:{kind}:~{}", content.hex()),
            is_exact: false,
        }
    }

    /// Returns the key as text: `HOST:SESSION:KIND:ID`, at most about 350 bytes of printable ASCII. The text never
    /// changes between releases.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the key with another session instead of its own.
    pub(crate) fn in_session(&self, own: &str, other: &str) -> Self {
        let (host, rest) = self.text.split_once(':').unwrap_or_default();
        let rest = rest.strip_prefix(&part(own)).unwrap_or(rest);
        Self {
            text: format!("{host}:{}{rest}", part(other)),
            is_exact: self.is_exact,
        }
    }

    /// Returns the first 8 bytes of a hash of the key as a big-endian number. It never changes between releases, either.
    #[must_use]
    pub fn number(&self) -> u64 {
        let hash = Fingerprint::new().text(&self.text).0.finalize();
        let first = hash.first_chunk::<8>().copied().unwrap_or_default();
        u64::from_be_bytes(first)
    }

    /// Whether equal keys mean the same observation at any time, instead of only within [`KEY_WINDOW_MS`].
    #[must_use]
    pub const fn is_exact(&self) -> bool {
        self.is_exact
    }
}

/// Returns an id as a part of a key.
pub(crate) fn part(id: &str) -> String {
    let is_plain = id
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b':' && byte != b'~');
    if is_plain && id.len() <= ID_BYTES_MAX {
        return id.to_owned();
    }
    format!("~{}", Fingerprint::new().text(id).hex())
}

/// A hash of what an observation says.
#[derive(Clone, Default)]
pub(crate) struct Fingerprint(Sha256);

impl Fingerprint {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a text. Hosts trim and indent texts, so whitespace counts only as a separator.
    pub(crate) fn text(mut self, text: &str) -> Self {
        for word in text.split_whitespace() {
            self.0.update(word);
            self.0.update([0x1F]);
        }
        self.0.update([0x1E]);
        self
    }

    /// Adds a JSON value; the order of fields does not count.
    pub(crate) fn value(mut self, value: &Value) -> Self {
        self.add(value);
        self
    }

    fn add(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => {
                let mut names: Vec<_> = fields.keys().collect();
                names.sort();
                self.0.update(b"{");
                for name in names {
                    self.0.update(name);
                    self.0.update([0x1F]);
                    self.add(fields.get(name).unwrap_or(&Value::Null));
                }
                self.0.update(b"}");
            }
            Value::Array(values) => {
                self.0.update(b"[");
                values.iter().for_each(|value| self.add(value));
                self.0.update(b"]");
            }
            Value::String(text) => {
                self.0.update(text);
                self.0.update([0x1E]);
            }
            plain => {
                self.0.update(plain.to_string());
                self.0.update([0x1D]);
            }
        }
    }

    /// Returns the first 16 bytes of the hash in hexadecimal.
    pub(crate) fn hex(self) -> String {
        let hash = self.0.finalize();
        let mut hex = String::with_capacity(32);
        for byte in hash.iter().take(16) {
            for digit in [byte >> 4, byte & 15] {
                hex.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
            }
        }
        hex
    }
}
