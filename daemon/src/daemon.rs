//! The running daemon: from settings and places to a socket that answers, and back to rest.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, UNIX_EPOCH};

use lore::places::{PlaceError, Places, ensure_folder};
use tokio::net::UnixListener;
use tokio_util::sync::CancellationToken;

use crate::api::{Budget, Dispatch, Door, Doors};
use crate::cache::Cache;
use crate::clock::Clock;
use crate::config::Config;
use crate::engine::{DataFolder, OpenError, Opened};
use crate::log::index;
use crate::operation::Context;
use crate::rooms::Rooms;
use crate::service::{Lock, LockError, SocketError, bind};
use crate::store::{self, Blobs};

/// How often idle work is looked at.
const IDLE_TICK: Duration = Duration::from_secs(30);
/// How often it is looked whether enough was removed to give its space back.
const COMPACT_TICK: Duration = Duration::from_secs(2);
/// How long after a compaction that could not do all the next one may begin by itself.
const COMPACT_AGAIN: Duration = Duration::from_secs(600);

/// Why the daemon did not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A folder is not ours alone.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// Another daemon serves.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The store cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Large bodies cannot be kept.
    #[error(transparent)]
    Blobs(#[from] store::Error),
    /// The socket cannot be listened on.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// A write failed while serving; a restart recovers.
    #[error("a write to the disk failed; a restart recovers what was acknowledged")]
    WriteFailed,
}

/// A daemon that has its store open and its socket bound, and answers nobody yet.
pub struct Daemon {
    context: Arc<Context>,
    listener: UnixListener,
    limits: Arc<crate::api::Limits>,
    socket: PathBuf,
    _lock: Lock,
}

impl Daemon {
    /// Takes the lock, recovers the store, binds the socket.
    ///
    /// # Errors
    /// [`Error`]: nothing was changed that the next start would miss.
    pub fn open(config: &Config, places: &Places) -> Result<Self, Error> {
        ensure_folder(&places.data)?;
        let lock = Lock::take(&places.daemon_lock())?;
        let folder = DataFolder {
            data: places.data.clone(),
        };
        let fold = Arc::new(Rooms);
        let clock = Arc::new(Clock::System);
        let started = clock.now();
        let opened = Opened::open(&folder, &*fold, &config.engine, &clock)?;
        let blobs = Blobs::open(&folder.blobs())?;
        let engine = opened.start(folder.clone(), fold.clone(), &config.engine, clock)?;
        let context = Arc::new(Context {
            engine,
            blobs,
            fold,
            cache: Cache::new(config.cache_bytes_max),
            folder,
            socket: places.socket.clone(),
            started,
            clients: AtomicU64::new(0),
        });
        Ok(Self {
            context,
            listener: bind(&places.socket)?,
            limits: Arc::new(config.limits.clone()),
            socket: places.socket.clone(),
            _lock: lock,
        })
    }

    /// What the handlers share; for tests and the tour.
    #[must_use]
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Answers until told to stop, then finishes what is in flight.
    ///
    /// # Errors
    /// [`Error::WriteFailed`] when the store takes no more writes: the daemon is to be restarted.
    pub async fn run(self, stop: CancellationToken) -> Result<(), Error> {
        let doors = Arc::new(Doors::new(Door {
            dispatch: Dispatch::new(Arc::clone(&self.context)),
            budget: Budget::new(self.limits.bytes_in_flight_total_max),
            limits: self.limits,
            stop: stop.clone(),
        }));
        let idle = tokio::spawn(idle_work(Arc::clone(&self.context)));
        let compaction = tokio::spawn(compact_when_due(Arc::clone(&self.context)));
        let health = self.context.engine.health().clone();
        let mut serving = std::pin::pin!(doors.serve(self.listener));
        let failed = tokio::select! {
            () = &mut serving => false,
            () = health.failed() => {
                // Whoever waits for an answer is told before the process ends.
                stop.cancel();
                serving.await;
                true
            }
        };
        idle.abort();
        compaction.abort();
        // The socket goes before the lock: a new daemon never finds its own removed.
        if let Err(error) = std::fs::remove_file(&self.socket) {
            tracing::debug!(%error, "the socket was not removed");
        }
        if failed {
            Err(Error::WriteFailed)
        } else {
            Ok(())
        }
    }
}

/// What can wait until nothing happens: derived data is let go, the journal is emptied, blobs without
/// an event are swept.
async fn idle_work(context: Arc<Context>) {
    let mut seen = context.engine.position();
    let mut swept = None;
    loop {
        tokio::time::sleep(IDLE_TICK).await;
        let now = context.engine.position();
        if now != seen {
            seen = now;
            continue;
        }
        context.cache.clear();
        if swept == Some(now) {
            continue;
        }
        swept = Some(now);
        if let Err(error) = context.engine.rest().await {
            tracing::warn!(%error, "the journal was not emptied while idle");
        }
        let shared = Arc::clone(&context);
        let Ok(state) = context.engine.read().await else {
            continue;
        };
        let result = tokio::task::spawn_blocking(move || {
            let now = UNIX_EPOCH + Duration::from_micros(shared.engine.clock().now());
            shared
                .blobs
                .sweep(now, |hash| index::is_blob_named(&state.snapshot, hash))
        })
        .await;
        match result {
            Ok(Ok(0)) | Err(_) => {}
            Ok(Ok(count)) => tracing::info!(count, "blobs without an event were removed"),
            Ok(Err(error)) => tracing::warn!(%error, "blobs were not swept"),
        }
    }
}

/// Gives disk space back by itself, once enough was removed.
async fn compact_when_due(context: Arc<Context>) {
    loop {
        tokio::time::sleep(COMPACT_TICK).await;
        if !context.engine.is_compaction_due() {
            continue;
        }
        match context.engine.compact().await {
            Ok(done) if done.warnings.is_empty() => continue,
            Ok(done) => tracing::warn!(?done.warnings, "not all disk space was given back"),
            Err(error) => tracing::warn!(%error, "no disk space was given back"),
        }
        tokio::time::sleep(COMPACT_AGAIN).await;
    }
}
