//! Selects the tools that a host lists: profiles and families of the operation table.
//!
//! Unlisted tools can still be called by name: a profile saves a model's attention, it is not access control.

use std::collections::BTreeSet;

use lore::protocol::{ErrorBody, Toolset};

use super::operations::{FAMILIES, TABLE};
use crate::operation::Operation;
use crate::search;

/// The tools that most work needs.
const CORE: [&str; 15] = [
    "append_context",
    "context_pack",
    "enrich_message",
    "get_context",
    "recall",
    "record_message",
    "record_step",
    "remember",
    "resolve_variables",
    "search",
    "update_context",
    "workflow_checkpoint_list",
    "workflow_checkpoint_load",
    "workflow_checkpoint_save",
    "workflow_mark_critical",
];

/// The selection of listed tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSelection {
    sets: Vec<Toolset>,
    names: BTreeSet<&'static str>,
    whole: bool,
}

impl Default for ToolSelection {
    fn default() -> Self {
        Self::of(&[Toolset::Core])
    }
}

impl ToolSelection {
    /// Combines the tools of all these sets.
    #[must_use]
    pub fn of(sets: &[Toolset]) -> Self {
        Self {
            sets: sets.to_vec(),
            names: sets.iter().flat_map(|set| names(*set)).collect(),
            whole: sets.contains(&Toolset::Full),
        }
    }

    /// Parses a list of tool sets; the default is `core`.
    ///
    /// # Errors
    /// `INVALID_INPUT` for an unknown name, with a suggestion.
    pub fn read(list: Option<&str>) -> Result<Self, ErrorBody> {
        match list {
            Some(list) => Ok(Self::of(&Toolset::list(list)?)),
            None => Ok(Self::default()),
        }
    }

    /// Returns whether a tool is listed.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Returns the instructions for a model that sees these tools.
    #[must_use]
    pub fn instructions(&self) -> String {
        lore::protocol::tools::instructions(&self.sets)
    }

    /// Returns whether tools are listed with all arguments and with reply schemas.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.whole
    }
}

/// Returns the operations of a set, by name.
fn names(set: Toolset) -> Vec<&'static str> {
    let of = |lines: &[Operation]| lines.iter().map(|line| line.name).collect::<Vec<_>>();
    let legacy = of(search::operations::LEGACY);
    match set {
        Toolset::Core => CORE.to_vec(),
        Toolset::Full => {
            let all = TABLE.keys().copied();
            all.filter(|name| !legacy.contains(name)).collect()
        }
        Toolset::Legacy => [CORE.to_vec(), legacy].concat(),
        Toolset::Steps
        | Toolset::Sessions
        | Toolset::Entities
        | Toolset::Packs
        | Toolset::Checkpoints
        | Toolset::Projects
        | Toolset::Documents
        | Toolset::Log => {
            let own = FAMILIES.iter().filter(|(family, _)| *family == set);
            own.flat_map(|(_, lines)| of(lines)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation is in one family. Exceptions are the legacy operations, which no other set contains, and the
    /// test operations.
    #[test]
    fn families_divide_the_table() {
        let legacy = search::operations::LEGACY;
        let test_operations = crate::api::test_operations::OPERATIONS;
        let listed = Toolset::ALL.iter().skip(3).flat_map(|set| names(*set));
        let mut listed: Vec<&str> = listed.collect();
        listed.extend(legacy.iter().chain(test_operations).map(|line| line.name));
        listed.sort_unstable();
        let all: Vec<&str> = TABLE.keys().copied().collect();
        assert_eq!(listed, all);
        for set in Toolset::ALL {
            assert!(!names(*set).is_empty(), "{set:?}");
            let has_legacy = legacy.iter().all(|line| names(*set).contains(&line.name));
            let has_any = legacy.iter().any(|line| names(*set).contains(&line.name));
            assert_eq!(has_legacy, *set == Toolset::Legacy, "{set:?}");
            assert_eq!(has_any, has_legacy, "{set:?}");
        }
        assert_eq!(legacy.len(), 8);
    }

    /// The instructions name only tools that the host lists.
    #[test]
    fn instructions_name_listed_tools() {
        let mut named = 0;
        for set in Toolset::ALL {
            let tools = ToolSelection::of(&[*set]);
            let instructions = tools.instructions();
            let quoted = instructions.split('`').skip(1).step_by(2);
            for name in quoted.filter(|name| TABLE.contains_key(name)) {
                assert!(tools.has(name), "{set:?}: {name}");
                named += 1;
            }
        }
        assert!(named > 40, "{named}");
        let core = ToolSelection::default();
        for name in [
            "context_pack",
            "enrich_message",
            "record_step",
            "workflow_checkpoint_save",
        ] {
            assert!(core.instructions().contains(&format!("`{name}`")), "{name}");
        }
    }

    /// Sets can be combined; only `full` lists whole schemas.
    #[test]
    fn sets_are_joined() {
        let core = ToolSelection::default();
        assert_eq!(core.names.len(), CORE.len());
        assert!(core.names.iter().all(|name| TABLE.contains_key(name)));
        assert!(!core.is_whole() && !core.has("get_step"));
        let more = ToolSelection::read(Some("core,steps"));
        let more = more.unwrap_or_default();
        assert!(more.has("get_step") && more.has("search") && !more.has("list_messages"));
        let legacy = ToolSelection::of(&[Toolset::Legacy]);
        assert_eq!(legacy.names.len(), CORE.len() + 8);
        assert!(ToolSelection::of(&[Toolset::Steps, Toolset::Full]).is_whole());
        assert!(ToolSelection::read(Some("cor")).is_err_and(|refused| {
            refused
                .hint
                .is_some_and(|hint| hint.contains("Did you mean `core`?"))
        }));
    }
}
