//! From a folder to a running engine: creation, recovery that examines the journals first, proof of the durable
//! watermark, and views behind or ahead of the log.

mod error;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

pub use error::OpenError;

use super::compaction::Compactor;
use super::fault::ThreadGuard;
use super::handle::Engine;
use super::health::{Health, WriteState};
use super::replay;
use super::sync::{self, SyncStage};
use super::time::LogTime;
use super::writer::Writer;
use super::{Fold, PublishedState, Settings, Tail};
use crate::clock::Clock;
use crate::log::{INDEX, KEPT, Log, Position, record_positions};
use crate::store::ballast::BallastFile;
use crate::store::recovery::{self, Damage, RecoveryPaths, RecoveryReport, RecoveryScan};
use crate::store::watermark::{self, DurableHead, WatermarkFile};
use crate::store::{Error, FORMAT_VERSION, Keyspace, Store, StoreId, creation};

/// Maximum time that readers may hold the old store while it is reopened.
const DRAIN_MAX: Duration = Duration::from_secs(10);

/// The paths of a data folder.
#[derive(Clone, Debug)]
pub struct DataFolder {
    /// The data folder.
    pub data: PathBuf,
}

impl DataFolder {
    /// Returns the store's folder.
    #[must_use]
    pub fn store(&self) -> PathBuf {
        self.data.join("store")
    }

    /// Returns the path of the durable watermark, which is outside the store's folder.
    #[must_use]
    pub fn watermark_path(&self) -> PathBuf {
        self.data.join("head")
    }

    /// Returns the folder of blobs.
    #[must_use]
    pub fn blobs(&self) -> PathBuf {
        self.data.join("blobs")
    }

    /// Returns the path of the sessions' last access times.
    #[must_use]
    pub fn access(&self) -> PathBuf {
        self.data.join("access")
    }

    /// Returns the folder of the projects' context files.
    #[must_use]
    pub fn projects(&self) -> PathBuf {
        self.data.join("projects")
    }

    /// Returns the folder of the search indexes, which follow the log and are rebuilt when missing.
    #[must_use]
    pub fn index(&self) -> PathBuf {
        self.data.join("index")
    }

    /// Returns the path of the entity recogniser's log position; when it is missing, the log is read again.
    #[must_use]
    pub fn followed(&self) -> PathBuf {
        self.data.join("entities.followed")
    }

    /// Returns the folder of added models.
    #[must_use]
    pub fn models(&self) -> PathBuf {
        self.data.join("models")
    }

    /// Returns the path of the log readers' cursors.
    #[must_use]
    pub fn cursors(&self) -> PathBuf {
        self.data.join("cursors")
    }

    /// Returns the folder for copies of damaged journals.
    #[must_use]
    pub fn damaged(&self) -> PathBuf {
        self.data.join("damaged")
    }

    /// Returns the scratch folder where a verification folds the log again.
    #[must_use]
    pub fn scratch(&self) -> PathBuf {
        self.data.join("scratch")
    }
}

/// Lists every keyspace of a store: the log's and the folds'.
pub(super) fn keyspaces(fold: &dyn Fold) -> Vec<Keyspace> {
    let mut spaces = KEPT.to_vec();
    spaces.push(INDEX);
    spaces.extend(fold.keyspaces().iter().filter(|space| **space != INDEX));
    spaces
}

/// A store that was opened and checked, before any thread runs.
pub struct OpenedStore {
    /// The open store.
    pub store: Store,
    /// End of the log.
    pub tail: Tail,
    /// The watermark file, if it may be written.
    pub head: Option<WatermarkFile>,
    /// The reason why writes are refused, if any.
    pub damage: Option<String>,
}

impl OpenedStore {
    /// Opens the store in `folder`, making it when there is none; recovers and proves it.
    ///
    /// # Errors
    /// [`OpenError`] when nothing can be served. Damage is no error: it is in [`OpenedStore::damage`].
    pub fn open(
        folder: &DataFolder,
        fold: &dyn Fold,
        settings: &Settings,
        clock: &Clock,
    ) -> Result<Self, OpenError> {
        let dir = folder.store();
        let spaces = keyspaces(fold);
        creation::sweep(&dir)?;
        if !dir.exists() {
            create(folder, &spaces, settings, clock)?;
        }
        let id = Store::identify(&dir)?;
        let head = WatermarkFile::open(&folder.watermark_path(), id.0);
        let recorded = head.as_ref().ok().map(|(_, recorded)| *recorded);
        let look = look(folder, recorded, clock)?;
        let (store, _) = Store::open(&dir, &spaces, &settings.store)?;
        let last = tail_of(&store)?.position;
        let mut damage = match store.settle_look(look, last.0)? {
            RecoveryReport::Clean => None,
            RecoveryReport::TornTail(cut) => {
                tracing::info!(?cut, "an unfinished last write was cut off");
                None
            }
            RecoveryReport::Damage(found) => Some(describe(&found)),
        };
        if damage.is_some() {
            // Rows of the log may be missing although their views were flushed long ago.
            replay::clear(&store, fold)?;
        }
        replay::catch_up(&store, fold, settings.progress)?;
        if damage.is_none() {
            store.empty_retired()?;
        }
        let tail = tail_of(&store)?;
        let head = match head {
            Ok((head, recorded)) => {
                damage = damage.or(prove(&store, tail, recorded)?);
                Some(head)
            }
            Err(watermark::Error::Missing(_)) if tail.position == Position(0) => Some(
                WatermarkFile::create(&folder.watermark_path(), id.0, durable(tail))?,
            ),
            Err(error) => {
                damage = Some(format!(
                    "{error}; run `lored repair --accept-head` once `lored verify` has shown that \
                     nothing is missing"
                ));
                None
            }
        };
        Ok(Self {
            store,
            tail,
            // A watermark beyond the end of the log is retained unchanged, because it is the proof of the loss.
            head: head.filter(|_| damage.is_none()),
            damage,
        })
    }

    /// Upgrades an older store to this format, unless it is damaged. If that fails, for example on a full disk, the
    /// store is served anyway, because both formats open. Read-only commands do not upgrade, so older programs can
    /// still open the store.
    pub fn upgrade(&self, folder: &DataFolder) {
        if self.damage.is_some() {
            return;
        }
        match Store::upgrade(&folder.store()) {
            Ok(true) => tracing::info!("the store was brought to format {FORMAT_VERSION}"),
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "the store keeps its older format for now"),
        }
    }

    /// Starts the writer and the sync thread; from then on the store has this format.
    ///
    /// # Errors
    /// When the system cannot start a thread.
    pub fn start(
        self,
        folder: DataFolder,
        fold: Arc<dyn Fold>,
        settings: &Settings,
        clock: Arc<Clock>,
    ) -> Result<Engine, OpenError> {
        self.upgrade(&folder);
        let health = Health::default();
        if let Some(reason) = self.damage {
            tracing::error!(%reason, "writes are refused");
            health.set(WriteState::Damaged { reason });
        }
        hold_reserve(&folder, settings);
        let sync_stage = Arc::new(SyncStage::new(self.head));
        let published = sync_stage.published.subscribe();
        let store_id = self.store.id();
        sync_stage.open(self.store.clone(), self.tail);
        let room_units = (settings.queue_bytes_max / 1024).max(64);
        let (queue, jobs) = channel();
        let (groups, committed) = channel();
        let compactor = Arc::new(Compactor {
            queue: queue.clone(),
            sync_stage: Arc::clone(&sync_stage),
            health: health.clone(),
            folder: folder.clone(),
            disk_free_bytes_min: settings.disk_free_bytes_min,
            freed_bytes_min: settings.compact_freed_bytes_min,
            idle: Duration::from_millis(settings.flush_idle_ms),
            freed: AtomicU64::new(0),
            stopping: AtomicBool::new(false),
            rewritten: Mutex::default(),
        });
        let writer = Writer {
            store: Some(self.store),
            folder,
            fold,
            clock: Arc::clone(&clock),
            settings: settings.clone(),
            health: health.clone(),
            sync_stage: Arc::clone(&sync_stage),
            queue: jobs,
            ready: VecDeque::new(),
            sync: groups,
            tail: self.tail,
            time: LogTime::default(),
            stopping: false,
            emptying: None,
            rewriting: None,
        };
        if health.get() == WriteState::Open {
            // Reports a full disk before the first refusal.
            writer.look_at_space();
        }
        let flush_idle = Duration::from_millis(settings.flush_idle_ms);
        let synced = queue.clone();
        let fault = ThreadGuard::writer(health.clone());
        let sync_fault = ThreadGuard::sync(health.clone(), queue.clone());
        let threads = vec![
            std::thread::Builder::new()
                .name("writer".to_owned())
                .spawn(move || {
                    let _fault = fault;
                    writer.run();
                })?,
            std::thread::Builder::new()
                .name("sync".to_owned())
                .spawn(move || {
                    let _fault = sync_fault;
                    sync::run(&committed, &synced, &sync_stage, flush_idle);
                })?,
        ];
        Ok(Engine {
            queue,
            room: Arc::new(Semaphore::new(room_units)),
            room_units,
            published,
            health,
            clock,
            store_id,
            durable: settings.durable,
            compactor,
            threads,
        })
    }
}

/// Examines the journals before the storage engine opens and truncates them.
fn look(
    folder: &DataFolder,
    recorded: Option<DurableHead>,
    clock: &Clock,
) -> Result<RecoveryScan, recovery::Error> {
    let (engine, damaged) = (Store::engine_dir(&folder.store()), folder.damaged());
    let site = RecoveryPaths {
        store: &engine,
        damaged: &damaged,
        unix_seconds: clock.now() / 1_000_000,
    };
    recovery::scan(&site, recorded.map(|head| head.position), |item| {
        record_positions(item.key, item.value)
    })
}

/// Describes damage for a person.
fn describe(found: &[Damage]) -> String {
    let sentences: Vec<String> = found.iter().map(Damage::to_string).collect();
    sentences.join("; ")
}

fn create(
    folder: &DataFolder,
    spaces: &[Keyspace],
    settings: &Settings,
    clock: &Clock,
) -> Result<(), OpenError> {
    // A watermark of an empty store remains when the process is killed between the two steps below.
    match WatermarkFile::peek(&folder.watermark_path()) {
        Ok(recorded) if recorded.position > 0 => {
            return Err(OpenError::Vanished {
                store: folder.store(),
                head: folder.watermark_path(),
                position: recorded.position,
            });
        }
        Ok(_) => {}
        Err(watermark::Error::Io { source, .. })
            if source.kind() == std::io::ErrorKind::NotFound => {}
        // It may be the only proof of acknowledged events, so it is not overwritten.
        Err(source) => {
            return Err(OpenError::VanishedUntold {
                store: folder.store(),
                source,
            });
        }
    }
    let id = StoreId(clock.random());
    creation::create(&folder.store(), |dir| {
        Store::build(dir, id, spaces, &settings.store)?;
        WatermarkFile::create(&folder.watermark_path(), id.0, durable(Tail::default())).map_err(
            |error| Error::File {
                what: "creating",
                path: folder.watermark_path(),
                source: std::io::Error::other(error),
            },
        )?;
        Ok(())
    })?;
    Ok(())
}

fn durable(tail: Tail) -> DurableHead {
    DurableHead {
        position: tail.position.0,
        link: tail.link.0,
    }
}

/// Reads the end of a store's log.
pub(super) fn tail_of(store: &Store) -> Result<Tail, Error> {
    Ok(Log::new(store)
        .last()?
        .map_or_else(Tail::default, |last| Tail {
            position: last.position(),
            link: last.link,
            time: last.header.time,
        }))
}

/// Checks that the log has the recorded watermark's position and link; returns a description of the loss.
fn prove(store: &Store, tail: Tail, recorded: DurableHead) -> Result<Option<String>, Error> {
    if recorded.position == 0 {
        return Ok(None);
    }
    if tail.position.0 < recorded.position {
        return Ok(Some(format!(
            "positions {} to {} were acknowledged and are missing from the log",
            tail.position.0 + 1,
            recorded.position
        )));
    }
    let at_head = Log::new(store).at(Position(recorded.position))?;
    Ok(match at_head {
        Some(event) if event.link.0 == recorded.link => None,
        _ => Some(format!(
            "the event at position {} is not the one that was acknowledged",
            recorded.position
        )),
    })
}

fn hold_reserve(folder: &DataFolder, settings: &Settings) {
    if let Err(error) = BallastFile::new(&folder.data, settings.reserve_bytes).take() {
        tracing::warn!(%error, "no space could be reserved for recovery from a full disk");
    }
}

/// Reopens the store within the process, after a full disk or an emptied journal. Every handle of the old store is
/// dropped first, because of the lock. The store is served, and the watermark written, only when all acknowledged
/// events are present.
pub(super) fn reopen(
    folder: &DataFolder,
    fold: &dyn Fold,
    settings: &Settings,
    sync_stage: &SyncStage,
    acknowledged: Tail,
) -> Result<(Store, Tail), OpenError> {
    sync_stage.close();
    drop(sync_stage.chore());
    let dir = folder.store();
    let deadline = Instant::now() + DRAIN_MAX;
    let store = loop {
        match Store::open(&dir, &keyspaces(fold), &settings.store) {
            Ok((store, _)) => break store,
            Err(Error::Locked(_)) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(error) => return Err(error.into()),
        }
    };
    replay::catch_up(&store, fold, settings.progress)?;
    let tail = tail_of(&store)?;
    if let Some(lost) = prove(&store, tail, durable(acknowledged))? {
        return Err(OpenError::Lost(lost));
    }
    sync_stage.open(store.clone(), tail);
    hold_reserve(folder, settings);
    Ok((store, tail))
}

impl SyncStage {
    /// Publishes this store's state.
    pub(super) fn open(&self, store: Store, tail: Tail) {
        let state = PublishedState {
            snapshot: store.snapshot(),
            tail,
        };
        self.hold(Some(store));
        self.record_head(tail);
        self.publish(state);
    }

    /// Releases the store; readers wait until it is reopened.
    pub(super) fn close(&self) {
        self.hold(None);
        self.published.send_replace(None);
    }
}
