//! `[service]`: the daemon process.

use serde::Deserialize;

use super::setting::{EffectTime, Setting, ValueType};

/// The settings of the daemon process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Whether the daemon runs in its sandbox.
    pub confine: bool,
}

impl Default for Service {
    fn default() -> Self {
        Self { confine: true }
    }
}

/// The table as written.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServiceTable {
    confine: Option<bool>,
}

impl ServiceTable {
    /// Every key.
    pub const SETTINGS: &[Setting] = &[Setting {
        key: "service.confine",
        description: "Whether the daemon runs in a sandbox in which the kernel denies what it does not need, above all \
            writes outside its own folders.",
        takes: ValueType::Flag,
        acts: EffectTime::NextStart,
        default: |config| Some(config.service.confine.to_string()),
    }];

    /// Returns the settings of the table, with the defaults for missing keys.
    #[must_use]
    pub fn settings(self) -> Service {
        let default = Service::default();
        Service {
            confine: self.confine.unwrap_or(default.confine),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;

    use crate::config::Config;

    /// The sandbox is on unless the setting turns it off.
    #[test]
    fn confinement_can_be_switched_off() {
        let parse = |text| {
            Config::parse(text, Path::new("config.toml"))
                .unwrap()
                .service
        };
        assert!(parse("").confine && Config::new().service.confine);
        assert!(!parse("[service]\nconfine = false").confine);
    }
}
