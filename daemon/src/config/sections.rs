//! The sections of the settings file: each key once, with its description, target field and range.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::setting::{EffectTime, Setting, ValueType};
use super::{
    Config, Durability, Error, access, capture, follow, http, log, mcp, projects, redaction,
    resolvers, search, service, set, trust,
};
use crate::projects::CaptureTable;
use crate::{checkpoints, packs};

/// The settings file as written: every key is optional.
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
    capture: CaptureTable,
    follow: follow::FollowTable,
    retention: RetentionTable,
    trust: trust::TrustTable,
    redaction: redaction::RedactionTable,
    search: search::SearchTable,
    http: http::HttpTable,
    mcp: mcp::McpTable,
    service: service::ServiceTable,
    resolvers: BTreeMap<String, resolvers::ResolverTable>,
}

/// The settings outside of all sections.
const TOP: &[Setting] = &[
    Setting {
        key: "durability",
        description: "When a write returns: `sync` waits for the disk; `relaxed` waits for the operating system \
            only, so a power cut may lose the last second.",
        takes: ValueType::OneOf(&["sync", "relaxed"]),
        acts: EffectTime::NextStart,
        default: |_| Some("\"sync\"".to_owned()),
    },
    Setting {
        key: "log",
        description: "The log filter for standard error: a level (error, warn, info, debug, trace), or levels per \
            module, such as `info,lored::engine=debug`. The variable RUST_LOG overrides it.",
        takes: ValueType::Text,
        acts: EffectTime::AtOnce,
        default: |config| Some(format!("{:?}", config.log)),
    },
];

/// Returns every setting, in the order of the page.
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
        capture::SETTINGS,
        follow::FollowTable::SETTINGS,
        RetentionTable::SETTINGS,
        trust::TrustTable::SETTINGS,
        redaction::RedactionTable::SETTINGS,
        search::SearchTable::SETTINGS,
        http::HttpTable::SETTINGS,
        mcp::McpTable::SETTINGS,
        service::ServiceTable::SETTINGS,
        resolvers::ResolverTable::SETTINGS,
    ]
    .concat()
}

impl File {
    /// Returns the settings of the file, with the defaults for missing keys.
    ///
    /// # Errors
    /// [`Error`]: the first invalid value.
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
        self.mcp.apply(&mut config)?;
        self.checkpoints.apply(&mut config)?;
        self.sessions.apply(&mut config)?;
        self.packs.apply(&mut config.packs)?;
        self.layers.apply(&mut config.words)?;
        config.projects = self.projects.settings()?;
        self.documents.apply(&mut config)?;
        config.capture = capture::checked(self.capture)?;
        config.follow = self.follow.settings()?;
        self.retention.apply(&mut config)?;
        config.checkpoints.protected = self.trust.protected()?;
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

/// When a change takes effect: the section's default, or the setting's value.
macro_rules! acts {
    ($section:ident) => {
        EffectTime::$section
    };
    ($section:ident, $own:ident) => {
        EffectTime::$own
    };
}

/// Declares a section of integers: for each key a description, the target field and the range.
macro_rules! section {
    ($(#[doc = $doc:literal])* $name:ident $section:literal $acts:ident {
        $(
            $(#[doc = $description:literal])+
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
                description: concat!($($description),+),
                takes: ValueType::Whole { least: $least, most: $most },
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
    /// `[engine]`: the log and its store.
    EngineTable "engine" NextStart {
        /// Maximum size of the write queue, in bytes. Callers wait while it is full.
        queue_bytes_max => engine.queue_bytes_max, MIB, 4096 * MIB;
        /// Maximum number of commands in one group commit.
        group_commands_max => engine.group_commands_max, 1, 65_536;
        /// Maximum size of the events in one group commit, in bytes.
        group_bytes_max => engine.group_bytes_max, 1024, 64 * MIB;
        /// How long a group commit waits for the callers of the previous one, in microseconds.
        linger_us_max => engine.linger_us_max, 0, 1_000_000;
        /// Minimum free disk space, in bytes. Below it writes are rejected and reads continue.
        disk_free_bytes_min => engine.disk_free_bytes_min, 0, u64::MAX;
        /// Size of the ballast file, in bytes. Its space is released for recovery when the disk is full.
        reserve_bytes => engine.reserve_bytes, 0, 1024 * MIB;
        /// Idle time before memtables are flushed to tables, in milliseconds.
        flush_idle_ms => engine.flush_idle_ms, 100, 86_400_000;
        /// Minimum size of the removed rows before an automatic compaction starts, in bytes.
        compact_freed_bytes_min => engine.compact_freed_bytes_min, 64 << 10, u64::MAX;
        /// Maximum size of the memtable of one keyspace, in bytes.
        memtable_bytes_max => engine.store.memtable_bytes_max, MIB, 1024 * MIB;
        /// Maximum size of all journal files on disk, in bytes.
        journal_bytes_max => engine.store.journal_bytes_max, 64 * MIB, 8192 * MIB;
        /// Maximum size of all memtables, in bytes. The writer waits while it is exceeded.
        write_buffer_bytes_max => engine.store.write_buffer_bytes_max, MIB, 8192 * MIB;
        /// Size of the block cache, in bytes.
        block_cache_bytes => engine.store.cache_bytes, 0, 65_536 * MIB;
        /// Maximum size of the cache of decoded and derived data, in bytes.
        cache_bytes_max => cache_bytes_max, 0, 65_536 * MIB;
    }
}

section! {
    /// `[limits]`: limits for connections.
    LimitsTable "limits" NextConnection {
        /// Maximum size of one frame, one line or one HTTP body, in bytes.
        frame_bytes_max => limits.frame_bytes_max, 64 << 10, 64 * MIB;
        /// Maximum number of calls in flight on one connection.
        calls_in_flight_max => limits.calls_in_flight_max, 1, 65_536;
        /// Maximum number of long polls on one connection. They do not count as calls in flight.
        long_polls_max => limits.long_polls_max, 0, 65_536;
        /// Maximum size of the calls in flight on one connection, in bytes.
        bytes_in_flight_max => limits.bytes_in_flight_max, 64 << 10, 4096 * MIB;
        /// Maximum size of the calls in flight on all connections, in bytes.
        bytes_in_flight_total_max => limits.bytes_in_flight_total_max, MIB, 65_536 * MIB, NextStart;
        /// Maximum memory of one call for what it reads, holds and returns, in bytes. Beyond it the call is refused with
        /// RESPONSE_TOO_LARGE.
        call_memory_bytes_max => limits.call_memory_bytes_max, MIB, 65_536 * MIB;
        /// Maximum memory of the calls of one connection, in bytes. Beyond it a call is refused with
        /// RESOURCE_EXHAUSTED and may be repeated. The first MiB of each call does not count.
        connection_memory_bytes_max => limits.connection_memory_bytes_max, MIB, 65_536 * MIB;
        /// Maximum memory of the calls of all connections, in bytes. Beyond it a call is refused with
        /// RESOURCE_EXHAUSTED and may be repeated. The first MiB of each call does not count.
        memory_bytes_max => limits.memory_bytes_max, MIB, 65_536 * MIB, NextStart;
        /// Maximum number of connections. At the limit the daemon closes the oldest connection that has not
        /// completed a call.
        connections_max => limits.connections_max, 1, 65_536, NextStart;
        /// Time limit from accept to the Hello, or to the first byte of another transport, in milliseconds.
        handshake_timeout_ms => limits.handshake_timeout_ms, 10, 600_000;
        /// Time limit from the first byte of a frame to its last, in milliseconds.
        read_timeout_ms => limits.read_timeout_ms, 10, 600_000;
        /// Time limit for a peer to read a reply, in milliseconds.
        write_timeout_ms => limits.write_timeout_ms, 10, 600_000;
        /// Maximum number of writes per second on one connection.
        writes_per_second_max => limits.writes_per_second_max, 1, 1_000_000_000;
        /// Time limit for calls in flight when the daemon stops, in milliseconds.
        shutdown_timeout_ms => limits.shutdown_timeout_ms, 0, 600_000, NextStart;
    }
}

section! {
    /// `[checkpoints]`: limits for checkpoints.
    CheckpointsTable "checkpoints" AtOnce {
        /// Maximum stored size of one checkpoint, in bytes.
        checkpoint_bytes_max => checkpoints.checkpoint_bytes_max, 1024, 64 * MIB;
        /// Maximum stored size of the checkpoints of one session, in bytes.
        session_bytes_max => checkpoints.session_bytes_max, 1024, u64::MAX;
        /// Maximum stored size of all checkpoints, in bytes.
        total_bytes_max => checkpoints.total_bytes_max, 1024, u64::MAX;
        /// Maximum number of checkpoints of one session. Beyond it the oldest ones without a name or tag are
        /// deleted.
        per_session_max => checkpoints.per_session_max, 1, 1_000_000;
        /// Share of a limit from which replies carry a warning, in percent.
        warn_percent => checkpoints.warn_percent, 1, 100;
        /// Share of `total_bytes_max` from which unnamed checkpoints of inactive sessions are deleted, in
        /// percent.
        clean_percent => checkpoints.clean_percent, 1, 100;
        /// A session is inactive when it was not read or written for this many days.
        inactive_days => checkpoints.inactive_days, 0, 36_500;
    }
}

section! {
    /// `[documents]`: ingestion of files.
    DocumentsTable "documents" NextStart {
        /// Maximum size of an ingested file, in bytes.
        file_bytes_max => documents.reading.file_bytes, 1024, 1024 * MIB;
        /// Maximum number of words in a chunk.
        chunk_words => documents.sizes.words, 8, 10_000;
        /// Number of sentences that the next chunk of the same section repeats.
        chunk_overlap => documents.sizes.overlap, 0, 100;
    }
}

section! {
    /// `[retention]`: automatic forgetting.
    RetentionTable "retention" AtOnce {
        /// Days after its last event when a closed session is forgotten; 0 keeps it.
        closed_sessions_days => retention.closed_sessions_days, 0, 36_500;
        /// Days without a read or a write after which a session is forgotten; 0 keeps it.
        inactive_sessions_days => retention.inactive_sessions_days, 0, 36_500;
        /// Days after which the text of a document is forgotten once it was replaced, or its file or source
        /// was removed; 0 keeps it.
        replaced_documents_days => retention.replaced_documents_days, 0, 36_500;
        /// Days without a read or a write of their session after which results over 4 KiB that hooks recorded are
        /// forgotten; 0 keeps them. What was done, with which files and exit status, stays.
        captured_results_days => retention.captured_results_days, 0, 36_500;
    }
}

section! {
    /// `[sessions]`: session expiry and metrics.
    SessionsTable "sessions" AtOnce {
        /// Time without an event after which a session expires, in milliseconds. A write revives it.
        expire_after_ms => sessions.expire_after_ms, 1000, 3_153_600_000_000;
        /// Default window of the metrics, in milliseconds.
        metrics_keep_ms => sessions.metrics_keep_ms, 1000, 31_536_000_000;
    }
}

/// `[packs]`: pruning of sessions, and the texts of packs.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct PacksTable {
    prune_automatically: bool,
    text_days: Option<u64>,
}

/// A hundred years.
const TEXT_DAYS_MAX: u64 = 36_500;

impl PacksTable {
    const SETTINGS: &[Setting] = &[
        Setting {
            key: "packs.prune_automatically",
            description: "Whether a session is pruned automatically once its messages exceed the token limit of the \
                strategy.",
            takes: ValueType::Flag,
            acts: EffectTime::NextStart,
            default: |config| Some(config.packs.prune_automatically.to_string()),
        },
        Setting {
            key: "packs.text_days",
            description: "Days for which the texts of packs are kept as models received them; 0 keeps none. What a \
                pack rests on stays.",
            takes: ValueType::Whole {
                least: 0,
                most: TEXT_DAYS_MAX,
            },
            acts: EffectTime::NextStart,
            default: |config| Some(config.packs.text_days.to_string()),
        },
    ];

    fn apply(&self, room: &mut packs::PackSettings) -> Result<(), Error> {
        room.prune_automatically = self.prune_automatically;
        set(
            &mut room.text_days,
            "text_days",
            self.text_days,
            0,
            TEXT_DAYS_MAX,
        )
    }
}

/// `[layers]`: the word lists that assign keys to layers.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LayersTable {
    critical: Option<Vec<String>>,
    important: Option<Vec<String>>,
    useful: Option<Vec<String>>,
    ephemeral: Option<Vec<String>>,
}

const CRITICAL: &str = "Words that make a key critical; replaces the built-in list.";
const IMPORTANT: &str = "Words that make a key important; replaces the built-in list.";
const USEFUL: &str = "Words that make a key useful; replaces the built-in list.";
const EPHEMERAL: &str = "Words that make a key ephemeral; replaces the built-in list.";

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
        description: &'static str,
        default: fn(&Config) -> Option<String>,
    ) -> Setting {
        Setting {
            key,
            description,
            takes: ValueType::Texts,
            acts: EffectTime::AtOnce,
            default,
        }
    }

    fn apply(self, words: &mut checkpoints::LayerWords) -> Result<(), Error> {
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
