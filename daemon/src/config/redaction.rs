//! `[redaction]`: which secrets are redacted from incoming data.

use std::collections::BTreeMap;

use lored_redact::{OwnRule, Rules, Settings};
use serde::Deserialize;

use super::Error;
use super::setting::{EffectTime, Setting, ValueType};

/// The table as written.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RedactionTable {
    enabled: Option<bool>,
    off: Vec<String>,
    allow: Vec<String>,
    rules: BTreeMap<String, RuleTable>,
}

/// A rule as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleTable {
    pattern: String,
    group: Option<usize>,
    #[serde(default)]
    keywords: Vec<String>,
}

impl RedactionTable {
    /// Every key.
    pub const SETTINGS: &[Setting] = &[
        Setting {
            key: "redaction.enabled",
            description: "Whether secrets are redacted from incoming data.",
            takes: ValueType::Flag,
            acts: EffectTime::AtOnce,
            default: |config| Some(config.redaction.enabled.to_string()),
        },
        Setting {
            key: "redaction.off",
            description: "Kinds that are not redacted; docs/redaction.md lists all kinds.",
            takes: ValueType::Texts,
            acts: EffectTime::AtOnce,
            default: |_| Some("[]".to_owned()),
        },
        Setting {
            key: "redaction.allow",
            description: "Values that are never redacted: literal values, or patterns between slashes.",
            takes: ValueType::Texts,
            acts: EffectTime::AtOnce,
            default: |_| Some("[]".to_owned()),
        },
        Setting::of_own(
            "redaction.rules.NAME.pattern",
            ValueType::Text,
            "A custom pattern. Matches are replaced by `[redacted:NAME]`.",
        )
        .at_once(),
        Setting::of_own(
            "redaction.rules.NAME.group",
            ValueType::Whole { least: 0, most: 64 },
            "The capture group that is redacted. The whole match when absent.",
        )
        .at_once(),
        Setting::of_own(
            "redaction.rules.NAME.keywords",
            ValueType::Texts,
            "Keywords: the pattern is tried only on texts that contain one of them. Always tried when absent.",
        )
        .at_once(),
    ];

    /// Returns the settings of the table, with the defaults for missing keys.
    ///
    /// # Errors
    /// When a kind is unknown, or a pattern or rule is invalid.
    pub fn settings(self) -> Result<Settings, Error> {
        let rule = |rule: RuleTable| OwnRule {
            pattern: rule.pattern,
            group: rule.group,
            keywords: rule.keywords,
        };
        let rules = self.rules.into_iter();
        let settings = Settings {
            enabled: self.enabled.unwrap_or(true),
            off: self.off,
            allow: self.allow,
            rules: rules.map(|(name, table)| (name, rule(table))).collect(),
        };
        // Invalid rules are rejected here, where the file name is known.
        Rules::new(&settings)?;
        Ok(settings)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::Config;

    fn parse(text: &str) -> Result<Settings, Error> {
        Config::parse(text, Path::new("config.toml")).map(|config| config.redaction)
    }

    #[test]
    fn redaction_is_set() {
        assert_eq!(parse("").unwrap(), Settings::default());
        let settings = parse(
            "[redaction]\nenabled = false\noff = [\"jwt\"]\nallow = [\"/a+/\"]\n\
             [redaction.rules.badge]\npattern = \"B-([0-9]+)\"\ngroup = 1\nkeywords = [\"b-\"]",
        )
        .unwrap();
        assert!(!settings.enabled);
        assert_eq!(
            (settings.off, settings.allow),
            (vec!["jwt".to_owned()], vec!["/a+/".to_owned()])
        );
        let badge = settings.rules.get("badge").unwrap();
        assert_eq!((badge.group, badge.keywords.len()), (Some(1), 1));
        for (text, reported) in [
            ("off = [\"jwts\"]", "the nearest is `jwt`"),
            ("allow = [\"/(/\"]", "no pattern"),
            ("rules.badge.pattern = \"(\"", "badge"),
            ("rules.badge.keywords = [\"b\"]", "pattern"),
            ("reveal = true", "reveal"),
        ] {
            let error = parse(&format!("[redaction]\n{text}"))
                .unwrap_err()
                .to_string();
            assert!(error.contains(reported), "{text}: {error}");
        }
    }
}
