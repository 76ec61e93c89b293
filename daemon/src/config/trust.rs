//! `[trust]`: what only a person changes.

use serde::Deserialize;

use super::Error;
use super::setting::{EffectTime, Setting, ValueType};
use crate::checkpoints::Limits;

/// Maximum number of protected keys.
const KEYS_MAX: usize = 100;

/// The table.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrustTable {
    protected: Vec<String>,
}

impl TrustTable {
    /// Every key.
    pub const SETTINGS: &[Setting] = &[Setting {
        key: "trust.protected",
        description: "Top-level keys of saved contexts that only a person changes: a save of an agent that changes or \
            leaves out the value of the session's last checkpoint is refused, and so is a change of its mark.",
        takes: ValueType::Texts,
        acts: EffectTime::AtOnce,
        default: |_| Some("[]".to_owned()),
    }];

    /// Returns the protected keys.
    ///
    /// # Errors
    /// When there are too many, or one is empty or too long.
    pub fn protected(self) -> Result<Vec<String>, Error> {
        let max = Limits::MARK_BYTES_MAX;
        if self.protected.len() > KEYS_MAX {
            return Err(Error::Whole(format!(
                "`trust.protected` has {} keys; at most {KEYS_MAX} are protected",
                self.protected.len()
            )));
        }
        let is_wrong = |key: &&String| key.is_empty() || key.len() > max;
        match self.protected.iter().find(is_wrong) {
            Some(key) => Err(Error::Whole(format!(
                "a key in `trust.protected` has {} bytes; expected 1 to {max}",
                key.len()
            ))),
            None => Ok(self.protected),
        }
    }
}
