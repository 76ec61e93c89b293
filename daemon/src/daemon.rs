//! The running daemon: from settings and places to a socket that answers, and back to rest.

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
use tokio_util::sync::CancellationToken;

use crate::api::{Dispatch, HttpAuth, Peer, TenantHandle, TenantResolver, Transports};
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
    /// HTTP cannot be served where the settings say.
    #[error("HTTP on {address}: {source}; another port can be set with `http.listen`")]
    Http {
        /// Where.
        address: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// There is no token for HTTP.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// HTTP has no user, and each user has a memory of its own.
    #[error("`http.listen` is for a daemon of one user: over HTTP nobody's user is known")]
    HttpForAll,
    /// A write failed while serving; a restart recovers.
    #[error("a write to the disk failed; a restart recovers what was acknowledged")]
    WriteFailed,
}

/// How long what is done unasked may take to end; it needs moments, unless the disk hangs.
const CLOSE_MAX: Duration = Duration::from_secs(5);

/// A daemon that has its store open and its socket bound, and answers nobody yet.
pub struct Daemon {
    memory: MemoryOwner,
    lives: ReloadableSettings,
    socket: ListeningSocket,
    http: Option<(TcpListener, HttpAuth)>,
    lock: Arc<Lock>,
}

/// Whose memory is served.
enum MemoryOwner {
    /// One, for all who may connect.
    One(Box<Tenant>),
    /// Each user's own.
    OfEach(Arc<Tenants>),
}

impl Daemon {
    /// Takes the lock, recovers the store, binds the socket or takes the one that was handed over.
    ///
    /// # Errors
    /// [`Error`]: nothing was changed that the next start would miss.
    pub fn open(config: &Config, places: &Paths) -> Result<Self, Error> {
        Self::open_prepared(config, places, PrivilegedInit::default())
    }

    /// The same with what the program did before its first thread.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_prepared(
        config: &Config,
        places: &Paths,
        prepared: PrivilegedInit,
    ) -> Result<Self, Error> {
        Self::open_for(config, places, prepared, false)
    }

    /// The same for all users of the machine: each has a namespace, opened when its user comes.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_system_wide(
        config: &Config,
        places: &Paths,
        prepared: PrivilegedInit,
    ) -> Result<Self, Error> {
        Self::open_for(config, places, prepared, true)
    }

    fn open_for(
        config: &Config,
        places: &Paths,
        mut prepared: PrivilegedInit,
        everyone: bool,
    ) -> Result<Self, Error> {
        ensure_folder(&places.data)?;
        let lock = Lock::take_to_serve(&places.daemon_lock())?;
        let handed_over = prepared.handed_over.take();
        let mut places = places.clone();
        if let Some(socket) = &handed_over {
            places.socket = socket.path().to_path_buf();
        }
        let (bind_at, data) = (places.socket.clone(), places.data.clone());
        let folder = DataFolder {
            data: places.data.clone(),
        };
        let lives = ReloadableSettings::new(config);
        let model_places = ModelPlaces::of_this_program(&config.search, folder.models());
        let shared = Shared {
            config: config.clone(),
            lives: lives.clone(),
            models: Arc::new(ModelPool::find(&model_places, &config.search)),
            places,
            clock: Arc::new(Clock::System),
            started: Clock::System.now(),
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
            lock: Arc::new(lock),
        })
    }

    /// What the handlers share; `None` where each user has a memory of its own. For tests and the demo.
    #[must_use]
    pub fn context(&self) -> Option<&Arc<Context>> {
        match &self.memory {
            MemoryOwner::One(tenant) => Some(tenant.context()),
            MemoryOwner::OfEach(_) => None,
        }
    }

    /// The right to serve, to be kept until nothing works on the store any more: a call that was not waited
    /// for may outlive [`Self::run`].
    #[must_use]
    pub fn lock(&self) -> Arc<Lock> {
        Arc::clone(&self.lock)
    }

    /// What may be replaced while the daemon runs.
    #[must_use]
    pub fn lives(&self) -> &ReloadableSettings {
        &self.lives
    }

    /// Answers until told to stop, then finishes what is in flight.
    ///
    /// # Errors
    /// [`Error::WriteFailed`] when the store takes no more writes: the daemon is to be restarted.
    pub async fn run(mut self, stop: CancellationToken) -> Result<(), Error> {
        if let MemoryOwner::One(tenant) = &mut self.memory {
            tenant.begin();
        }
        let find = self.memory.find(self.lives.access.clone());
        let limits = self.lives.limits.clone();
        let connection_slots = descriptors::allow(limits.get().connections_max);
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
        // While we still listen, nobody takes the name over: another daemon never finds its own removed. One
        // that a manager made is the manager's, who starts the next daemon on it.
        let remove = move || {
            if !is_inherited && let Err(error) = std::fs::remove_file(&path) {
                tracing::debug!(%error, "the socket was not removed");
            }
        };
        let mut serving = std::pin::pin!(endpoints.serve(listener, remove));
        let failed = tokio::select! {
            () = &mut serving => false,
            () = self.memory.tend() => {
                // Whoever waits for an answer is told before the process ends.
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
        if tokio::time::timeout(CLOSE_MAX, close).await.is_err() {
            tracing::warn!("stopping beside work that did not end");
        }
        if failed {
            Err(Error::WriteFailed)
        } else {
            Ok(())
        }
    }
}

/// Listens over TCP, for those who know the token.
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
    /// Whether a peer may come in, and what it calls into.
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

    /// Does what is to be done while it is served; ends when no more can be written.
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

/// Refuses whom the settings do not name.
async fn admit(access: Arc<Access>, peer: Peer, everyone: bool) -> Result<(), Refusal> {
    let may = match access.groups.is_empty() {
        true => access.may(peer.uid, peer.gid, everyone),
        // Asks the system's user database.
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
