//! Requests of browsers: the page's files, the exchange of a link, calls of operations that read, and streams.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use lore::protocol::frame::Hello;
use lore::protocol::{Args, Code, ErrorBody};
use percent_encoding::percent_decode_str;
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::super::dispatch::Dispatch;
use super::super::frames::caller_of;
use super::super::http::DeadlineWriter;
use super::super::listener::TenantHandle;
use super::access::{PageAccess, RefusedRequest};
use super::answers::{self, Answer};
use super::server::TenantsByUser;
use super::{files, live};
use crate::clock::Clock;
use crate::operation::Caller;

/// Maximum size of a request's head, in bytes.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Maximum size of the one body that is taken, the secret of a link, in bytes.
const SECRET_BYTES_MAX: usize = 256;
/// Time in which a request's head and body arrive, and in which a browser reads a part of an answer.
const PEER_MAX: Duration = Duration::from_secs(20);

/// The operations that the page calls. They only read, which a test checks.
pub const READS: [&str; 27] = [
    "context_history",
    "diagnose",
    "diff_context",
    "get_context",
    "get_entity",
    "get_session",
    "get_step",
    "list_contexts",
    "list_documents",
    "list_entities",
    "list_facts",
    "list_messages",
    "list_projects",
    "list_sessions",
    "list_steps",
    "list_suspects",
    "read_events",
    "search",
    "status",
    "timeline",
    "who",
    "why",
    "workflow_checkpoint_diff",
    "workflow_checkpoint_list",
    "workflow_checkpoint_load",
    "workflow_context_compress",
    "workflow_context_prioritize",
];

/// The page on one port.
#[derive(Clone)]
pub struct Page {
    /// Who may look.
    pub access: Arc<PageAccess>,
    /// Finds the memory of a user.
    pub tenants: Arc<TenantsByUser>,
    /// Cancelled when the page closes.
    pub stop: CancellationToken,
}

/// A request of a browser that may look at a user's memory.
pub struct Visit {
    tenant: TenantHandle,
    caller: Caller,
}

impl Visit {
    /// Calls an operation.
    pub async fn call(&self, name: &str, args: Args) -> crate::operation::Answer {
        let dispatch: &Dispatch = &self.tenant.dispatch;
        dispatch.call(self.caller.clone(), name, args).await
    }
}

impl Page {
    /// Serves a connection until it closes or the page does.
    pub async fn serve(self, stream: TcpStream) -> io::Result<()> {
        let (read, write) = stream.into_split();
        let writer = DeadlineWriter::new(write, PEER_MAX);
        let page = self.clone();
        let service = service_fn(move |request| {
            let page = page.clone();
            async move { Ok::<_, Infallible>(page.answer(request).await) }
        });
        let mut connection = pin!(
            http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(PEER_MAX)
                .max_buf_size(HEAD_BYTES_MAX)
                .serve_connection(TokioIo::new(tokio::io::join(read, writer)), service)
        );
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = self.stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        ended.map_err(io::Error::other)
    }

    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let answered = match self.access.check_place(request.uri(), request.headers()) {
            Ok(()) => self.route(request).await,
            Err(refused) => Err(refused),
        };
        answered.unwrap_or_else(|(status, body)| answers::refusal(status, &body))
    }

    async fn route(&self, request: Request<Incoming>) -> Result<Answer, RefusedRequest> {
        let path = request.uri().path().to_owned();
        match (request.method(), path.as_str()) {
            (&Method::POST, "/enter") => return self.enter(request).await,
            (&Method::GET, _) => {}
            _ => {
                let body = ErrorBody::new(Code::InvalidInput, "this page only answers GET")
                    .hint("It changes nothing; `lore` does.");
                return Err((StatusCode::METHOD_NOT_ALLOWED, body));
            }
        }
        if let Some(file) = files::find(&path) {
            return Ok(answers::text(StatusCode::OK, file.kind, file.text));
        }
        let query = request.uri().query().unwrap_or_default();
        if path == "/live" {
            let visit = self.visit(&request).await?;
            let after = field(query, "after").and_then(|after| after.parse().ok());
            let guard = self.access.stream()?;
            let stop = self.stop.clone();
            return Ok(live::stream(visit, after.unwrap_or_default(), guard, stop));
        }
        let name = path
            .strip_prefix("/api/")
            .filter(|name| READS.contains(name));
        let Some(name) = name else {
            let shown: String = path.chars().take(64).collect();
            let body = ErrorBody::new(Code::NotFound, format!("{shown} not found"));
            return Err((StatusCode::NOT_FOUND, body));
        };
        let visit = self.visit(&request).await?;
        let args = field(query, "args").unwrap_or_else(|| "{}".to_owned());
        match visit.call(name, Args::Json(args.into_bytes())).await {
            Ok(reply) => Ok(answers::json(StatusCode::OK, reply.json.get().to_owned())),
            Err(refusal) => Ok(answers::refused(&refusal.to_body())),
        }
    }

    /// Exchanges the secret of a link for a cookie.
    async fn enter(&self, request: Request<Incoming>) -> Result<Answer, RefusedRequest> {
        let body = Limited::new(request.into_body(), SECRET_BYTES_MAX).collect();
        let unreadable = |message: &str| {
            let body = ErrorBody::new(Code::InvalidInput, message);
            (StatusCode::BAD_REQUEST, body)
        };
        let body = tokio::time::timeout(PEER_MAX, body).await;
        let body = body.map_err(|_| unreadable("the secret did not arrive in time"))?;
        let body = body.map_err(|_| unreadable("the body is not the secret of a link"))?;
        let cookie = self
            .access
            .enter(&body.to_bytes(), Clock::System.random(), Instant::now())?;
        Ok(answers::entered(&cookie))
    }

    async fn visit(&self, request: &Request<Incoming>) -> Result<Visit, RefusedRequest> {
        let uid = self.access.viewer(request.headers())?;
        let refused = |refusal: crate::error::Refusal| with_status(refusal.to_body());
        let tenant = (self.tenants)(uid).await.map_err(refused)?;
        let hello = Hello {
            client: concat!("lored-page/", env!("CARGO_PKG_VERSION")).to_owned(),
            ..Hello::default()
        };
        let caller = caller_of(tenant.dispatch.context(), uid, &hello).await;
        Ok(Visit {
            caller: caller.map_err(refused)?,
            tenant,
        })
    }
}

fn with_status(body: ErrorBody) -> RefusedRequest {
    let status = StatusCode::from_u16(body.code.status());
    (status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), body)
}

/// Returns a decoded field of a query.
fn field(query: &str, name: &str) -> Option<String> {
    let mut fields = query.split('&').filter_map(|field| field.split_once('='));
    let value = fields.find_map(|(key, value)| (key == name).then_some(value))?;
    let value = percent_decode_str(value).decode_utf8().ok()?;
    Some(value.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::TABLE;
    use crate::operation::Access;

    #[test]
    fn the_page_calls_only_what_reads() {
        for name in READS {
            let operation = TABLE.get(name);
            let access = operation.map(|operation| operation.access);
            assert_eq!(access, Some(Access::Read), "{name}");
        }
    }

    #[test]
    fn fields_are_decoded() {
        assert_eq!(
            field("args=%7B%22a%22%3A1%7D", "args").as_deref(),
            Some("{\"a\":1}")
        );
        assert_eq!(field("a=1&after=7", "after").as_deref(), Some("7"));
        for (query, name) in [
            ("", "args"),
            ("args", "args"),
            ("args=%ff", "args"),
            ("xargs=1", "args"),
        ] {
            assert_eq!(field(query, name), None, "{query}");
        }
    }
}
