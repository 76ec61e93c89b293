//! The page from a browser's view: requests on a real socket.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::sync::Arc;
use std::time::Duration;

use lore::protocol::Args;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{PageServer, TenantsByUser};
use crate::api::{Dispatch, TenantHandle};
use crate::config::Config;
use crate::daemon::Daemon;
use crate::operation::Caller;
use crate::page::{LinkRequest, PageRequests};

const ADA: u32 = 61_001;
const BEN: u32 = 61_002;
/// Longer than a test.
const LONG: Duration = Duration::from_mins(30);

/// A page over the memories of two users.
struct Fixture {
    requests: PageRequests,
    memories: Vec<Dispatch>,
    _daemons: Vec<Daemon>,
    _stop: DropGuard,
    _folder: tempfile::TempDir,
}

/// A browser that has used a link.
struct Browser {
    port: u16,
    cookie: String,
}

struct Reply {
    status: u16,
    head: String,
    body: String,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

impl Fixture {
    fn open(idle_max: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let open = |name: &str| {
            let paths = crate::daemon::tests::paths(&folder.path().join(name));
            Daemon::open(&Config::new(), &paths).unwrap()
        };
        let daemons = vec![open("ada"), open("ben")];
        let contexts = daemons.iter().map(|daemon| daemon.context().unwrap());
        let memories: Vec<Dispatch> = contexts.map(Arc::clone).map(Dispatch::new).collect();
        let (server, requests) = PageServer::new();
        let stop = CancellationToken::new();
        let served = memories.clone();
        let tenants: Arc<TenantsByUser> = Arc::new(move |uid| {
            let dispatch = served[usize::from(uid != ADA)].clone();
            Box::pin(async move {
                Ok(TenantHandle {
                    dispatch,
                    stays: Box::new(()),
                })
            })
        });
        tokio::spawn(server.idle_max(idle_max).run(tenants, stop.clone()));
        Self {
            requests,
            memories,
            _daemons: daemons,
            _stop: stop.drop_guard(),
            _folder: folder,
        }
    }

    /// Returns the port and the secret of a new link.
    async fn link(&self, uid: u32) -> (u16, String) {
        let (reply, link) = oneshot::channel();
        self.requests
            .0
            .send(LinkRequest { uid, reply })
            .await
            .unwrap();
        let url = link.await.unwrap().unwrap();
        let (address, secret) = url.split_once("/#").unwrap();
        let (_, port) = address.rsplit_once(':').unwrap();
        (port.parse().unwrap(), secret.to_owned())
    }

    async fn browser(&self, uid: u32) -> Browser {
        let (port, secret) = self.link(uid).await;
        let reply = enter(port, &secret).await;
        assert_eq!(reply.status, 200, "{}", reply.body);
        let cookie = reply
            .head
            .lines()
            .find_map(|line| line.strip_prefix("set-cookie: "));
        let (cookie, _) = cookie.unwrap().split_once(';').unwrap();
        Browser {
            port,
            cookie: cookie.to_owned(),
        }
    }

    async fn record(&self, memory: usize, name: &str, args: Value) {
        let args = Args::Json(args.to_string().into_bytes());
        let call = self.memories[memory].call(Caller::default(), name, args);
        call.await.unwrap();
    }
}

impl Browser {
    async fn get(&self, path: &str, headers: &str) -> Reply {
        let host = format!("127.0.0.1:{}", self.port);
        self.get_as(&host, path, headers).await
    }

    async fn get_as(&self, host: &str, path: &str, headers: &str) -> Reply {
        let cookie = &self.cookie;
        send(self.port, &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n{headers}Connection: close\r\n\r\n")).await
    }

    async fn call(&self, name: &str, args: &Value) -> Reply {
        let args: String = args
            .to_string()
            .bytes()
            .map(|byte| format!("%{byte:02x}"))
            .collect();
        self.get(&format!("/api/{name}?args={args}"), "").await
    }
}

async fn enter(port: u16, secret: &str) -> Reply {
    let length = secret.len();
    send(port, &format!("POST /enter HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{secret}")).await
}

async fn send(port: u16, request: &str) -> Reply {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    Reply {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        head: head.to_ascii_lowercase(),
        body: body.to_owned(),
    }
}

/// Each user sees the own memory, also where one daemon serves all.
#[tokio::test]
async fn a_page_shows_the_memory_of_its_user() {
    let fixture = Fixture::open(LONG);
    fixture
        .record(0, "create_session", json!({"session": "of-ada"}))
        .await;
    fixture
        .record(1, "create_session", json!({"session": "of-ben"}))
        .await;
    for (uid, own) in [(ADA, "of-ada"), (BEN, "of-ben")] {
        let browser = fixture.browser(uid).await;
        let reply = browser.call("list_sessions", &json!({})).await;
        assert_eq!(reply.status, 200, "{}", reply.body);
        let reply = reply.json();
        let sessions = reply["sessions"].as_array().unwrap();
        assert_eq!(sessions.len(), 1, "{reply}");
        assert_eq!(sessions[0]["session"], own);
    }
}

#[tokio::test]
async fn a_link_lets_one_browser_in() {
    let fixture = Fixture::open(LONG);
    let (port, secret) = fixture.link(ADA).await;
    assert_eq!(enter(port, &"0".repeat(64)).await.status, 403);
    assert_eq!(enter(port, &"0".repeat(10_000)).await.status, 400);
    assert_eq!(enter(port, &secret).await.status, 200);
    let second = enter(port, &secret).await;
    assert_eq!(second.status, 403);
    assert!(
        second.json()["error"]["hint"]
            .as_str()
            .unwrap()
            .contains("lore page")
    );
    assert!(!second.head.contains("set-cookie"), "{}", second.head);
}

/// Files, calls and streams alike: another host, another page, no cookie, a cookie of another port.
#[tokio::test]
async fn every_route_checks_who_asks() {
    let fixture = Fixture::open(LONG);
    let browser = fixture.browser(ADA).await;
    let routes = [
        "/",
        "/files/app.js",
        "/session/x",
        "/api/status",
        "/live?after=0",
        "/none.html",
    ];
    for route in routes {
        let foreign = browser.get_as("evil.example", route, "").await;
        assert_eq!(foreign.status, 421, "{route}");
        for header in [
            "Origin: http://evil.example\r\n",
            "Sec-Fetch-Site: cross-site\r\n",
        ] {
            let reply = browser.get(route, header).await;
            assert_eq!(reply.status, 403, "{route}, {header}");
        }
    }
    let unknown = Browser {
        port: browser.port,
        cookie: browser.cookie.replace("lore_page_", "lore_page_1"),
    };
    for route in ["/api/status", "/live?after=0"] {
        assert_eq!(unknown.get(route, "").await.status, 401, "{route}");
    }
    assert_eq!(
        browser
            .get("/api/status", "Sec-Fetch-Site: same-origin\r\n")
            .await
            .status,
        200
    );
}

/// GET changes nothing, and what changes something is not there.
#[tokio::test]
async fn nothing_can_be_changed() {
    let fixture = Fixture::open(LONG);
    let browser = fixture.browser(ADA).await;
    for name in [
        "create_session",
        "forget",
        "open_page",
        "export_log",
        "metrics",
        "../x",
        "",
    ] {
        let reply = browser.call(name, &json!({})).await;
        assert_eq!(reply.status, 404, "{name}: {}", reply.body);
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
        let (port, cookie) = (browser.port, &browser.cookie);
        let request = format!(
            "{method} /api/status HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
        );
        let reply = send(port, &request).await;
        assert_eq!(reply.status, 405, "{method}");
        assert!(!reply.head.contains("access-control"), "{}", reply.head);
    }
}

#[tokio::test]
async fn answers_keep_what_is_stored_from_running() {
    let fixture = Fixture::open(LONG);
    fixture
        .record(0, "create_session", json!({"session": "s"}))
        .await;
    let text = "<script>alert(1)</script> \u{202e}\u{0}";
    let message = json!({"session": "s", "sender": "user", "content": text});
    fixture.record(0, "record_message", message).await;
    let browser = fixture.browser(ADA).await;
    let mut replies = vec![
        browser
            .call("list_messages", &json!({"session": "s"}))
            .await,
    ];
    assert_eq!(replies[0].json()["messages"][0]["content"], text);
    assert!(
        replies[0].head.contains("content-type: application/json"),
        "{}",
        replies[0].head
    );
    for path in [
        "/",
        "/files/app.js",
        "/none.html",
        "/api/list_messages?args=%7b",
    ] {
        replies.push(browser.get(path, "").await);
    }
    replies.push(browser.get_as("evil.example", "/", "").await);
    for reply in replies {
        for header in [
            "content-security-policy: default-src 'none'; script-src 'self';",
            "frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
        ] {
            assert!(reply.head.contains(header), "{header}: {}", reply.head);
        }
    }
}

/// What was forgotten, what is not there yet, and arguments that are wrong get answers of their own.
#[tokio::test]
async fn bad_requests_get_the_operations_answers() {
    let fixture = Fixture::open(LONG);
    fixture
        .record(0, "create_session", json!({"session": "gone"}))
        .await;
    fixture
        .record(0, "forget_session", json!({"session": "gone"}))
        .await;
    let browser = fixture.browser(ADA).await;
    let refused = [
        (
            "get_session",
            json!({"session": "gone"}),
            404,
            "SESSION_NOT_FOUND",
        ),
        (
            "get_session",
            json!({"session": "none"}),
            404,
            "SESSION_NOT_FOUND",
        ),
        ("timeline", json!({"limit": 0}), 400, "INVALID_INPUT"),
        ("timeline", json!({"nonsense": 1}), 400, "INVALID_INPUT"),
    ];
    for (name, args, status, code) in refused {
        let reply = browser.call(name, &args).await;
        let stated = format!("lore-status: {status}");
        assert!(reply.head.contains(&stated), "{args}: {}", reply.head);
        assert_eq!(
            (
                reply.status,
                reply.json()["error"]["code"].as_str().unwrap()
            ),
            (200, code),
            "{args}: {}",
            reply.body
        );
    }
    // Beyond the end is the newest state.
    fixture
        .record(0, "create_session", json!({"session": "kept"}))
        .await;
    let beyond = json!({"session": "kept", "as_of": "999999"});
    let beyond = browser.call("get_session", &beyond).await;
    assert_eq!(beyond.json()["session"], "kept");
    let beyond = browser.call("timeline", &json!({"after": 999_999})).await;
    assert_eq!(beyond.json()["marks"], json!([]));
}

/// A stream sends the newest position when something is recorded.
#[tokio::test]
async fn views_follow_the_log() {
    let fixture = Fixture::open(LONG);
    let browser = fixture.browser(ADA).await;
    let mut stream = TcpStream::connect(("127.0.0.1", browser.port))
        .await
        .unwrap();
    let request = format!(
        "GET /live?after=0 HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nCookie: {}\r\n\r\n",
        browser.port, browser.cookie
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    fixture
        .record(0, "create_session", json!({"session": "new"}))
        .await;
    let mut text = String::new();
    while !text.contains("data: {\"position\":1}") {
        let mut bytes = [0; 4096];
        let count = stream.read(&mut bytes).await.unwrap();
        assert!(count > 0, "the stream ended: {text}");
        text.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
    }
    assert!(text.contains("text/event-stream"), "{text}");
}

/// Browsers that follow and never read on take a stream each, and nothing from others; the next one learns why it gets none.
#[tokio::test]
async fn streams_are_bounded_and_calls_still_answered() {
    let fixture = Fixture::open(LONG);
    let browser = fixture.browser(ADA).await;
    let request = format!(
        "GET /live?after=0 HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nCookie: {}\r\n\r\n",
        browser.port, browser.cookie
    );
    let mut open = Vec::new();
    for _ in 0..24 {
        let mut stream = TcpStream::connect(("127.0.0.1", browser.port))
            .await
            .unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).await.unwrap();
        assert_eq!(&head, b"HTTP/1.1 200");
        open.push(stream);
    }
    let refused = browser.get("/live?after=0", "").await;
    assert_eq!(refused.status, 429, "{}", refused.body);
    assert!(
        refused.body.contains("Close some of them"),
        "{}",
        refused.body
    );
    fixture
        .record(0, "create_session", json!({"session": "new"}))
        .await;
    assert_eq!(browser.call("list_sessions", &json!({})).await.status, 200);
    drop(open);
    // The daemon notices that they are gone.
    loop {
        let mut stream = TcpStream::connect(("127.0.0.1", browser.port))
            .await
            .unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).await.unwrap();
        if &head == b"HTTP/1.1 200" {
            break;
        }
    }
}

/// The axis has a lane for each session of an agent, and marks that say what events are, page by page.
#[tokio::test]
async fn the_timeline_says_what_happened() {
    let fixture = Fixture::open(LONG);
    let calls = [
        ("create_session", json!({"session": "s"})),
        (
            "record_message",
            json!({"session": "s", "sender": "user", "content": "Why?"}),
        ),
        (
            "record_step",
            json!({"session": "s", "tool": "grep", "result": {"id": 1}}),
        ),
        (
            "record_step",
            json!({"session": "s", "tool": "Bash", "error": "refused", "success": false}),
        ),
        (
            "workflow_checkpoint_save",
            json!({"sessionId": "s", "context": {"task": "find out"}}),
        ),
    ];
    for (name, args) in calls {
        fixture.record(0, name, args).await;
    }
    let browser = fixture.browser(ADA).await;
    let all = browser.call("timeline", &json!({})).await.json();
    let lanes = all["lanes"].as_array().unwrap();
    assert!(lanes.iter().any(|lane| lane["session"] == "s"), "{all}");
    let marks = all["marks"].as_array().unwrap();
    let mark = |position: u64| {
        marks
            .iter()
            .find(|mark| mark["position"] == position)
            .unwrap()
    };
    let kinds = [(1, "session"), (2, "prompt"), (3, "step"), (4, "failure")];
    for (position, kind) in kinds {
        assert_eq!(mark(position)["kind"], kind, "{all}");
    }
    assert_eq!(mark(4)["tool"], "Bash");
    assert!(
        marks.iter().any(|mark| mark["kind"] == "checkpoint"),
        "{all}"
    );
    assert!(all.get("before").is_none(), "{all}");
    let args = json!({"until": 4, "limit": 2});
    let page = browser.call("timeline", &args).await.json();
    let positions = page["marks"].as_array().unwrap().iter();
    let positions: Vec<_> = positions.map(|mark| &mark["position"]).collect();
    assert_eq!(
        (positions, &page["before"]),
        (vec![&json!(3), &json!(4)], &json!(2))
    );
    let other = browser.call("timeline", &json!({"session": "none"})).await;
    assert_eq!(other.json()["marks"], json!([]));
}

/// The port is open only while it has a viewer, and the next link opens another one.
#[tokio::test]
async fn the_page_closes_without_a_viewer() {
    let fixture = Fixture::open(Duration::from_millis(50));
    let (port, _) = fixture.link(ADA).await;
    while TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
        tokio::task::yield_now().await;
    }
    let browser = fixture.browser(ADA).await;
    assert_eq!(browser.get("/", "").await.status, 200);
}
