//! Lines: invalid, slow and unread ones, and their limits.

use std::io::ErrorKind;

use super::*;
use crate::api::connection_slots::ConnectionSlot;

/// Every invalid line is answered, and the connection continues.
#[tokio::test]
async fn every_bad_line_gets_its_answer() {
    let fixture = Fixture::open(Limits {
        frame_bytes_max: 200_000,
        ..Limits::default()
    });
    let mut peer = fixture.peer().await;
    // None of these gets an answer: a notification, blank lines, a response without a request.
    for quiet in [
        "",
        "  \r",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"no/such"}"#,
        r#"{"jsonrpc":"2.0","id":5,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"m"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":98765432109876543210}}"#,
    ] {
        peer.send(quiet).await;
    }
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"record_step","arguments":{{"tool":"t","result":{}{}}}}}}}"#,
        "[".repeat(5000),
        "]".repeat(5000)
    );
    let long = call(7, "record_step", step(&"x".repeat(300_000))).to_string();
    let cases: [(&[u8], Value, i32); 12] = [
        (b" {", Value::Null, -32700),
        (b"[1,2]", Value::Null, -32600),
        (
            br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
            Value::Null,
            -32600,
        ),
        (b"[", Value::Null, -32700),
        (b"true", Value::Null, -32600),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\xff\"}",
            json!(7),
            -32700,
        ),
        (
            br#"{"jsonrpc":"2.0","id":7,"method":"ping""#,
            json!(7),
            -32700,
        ),
        (
            br#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#,
            json!(7),
            -32600,
        ),
        (
            br#"{"jsonrpc":"2.0","id":"a","method":["ping"]}"#,
            json!("a"),
            -32600,
        ),
        (
            br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
            Value::Null,
            -32600,
        ),
        (deep.as_bytes(), json!(7), -32600),
        (long.as_bytes(), json!(7), -32600),
    ];
    for (line, id, code) in cases {
        peer.send(line).await;
        let shown = String::from_utf8_lossy(line)
            .chars()
            .take(60)
            .collect::<String>();
        let answer = peer.answer().await;
        assert_eq!(answer["error"]["code"], code, "{shown}: {answer}");
        assert_eq!(answer["id"], id, "{shown}: {answer}");
        assert!(answer["error"]["data"]["code"].is_string(), "{answer}");
        let pong = peer
            .request(json!({"jsonrpc": "2.0", "id": "still", "method": "ping"}))
            .await;
        assert_eq!(pong, json!({"jsonrpc": "2.0", "id": "still", "result": {}}));
    }
    // A last line without a break is answered before the connection ends.
    let last = call(8, "record_step", step("last")).to_string();
    peer.write.write_all(last.as_bytes()).await.unwrap();
    peer.write.shutdown().await.unwrap();
    assert_eq!(content(&peer.answer().await)["step"], 1);
    assert_eq!(peer.line().await, "");
}

/// An unfinished line is answered after its timeout, and its connection ends.
#[tokio::test]
async fn a_slow_line_ends_the_connection() {
    let fixture = Fixture::open(Limits {
        read_timeout_ms: 20,
        ..Limits::default()
    });
    let mut peer = fixture.peer().await;
    peer.write.write_all(br#"{"id":3,"x"#).await.unwrap();
    let answer = peer.answer().await;
    assert_eq!(answer["id"], 3);
    assert_eq!(answer["error"]["data"]["code"], "TIMEOUT");
    assert_eq!(peer.line().await, "");
}

/// A peer that does not read its answers is disconnected.
#[tokio::test]
async fn a_peer_that_does_not_read_is_let_go() {
    let fixture = Fixture::open(Limits {
        write_timeout_ms: 20,
        ..Limits::default()
    });
    let (mut peer, server) = tokio::io::duplex(1024);
    let (read, write) = tokio::io::split(server);
    let connection_slot = ConnectionSlot::alone().unwrap();
    let caller = super::super::anonymous(1, &fixture.endpoint.limits);
    let served = super::super::serve(
        &fixture.endpoint,
        caller,
        &connection_slot,
        BufReader::new(read),
        write,
    );
    let line = format!("{}\n", list());
    let (asked, served) = tokio::join!(peer.write_all(line.as_bytes()), served);
    asked.unwrap();
    assert_eq!(served.unwrap_err().kind(), ErrorKind::TimedOut);
}

/// Digits and the order of keys reach the store unchanged.
#[tokio::test]
async fn arguments_arrive_as_written() {
    let fixture = Fixture::open(Limits::default());
    let mut peer = fixture.peer().await;
    let result = r#"{"z":0.10,"a":12345678901234567890123,"m":1.50}"#;
    peer.send(format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"arguments":{{"tool":"t","result":{result}}},"name":"record_step"}}}}"#
    ))
    .await;
    let recorded = peer.answer().await;
    let session = content(&recorded)["session"].clone();
    let shown = peer
        .call(2, "get_step", json!({"session": session, "step": 1}))
        .await;
    assert_eq!(content(&shown)["result"], result);
}

/// MCP lines have the same write limit as frames.
#[tokio::test]
async fn lines_have_their_quota() {
    let fixture = Fixture::open(Limits {
        writes_per_second_max: 1,
        ..Limits::default()
    });
    let mut peer = fixture.peer().await;
    let mut codes = Vec::new();
    for id in 1..=20 {
        let answer = peer.call(id, "record_step", step("x")).await;
        codes.push(answer["result"]["structuredContent"]["code"].clone());
    }
    assert_eq!(codes[0], Value::Null);
    // The loop may take longer than one second, but less than twenty.
    assert!(codes.contains(&json!("RATE_LIMITED")), "{codes:?}");
}
