//! The daemon's settings: every one with its name, unit and default; a TOML file, then the
//! environment.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::api::Limits;
use crate::engine::Settings;

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
}

macro_rules! table {
    ($(#[$doc:meta])* $name:ident { $($key:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Default, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        struct $name { $($key: Option<u64>),* }
    };
}

table! {
    /// `[engine]`
    EngineTable {
        queue_bytes_max, group_commands_max, group_bytes_max, linger_us_max, disk_free_bytes_min,
        reserve_bytes, settle_idle_ms, memtable_bytes_max, journal_bytes_max,
        write_buffer_bytes_max, block_cache_bytes, cache_bytes_max,
    }
}
table! {
    /// `[limits]`
    LimitsTable {
        frame_bytes_max, calls_in_flight_max, bytes_in_flight_max, bytes_in_flight_total_max,
        connections_max, hello_ms_max, frame_ms_max, write_ms_max, drain_ms_max,
    }
}

/// Every key of the file, as `section.key`: a public surface, so a test holds it.
pub const KEYS: &[&str] = &[
    "durability",
    "log",
    "engine.queue_bytes_max",
    "engine.group_commands_max",
    "engine.group_bytes_max",
    "engine.linger_us_max",
    "engine.disk_free_bytes_min",
    "engine.reserve_bytes",
    "engine.settle_idle_ms",
    "engine.memtable_bytes_max",
    "engine.journal_bytes_max",
    "engine.write_buffer_bytes_max",
    "engine.block_cache_bytes",
    "engine.cache_bytes_max",
    "limits.frame_bytes_max",
    "limits.calls_in_flight_max",
    "limits.bytes_in_flight_max",
    "limits.bytes_in_flight_total_max",
    "limits.connections_max",
    "limits.hello_ms_max",
    "limits.frame_ms_max",
    "limits.write_ms_max",
    "limits.drain_ms_max",
];

const MIB: u64 = 1 << 20;

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
            cache_bytes_max: 16 << 20,
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
        config.set_engine(&file.engine)?;
        config.set_limits(&file.limits)?;
        Ok(config)
    }

    fn set_engine(&mut self, table: &EngineTable) -> Result<(), Error> {
        let e = &mut self.engine;
        let t = table;
        set(
            &mut e.queue_bytes_max,
            "queue_bytes_max",
            t.queue_bytes_max,
            MIB,
            4096 * MIB,
        )?;
        set(
            &mut e.group_commands_max,
            "group_commands_max",
            t.group_commands_max,
            1,
            65_536,
        )?;
        set(
            &mut e.group_bytes_max,
            "group_bytes_max",
            t.group_bytes_max,
            1024,
            64 * MIB,
        )?;
        set(
            &mut e.linger_us_max,
            "linger_us_max",
            t.linger_us_max,
            0,
            1_000_000,
        )?;
        set(
            &mut e.disk_free_bytes_min,
            "disk_free_bytes_min",
            t.disk_free_bytes_min,
            0,
            u64::MAX,
        )?;
        set(
            &mut e.reserve_bytes,
            "reserve_bytes",
            t.reserve_bytes,
            0,
            1024 * MIB,
        )?;
        set(
            &mut e.settle_idle_ms,
            "settle_idle_ms",
            t.settle_idle_ms,
            100,
            86_400_000,
        )?;
        let s = &mut e.store;
        set(
            &mut s.memtable_bytes_max,
            "memtable_bytes_max",
            t.memtable_bytes_max,
            MIB,
            1024 * MIB,
        )?;
        set(
            &mut s.journal_bytes_max,
            "journal_bytes_max",
            t.journal_bytes_max,
            64 * MIB,
            8192 * MIB,
        )?;
        set(
            &mut s.write_buffer_bytes_max,
            "write_buffer_bytes_max",
            t.write_buffer_bytes_max,
            MIB,
            8192 * MIB,
        )?;
        set(
            &mut s.cache_bytes,
            "block_cache_bytes",
            t.block_cache_bytes,
            0,
            65_536 * MIB,
        )?;
        set(
            &mut self.cache_bytes_max,
            "cache_bytes_max",
            t.cache_bytes_max,
            0,
            65_536 * MIB,
        )
    }

    fn set_limits(&mut self, t: &LimitsTable) -> Result<(), Error> {
        let l = &mut self.limits;
        set(
            &mut l.frame_bytes_max,
            "frame_bytes_max",
            t.frame_bytes_max,
            64 << 10,
            64 * MIB,
        )?;
        set(
            &mut l.calls_in_flight_max,
            "calls_in_flight_max",
            t.calls_in_flight_max,
            1,
            65_536,
        )?;
        set(
            &mut l.bytes_in_flight_max,
            "bytes_in_flight_max",
            t.bytes_in_flight_max,
            64 << 10,
            4096 * MIB,
        )?;
        set(
            &mut l.bytes_in_flight_total_max,
            "bytes_in_flight_total_max",
            t.bytes_in_flight_total_max,
            MIB,
            65_536 * MIB,
        )?;
        set(
            &mut l.connections_max,
            "connections_max",
            t.connections_max,
            1,
            65_536,
        )?;
        set(
            &mut l.hello_ms_max,
            "hello_ms_max",
            t.hello_ms_max,
            10,
            600_000,
        )?;
        set(
            &mut l.frame_ms_max,
            "frame_ms_max",
            t.frame_ms_max,
            10,
            600_000,
        )?;
        set(
            &mut l.write_ms_max,
            "write_ms_max",
            t.write_ms_max,
            10,
            600_000,
        )?;
        set(
            &mut l.drain_ms_max,
            "drain_ms_max",
            t.drain_ms_max,
            0,
            600_000,
        )
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, Error> {
        Config::parse(text, Path::new("config.toml"))
    }

    /// Every key named in [`KEYS`] is taken, and a value out of range says the range.
    #[test]
    fn every_key_is_taken() {
        for key in KEYS {
            let (table, name) = key.rsplit_once('.').unwrap_or(("", key));
            let value = match name {
                "durability" => "\"relaxed\"",
                "log" => "\"debug\"",
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
