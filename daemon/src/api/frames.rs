//! The compact transport: binary frames in both directions, many calls in flight on one connection.

use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{Either, select};
use futures_util::stream::{FuturesUnordered, StreamExt};
use lore::host_session;
use lore::paths::our_uid;
use lore::protocol::frame::{self, ClientFrame, Hello, Welcome};
use lore::protocol::{Args, ErrorBody, PROTOCOL_VERSION, SessionId, tools};
use tokio::io::{AsyncBufRead, AsyncWrite};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::connection_slots::ConnectionSlot;
use super::dispatch::{Dispatch, within};
use super::frame_reader::{Frame, FrameReader, ReadError};
use super::hints::Reader;
use super::limits::{Budget, Limits, MemoryPermit, SMALL_BYTES};
use super::long_polls::LongPolls;
use super::outbox::{Outbox, is_gone};
use super::tool_selection::ToolSelection;
use crate::capture::Capture;
use crate::error::{Code, Refusal};
use crate::log::Actor;
use crate::operation::{
    Caller, CallerProcess, Context, Quota, Reply, SessionUse, WaitPermit, blocking, check_agent,
};
use crate::projects;
use crate::state::State;

/// State that a connection needs.
#[derive(Clone)]
pub struct Endpoint<C = Dispatch> {
    /// What is called: the daemon's operations and resources, or another catalog over MCP.
    pub dispatch: C,
    /// Limits of one peer.
    pub limits: Arc<Limits>,
    /// Memory budget of all peers.
    pub budget: Budget,
    /// Cancelled when the daemon stops: calls in flight are answered, nothing more is read.
    pub stop: CancellationToken,
}

/// How a connection continues after the frame transport.
#[allow(clippy::large_enum_variant)] // one for each connection, never stored
pub enum AfterRequest {
    /// The connection is closed.
    Closed,
    /// The connection continues as MCP over JSON lines, for this host.
    Mcp(Host),
}

/// The MCP peer of a connection.
#[derive(Clone, Default)]
pub struct Host {
    /// The caller.
    pub caller: Caller,
    /// A bridge's id, from which keys for writes without a key are derived.
    pub bridge: Option<String>,
    /// The tools that are listed for this host.
    pub tools: ToolSelection,
}

struct Call {
    id: u64,
    /// Size of the call for the limits, in bytes.
    bytes: usize,
    /// Whether the call counts as a long poll.
    waits: bool,
    caller: Caller,
    recipient: Reader,
}

struct FinishedCall {
    id: u64,
    /// Size of the call for the limits, in bytes.
    bytes: usize,
    /// Whether the call counted as a long poll.
    waited: bool,
    answer: Result<Reply, ErrorBody>,
}

enum Event {
    Frame(Result<Option<Frame>, ReadError>),
    Finished(FinishedCall),
}

impl Endpoint {
    /// Serves one connection of a user's process until it closes or its Hello requests MCP.
    ///
    /// # Errors
    /// When the peer disconnects or does not read its answers. Invalid frames get an error frame instead.
    pub async fn frames<R, W>(
        &self,
        (uid, process): (u32, CallerProcess),
        connection_slot: &ConnectionSlot,
        reader: &mut R,
        writer: &mut W,
    ) -> io::Result<AfterRequest>
    where
        R: AsyncBufRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let mut out = Outbox::default();
        let (hello, mut caller, tools) = match self.greet(uid, reader).await {
            Ok(Some(greeted)) => greeted,
            Ok(None) => return Ok(AfterRequest::Closed),
            Err(error) => {
                frame::encode_error(&mut out.bytes, None, &error);
                self.flush(writer, &mut out).await?;
                return Ok(AfterRequest::Closed);
            }
        };
        frame::encode_welcome(&mut out.bytes, &self.welcome());
        if hello.mcp {
            self.flush(writer, &mut out).await?;
            return Ok(AfterRequest::Mcp(Host {
                caller,
                bridge: hello.bridge,
                tools,
            }));
        }
        caller.process = process;
        self.calls(&caller, connection_slot, reader, writer, out)
            .await?;
        Ok(AfterRequest::Closed)
    }

    fn welcome(&self) -> Welcome {
        let context = self.dispatch.context();
        Welcome {
            version: PROTOCOL_VERSION,
            daemon: context.engine.store_id().to_string(),
            server: format!("lored/{}", tools::SERVER_VERSION),
            pid: std::process::id(),
            position: context.engine.position().0,
            limits: self.limits.published(),
        }
    }

    async fn greet<R: AsyncBufRead + Unpin>(
        &self,
        uid: u32,
        reader: &mut R,
    ) -> Result<Option<(Hello, Caller, ToolSelection)>, ErrorBody> {
        let mut frames = FrameReader::new(frame::HELLO_BYTES_MAX, self.limits.hello());
        let body = match timeout(self.limits.hello(), frames.next(reader, &self.budget)).await {
            Ok(Ok(Some((body, _)))) => body,
            Ok(Ok(None) | Err(ReadError::Io(_))) => return Ok(None),
            Ok(Err(ReadError::Frame(error))) => return Err(error.into()),
            Ok(Err(ReadError::Busy)) => return Err(busy()),
            Err(_) | Ok(Err(ReadError::Slow)) => {
                return Err(ErrorBody::new(
                    Code::Timeout,
                    format!(
                        "no Hello came within {} ms",
                        self.limits.handshake_timeout_ms
                    ),
                )
                .hint("Send the Hello right after connecting."));
            }
        };
        let hello = frame::decode_hello(&body)?;
        let tools = ToolSelection::read(hello.tools.as_deref())?;
        let mut caller = caller_of(self.dispatch.context(), uid, &hello)
            .await
            .map_err(|refusal| refusal.to_body())?;
        caller.quota = Some(Arc::new(Quota::new(self.limits.writes_per_second_max)));
        Ok(Some((hello, caller, tools)))
    }

    /// Reads calls and writes answers as they become ready.
    /// Each connection has one task, so a peer that does not read its answers delays no other peer.
    async fn calls<R, W>(
        &self,
        caller: &Caller,
        connection_slot: &ConnectionSlot,
        reader: &mut R,
        writer: &mut W,
        mut out: Outbox,
    ) -> io::Result<()>
    where
        R: AsyncBufRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let mut frames = FrameReader::new(self.limits.frame_bytes_max, self.limits.frame());
        let mut in_flight = FuturesUnordered::new();
        let mut waiting = LongPolls::new(self.limits.long_polls_max);
        let mut bytes_in_flight = 0;
        let mut open = true;
        let recipient = Reader::of(&caller.actor.client);
        loop {
            if !open {
                waiting.end_all();
            }
            while let Some(Some(finished)) = in_flight.next().now_or_never() {
                bytes_in_flight -= complete(&mut out, connection_slot, &mut waiting, finished);
                if out.is_due() {
                    self.flush(writer, &mut out).await?;
                }
            }
            if !open && in_flight.is_empty() {
                return self.flush(writer, &mut out).await;
            }
            let is_idle = in_flight.is_empty();
            let may_read = open
                && in_flight.len() - waiting.len() < self.limits.calls_in_flight_max
                && bytes_in_flight < self.limits.bytes_in_flight_max;
            let read = async {
                if may_read {
                    frames.next(reader, &self.budget).await
                } else {
                    std::future::pending().await
                }
            };
            let event = {
                let mut next = pin!(async {
                    let read = pin!(read);
                    if is_idle {
                        return Event::Frame(read.await);
                    }
                    match select(in_flight.next(), read).await {
                        Either::Left((Some(finished), _)) => Event::Finished(finished),
                        Either::Left((None, read)) => Event::Frame(read.await),
                        Either::Right((frame, _)) => Event::Frame(frame),
                    }
                });
                // Answers are written before waiting, but only after all received calls are taken:
                // calls sent together are answered together.
                match next.as_mut().now_or_never() {
                    Some(event) => event,
                    None => {
                        self.flush(writer, &mut out).await?;
                        tokio::select! {
                            event = next => event,
                            () = self.stop.cancelled(), if open => Event::Frame(Ok(None)),
                            () = is_gone(writer), if !open => {
                                return Err(io::ErrorKind::BrokenPipe.into());
                            }
                        }
                    }
                }
            };
            match event {
                Event::Finished(finished) => {
                    bytes_in_flight -= complete(&mut out, connection_slot, &mut waiting, finished);
                }
                Event::Frame(Ok(None)) => open = false,
                Event::Frame(Ok(Some((body, memory_permit)))) => {
                    let bytes = body.len();
                    match frame::decode_client(body) {
                        Ok(ClientFrame::Call { id, name, args }) => {
                            let mut call = Call {
                                id,
                                bytes,
                                waits: false,
                                caller: caller.clone(),
                                recipient,
                            };
                            if self.dispatch.waits(&name) {
                                (call.caller.wait_permit, call.waits) = waiting.begin(id);
                            }
                            if call.waits {
                                call.bytes = 0;
                            }
                            bytes_in_flight += call.bytes;
                            in_flight.push(self.dispatch(call, name, args, memory_permit));
                        }
                        // Only long polls can be cancelled: other calls end soon.
                        Ok(ClientFrame::Cancel { id }) => waiting.cancel(id),
                        Ok(ClientFrame::Hello(_)) => {
                            let error = ErrorBody::new(
                                Code::InvalidInput,
                                "a connection has one Hello, and it was already sent",
                            );
                            frame::encode_error(&mut out.bytes, None, &error);
                            open = false;
                        }
                        // Without an id the client cannot assign the error to a call.
                        Err(error) => {
                            frame::encode_error(&mut out.bytes, None, &error.into());
                            open = false;
                        }
                    }
                }
                Event::Frame(Err(error)) => {
                    if let Some(error) = self.error_body(error) {
                        frame::encode_error(&mut out.bytes, None, &error);
                    }
                    open = false;
                }
            }
            if out.is_due() {
                self.flush(writer, &mut out).await?;
            }
        }
    }

    async fn dispatch(
        &self,
        call: Call,
        name: String,
        args: Args,
        memory_permit: MemoryPermit,
    ) -> FinishedCall {
        let (id, bytes, waited, recipient) = (call.id, call.bytes, call.waits, call.recipient);
        let called = name.clone();
        // A long poll has dropped its arguments by then.
        let memory_permit = if memory_permit.is_empty() && !waited {
            self.budget.small(bytes).await
        } else {
            memory_permit
        };
        let answer = if bytes > SMALL_BYTES {
            // The peer may disconnect and drop this future while other threads work on the call. It ends at its next
            // check, and keeps its memory permit and its turn until then.
            let endpoint = self.clone();
            let unwanted = CancellationToken::new();
            let _dropped = unwanted.clone().drop_guard();
            let carried_out = tokio::spawn(async move {
                let _permit = memory_permit;
                let _turn = endpoint.budget.turn(bytes).await;
                let dispatch = &endpoint.dispatch;
                dispatch
                    .call_until(&unwanted, call.caller, &name, args)
                    .await
            });
            match carried_out.await {
                Ok(answer) => answer,
                Err(error) => match error.try_into_panic() {
                    Ok(panic) => std::panic::resume_unwind(panic),
                    // The runtime is shut down, and this task with it.
                    Err(_) => std::future::pending().await,
                },
            }
        } else {
            let _permit = memory_permit;
            self.dispatch.call(call.caller, &name, args).await
        };
        let answer = within(self.limits.frame_bytes_max, answer)
            .map_err(|refusal| recipient.body(&refusal, Some(&called)));
        FinishedCall {
            id,
            bytes,
            waited,
            answer,
        }
    }

    /// Returns the error for a frame that could not be read; `None` when the peer disconnected.
    fn error_body(&self, error: ReadError) -> Option<ErrorBody> {
        match error {
            ReadError::Io(error) => {
                tracing::debug!(%error, "a peer went away");
                None
            }
            ReadError::Frame(error) => Some(error.into()),
            ReadError::Busy => Some(busy()),
            ReadError::Slow => Some(ErrorBody::new(
                Code::Timeout,
                format!(
                    "a frame did not arrive whole within {} ms",
                    self.limits.read_timeout_ms
                ),
            )),
        }
    }

    async fn flush<W: AsyncWrite + Unpin>(
        &self,
        writer: &mut W,
        out: &mut Outbox,
    ) -> io::Result<()> {
        if out.bytes.is_empty() {
            return Ok(());
        }
        let written = timeout(self.limits.write(), out.write(writer)).await;
        out.recycle();
        match written {
            Ok(written) => written,
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

/// Queues an answer and returns the size that its call counted for, in bytes.
fn complete(
    out: &mut Outbox,
    connection_slot: &ConnectionSlot,
    waiting: &mut LongPolls,
    finished: FinishedCall,
) -> usize {
    connection_slot.has_finished_a_call();
    if finished.waited {
        waiting.end(finished.id);
    }
    match finished.answer {
        Ok(reply) => {
            // Metadata consists of numbers and strings, so it always encodes.
            let meta = reply.meta.as_ref();
            let meta = meta.and_then(|meta| serde_json::to_vec(meta).ok());
            out.put(finished.id, reply, meta.as_deref());
        }
        Err(body) => {
            frame::encode_error(&mut out.bytes, Some(finished.id), &body);
        }
    }
    finished.bytes
}

/// Returns the error for a peer when the memory of all peers is used up.
pub(super) fn busy() -> ErrorBody {
    ErrorBody::new(Code::ResourceExhausted, "in-flight memory limit reached")
        .hint("Try again in a moment, with smaller bodies if you can.")
}

/// Checks the host session that a caller states.
///
/// # Errors
/// `INVALID_INPUT`.
pub(super) fn check_host_session(text: &str) -> Result<(), Refusal> {
    if let Some(session) = text.strip_prefix("session:") {
        let id = SessionId::new(session);
        id.map_err(|error| Refusal::invalid(format!("LORE_SESSION: {error}")))?;
    }
    if host_session::is_host_session(text) {
        return Ok(());
    }
    let most = host_session::HOST_SESSION_BYTES_MAX;
    Err(Refusal::invalid(format!(
        "a host session is a kind in lower-case letters, a colon and an id, printable and at most {most} bytes"
    ))
    .hint("For example `claude:6f9619ff-8b86-d011-b42d-00cf4fc964ff`."))
}

/// Resolves the caller of a Hello. Reads the file system for the project, off the event loop.
///
/// # Errors
/// `INVALID_INPUT` if a name in it is invalid.
pub async fn caller_of(cx: &Arc<Context>, uid: u32, hello: &Hello) -> Result<Caller, Refusal> {
    let agent = hello.agent.clone().unwrap_or_default();
    check_agent(&agent)?;
    if let Some(session) = &hello.session {
        SessionId::new(session.as_str())
            .map_err(|error| Refusal::invalid(format!("the Hello's session: {error}")))?;
    }
    if let Some(host_session) = &hello.host_session {
        check_host_session(host_session)?;
    }
    let dir = hello.cwd.clone().map(PathBuf::from);
    let project = match dir.clone() {
        Some(dir) => {
            let cx = Arc::clone(cx);
            let state = State::live(&cx, None).await?;
            blocking(move || Ok(projects::ProjectState::of(&cx)?.project_at(&state, &dir)?)).await?
        }
        None => None,
    };
    if let Some(host_session) = &hello.host_session
        && uid == our_uid()
    {
        // Its mailbox is served from now on.
        let sessions = &Capture::of(cx)?.host_sessions;
        sessions.note(host_session, host_session, dir.as_deref());
    }
    Ok(Caller {
        actor: Arc::new(Actor {
            agent,
            uid,
            client: hello.client.chars().take(128).collect(),
        }),
        dir,
        project,
        session: hello.session.clone(),
        host_session: hello.host_session.clone(),
        session_use: SessionUse::default(),
        quota: None,
        default_key: None,
        boxed_as: None,
        reads_text: false,
        wait_permit: WaitPermit::default(),
        process: CallerProcess::Unknown,
    })
}
