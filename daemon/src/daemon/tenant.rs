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
use crate::documents::ingest_worker::IngestWorkers;
use crate::engine::{DataFolder, OpenedStore};
use crate::log_admin::{Cursors, RetentionOutcome};
use crate::operation::{Context, Extensions, TenantDirectory};
use crate::page::PageRequests;
use crate::privileged_init::PrivilegedInit;
use crate::projections::Projections;
use crate::reload::ReloadableSettings;
use crate::sessions::AccessTimes;
use crate::store::Blobs;
use crate::upstream::Resolvers;
use crate::{
    background_jobs, capture, checkpoints, documents, entities, forgetting, privileged_init,
    projects, search, sessions, steps,
};

/// Time to wait for work on an unused tenant to finish, and the polling interval.
const REST_MAX: Duration = Duration::from_secs(1);
const REST_LOOK_EVERY: Duration = Duration::from_millis(1);

fn ingest_workers(prepared: &PrivilegedInit) -> IngestWorkers {
    match (&prepared.broker, privileged_init::ingest_worker()) {
        (Some(broker), Ok(program)) => IngestWorkers::new(Arc::clone(broker), program),
        (None, _) | (_, Err(_)) => IngestWorkers::default(),
    }
}

/// State that all tenants of a daemon share.
pub struct Shared {
    /// Settings at the daemon's start.
    pub config: Config,
    /// Reloadable settings.
    pub lives: ReloadableSettings,
    /// Embedding models.
    pub models: Arc<ModelPool>,
    /// Paths; the data folder is the tenant's.
    pub paths: Paths,
    /// Clock; tests move it.
    pub clock: Arc<Clock>,
    /// Start of the daemon.
    pub started: Micros,
    /// Asks the server of the page for links.
    pub page: PageRequests,
    /// Results of the privileged initialisation, before the first thread.
    pub prepared: PrivilegedInit,
    /// Whether the daemon reads, watches and writes its users' files and calls other servers: not where the users
    /// differ from the user who runs the daemon.
    pub reaches_files: bool,
}

/// An open store with its background jobs.
pub struct Tenant {
    context: Arc<Context>,
    background_jobs: JoinSet<()>,
}

impl Tenant {
    /// Recovers the store in a folder that belongs to the daemon alone. `neighbours`: the directory of all users'
    /// stores.
    ///
    /// # Errors
    /// [`Error`]: no change was made that the next start would miss.
    pub fn open(
        shared: &Shared,
        folder: DataFolder,
        tenant_directory: Option<TenantDirectory>,
    ) -> Result<Self, Error> {
        let (config, lives, paths) = (&shared.config, &shared.lives, &shared.paths);
        let fold = Arc::new(Projections);
        let clock = Arc::clone(&shared.clock);
        let opened = OpenedStore::open(&folder, &*fold, &config.engine, &clock)?;
        let blobs = Blobs::open(&folder.blobs())?;
        let end = opened.tail.position;
        let is_damaged = opened.damage.is_some();
        let now = clock.now();
        let engine = opened.start(folder.clone(), fold.clone(), &config.engine, clock)?;
        entities::follow::PositionFile::of(&folder, engine.store_id()).check(end);
        let indexes_at_start = search::IndexesAtStart {
            end,
            is_untouched: engine.was_untouched(),
        };
        let cursors = Cursors::open(folder.cursors());
        if !is_damaged {
            cursors.take_back(engine.store_id(), end);
        }
        let read_transcripts =
            capture::TranscriptCursors::new(folder.transcripts(), engine.store_id(), end);
        let mut extensions = Extensions::default();
        if let Some(checks) = shared.prepared.health_checks.clone() {
            extensions = extensions.with(checks);
        }
        if shared.reaches_files && !config.resolvers.is_empty() {
            let resolvers =
                Resolvers::new(config.resolvers.clone(), shared.prepared.broker.clone());
            extensions = extensions.with(resolvers);
        }
        if let Some(sandbox) = shared.prepared.sandbox.clone() {
            extensions = extensions.with(sandbox);
        }
        if shared.reaches_files {
            extensions = extensions.with(shared.prepared.mail_roots.clone());
        }
        if let Some(tenant_directory) = tenant_directory {
            extensions = extensions.with(tenant_directory);
        }
        let chunks_max = usize::try_from(config.search.second_tier_chunks_max);
        let search_limits = search::Limits {
            second_tier_chunks_max: chunks_max.unwrap_or(usize::MAX),
            background_share: config.search.background_share,
            ..search::Limits::default()
        };
        let models = Arc::clone(&shared.models);
        let projects = projects::ProjectState::new(
            config.projects.clone(),
            folder.projects(),
            paths.templates(),
        );
        let projects = match shared.reaches_files {
            true => projects,
            false => projects.blind(),
        };
        let extensions = extensions
            .with(AccessTimes::open(folder.access(), end.0 == 0, now))
            .with(cursors)
            .with(read_transcripts)
            .with(config.follow.clone())
            .with(lives.sessions.clone())
            .with(sessions::SharedSteps(steps::shared_attempts))
            .with(sessions::RegisteredProjects(projects::folders))
            .with(lives.last_read.clone())
            .with(config.packs)
            .with(shared.page.clone())
            .with(capture::Capture::new(lives.capture.clone()))
            .with(entities::Entities::new(paths.packs()))
            .with(projects)
            .with(documents::Documents::new(
                config.documents.clone(),
                ingest_workers(&shared.prepared),
            ))
            .with(search::SearchIndexes::new(
                search_limits,
                folder.index(),
                models,
                indexes_at_start,
            ))
            .with(forgetting::EraseGuard::default())
            .with(lives.retention.clone())
            .with(RetentionOutcome::default())
            .with(forgetting::ExaminedSessions::default())
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
            socket: paths.socket.clone(),
            started: shared.started,
            clients: AtomicU64::new(0),
            reaches_files: shared.reaches_files,
        });
        Ok(Self {
            context,
            background_jobs: JoinSet::new(),
        })
    }

    /// Returns the context that the handlers share.
    #[must_use]
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Starts the background jobs.
    pub fn begin(&mut self) {
        self.background_jobs = background_jobs::begin(&self.context);
    }

    /// Stops the background jobs until they are started again. Returns whether no other work is in progress: abandoned
    /// calls may still run, and until they end the store cannot be opened again.
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

    /// Stops the background jobs and stores the access times of sessions. Holders of the context can still use it; the
    /// store is closed when the last one is dropped.
    pub async fn close(mut self) {
        self.background_jobs.abort_all();
        self.end_indexing().await;
        if let Some(resolvers) = self.context.extensions.get::<Resolvers>() {
            resolvers.close().await;
        }
    }

    /// Waits for current index work and stores the access times of sessions, off the transports' threads.
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
