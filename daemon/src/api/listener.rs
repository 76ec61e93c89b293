//! Accepting connections: who may, how many, and which door each one means.

use std::any::Any;
use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lore::protocol::frame;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::dispatch::Dispatch;
use super::frames::{Door, Next};
use super::http::Gate;
use super::limits::{Budget, Limits};
use super::{http, mcp};
use crate::error::Refusal;
use crate::live::Live;

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
    by_number: BTreeMap<u64, Sitting>,
    next: u64,
}

/// One who has a seat.
struct Sitting {
    uid: u32,
    has_finished: Arc<AtomicBool>,
    gives_way: CancellationToken,
}

impl Taken {
    /// Who gives way to a newcomer of this user: the oldest connection that never got an answer; else the
    /// oldest one of whoever has most, if that is more than the newcomer would have.
    fn gives_way_to(&self, uid: u32) -> Option<u64> {
        let is_idle = |sitting: &Sitting| !sitting.has_finished.load(Ordering::Relaxed);
        let idle = self.by_number.iter().find(|(_, one)| is_idle(one));
        if let Some((number, _)) = idle {
            return Some(*number);
        }
        let mut seats: BTreeMap<u32, usize> = BTreeMap::new();
        for one in self.by_number.values() {
            *seats.entry(one.uid).or_default() += 1;
        }
        let own = seats.get(&uid).copied().unwrap_or_default();
        let (most, count) = seats.into_iter().max_by_key(|(_, count)| *count)?;
        let oldest = self.by_number.iter().find(|(_, one)| one.uid == most);
        oldest
            .filter(|_| count > own + 1)
            .map(|(number, _)| *number)
    }
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

    /// A seat for a new connection of a user. When all are taken, another one gives way; `None` when none
    /// has to.
    fn take(self: &Arc<Self>, uid: u32, gives_way: CancellationToken) -> Option<Seat> {
        let mut taken = self.lock();
        if taken.by_number.len() >= self.max {
            let number = taken.gives_way_to(uid)?;
            if let Some(sitting) = taken.by_number.remove(&number) {
                sitting.gives_way.cancel();
            }
        }
        let number = taken.next;
        taken.next += 1;
        let has_finished = Arc::new(AtomicBool::new(false));
        let sitting = Sitting {
            uid,
            has_finished: Arc::clone(&has_finished),
            gives_way,
        };
        taken.by_number.insert(number, sitting);
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
        Seats::new(1).take(0, CancellationToken::new())
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

/// What a user calls into, and what keeps it open as long as the connection is.
pub struct Guest {
    /// Calls operations.
    pub dispatch: Dispatch,
    /// Dropped with the connection.
    pub stays: Box<dyn Any + Send + Sync>,
}

/// Finds what a user calls into, or says why not; asked once for each connection.
pub type Find =
    Box<dyn Fn(Peer) -> Pin<Box<dyn Future<Output = Result<Guest, Refusal>> + Send>> + Send + Sync>;

/// Who is at the other end, as the system says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The user's number.
    pub uid: u32,
    /// The number of its first group.
    pub gid: u32,
}

/// The three doors on one listener.
pub struct Doors {
    find: Find,
    /// What a peer may use from its connection on.
    limits: Live<Limits>,
    budget: Budget,
    stop: CancellationToken,
    drain: Duration,
    http: http::Service,
    seats: Arc<Seats>,
    connections: TaskTracker,
}

impl Doors {
    /// Doors into what is found for each peer, with seats for so many. Limits of all connections together are
    /// those of now for good; each connection has its own as they are when it comes.
    #[must_use]
    pub fn new(find: Find, limits: Live<Limits>, seats: usize, stop: CancellationToken) -> Self {
        let now = limits.get();
        Self {
            find,
            seats: Seats::new(seats),
            budget: Budget::new(now.bytes_in_flight_total_max),
            drain: Duration::from_millis(now.drain_ms_max),
            http: http::Service::new(&now),
            limits,
            stop,
            connections: TaskTracker::new(),
        }
    }

    /// Accepts until told to stop, then waits for calls in flight, up to `drain_ms_max`.
    pub async fn serve(self: Arc<Self>, listener: UnixListener) {
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = self.stop.cancelled() => break,
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
        if timeout(self.drain, self.connections.wait()).await.is_err() {
            tracing::warn!(
                left = self.connections.len(),
                "stopping with connections still open"
            );
        }
    }

    /// Accepts over TCP until told to stop: HTTP alone, from programs that show what the gate wants. They
    /// are taken for the daemon's own user, who alone can read the token.
    pub async fn serve_http(self: Arc<Self>, listener: TcpListener, gate: Gate) {
        let http = Arc::new(http::Service::behind(&self.limits.get(), gate));
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
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
        };
        let gives_way = CancellationToken::new();
        let Some(seat) = self.seats.take(peer.uid, gives_way.clone()) else {
            tracing::warn!("a connection was refused: all are taken");
            return;
        };
        let doors = Arc::clone(self);
        self.connections.spawn(async move {
            let served = async {
                let guest = (doors.find)(peer).await.map_err(io::Error::other)?;
                let door = doors.door(guest.dispatch, doors.limits.get());
                let _leaves = Leaves::count(&door);
                let (read, write) = stream.into_split();
                http.serve(&door, peer.uid, &seat, read, write).await
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

    fn door(&self, dispatch: Dispatch, limits: Arc<Limits>) -> Door {
        Door {
            dispatch,
            limits,
            budget: self.budget.clone(),
            stop: self.stop.clone(),
        }
    }

    fn seat(self: &Arc<Self>, stream: UnixStream) {
        let peer = match stream.peer_cred() {
            Ok(peer) => Peer {
                uid: peer.uid(),
                gid: peer.gid(),
            },
            Err(error) => {
                tracing::warn!(%error, "a peer without credentials was refused");
                return;
            }
        };
        let gives_way = CancellationToken::new();
        let Some(seat) = self.seats.take(peer.uid, gives_way.clone()) else {
            tracing::warn!("a connection was refused: all are taken");
            return;
        };
        let doors = Arc::clone(self);
        self.connections.spawn(async move {
            let served = tokio::select! {
                served = doors.connection(peer, &seat, stream) => served,
                () = gives_way.cancelled() => Ok(()),
            };
            if let Err(error) = served {
                tracing::debug!(%error, "a connection ended");
            }
        });
    }

    async fn connection(&self, peer: Peer, seat: &Seat, stream: UnixStream) -> io::Result<()> {
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
        let guest = match (self.find)(peer).await {
            Ok(guest) => guest,
            Err(refusal) => {
                tracing::warn!(uid = peer.uid, %refusal, "a connection was refused");
                let words = turned_away(first, &refusal);
                return timeout(limits.write(), write.write_all(&words)).await?;
            }
        };
        let door = self.door(guest.dispatch, limits);
        // Also when this connection gives way: its future is dropped then.
        let _leaves = Leaves::count(&door);
        self.enter(&door, first, peer.uid, seat, reader, write)
            .await
    }

    async fn enter(
        &self,
        door: &Door,
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
            Some(0..=8) => match door.frames(uid, seat, &mut reader, &mut writer).await? {
                Next::Closed => Ok(()),
                Next::Mcp(host) => mcp::serve(door, host, seat, reader, writer).await,
            },
            Some(b'{' | b'[' | b' ' | b'\t' | b'\r' | b'\n') => {
                let host = mcp::anonymous(uid);
                mcp::serve(door, host, seat, reader, writer).await
            }
            Some(b'A'..=b'Z') => {
                let http = &self.http;
                http.serve(door, uid, seat, reader, writer).await
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

/// Counts a client out.
struct Leaves<'c>(&'c AtomicU64);

impl<'c> Leaves<'c> {
    fn count(door: &'c Door) -> Self {
        let clients = &door.dispatch.context().clients;
        clients.fetch_add(1, Ordering::Relaxed);
        Self(clients)
    }
}

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a peer that may not come in is told, in the words of the door that it knocked at.
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
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    /// Who never got an answer gives way first, then whoever has most; nobody does for one who would have
    /// as many.
    #[test]
    fn seats_are_shared() {
        let seats = Seats::new(4);
        let tokens: Vec<CancellationToken> = (0..6).map(|_| CancellationToken::new()).collect();
        let take = |uid: u32, number: usize| seats.take(uid, tokens[number].clone());
        let mut first: Vec<Seat> = (0..4).map(|number| take(1, number).unwrap()).collect();
        for seat in [0, 2, 3] {
            first[seat].has_finished_a_call();
        }
        let newcomer = take(1, 4).expect("the second one is idle");
        assert!(tokens[1].is_cancelled() && !tokens[0].is_cancelled());
        newcomer.has_finished_a_call();
        assert!(take(1, 5).is_none(), "all of one user's, all in use");
        let other = take(2, 5).expect("user 1 has four, user 2 none");
        assert!(tokens[0].is_cancelled());
        other.has_finished_a_call();
        let second = seats.take(2, CancellationToken::new()).unwrap();
        second.has_finished_a_call();
        assert!(
            seats.take(2, CancellationToken::new()).is_none(),
            "two each"
        );
        first.clear();
    }
}
