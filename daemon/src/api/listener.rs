//! Accepting connections: who may, how many, and which door each one means.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::frames::{Door, Next};
use super::{http, mcp};

/// After a failed accept (out of descriptors, say) the next is tried this much later.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Read ahead of each connection, in bytes.
const BUFFER_BYTES: usize = 8 * 1024;

/// One connection's place among all, given up when dropped.
pub struct Seat {
    number: u64,
    seats: Arc<Seats>,
    has_finished: Arc<AtomicBool>,
}

/// Every connection there is.
pub struct Seats {
    taken: Mutex<Taken>,
    max: usize,
}

#[derive(Default)]
struct Taken {
    by_number: BTreeMap<u64, (Arc<AtomicBool>, CancellationToken)>,
    next: u64,
}

impl Seats {
    fn new(max: usize) -> Arc<Self> {
        Arc::new(Self {
            taken: Mutex::default(),
            max,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A seat for a new connection. When all are taken, the oldest connection that never got an
    /// answer gives way; `None` when every one did.
    fn take(self: &Arc<Self>, gives_way: CancellationToken) -> Option<Seat> {
        let mut taken = self.lock();
        if taken.by_number.len() >= self.max {
            let idle = taken
                .by_number
                .iter()
                .find(|(_, (finished, _))| !finished.load(Ordering::Relaxed))
                .map(|(number, _)| *number)?;
            if let Some((_, token)) = taken.by_number.remove(&idle) {
                token.cancel();
            }
        }
        let number = taken.next;
        taken.next += 1;
        let has_finished = Arc::new(AtomicBool::new(false));
        taken
            .by_number
            .insert(number, (Arc::clone(&has_finished), gives_way));
        Some(Seat {
            number,
            seats: Arc::clone(self),
            has_finished,
        })
    }
}

impl Seat {
    /// The only seat, for tests of a door by itself.
    #[cfg(test)]
    pub fn alone() -> Option<Self> {
        Seats::new(1).take(CancellationToken::new())
    }

    /// From now on this connection does not give way to new ones.
    pub fn has_finished_a_call(&self) {
        self.has_finished.store(true, Ordering::Relaxed);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.seats.lock().by_number.remove(&self.number);
    }
}

/// The three doors on one listener.
pub struct Doors {
    door: Door,
    http: http::Service,
    seats: Arc<Seats>,
    connections: TaskTracker,
}

impl Doors {
    /// Doors for these calls and limits.
    #[must_use]
    pub fn new(door: Door) -> Self {
        Self {
            seats: Seats::new(door.limits.connections_max),
            http: http::Service::new(&door),
            door,
            connections: TaskTracker::new(),
        }
    }

    /// Accepts until told to stop, then waits for calls in flight, up to `drain_ms_max`.
    pub async fn serve(self: Arc<Self>, listener: UnixListener) {
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = self.door.stop.cancelled() => break,
            };
            match accepted {
                Ok((stream, _)) => self.seat(stream),
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
        drop(listener);
        self.connections.close();
        let drain = Duration::from_millis(self.door.limits.drain_ms_max);
        if timeout(drain, self.connections.wait()).await.is_err() {
            tracing::warn!(
                left = self.connections.len(),
                "stopping with connections still open"
            );
        }
    }

    fn seat(self: &Arc<Self>, stream: UnixStream) {
        let uid = match stream.peer_cred() {
            Ok(peer) => peer.uid(),
            Err(error) => {
                tracing::warn!(%error, "a peer without credentials was refused");
                return;
            }
        };
        if uid != rustix::process::geteuid().as_raw() {
            tracing::warn!(uid, "another user's connection was refused");
            return;
        }
        let gives_way = CancellationToken::new();
        let Some(seat) = self.seats.take(gives_way.clone()) else {
            tracing::warn!("a connection was refused: all are taken");
            return;
        };
        let doors = Arc::clone(self);
        self.connections.spawn(async move {
            let clients = &doors.door.dispatch.context().clients;
            clients.fetch_add(1, Ordering::Relaxed);
            let served = tokio::select! {
                served = doors.connection(uid, &seat, stream) => served,
                () = gives_way.cancelled() => Ok(()),
            };
            clients.fetch_sub(1, Ordering::Relaxed);
            if let Err(error) = served {
                tracing::debug!(%error, "a connection ended");
            }
        });
    }

    async fn connection(&self, uid: u32, seat: &Seat, stream: UnixStream) -> io::Result<()> {
        let (read, write) = stream.into_split();
        let mut reader = BufReader::with_capacity(BUFFER_BYTES, read);
        let first = tokio::select! {
            first = timeout(self.door.limits.hello(), reader.fill_buf()) => first,
            () = self.door.stop.cancelled() => return Ok(()),
        };
        let first = match first {
            Ok(bytes) => bytes?.first().copied(),
            Err(_) => return Ok(()),
        };
        self.enter(first, uid, seat, reader, write).await
    }

    async fn enter(
        &self,
        first: Option<u8>,
        uid: u32,
        seat: &Seat,
        mut reader: BufReader<OwnedReadHalf>,
        mut writer: OwnedWriteHalf,
    ) -> io::Result<()> {
        match first {
            None => Ok(()),
            // The length of a Hello begins with 0; of a frame over the limit perhaps not, and the
            // frame door is where that is answered.
            Some(0..=8) => {
                match self
                    .door
                    .frames(uid, seat, &mut reader, &mut writer)
                    .await?
                {
                    Next::Closed => Ok(()),
                    Next::Mcp(host) => mcp::serve(&self.door, host, seat, reader, writer).await,
                }
            }
            Some(b'{' | b'[' | b' ' | b'\t' | b'\r' | b'\n') => {
                let host = mcp::anonymous(uid);
                mcp::serve(&self.door, host, seat, reader, writer).await
            }
            Some(b'A'..=b'Z') => {
                let http = &self.http;
                http.serve(&self.door, uid, seat, reader, writer).await
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
