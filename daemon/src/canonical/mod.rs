//! Canonical JSON of an object: one text for all the ways to write the same object.
//!
//! Keys and strings follow RFC 8785: keys are ordered by their UTF-16 code units, there is no white space, and only
//! quotes, backslashes and control characters are escaped. Numbers stay as they were written, digit by digit, where
//! that RFC would round them: `1`, `1.0` and `1e0` are three texts.
//!
//! The text is read once and copied in spans; no tree is built. Text that is already canonical costs one scan and
//! few copies.

mod cursor;
mod malformed;
mod order;
mod reader;
mod text;

#[cfg(test)]
mod tests;

use std::ops::Range;

pub use malformed::CanonicalError;
pub use order::key_order;

/// Limit on the nesting of arrays and objects, including the outermost object.
pub const DEPTH_MAX: usize = 128;

/// An object in its canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canonical {
    /// Canonical JSON.
    pub text: String,
    /// Top-level keys, in the text's order.
    pub entries: Vec<Entry>,
}

/// A top-level key of a canonical object; ranges are in bytes of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Unescaped key.
    pub key: String,
    /// Key and value in the text: `"key":value`, without a comma.
    pub member: Range<usize>,
    /// Value only.
    pub value: Range<usize>,
}

impl Canonical {
    /// Returns the canonical form of a JSON object.
    ///
    /// ```
    /// use lored::canonical::Canonical;
    ///
    /// let canonical = Canonical::of(r#"{ "b": 1.0, "a\u0062": "\/" }"#).unwrap();
    /// assert_eq!(canonical.text, r#"{"ab":"/","b":1.0}"#);
    /// assert_eq!(canonical.value("b"), Some("1.0"));
    /// ```
    ///
    /// # Errors
    /// [`CanonicalError`] when the text is not a JSON object, or has no canonical form: duplicate keys in an object, a
    /// lone surrogate, nesting beyond [`DEPTH_MAX`].
    pub fn of(json: &str) -> Result<Self, CanonicalError> {
        reader::read(json)
    }

    /// Like [`Canonical::of`], for bytes that may not be UTF-8.
    ///
    /// # Errors
    /// As [`Canonical::of`], and for bytes that are not UTF-8.
    pub fn of_bytes(json: &[u8]) -> Result<Self, CanonicalError> {
        match str::from_utf8(json) {
            Ok(json) => Self::of(json),
            Err(error) => {
                let place = malformed::place(json, error.valid_up_to());
                Err(CanonicalError(format!("not UTF-8 {place}")))
            }
        }
    }

    /// Returns the canonical JSON of a top-level key's value.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<&str> {
        let found = self
            .entries
            .binary_search_by(|entry| key_order(&entry.key, key))
            .ok()?;
        self.text.get(self.entries.get(found)?.value.clone())
    }

    /// Iterates over the unescaped top-level keys and the canonical JSON of their values, in the text's order.
    pub fn members(&self) -> impl Iterator<Item = (&str, &str)> {
        let value = |entry: &Entry| self.text.get(entry.value.clone()).unwrap_or_default();
        self.entries
            .iter()
            .map(move |entry| (entry.key.as_str(), value(entry)))
    }

    /// Builds an object from members: unescaped keys in the order of [`key_order`], each with `"key":value` as
    /// canonical JSON.
    #[must_use]
    pub fn of_members<'m>(members: impl IntoIterator<Item = (&'m str, &'m str)>) -> Self {
        let mut object = Self {
            text: "{".to_owned(),
            entries: Vec::new(),
        };
        for (key, member) in members {
            if !object.entries.is_empty() {
                object.text.push(',');
            }
            let start = object.text.len();
            object.text.push_str(member);
            object.entries.push(Entry {
                key: key.to_owned(),
                member: start..object.text.len(),
                value: start + quoted(key).len() + 1..object.text.len(),
            });
        }
        object.text.push('}');
        object
    }

    /// Returns an object with only the selected keys.
    #[must_use]
    pub fn only(&self, is_wanted: impl Fn(&str) -> bool) -> Self {
        let wanted = self.entries.iter().filter(|entry| is_wanted(&entry.key));
        Self::of_members(wanted.map(|entry| {
            let member = self.text.get(entry.member.clone());
            (entry.key.as_str(), member.unwrap_or_default())
        }))
    }
}

impl AsRef<str> for Canonical {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl Default for Canonical {
    /// Returns the empty object.
    fn default() -> Self {
        Self::of_members([])
    }
}

/// Encodes a string as canonical JSON.
#[must_use]
pub fn quoted(string: &str) -> String {
    let mut out = String::with_capacity(string.len() + 2);
    out.push('"');
    string
        .chars()
        .for_each(|character| text::push_escaped(&mut out, character));
    out.push('"');
    out
}
