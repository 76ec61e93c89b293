//! MCP over JSON lines: both eras of the protocol, any number of calls in flight.

mod argument_rules;
mod calls;
mod catalog;
mod completions;
mod content_form;
mod daemon_catalog;
mod host_session;
mod id;
mod in_flight;
mod line_error;
mod lines;
mod message;
mod named;
mod prompts;
mod raw_call;
mod resources;
mod results;
mod server;
mod subscriptions;
#[cfg(test)]
pub mod tests;
mod too_large;
mod tools;
mod transport;

use std::io;
use std::sync::Arc;

pub use catalog::{Catalog, ResourceChanges, ResultEncoder, ToolCall};
pub use content_form::ContentSetting;
pub use line_error::LineError;
pub use message::{check, unload};
pub use raw_call::RawMcpCall;
pub use results::ReplyShape;
use rmcp::service::serve_directly;
pub use server::{ConnectionLifetime, Server};
use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
pub use too_large::replacement_json;
use transport::{Answer, LineTransport};

use super::connection_slots::ConnectionSlot;
use super::frames::{Endpoint, Host};
use super::limits::Limits;
use super::outbox::is_gone;
use crate::log::Actor;
use crate::operation::{Caller, Quota};

/// Answers are buffered up to this many bytes before a write.
const GATHER_BYTES: usize = 64 * 1024;
/// Queue capacity for answers that do not belong to calls.
const QUEUE_SPARE: usize = 8;

/// Creates a host of which only the user is known, with a separate quota: one for each connection.
#[must_use]
pub fn anonymous(uid: u32, limits: &Limits) -> Host {
    let actor = Arc::new(Actor {
        uid,
        ..Actor::default()
    });
    Host {
        caller: Caller {
            actor,
            quota: Some(Arc::new(Quota::new(limits.writes_per_second_max))),
            ..Caller::default()
        },
        ..Host::default()
    }
}

/// Serves one connection until it closes or the daemon stops; then calls in flight are answered.
///
/// No handshake is required: `initialize` and `server/discover` are answered at any time,
/// so a bridge may continue its calls right after a reconnect.
///
/// # Errors
/// When the peer does not read its answers. Invalid lines get an error answer instead.
pub async fn serve<C, R, W>(
    endpoint: &Endpoint<C>,
    host: Host,
    connection_slot: &ConnectionSlot,
    reader: R,
    mut writer: W,
) -> io::Result<()>
where
    C: Catalog,
    R: AsyncBufRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin,
{
    let (answers, mut queue) = mpsc::channel(endpoint.limits.calls_in_flight_max + QUEUE_SPARE);
    let gone = CancellationToken::new();
    let over = CancellationToken::new();
    let server = Server::new(endpoint, host, ConnectionLifetime::Long, over.clone());
    let transport = LineTransport::new(endpoint, reader, answers, gone.clone(), over.clone());
    let running = serve_directly(server.until(gone.clone()), transport, None);
    let written = write(
        &endpoint.limits,
        connection_slot,
        &mut queue,
        &mut writer,
        &over,
    )
    .await;
    drop(queue);
    gone.cancel();
    over.cancel();
    let ended = running.waiting().await;
    written.and(ended.map(drop).map_err(io::Error::other))
}

/// Returns the next answer; `None` when the queue is closed.
///
/// # Errors
/// When the peer sends nothing more, which `over` says, and does not read either.
async fn next<W: AsyncWrite + Unpin>(
    queue: &mut mpsc::Receiver<Answer>,
    writer: &mut W,
    over: &CancellationToken,
) -> io::Result<Option<Answer>> {
    let gone = async {
        over.cancelled().await;
        is_gone(writer).await;
    };
    tokio::select! {
        biased;
        answer = queue.recv() => Ok(answer),
        () = gone => Err(io::ErrorKind::BrokenPipe.into()),
    }
}

/// Writes answers until the queue is closed, or the peer has gone.
async fn write<W: AsyncWrite + Unpin>(
    limits: &Limits,
    connection_slot: &ConnectionSlot,
    queue: &mut mpsc::Receiver<Answer>,
    writer: &mut W,
    over: &CancellationToken,
) -> io::Result<()> {
    let mut out = Vec::with_capacity(1024);
    while let Some(first) = next(queue, writer, over).await? {
        let mut landing = vec![(first.in_flight_call, first.memory)];
        out.extend(first.line);
        while out.len() < GATHER_BYTES
            && let Ok(next) = queue.try_recv()
        {
            out.extend(next.line);
            landing.push((next.in_flight_call, next.memory));
        }
        match timeout(limits.write(), writer.write_all(&out)).await {
            Ok(written) => written?,
            Err(_) => return Err(io::ErrorKind::TimedOut.into()),
        }
        if landing.iter().any(|(call, _)| call.is_some()) {
            connection_slot.has_finished_a_call();
        }
        out.clear();
        out.shrink_to(GATHER_BYTES);
    }
    Ok(())
}
