//! The daemon's settings, each with its name, unit and default: a TOML file, overridden by environment variables.
//! Each setting is declared once ([`Setting`]). The check, the docs and the commented file of defaults come from it.

mod access;
pub mod effective;
mod http;
pub mod log;
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

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use lored_models::Settings as SearchSettings;
use lored_redact::Settings as RedactionSettings;
use serde::Deserialize;

use crate::api::Limits;
use crate::checkpoints;
use crate::documents::Settings as DocumentSettings;
use crate::engine::Settings;
use crate::forgetting;
use crate::packs;
use crate::projects::Settings as ProjectSettings;
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
    /// What is taken out of what comes in.
    pub redaction: RedactionSettings,
    /// Which models embed texts.
    pub search: SearchSettings,
    /// The door for HTTP over TCP.
    pub http: Http,
    /// What is set for the process.
    pub service: Service,
    /// What words of keys say about a context's layers.
    pub words: checkpoints::LayerWords,
    /// The MCP servers that say what names stand for, by name.
    pub resolvers: BTreeMap<String, upstream::Settings>,
    /// What derived data may take, in bytes.
    pub cache_bytes_max: usize,
    /// What is logged to standard error, as `tracing` filters it.
    pub log: String,
}

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("reading {path:?}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Something is wrong at a place in the file.
    #[error("{}:{line}:{column}: {error}", path.display())]
    At {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// In characters, from 1.
        column: usize,
        /// What is wrong.
        error: Box<Error>,
    },
    /// A variable of the environment cannot be used.
    #[error("the variable {name}: {problem}")]
    Variable {
        /// The variable.
        name: String,
        /// What is wrong, and what is wanted.
        problem: String,
    },
    /// The file is no TOML.
    #[error("this is not TOML: {0}")]
    Syntax(String),
    /// A key is no setting.
    #[error("there is no setting `{name}`; {help}")]
    Unknown {
        /// The key, as written.
        name: String,
        /// The nearest one there is, or all that could stand there.
        help: String,
    },
    /// A value stands where a table is wanted.
    #[error("`{name}` is of the type {found}; it is a table, `[{name}]`")]
    NoTable {
        /// The key.
        name: String,
        /// What stands there.
        found: &'static str,
    },
    /// A value is of another type.
    #[error("the setting `{name}` is {found}; it must be {wanted}")]
    Type {
        /// The setting.
        name: &'static str,
        /// What stands there.
        found: String,
        /// What is wanted.
        wanted: String,
    },
    /// Something that only the whole shows; `error` says which part.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: Box<Error>,
    },
    /// A part lacks something, or has what goes with nothing.
    #[error("{0}")]
    Whole(String),
    /// A list of words holds something else.
    #[error(
        "the setting `{name}` has {word:?}; each word is of lower-case letters alone, singular"
    )]
    Word {
        /// The setting.
        name: &'static str,
        /// As given.
        word: String,
    },
    /// A project cannot be what the file says.
    #[error("`projects`: {path:?}: {problem}")]
    Project {
        /// The path that is named.
        path: PathBuf,
        /// What is wrong, and what is wanted.
        problem: String,
    },
    /// A path is not absolute.
    #[error("the setting `{name}` is {path:?}; it must be an absolute path")]
    Relative {
        /// The setting.
        name: &'static str,
        /// As given.
        path: PathBuf,
    },
    /// A resolver cannot be what the file says.
    #[error("`resolvers.{name}`: {problem}")]
    Resolver {
        /// Its name.
        name: String,
        /// What is wrong, and what is wanted.
        problem: String,
    },
    /// What is redacted cannot be what the file says.
    #[error("`redaction`: {0}")]
    Redaction(#[from] lored_redact::Error),
    /// A value is out of its range.
    #[error("the setting `{name}` is {value}; it must be {wanted}")]
    Value {
        /// The setting.
        name: &'static str,
        /// As given.
        value: u64,
        /// Its range.
        wanted: String,
    },
}

/// Every setting: its section's order, the sections in the order of the page.
#[must_use]
pub fn settings() -> &'static [Setting] {
    static ALL: LazyLock<Vec<Setting>> = LazyLock::new(sections::all);
    &ALL
}

/// Every key of the file, as `section.key`: a public surface, so a test holds it.
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
    /// The defaults.
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
            retention: forgetting::Rules::default(),
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

    /// Reads the file, and the environment over it. A missing file means the defaults.
    ///
    /// # Errors
    /// [`Error`], naming file, line and key, or the variable.
    pub fn load(path: &Path) -> Result<Self, Error> {
        Self::of(RawValue::load(path, std::env::vars_os())?, path)
    }

    /// Reads settings from text alone; `path` is for messages.
    ///
    /// # Errors
    /// [`Error`], naming file, line and key.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        Self::of(RawValue::of_text(text, path)?, path)
    }

    /// The settings that were given, with the defaults for those that were not.
    ///
    /// # Errors
    /// [`Error`]: what single values do not show, such as two that go together.
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
