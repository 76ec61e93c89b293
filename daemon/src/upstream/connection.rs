//! One connection to an MCP server, from its initialisation to its end.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ClientConfig,
    ContentBlock, Implementation,
};
use rmcp::service::{
    ClientInitializeError, Peer, RoleClient, RunningService, ServiceError, serve_client_with_ct,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Map, Value};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::answers::Answer;
use super::child::{self, Child, Pipes};
use super::http::Http;
use super::limited::Limited;
use super::phrases::quoted;
use super::{MESSAGE_BYTES_MAX, ProcessBroker, Program, Server};

use crate::locks::lock_unpoisoned;

/// Time to wait for the last error output of an exited child.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// Time to wait for the last responses of an exited child, on a busy machine. Its pipes end long before, unless a
/// process that it left behind holds them.
const LAST_ANSWERS: Duration = Duration::from_secs(5);
/// Extra bytes of a line beyond the message limit, so that [`Limited`] detects an excess first.
const LINE_MARGIN: usize = 64 << 10;

type ConnectionTask = RunningService<RoleClient, ClientConfig>;

/// An initialised server. Drop ends it.
pub struct Connection {
    peer: Peer<RoleClient>,
    link: Arc<ConnectionLink>,
    _end: DropGuard,
}

/// State that a connection shares with its watcher task.
struct ConnectionLink {
    resolver: String,
    used: Mutex<Instant>,
    is_too_long: Arc<AtomicBool>,
    closed: CancellationToken,
}

/// Parameters of a connection.
pub struct Plan<'a> {
    /// Name of the resolver.
    pub resolver: &'a str,
    /// Server to connect to.
    pub server: &'a Server,
    /// Process broker for servers that are programs.
    pub broker: Option<&'a ProcessBroker>,
    /// Start timeout.
    pub start_max: Duration,
    /// Idle time after which the connection ends.
    pub idle_max: Duration,
    /// Tracker for its tasks.
    pub tasks: &'a TaskTracker,
    /// Ends the connection when cancelled.
    pub stop: CancellationToken,
}

/// Reason why a call has no response.
#[derive(Debug)]
pub enum CallError {
    /// The connection is unusable.
    Closed(String),
    /// The server refused the call.
    Refused(String),
}

impl Connection {
    /// Starts or contacts the server, and initialises the connection.
    ///
    /// # Errors
    /// The reason why the server is not ready, as the end of a sentence.
    pub async fn open(plan: &Plan<'_>) -> Result<Self, String> {
        let link = Arc::new(ConnectionLink {
            resolver: plan.resolver.to_owned(),
            used: Mutex::new(Instant::now()),
            is_too_long: Arc::default(),
            closed: CancellationToken::new(),
        });
        let stop = plan.stop.clone();
        let (running, process) = match plan.server {
            Server::Url(url) => {
                let config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
                let transport = StreamableHttpClientTransport::with_client(Http, config);
                let greeting = serve_client_with_ct(greeting(), transport, stop.clone());
                (greeted(plan.start_max, greeting).await?, None)
            }
            Server::Command(program) => {
                let (child, pipes) = started(plan, program).await?;
                let resolver = plan.resolver.to_owned();
                let log = tokio::spawn(async move { child::log(&resolver, pipes.errors).await });
                let output = Limited::new(pipes.output, MESSAGE_BYTES_MAX, &link.is_too_long);
                let transport = AsyncRwTransport::new_client(output, pipes.input)
                    .with_max_line_length(MESSAGE_BYTES_MAX + LINE_MARGIN);
                let process = Process { child, log };
                let greeting = serve_client_with_ct(greeting(), transport, stop.clone());
                match greeted(plan.start_max, greeting).await {
                    Ok(running) => (running, Some(process)),
                    Err(said) => {
                        let status = process.end().await;
                        return Err(format!("{said} ({status})"));
                    }
                }
            }
        };
        let peer = running.peer().clone();
        let watch = watch(
            running,
            process,
            Arc::clone(&link),
            stop.clone(),
            plan.idle_max,
        );
        plan.tasks.spawn(watch);
        Ok(Self {
            peer,
            link,
            _end: stop.drop_guard(),
        })
    }

    /// Returns whether the connection has ended.
    pub fn is_closed(&self) -> bool {
        self.link.closed.is_cancelled() || self.peer.is_transport_closed()
    }

    /// Calls a tool. Dropping the future sends a cancellation to the server.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<Answer, CallError> {
        self.link.touch();
        let parameters = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let response = self.peer.call_tool_once(parameters).await;
        self.link.touch();
        match response {
            Ok(CallToolResponse::Complete(result)) => Ok(answer(result)),
            Ok(_) | Err(ServiceError::UnexpectedResponse) => Err(CallError::Refused(
                "did not answer with the result of a tool".to_owned(),
            )),
            Err(ServiceError::McpError(error)) => Err(CallError::Refused(format!(
                "answered an error: {}",
                quoted(&error.message)
            ))),
            Err(_) if self.link.is_too_long.load(Ordering::Acquire) => Err(CallError::Closed(
                format!("sent a message of over {MESSAGE_BYTES_MAX} bytes"),
            )),
            Err(ServiceError::TransportClosed | ServiceError::Cancelled { .. }) => Err(
                CallError::Closed("ended in the middle of the call".to_owned()),
            ),
            Err(error) => {
                let said = match &error {
                    ServiceError::TransportSend(error) => error.error.to_string(),
                    other => other.to_string(),
                };
                Err(CallError::Closed(format!(
                    "could not be asked: {}",
                    quoted(&said)
                )))
            }
        }
    }
}

impl ConnectionLink {
    fn touch(&self) {
        *lock_unpoisoned(&self.used) = Instant::now();
    }

    /// Returns once no call was made for `idle_max`.
    async fn idle(&self, idle_max: Duration) {
        loop {
            let used = *lock_unpoisoned(&self.used);
            if used.elapsed() >= idle_max {
                return;
            }
            sleep_until(used + idle_max).await;
        }
    }
}

/// Builds the client information. No capabilities are offered: the server cannot send requests.
fn greeting() -> ClientConfig {
    let client = Implementation::new("lored", env!("CARGO_PKG_VERSION"));
    ClientConfig::new(ClientCapabilities::default(), client)
}

/// Waits until the server has been started.
async fn started(plan: &Plan<'_>, program: &Program) -> Result<(Child, Pipes), String> {
    let start = child::start(plan.broker, program);
    match timeout(plan.start_max, start).await {
        Ok(Ok(started)) => Ok(started),
        Ok(Err(error)) => Err(format!(
            "cannot be started: {}: {error}",
            quoted(&program.program)
        )),
        Err(_) => Err(not_ready(plan.start_max)),
    }
}

fn not_ready(start_max: Duration) -> String {
    format!("was not ready within {} ms", start_max.as_millis())
}

/// Waits until the server has completed the initialisation.
async fn greeted(
    start_max: Duration,
    greeting: impl Future<Output = Result<ConnectionTask, ClientInitializeError>>,
) -> Result<ConnectionTask, String> {
    match timeout(start_max, greeting).await {
        Ok(Ok(running)) => Ok(running),
        Ok(Err(error)) => {
            let said = match &error {
                // Its own text consists mostly of type names.
                ClientInitializeError::TransportError { error, .. } => error.error.to_string(),
                other => other.to_string(),
            };
            Err(format!("did not start: {}", quoted(&said)))
        }
        Err(_) => Err(not_ready(start_max)),
    }
}

/// A child with the task that logs its error output.
struct Process {
    child: Child,
    log: JoinHandle<()>,
}

impl Process {
    /// Ends the child and describes how it exited.
    async fn end(mut self) -> String {
        let status = self.child.end().await;
        if timeout(LAST_WORDS, &mut self.log).await.is_err() {
            self.log.abort();
        }
        status.map_or_else(|| "it does not end".to_owned(), |status| status.to_string())
    }
}

/// Watches a connection until it is cancelled, idle or closed; then ends all of it.
async fn watch(
    running: ConnectionTask,
    process: Option<Process>,
    link: Arc<ConnectionLink>,
    stop: CancellationToken,
    idle_max: Duration,
) {
    let mut closed = pin!(running.waiting());
    let ended = async {
        match &process {
            Some(process) => process.child.ended().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = &mut closed => {}
        () = stop.cancelled() => {}
        () = link.idle(idle_max) => {}
        // The child's last output is still in its pipe; no new calls are made.
        () = ended => {
            link.closed.cancel();
            tokio::select! {
                _ = timeout(LAST_ANSWERS, &mut closed) => {}
                () = stop.cancelled() => {}
            }
        }
    }
    link.closed.cancel();
    stop.cancel();
    if let Some(process) = process {
        let status = process.end().await;
        tracing::debug!(resolver = link.resolver, %status, "a resolver's server was ended");
    }
}

fn answer(result: CallToolResult) -> Answer {
    let text = |block| match block {
        ContentBlock::Text(text) => Some(text.text),
        _ => None,
    };
    Answer {
        structured: result.structured_content,
        texts: result.content.into_iter().filter_map(text).collect(),
        is_error: result.is_error == Some(true),
    }
}
