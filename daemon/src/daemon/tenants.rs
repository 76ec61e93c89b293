//! Each user's namespace in a daemon that serves all of them: opened when its user comes, closed some time
//! after the last connection has gone.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

use lore::paths::ensure_folder;
use tokio::sync::Mutex;

use super::tenant::{Shared, Tenant};
use crate::api::{Dispatch, TenantHandle};
use crate::engine::{DataFolder, WriteState};
use crate::error::{Code, Refusal};
use crate::locks::lock_unpoisoned;
use crate::operation::{Context, TenantAccess, TenantDirectory};
use crate::service::access::user;

/// Limit on open tenants: each has separate threads, a cache and memtables.
pub const OPEN_MAX: usize = 64;
/// Time without a connection after which a tenant is closed.
const IDLE_MAX: Duration = Duration::from_secs(60);
/// Interval of the check for idle tenants.
pub const IDLE_TICK: Duration = Duration::from_secs(10);

/// Time to wait for work on a tenant that is being closed.
const LET_GO_MAX: Duration = Duration::from_secs(5);
const LET_GO_LOOK_EVERY: Duration = Duration::from_millis(1);

/// All tenants, by user id.
pub struct Tenants {
    /// Reference to itself for the tenants: a call may concern a project that another user shares.
    me: Weak<Self>,
    shared: Arc<Shared>,
    slots: StdMutex<BTreeMap<u32, Arc<TenantSlot>>>,
    open: AtomicUsize,
}

/// State of one user's tenant.
#[derive(Default)]
struct TenantSlot {
    /// Locked while the tenant is opened or closed, so that a store is never opened twice.
    tenant: Mutex<Option<Tenant>>,
    /// Number of connections, and since when there is none.
    users: StdMutex<(usize, Option<Instant>)>,
}

impl TenantSlot {
    /// Returns since when no user is connected; `None` while one is.
    fn idle_since(&self) -> Option<Instant> {
        lock_unpoisoned(&self.users).1
    }

    /// Restarts the idle time, as if the last connection had just closed.
    fn stay_idle(&self) {
        let mut users = lock_unpoisoned(&self.users);
        users.1 = users.1.map(|_| Instant::now());
    }
}

/// A reservation within the limit on open tenants; released unless used.
struct SlotReservation<'o>(Option<&'o AtomicUsize>);

impl SlotReservation<'_> {
    /// Keeps the reservation: the tenant is open, and counts until it is closed.
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

/// A guard that keeps a tenant open.
struct TenantGuard(Arc<TenantSlot>);

impl Drop for TenantGuard {
    fn drop(&mut self) {
        let mut users = lock_unpoisoned(&self.0.users);
        users.0 = users.0.saturating_sub(1);
        if users.0 == 0 {
            users.1 = Some(Instant::now());
        }
    }
}

impl Tenants {
    /// Creates the registry without open tenants.
    #[must_use]
    pub fn new(shared: Arc<Shared>) -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            me: Weak::clone(me),
            shared,
            slots: StdMutex::default(),
            open: AtomicUsize::new(0),
        })
    }

    /// Returns the directory by which calls of one tenant find another.
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

    /// Returns the folder of a user's store.
    #[must_use]
    pub fn folder_of(&self, uid: u32) -> PathBuf {
        self.shared.paths.data.join("users").join(uid.to_string())
    }

    /// Returns a handle to a user's tenant; opens it if necessary.
    ///
    /// # Errors
    /// `RATE_LIMITED` when the limit on open tenants is reached, `STORAGE_UNAVAILABLE` when it does not open.
    pub async fn of(&self, uid: u32) -> Result<TenantHandle, Refusal> {
        let slot = {
            let mut slots = self.slots();
            Arc::clone(slots.entry(uid).or_default())
        };
        let stay = {
            let mut users = lock_unpoisoned(&slot.users);
            *users = (users.0 + 1, None);
            TenantGuard(Arc::clone(&slot))
        };
        let stopped = || Refusal::new(Code::StorageUnavailable, "the daemon is stopping");
        let all = self.me.upgrade().ok_or_else(stopped)?;
        // A separate task: if the caller disconnects while the store is being opened, no other call may open it
        // a second time.
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

    /// Lists the users who have a memory here, connected or not.
    ///
    /// # Errors
    /// When the folder of their stores cannot be listed.
    pub fn known(&self) -> io::Result<Vec<u32>> {
        let users = self.shared.paths.data.join("users");
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

    /// Returns the memory of a user who has one; `None` for others, for whom nothing is created.
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

    /// Opens a user's memory for some work, and closes it again unless the user has connected meanwhile.
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

    /// Returns the state that all tenants share.
    #[must_use]
    pub fn shared(&self) -> &Shared {
        &self.shared
    }

    async fn open(&self, uid: u32) -> Result<Tenant, Refusal> {
        let reserved = self.reserve().await?;
        let (shared, data) = (Arc::clone(&self.shared), self.folder_of(uid));
        let seals = shared.paths.seals().join("users").join(uid.to_string());
        let tenant_directory = self.tenant_directory();
        let opened = tokio::task::spawn_blocking(move || {
            ensure_folder(&data)?;
            Tenant::open(
                &shared,
                DataFolder::new(data, seals),
                Some(tenant_directory),
            )
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

    /// Reserves a place within the limit on open tenants; if necessary, the tenant that was idle the longest is closed.
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

    /// Closes the tenant that was idle the longest; returns `false` when none is idle and free.
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

    /// Closes a tenant without connections or work in progress; returns whether it was closed. While an abandoned call
    /// still has the store open, its user could not open it again.
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

    /// Closes a tenant that was opened for a moment, unless its user has connected.
    pub(super) async fn close_unused(&self, uid: u32) {
        let slot = self.slots().get(&uid).map(Arc::clone);
        if let Some(slot) = slot {
            let mut tenant = slot.tenant.lock().await;
            self.shut_unused(uid, &slot, &mut tenant).await;
        }
    }

    /// Closes idle tenants, or all when the daemon stops. Returns whether one refuses further writes: then the daemon
    /// must be restarted.
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

    /// Returns whether a user's memory is open and not being opened or closed.
    #[cfg(test)]
    pub(super) fn is_open(&self, uid: u32) -> bool {
        let slot = self.slots().get(&uid).map(Arc::clone);
        slot.is_some_and(|slot| slot.tenant.try_lock().is_ok_and(|open| open.is_some()))
    }

    fn slots(&self) -> MutexGuard<'_, BTreeMap<u32, Arc<TenantSlot>>> {
        lock_unpoisoned(&self.slots)
    }
}

/// Closes a tenant. Its store is shut when this returns and can be opened again, unless work on it takes longer.
async fn close(tenant: Tenant, until: Instant) {
    let context = Arc::clone(tenant.context());
    tenant.close().await;
    while Arc::strong_count(&context) > 1 && Instant::now() < until {
        tokio::time::sleep(LET_GO_LOOK_EVERY).await;
    }
    // Shutting waits for the writer, so it must not run on a transport's thread.
    if let Err(error) = tokio::task::spawn_blocking(move || drop(context)).await {
        tracing::error!(%error, "a namespace was not closed in peace");
    }
}
