//! `[service]`: the daemon as a process.

use serde::Deserialize;

use super::setting::{Acts, Setting, Takes};

/// What is set for the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Whether the daemon has the kernel refuse what it does not need.
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
        sentence: "Whether the daemon has the kernel refuse what it does not need, writing outside its own \
            folders above all.",
        takes: Takes::Flag,
        acts: Acts::NextStart,
        default: |config| Some(config.service.confine.to_string()),
    }];

    /// The settings that the table says, with the defaults for what it does not say.
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

    /// The daemon confines itself unless it is told not to.
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
