//! Which tools a host lists over MCP: profiles and families of operations, by name.

use super::{Code, ErrorBody, nearest};

/// The key of `_meta` that names the tools to list, in `initialize` or in a request of its own:
/// what a bridge says in its Hello.
pub const TOOLS_META: &str = "lore/tools";

macro_rules! toolsets {
    ($($(#[$doc:meta])* $variant:ident $name:literal,)*) => {
        /// Some of the tools: a profile, or a family of operations.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Toolset { $($(#[$doc])* $variant,)* }

        impl Toolset {
            /// Every one, profiles first.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// As it is written.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

toolsets! {
    /// The few that most work needs; what is listed when nothing is said.
    Core "core",
    /// All of them, with every argument and with schemas of their replies.
    Full "full",
    /// `core`, and the eight of servers for work items that came before `search_documents`.
    Legacy "legacy",
    /// What tools returned.
    Steps "steps",
    /// Sessions and what was said in them.
    Sessions "sessions",
    /// The things that sessions are about.
    Entities "entities",
    /// What a message or a task needs to know.
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
    /// Reads a list of names with commas between them: `steps,checkpoints`.
    ///
    /// # Errors
    /// `INVALID_INPUT` for a list without a name and for a name that is none, with the nearest.
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
            let message = format!("there is no profile or family of tools `{shown}`");
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
