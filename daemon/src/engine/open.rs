//! From a folder to a running engine: creation, recovery that examines the journals first, proof of the durable
//! watermark, and views behind or ahead of the log.

mod error;
mod folder;
mod forgetting;
mod salvaging;
mod seals;
mod untouched;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, Semaphore};

pub use error::OpenError;
pub use folder::DataFolder;
use salvaging::{is_damage, open_or_salvage};
pub use salvaging::{mark_unreadable, salvage_now};
pub use seals::{SealCheck, SealedLog, key as seal_key, newest_forgetting, seal};
use untouched::FilePart;
pub(super) use untouched::UntouchedMark;

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
use crate::store::journal::JournalItem;
use crate::store::recovery::{
    self, CutPolicy, Damage, RecoveryPaths, RecoveryReport, RecoveryScan,
};
use crate::store::seal::{ForgettingCopies, Sealer};
use crate::store::watermark::{self, DurableHead, WatermarkFile};
use crate::store::{Error, FORMAT_VERSION, Keyspace, Store, StoreId, creation, salvage};

/// Maximum time that readers may hold the old store while it is reopened.
const DRAIN_MAX: Duration = Duration::from_secs(10);

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
    /// What the seal outside of the data folder says.
    pub seal: SealCheck,
    /// Whether the files are as the last daemon left them.
    pub is_untouched: bool,
    /// What was touched since then, if that is known.
    touched: Vec<FilePart>,
    /// The reason why writes are refused, if any.
    pub damage: Option<String>,
}

impl OpenedStore {
    /// Opens the store in `folder`, making it when there is none; recovers and proves it. If the files of the engine turn
    /// out to be damaged when they are read, what can be read of them becomes a new store.
    ///
    /// # Errors
    /// [`OpenError`] when nothing can be served. Damage is no error: it is in [`OpenedStore::damage`].
    pub fn open(
        folder: &DataFolder,
        fold: &dyn Fold,
        settings: &Settings,
        clock: &Clock,
    ) -> Result<Self, OpenError> {
        let error = match Self::open_once(folder, fold, settings, clock) {
            Err(error) if is_damage(&error) => error,
            done => return done,
        };
        tracing::error!(%error, "the files of the storage engine are damaged");
        let id = Store::identify(&folder.store())?;
        mark_unreadable(folder, id).map_err(|_| error)?;
        Self::open_once(folder, fold, settings, clock)
    }

    fn open_once(
        folder: &DataFolder,
        fold: &dyn Fold,
        settings: &Settings,
        clock: &Clock,
    ) -> Result<Self, OpenError> {
        let dir = folder.store();
        let spaces = keyspaces(fold);
        creation::sweep(&dir)?;
        salvage::finish(&dir)?;
        if !dir.exists() {
            create(folder, &spaces, settings, clock)?;
        }
        let id = Store::identify(&dir)?;
        let seal = SealCheck::of(folder, id, clock)?;
        let touched = seal.mark(folder, id).and_then(|mark| mark.touched());
        let head = WatermarkFile::open(&folder.watermark_path(), id.0);
        let recorded = head.as_ref().ok().map(|(_, recorded)| *recorded);
        let (look, store, lost) = open_or_salvage(folder, id, &spaces, recorded, settings, clock)?;
        let store = store.with_sealer(seal.sealer(id));
        let last = tail_of(&store)?.position;
        forgetting::put_back(folder, &store, fold)?;
        let mut damage = match store.settle_look(look, last.0)? {
            RecoveryReport::Clean => None,
            RecoveryReport::TornTail(cut) => {
                tracing::info!(?cut, "an unfinished last write was cut off");
                None
            }
            RecoveryReport::Damage(found) => Some(describe(&found)),
        };
        damage = damage.or(lost);
        if damage.is_some() {
            // Rows of the log may be missing although their views were flushed long ago.
            replay::clear(&store, fold)?;
        }
        let skipped = replay::catch_up(&store, fold, settings.progress)?;
        damage = damage.or(skipped.describe());
        if damage.is_none() {
            store.empty_retired()?;
        }
        let tail = tail_of(&store)?;
        damage = damage.or(seal.prove(folder, &store, tail)?);
        let head = match head {
            Ok((head, recorded)) => {
                damage = damage.or(prove(&store, tail, recorded)?);
                Some(head)
            }
            Err(watermark::Error::Missing { .. }) if tail.position == Position(0) => Some(
                WatermarkFile::create(&folder.watermark_path(), id.0, durable(tail))?,
            ),
            Err(error) => {
                damage = Some(format!(
                    "{error}; run `lored repair --accept` once `lored verify` has shown that \
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
            seal,
            is_untouched: touched.as_ref().is_some_and(Vec::is_empty),
            touched: touched.unwrap_or_default(),
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
        let store_id = self.store.id();
        if let Some(left) = self.seal.mark(&folder, store_id) {
            left.remove();
            untouched::settle(&folder, &self.touched);
        }
        // A damaged store is verified again at each start.
        let mark = match &self.damage {
            Some(_) => None,
            None => self.seal.mark(&folder, store_id),
        };
        let (seal, sealer) = match &self.damage {
            Some(_) => (None, self.store.shared_sealer()),
            None => self.seal.in_force(&self.store, self.tail, &folder, &clock),
        };
        let store = self.store.with_sealer(sealer.clone());
        if let Some(reason) = self.damage {
            tracing::error!(%reason, "writes are refused");
            health.set(WriteState::Damaged { reason });
        }
        hold_reserve(&folder, settings);
        let copies = seal
            .is_some()
            .then(|| ForgettingCopies::of(&folder.seals, store_id));
        let sync_stage = Arc::new(SyncStage::new(self.head, seal, copies));
        let published = sync_stage.published.subscribe();
        sync_stage.open(store.clone(), self.tail);
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
            freed_more: Notify::new(),
            stopping: AtomicBool::new(false),
            rewritten: Mutex::default(),
        });
        let writer = Writer {
            store: Some(store),
            sealer: sealer.clone(),
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
            rebuilding: None,
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
            durable: settings.is_durable(),
            in_memory: settings.in_memory,
            compactor,
            sealer,
            is_untouched: self.is_untouched,
            is_read: AtomicBool::new(false),
            mark,
            threads,
        })
    }
}

/// Examines the journals before the storage engine opens and truncates them.
fn look(
    folder: &DataFolder,
    recorded: Option<DurableHead>,
    clock: &Clock,
    policy: CutPolicy,
) -> Result<RecoveryScan, recovery::Error> {
    let (engine, damaged) = (Store::engine_dir(&folder.store()), folder.damaged());
    let site = RecoveryPaths {
        store: &engine,
        damaged: &damaged,
        unix_seconds: clock.now() / 1_000_000,
    };
    let head = recorded.map(|head| head.position);
    let positions = |item: &JournalItem<'_>| record_positions(item.key, item.value);
    recovery::scan_or_cut(&site, head, positions, policy)
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
    let key = seals::key(folder, clock)?;
    seals::refuse_vanished(folder, &key)?;
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
    // A store that is killed before this has no event, and gets its seal at the next start.
    seals::seal(folder, &key, id, &SealedLog::created(), clock)?;
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
    if tail.position.0 < recorded.position {
        return Ok(Some(format!(
            "positions {} to {} were acknowledged and are missing from the log",
            tail.position.0 + 1,
            recorded.position
        )));
    }
    missing(store, recorded.position, &recorded.link)
}

/// Returns a description when the log has another event at a position than the one with this link. Links are compared
/// as they are stored: damage of the event itself is reported when it is read.
fn missing(store: &Store, position: u64, link: &[u8; 32]) -> Result<Option<String>, Error> {
    if position == 0 {
        return Ok(None);
    }
    Ok(match Log::new(store).at(Position(position)) {
        Ok(Some(event)) if event.link.0 == *link => None,
        Err(error @ Error::Corrupt { .. }) => Some(error.to_string()),
        Err(error) => return Err(error),
        Ok(_) => Some(format!(
            "the event at position {position} is not the one that was acknowledged"
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
    sealer: Option<Arc<Sealer>>,
    acknowledged: Tail,
) -> Result<(Store, Tail), OpenError> {
    sync_stage.close();
    drop(sync_stage.chore());
    let dir = folder.store();
    let deadline = Instant::now() + DRAIN_MAX;
    let store = loop {
        match Store::open(&dir, &keyspaces(fold), &settings.store) {
            Ok((store, _)) => break store.with_sealer(sealer),
            Err(Error::Locked(_)) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(error) => return Err(error.into()),
        }
    };
    let skipped = replay::catch_up(&store, fold, settings.progress)?;
    let tail = tail_of(&store)?;
    if let Some(damage) = skipped.describe() {
        return Err(OpenError::Lost(damage));
    }
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
