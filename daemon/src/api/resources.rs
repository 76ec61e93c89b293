//! The resource table: the kinds of all feature modules, one list of all resources, and reads by URI.

use std::sync::Arc;

use crate::error::{Code, Refusal};
use crate::operation::{Caller, Context};
use crate::resource::{Entry, Kind, Page, unknown_page};
use crate::store::Rows;
use crate::{checkpoints, documents, projects, transfer};

/// Every kind, in listing order.
pub static RESOURCES: &[Kind] = &[
    Kind::of::<transfer::resource::Session>(),
    Kind::of::<projects::resource::ContextFile>(),
    Kind::of::<checkpoints::resource::Checkpoint>(),
    Kind::of::<documents::resource::Document>(),
];

/// Maximum length of a URI, in bytes.
const ADDRESS_BYTES_MAX: usize = 1024;

/// Resource kinds and access to their contents.
#[derive(Clone, Copy)]
pub struct Resources(&'static [Kind]);

/// A page of all resources.
pub struct ResourcePage {
    /// Entries, each with its kind.
    pub entries: Vec<(&'static Kind, Entry)>,
    /// Cursor of the next page, if there may be one.
    pub next: Option<String>,
}

impl Resources {
    /// Creates a table of these kinds.
    #[must_use]
    pub const fn new(kinds: &'static [Kind]) -> Self {
        Self(kinds)
    }

    /// Returns the kinds.
    #[must_use]
    pub const fn kinds(&self) -> &'static [Kind] {
        self.0
    }

    /// Lists a page of all resources, one kind after the other. A cursor is the name of a kind, a colon and the
    /// kind's own cursor.
    ///
    /// # Errors
    /// `INVALID_INPUT` for an invalid cursor, or the kind's refusal.
    pub async fn list(
        &self,
        cx: &Arc<Context>,
        caller: &Caller,
        cursor: Option<&str>,
    ) -> Result<ResourcePage, Refusal> {
        let (mut kinds, mut cursor) = match cursor {
            None => (self.0, None),
            Some(cursor) => self.from(cursor).ok_or_else(|| unknown_page(cursor))?,
        };
        while let Some((kind, after)) = kinds.split_first() {
            let page = (kind.list)(Arc::clone(cx), caller.clone(), cursor.take());
            let Page { entries, next } = page.await?;
            let next = match (next, after.first()) {
                (Some(next), _) => Some(format!("{}:{next}", kind.name)),
                (None, Some(after)) => Some(format!("{}:", after.name)),
                (None, None) => None,
            };
            // Kinds without entries get no page.
            if !entries.is_empty() || after.is_empty() {
                let entries = entries.into_iter().map(|entry| (kind, entry)).collect();
                return Ok(ResourcePage { entries, next });
            }
            kinds = after;
        }
        Ok(ResourcePage {
            entries: Vec::new(),
            next: None,
        })
    }

    /// Returns the kinds from which a list continues, and the first kind's own cursor.
    fn from(&self, cursor: &str) -> Option<(&'static [Kind], Option<String>)> {
        let (name, own) = cursor.split_once(':')?;
        let at = self.0.iter().position(|kind| kind.name == name)?;
        let own = (!own.is_empty()).then(|| own.to_owned());
        Some((self.0.get(at..)?, own))
    }

    /// Reads the text at a URI, with its kind.
    ///
    /// # Errors
    /// `INVALID_INPUT` for an invalid URI, `NOT_FOUND` when no kind has it, or the kind's refusal.
    pub async fn read(
        &self,
        cx: &Arc<Context>,
        caller: &Caller,
        address: &str,
    ) -> Result<(&'static Kind, String), Refusal> {
        let (kind, id) = self.find(address)?;
        let text = (kind.read)(Arc::clone(cx), caller.clone(), id.to_owned());
        Ok((kind, text.await?))
    }

    /// Checks that a resource exists at a URI, for subscriptions.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn check(&self, rows: &dyn Rows, address: &str) -> Result<(), Refusal> {
        let (kind, id) = self.find(address)?;
        (kind.check)(rows, id)
    }

    /// Finds the kind that has a URI, and the id in it.
    fn find<'a>(&self, address: &'a str) -> Result<(&'static Kind, &'a str), Refusal> {
        check(address)?;
        let found = self.0.iter().find_map(|kind| {
            let id = address.strip_prefix(kind.prefix())?;
            (!id.is_empty()).then_some((kind, id))
        });
        found.ok_or_else(|| self.unknown_address(address))
    }

    fn unknown_address(&self, address: &str) -> Refusal {
        let templates: Vec<&str> = self.0.iter().map(|kind| kind.template).collect();
        Refusal::new(Code::NotFound, format!("resource {address} not found"))
            .hint(format!("Addresses are {}.", templates.join(", ")))
    }
}

/// Checks the syntax of a URI: a scheme, then characters that need no escape.
fn check(address: &str) -> Result<(), Refusal> {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
    };
    let is_rest = |rest: &str| {
        rest.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._~/:@".contains(&byte))
    };
    let is_address = address.len() <= ADDRESS_BYTES_MAX
        && address
            .split_once("://")
            .is_some_and(|(scheme, rest)| is_scheme(scheme) && is_rest(rest));
    if is_address {
        return Ok(());
    }
    let shown: String = address.chars().take(100).collect();
    Err(
        Refusal::invalid(format!("{shown:?} is not an address of a resource")).hint(format!(
            "An address has at most {ADDRESS_BYTES_MAX} letters, digits and -._~/:@ and begins as in \
             lore://"
        )),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An invalid URI is refused before a feature module sees it.
    #[test]
    fn addresses_are_checked() {
        for good in [
            "lore://checkpoint/c-1",
            "test://x",
            "lore://project/a/b.md",
            "a+b://",
        ] {
            assert!(check(good).is_ok(), "{good}");
        }
        let long = format!("lore://{}", "x".repeat(ADDRESS_BYTES_MAX));
        for wrong in [
            "",
            "lore",
            "lore:/x",
            "://x",
            "1ore://x",
            "lore://a b",
            "lore://a\n",
            "lore://a%20b",
            "lore://a?b",
            "lore://ä",
            &long,
        ] {
            let refusal = check(wrong).err();
            assert_eq!(
                refusal.map(|refusal| refusal.code),
                Some(Code::InvalidInput),
                "{wrong}"
            );
        }
    }

    /// The URIs and the name of each kind are distinct from those of the others.
    #[test]
    fn kinds_are_distinct() {
        for (at, kind) in RESOURCES.iter().enumerate() {
            assert!(check(kind.prefix()).is_ok(), "{}", kind.template);
            assert!(kind.prefix().ends_with('/') && kind.prefix().starts_with("lore://"));
            assert!(
                !kind.name.is_empty() && !kind.name.contains(':'),
                "{}",
                kind.name
            );
            for other in RESOURCES.iter().skip(at + 1) {
                assert_ne!(kind.name, other.name);
                assert!(
                    !other.prefix().starts_with(kind.prefix()),
                    "{}",
                    other.template
                );
            }
        }
    }
}
