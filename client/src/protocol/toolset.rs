//! The tools that a host lists over MCP: profiles and families of operations, by name.

use super::{Code, ErrorBody, nearest};

/// Key of `_meta` that names the tools to list, in `initialize` or in a separate request. A bridge sends the
/// same list in its Hello.
pub const TOOLS_META: &str = "lore/tools";

macro_rules! toolsets {
    ($($(#[$doc:meta])* $variant:ident $name:literal,)*) => {
        /// A set of tools: a profile, or a family of operations.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Toolset { $($(#[$doc])* $variant,)* }

        impl Toolset {
            /// All toolsets, profiles first.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the name of the toolset.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

toolsets! {
    /// The tools that most work needs; the default.
    Core "core",
    /// All tools, with every argument and with reply schemas.
    Full "full",
    /// `core`, and the eight tools of work item servers that `search_documents` replaces.
    Legacy "legacy",
    /// Recorded tool results.
    Steps "steps",
    /// Sessions and their messages.
    Sessions "sessions",
    /// Entities of sessions.
    Entities "entities",
    /// Context packs for a message or a task.
    Packs "packs",
    /// Saved contexts.
    Checkpoints "checkpoints",
    /// Context files of projects.
    Projects "projects",
    /// Documents and search.
    Documents "documents",
    /// The log and the daemon.
    Log "log",
}

impl Toolset {
    /// Parses a comma-separated list of names, such as `steps,checkpoints`.
    ///
    /// # Errors
    /// `INVALID_INPUT` for a list without a name and for an unknown name, with the nearest known one.
    pub fn list(text: &str) -> Result<Vec<Self>, ErrorBody> {
        let names = text.split(',').map(str::trim);
        let sets: Vec<Self> = names
            .filter(|name| !name.is_empty())
            .map(Self::of)
            .collect::<Result<_, _>>()?;
        if sets.is_empty() {
            let message = "the list of tools has no name in it";
            return Err(ErrorBody::new(Code::InvalidInput, message).hint(known()));
        }
        Ok(sets)
    }

    fn of(name: &str) -> Result<Self, ErrorBody> {
        let is_it = |set: &&Self| set.name() == name;
        Self::ALL.iter().find(is_it).copied().ok_or_else(|| {
            let shown: String = name.chars().take(64).collect();
            let message = format!("unknown profile or family of tools `{shown}`");
            let names = Self::ALL.iter().map(|set| set.name());
            let hint = match nearest(name, names) {
                Some(near) => format!("Did you mean `{near}`? {}", known()),
                None => known(),
            };
            ErrorBody::new(Code::InvalidInput, message).hint(hint)
        })
    }
}

fn known() -> String {
    let names: Vec<&str> = Toolset::ALL.iter().map(|set| set.name()).collect();
    format!("There are {}.", names.join(", "))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_wrong_names_explained() {
        assert_eq!(
            Toolset::list("steps, checkpoints,").unwrap(),
            [Toolset::Steps, Toolset::Checkpoints]
        );
        for set in Toolset::ALL {
            assert_eq!(Toolset::list(set.name()).unwrap(), [*set]);
        }
        let refused = Toolset::list("core,checkpoint").unwrap_err();
        assert_eq!(refused.code, Code::InvalidInput);
        assert!(refused.message.contains("`checkpoint`"), "{refused:?}");
        let hint = refused.hint.unwrap();
        assert!(hint.contains("Did you mean `checkpoints`?"), "{hint}");
        for empty in ["", " , "] {
            assert!(Toolset::list(empty).is_err(), "{empty:?}");
        }
    }
}
