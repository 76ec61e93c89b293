//! Holds one connection to a server: made on demand, and again after it ended.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection::{Connection, Plan};
use super::{ProcessBroker, Settings};

use crate::locks::lock_unpoisoned;

/// Outcome of a start, for all callers that wait for it.
type StartOutcome = Result<Arc<Connection>, Arc<str>>;

/// Connector to one server.
pub struct Connector {
    resolver: String,
    settings: Arc<Settings>,
    broker: Option<Arc<ProcessBroker>>,
    opening: Mutex<Option<PendingConnection>>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

/// A connection that is being made or was made.
#[derive(Clone)]
struct PendingConnection {
    begun: Instant,
    started: Shared<BoxFuture<'static, StartOutcome>>,
}

/// Reason why there is no connection yet.
pub enum ConnectError {
    /// The server is still starting.
    Starting(String),
    /// The start failed.
    Failed(String),
}

impl Connector {
    /// Creates a connector without a connection.
    pub fn new(
        resolver: &str,
        settings: Arc<Settings>,
        broker: Option<Arc<ProcessBroker>>,
    ) -> Self {
        Self {
            resolver: resolver.to_owned(),
            settings,
            broker,
            opening: Mutex::default(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<PendingConnection>> {
        // Every change is one assignment, so the state is consistent after a panic.
        lock_unpoisoned(&self.opening)
    }

    /// Returns the connection, and whether it existed before. Waits for a start until the deadline; the start continues
    /// after it. Does not wait for a start that has taken longer than the timeout of a lookup.
    ///
    /// # Errors
    /// [`ConnectError`], with the end of a sentence.
    pub async fn connection(
        self: &Arc<Self>,
        deadline: Instant,
    ) -> Result<(Arc<Connection>, bool), ConnectError> {
        let opening = {
            let mut slot = self.lock();
            match &*slot {
                Some(opening) => match opening.started.peek() {
                    Some(Ok(connection)) if !connection.is_closed() => {
                        return Ok((Arc::clone(connection), true));
                    }
                    Some(_) => slot.insert(self.open()).clone(),
                    None => opening.clone(),
                },
                None => slot.insert(self.open()).clone(),
            }
        };
        let timeout_ms = self.settings.timeout_ms;
        let wait_permit = opening.begun + Duration::from_millis(timeout_ms);
        match timeout_at(deadline.min(wait_permit), opening.started).await {
            Ok(Ok(connection)) => Ok((connection, false)),
            Ok(Err(said)) => Err(ConnectError::Failed(said.as_ref().to_owned())),
            Err(_) => Err(ConnectError::Starting(format!(
                "was not ready within {timeout_ms} ms, and still starts"
            ))),
        }
    }

    fn open(self: &Arc<Self>) -> PendingConnection {
        let this = Arc::clone(self);
        let task = self.tasks.spawn(async move {
            let plan = Plan {
                resolver: &this.resolver,
                server: &this.settings.server,
                broker: this.broker.as_deref(),
                start_max: Duration::from_millis(this.settings.start_ms),
                idle_max: Duration::from_millis(this.settings.idle_ms),
                tasks: &this.tasks,
                stop: this.stop.child_token(),
            };
            Connection::open(&plan).await.map(Arc::new)
        });
        let started = task.map(|ended| match ended {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(said)) => Err(Arc::from(said)),
            Err(_) => Err(Arc::from("did not start: the daemon ends")),
        });
        PendingConnection {
            begun: Instant::now(),
            started: started.boxed().shared(),
        }
    }

    /// Drops a connection that did not answer; its running calls are not interrupted.
    pub fn give_up(&self, connection: &Arc<Connection>) {
        let mut slot = self.lock();
        let is_it = slot
            .as_ref()
            .and_then(|opening| opening.started.peek())
            .is_some_and(|started| matches!(started, Ok(its) if Arc::ptr_eq(its, connection)));
        if is_it {
            *slot = None;
        }
    }

    /// Returns whether there is a connection.
    pub fn is_connected(&self) -> bool {
        self.lock()
            .as_ref()
            .and_then(|opening| opening.started.peek())
            .is_some_and(|started| matches!(started, Ok(connection) if !connection.is_closed()))
    }

    /// Signals the connection and every child to end. No connection is opened afterwards.
    pub fn stop(&self) {
        self.stop.cancel();
        *self.lock() = None;
    }

    /// Ends the connection and every child, and waits for them.
    pub async fn close(&self) {
        self.stop();
        self.tasks.close();
        self.tasks.wait().await;
    }
}
