//! The operation table: the operations of all feature modules.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use lore::protocol::Toolset;

use crate::operation::Operation;
use crate::{
    backup, capture, checkpoints, documents, entities, forgetting, log_admin, messages, packs,
    page, projects, review, search, sessions, steps, transfer, undo,
};

/// The operations of each family, which may come from several feature modules.
pub static FAMILIES: &[(Toolset, &[Operation])] = &[
    (Toolset::Steps, steps::operations::OPERATIONS),
    (Toolset::Sessions, sessions::operations::OPERATIONS),
    (Toolset::Sessions, messages::operations::OPERATIONS),
    (Toolset::Sessions, transfer::operations::OPERATIONS),
    (Toolset::Sessions, forgetting::operations::OPERATIONS),
    (Toolset::Entities, entities::operations::OPERATIONS),
    (Toolset::Packs, packs::operations::OPERATIONS),
    (Toolset::Sessions, capture::operations::OF_SESSIONS),
    (Toolset::Packs, capture::operations::OF_PACKS),
    (Toolset::Checkpoints, checkpoints::operations::OPERATIONS),
    (Toolset::Projects, projects::operations::OPERATIONS),
    (Toolset::Documents, documents::operations::OPERATIONS),
    (Toolset::Documents, search::operations::OPERATIONS),
    (Toolset::Log, transfer::operations::MEASURES),
    (Toolset::Log, forgetting::operations::OF_ALL),
    (Toolset::Log, log_admin::OPERATIONS),
    (Toolset::Log, backup::operations::OPERATIONS),
    (Toolset::Log, capture::operations::OPERATIONS),
    (Toolset::Log, review::operations::OPERATIONS),
    (Toolset::Log, undo::operations::OPERATIONS),
    (Toolset::Log, page::operations::OPERATIONS),
];

/// Every operation, by name.
pub static TABLE: LazyLock<BTreeMap<&'static str, Operation>> = LazyLock::new(|| {
    let of_families = FAMILIES.iter().map(|(_, lines)| *lines);
    let others: &[&[Operation]] = &[
        search::operations::LEGACY,
        #[cfg(test)]
        super::test_operations::OPERATIONS,
    ];
    of_families
        .chain(others.iter().copied())
        .flatten()
        .map(|operation| (operation.name, *operation))
        .collect()
});
