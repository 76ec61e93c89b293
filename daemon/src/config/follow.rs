//! `[follow]`: whose transcripts are read as they grow.

use serde::Deserialize;

use super::Error;
use super::setting::{EffectTime, Setting, ValueType};
use crate::capture::FollowedHosts;

/// The table.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FollowTable {
    hosts: Option<Vec<String>>,
}

impl FollowTable {
    /// Every key.
    pub const SETTINGS: &[Setting] = &[Setting {
        key: "follow.hosts",
        description: "Hosts whose transcripts are read as they grow, such as `codex`; `set-up` for those that lore is set \
            up for. Beside hooks, this records what these do not report.",
        takes: ValueType::Texts,
        acts: EffectTime::NextStart,
        default: |_| Some("[\"set-up\"]".to_owned()),
    }];

    /// Returns the hosts.
    ///
    /// # Errors
    /// When a name is not known.
    pub fn settings(self) -> Result<FollowedHosts, Error> {
        let Some(hosts) = self.hosts else {
            return Ok(FollowedHosts::default());
        };
        FollowedHosts::named(&hosts).map_err(|name| {
            let known: Vec<&str> = FollowedHosts::names().collect();
            Error::Whole(format!(
                "`follow.hosts` has {name:?}; expected `set-up` or hosts: {}",
                known.join(", ")
            ))
        })
    }
}
