//! `[search]`: the embedding models.

use std::path::PathBuf;

use lored_models::Settings;
use serde::Deserialize;

use super::setting::{EffectTime, Setting, ValueType};
use super::{Error, set};

/// The table as written.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchTable {
    second_tier: Option<bool>,
    second_tier_chunks_max: Option<u64>,
    background_share: Option<u64>,
    models: Option<PathBuf>,
}

impl SearchTable {
    /// Every key.
    pub const SETTINGS: &[Setting] = &[
        Setting {
            key: "search.second_tier",
            description: "Whether a second, slower model embeds texts while the daemon is idle.",
            takes: ValueType::Flag,
            acts: EffectTime::NextStart,
            default: |config| Some(config.search.second_tier.to_string()),
        },
        Setting {
            key: "search.second_tier_chunks_max",
            description: "Maximum number of chunks that the second model embeds.",
            takes: ValueType::Whole {
                least: 0,
                most: 10_000_000,
            },
            acts: EffectTime::NextStart,
            default: |config| Some(config.search.second_tier_chunks_max.to_string()),
        },
        Setting {
            key: "search.background_share",
            description: "Share of one processor that indexing gets while something is recorded, in percent.",
            takes: ValueType::Whole {
                least: 1,
                most: 100,
            },
            acts: EffectTime::NextStart,
            default: |config| Some(config.search.background_share.to_string()),
        },
        Setting::of_own(
            "search.models",
            ValueType::Path,
            "Additional folder of models, besides the built-in and added ones.",
        ),
    ];

    /// Returns the settings of the table, with the defaults for missing keys.
    ///
    /// # Errors
    /// When a value is out of range, or a path is not absolute.
    pub fn settings(self) -> Result<Settings, Error> {
        let mut settings = Settings::default();
        if let Some(second_tier) = self.second_tier {
            settings.second_tier = second_tier;
        }
        set(
            &mut settings.second_tier_chunks_max,
            "second_tier_chunks_max",
            self.second_tier_chunks_max,
            0,
            10_000_000,
        )?;
        set(
            &mut settings.background_share,
            "background_share",
            self.background_share,
            1,
            100,
        )?;
        if let Some(path) = self.models.as_ref().filter(|path| !path.is_absolute()) {
            let (name, path) = ("search.models", path.clone());
            return Err(Error::Relative { name, path });
        }
        settings.folder = self.models;
        Ok(settings)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;

    use crate::config::Config;

    use super::*;

    fn parse(text: &str) -> Result<Settings, Error> {
        Config::parse(text, Path::new("config.toml")).map(|config| config.search)
    }

    #[test]
    fn models_are_set() {
        assert_eq!(parse("").unwrap(), Settings::default());
        let settings = parse(
            "[search]\nsecond_tier = false\nsecond_tier_chunks_max = 5\nbackground_share = 7\nmodels = \"/srv/models\"",
        )
        .unwrap();
        assert!(!settings.second_tier);
        assert_eq!(settings.second_tier_chunks_max, 5);
        assert_eq!(settings.background_share, 7);
        assert_eq!(settings.folder.unwrap(), Path::new("/srv/models"));
        for (text, reported) in [
            ("models = \"models\"", "absolute"),
            ("second_tier_chunks_max = 10000001", "from 0 to 10000000"),
            ("background_share = 0", "from 1 to 100"),
            ("second_tiers = true", "second_tier"),
        ] {
            let error = parse(&format!("[search]\n{text}")).unwrap_err().to_string();
            assert!(error.contains(reported), "{text}: {error}");
        }
    }
}
