//! MCP over HTTP/1.1 on the same socket, only at `/mcp`.
//!
//! Requests are stateless in both eras of the protocol. Only pages that the settings allow get CORS headers.

mod auth;
mod deadline;
mod pages;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;

pub use auth::HttpAuth;
pub use deadline::DeadlineWriter;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{CONNECTION, CONTENT_TYPE, EXPECT, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use lore::protocol::{Code, ErrorBody};
use rmcp::model::ErrorCode;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::connection_slots::ConnectionSlot;
use super::frames::{Endpoint, Host, busy, check_host_session};
use super::limits::{MemoryPermit, SMALL_BYTES};
use super::mcp::{
    Catalog, ConnectionLifetime, LineError, RawMcpCall, Server, anonymous, replacement_json, unload,
};
use super::tool_selection::ToolSelection;
use crate::error::Refusal;

/// Path of the MCP endpoint.
const PATH: &str = "/mcp";
/// Header with the host session of a request, as `KIND:ID`.
const HOST_SESSION: &str = "lore-host-session";
/// Origins that may call, when a browser sends an `Origin`.
const ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
/// Maximum size of a request's head, in bytes.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Memory for a large body is reserved in pieces of this size, in bytes.
const PIECE_BYTES: usize = 256 * 1024;

type Answer = Response<BoxBody<Bytes, Infallible>>;
type Mcp<C> = StreamableHttpService<Server<C>, NeverSessionManager>;

/// The HTTP transport.
pub struct Service {
    config: StreamableHttpServerConfig,
    /// Authorization where peers are not identified by their sockets.
    auth: Option<HttpAuth>,
}

impl Default for Service {
    fn default() -> Self {
        Self::new()
    }
}

impl Service {
    /// Creates a service for the Unix socket; the limits come from each connection.
    #[must_use]
    pub fn new() -> Self {
        // rmcp accepts only the names of this machine as `Host` by default.
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_allowed_origins(ORIGINS);
        Self { config, auth: None }
    }

    /// Creates a service for TCP with authorization.
    #[must_use]
    pub fn behind(auth: HttpAuth) -> Self {
        let config = Self::new()
            .config
            .with_allowed_origins(auth.origins().iter().cloned())
            .enforce_origin_validation();
        let auth = Some(auth);
        Self { config, auth }
    }

    /// Serves one connection until it closes or the daemon stops.
    ///
    /// # Errors
    /// When requests are not HTTP or arrive too slowly, or when the peer does not read its answers.
    pub async fn serve<C, R, W>(
        &self,
        endpoint: &Endpoint<C>,
        uid: u32,
        connection_slot: &ConnectionSlot,
        reader: R,
        writer: W,
    ) -> io::Result<()>
    where
        C: Catalog,
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let host = anonymous(uid, &endpoint.limits);
        let service = service_fn(|request| async {
            let page = self.page(&request);
            let turned_away = self.turned_away(&request, page.is_some());
            let mut answer = match turned_away {
                // The connection closes after this answer and can be evicted until then.
                Some(mut answer) => {
                    let close = HeaderValue::from_static("close");
                    answer.headers_mut().insert(CONNECTION, close);
                    answer
                }
                None => {
                    let answer = self.answer(endpoint, &host, request).await;
                    connection_slot.has_finished_a_call();
                    answer
                }
            };
            if let Some(origin) = page {
                pages::show(answer.headers_mut(), origin);
            }
            Ok::<_, Infallible>(answer)
        });
        let writer = DeadlineWriter::new(writer, endpoint.limits.write());
        let mut connection = pin!(
            http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(endpoint.limits.hello())
                .max_buf_size(HEAD_BYTES_MAX)
                .serve_connection(TokioIo::new(tokio::io::join(reader, writer)), service)
        );
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = endpoint.stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        ended.map_err(io::Error::other)
    }

    /// Returns the request's origin if it is an allowed page.
    fn page(&self, request: &Request<Incoming>) -> Option<HeaderValue> {
        let auth = self.auth.as_ref()?;
        auth.page(request.uri(), request.headers()).cloned()
    }

    /// Returns the answer to an unauthorized request, or to a CORS preflight of an allowed page.
    fn turned_away(&self, request: &Request<Incoming>, is_of_page: bool) -> Option<Answer> {
        if is_of_page && pages::is_preflight(request.method(), request.headers()) {
            let mut answer = Response::new(Full::<Bytes>::default().boxed());
            *answer.status_mut() = StatusCode::NO_CONTENT;
            pages::welcome(answer.headers_mut());
            return Some(answer);
        }
        let checked = self.auth.as_ref()?.check(request.uri(), request.headers());
        let (status, body) = checked.err()?;
        Some(refusal(status, &body))
    }

    async fn answer<C: Catalog>(
        &self,
        endpoint: &Endpoint<C>,
        host: &Host,
        request: Request<Incoming>,
    ) -> Answer {
        if request.uri().path() != PATH {
            let path: String = request.uri().path().chars().take(64).collect();
            let body = ErrorBody::new(Code::NotFound, format!("path {path} not found"))
                .hint(format!("MCP is at {PATH}."));
            return refusal(StatusCode::NOT_FOUND, &body);
        }
        let tools = match ToolSelection::read(tools_of(request.uri().query()).as_deref()) {
            Ok(tools) => tools,
            Err(body) => return refusal(StatusCode::BAD_REQUEST, &body),
        };
        let (head, body) = request.into_parts();
        let host_session = match host_session_of(&head.headers) {
            Ok(host_session) => host_session,
            Err(refused) => return refusal(StatusCode::BAD_REQUEST, &refused.to_body()),
        };
        // With `Expect`, the peer sends the body only when it is read.
        let is_asked_for = head.headers.contains_key(EXPECT);
        let read = read(endpoint, is_asked_for, body);
        let (mut body, memory_permit) = match timeout(endpoint.limits.frame(), read).await {
            Ok(Ok(read)) => read,
            Ok(Err(refused)) => return refused,
            Err(_) => {
                let message = format!(
                    "the body did not arrive within {} ms",
                    endpoint.limits.read_timeout_ms
                );
                let body = ErrorBody::new(Code::Timeout, message);
                return refusal(StatusCode::REQUEST_TIMEOUT, &body);
            }
        };
        let bytes = body.len();
        let raw_call = match head.method {
            Method::POST if body.iter().all(u8::is_ascii_whitespace) => {
                let body = ErrorBody::new(Code::InvalidInput, "the request has no body")
                    .hint("Send one JSON-RPC message.");
                return broken(&LineError::of(&[], ErrorCode::INVALID_REQUEST, body));
            }
            Method::POST => {
                let catalog = &endpoint.dispatch;
                let stay = |name: &str| {
                    let tool = catalog.find_tool(name);
                    tool.is_some_and(|tool| catalog.mirrors_arguments(tool))
                };
                match unload(&mut body, stay) {
                    Ok(raw_call) => raw_call,
                    Err(fault) => return broken(&fault),
                }
            }
            _ => None,
        };
        // If the peer disconnects, this future is dropped, but the call continues in a task of rmcp's until its next check.
        let unwanted = CancellationToken::new();
        let _dropped = unwanted.clone().drop_guard();
        let (raw_call, _permit) = match raw_call {
            Some(raw_call) => (
                Some(Arc::new(raw_call.memory_permit(bytes, memory_permit))),
                MemoryPermit::default(),
            ),
            None => (None, memory_permit),
        };
        let request = Request::from_parts(head, Full::new(Bytes::from(body)));
        let mut host = Host {
            tools,
            ..host.clone()
        };
        host.caller.host_session = host_session;
        let answer = self
            .mcp(endpoint, host, raw_call.clone(), unwanted)
            .handle(request)
            .await;
        let answer = match raw_call {
            Some(raw_call) => complete(raw_call, answer).await,
            None => answer,
        };
        within_line(answer, endpoint.limits.mcp_line_bytes_max).await
    }

    /// Creates a service for one request.
    fn mcp<C: Catalog>(
        &self,
        endpoint: &Endpoint<C>,
        host: Host,
        raw_call: Option<Arc<RawMcpCall>>,
        unwanted: CancellationToken,
    ) -> Mcp<C> {
        let bytes_max = endpoint.limits.frame_bytes_max;
        let config = self.config.clone().with_max_request_body_bytes(bytes_max);
        let endpoint = endpoint.clone();
        let server = move || {
            let server = Server::new(
                &endpoint,
                host.clone(),
                ConnectionLifetime::OneRequest,
                endpoint.stop.child_token(),
            );
            let server = server.with_raw_call(raw_call.clone());
            Ok(server.until(unwanted.clone()))
        };
        StreamableHttpService::new(server, Arc::default(), config)
    }
}

/// Returns the host session that a request states in its head: requests do not share a connection's.
fn host_session_of(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    let Some(value) = headers.get(HOST_SESSION) else {
        return Ok(None);
    };
    let text = value.to_str().unwrap_or_default().to_owned();
    check_host_session(&text)?;
    Ok(Some(text))
}

/// Returns the tool list in the query; commas may be percent-encoded.
fn tools_of(query: Option<&str>) -> Option<String> {
    let mut fields = query?.split('&');
    let list = fields.find_map(|field| field.strip_prefix("tools="))?;
    Some(list.replace("%2C", ",").replace("%2c", ","))
}

/// Inserts the reply into rmcp's answer.
async fn complete(raw_call: Arc<RawMcpCall>, answer: Answer) -> Answer {
    let is_stream = answer.body().size_hint().exact().is_none();
    let (head, body) = answer.into_parts();
    if is_stream {
        // Notifications come before the result: each event passes at once.
        let mut memory = None;
        let body = body.map_frame(move |frame| {
            frame.map_data(|event| {
                let (event, reserved) = raw_call.complete(event.into());
                memory = reserved.or(memory.take());
                Bytes::from(event)
            })
        });
        return Response::from_parts(head, body.boxed());
    }
    let Ok(body) = body.collect().await;
    let (body, _memory) = raw_call.complete(body.to_bytes().into());
    Response::from_parts(head, Full::new(Bytes::from(body)).boxed())
}

/// Replaces a response over `bytes_max` by an error. A stream has no size; its events are small.
async fn within_line(answer: Answer, bytes_max: usize) -> Answer {
    let bytes = answer.body().size_hint().exact();
    if bytes.is_none_or(|bytes| bytes <= bytes_max as u64) {
        return answer;
    }
    let (head, body) = answer.into_parts();
    let Ok(body) = body.collect().await;
    let error = replacement_json(&body.to_bytes(), bytes_max);
    Response::from_parts(head, Full::new(Bytes::from(error)).boxed())
}

/// Reads a body; the buffer grows only with received bytes. After a refusal the rest is skipped, because a peer
/// may write its whole request before it reads the answer.
async fn read<C>(
    endpoint: &Endpoint<C>,
    is_asked_for: bool,
    mut body: Incoming,
) -> Result<(Vec<u8>, MemoryPermit), Answer> {
    let read = read_up_to(endpoint, &mut body).await;
    if read.is_err() && !is_asked_for {
        while let Some(Ok(_)) = body.frame().await {}
    }
    read
}

async fn read_up_to<C>(
    endpoint: &Endpoint<C>,
    body: &mut Incoming,
) -> Result<(Vec<u8>, MemoryPermit), Answer> {
    let bytes_max = endpoint.limits.frame_bytes_max;
    if body.size_hint().lower() > bytes_max as u64 {
        return Err(too_large(bytes_max));
    }
    let mut bytes = Vec::new();
    let mut memory_permit = MemoryPermit::default();
    let mut paid_bytes = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            let message = format!("the body did not arrive: {error}");
            let body = ErrorBody::new(Code::InvalidInput, message);
            refusal(StatusCode::BAD_REQUEST, &body)
        })?;
        let Ok(piece) = frame.into_data() else {
            continue;
        };
        let length = bytes.len() + piece.len();
        if length > bytes_max {
            return Err(too_large(bytes_max));
        }
        while length > SMALL_BYTES && paid_bytes < length {
            if !endpoint.budget.large(&mut memory_permit, PIECE_BYTES) {
                return Err(refusal(StatusCode::TOO_MANY_REQUESTS, &busy()));
            }
            paid_bytes += PIECE_BYTES;
        }
        bytes.extend_from_slice(&piece);
    }
    if memory_permit.is_empty() && !bytes.is_empty() {
        memory_permit = endpoint.budget.small(bytes.len()).await;
    }
    Ok((bytes, memory_permit))
}

fn too_large(bytes_max: usize) -> Answer {
    let message = format!("a body has at most {bytes_max} bytes");
    let body = ErrorBody::new(Code::FrameTooLarge, message).hint("Send it in parts.");
    refusal(StatusCode::PAYLOAD_TOO_LARGE, &body)
}

fn refusal(status: StatusCode, body: &ErrorBody) -> Answer {
    answered(status, json!({ "error": body }).to_string())
}

/// Answers a body that is not a JSON-RPC message.
fn broken(fault: &LineError) -> Answer {
    let json = fault.to_json().unwrap_or_default();
    let text = String::from_utf8(json).unwrap_or_default();
    answered(StatusCode::BAD_REQUEST, text)
}

fn answered(status: StatusCode, json: String) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(json)).boxed());
    if status == StatusCode::UNAUTHORIZED {
        let scheme = HeaderValue::from_static("Bearer");
        answer.headers_mut().insert(WWW_AUTHENTICATE, scheme);
    }
    *answer.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}
