//! A prefix for the ids of a second copy, which keeps them distinct.

use std::str::FromStr;

use lore::protocol::SessionId;

/// Limit on a prefix, in bytes: together with the longest generated id it still fits.
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
    /// Prepends the prefix to an id.
    #[must_use]
    pub fn id(&self, id: &str) -> String {
        format!("{}-{id}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A prefix is a valid part of an id, and leaves room for the rest.
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
