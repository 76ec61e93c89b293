//! Listens for browsers while the page has viewers, and only then.

use std::io;
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use lore::protocol::{Code, ErrorBody};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::super::listener::TenantHandle;
use super::access::PageAccess;
use super::http::Page;
use crate::clock::Clock;
use crate::error::Refusal;
use crate::page::{LinkRequest, PageRequests};

/// Time without a viewer after which the page closes.
const IDLE_MAX: Duration = Duration::from_mins(30);
/// Maximum number of connections. A browser opens six.
const CONNECTIONS_MAX: usize = 64;
/// Requests for links that wait.
const REQUESTS_MAX: usize = 16;
/// Pause after a failed accept, for example when no descriptor is left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Time for answers in progress when the page closes.
const CLOSE_MAX: Duration = Duration::from_secs(1);

const NETWORK_HINT: &str = "The unit of the system-wide daemon has no network: docs/page.md says how to allow it the loopback.";

/// Finds the memory of a user, by uid.
pub type TenantsByUser = dyn Fn(u32) -> Pin<Box<dyn Future<Output = Result<TenantHandle, Refusal>> + Send>>
    + Send
    + Sync;

/// The server of the page. It holds nothing while the page is closed.
pub struct PageServer {
    requests: mpsc::Receiver<LinkRequest>,
    idle_max: Duration,
}

impl PageServer {
    /// Creates the server, and what asks it for links.
    #[must_use]
    pub fn new() -> (Self, PageRequests) {
        let (sender, requests) = mpsc::channel(REQUESTS_MAX);
        let server = Self {
            requests,
            idle_max: IDLE_MAX,
        };
        (server, PageRequests(sender))
    }

    /// Closes the page after this time without a viewer.
    #[cfg(test)]
    pub(super) fn idle_max(self, idle_max: Duration) -> Self {
        Self { idle_max, ..self }
    }

    /// Serves until the daemon stops.
    pub async fn run(mut self, tenants: Arc<TenantsByUser>, stop: CancellationToken) {
        loop {
            let request = tokio::select! {
                request = self.requests.recv() => request,
                () = stop.cancelled() => None,
            };
            let Some(request) = request else { return };
            match open().await {
                Ok((listener, port)) => {
                    let page = Page {
                        access: Arc::new(PageAccess::new(port)),
                        tenants: Arc::clone(&tenants),
                        stop: stop.child_token(),
                    };
                    tracing::info!(port, "the page is open");
                    give_link(&page, request);
                    self.serve(&listener, &page).await;
                    tracing::info!(port, "the page is closed");
                }
                Err(error) => {
                    let message = format!("no port of the loopback can be listened on: {error}");
                    let refusal = ErrorBody::new(Code::Internal, message).hint(NETWORK_HINT);
                    let _ = request.reply.send(Err(refusal));
                }
            }
        }
    }

    /// Serves on a port until it has had no viewer for long.
    async fn serve(&mut self, listener: &TcpListener, page: &Page) {
        let connections = TaskTracker::new();
        let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        loop {
            // An open stream counts as a viewer. It is enough to look again after the whole time, because the time starts again
            // when the stream ends.
            let idle_from = page.access.idle_from(self.idle_max);
            let look_at = idle_from.unwrap_or_else(|| Instant::now() + self.idle_max);
            let accepted = async {
                let seat = Arc::clone(&room).acquire_owned().await;
                (listener.accept().await, seat)
            };
            tokio::select! {
                request = self.requests.recv() => match request {
                    Some(request) => give_link(page, request),
                    None => break,
                },
                (accepted, seat) = accepted => match accepted {
                    Ok((stream, _)) => {
                        let page = page.clone();
                        connections.spawn(async move {
                            if let Err(error) = page.serve(stream).await {
                                tracing::debug!(%error, "a connection of a browser ended");
                            }
                            drop(seat);
                        });
                    }
                    Err(error) => {
                        tracing::warn!(%error, "a browser's connection was not accepted");
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                },
                () = sleep_until(look_at) => {
                    let now = Instant::now();
                    if page.access.idle_from(self.idle_max).is_some_and(|idle| idle <= now) {
                        break;
                    }
                }
                () = page.stop.cancelled() => break,
            }
        }
        page.stop.cancel();
        connections.close();
        if tokio::time::timeout(CLOSE_MAX, connections.wait())
            .await
            .is_err()
        {
            tracing::debug!(
                left = connections.len(),
                "the page closes beside open connections"
            );
        }
    }
}

async fn open() -> io::Result<(TcpListener, u16)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let port = listener.local_addr()?.port();
    Ok((listener, port))
}

fn give_link(page: &Page, request: LinkRequest) {
    let link = page
        .access
        .link(request.uid, Clock::System.random(), Instant::now());
    // If the caller has disconnected, the link expires unused.
    let _ = request.reply.send(Ok(link));
}
