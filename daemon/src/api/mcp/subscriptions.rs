//! Resource change notifications: subscriptions of the older era, streams of the newest.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lore::protocol::Position;
use rmcp::RoleServer;
use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, SubscriptionContext, SubscriptionSink};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use super::catalog::{Catalog, ResourceChanges};
use crate::api::changes::ChangeSet;
use crate::error::{Code, Refusal};
use crate::hint::{Tool, hint};
use crate::locks::lock_unpoisoned;
use crate::operation::WaitPermit;

/// Maximum number of URIs that one connection, or one stream of the newest era, subscribes to.
pub const ADDRESSES_MAX: usize = 1000;
/// After a notification, further changes are collected for this long.
const GATHER: Duration = Duration::from_millis(100);
/// Delay before a retry after a failure.
const RETRY: Duration = Duration::from_secs(5);

/// Subscriptions of one connection in the older era.
#[derive(Default)]
pub struct Subscriptions {
    addresses: Arc<Mutex<BTreeSet<String>>>,
    /// Set when changes are watched.
    watched: OnceCell<()>,
}

impl Subscriptions {
    /// Watches resources and lists until `over` is cancelled. Later calls have no effect.
    ///
    /// # Errors
    /// When no state is published.
    pub async fn watch<C: Catalog>(
        &self,
        catalog: &C,
        peer: &Peer<RoleServer>,
        over: &CancellationToken,
    ) -> Result<(), Refusal> {
        let begin = async || {
            let changes = catalog.changes(None).await?;
            let (to, over) = (Subscriber::Host(peer.clone()), over.clone());
            let addresses = Arc::clone(&self.addresses);
            tokio::spawn(async move {
                let is_wanted = |address: &str| lock_unpoisoned(&addresses).contains(address);
                tokio::select! {
                    () = notify_all(changes, &to, is_wanted) => {}
                    () = over.cancelled() => {}
                }
            });
            Ok(())
        };
        self.watched.get_or_try_init(begin).await.copied()
    }

    /// Subscribes to a URI.
    ///
    /// # Errors
    /// A missing resource is refused as when it is read; `RATE_LIMITED` at the limit.
    pub async fn add<C: Catalog>(&self, catalog: &C, address: String) -> Result<(), Refusal> {
        catalog.check_resource(&address).await?;
        let mut addresses = lock_unpoisoned(&self.addresses);
        if addresses.len() >= ADDRESSES_MAX && !addresses.contains(&address) {
            let message = format!("a connection subscribes to at most {ADDRESSES_MAX} resources");
            return Err(Refusal::new(Code::RateLimited, message).hint(
                hint!["Unsubscribe from one."; "Or follow the log with ", Tool::FollowEvents, "."],
            ));
        }
        addresses.insert(address);
        Ok(())
    }

    /// Unsubscribes from a URI; unknown URIs are ignored.
    pub fn remove(&self, address: &str) {
        lock_unpoisoned(&self.addresses).remove(address);
    }
}

/// Returns the granted part of a stream's filter: lists, and existing URIs up to the limit.
#[must_use]
pub fn granted<C: Catalog>(catalog: &C, wished: &SubscriptionFilter) -> SubscriptionFilter {
    let is_there = |address: &&String| catalog.may_have_resource(address);
    let mut filter = SubscriptionFilter::new();
    filter.resources_list_changed = wished.resources_list_changed.filter(|wished| *wished);
    filter.resource_subscriptions = wished.resource_subscriptions.as_ref().map(|addresses| {
        let there = addresses.iter().take(ADDRESSES_MAX).filter(is_there);
        there.cloned().collect()
    });
    filter
}

/// Sends changes after a position to a stream of the newest era, until it is cancelled or the connection ends.
pub async fn listen<C: Catalog>(
    catalog: &C,
    behind: Option<Position>,
    stream: &SubscriptionContext,
    wait_permit: &WaitPermit,
) -> Result<(), Refusal> {
    wait_permit.check()?;
    let changes = catalog.changes(behind).await?;
    let accepted = stream.accepted().resource_subscriptions.iter().flatten();
    let accepted: BTreeSet<&str> = accepted.map(String::as_str).collect();
    let to = Subscriber::Stream(stream.sink().clone());
    tokio::select! {
        () = notify_all(changes, &to, |address| accepted.contains(address)) => {}
        () = stream.cancelled() => {}
        () = wait_permit.over() => {}
    }
    Ok(())
}

enum Subscriber {
    Host(Peer<RoleServer>),
    Stream(SubscriptionSink),
}

/// The subscriber disconnected.
struct SubscriptionEnd;

impl Subscriber {
    async fn updated(&self, address: &str) -> Result<(), SubscriptionEnd> {
        match self {
            Self::Host(peer) => {
                let about = ResourceUpdatedNotificationParam::new(address);
                peer.notify_resource_updated(about)
                    .await
                    .map_err(|_| SubscriptionEnd)
            }
            Self::Stream(sink) => {
                let reported = sink.notify_resource_updated(address).await;
                reported.map_err(|_| SubscriptionEnd)
            }
        }
    }

    async fn lists(&self) -> Result<(), SubscriptionEnd> {
        match self {
            Self::Host(peer) => {
                let reported = peer.notify_resource_list_changed().await;
                reported.map_err(|_| SubscriptionEnd)
            }
            Self::Stream(sink) if sink.accepted().resources_list_changed == Some(true) => {
                let reported = sink.notify_resource_list_changed().await;
                reported.map_err(|_| SubscriptionEnd)
            }
            Self::Stream(_) => Ok(()),
        }
    }

    /// Sends the notifications and returns whether any was sent.
    async fn notify(
        &self,
        changed: &ChangeSet,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<bool, SubscriptionEnd> {
        let mut reported = changed.lists;
        for address in &changed.updated {
            if is_wanted(address) {
                self.updated(address).await?;
                reported = true;
            }
        }
        if changed.lists {
            self.lists().await?;
        }
        Ok(reported)
    }
}

/// Sends notifications until the subscriber disconnects. A slow reader gets fewer notifications:
/// the changes in between are combined.
async fn notify_all(
    mut changes: impl ResourceChanges,
    to: &Subscriber,
    is_wanted: impl Fn(&str) -> bool,
) {
    loop {
        match changes.next().await {
            Ok(changed) => match to.notify(&changed, &is_wanted).await {
                Ok(true) => tokio::time::sleep(GATHER).await,
                Ok(false) => {}
                Err(SubscriptionEnd) => return,
            },
            Err(refusal) => {
                tracing::warn!(%refusal, "changes of resources cannot be told");
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}
