//! What stands before the ids of a second copy, so that it has ids of its own.

use std::str::FromStr;

use lore::protocol::SessionId;

/// The longest prefix, in bytes: an id has room for it before the longest one that is made here.
const PREFIX_BYTES_MAX: usize = 32;

/// A prefix of ids: 1 to 32 letters, digits, `-` or `_`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix(String);

impl FromStr for Prefix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let checked = SessionId::new(text).map_err(|error| error.to_string())?;
        match checked.as_str().len() {
            bytes if bytes > PREFIX_BYTES_MAX => Err(format!(
                "it has {bytes} characters; at most {PREFIX_BYTES_MAX} are possible before an id"
            )),
            _ => Ok(Self(text.to_owned())),
        }
    }
}

impl Prefix {
    /// An id behind it.
    #[must_use]
    pub fn id(&self, id: &str) -> String {
        format!("{}-{id}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A prefix is a part of an id, and leaves room for the rest.
    #[test]
    fn prefixes_are_parts_of_ids() {
        let good: Result<Prefix, _> = "again_2".parse();
        assert_eq!(
            good.map(|prefix| prefix.id("s")),
            Ok("again_2-s".to_owned())
        );
        assert!("p".repeat(32).parse::<Prefix>().is_ok());
        for bad in ["", "a b", "a/b", "ä", &"p".repeat(33)] {
            assert!(bad.parse::<Prefix>().is_err(), "{bad:?}");
        }
    }
}
