//! The daemon's settings, each with its name, unit and default: a TOML file, overridden by environment variables.
//! Each setting is declared once ([`Setting`]). The check, the docs and the commented file of defaults come from it.

mod access;
mod capture;
pub mod effective;
mod follow;
mod http;
pub mod log;
mod mcp;
pub mod of_project;
mod projects;
mod read;
mod redaction;
mod resolvers;
mod search;
mod sections;
mod service;
mod setting;
#[cfg(test)]
mod tests;
mod trust;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use lored_models::Settings as SearchSettings;
use lored_redact::Settings as RedactionSettings;
use serde::Deserialize;

use crate::api::Limits;
use crate::capture::FollowedHosts;
use crate::checkpoints;
use crate::documents::Settings as DocumentSettings;
use crate::engine::Settings;
use crate::forgetting;
use crate::packs;
use crate::projects::{CaptureTable, Settings as ProjectSettings};
use crate::service::Access;
use crate::sessions;
use crate::upstream;

pub use http::Http;
pub use read::{RawValue, ValueSource, read};
pub use service::Service;
pub use setting::{EffectTime, Setting, ValueType};

/// When a write is acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// After the write is on disk.
    #[default]
    Sync,
    /// After the operating system has the write: a power cut may lose the last second.
    Relaxed,
}

/// All settings.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Users who may connect.
    pub access: Access,
    /// Settings of the engine.
    pub engine: Settings,
    /// Limits of a peer.
    pub limits: Limits,
    /// Limits of checkpoints.
    pub checkpoints: checkpoints::Limits,
    /// Expiry of sessions.
    pub sessions: sessions::SessionSettings,
    /// Settings of context packs.
    pub packs: packs::PackSettings,
    /// Settings of projects.
    pub projects: ProjectSettings,
    /// Settings of documents.
    pub documents: DocumentSettings,
    /// Retention rules.
    pub retention: forgetting::Rules,
    /// What hooks record and add.
    pub capture: CaptureTable,
    /// Hosts whose transcripts are followed.
    pub follow: FollowedHosts,
    /// Redaction of secrets in incoming data.
    pub redaction: RedactionSettings,
    /// The embedding models.
    pub search: SearchSettings,
    /// HTTP over TCP.
    pub http: Http,
    /// The daemon process.
    pub service: Service,
    /// Word lists that assign keys to layers.
    pub words: checkpoints::LayerWords,
    /// The MCP servers that resolve names, by name.
    pub resolvers: BTreeMap<String, upstream::Settings>,
    /// Maximum size of the cache of derived data, in bytes.
    pub cache_bytes_max: usize,
    /// Filter of the log on standard error, in `tracing` syntax.
    pub log: String,
}

/// Reason why the settings are rejected.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("reading {path:?}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// An error at a position in the file.
    #[error("{}:{line}:{column}: {error}", path.display())]
    At {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// The error.
        error: Box<Error>,
    },
    /// An environment variable is invalid.
    #[error("the variable {name}: {problem}")]
    Variable {
        /// The variable.
        name: String,
        /// The error and the expected value.
        problem: String,
    },
    /// The file is not TOML.
    #[error("this is not TOML: {0}")]
    Syntax(String),
    /// A key is not a setting.
    #[error("unknown setting `{name}`; {help}")]
    Unknown {
        /// The key, as written.
        name: String,
        /// The nearest setting, or all keys that are allowed there.
        help: String,
    },
    /// A value where a table is expected.
    #[error("`{name}` is of the type {found}; it is a table, `[{name}]`")]
    NoTable {
        /// The key.
        name: String,
        /// The type of the value.
        found: &'static str,
    },
    /// A value of the wrong type.
    #[error("the setting `{name}` is {found}; it must be {wanted}")]
    Type {
        /// The setting.
        name: &'static str,
        /// The value or its type.
        found: String,
        /// The expected value.
        wanted: String,
    },
    /// An error that only the whole file shows; `error` names the part.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error.
        error: Box<Error>,
    },
    /// A part is incomplete or contradicts another one.
    #[error("{0}")]
    Whole(String),
    /// A word list contains an invalid word.
    #[error(
        "the setting `{name}` has {word:?}; each word is of lower-case letters alone, singular"
    )]
    Word {
        /// The setting.
        name: &'static str,
        /// The word, as written.
        word: String,
    },
    /// Invalid settings of a project.
    #[error("`projects`: {path:?}: {problem}")]
    Project {
        /// The project's path.
        path: PathBuf,
        /// The error and the expected value.
        problem: String,
    },
    /// A path is not absolute.
    #[error("the setting `{name}` is {path:?}; it must be an absolute path")]
    Relative {
        /// The setting.
        name: &'static str,
        /// The path, as written.
        path: PathBuf,
    },
    /// Invalid settings of a resolver.
    #[error("`resolvers.{name}`: {problem}")]
    Resolver {
        /// The resolver's name.
        name: String,
        /// The error and the expected value.
        problem: String,
    },
    /// Invalid redaction settings.
    #[error("`redaction`: {0}")]
    Redaction(#[from] lored_redact::Error),
    /// A value is out of range.
    #[error("the setting `{name}` is {value}; it must be {wanted}")]
    Value {
        /// The setting.
        name: &'static str,
        /// The value, as written.
        value: u64,
        /// The allowed range.
        wanted: String,
    },
}

/// Lists every setting in the order of the documentation page.
#[must_use]
pub fn settings() -> &'static [Setting] {
    static ALL: LazyLock<Vec<Setting>> = LazyLock::new(sections::all);
    &ALL
}

/// Lists every key of the file as `section.key`. The keys are a public interface, which a test pins.
#[must_use]
pub fn keys() -> Vec<&'static str> {
    settings().iter().map(|setting| setting.key).collect()
}

fn set<T: TryFrom<u64>>(
    into: &mut T,
    name: &'static str,
    value: Option<u64>,
    least: u64,
    most: u64,
) -> Result<(), Error> {
    let Some(value) = value else { return Ok(()) };
    let fits = (least..=most).contains(&value);
    match T::try_from(value) {
        Ok(value) if fits => {
            *into = value;
            Ok(())
        }
        _ => Err(Error::Value {
            name,
            value,
            wanted: format!("from {least} to {most}"),
        }),
    }
}

impl Config {
    /// Returns the defaults.
    #[must_use]
    pub fn new() -> Self {
        Self {
            access: Access::default(),
            engine: Settings::default(),
            limits: Limits::default(),
            checkpoints: checkpoints::Limits::default(),
            sessions: sessions::SessionSettings::default(),
            packs: packs::PackSettings::default(),
            projects: ProjectSettings::default(),
            documents: DocumentSettings::default(),
            capture: CaptureTable::default(),
            follow: FollowedHosts::default(),
            retention: forgetting::Rules::standard(),
            search: SearchSettings::default(),
            redaction: RedactionSettings::default(),
            http: Http::default(),
            service: Service::default(),
            words: checkpoints::LayerWords::default(),
            resolvers: BTreeMap::new(),
            cache_bytes_max: 32 << 20,
            log: "info".to_owned(),
        }
    }

    /// Reads the file and the environment, which overrides it. A missing file means the defaults.
    ///
    /// # Errors
    /// [`Error`], naming file, line and key, or the variable.
    pub fn load(path: &Path) -> Result<Self, Error> {
        Self::of(RawValue::load(path, std::env::vars_os())?, path)
    }

    /// Parses settings from text only; `path` is for messages.
    ///
    /// # Errors
    /// [`Error`], naming file, line and key.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        Self::of(RawValue::of_text(text, path)?, path)
    }

    /// Builds the settings from raw values, with defaults for missing keys.
    ///
    /// # Errors
    /// [`Error`]: faults that single values do not show, for example two settings that contradict each other.
    pub fn of(given: RawValue, path: &Path) -> Result<Self, Error> {
        let in_file = |error| Error::File {
            path: path.to_path_buf(),
            error: Box::new(error),
        };
        let file: sections::File = given
            .table
            .try_into()
            .map_err(|error: toml::de::Error| in_file(Error::Whole(error.message().to_owned())))?;
        file.settings().map_err(in_file)
    }
}
