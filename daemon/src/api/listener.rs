//! Accepts connections, checks the peer and selects the transport.

use std::any::Any;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use interprocess::local_socket::traits::tokio::Listener as _;
use interprocess::os::unix::uds_local_socket::tokio::{Listener, Stream};
use lore::protocol::frame;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection_slots::{ConnectionSlot, ConnectionSlots};
use super::dispatch::Dispatch;
use super::frames::{AfterRequest, Endpoint};
use super::http::HttpAuth;
use super::limits::{Budget, Limits};
use super::{http, mcp};
use crate::budget::SharedBudget;
use crate::error::Refusal;
use crate::operation::CallerProcess;
use crate::reloadable::Reloadable;

/// Pause after a failed accept, for example when no descriptor is left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Read buffer of each connection, in bytes.
const BUFFER_BYTES: usize = 8 * 1024;

/// A user's tenant, held open as long as the connection exists.
pub struct TenantHandle {
    /// Calls operations.
    pub dispatch: Dispatch,
    /// Keeps the tenant open; dropped with the connection.
    pub stays: Box<dyn Any + Send + Sync>,
}

/// Finds the tenant of a user or refuses; called once for each connection.
pub type TenantResolver = Box<
    dyn Fn(Peer) -> Pin<Box<dyn Future<Output = Result<TenantHandle, Refusal>> + Send>>
        + Send
        + Sync,
>;

/// Credentials of the peer, as the system reports them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The user id.
    pub uid: u32,
    /// The primary group id.
    pub gid: u32,
    /// The process that connected.
    pub process: CallerProcess,
}

/// Returns the process with an id of the system; it gives 0 for one of another process namespace.
fn process(id: Option<i32>) -> CallerProcess {
    let id = id.and_then(|id| u32::try_from(id).ok());
    id.filter(|id| *id > 0)
        .map_or(CallerProcess::Unknown, CallerProcess::Id)
}

/// The three transports on one listener.
pub struct Transports {
    find: TenantResolver,
    /// Limits of a peer, read when it connects.
    limits: Reloadable<Limits>,
    budget: Budget,
    /// Memory of the calls of all connections.
    memory: Arc<SharedBudget>,
    stop: CancellationToken,
    drain: Duration,
    http: http::Service,
    connection_slots: Arc<ConnectionSlots>,
    connections: TaskTracker,
}

impl Transports {
    /// Creates the transports, with `connection_slots` slots. Limits over all connections are fixed now. Each connection
    /// reads its own limits when it is accepted.
    #[must_use]
    pub fn new(
        find: TenantResolver,
        limits: Reloadable<Limits>,
        connection_slots: usize,
        stop: CancellationToken,
    ) -> Self {
        let now = limits.get();
        Self {
            find,
            connection_slots: ConnectionSlots::new(connection_slots),
            budget: Budget::new(now.bytes_in_flight_total_max),
            memory: now.memory(),
            drain: Duration::from_millis(now.shutdown_timeout_ms),
            http: http::Service::new(),
            limits,
            stop,
            connections: TaskTracker::new(),
        }
    }

    /// Accepts connections until the daemon stops, then waits for calls in flight, up to `shutdown_timeout_ms`. After half
    /// of it, long reads are ended.
    /// Before that wait, `remove` unlinks the socket while the listener still holds its name.
    pub async fn serve(self: Arc<Self>, listener: Listener, remove: impl FnOnce()) {
        loop {
            let accepted = async {
                self.connection_slots.room().await;
                listener.accept().await
            };
            let accepted = tokio::select! {
                accepted = accepted => accepted,
                () = self.stop.cancelled() => break,
            };
            match accepted {
                Ok(stream) => self.accept(stream),
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
        remove();
        drop(listener);
        self.connections.close();
        let half = self.drain / 2;
        if timeout(half, self.connections.wait()).await.is_ok() {
            return;
        }
        // Long reads give up, and their callers are answered.
        self.memory.stop();
        if timeout(half, self.connections.wait()).await.is_err() {
            tracing::warn!(
                left = self.connections.len(),
                "stopping with connections still open"
            );
        }
    }

    /// Accepts TCP connections until the daemon stops: only HTTP, and only authorized requests.
    /// They act as the daemon's user, because only that user can read the token.
    pub async fn serve_http(self: Arc<Self>, listener: TcpListener, auth: HttpAuth) {
        let http = Arc::new(http::Service::behind(auth));
        loop {
            let accepted = async {
                self.connection_slots.room().await;
                listener.accept().await
            };
            let accepted = tokio::select! {
                accepted = accepted => accepted,
                () = self.stop.cancelled() => break,
            };
            match accepted {
                Ok((stream, _)) => self.seat_http(stream, Arc::clone(&http)),
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    fn seat_http(self: &Arc<Self>, stream: TcpStream, http: Arc<http::Service>) {
        let peer = Peer {
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
            process: CallerProcess::Unknown,
        };
        let gives_way = CancellationToken::new();
        let Some(connection_slot) = self.connection_slots.take(peer.uid, gives_way.clone()) else {
            tracing::warn!("a connection was refused: all are taken");
            return;
        };
        let endpoints = Arc::clone(self);
        self.connections.spawn(async move {
            let served = async {
                let tenant_handle = (endpoints.find)(peer).await.map_err(io::Error::other)?;
                let endpoint = endpoints.transport(tenant_handle.dispatch, endpoints.limits.get());
                let _leaves = ClientCountGuard::count(&endpoint);
                let (read, write) = stream.into_split();
                http.serve(&endpoint, peer.uid, &connection_slot, read, write)
                    .await
            };
            let served = tokio::select! {
                served = served => served,
                () = gives_way.cancelled() => Ok(()),
            };
            if let Err(error) = served {
                tracing::debug!(%error, "a connection over TCP ended");
            }
        });
    }

    fn transport(&self, dispatch: Dispatch, limits: Arc<Limits>) -> Endpoint {
        let memory = limits.connection_memory(&self.memory);
        Endpoint {
            dispatch: dispatch.within(memory),
            limits,
            budget: self.budget.clone(),
            stop: self.stop.clone(),
        }
    }

    fn accept(self: &Arc<Self>, stream: Stream) {
        let stream = UnixStream::from(stream);
        // interprocess's `peer_creds` would refuse a peer outside our PID namespace, because it has no process id here.
        let peer = match stream.peer_cred() {
            Ok(peer) => Peer {
                uid: peer.uid(),
                gid: peer.gid(),
                process: process(peer.pid()),
            },
            Err(error) => {
                tracing::warn!(%error, "a peer without credentials was refused");
                return;
            }
        };
        let gives_way = CancellationToken::new();
        let Some(connection_slot) = self.connection_slots.take(peer.uid, gives_way.clone()) else {
            tracing::warn!("a connection was refused: all are taken");
            return;
        };
        let endpoints = Arc::clone(self);
        self.connections.spawn(async move {
            let served = tokio::select! {
                served = endpoints.connection(peer, &connection_slot, stream) => served,
                () = gives_way.cancelled() => Ok(()),
            };
            if let Err(error) = served {
                tracing::debug!(%error, "a connection ended");
            }
        });
    }

    async fn connection(
        &self,
        peer: Peer,
        connection_slot: &ConnectionSlot,
        stream: UnixStream,
    ) -> io::Result<()> {
        let limits = self.limits.get();
        let (read, mut write) = stream.into_split();
        let mut reader = BufReader::with_capacity(BUFFER_BYTES, read);
        let first = tokio::select! {
            first = timeout(limits.hello(), reader.fill_buf()) => first,
            () = self.stop.cancelled() => return Ok(()),
        };
        let first = match first {
            Ok(bytes) => bytes?.first().copied(),
            Err(_) => return Ok(()),
        };
        let tenant_handle = match (self.find)(peer).await {
            Ok(tenant_handle) => tenant_handle,
            Err(refusal) => {
                tracing::warn!(uid = peer.uid, %refusal, "a connection was refused");
                let words = turned_away(first, &refusal);
                return timeout(limits.write(), write.write_all(&words)).await?;
            }
        };
        let endpoint = self.transport(tenant_handle.dispatch, limits);
        // Also decremented when the connection is evicted: its future is dropped then.
        let _leaves = ClientCountGuard::count(&endpoint);
        self.enter(&endpoint, first, peer, connection_slot, reader, write)
            .await
    }

    async fn enter(
        &self,
        endpoint: &Endpoint,
        first: Option<u8>,
        peer: Peer,
        connection_slot: &ConnectionSlot,
        mut reader: BufReader<OwnedReadHalf>,
        mut writer: OwnedWriteHalf,
    ) -> io::Result<()> {
        let uid = peer.uid;
        match first {
            None => Ok(()),
            // The length of a Hello begins with 0. A frame over the limit may begin with another byte;
            // the frame transport answers it.
            Some(0..=8) => match endpoint
                .frames(
                    (uid, peer.process),
                    connection_slot,
                    &mut reader,
                    &mut writer,
                )
                .await?
            {
                AfterRequest::Closed => Ok(()),
                AfterRequest::Mcp(host) => {
                    mcp::serve(endpoint, host, connection_slot, reader, writer).await
                }
            },
            Some(b'{' | b'[' | b' ' | b'\t' | b'\r' | b'\n') => {
                let host = mcp::anonymous(uid, &endpoint.limits);
                mcp::serve(endpoint, host, connection_slot, reader, writer).await
            }
            Some(b'A'..=b'Z') => {
                let http = &self.http;
                http.serve(endpoint, uid, connection_slot, reader, writer)
                    .await
            }
            Some(other) => {
                let line = format!(
                    "lored: a connection begins with a frame (byte 0), MCP as JSON lines ('{{') or \
                     HTTP (a capital letter), not with byte {other}\n"
                );
                writer.write_all(line.as_bytes()).await
            }
        }
    }
}

/// Decrements the client count when dropped.
struct ClientCountGuard<'c>(&'c AtomicU64);

impl<'c> ClientCountGuard<'c> {
    fn count(endpoint: &'c Endpoint) -> Self {
        let clients = &endpoint.dispatch.context().clients;
        clients.fetch_add(1, Ordering::Relaxed);
        Self(clients)
    }
}

impl Drop for ClientCountGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Encodes the refusal of a peer in the format of its transport.
fn turned_away(first: Option<u8>, refusal: &Refusal) -> Vec<u8> {
    let body = refusal.to_body();
    match first {
        Some(0..=8) => {
            let mut words = Vec::new();
            frame::encode_error(&mut words, None, &body);
            words
        }
        Some(b'A'..=b'Z') => {
            let text = json!({"error": body}).to_string();
            let length = text.len();
            format!(
                "HTTP/1.1 403 Forbidden\r\ncontent-type: application/json\r\n\
                 content-length: {length}\r\nconnection: close\r\n\r\n{text}"
            )
            .into_bytes()
        }
        _ => {
            let error = json!({"code": -32000, "message": body.message, "data": body});
            format!(
                "{}\n",
                json!({"jsonrpc": "2.0", "id": null, "error": error})
            )
            .into_bytes()
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::error::Code;

    /// The socket is unlinked while its listener is open, so no other process can own the name by then.
    #[tokio::test]
    async fn the_name_goes_before_the_listener() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/lore.sock");
        let listener = crate::service::bind(&path, 0o600).unwrap().listener;
        let find: TenantResolver =
            Box::new(|_| Box::pin(async { Err(Refusal::new(Code::Internal, "nobody comes in")) }));
        let stop = CancellationToken::new();
        let limits = Reloadable::new(Limits::default());
        let endpoints = Arc::new(Transports::new(find, limits, 4, stop.clone()));
        stop.cancel();
        let mut listens = false;
        let remove = || {
            listens = std::os::unix::net::UnixStream::connect(&path).is_ok();
            std::fs::remove_file(&path).unwrap();
        };
        endpoints.serve(listener, remove).await;
        assert!(listens && !path.exists());
    }
}
