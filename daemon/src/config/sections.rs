//! The sections of the file, each key once: what it is, where it goes, its range.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::setting::{Acts, Setting, Takes};
use super::{
    Config, Durability, Error, access, http, log, projects, redaction, resolvers, search, service,
    set,
};
use crate::{checkpoints, packs};

/// The file as written: every key optional.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct File {
    durability: Durability,
    log: Option<String>,
    engine: EngineTable,
    access: access::AccessTable,
    limits: LimitsTable,
    checkpoints: CheckpointsTable,
    sessions: SessionsTable,
    packs: PacksTable,
    layers: LayersTable,
    projects: projects::ProjectsTable,
    documents: DocumentsTable,
    retention: RetentionTable,
    redaction: redaction::RedactionTable,
    search: search::SearchTable,
    http: http::HttpTable,
    service: service::ServiceTable,
    resolvers: BTreeMap<String, resolvers::ResolverTable>,
}

/// What stands above all sections.
const TOP: &[Setting] = &[
    Setting {
        key: "durability",
        sentence: "When a write is answered: after the disk has it, or, with `relaxed`, after the \
            operating system has it, so that a power cut may lose the last second.",
        takes: Takes::OneOf(&["sync", "relaxed"]),
        acts: Acts::NextStart,
        default: |_| Some("\"sync\"".to_owned()),
    },
    Setting {
        key: "log",
        sentence: "What is logged to standard error: a level (error, warn, info, debug, trace), or \
            levels for parts, as `info,lored::engine=debug`. The variable RUST_LOG wins over it.",
        takes: Takes::Text,
        acts: Acts::AtOnce,
        default: |config| Some(format!("{:?}", config.log)),
    },
];

/// Every setting, in the order of the page.
pub fn all() -> Vec<Setting> {
    [
        TOP,
        EngineTable::SETTINGS,
        access::AccessTable::SETTINGS,
        LimitsTable::SETTINGS,
        CheckpointsTable::SETTINGS,
        SessionsTable::SETTINGS,
        PacksTable::SETTINGS,
        LayersTable::SETTINGS,
        projects::ProjectsTable::SETTINGS,
        DocumentsTable::SETTINGS,
        RetentionTable::SETTINGS,
        redaction::RedactionTable::SETTINGS,
        search::SearchTable::SETTINGS,
        http::HttpTable::SETTINGS,
        service::ServiceTable::SETTINGS,
        resolvers::ResolverTable::SETTINGS,
    ]
    .concat()
}

impl File {
    /// The settings that the file says, with the defaults for what it does not say.
    ///
    /// # Errors
    /// [`Error`]: the first thing that cannot be meant.
    pub fn settings(self) -> Result<Config, Error> {
        let mut config = Config::new();
        config.engine.durable = self.durability == Durability::Sync;
        if let Some(log) = self.log {
            if let Err(error) = log::filter(&log) {
                return Err(Error::Whole(format!(
                    "the setting `log` is {log:?}: {error}"
                )));
            }
            config.log = log;
        }
        self.engine.apply(&mut config)?;
        config.access = self.access.settings()?;
        self.limits.apply(&mut config)?;
        self.checkpoints.apply(&mut config)?;
        self.sessions.apply(&mut config)?;
        self.packs.apply(&mut config.packs);
        self.layers.apply(&mut config.words)?;
        config.projects = self.projects.settings()?;
        self.documents.apply(&mut config)?;
        self.retention.apply(&mut config)?;
        config.redaction = self.redaction.settings()?;
        config.search = self.search.settings()?;
        config.http = self.http.settings()?;
        config.service = self.service.settings();
        for (name, table) in self.resolvers {
            let settings = table.settings(&name)?;
            config.resolvers.insert(name, settings);
        }
        Ok(config)
    }
}

pub(super) const MIB: u64 = 1 << 20;

/// When a setting acts: as its section does, or as it says itself.
macro_rules! acts {
    ($section:ident) => {
        Acts::$section
    };
    ($section:ident, $own:ident) => {
        Acts::$own
    };
}

/// Declares a section of whole numbers: for each key a sentence, the setting it goes to, its range.
macro_rules! section {
    ($(#[doc = $doc:literal])* $name:ident $section:literal $acts:ident {
        $(
            $(#[doc = $sentence:literal])+
            $key:ident => $first:ident$(.$more:ident)*, $least:expr, $most:expr $(, $own:ident)?;
        )*
    }) => {
        $(#[doc = $doc])*
        #[derive(Debug, Default, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        struct $name { $($key: Option<u64>),* }

        impl $name {
            const SETTINGS: &[Setting] = &[$(Setting {
                key: concat!($section, ".", stringify!($key)),
                sentence: concat!($($sentence),+),
                takes: Takes::Whole { least: $least, most: $most },
                acts: acts!($acts $(, $own)?),
                default: |config| Some(config.$first$(.$more)*.to_string()),
            }),*];

            fn apply(&self, config: &mut Config) -> Result<(), Error> {
                $(set(&mut config.$first$(.$more)*, stringify!($key), self.$key, $least, $most)?;)*
                Ok(())
            }
        }
    };
}

section! {
    /// `[engine]`: how the engine works.
    EngineTable "engine" NextStart {
        /// Bytes of commands that may wait for the writer, beyond which callers wait.
        queue_bytes_max => engine.queue_bytes_max, MIB, 4096 * MIB;
        /// Commands that are committed and synced together, at most.
        group_commands_max => engine.group_commands_max, 1, 65_536;
        /// Bytes of events that are committed and synced together, at most.
        group_bytes_max => engine.group_bytes_max, 1024, 64 * MIB;
        /// How long a group waits for callers of the last one, in microseconds.
        linger_us_max => engine.linger_us_max, 0, 1_000_000;
        /// Free space under which writes are refused, in bytes; reads go on.
        disk_free_bytes_min => engine.disk_free_bytes_min, 0, u64::MAX;
        /// Space kept allocated, to have room to recover in when the disk is full, in bytes.
        reserve_bytes => engine.reserve_bytes, 0, 1024 * MIB;
        /// Idle time after which what is in memory is written to tables, in milliseconds.
        settle_idle_ms => engine.settle_idle_ms, 100, 86_400_000;
        /// Bytes of removed rows under which no compaction starts by itself.
        compact_freed_bytes_min => engine.compact_freed_bytes_min, 64 << 10, u64::MAX;
        /// A space's newest rows are written to a table past this, in bytes.
        memtable_bytes_max => engine.store.memtable_bytes_max, MIB, 1024 * MIB;
        /// Journals on disk together, in bytes.
        journal_bytes_max => engine.store.journal_bytes_max, 64 * MIB, 8192 * MIB;
        /// Rows in memory of all spaces past which the writer waits, in bytes.
        write_buffer_bytes_max => engine.store.write_buffer_bytes_max, MIB, 8192 * MIB;
        /// Blocks of tables kept in memory, in bytes.
        block_cache_bytes => engine.store.cache_bytes, 0, 65_536 * MIB;
        /// What was derived from events and is kept in memory, in bytes.
        cache_bytes_max => cache_bytes_max, 0, 65_536 * MIB;
    }
}

section! {
    /// `[limits]`: what a peer may use.
    LimitsTable "limits" NextConnection {
        /// One frame, one line, one HTTP body, in bytes.
        frame_bytes_max => limits.frame_bytes_max, 64 << 10, 64 * MIB;
        /// Calls that one connection may have unanswered.
        calls_in_flight_max => limits.calls_in_flight_max, 1, 65_536;
        /// Calls of one connection that may wait for what is to come, beside those in flight.
        waiting_calls_max => limits.waiting_calls_max, 0, 65_536;
        /// Bytes of unanswered calls of one connection.
        bytes_in_flight_max => limits.bytes_in_flight_max, 64 << 10, 4096 * MIB;
        /// Bytes of unanswered calls of all connections.
        bytes_in_flight_total_max => limits.bytes_in_flight_total_max, MIB, 65_536 * MIB, NextStart;
        /// Connections at once. At the limit the oldest one without a finished
        /// call gives way.
        connections_max => limits.connections_max, 1, 65_536, NextStart;
        /// From accept to the Hello, or to the first byte of another door, in milliseconds.
        hello_ms_max => limits.hello_ms_max, 10, 600_000;
        /// From a frame's first byte to its last, in milliseconds.
        frame_ms_max => limits.frame_ms_max, 10, 600_000;
        /// How long an answer may stay unread, in milliseconds.
        write_ms_max => limits.write_ms_max, 10, 600_000;
        /// Writes of one connection in any second.
        writes_per_second_max => limits.writes_per_second_max, 1, 1_000_000_000;
        /// How long calls in flight may take when the daemon stops, in milliseconds; acts at the next
        /// start.
        drain_ms_max => limits.drain_ms_max, 0, 600_000, NextStart;
    }
}

section! {
    /// `[checkpoints]`: what checkpoints may take.
    CheckpointsTable "checkpoints" AtOnce {
        /// Stored bytes of one checkpoint.
        checkpoint_bytes_max => checkpoints.checkpoint_bytes_max, 1024, 64 * MIB;
        /// Stored bytes of one session's checkpoints.
        session_bytes_max => checkpoints.session_bytes_max, 1024, u64::MAX;
        /// Stored bytes of all checkpoints.
        total_bytes_max => checkpoints.total_bytes_max, 1024, u64::MAX;
        /// Checkpoints of one session; beyond it the oldest without name and tags go.
        per_session_max => checkpoints.per_session_max, 1, 1_000_000;
        /// From this share of a limit on, replies warn, in percent.
        warn_percent => checkpoints.warn_percent, 1, 100;
        /// From this share of `total_bytes_max` on, untouched sessions give up checkpoints without a
        /// name, in percent.
        clean_percent => checkpoints.clean_percent, 1, 100;
        /// Untouched is a session that nobody wrote to or read for so many days.
        untouched_days => checkpoints.untouched_days, 0, 36_500;
    }
}

section! {
    /// `[documents]`: what is taken in of files, and how it is cut.
    DocumentsTable "documents" NextStart {
        /// The largest file that is taken in, in bytes.
        file_bytes_max => documents.reading.file_bytes, 1024, 1024 * MIB;
        /// Words of a chunk.
        chunk_words => documents.sizes.words, 8, 10_000;
        /// The share of a chunk that the next one repeats, in percent.
        chunk_overlap => documents.sizes.overlap, 0, 100;
    }
}

section! {
    /// `[retention]`: what is forgotten by itself, for good.
    RetentionTable "retention" AtOnce {
        /// A closed session is forgotten so many days after its last event; 0 keeps it.
        closed_sessions_days => retention.closed_sessions_days, 0, 36_500;
        /// A session is forgotten once nobody wrote to it or looked at it for so many days; 0 keeps it.
        untouched_sessions_days => retention.untouched_sessions_days, 0, 36_500;
        /// Texts of documents are forgotten so many days after they were replaced, or their file or source
        /// was taken away; 0 keeps them.
        replaced_documents_days => retention.replaced_documents_days, 0, 36_500;
    }
}

section! {
    /// `[sessions]`: how long sessions are in use.
    SessionsTable "sessions" AtOnce {
        /// A session without an event for so long is expired, in milliseconds; a write revives it.
        expire_after_ms => sessions.expire_after_ms, 1000, 3_153_600_000_000;
        /// How far back metrics are told unless a call says, in milliseconds.
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
    const SETTINGS: &[Setting] = &[Setting {
        key: "packs.prune_automatically",
        sentence: "Whether sessions are pruned by themselves once their messages have more tokens than \
            the strategy allows.",
        takes: Takes::Flag,
        acts: Acts::NextStart,
        default: |config| Some(config.packs.prune_automatically.to_string()),
    }];

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

const CRITICAL: &str = "Words of keys whose values are critical, in place of those built in.";
const IMPORTANT: &str = "Words of keys whose values are important, in place of those built in.";
const USEFUL: &str = "Words of keys whose values are useful, in place of those built in.";
const EPHEMERAL: &str = "Words of keys whose values are ephemeral, in place of those built in.";

impl LayersTable {
    const SETTINGS: &[Setting] = &[
        Self::list("layers.critical", CRITICAL, |config| {
            Some(format!("{:?}", config.words.critical))
        }),
        Self::list("layers.important", IMPORTANT, |config| {
            Some(format!("{:?}", config.words.important))
        }),
        Self::list("layers.useful", USEFUL, |config| {
            Some(format!("{:?}", config.words.useful))
        }),
        Self::list("layers.ephemeral", EPHEMERAL, |config| {
            Some(format!("{:?}", config.words.ephemeral))
        }),
    ];

    const fn list(
        key: &'static str,
        sentence: &'static str,
        default: fn(&Config) -> Option<String>,
    ) -> Setting {
        Setting {
            key,
            sentence,
            takes: Takes::Texts,
            acts: Acts::AtOnce,
            default,
        }
    }

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
