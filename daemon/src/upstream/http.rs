//! MCP servers over plain HTTP: the part that rmcp's client needs, on hyper.
//!
//! Each request uses a new connection: requests are rare and servers are near. There is no TLS; a server that
//! requires it is reached through a program that adds it.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};
use tokio::net::TcpStream;

use super::MESSAGE_BYTES_MAX;
use super::phrases::quoted;

/// Limit on the bytes read of an error response.
const REFUSAL_BYTES_MAX: usize = 4096;
/// Header with the server's session of a request.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// Checks a resolver's URL.
///
/// # Errors
/// The problem, as the end of a sentence.
pub fn check_url(url: &str) -> Result<(), String> {
    Address::of(url).map(|_| ())
}

/// Returns the TCP port of a resolver's URL, if it is valid.
#[must_use]
pub fn port(url: &str) -> Option<u16> {
    Address::of(url).ok().map(|address| address.port)
}

/// Reason why a request had no response.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Address(String),
    #[error("no connection: {0}")]
    Connect(io::Error),
    #[error("{0}")]
    Http(#[from] hyper::Error),
    #[error("the request cannot be written: {0}")]
    Request(#[from] hyper::http::Error),
    #[error("the answer cannot be read: {0}")]
    Body(String),
}

impl From<Error> for StreamableHttpError<Error> {
    fn from(error: Error) -> Self {
        Self::Client(error)
    }
}

type PostedRequest = Result<StreamableHttpPostResponse, StreamableHttpError<Error>>;

/// A client without state between requests.
#[derive(Clone, Debug, Default)]
pub struct Http;

/// Connection target and request path.
struct Address {
    host: String,
    port: u16,
    /// Value of the host header.
    authority: HeaderValue,
    path: String,
}

impl Address {
    fn of(url: &str) -> Result<Self, String> {
        let uri: Uri = url
            .parse()
            .map_err(|error| format!("is not a URL: {error}"))?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => {
                return Err(
                    "begins with https, and TLS is not spoken here; use `command` with a program \
                     that connects to it, or an http address of a proxy on this machine"
                        .to_owned(),
                );
            }
            _ => return Err("does not begin with http://".to_owned()),
        }
        let Some(authority) = uri.authority().filter(|part| !part.host().is_empty()) else {
            return Err("names no host".to_owned());
        };
        if authority.as_str().contains('@') {
            return Err("has a user's name in it, which would be sent in the clear".to_owned());
        }
        let header = HeaderValue::from_str(authority.as_str());
        Ok(Self {
            host: authority.host().trim_matches(['[', ']']).to_owned(),
            port: authority.port_u16().unwrap_or(80),
            authority: header.map_err(|_| "has a host that cannot be sent".to_owned())?,
            path: uri
                .path_and_query()
                .map_or("/", |path| path.as_str())
                .to_owned(),
        })
    }
}

/// Sends one request on a new connection.
async fn send(
    url: &str,
    method: Method,
    headers: HashMap<HeaderName, HeaderValue>,
    session: Option<Arc<str>>,
    body: String,
) -> Result<Response<Incoming>, Error> {
    let address = Address::of(url).map_err(Error::Address)?;
    let mut request = Request::builder()
        .method(method)
        .uri(address.path)
        .header(HOST, address.authority)
        .header(ACCEPT, format!("{JSON}, {EVENTS}"))
        .header(CONTENT_TYPE, JSON);
    if let Some(session) = session {
        request = request.header(SESSION, session.as_ref());
    }
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let request = request.body(Full::new(Bytes::from(body)))?;
    let stream = TcpStream::connect((address.host, address.port)).await;
    let stream = stream.map_err(Error::Connect)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // It ends with its request: when the response was read or dropped.
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection to a resolver's server broke");
        }
    });
    Ok(sender.send_request(request).await?)
}

/// Reads a whole body of at most `bytes_max` bytes.
async fn read(body: Incoming, bytes_max: usize) -> Result<Bytes, Error> {
    match Limited::new(body, bytes_max).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) => Err(Error::Body(error.to_string())),
    }
}

fn header(answer: &Response<Incoming>, name: HeaderName) -> Option<String> {
    let value = answer.headers().get(name)?;
    value.to_str().ok().map(str::to_owned)
}

/// Converts the response to a posted message, in any of its forms.
async fn posted(answer: Response<Incoming>, had_session: bool) -> PostedRequest {
    let status = answer.status();
    if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    if status == StatusCode::NOT_FOUND && had_session {
        return Err(StreamableHttpError::SessionExpired);
    }
    if !status.is_success() {
        let body = read(answer.into_body(), REFUSAL_BYTES_MAX).await;
        let text = body.map(|body| quoted(&String::from_utf8_lossy(&body)));
        let said = format!("HTTP {status}: {}", text.unwrap_or_default());
        return Err(StreamableHttpError::UnexpectedServerResponse(said.into()));
    }
    let session = header(&answer, SESSION);
    let kind = header(&answer, CONTENT_TYPE).unwrap_or_default();
    if kind.starts_with(EVENTS) {
        let body = Limited::new(answer.into_body(), MESSAGE_BYTES_MAX);
        let events = SseStream::new(body.map_err(|error| Error::Body(error.to_string())));
        return Ok(StreamableHttpPostResponse::Sse(events.boxed(), session));
    }
    if !kind.starts_with(JSON) {
        return Err(StreamableHttpError::UnexpectedContentType(Some(kind)));
    }
    let body = read(answer.into_body(), MESSAGE_BYTES_MAX).await?;
    Ok(StreamableHttpPostResponse::Json(
        serde_json::from_slice(&body)?,
        session,
    ))
}

impl StreamableHttpClient for Http {
    type Error = Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _authorization: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> PostedRequest {
        let body = serde_json::to_string(&message)?;
        let had_session = session.is_some();
        let answer = send(&uri, Method::POST, headers, session, body).await?;
        posted(answer, had_session).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _authorization: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), StreamableHttpError<Error>> {
        // Errors are ignored: the server decides whether to end the session.
        send(&uri, Method::DELETE, headers, Some(session), String::new()).await?;
        Ok(())
    }

    async fn get_stream(
        &self,
        _uri: Arc<str>,
        _session: Option<Arc<str>>,
        _last_event: Option<String>,
        _authorization: Option<String>,
        _headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, StreamableHttpError<Error>> {
        // Unsolicited messages of a server are not used.
        Err(StreamableHttpError::ServerDoesNotSupportSse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// URLs with a host and without TLS are accepted; others are refused with a reason.
    #[test]
    fn addresses_are_checked() {
        let good = Address::of("http://[::1]:8080/mcp?x=1").ok();
        let good = good.map(|address| (address.host, address.port, address.path));
        assert_eq!(good, Some(("::1".to_owned(), 8080, "/mcp?x=1".to_owned())));
        assert_eq!(check_url("http://localhost/mcp"), Ok(()));
        for (url, wanted) in [
            ("https://example.org/mcp", "TLS"),
            ("ftp://example.org", "http://"),
            ("/mcp", "http://"),
            ("http://me:secret@example.org/", "in the clear"),
            ("http:// x", "not a URL"),
            ("", "not a URL"),
        ] {
            let said = check_url(url).err().unwrap_or_default();
            assert!(said.contains(wanted), "{url}: {said}");
        }
    }
}
