//! What a setting is: its key, what it takes, when it acts, its default. Files are checked against
//! these lines, and the docs and the commented file of defaults are made from them.

use super::Config;

/// One line of the declaration.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// `section.key`. A part in capitals stands for a name of the user's own.
    pub key: &'static str,
    /// What it does, with its unit; a sentence.
    pub sentence: &'static str,
    /// What it takes.
    pub takes: ValueType,
    /// When a changed value acts.
    pub acts: EffectTime,
    /// Its default, as the file would say it; `None` where there is none.
    pub default: fn(&Config) -> Option<String>,
}

/// What a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// A whole number in this range.
    Whole {
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
    /// `true` or `false`.
    Flag,
    /// Any text.
    Text,
    /// One of these.
    OneOf(&'static [&'static str]),
    /// An absolute path.
    Path,
    /// A list of texts.
    Texts,
    /// A table of texts, which may be secrets: never shown.
    Secrets,
    /// A table of anything.
    Table,
}

/// When a changed value acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectTime {
    /// Once the file is read again.
    AtOnce,
    /// For connections made after the file was read again.
    NextConnection,
    /// Once the daemon has been restarted.
    NextStart,
}

impl EffectTime {
    /// For people.
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
    /// For people: what is wanted.
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
    /// A setting without a default that acts at the next start: part of something of the user's own.
    #[must_use]
    pub const fn of_own(key: &'static str, takes: ValueType, sentence: &'static str) -> Self {
        Self {
            key,
            sentence,
            takes,
            acts: EffectTime::NextStart,
            default: |_| None,
        }
    }

    /// The same, acting at once.
    #[must_use]
    pub const fn at_once(mut self) -> Self {
        self.acts = EffectTime::AtOnce;
        self
    }

    /// The variable that sets it; `None` for what has names of the user's own in its key, and for
    /// tables.
    #[must_use]
    pub fn variable(&self) -> Option<String> {
        let of_own = self.key.split('.').any(is_name_of_own);
        let is_table = matches!(self.takes, ValueType::Secrets | ValueType::Table);
        (!of_own && !is_table)
            .then(|| format!("LORE_{}", self.key.replace('.', "_").to_uppercase()))
    }

    /// Its section; empty for what stands above all sections.
    #[must_use]
    pub fn section(&self) -> &'static str {
        self.key.split_once('.').map_or("", |(section, _)| section)
    }

    /// Whether this path of keys is the setting's.
    #[must_use]
    pub fn is_at(&self, path: &[String]) -> bool {
        self.key.split('.').count() == path.len() && self.is_above_or_at(path)
    }

    /// Whether this path of keys is the setting's, or a table that it can stand in.
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

/// Whether a part of a key stands for a name of the user's own.
fn is_name_of_own(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_uppercase())
}
