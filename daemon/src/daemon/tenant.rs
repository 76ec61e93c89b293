//! One user's memory: a store, and everything that works on it.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use lore::paths::Paths;
use lored_models::ModelPool;
use lored_redact::Redactor;
use tokio::task::JoinSet;

use super::Error;
use crate::cache::Cache;
use crate::clock::{Clock, Micros};
use crate::config::Config;
use crate::engine::{DataFolder, OpenedStore};
use crate::log_admin::{Cursors, RetentionOutcome};
use crate::operation::{Context, Extensions, TenantDirectory};
use crate::privileged_init::PrivilegedInit;
use crate::projections::Projections;
use crate::reload::ReloadableSettings;
use crate::sessions::AccessTimes;
use crate::store::Blobs;
use crate::upstream::Resolvers;
use crate::{background_jobs, checkpoints, documents, entities, forgetting, projects, search};

/// How long is waited for whoever still works on a namespace that nobody uses, and how often it is looked.
const REST_MAX: Duration = Duration::from_secs(1);
const REST_LOOK_EVERY: Duration = Duration::from_millis(1);

/// What all namespaces of a daemon have in common.
pub struct Shared {
    /// The settings that the daemon was started with.
    pub config: Config,
    /// Those that may be replaced.
    pub lives: ReloadableSettings,
    /// What embeds texts.
    pub models: Arc<ModelPool>,
    /// Where everything is; the data folder is the namespace's own.
    pub places: Paths,
    /// What tells the time; tests move it.
    pub clock: Arc<Clock>,
    /// When the daemon started.
    pub started: Micros,
    /// What the program did before its first thread.
    pub prepared: PrivilegedInit,
    /// Whether files of its users are read, watched and written, and other servers asked: not where the
    /// users are others than the one who runs the daemon.
    pub reaches_files: bool,
}

/// A store that is open, with all that is done while nobody asks.
pub struct Tenant {
    context: Arc<Context>,
    background_jobs: JoinSet<()>,
}

impl Tenant {
    /// Recovers the store in a folder, which is ours alone. `neighbours`: where each user has one.
    ///
    /// # Errors
    /// [`Error`]: nothing was changed that the next start would miss.
    pub fn open(
        shared: &Shared,
        folder: DataFolder,
        tenant_directory: Option<TenantDirectory>,
    ) -> Result<Self, Error> {
        let (config, lives, places) = (&shared.config, &shared.lives, &shared.places);
        let fold = Arc::new(Projections);
        let clock = Arc::clone(&shared.clock);
        let opened = OpenedStore::open(&folder, &*fold, &config.engine, &clock)?;
        let blobs = Blobs::open(&folder.blobs())?;
        let end = opened.tail.position;
        let is_damaged = opened.damage.is_some();
        let now = clock.now();
        let engine = opened.start(folder.clone(), fold.clone(), &config.engine, clock)?;
        entities::follow::PositionFile::of(&folder, engine.store_id()).check(end);
        let cursors = Cursors::open(folder.cursors());
        if !is_damaged {
            cursors.take_back(engine.store_id(), end);
        }
        let mut extensions = Extensions::default();
        if shared.reaches_files && !config.resolvers.is_empty() {
            let resolvers =
                Resolvers::new(config.resolvers.clone(), shared.prepared.broker.clone());
            extensions = extensions.with(resolvers);
        }
        if let Some(sandbox) = shared.prepared.sandbox.clone() {
            extensions = extensions.with(sandbox);
        }
        if let Some(tenant_directory) = tenant_directory {
            extensions = extensions.with(tenant_directory);
        }
        let chunks_max = usize::try_from(config.search.second_tier_chunks_max);
        let search_limits = search::Limits {
            second_tier_chunks_max: chunks_max.unwrap_or(usize::MAX),
            ..search::Limits::default()
        };
        let models = Arc::clone(&shared.models);
        let projects = projects::ProjectState::new(
            config.projects.clone(),
            folder.projects(),
            places.templates(),
        );
        let projects = match shared.reaches_files {
            true => projects,
            false => projects.blind(),
        };
        let extensions = extensions
            .with(AccessTimes::open(folder.access(), end.0 == 0, now))
            .with(cursors)
            .with(lives.sessions.clone())
            .with(lives.last_read.clone())
            .with(config.packs)
            .with(entities::Entities::new(places.packs()))
            .with(projects)
            .with(documents::Documents::new(config.documents.clone()))
            .with(search::SearchIndexes::new(
                search_limits,
                folder.index(),
                models,
                end,
            ))
            .with(forgetting::EraseGuard::default())
            .with(lives.retention.clone())
            .with(RetentionOutcome::default())
            .with(checkpoints::Checkpoints {
                limits: lives.checkpoints.clone(),
                words: lives.words.clone(),
                ..checkpoints::Checkpoints::default()
            });
        let context = Arc::new(Context {
            engine,
            blobs,
            fold,
            cache: Cache::new(config.cache_bytes_max),
            extensions,
            redactor: Redactor::new(lives.redaction.clone()),
            folder,
            socket: places.socket.clone(),
            started: shared.started,
            clients: AtomicU64::new(0),
            reaches_files: shared.reaches_files,
        });
        Ok(Self {
            context,
            background_jobs: JoinSet::new(),
        })
    }

    /// What the handlers share.
    #[must_use]
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Begins what is done while nobody asks.
    pub fn begin(&mut self) {
        self.background_jobs = background_jobs::begin(&self.context);
    }

    /// Ends what is done by itself, until it is begun anew. Whether nothing else is at work then: a call that nobody
    /// waits for any more may be, and as long as it is the store cannot be opened again.
    pub async fn come_to_rest(&mut self) -> bool {
        self.background_jobs.shutdown().await;
        self.end_indexing().await;
        let since = Instant::now();
        while Arc::strong_count(&self.context) > 1 {
            if since.elapsed() >= REST_MAX {
                return false;
            }
            tokio::time::sleep(REST_LOOK_EVERY).await;
        }
        true
    }

    /// Ends what is done by itself, and notes what was seen; whoever holds the context still can use it,
    /// and the store is closed with the last of them.
    pub async fn close(mut self) {
        self.background_jobs.abort_all();
        self.end_indexing().await;
        if let Some(resolvers) = self.context.extensions.get::<Resolvers>() {
            resolvers.close().await;
        }
    }

    /// Waits for what the indexes are at, and notes what was seen: not on a thread of the doors.
    async fn end_indexing(&self) {
        let context = Arc::clone(&self.context);
        let ended = tokio::task::spawn_blocking(move || {
            if let Some(room) = context.extensions.get::<search::SearchIndexes>() {
                room.stop();
            }
            if let Some(access) = context.extensions.get::<AccessTimes>()
                && let Err(error) = access.write(context.engine.clock().now())
            {
                tracing::warn!(%error, "the last access to sessions was not written down");
            }
        });
        if let Err(error) = ended.await {
            tracing::error!(%error, "what is done by itself did not end in peace");
        }
    }
}
