//! Declaration of a setting: its key, type, effect time and default. Files are checked against the declarations,
//! and the docs and the commented file of defaults are generated from them.

use super::Config;

/// The declaration of one setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// `section.key`. A part in capitals is a placeholder for a user-defined name.
    pub key: &'static str,
    /// Description with its unit, one sentence.
    pub description: &'static str,
    /// Type and range of the value.
    pub takes: ValueType,
    /// When a changed value takes effect.
    pub acts: EffectTime,
    /// The default in TOML syntax; `None` without a default.
    pub default: fn(&Config) -> Option<String>,
}

/// Type of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// An integer in this range.
    Whole {
        /// Minimum.
        least: u64,
        /// Maximum.
        most: u64,
    },
    /// `true` or `false`.
    Flag,
    /// Any string.
    Text,
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// An absolute path.
    Path,
    /// A list of strings.
    Texts,
    /// A table of strings that may be secrets and are never shown.
    Secrets,
    /// A table with any content.
    Table,
}

/// When a changed value takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectTime {
    /// When the file is reloaded.
    AtOnce,
    /// For connections accepted after a reload.
    NextConnection,
    /// After a restart of the daemon.
    NextStart,
}

impl EffectTime {
    /// Describes the time for people.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::AtOnce => "at once",
            Self::NextConnection => "for new connections",
            Self::NextStart => "at the next start",
        }
    }
}

impl ValueType {
    /// Describes the expected value for people.
    #[must_use]
    pub fn describe(self) -> String {
        match self {
            Self::Whole { least, most } if most == u64::MAX => {
                format!("a whole number, at least {least}")
            }
            Self::Whole { least, most } => format!("a whole number from {least} to {most}"),
            Self::Flag => "true or false".to_owned(),
            Self::Text => "a text".to_owned(),
            Self::OneOf(names) => {
                let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
                names.join(" or ")
            }
            Self::Path => "an absolute path".to_owned(),
            Self::Texts => "a list of texts".to_owned(),
            Self::Secrets => "a table of texts".to_owned(),
            Self::Table => "a table".to_owned(),
        }
    }
}

impl Setting {
    /// Declares a setting in a user-defined table: without a default, effective at the next start.
    #[must_use]
    pub const fn of_own(key: &'static str, takes: ValueType, description: &'static str) -> Self {
        Self {
            key,
            description,
            takes,
            acts: EffectTime::NextStart,
            default: |_| None,
        }
    }

    /// Makes changes effective at once.
    #[must_use]
    pub const fn at_once(mut self) -> Self {
        self.acts = EffectTime::AtOnce;
        self
    }

    /// Returns the environment variable; `None` for tables and for keys with user-defined names.
    #[must_use]
    pub fn variable(&self) -> Option<String> {
        let of_own = self.key.split('.').any(is_name_of_own);
        let is_table = matches!(self.takes, ValueType::Secrets | ValueType::Table);
        (!of_own && !is_table)
            .then(|| format!("LORE_{}", self.key.replace('.', "_").to_uppercase()))
    }

    /// Returns the section; empty for top-level settings.
    #[must_use]
    pub fn section(&self) -> &'static str {
        self.key.split_once('.').map_or("", |(section, _)| section)
    }

    /// Returns whether this path of keys names the setting.
    #[must_use]
    pub fn is_at(&self, path: &[String]) -> bool {
        self.key.split('.').count() == path.len() && self.is_above_or_at(path)
    }

    /// Returns whether this path of keys names the setting, or a table that contains it.
    #[must_use]
    pub fn is_above_or_at(&self, path: &[String]) -> bool {
        let mut parts = self.key.split('.');
        path.iter().all(|name| {
            parts
                .next()
                .is_some_and(|part| is_name_of_own(part) || part == name)
        })
    }
}

/// Returns whether a part of a key is a placeholder for a user-defined name.
fn is_name_of_own(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_uppercase())
}
