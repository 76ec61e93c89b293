//! Each user's namespace in a daemon that serves all of them: opened when its user comes, closed some time
//! after the last connection has gone.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use lore::paths::ensure_folder;
use tokio::sync::Mutex;

use super::tenant::{Shared, Tenant};
use crate::api::{Dispatch, TenantHandle};
use crate::engine::{DataFolder, WriteState};
use crate::error::{Code, Refusal};
use crate::operation::{Context, TenantAccess, TenantDirectory};
use crate::service::access::user;

/// Namespaces that may be open at once: each has threads, a cache and memtables of its own.
pub const OPEN_MAX: usize = 64;
/// A namespace without a connection is closed after so long.
const IDLE_MAX: Duration = Duration::from_secs(60);
/// How often that is looked at.
pub const IDLE_TICK: Duration = Duration::from_secs(10);

/// How long is waited for whoever still works on a namespace that is closed.
const LET_GO_MAX: Duration = Duration::from_secs(5);
const LET_GO_LOOK_EVERY: Duration = Duration::from_millis(1);

/// All of them, by the numbers of their users.
pub struct Tenants {
    /// Itself, for the namespaces: their users' calls may be about a project that another user shares.
    me: Weak<Self>,
    shared: Arc<Shared>,
    slots: StdMutex<BTreeMap<u32, Arc<TenantSlot>>>,
    open: AtomicUsize,
}

/// A place for one user's.
#[derive(Default)]
struct TenantSlot {
    /// Held while it is opened or closed, so that two never open one store.
    tenant: Mutex<Option<Tenant>>,
    /// Connections, and since when there is none.
    users: StdMutex<(usize, Option<Instant>)>,
}

impl TenantSlot {
    /// Since when nobody has been connected; `None` while somebody is.
    fn idle_since(&self) -> Option<Instant> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner).1
    }

    /// Nobody is connected, and it is as if the last one had just gone.
    fn stay_idle(&self) {
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        users.1 = users.1.map(|_| Instant::now());
    }
}

/// A place among those that may be open, given back unless it is used.
struct SlotReservation<'o>(Option<&'o AtomicUsize>);

impl SlotReservation<'_> {
    /// Its namespace is open, and counts until it is closed.
    fn used(mut self) {
        self.0 = None;
    }
}

impl Drop for SlotReservation<'_> {
    fn drop(&mut self) {
        if let Some(open) = self.0 {
            open.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Keeps a namespace open.
struct TenantGuard(Arc<TenantSlot>);

impl Drop for TenantGuard {
    fn drop(&mut self) {
        let mut users = self.0.users.lock().unwrap_or_else(PoisonError::into_inner);
        users.0 = users.0.saturating_sub(1);
        if users.0 == 0 {
            users.1 = Some(Instant::now());
        }
    }
}

impl Tenants {
    /// None is open yet.
    #[must_use]
    pub fn new(shared: Arc<Shared>) -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            me: Weak::clone(me),
            shared,
            slots: StdMutex::default(),
            open: AtomicUsize::new(0),
        })
    }

    /// How calls in one namespace find another one.
    fn tenant_directory(&self) -> TenantDirectory {
        let all = Weak::clone(&self.me);
        TenantDirectory {
            find: Box::new(move |uid| {
                let all = all.upgrade();
                Box::pin(async move {
                    match all {
                        Some(all) => all.of_known(uid).await,
                        None => Ok(None),
                    }
                })
            }),
            uid: user,
        }
    }

    /// The folder of a user's store.
    #[must_use]
    pub fn folder_of(&self, uid: u32) -> PathBuf {
        self.shared.places.data.join("users").join(uid.to_string())
    }

    /// What a user calls into, opened if it is not.
    ///
    /// # Errors
    /// `RATE_LIMITED` when as many as may be are open, `STORAGE_UNAVAILABLE` when it does not open.
    pub async fn of(&self, uid: u32) -> Result<TenantHandle, Refusal> {
        let slot = {
            let mut slots = self.slots();
            Arc::clone(slots.entry(uid).or_default())
        };
        let stay = {
            let mut users = slot.users.lock().unwrap_or_else(PoisonError::into_inner);
            *users = (users.0 + 1, None);
            TenantGuard(Arc::clone(&slot))
        };
        let stopped = || Refusal::new(Code::StorageUnavailable, "the daemon is stopping");
        let all = self.me.upgrade().ok_or_else(stopped)?;
        // A task of its own: whoever asks may go away while the store is being opened, and still nobody
        // else may open it.
        let opening = tokio::spawn(async move {
            let mut tenant = slot.tenant.lock().await;
            let open = match tenant.take() {
                Some(open) => open,
                None => all.open(uid).await?,
            };
            let dispatch = Dispatch::new(Arc::clone(open.context()));
            *tenant = Some(open);
            Ok::<_, Refusal>(dispatch)
        });
        Ok(TenantHandle {
            dispatch: opening.await.map_err(|_| stopped())??,
            stays: Box::new(stay),
        })
    }

    /// The users who have a memory here, connected or not.
    ///
    /// # Errors
    /// When the folder of their stores cannot be listed.
    pub fn known(&self) -> io::Result<Vec<u32>> {
        let users = self.shared.places.data.join("users");
        let entries = match std::fs::read_dir(users) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut known = Vec::new();
        for entry in entries {
            known.extend(
                entry?
                    .file_name()
                    .to_str()
                    .and_then(|name| name.parse::<u32>().ok()),
            );
        }
        known.sort_unstable();
        Ok(known)
    }

    /// The memory of a user who has one; `None` for others, and nothing is made for them.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub async fn of_known(&self, uid: u32) -> Result<Option<TenantAccess>, Refusal> {
        let folder = self.folder_of(uid);
        if !tokio::task::spawn_blocking(move || folder.is_dir())
            .await
            .unwrap_or(false)
        {
            return Ok(None);
        }
        let tenant_handle = self.of(uid).await?;
        Ok(Some(TenantAccess {
            context: Arc::clone(tenant_handle.dispatch.context()),
            stays: tenant_handle.stays,
        }))
    }

    /// Opens the memory of a user for some work, and closes it again unless its user has come meanwhile.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub async fn visit<W: Future<Output = ()>>(
        &self,
        uid: u32,
        work: impl FnOnce(Arc<Context>) -> W,
    ) -> Result<(), Refusal> {
        if let Some(known) = self.of_known(uid).await? {
            let TenantAccess { context, stays } = known;
            work(context).await;
            drop(stays);
            self.close_unused(uid).await;
        }
        Ok(())
    }

    /// What all of them have in common.
    #[must_use]
    pub fn shared(&self) -> &Shared {
        &self.shared
    }

    async fn open(&self, uid: u32) -> Result<Tenant, Refusal> {
        let reserved = self.reserve().await?;
        let (shared, data) = (Arc::clone(&self.shared), self.folder_of(uid));
        let tenant_directory = self.tenant_directory();
        let opened = tokio::task::spawn_blocking(move || {
            ensure_folder(&data)?;
            Tenant::open(&shared, DataFolder { data }, Some(tenant_directory))
        })
        .await;
        let unavailable = |why: String| {
            let message = format!("the memory of user {uid} does not open: {why}");
            Refusal::new(Code::StorageUnavailable, message)
        };
        let mut tenant = opened
            .map_err(|error| unavailable(error.to_string()))?
            .map_err(|error| unavailable(error.to_string()))?;
        tenant.begin();
        reserved.used();
        tracing::info!(uid, "a namespace was opened");
        Ok(tenant)
    }

    /// A place among those that may be open at once; the one that has been idle for longest gives way.
    async fn reserve(&self) -> Result<SlotReservation<'_>, Refusal> {
        loop {
            let next = |open: usize| (open < OPEN_MAX).then_some(open + 1);
            let order = Ordering::Relaxed;
            if self.open.fetch_update(order, order, next).is_ok() {
                return Ok(SlotReservation(Some(&self.open)));
            }
            if !self.close_longest_idle().await {
                let message = format!("{OPEN_MAX} users are connected, the maximum");
                return Err(Refusal::new(Code::RateLimited, message).hint("Try again in a minute."));
            }
        }
    }

    /// Whether there was one without connections that nobody was opening or closing.
    async fn close_longest_idle(&self) -> bool {
        let mut idle: Vec<(Instant, u32, Arc<TenantSlot>)> = {
            let slots = self.slots();
            let since = |(uid, slot): (&u32, &Arc<TenantSlot>)| {
                Some((slot.idle_since()?, *uid, Arc::clone(slot)))
            };
            slots.iter().filter_map(since).collect()
        };
        idle.sort_by_key(|(since, ..)| *since);
        for (_, uid, slot) in idle {
            let Ok(mut tenant) = slot.tenant.try_lock() else {
                continue;
            };
            if self.shut_unused(uid, &slot, &mut tenant).await {
                return true;
            }
        }
        false
    }

    /// Closes one that nobody is connected to and nothing works on; whether it was closed. What a call that nobody
    /// waits for any more has open could not be opened again by its user.
    async fn shut_unused(&self, uid: u32, slot: &TenantSlot, tenant: &mut Option<Tenant>) -> bool {
        let Some(open) = tenant.as_mut().filter(|_| slot.idle_since().is_some()) else {
            return false;
        };
        if !open.come_to_rest().await {
            tracing::debug!(uid, "a namespace without connections is still worked on");
            open.begin();
            slot.stay_idle();
            return false;
        }
        if let Some(open) = tenant.take() {
            self.shut(uid, open, Instant::now() + LET_GO_MAX).await;
        }
        true
    }

    async fn shut(&self, uid: u32, tenant: Tenant, until: Instant) {
        close(tenant, until).await;
        self.open.fetch_sub(1, Ordering::Relaxed);
        tracing::info!(uid, "a namespace was closed");
    }

    /// Closes one that was opened for a moment, unless somebody has come.
    pub(super) async fn close_unused(&self, uid: u32) {
        let slot = self.slots().get(&uid).map(Arc::clone);
        if let Some(slot) = slot {
            let mut tenant = slot.tenant.lock().await;
            self.shut_unused(uid, &slot, &mut tenant).await;
        }
    }

    /// Closes those that nobody has used for a while; all of them, once the daemon stops. Whether one takes
    /// no more writes: the daemon is to be restarted then.
    pub async fn close_idle(&self, all: bool) -> bool {
        let mut has_failed = false;
        let until = Instant::now() + LET_GO_MAX;
        let slots: Vec<(u32, Arc<TenantSlot>)> = {
            let slots = self.slots();
            slots
                .iter()
                .map(|(uid, slot)| (*uid, Arc::clone(slot)))
                .collect()
        };
        for (uid, slot) in slots {
            let mut tenant = slot.tenant.lock().await;
            let is_idle = slot
                .idle_since()
                .is_some_and(|since| since.elapsed() >= IDLE_MAX);
            if let Some(open) = tenant.as_ref() {
                let state = open.context().engine.health().get();
                has_failed |= matches!(state, WriteState::Failed { .. });
            }
            if all {
                if let Some(open) = tenant.take() {
                    self.shut(uid, open, until).await;
                }
            } else if is_idle {
                self.shut_unused(uid, &slot, &mut tenant).await;
            }
        }
        has_failed
    }

    /// Whether a user's memory is open, as far as nobody is opening or closing it.
    #[cfg(test)]
    pub(super) fn is_open(&self, uid: u32) -> bool {
        let slot = self.slots().get(&uid).map(Arc::clone);
        slot.is_some_and(|slot| slot.tenant.try_lock().is_ok_and(|open| open.is_some()))
    }

    fn slots(&self) -> MutexGuard<'_, BTreeMap<u32, Arc<TenantSlot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes a namespace for good: its store is shut when this ends, so that it can be opened again, unless
/// something works on it for longer.
async fn close(tenant: Tenant, until: Instant) {
    let context = Arc::clone(tenant.context());
    tenant.close().await;
    while Arc::strong_count(&context) > 1 && Instant::now() < until {
        tokio::time::sleep(LET_GO_LOOK_EVERY).await;
    }
    // Shutting waits for the writer: not for a thread of the doors.
    if let Err(error) = tokio::task::spawn_blocking(move || drop(context)).await {
        tracing::error!(%error, "a namespace was not closed in peace");
    }
}
