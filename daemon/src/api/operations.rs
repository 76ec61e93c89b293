//! The operation table: every room's lines in one list.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::operation::Operation;
use crate::{
    audit, checkpoints, entities, forgetting, messages, overview, packs, projects, sessions, steps,
};

/// Every operation, by name.
pub static TABLE: LazyLock<BTreeMap<&'static str, Operation>> = LazyLock::new(|| {
    [
        steps::operations::OPERATIONS,
        sessions::operations::OPERATIONS,
        messages::operations::OPERATIONS,
        entities::operations::OPERATIONS,
        overview::operations::OPERATIONS,
        packs::operations::OPERATIONS,
        checkpoints::operations::OPERATIONS,
        projects::operations::OPERATIONS,
        forgetting::operations::OPERATIONS,
        audit::OPERATIONS,
        #[cfg(test)]
        super::trial::OPERATIONS,
    ]
    .into_iter()
    .flatten()
    .map(|operation| (operation.name, *operation))
    .collect()
});
