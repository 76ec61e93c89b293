//! The HTTP transport from a peer's view: handwritten requests on a real socket.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::sync::Arc;

use futures_util::FutureExt;
use lore::protocol::{Args, frame};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::task::yield_now;

use super::Service;
use crate::api::connection_slots::ConnectionSlot;
use crate::api::limits::MemoryPermit;
use crate::api::mcp::tests::raw_call::{ODD, contents, odd_call};
use crate::api::mcp::tests::{Fixture, call, initialize, modern};
use crate::api::test_operations::{BEGUN, KINDS, MAY_END};
use crate::api::{Limits, Transports};
use crate::operation::CallerProcess;
use crate::reloadable::Reloadable;

const ACCEPT: &str = "Accept: application/json, text/event-stream\r\n";
const JSON: &str = "Content-Type: application/json\r\n";

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

async fn send(fixture: &Fixture, request: &[u8]) -> Reply {
    let mut stream = fixture.connect().await;
    // The write may be cut off when the body is refused.
    let (mut read, mut write) = stream.split();
    let mut bytes = Vec::new();
    let (_, read) = tokio::join!(write.write_all(request), read.read_to_end(&mut bytes));
    read.unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Reply {
        status,
        head: head.to_ascii_lowercase(),
        body: body.to_owned(),
    }
}

async fn post(fixture: &Fixture, path: &str, headers: &str, body: &str) -> Reply {
    send(fixture, posted(path, headers, body).as_bytes()).await
}

fn posted(path: &str, headers: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\n{headers}{ACCEPT}{JSON}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

const HOST: &str = "Host: localhost\r\n";

/// The older era: `initialize`, then a call without a session.
#[tokio::test]
async fn the_older_era_calls_without_a_session() {
    let fixture = Fixture::open(Limits::default());
    let reply = post(
        &fixture,
        "/mcp",
        HOST,
        &initialize("2025-06-18").to_string(),
    )
    .await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert!(!reply.head.contains("mcp-session-id"), "{}", reply.head);
    assert!(!reply.head.contains("access-control"), "{}", reply.head);
    assert_eq!(reply.json()["result"]["protocolVersion"], "2025-06-18");
    let reported = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(post(&fixture, "/mcp", HOST, reported).await.status, 202);
    let result = r#"{"z":0.10,"a":12345678901234567890123}"#;
    let mut body = call(2, "record_step", json!({"tool": "t"}));
    body["params"]["arguments"]["result"] = serde_json::from_str(result).unwrap();
    let headers = format!("{HOST}MCP-Protocol-Version: 2025-06-18\r\n");
    let reply = post(&fixture, "/mcp", &headers, &body.to_string()).await;
    let recorded = reply.json()["result"]["structuredContent"].clone();
    assert_eq!(recorded["step"], 1, "{}", reply.body);
    let wanted = json!({"session": recorded["session"], "step": 1});
    let body = call(3, "get_step", wanted).to_string();
    let shown = post(&fixture, "/mcp", &headers, &body).await.json();
    let shown = &shown["result"]["structuredContent"];
    assert_eq!(shown["result"], result);
    // Without sessions a client's name is not stored between requests.
    assert_eq!(shown["agent"].as_str().unwrap_or_default(), "");
}

/// The newest era: each request names its client.
#[tokio::test]
async fn the_newest_era_calls() {
    let fixture = Fixture::open(Limits::default());
    let headers = |method: &str, name: &str| {
        let name = match name {
            "" => String::new(),
            name => format!("Mcp-Name: {name}\r\n"),
        };
        format!("{HOST}MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{name}")
    };
    let discover = modern(json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover"}));
    let headers_of = headers("server/discover", "");
    let reply = post(&fixture, "/mcp", &headers_of, &discover.to_string()).await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert_eq!(reply.json()["result"]["resultType"], "complete");
    let step = modern(call(2, "record_step", json!({"tool": "t", "result": "r"})));
    let headers_of = headers("tools/call", "record_step");
    let reply = post(&fixture, "/mcp", &headers_of, &step.to_string()).await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    let session = reply.json()["result"]["structuredContent"]["session"].clone();
    let shown = modern(call(3, "get_step", json!({"session": session, "step": 1})));
    let headers_of = headers("tools/call", "get_step");
    let reply = post(&fixture, "/mcp", &headers_of, &shown.to_string()).await;
    let shown = reply.json();
    assert_eq!(
        shown["result"]["structuredContent"]["agent"],
        "modern tester"
    );
    let refused = modern(call(4, "get_step", json!({"session": "nosuch", "step": 1})));
    let reply = post(&fixture, "/mcp", &headers_of, &refused.to_string()).await;
    assert_eq!(reply.json()["result"]["isError"], true, "{}", reply.body);
    // A header that contradicts the body is refused.
    let headers_of = headers("tools/call", "record_step");
    let reply = post(&fixture, "/mcp", &headers_of, &refused.to_string()).await;
    assert_eq!(reply.json()["error"]["code"], -32020, "{}", reply.body);
}

/// A request without a body is refused as such. Removed methods of the newest era are not found.
#[tokio::test]
async fn what_is_not_there_has_its_status() {
    let fixture = Fixture::open(Limits::default());
    assert_eq!(post(&fixture, "/mcp", HOST, "").await.status, 400);
    let empty =
        format!("POST /mcp HTTP/1.1\r\n{HOST}Content-Length: 0\r\nConnection: close\r\n\r\n");
    assert_eq!(send(&fixture, empty.as_bytes()).await.status, 400);
    for method in [
        "initialize",
        "ping",
        "resources/subscribe",
        "logging/setLevel",
    ] {
        for params in [json!({}), json!({"uri": "lore://x", "level": "info"})] {
            let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            let headers = format!(
                "{HOST}MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\nMcp-Name: lore://x\r\n"
            );
            let body = modern(request).to_string();
            let reply = post(&fixture, "/mcp", &headers, &body).await;
            assert_eq!(reply.status, 404, "{method}: {}", reply.body);
            assert_eq!(reply.json()["error"]["code"], -32601, "{method}");
        }
    }
}

/// Arguments and replies pass unchanged, with their metadata.
#[tokio::test]
async fn parcels_pass_as_written() {
    let fixture = Fixture::open(Limits::default());
    let reply = post(&fixture, "/mcp", HOST, &odd_call("test_echo")).await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    let object = format!(r#"{{"object":{ODD}}}"#);
    assert_eq!(contents(&reply.body), (object.clone(), object));
    assert_eq!(reply.json()["result"]["_meta"]["position"], 7);
    let reply = post(&fixture, "/mcp", HOST, &odd_call("test_list")).await;
    let list = format!("[{ODD}]");
    let wrapped = format!(r#"{{"items":{list}}}"#);
    assert_eq!(contents(&reply.body), (list, wrapped));
    assert_eq!(reply.json()["result"]["_meta"]["total"], 1);
}

/// Resources are listed and read in both eras; a missing one gets the error code of its era.
#[tokio::test]
async fn resources_are_read() {
    let fixture = Fixture::with_resources(Limits::default(), KINDS);
    let listed = r#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#;
    let reply = post(&fixture, "/mcp", HOST, listed).await.json();
    assert_eq!(reply["result"]["nextCursor"], "page:4", "{reply}");
    for (uri, legacy, newest) in [("lore://page/p-1", 0, 0), ("lore://page/x", -32002, -32602)] {
        let request = json!({"jsonrpc": "2.0", "id": 2, "method": "resources/read",
            "params": {"uri": uri}});
        let headers = format!(
            "{HOST}MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: resources/read\r\nMcp-Name: {uri}\r\n"
        );
        let older = post(&fixture, "/mcp", HOST, &request.to_string()).await;
        let newer = post(&fixture, "/mcp", &headers, &modern(request).to_string()).await;
        for (reply, code) in [(older.json(), legacy), (newer.json(), newest)] {
            assert_eq!(
                reply["error"]["code"].as_i64().unwrap_or(0),
                code,
                "{reply}"
            );
            let text = &reply["result"]["contents"][0]["text"];
            assert_eq!(text.is_string(), code == 0, "{reply}");
        }
    }
}

/// A wrong path, host, origin or method is refused with its own status.
#[tokio::test]
async fn what_is_not_for_us_is_refused() {
    let fixture = Fixture::open(Limits::default());
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let reply = post(&fixture, "/other", HOST, ping).await;
    assert_eq!(reply.status, 404);
    let message = reply.json()["error"]["message"].clone();
    assert_eq!(message, "path /other not found");
    for (headers, status) in [
        (HOST.to_owned(), 200),
        ("Host: 127.0.0.1:8080\r\n".to_owned(), 200),
        ("Host: example.com\r\n".to_owned(), 403),
        (format!("{HOST}Origin: http://localhost:3000\r\n"), 200),
        (format!("{HOST}Origin: http://example.com\r\n"), 403),
        (format!("{HOST}Origin: null\r\n"), 403),
        (String::new(), 400),
    ] {
        let reply = post(&fixture, "/mcp", &headers, ping).await;
        assert_eq!(reply.status, status, "{headers}: {}", reply.body);
    }
    for method in ["GET", "DELETE", "OPTIONS"] {
        let request = format!("{method} /mcp HTTP/1.1\r\n{HOST}{ACCEPT}Connection: close\r\n\r\n");
        let reply = send(&fixture, request.as_bytes()).await;
        assert_eq!(reply.status, 405, "{method}: {}", reply.body);
        assert!(!reply.head.contains("access-control"), "{}", reply.head);
    }
}

/// Bodies that are not messages or exceed the limit are refused, however they are sent.
#[tokio::test]
async fn bad_bodies_get_their_answers() {
    let fixture = Fixture::open(Limits {
        frame_bytes_max: 100_000,
        ..Limits::default()
    });
    for (body, code) in [
        ("{", -32700),
        ("[]", -32600),
        (r#"{"jsonrpc":"2.0","id":7}"#, -32600),
        (&"[".repeat(50_000), -32700),
    ] {
        let reply = post(&fixture, "/mcp", HOST, body).await;
        assert_eq!(reply.status, 400, "{}", reply.body);
        assert_eq!(reply.json()["error"]["code"], code, "{}", reply.body);
    }
    let large = call(
        1,
        "record_step",
        json!({"tool": "t", "result": "x".repeat(100_000)}),
    );
    let large = large.to_string();
    let reply = post(&fixture, "/mcp", HOST, &large).await;
    assert_eq!(reply.status, 413, "{}", reply.body);
    assert_eq!(reply.json()["error"]["code"], "FRAME_TOO_LARGE");
    let chunked = format!(
        "POST /mcp HTTP/1.1\r\n{HOST}{ACCEPT}{JSON}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n{:x}\r\n{large}\r\n0\r\n\r\n",
        large.len()
    );
    assert_eq!(send(&fixture, chunked.as_bytes()).await.status, 413);
}

/// A response over the limit is refused with its id and its size, in both eras: a prompt with a long note, a long list.
#[tokio::test]
async fn no_response_is_over_its_limit() {
    const BYTES_MAX: usize = 16 << 10;
    let fixture = Fixture::open(Limits {
        mcp_line_bytes_max: BYTES_MAX,
        ..Limits::default()
    });
    let create = call(1, "create_session", json!({"session": "s-1"}));
    post(&fixture, "/mcp", HOST, &create.to_string()).await;
    let prompt = |bytes: usize| {
        let arguments = json!({"session": "s-1", "note": "x".repeat(bytes)});
        json!({"jsonrpc": "2.0", "id": "p\n", "method": "prompts/get",
            "params": {"name": "hand_over", "arguments": arguments}})
    };
    let list = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/list",
        "params": {"_meta": {"lore/tools": "full"}}});
    for (request, name, is_refused) in [
        (prompt(1000), "Mcp-Name: hand_over\r\n", false),
        (prompt(BYTES_MAX), "Mcp-Name: hand_over\r\n", true),
        (list, "", true),
    ] {
        let (id, method) = (request["id"].clone(), request["method"].clone());
        let headers = format!(
            "{HOST}MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {}\r\n{name}",
            method.as_str().unwrap()
        );
        let older = post(&fixture, "/mcp", HOST, &request.to_string()).await;
        let newer = post(&fixture, "/mcp", &headers, &modern(request).to_string()).await;
        for reply in [older, newer] {
            assert!(reply.body.len() <= BYTES_MAX, "{method}");
            let reply = reply.json();
            assert_eq!(reply["id"], id, "{reply}");
            assert_eq!(reply["result"].is_object(), !is_refused, "{reply}");
            let code = &reply["error"]["data"]["code"];
            assert_eq!(code == "RESPONSE_TOO_LARGE", is_refused, "{reply}");
        }
    }
}

/// Answers and notifications are accepted without an answer, whatever they hold.
#[tokio::test]
async fn what_asks_nothing_is_not_answered() {
    let fixture = Fixture::open(Limits::default());
    for body in [
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"m"}}"#,
        r#"{"jsonrpc":"2.0","id":98765432109876543210,"error":{"code":1,"message":"m"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":98765432109876543210}}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":[]}"#,
    ] {
        let reply = post(&fixture, "/mcp", HOST, body).await;
        assert_eq!((reply.status, reply.body.as_str()), (202, ""), "{body}");
    }
}

/// A peer that sends its request too slowly is disconnected, in the head and in the body.
#[tokio::test]
async fn slow_requests_are_closed() {
    let fixture = Fixture::open(Limits {
        handshake_timeout_ms: 30,
        read_timeout_ms: 30,
        ..Limits::default()
    });
    let mut stream = fixture.connect().await;
    stream.write_all(b"POST /mcp HT").await.unwrap();
    let mut left = Vec::new();
    stream.read_to_end(&mut left).await.unwrap();
    let request = format!("POST /mcp HTTP/1.1\r\n{HOST}{ACCEPT}{JSON}Content-Length: 9\r\n\r\n{{");
    let reply = send(&fixture, request.as_bytes()).await;
    assert_eq!(reply.status, 408, "{}", reply.body);
    assert_eq!(reply.json()["error"]["code"], "TIMEOUT");
}

/// A subscription stream arrives as events in the answer to one request until the daemon stops. The
/// older era has no stream here and does not advertise one.
#[tokio::test]
async fn changes_come_as_a_stream() {
    let fixture = Fixture::with_resources(Limits::default(), KINDS);
    let older = post(
        &fixture,
        "/mcp",
        HOST,
        &initialize("2025-11-25").to_string(),
    )
    .await;
    let declared = &older.json()["result"]["capabilities"]["resources"];
    assert_eq!(declared, &json!({}));
    let subscribe = json!({"jsonrpc": "2.0", "id": 2, "method": "resources/subscribe",
        "params": {"uri": "lore://page/p-1"}});
    let refused = post(&fixture, "/mcp", HOST, &subscribe.to_string()).await;
    assert_eq!(refused.json()["error"]["code"], -32601, "{}", refused.body);

    let listen = modern(
        json!({"jsonrpc": "2.0", "id": 3, "method": "subscriptions/listen",
        "params": {"notifications": {"resourceSubscriptions": ["lore://page/p-1"]}}}),
    );
    let listen = listen.to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\n{HOST}{ACCEPT}{JSON}MCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: subscriptions/listen\r\nContent-Length: {}\r\n\r\n{listen}",
        listen.len()
    );
    let mut stream = fixture.connect().await;
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut said = String::new();
    let mut piece = [0; 4096];
    let mut created = false;
    while !said.contains("notifications/resources/updated") {
        let read = stream.read(&mut piece).await.unwrap();
        assert!(read > 0, "{said}");
        said.push_str(std::str::from_utf8(&piece[..read]).unwrap());
        if said.contains("subscriptions/acknowledged") && !created {
            created = true;
            let create = call(4, "create_session", json!({"session": "p-1"})).to_string();
            let headers = format!("{HOST}MCP-Protocol-Version: 2025-11-25\r\n");
            post(&fixture, "/mcp", &headers, &create).await;
        }
    }
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    assert!(
        said.to_ascii_lowercase().contains("text/event-stream"),
        "{said}"
    );
    assert!(said.contains(r#""uri":"lore://page/p-1""#), "{said}");
    fixture.endpoint.stop.cancel();
    let mut rest = String::new();
    stream.read_to_string(&mut rest).await.unwrap();
    assert!(rest.contains(r#""resultType":"complete""#), "{rest}");
}

/// The URL selects the listed tools; an unknown name is refused with a suggestion.
#[tokio::test]
async fn an_address_names_the_tools() {
    let fixture = Fixture::open(Limits::default());
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}"#;
    let headers = format!("{HOST}MCP-Protocol-Version: 2025-06-18\r\n");
    for (path, count) in [
        ("/mcp", 15),
        ("/mcp?other=x", 15),
        ("/mcp?tools=packs", 6),
        ("/mcp?x=1&tools=packs%2Ccore", 19),
    ] {
        let reply = post(&fixture, path, &headers, list).await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.body);
        let listed = reply.json();
        let tools = listed["result"]["tools"].as_array().unwrap();
        assert_eq!(tools.len(), count, "{path}: {listed}");
    }
    let refused = post(&fixture, "/mcp?tools=pack", &headers, list).await;
    assert_eq!(refused.status, 400);
    let hint = refused.json()["error"]["hint"].clone();
    assert!(hint.as_str().unwrap().contains("`packs`"), "{hint}");
}

/// All requests of one connection share a write quota, as frames do.
#[tokio::test]
async fn a_connection_has_a_quota() {
    let fixture = Fixture::open(Limits {
        writes_per_second_max: 1,
        ..Limits::default()
    });
    let request = |id: u64, connection: &str| {
        let body = call(id, "record_step", json!({"tool": "t", "result": "x"})).to_string();
        let headers = format!("{HOST}MCP-Protocol-Version: 2025-06-18\r\n{connection}");
        format!(
            "POST /mcp HTTP/1.1\r\n{headers}{ACCEPT}{JSON}Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let mut requests: String = (1..20).map(|id| request(id, "")).collect();
    requests.push_str(&request(20, "Connection: close\r\n"));
    let replies = send(&fixture, requests.as_bytes()).await;
    assert_eq!(replies.status, 200);
    assert!(replies.body.contains("RATE_LIMITED"), "{}", replies.body);
    let other = send(&fixture, request(21, "Connection: close\r\n").as_bytes()).await;
    assert!(!other.body.contains("RATE_LIMITED"), "{}", other.body);
}

/// A connection uses the body limits that the settings have when it is accepted.
#[tokio::test]
async fn a_higher_limit_holds_for_new_connections() {
    let fixture = Fixture::open(Limits::default());
    let limits = |frame_bytes_max| Limits {
        frame_bytes_max,
        ..Limits::default()
    };
    let live = Reloadable::new(limits(64 << 10));
    let path = fixture.folder.path().join("live/live.sock");
    let listener = crate::service::bind(&path, 0o600).unwrap().listener;
    let stop = fixture.endpoint.stop.clone();
    let endpoints = Transports::new(fixture.find(), live.clone(), 4, stop);
    tokio::spawn(Arc::new(endpoints).serve(listener, || {}));
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list",
        "params": {"_meta": {"large": "x".repeat(100 << 10)}}});
    for (bytes_max, status) in [(64 << 10, "413"), (1 << 20, "200")] {
        live.set(limits(bytes_max));
        let mut stream = UnixStream::connect(&path).await.unwrap();
        let request = posted("/mcp", HOST, &list.to_string());
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{answer}"
        );
    }
}

/// If a peer disconnects while its large calls run, they keep their memory and their turns until they end.
#[tokio::test]
async fn who_goes_away_leaves_its_calls_paid_for() {
    const LARGE_BYTES: usize = 3 << 20;
    let limits = Limits {
        // A quarter of the budget is for small calls.
        bytes_in_flight_total_max: LARGE_BYTES / 3 * 4,
        ..Limits::default()
    };
    let (fixture, service) = (Fixture::open(limits), Service::new());
    let (budget, connection_slot) = (&fixture.endpoint.budget, ConnectionSlot::alone().unwrap());
    let object = json!({"object": {"text": "x".repeat(900 << 10)}});
    let body = call(1, "test_hold", object).to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\n{HOST}{ACCEPT}{JSON}MCP-Protocol-Version: 2025-06-18\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    for _ in 0..3 {
        let (mut peer, server) = UnixStream::pair().unwrap();
        let (read, write) = server.into_split();
        let asks = async {
            peer.write_all(request.as_bytes()).await.unwrap();
            BEGUN.acquire().await.unwrap().forget();
            drop(peer);
        };
        let served = service.serve(&fixture.endpoint, 1, &connection_slot, read, write);
        let ((), _) = tokio::join!(asks, served);
    }
    let is_free = |bytes| budget.large(&mut MemoryPermit::default(), bytes);
    let give_back = async || {
        assert!(!is_free(1), "they are still carried out");
        assert!(budget.turn(usize::MAX).now_or_never().is_none());
        MAY_END.add_permits(3);
        drop(budget.turn(usize::MAX).await);
        while !is_free(LARGE_BYTES) {
            yield_now().await;
        }
    };
    give_back().await;
    // The same over frames, on connections that are evicted.
    let mut frames = Vec::new();
    let hello = frame::Hello {
        client: "t/1".to_owned(),
        ..frame::Hello::default()
    };
    frame::encode_hello(&mut frames, &hello);
    let object = json!({"object": {"text": "x".repeat(900 << 10)}});
    let arguments = Args::Json(object.to_string().into_bytes());
    frame::encode_call(&mut frames, 1, "test_hold", &arguments);
    for _ in 0..3 {
        let (mut peer, server) = UnixStream::pair().unwrap();
        let (read, mut write) = server.into_split();
        let mut read = BufReader::new(read);
        let asks = async {
            peer.write_all(&frames).await.unwrap();
            BEGUN.acquire().await.unwrap().forget();
        };
        tokio::select! {
            _ = fixture.endpoint.frames((1, CallerProcess::Unknown), &connection_slot, &mut read, &mut write) => panic!("it is still there"),
            () = asks => {}
        }
    }
    give_back().await;
}
