//! The daemon's settings: every one with its name, unit and default; a TOML file, then the
//! environment.

mod projects;
mod resolvers;
mod search;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::api::Limits;
use crate::checkpoints;
use crate::documents::Settings as DocumentSettings;
use crate::engine::Settings;
use crate::packs;
use crate::projects::Settings as ProjectSettings;
use crate::retrieval::models::Settings as SearchSettings;
use crate::sessions;
use crate::upstream;

/// When a write is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// After the disk has it.
    #[default]
    Sync,
    /// After the operating system has it: a power cut may lose the last second.
    Relaxed,
}

/// Everything that can be set.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// How the engine works.
    pub engine: Settings,
    /// What a peer may use.
    pub limits: Limits,
    /// What checkpoints may take.
    pub checkpoints: checkpoints::Limits,
    /// How long sessions are in use.
    pub sessions: sessions::Room,
    /// What is done with context packs.
    pub packs: packs::Room,
    /// What is set for projects.
    pub projects: ProjectSettings,
    /// What is set for documents.
    pub documents: DocumentSettings,
    /// Which models embed texts.
    pub search: SearchSettings,
    /// What words of keys say about a context's layers.
    pub words: checkpoints::Words,
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
    /// The file says something that is no setting.
    #[error("{path:?}: {message}")]
    File {
        /// The file.
        path: PathBuf,
        /// Line, column, and what is wrong.
        message: String,
    },
    /// A list of words holds something else.
    #[error("the setting `{name}` has {word:?}; each word is of small letters alone, singular")]
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

/// The file as written: every key optional.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    durability: Durability,
    log: Option<String>,
    engine: EngineTable,
    limits: LimitsTable,
    checkpoints: CheckpointsTable,
    sessions: SessionsTable,
    packs: PacksTable,
    layers: LayersTable,
    projects: projects::ProjectsTable,
    documents: DocumentsTable,
    search: search::SearchTable,
    resolvers: BTreeMap<String, resolvers::ResolverTable>,
}

const MIB: u64 = 1 << 20;

/// Declares a section of the file once: each key, the setting it goes to, its range.
macro_rules! section {
    ($(#[$doc:meta])* $name:ident $section:literal $target:ty {
        $($key:ident => $first:ident$(.$more:ident)*, $least:expr, $most:expr;)*
    }) => {
        $(#[$doc])*
        #[derive(Debug, Default, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        struct $name { $($key: Option<u64>),* }

        impl $name {
            const KEYS: &[&str] = &[$(concat!($section, ".", stringify!($key))),*];

            fn apply(&self, settings: &mut $target) -> Result<(), Error> {
                $(set(&mut settings.$first$(.$more)*, stringify!($key), self.$key, $least, $most)?;)*
                Ok(())
            }
        }
    };
}

section! {
    /// `[engine]`: how the engine works.
    EngineTable "engine" Config {
        queue_bytes_max => engine.queue_bytes_max, MIB, 4096 * MIB;
        group_commands_max => engine.group_commands_max, 1, 65_536;
        group_bytes_max => engine.group_bytes_max, 1024, 64 * MIB;
        linger_us_max => engine.linger_us_max, 0, 1_000_000;
        disk_free_bytes_min => engine.disk_free_bytes_min, 0, u64::MAX;
        reserve_bytes => engine.reserve_bytes, 0, 1024 * MIB;
        settle_idle_ms => engine.settle_idle_ms, 100, 86_400_000;
        compact_freed_bytes_min => engine.compact_freed_bytes_min, 64 << 10, u64::MAX;
        memtable_bytes_max => engine.store.memtable_bytes_max, MIB, 1024 * MIB;
        journal_bytes_max => engine.store.journal_bytes_max, 64 * MIB, 8192 * MIB;
        write_buffer_bytes_max => engine.store.write_buffer_bytes_max, MIB, 8192 * MIB;
        block_cache_bytes => engine.store.cache_bytes, 0, 65_536 * MIB;
        cache_bytes_max => cache_bytes_max, 0, 65_536 * MIB;
    }
}

section! {
    /// `[limits]`: what a peer may use.
    LimitsTable "limits" Config {
        frame_bytes_max => limits.frame_bytes_max, 64 << 10, 64 * MIB;
        calls_in_flight_max => limits.calls_in_flight_max, 1, 65_536;
        waiting_calls_max => limits.waiting_calls_max, 0, 65_536;
        bytes_in_flight_max => limits.bytes_in_flight_max, 64 << 10, 4096 * MIB;
        bytes_in_flight_total_max => limits.bytes_in_flight_total_max, MIB, 65_536 * MIB;
        connections_max => limits.connections_max, 1, 65_536;
        hello_ms_max => limits.hello_ms_max, 10, 600_000;
        frame_ms_max => limits.frame_ms_max, 10, 600_000;
        write_ms_max => limits.write_ms_max, 10, 600_000;
        writes_per_second_max => limits.writes_per_second_max, 1, 1_000_000_000;
        drain_ms_max => limits.drain_ms_max, 0, 600_000;
    }
}

section! {
    /// `[checkpoints]`: what checkpoints may take.
    CheckpointsTable "checkpoints" Config {
        checkpoint_bytes_max => checkpoints.checkpoint_bytes_max, 1024, 64 * MIB;
        session_bytes_max => checkpoints.session_bytes_max, 1024, u64::MAX;
        total_bytes_max => checkpoints.total_bytes_max, 1024, u64::MAX;
        per_session_max => checkpoints.per_session_max, 1, 1_000_000;
        warn_percent => checkpoints.warn_percent, 1, 100;
        clean_percent => checkpoints.clean_percent, 1, 100;
        untouched_days => checkpoints.untouched_days, 0, 36_500;
    }
}

section! {
    /// `[documents]`: what is taken in of files, and how it is cut.
    DocumentsTable "documents" Config {
        file_bytes_max => documents.reading.file_bytes, 1024, 1024 * MIB;
        chunk_words => documents.sizes.words, 8, 10_000;
        chunk_overlap => documents.sizes.overlap, 0, 100;
    }
}

section! {
    /// `[sessions]`: how long sessions are in use.
    SessionsTable "sessions" Config {
        expire_after_ms => sessions.expire_after_ms, 1000, 3_153_600_000_000;
        metrics_keep_ms => sessions.metrics_keep_ms, 1000, 31_536_000_000;
    }
}

/// `[packs]`: what is done with context packs.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct PacksTable {
    prune_automatically: bool,
}

impl PacksTable {
    const KEYS: &[&str] = &["packs.prune_automatically"];

    fn apply(&self, room: &mut packs::Room) {
        room.prune_automatically = self.prune_automatically;
    }
}

/// `[layers]`: words of keys, each list in place of the one that is built in.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LayersTable {
    critical: Option<Vec<String>>,
    important: Option<Vec<String>>,
    useful: Option<Vec<String>>,
    ephemeral: Option<Vec<String>>,
}

impl LayersTable {
    const KEYS: &[&str] = &[
        "layers.critical",
        "layers.important",
        "layers.useful",
        "layers.ephemeral",
    ];

    fn apply(self, words: &mut checkpoints::Words) -> Result<(), Error> {
        let lists = [
            (self.critical, &mut words.critical, "layers.critical"),
            (self.important, &mut words.important, "layers.important"),
            (self.useful, &mut words.useful, "layers.useful"),
            (self.ephemeral, &mut words.ephemeral, "layers.ephemeral"),
        ];
        for (given, list, name) in lists {
            let Some(given) = given else { continue };
            let is_word = |word: &String| {
                !word.is_empty() && word.chars().all(|c| c.is_alphabetic() && !c.is_uppercase())
            };
            if let Some(word) = given.iter().find(|word| !is_word(word)) {
                let word = word.clone();
                return Err(Error::Word { name, word });
            }
            *list = given;
        }
        Ok(())
    }
}

/// Every key of the file, as `section.key`: a public surface, so a test holds it.
#[must_use]
pub fn keys() -> Vec<&'static str> {
    let top = ["durability", "log"];
    [
        &top,
        EngineTable::KEYS,
        LimitsTable::KEYS,
        CheckpointsTable::KEYS,
        SessionsTable::KEYS,
        PacksTable::KEYS,
        LayersTable::KEYS,
        projects::ProjectsTable::KEYS,
        DocumentsTable::KEYS,
        search::SearchTable::KEYS,
        resolvers::ResolverTable::KEYS,
    ]
    .concat()
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
            engine: Settings::default(),
            limits: Limits::default(),
            checkpoints: checkpoints::Limits::default(),
            sessions: sessions::Room::default(),
            packs: packs::Room::default(),
            projects: ProjectSettings::default(),
            documents: DocumentSettings::default(),
            search: SearchSettings::default(),
            words: checkpoints::Words::default(),
            resolvers: BTreeMap::new(),
            cache_bytes_max: 32 << 20,
            log: "info".to_owned(),
        }
    }

    /// Reads the file if there is one; a missing file means the defaults.
    ///
    /// # Errors
    /// [`Error`], naming file, line and key.
    pub fn load(path: &Path) -> Result<Self, Error> {
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text, path),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::new()),
            Err(source) => Err(Error::Read {
                path: path.to_path_buf(),
                source,
            }),
        }
    }

    /// Reads settings from text; `path` is for messages.
    ///
    /// # Errors
    /// [`Error`], naming file, line and key.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        let file: File = toml::from_str(text).map_err(|error| Error::File {
            path: path.to_path_buf(),
            message: error.to_string(),
        })?;
        let mut config = Self::new();
        config.engine.durable = file.durability == Durability::Sync;
        if let Some(log) = file.log {
            config.log = log;
        }
        file.engine.apply(&mut config)?;
        file.limits.apply(&mut config)?;
        file.checkpoints.apply(&mut config)?;
        file.sessions.apply(&mut config)?;
        file.packs.apply(&mut config.packs);
        file.layers.apply(&mut config.words)?;
        config.projects = file.projects.settings()?;
        file.documents.apply(&mut config)?;
        config.search = file.search.settings()?;
        for (name, table) in file.resolvers {
            let settings = table.settings(&name)?;
            config.resolvers.insert(name, settings);
        }
        Ok(config)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, Error> {
        Config::parse(text, Path::new("config.toml"))
    }

    /// Every key of [`keys`] is taken, and a value out of range says the range. (Those of resolvers
    /// and single projects need each other, and have tests of their own.)
    #[test]
    fn every_key_is_taken() {
        let alone = |key: &&str| !key.starts_with("resolvers.") && !key.starts_with("projects.at.");
        for key in keys().into_iter().filter(alone) {
            let (table, name) = key.rsplit_once('.').unwrap_or(("", key));
            let value = match name {
                "durability" => "\"relaxed\"",
                "log" => "\"debug\"",
                "prune_automatically" | "second_tier" => "true",
                "templates" | "models" => "\"/folder\"",
                _ if table == "layers" => "[\"brief\"]",
                _ => "67108864",
            };
            let text = match table {
                "" => format!("{name} = {value}"),
                _ => format!("[{table}]\n{name} = {value}"),
            };
            match parse(&text) {
                Ok(_) => {}
                Err(Error::Value { name: named, .. }) => assert_eq!(named, name),
                Err(error) => panic!("{text}: {error}"),
            }
        }
        assert!(!parse("durability = \"relaxed\"").unwrap().engine.durable);
        let refused = parse("[limits]\nconnections_max = 0").unwrap_err();
        assert!(refused.to_string().contains("from 1 to 65536"), "{refused}");
    }

    /// Lists of words take the place of ours; what is no word is refused.
    #[test]
    fn words_can_be_chosen() {
        let config = parse("[layers]\ncritical = [\"brief\"]").unwrap();
        assert_eq!(config.words.critical, ["brief"]);
        assert_eq!(config.words.useful, checkpoints::Words::default().useful);
        for wrong in ["Brief", "", "two words", "a1"] {
            let refused = parse(&format!("[layers]\nuseful = [\"{wrong}\"]")).unwrap_err();
            assert!(refused.to_string().contains("layers.useful"), "{refused}");
        }
    }

    /// A key that is none is refused with its line and what there is.
    #[test]
    fn unknown_keys_are_refused() {
        let refused = parse("[engine]\nlinger_ms = 3").unwrap_err().to_string();
        assert!(refused.contains("config.toml"), "{refused}");
        assert!(refused.contains("linger_us_max"), "{refused}");
        assert!(parse("durability = \"maybe\"").is_err());
        assert!(parse("=").is_err());
    }
}
