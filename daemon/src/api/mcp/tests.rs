//! The MCP transport from a peer's view: a real store in a temporary folder and a socket pair.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod generated;
mod lines;
mod profiles;
mod prompts;
pub mod raw_call;
mod resources;
mod sizes;
mod subscriptions;

use std::sync::Arc;
use std::time::Duration;

use lore::paths::Paths;
use lore::protocol::tools as said;
use lore::protocol::{Args, frame};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::tools::TOOLS;
use crate::api::tool_selection::ToolSelection;
use crate::api::{
    Budget, Dispatch, Endpoint, Limits, RESOURCES, TenantHandle, TenantResolver, Transports,
};
use crate::config::Config;
use crate::daemon::Daemon;
use crate::reloadable::Reloadable;
use crate::resource::Kind;
use crate::search::operations::LEGACY;

/// A store and its transports, with a separate socket for each peer. It has no resources by default.
pub struct Fixture {
    pub folder: tempfile::TempDir,
    pub endpoint: Endpoint,
    _daemon: Daemon,
}

impl Fixture {
    pub fn open(limits: Limits) -> Self {
        Self::with_resources(limits, &[])
    }

    pub fn with_resources(limits: Limits, kinds: &'static [Kind]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let places = Paths {
            config: folder.path().join("lored.toml"),
            data: folder.path().join("data"),
            state: folder.path().join("state"),
            socket: folder.path().join("run/own.sock"),
        };
        let daemon = Daemon::open(&Config::new(), &places).unwrap();
        let endpoint = Endpoint {
            dispatch: Dispatch::new(Arc::clone(daemon.context().unwrap())).with_resources(kinds),
            budget: Budget::new(limits.bytes_in_flight_total_max),
            limits: Arc::new(limits),
            stop: CancellationToken::new(),
        };
        Self {
            folder,
            endpoint,
            _daemon: daemon,
        }
    }

    /// Resolves every peer to the same tenant.
    pub fn find(&self) -> TenantResolver {
        let dispatch = self.endpoint.dispatch.clone();
        Box::new(move |_| {
            let (dispatch, stays) = (dispatch.clone(), Box::new(()));
            Box::pin(async { Ok(TenantHandle { dispatch, stays }) })
        })
    }

    /// Connects through the listener.
    pub async fn connect(&self) -> UnixStream {
        let path = self.folder.path().join("test/test.sock");
        let _ = std::fs::remove_file(&path);
        let listener = crate::service::bind(&path, 0o600).unwrap().listener;
        tokio::spawn(
            Arc::new(Transports::new(
                self.find(),
                Reloadable::new((*self.endpoint.limits).clone()),
                self.endpoint.limits.connections_max,
                self.endpoint.stop.clone(),
            ))
            .serve(listener, || {}),
        );
        UnixStream::connect(&path).await.unwrap()
    }

    pub async fn peer(&self) -> Peer {
        Peer::of(self.connect().await)
    }

    /// Connects a peer through a bridge with this id.
    async fn bridged(&self, bridge: &str) -> Peer {
        let hello = frame::Hello {
            client: "bridge/1".to_owned(),
            mcp: true,
            bridge: Some(bridge.to_owned()),
            ..frame::Hello::default()
        };
        self.greeted(&hello).await
    }

    /// Connects a peer that has sent this Hello and read the first answer.
    async fn greeted(&self, hello: &frame::Hello) -> Peer {
        let mut peer = self.peer().await;
        let mut bytes = Vec::new();
        frame::encode_hello(&mut bytes, hello);
        peer.write.write_all(&bytes).await.unwrap();
        let mut length = [0; 4];
        use tokio::io::AsyncReadExt;
        peer.read.read_exact(&mut length).await.unwrap();
        let mut welcome = vec![0; u32::from_be_bytes(length) as usize];
        peer.read.read_exact(&mut welcome).await.unwrap();
        peer
    }
}

pub struct Peer {
    pub read: BufReader<OwnedReadHalf>,
    pub write: OwnedWriteHalf,
}

impl Peer {
    pub fn of(stream: UnixStream) -> Self {
        let (read, write) = stream.into_split();
        Self {
            read: BufReader::new(read),
            write,
        }
    }

    async fn send(&mut self, line: impl AsRef<[u8]>) {
        self.write.write_all(line.as_ref()).await.unwrap();
        self.write.write_all(b"\n").await.unwrap();
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        self.read.read_line(&mut line).await.unwrap();
        line
    }

    async fn answer(&mut self) -> Value {
        serde_json::from_str(&self.line().await).unwrap()
    }

    async fn request(&mut self, line: impl ToString) -> Value {
        self.send(line.to_string()).await;
        self.answer().await
    }

    async fn initialize(&mut self, version: &str) -> Value {
        let answer = self.request(initialize(version)).await;
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
            .await;
        answer
    }

    /// Sends a call of the older era.
    async fn call(&mut self, id: u64, name: &str, arguments: Value) -> Value {
        self.request(call(id, name, arguments)).await
    }
}

pub fn initialize(version: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "tester", "version": "3"},
    }})
}

pub fn call(id: u64, name: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": name, "arguments": arguments}})
}

/// Converts a request to the newest era.
pub fn modern(mut request: Value) -> Value {
    for (name, value) in [
        ("protocolVersion", json!("2026-07-28")),
        ("clientCapabilities", json!({})),
        (
            "clientInfo",
            json!({"name": "modern tester", "version": "4"}),
        ),
    ] {
        request["params"]["_meta"][format!("io.modelcontextprotocol/{name}")] = value;
    }
    request
}

fn list() -> Value {
    json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list",
        "params": {"_meta": {"lore/tools": "full"}}})
}

fn step(result: &str) -> Value {
    json!({"tool": "search", "result": result})
}

/// Returns the structured content of a successful call and checks that its text is equal.
fn content(answer: &Value) -> &Value {
    let result = &answer["result"];
    assert_eq!(result["isError"], json!(false), "{answer}");
    let text = result["content"][0]["text"].as_str().unwrap();
    let content = &result["structuredContent"];
    assert_eq!(&serde_json::from_str::<Value>(text).unwrap(), content);
    content
}

/// Every revision with `initialize` is accepted; tools are listed and called.
#[tokio::test]
async fn the_older_era_lists_and_calls() {
    let fixture = Fixture::open(Limits::default());
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut peer = fixture.peer().await;
        let answer = peer.initialize(version).await;
        assert_eq!(answer["result"]["protocolVersion"], version);
        assert_eq!(
            answer["result"]["capabilities"],
            json!({"completions": {}, "prompts": {}, "tools": {}})
        );
        assert_eq!(answer["result"]["serverInfo"]["name"], "lore");
        let listed = peer.request(list()).await;
        assert_eq!(
            listed["result"]["tools"].as_array().unwrap().len(),
            TOOLS.len() - LEGACY.len()
        );
        assert_eq!(listed["result"].as_object().unwrap().len(), 1, "{listed}");
        let recorded = peer.call(3, "record_step", step("ID: 17")).await;
        assert_eq!(recorded["id"], 3);
        assert!(recorded["result"].get("resultType").is_none());
        let session = content(&recorded)["session"].clone();
        let number = content(&recorded)["step"].clone();
        let shown = peer
            .call(4, "get_step", json!({"session": session, "step": number}))
            .await;
        assert_eq!(content(&shown)["agent"], "tester");
    }
    let mut peer = fixture.peer().await;
    let answer = peer.initialize("2031-01-01").await;
    assert_eq!(
        answer["result"]["protocolVersion"],
        said::MCP_VERSION_INITIALIZE
    );
}

/// Without `initialize`, each request carries its version, and answers are marked as the era requires.
#[tokio::test]
async fn the_newest_era_discovers_lists_and_calls() {
    let fixture = Fixture::open(Limits::default());
    let mut peer = fixture.peer().await;
    let discover = modern(json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover"}));
    let found = peer.request(discover).await;
    assert_eq!(
        found["result"]["supportedVersions"],
        json!(said::MCP_VERSIONS)
    );
    assert_eq!(
        found["result"]["capabilities"],
        json!({"completions": {}, "prompts": {}, "tools": {}})
    );
    let listed = peer.request(modern(list())).await;
    assert_eq!(listed["result"]["resultType"], "complete");
    assert_eq!(listed["result"]["tools"][0]["name"], TOOLS[0].name.as_ref());
    let recorded = peer
        .request(modern(call(3, "record_step", step("ID: 17"))))
        .await;
    assert_eq!(recorded["result"]["resultType"], "complete");
    let session = content(&recorded)["session"].clone();
    let shown = json!({"session": session, "step": 1});
    let shown = peer.request(modern(call(4, "get_step", shown))).await;
    assert_eq!(content(&shown)["agent"], "modern tester");

    let mut wrong = modern(list());
    wrong["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
    let refused = peer.request(wrong).await;
    assert_eq!(refused["error"]["code"], -32022, "{refused}");
    let mut half = modern(list());
    half["params"]["_meta"]
        .as_object_mut()
        .unwrap()
        .shift_remove("io.modelcontextprotocol/clientCapabilities");
    let refused = peer.request(half).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    // A host that sends `server/discover` first may still fall back.
    let answer = peer.initialize("2025-11-25").await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
}

/// The refusal of an operation is a tool result; an unknown tool is a protocol error.
#[tokio::test]
async fn a_refusal_is_a_result_and_an_unknown_tool_an_error() {
    let fixture = Fixture::open(Limits::default());
    let mut peer = fixture.peer().await;
    peer.initialize("2025-11-25").await;
    let refused = peer
        .call(2, "get_step", json!({"session": "nosuch", "step": 1}))
        .await;
    let result = &refused["result"];
    assert_eq!(result["isError"], true, "{refused}");
    let content = &result["structuredContent"];
    assert_eq!(content["code"], "SESSION_NOT_FOUND");
    assert_eq!(content["status"], 404);
    assert_eq!(content["retryable"], false);
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("SESSION_NOT_FOUND: "), "{text}");
    assert!(text.contains(content["message"].as_str().unwrap()));

    let refused = peer.call(3, "record_step", json!({"tol": "x"})).await;
    let content = &refused["result"]["structuredContent"];
    assert!(
        content["message"].as_str().unwrap().contains("`tool`"),
        "{refused}"
    );
    let refused = peer.call(4, "record_step", json!("x")).await;
    assert_eq!(
        refused["result"]["structuredContent"]["code"],
        "INVALID_INPUT"
    );

    for name in [
        "nosuch".to_owned(),
        "\u{0}é\"".repeat(90),
        "x".repeat(100_000),
    ] {
        peer.send(call(6, &name, json!({})).to_string()).await;
        let line = peer.line().await;
        assert!(line.len() <= 300, "{line}");
        assert!(line.contains("UNKNOWN_OPERATION"), "{line}");
    }
    let unknown = peer.call(5, "recrd_step", json!({})).await;
    assert_eq!(unknown["error"]["code"], -32602);
    let said = unknown["error"]["message"].as_str().unwrap();
    assert!(
        said.contains("`recrd_step`") && said.contains("`record_step`"),
        "{said}"
    );
}

/// Without resources the capability is not declared, and its methods are not available.
#[tokio::test]
async fn what_is_not_declared_is_not_there() {
    let fixture = Fixture::open(Limits::default());
    let mut peer = fixture.peer().await;
    for method in [
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "resources/subscribe",
        "logging/setLevel",
        "skills/list",
        "tasks/get",
        "no/such",
    ] {
        let answer = peer
            .request(json!({"jsonrpc": "2.0", "id": 9, "method": method, "params": {
                "name": "x", "uri": "lore://x", "level": "info", "taskId": "x",
                "ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "x", "value": "y"},
            }}))
            .await;
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
    let answer = peer
        .request(json!({"jsonrpc": "2.0", "id": 9, "method": "initialize", "params": {"x": 1}}))
        .await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

/// If more calls arrive than may be in flight, all are answered, each with its id. An id in use
/// is refused.
#[tokio::test]
async fn many_calls_at_once_are_all_answered() {
    let fixture = Fixture::open(Limits {
        calls_in_flight_max: 3,
        ..Limits::default()
    });
    let mut peer = fixture.peer().await;
    let lines: String = (0..200)
        .map(|id| format!("{}\n", call(id, "record_step", step(&format!("ID: {id}")))))
        .collect();
    let (_, mut found) = tokio::join!(peer.write.write_all(lines.as_bytes()), async {
        let mut found = Vec::new();
        for _ in 0..200 {
            let mut line = String::new();
            peer.read.read_line(&mut line).await.unwrap();
            let answer: Value = serde_json::from_str(&line).unwrap();
            content(&answer);
            found.push(answer["id"].as_u64().unwrap());
        }
        found
    });
    found.sort_unstable();
    assert_eq!(found, (0..200).collect::<Vec<_>>());
}

/// Methods that the newest era has removed are not found, whatever their parameters; the older era has them. Lists of
/// one page refuse a cursor.
#[tokio::test]
async fn each_era_has_its_methods_and_lists_their_pages() {
    let fixture = Fixture::with_resources(Limits::default(), RESOURCES);
    let mut peer = fixture.peer().await;
    for method in [
        "initialize",
        "logging/setLevel",
        "ping",
        "resources/subscribe",
        "resources/unsubscribe",
    ] {
        for params in [
            json!({}),
            json!({"uri": "lore://session/x", "level": "info"}),
        ] {
            let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            let answer = peer.request(modern(request)).await;
            assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
        }
    }
    let listen =
        json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {"x": 1}});
    let answer = peer.request(listen).await;
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    for method in [
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "tools/list",
    ] {
        for cursor in ["x", "session:x", "checkpoint:1", ""] {
            let params = json!({"cursor": cursor});
            let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            let answer = peer.request(request).await;
            assert_eq!(answer["error"]["code"], -32602, "{method}: {answer}");
        }
    }
}

/// Builds a long poll that waits until one more event is recorded.
fn waiting(id: u64, fixture: &Fixture) -> Value {
    let next = fixture.endpoint.dispatch.context().engine.position().0 + 1;
    call(
        id,
        "resolve_variables",
        json!({"names": ["ID_FROM_STEP_1"], "at_least": next}),
    )
}

/// Records an event in another session, without a connection.
async fn record_aside(fixture: &Fixture) {
    let caller = super::anonymous(1, &fixture.endpoint.limits);
    let args = Args::Value(json!({}));
    let made = fixture
        .endpoint
        .dispatch
        .call(caller.caller, "create_session", args);
    made.await.unwrap();
}

/// When the daemon stops, calls in flight are answered, then the connection ends.
#[tokio::test]
async fn stopping_answers_what_is_in_flight() {
    let fixture = Fixture::open(Limits::default());
    let mut peer = fixture.peer().await;
    peer.call(1, "record_step", step("ID: 17")).await;
    peer.send(waiting(2, &fixture).to_string()).await;
    // The answer to a later line proves that the previous line was taken.
    peer.call(3, "status", json!({})).await;
    fixture.endpoint.stop.cancel();
    record_aside(&fixture).await;
    let answer = peer.answer().await;
    assert_eq!(answer["id"], 2);
    assert_eq!(content(&answer)["resolutions"][0]["value"], "17");
    assert_eq!(peer.line().await, "");
}

/// An id in use is refused; a cancelled read gets no answer and delays nothing.
#[tokio::test]
async fn cancelled_reads_end() {
    let fixture = Fixture::open(Limits::default());
    let mut peer = fixture.peer().await;
    peer.call(1, "record_step", step("ID: 17")).await;
    peer.send(waiting(2, &fixture).to_string()).await;
    let again = peer.request(waiting(2, &fixture)).await;
    assert_eq!(again["error"]["code"], -32600, "{again}");
    peer.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#)
        .await;
    let status = peer.call(3, "status", json!({})).await;
    assert_eq!(status["id"], 3);
    peer.write.shutdown().await.unwrap();
    // Without the cancellation it would wait ten seconds for its position.
    let end = timeout(Duration::from_secs(5), peer.line()).await;
    assert_eq!(end.unwrap(), "");
}

/// A line that a bridge repeats after a reconnect is recorded once.
#[tokio::test]
async fn a_bridges_line_sent_again_is_recorded_once() {
    let fixture = Fixture::open(Limits::default());
    let mut peer = fixture.bridged("b1").await;
    peer.initialize("2025-11-25").await;
    let first = peer.call(7, "record_step", step("ID: 17")).await;
    let other = peer.call(8, "record_step", step("ID: 17")).await;
    assert_eq!(content(&other)["step"], 2);
    drop(peer);
    let mut again = fixture.bridged("b1").await;
    // No `initialize` here. The agent's name is part of the key, so the request carries it.
    again.initialize("2025-11-25").await;
    let second = again.call(7, "record_step", step("ID: 17")).await;
    assert_eq!(content(&second), content(&first));
    let mut another = fixture.bridged("b2").await;
    another.initialize("2025-11-25").await;
    let third = another.call(7, "record_step", step("ID: 17")).await;
    assert_eq!(content(&third)["step"], 3);
    // An explicit key has priority.
    let keyed = json!({"tool": "t", "result": "r", "key": "mine"});
    let one = another.call(9, "record_step", keyed.clone()).await;
    let two = another.call(10, "record_step", keyed).await;
    assert_eq!(content(&one), content(&two));
    // Reads use no keys, so an id may be reused.
    let listed = json!({"session": content(&one)["session"]});
    let listed = another.call(7, "list_steps", listed).await;
    assert_eq!(content(&listed)["steps"].as_array().unwrap().len(), 4);
}

/// The tools that the bridge lists while the daemon starts are those that the daemon lists. UPDATE_DOCS renews them.
#[tokio::test]
async fn the_bridge_lists_the_same_tools() {
    let fixture = Fixture::open(Limits::default());
    let mut peer = fixture.peer().await;
    let listed = json!({"jsonrpc": "2.0", "id": "a", "method": "tools/list", "params": {}});
    for request in [listed.clone(), modern(listed)] {
        let request = request.to_string();
        peer.send(&request).await;
        let line = peer.line().await;
        if std::env::var_os("UPDATE_DOCS").is_some() {
            let tools = serde_json::to_string(&super::tools::listed(&ToolSelection::default()));
            let path = concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../client/src/bridge/core_tools.json"
            );
            std::fs::write(path, tools.unwrap()).unwrap();
            return;
        }
        let bridged = lore::bridge::answers::list_tools(request.as_bytes(), None).unwrap();
        assert_eq!(line.trim_end(), String::from_utf8(bridged).unwrap());
    }
    let full = list().to_string();
    assert_eq!(
        lore::bridge::answers::list_tools(full.as_bytes(), None),
        None
    );
    let plain = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    assert!(lore::bridge::answers::list_tools(plain, Some("core")).is_some());
    assert_eq!(lore::bridge::answers::list_tools(plain, Some("full")), None);
}

/// The bytes of the first two answers, which the bridge sends itself while the daemon starts.
#[tokio::test]
async fn first_answers_are_golden() {
    let fixture = Fixture::with_resources(Limits::default(), RESOURCES);
    let mut peer = fixture.peer().await;
    let golden = |text: &str| {
        let instructions = json!(said::instructions_for(None)).to_string();
        text.replace("$VERSION", said::SERVER_VERSION)
            .replace("\"$INSTRUCTIONS\"", &instructions)
    };
    for version in said::MCP_VERSIONS {
        let request = initialize(version).to_string();
        let bridged = lore::bridge::answers::initialize(request.as_bytes(), None).unwrap();
        peer.send(request).await;
        assert_eq!(peer.line().await.trim_end().as_bytes(), bridged);
    }
    peer.send(initialize("2025-11-25").to_string()).await;
    let line = peer.line().await;
    assert_eq!(line, golden(include_str!("golden/initialize.jsonl")));
    let discover = modern(json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover"}));
    let discover = discover.to_string();
    let bridged = lore::bridge::answers::discover(discover.as_bytes(), None).unwrap();
    peer.send(discover).await;
    let line = peer.line().await;
    assert_eq!(line, golden(include_str!("golden/discover.jsonl")));
    assert_eq!(line.trim_end().as_bytes(), bridged);
}
