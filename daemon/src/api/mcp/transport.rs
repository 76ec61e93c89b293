//! JSON lines as rmcp's transport. Messages that rmcp would drop silently are answered here, and each peer's
//! memory is limited.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use lore::protocol::{Code, ErrorBody, Position};
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, GetExtensions,
    JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use tokio::io::AsyncBufRead;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::catalog::Catalog;
use super::in_flight::{InFlightCall, InFlightCalls};
use super::line_error::LineError;
use super::lines::{Line, LineReader, ReadError};
use super::message::{self, Message};
use super::raw_call::RawMcpCall;
use super::too_large::replacement;
use crate::api::frames::Endpoint;
use crate::api::limits::{Limits, MemoryPermit};
use crate::budget::CallBudget;

/// A line to write, with the call that it answers.
pub struct Answer {
    /// One message and its line break.
    pub line: Vec<u8>,
    /// The call, which counts as in flight until this is dropped.
    pub in_flight_call: Option<Arc<InFlightCall>>,
    /// The memory of the call, reserved until this is dropped.
    pub memory: Option<CallBudget>,
}

/// A request that rmcp has not answered yet.
struct PendingRequest {
    in_flight_call: Arc<InFlightCall>,
    /// Set when the request is a call.
    raw_call: Option<Arc<RawMcpCall>>,
}

/// The newest position when a request arrived; `None` while the store was reopened.
#[derive(Clone, Copy, Debug)]
pub struct RequestStart(pub Option<Position>);

/// Reads messages for rmcp and queues its answers.
pub struct LineTransport<C, R> {
    reader: R,
    lines: LineReader,
    endpoint: Endpoint<C>,
    answers: mpsc::Sender<Answer>,
    in_flight_calls: InFlightCalls,
    pending: HashMap<RequestId, PendingRequest>,
    /// Set when answers can no longer be written.
    gone: CancellationToken,
    /// An answer of the transport itself that waits for space in the queue.
    waiting: Option<Answer>,
    is_open: bool,
}

impl<C: Catalog, R> LineTransport<C, R> {
    /// Reads messages from `reader` and queues answers until `gone`. When no more messages can arrive, `over` is
    /// cancelled, which ends all long polls.
    pub fn new(
        endpoint: &Endpoint<C>,
        reader: R,
        answers: mpsc::Sender<Answer>,
        gone: CancellationToken,
        over: CancellationToken,
    ) -> Self {
        let limits: &Limits = &endpoint.limits;
        Self {
            reader,
            lines: LineReader::new(limits.frame_bytes_max, limits.frame()),
            in_flight_calls: InFlightCalls::new(limits, over),
            endpoint: endpoint.clone(),
            answers,
            pending: HashMap::new(),
            gone,
            waiting: None,
            is_open: true,
        }
    }

    fn refuse(&mut self, fault: &LineError) {
        self.waiting = fault.to_json().ok().map(|mut line| {
            line.push(b'\n');
            Answer {
                line,
                in_flight_call: None,
                memory: None,
            }
        });
    }

    /// Parses a line for rmcp; an error is stored as the pending answer.
    fn take(&mut self, line: Vec<u8>, memory_permit: MemoryPermit) -> Option<ClientJsonRpcMessage> {
        let bytes = line.len();
        match message::read(line) {
            Ok(Message::Nothing) => None,
            Ok(Message::Forward(mut message)) => {
                if let Err(fault) = self.depart(&mut message, bytes, memory_permit) {
                    self.refuse(&fault);
                    return None;
                }
                Some(*message)
            }
            Err(fault) => {
                self.refuse(&fault);
                None
            }
        }
    }

    /// Returns whether a request may be a long poll.
    fn waits(&self, request: &ClientRequest) -> bool {
        match request {
            ClientRequest::CallToolRequest(call) => {
                let catalog = &self.endpoint.dispatch;
                let tool = catalog.find_tool(&call.params.name);
                tool.is_some_and(|tool| catalog.waits(tool))
            }
            ClientRequest::SubscriptionsListenRequest(_) => true,
            _ => false,
        }
    }

    fn depart(
        &mut self,
        message: &mut ClientJsonRpcMessage,
        bytes: usize,
        memory_permit: MemoryPermit,
    ) -> Result<(), LineError> {
        match message {
            JsonRpcMessage::Request(request) => {
                if self.pending.contains_key(&request.id) {
                    return Err(LineError {
                        id: Some(request.id.clone()),
                        odd_id: None,
                        code: ErrorCode::INVALID_REQUEST,
                        body: ErrorBody::new(
                            Code::InvalidInput,
                            "a request with this `id` is not answered yet",
                        ),
                    });
                }
                let in_flight_call = match self.waits(&request.request) {
                    true => self.in_flight_calls.wait(bytes, memory_permit),
                    false => self.in_flight_calls.begin(bytes, memory_permit),
                };
                let extensions = request.request.extensions_mut();
                extensions.insert(Arc::clone(&in_flight_call));
                extensions.insert(RequestStart(self.endpoint.dispatch.position()));
                let raw_call = extensions.get::<Arc<RawMcpCall>>().cloned();
                let pending = PendingRequest {
                    in_flight_call,
                    raw_call,
                };
                self.pending.insert(request.id.clone(), pending);
            }
            JsonRpcMessage::Notification(notification) => {
                // rmcp does not answer a cancelled request; its call is complete when the handler ends.
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.pending.remove(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        Ok(())
    }

    fn take_read(&mut self, read: Result<Option<Line>, ReadError>) -> Option<ClientJsonRpcMessage> {
        let limits = &self.endpoint.limits;
        let fault = match read {
            Ok(Some(Line::Whole(line, memory_permit))) => return self.take(line, memory_permit),
            Ok(None) => {
                self.is_open = false;
                return None;
            }
            Err(ReadError::Io(error)) => {
                tracing::debug!(%error, "a peer went away");
                self.is_open = false;
                return None;
            }
            Ok(Some(Line::TooLong(head))) => {
                let message = format!("a line has at most {} bytes", limits.frame_bytes_max);
                let body = ErrorBody::new(Code::FrameTooLarge, message).hint("Send it in parts.");
                LineError::of(&head, ErrorCode::INVALID_REQUEST, body)
            }
            Ok(Some(Line::Busy(head))) => {
                LineError::of(&head, ErrorCode::INTERNAL_ERROR, crate::api::frames::busy())
            }
            Err(ReadError::Slow(head)) => {
                self.is_open = false;
                let message = format!("a line did not end within {} ms", limits.read_timeout_ms);
                let body = ErrorBody::new(Code::Timeout, message);
                LineError::of(&head, ErrorCode::INVALID_REQUEST, body)
            }
        };
        self.refuse(&fault);
        None
    }
}

impl<C: Catalog, R: AsyncBufRead + Unpin + Send + 'static> Transport<RoleServer>
    for LineTransport<C, R>
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let id = match &message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        let (in_flight_call, raw_call) = match id.and_then(|id| self.pending.remove(id)) {
            Some(PendingRequest {
                in_flight_call,
                raw_call,
            }) => (Some(in_flight_call), raw_call),
            None => (None, None),
        };
        let answers = self.answers.clone();
        let bytes_max = self.endpoint.limits.mcp_line_bytes_max;
        async move {
            let Some(mut line) = encode(&message) else {
                return Err(io::ErrorKind::InvalidData.into());
            };
            let mut memory = None;
            if let Some(raw_call) = raw_call {
                (line, memory) = raw_call.complete(line);
            }
            if line.len() >= bytes_max
                && let Some(refused) = encode(&replacement(&message, line.len() + 1, bytes_max))
            {
                line = refused;
            }
            drop(message);
            line.push(b'\n');
            answers
                .send(Answer {
                    line,
                    in_flight_call,
                    memory,
                })
                .await
                .map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    /// Cancel-safe: read bytes stay in `self` until they are returned or answered.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if self.waiting.is_some() {
                let permit = tokio::select! {
                    permit = self.answers.reserve() => permit.ok()?,
                    () = self.gone.cancelled() => return None,
                };
                if let Some(answer) = self.waiting.take() {
                    permit.send(answer);
                }
            }
            if !self.is_open {
                self.in_flight_calls.end_waiting();
                tokio::select! {
                    () = self.in_flight_calls.drained() => {}
                    () = self.gone.cancelled() => {}
                }
                return None;
            }
            let read = async {
                self.in_flight_calls.room().await;
                self.lines
                    .next(&mut self.reader, &self.endpoint.budget)
                    .await
            };
            let read = tokio::select! {
                biased;
                () = self.gone.cancelled() => return None,
                () = self.endpoint.stop.cancelled() => Ok(None),
                read = read => read,
            };
            if let Some(message) = self.take_read(read) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.pending.clear();
        Ok(())
    }
}

/// Encodes a message as a line without its break.
fn encode(message: &ServerJsonRpcMessage) -> Option<Vec<u8>> {
    let mut line = Vec::with_capacity(512);
    match serde_json::to_writer(&mut line, message) {
        Ok(()) => Some(line),
        Err(error) => {
            tracing::error!(%error, "an answer does not encode");
            None
        }
    }
}
