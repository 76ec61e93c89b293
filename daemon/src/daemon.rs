//! The running daemon: from settings and places to a socket that answers, and back to rest.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use lore::places::{PlaceError, Places, ensure_folder};
use tokio::net::UnixListener;
use tokio_util::sync::CancellationToken;

use crate::api::{Budget, Dispatch, Door, Doors};
use crate::audit::Cursors;
use crate::cache::Cache;
use crate::clock::Clock;
use crate::config::Config;
use crate::engine::{DataFolder, OpenError, Opened};
use crate::operation::{Context, Extensions};
use crate::retrieval::models::{ModelPlaces, Models};
use crate::rooms::Rooms;
use crate::service::{Lock, LockError, SocketError, bind};
use crate::sessions::LastAccess;
use crate::store::{self, Blobs};
use crate::upstream::Resolvers;
use crate::{checkpoints, chores, documents, entities, forgetting, projects, search};

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
        let mut extensions = Extensions::default();
        if !config.resolvers.is_empty() {
            extensions = extensions.with(Resolvers::new(config.resolvers.clone()));
        }
        let model_places = ModelPlaces::of_this_program(&config.search, folder.models());
        let models = Arc::new(Models::find(&model_places, &config.search));
        let context = Arc::new(Context {
            engine,
            blobs,
            fold,
            cache: Cache::new(config.cache_bytes_max),
            extensions: extensions
                .with(LastAccess::open(folder.access()))
                .with(Cursors::open(folder.cursors()))
                .with(config.sessions)
                .with(config.packs)
                .with(entities::Room::new(places.packs()))
                .with(projects::Room::new(
                    config.projects.clone(),
                    folder.projects(),
                    places.templates(),
                ))
                .with(documents::Room::new(config.documents.clone()))
                .with(search::Room::new(
                    search::Limits {
                        second_tier_chunks_max: usize::try_from(
                            config.search.second_tier_chunks_max,
                        )
                        .unwrap_or(usize::MAX),
                        ..search::Limits::default()
                    },
                    folder.index(),
                    models,
                ))
                .with(forgetting::Erasing::default())
                .with(checkpoints::Room {
                    limits: config.checkpoints.clone(),
                    words: config.words.clone(),
                    ..checkpoints::Room::default()
                }),
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
        let chores = chores::begin(&self.context);
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
        drop(chores);
        if let Some(room) = self.context.extensions.get::<search::Room>() {
            room.stop();
        }
        if let Some(resolvers) = self.context.extensions.get::<Resolvers>() {
            resolvers.close().await;
        }
        if let Some(access) = self.context.extensions.get::<LastAccess>()
            && let Err(error) = access.write(self.context.engine.clock().now())
        {
            tracing::warn!(%error, "the last access to sessions was not written down");
        }
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
