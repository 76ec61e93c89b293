//! The running daemon: start, serving, shutdown.

mod offline_tenants;
mod tenant;
mod tenants;
#[cfg(test)]
pub(crate) mod tests;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lore::paths::{Paths, PlaceError, ensure_folder};
use lored_models::{ModelPlaces, ModelPool};
use tenant::{Shared, Tenant};
use tenants::Tenants;
use tokio::net::TcpListener;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::api::{
    Dispatch, HttpAuth, PageServer, Peer, TenantHandle, TenantResolver, TenantsByUser, Transports,
};
use crate::clock::Clock;
use crate::config::Config;
use crate::engine::{DataFolder, OpenError};
use crate::error::{Code, Refusal};
use crate::operation::{Context, blocking};
use crate::privileged_init::PrivilegedInit;
use crate::reload::ReloadableSettings;
use crate::reloadable::Reloadable;
use crate::service::token::{TokenError, read_or_make};
use crate::service::{Access, ListeningSocket, Lock, LockError, SocketError, bind, descriptors};
use crate::store;

/// Reason why the daemon did not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A folder is not private to the user.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// Another daemon is running.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The store cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The blob store cannot be opened.
    #[error(transparent)]
    Blobs(#[from] store::Error),
    /// The socket cannot be opened.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// The HTTP port cannot be opened.
    #[error("HTTP on {address}: {source}; another port can be set with `http.listen`")]
    Http {
        /// The configured address.
        address: SocketAddr,
        /// The system's error.
        source: std::io::Error,
    },
    /// The HTTP token cannot be read or created.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// HTTP does not identify a user, but each user has a separate memory.
    #[error("`http.listen` is for a daemon of one user: over HTTP nobody's user is known")]
    HttpForAll,
    /// A write failed while serving; a restart recovers.
    #[error("a write to the disk failed; a restart recovers what was acknowledged")]
    WriteFailed,
}

/// Time for all that ends with the daemon, beyond `limits.shutdown_timeout_ms`. Background jobs need moments, unless the
/// disk hangs. What has not ended then ends with the process, like at a kill.
pub const CLOSE_MAX: Duration = Duration::from_millis(400);

/// A daemon with its store open and its socket bound that does not accept connections yet.
pub struct Daemon {
    memory: MemoryOwner,
    lives: ReloadableSettings,
    socket: ListeningSocket,
    http: Option<(TcpListener, HttpAuth)>,
    page: PageServer,
    lock: Arc<Lock>,
}

/// Owner of the memory that is served.
enum MemoryOwner {
    /// One memory for all permitted users.
    One(Box<Tenant>),
    /// A separate memory for each user.
    OfEach(Arc<Tenants>),
}

impl Daemon {
    /// Takes the lock, recovers the store, and binds the socket or uses the one from the service manager.
    ///
    /// # Errors
    /// [`Error`]; nothing that the next start needs was changed.
    pub fn open(config: &Config, paths: &Paths) -> Result<Self, Error> {
        Self::open_prepared(config, paths, PrivilegedInit::default())
    }

    /// Opens with the result of the privileged initialisation.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_prepared(
        config: &Config,
        paths: &Paths,
        prepared: PrivilegedInit,
    ) -> Result<Self, Error> {
        Self::open_for(config, paths, prepared, false)
    }

    /// Opens for all users of the machine: each has a tenant, which is opened when its user connects.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_system_wide(
        config: &Config,
        paths: &Paths,
        prepared: PrivilegedInit,
    ) -> Result<Self, Error> {
        Self::open_for(config, paths, prepared, true)
    }

    fn open_for(
        config: &Config,
        paths: &Paths,
        mut prepared: PrivilegedInit,
        everyone: bool,
    ) -> Result<Self, Error> {
        ensure_folder(&paths.data)?;
        let lock = Lock::take_to_serve(&paths.daemon_lock())?;
        let handed_over = prepared.handed_over.take();
        let mut paths = paths.clone();
        if let Some(socket) = &handed_over {
            paths.socket = socket.path().to_path_buf();
        }
        let (bind_at, data) = (paths.socket.clone(), paths.data.clone());
        let folder = DataFolder::new(&paths.data, paths.seals());
        let lives = ReloadableSettings::new(config);
        let (page, page_requests) = PageServer::new();
        let model_places = ModelPlaces::of_this_program(&config.search, folder.models());
        let shared = Shared {
            config: config.clone(),
            lives: lives.clone(),
            models: Arc::new(ModelPool::find(&model_places, &config.search)),
            paths,
            clock: Arc::new(Clock::System),
            started: Clock::System.now(),
            page: page_requests,
            prepared,
            reaches_files: !everyone,
        };
        let memory = if everyone {
            MemoryOwner::OfEach(Tenants::new(Arc::new(shared)))
        } else {
            MemoryOwner::One(Box::new(Tenant::open(&shared, folder, None)?))
        };
        let http = match config.http.listen {
            Some(_) if everyone => return Err(Error::HttpForAll),
            Some(address) => Some(http_door(config, &data, address)?),
            None => None,
        };
        let mode = config.access.socket_mode(everyone);
        Ok(Self {
            memory,
            lives,
            socket: match handed_over {
                Some(socket) => socket.listen()?,
                None => bind(&bind_at, mode)?,
            },
            http,
            page,
            lock: Arc::new(lock),
        })
    }

    /// The shared context; `None` when each user has a separate memory. For tests and the demo.
    #[must_use]
    pub fn context(&self) -> Option<&Arc<Context>> {
        match &self.memory {
            MemoryOwner::One(tenant) => Some(tenant.context()),
            MemoryOwner::OfEach(_) => None,
        }
    }

    /// The serve lock. Hold it until no work uses the store: a call that was not awaited may outlive [`Self::run`].
    #[must_use]
    pub fn lock(&self) -> Arc<Lock> {
        Arc::clone(&self.lock)
    }

    /// The settings that can be reloaded while the daemon runs.
    #[must_use]
    pub fn lives(&self) -> &ReloadableSettings {
        &self.lives
    }

    /// Serves until `stop` is cancelled, then completes the calls in flight.
    ///
    /// # Errors
    /// [`Error::WriteFailed`] when the store accepts no more writes: the daemon must be restarted.
    pub async fn run(mut self, stop: CancellationToken) -> Result<(), Error> {
        if let MemoryOwner::One(tenant) = &mut self.memory {
            tenant.begin();
        }
        let find = self.memory.find(self.lives.access.clone());
        tokio::spawn(self.page.run(self.memory.by_user(), stop.clone()));
        let limits = self.lives.limits.clone();
        let connection_slots = descriptors::allow(limits.get().connections_max);
        let stop_max = Duration::from_millis(limits.get().shutdown_timeout_ms) + CLOSE_MAX;
        let stopping = stop.clone();
        let stopped = tokio::spawn(async move {
            stopping.cancelled().await;
            Instant::now()
        });
        let endpoints = Arc::new(Transports::new(
            find,
            limits,
            connection_slots,
            stop.clone(),
        ));
        if let Some((listener, auth)) = self.http {
            tokio::spawn(Arc::clone(&endpoints).serve_http(listener, auth));
        }
        let ListeningSocket {
            listener,
            path,
            is_inherited,
        } = self.socket;
        // The socket is removed while we still listen, so a new daemon's socket is never removed. A socket
        // from the service manager stays, because the manager starts the next daemon on it.
        let remove = move || {
            if !is_inherited && let Err(error) = std::fs::remove_file(&path) {
                tracing::debug!(%error, "the socket was not removed");
            }
        };
        let mut serving = std::pin::pin!(endpoints.serve(listener, remove));
        let failed = tokio::select! {
            () = &mut serving => false,
            () = self.memory.tend() => {
                // Waiting callers get their answers before the process ends.
                stop.cancel();
                serving.await;
                true
            }
        };
        let close = async {
            match self.memory {
                MemoryOwner::One(tenant) => tenant.close().await,
                MemoryOwner::OfEach(tenants) => {
                    tenants.close_idle(true).await;
                }
            }
        };
        // Calls that ended early leave their time to the jobs.
        let stopped = stopped.await.unwrap_or_else(|_| Instant::now());
        if timeout_at(stopped + stop_max, close).await.is_err() {
            tracing::warn!("stopping beside work that did not end");
        }
        if failed {
            Err(Error::WriteFailed)
        } else {
            Ok(())
        }
    }
}

/// Opens the TCP port for HTTP with a token.
fn http_door(
    config: &Config,
    data: &Path,
    address: SocketAddr,
) -> Result<(TcpListener, HttpAuth), Error> {
    let token = read_or_make(&data.join("http.token"), Clock::System.random())?;
    let bound = std::net::TcpListener::bind(address)
        .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
        .and_then(TcpListener::from_std)
        .map_err(|source| Error::Http { address, source })?;
    let auth = HttpAuth::new(&token, address.port(), config.http.origins.clone());
    Ok((bound, auth))
}

impl MemoryOwner {
    /// Returns the resolver that checks access and finds the tenant of a peer.
    fn find(&self, access: Reloadable<Access>) -> TenantResolver {
        let of_one = match self {
            Self::One(tenant) => Ok(Dispatch::new(Arc::clone(tenant.context()))),
            Self::OfEach(tenants) => Err(Arc::clone(tenants)),
        };
        Box::new(move |peer| {
            let (access, of_one) = (access.get(), of_one.clone());
            Box::pin(async move {
                admit(access, peer, of_one.is_err()).await?;
                match of_one {
                    Ok(dispatch) => Ok(TenantHandle {
                        dispatch,
                        stays: Box::new(()),
                    }),
                    Err(tenants) => tenants.of(peer.uid).await,
                }
            })
        })
    }

    /// Returns what finds the memory of a user who was let in before.
    fn by_user(&self) -> Arc<TenantsByUser> {
        let of_one = match self {
            Self::One(tenant) => Ok(Dispatch::new(Arc::clone(tenant.context()))),
            Self::OfEach(tenants) => Err(Arc::clone(tenants)),
        };
        Arc::new(move |uid| {
            let of_one = of_one.clone();
            Box::pin(async move {
                match of_one {
                    Ok(dispatch) => Ok(TenantHandle {
                        dispatch,
                        stays: Box::new(()),
                    }),
                    Err(tenants) => tenants.of(uid).await,
                }
            })
        })
    }

    /// Runs maintenance while serving; returns when the store accepts no more writes.
    async fn tend(&self) {
        match self {
            Self::One(tenant) => tenant.context().engine.health().clone().failed().await,
            Self::OfEach(tenants) => {
                let until_one_fails = async {
                    loop {
                        tokio::time::sleep(tenants::IDLE_TICK).await;
                        if tenants.close_idle(false).await {
                            return;
                        }
                    }
                };
                tokio::select! {
                    () = until_one_fails => {}
                    () = offline_tenants::run(tenants) => {}
                }
            }
        }
    }
}

/// Refuses users that the settings do not permit.
async fn admit(access: Arc<Access>, peer: Peer, everyone: bool) -> Result<(), Refusal> {
    let may = match access.groups.is_empty() {
        true => access.may(peer.uid, peer.gid, everyone),
        // Queries the system's user database.
        false => blocking(move || Ok(access.may(peer.uid, peer.gid, everyone))).await?,
    };
    if may {
        return Ok(());
    }
    let message = format!("user {} may not use this daemon", peer.uid);
    let hint = "Whoever runs it can name users in `access.allow_users` or groups in \
                `access.allow_groups` of its settings.";
    Err(Refusal::new(Code::Forbidden, message).hint(hint))
}
