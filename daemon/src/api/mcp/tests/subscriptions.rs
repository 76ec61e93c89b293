//! Resource change notifications over the MCP transport: subscriptions of the older era, streams of the newest.

use super::*;
use crate::api::test_operations::KINDS;

fn ask(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn about(uri: &str) -> Value {
    json!({ "uri": uri })
}

async fn fixture() -> Fixture {
    Fixture::with_resources(Limits::default(), KINDS)
}

/// Records an event that changes pages of a session.
async fn happen(fixture: &Fixture, name: &str, session: &str) {
    let mut peer = fixture.peer().await;
    let arguments = match name {
        "create_session" => json!({ "session": session }),
        _ => json!({"session": session, "tool": "t", "result": "1"}),
    };
    content(&peer.call(9, name, arguments).await);
}

impl Peer {
    async fn notification(&mut self, method: &str) -> Value {
        let reported = self.answer().await;
        assert_eq!(
            reported["method"],
            format!("notifications/{method}"),
            "{reported}"
        );
        assert!(reported["id"].is_null(), "{reported}");
        reported["params"].clone()
    }
}

/// The older era: list changes are sent after `initialized`, updates between subscribe and unsubscribe.
/// Other resources are not reported.
#[tokio::test]
async fn hosts_of_the_older_era_subscribe() {
    let fixture = fixture().await;
    let mut peer = fixture.peer().await;
    peer.initialize("2025-11-25").await;
    for (id, uri) in [
        (2, "lore://page/p-1"),
        (3, "lore://page/p-2"),
        (4, "lore://page/p-1"),
    ] {
        let answer = peer
            .request(ask(id, "resources/subscribe", about(uri)))
            .await;
        assert_eq!(answer["result"], json!({}), "{answer}");
    }
    happen(&fixture, "create_session", "p-9").await;
    peer.notification("resources/list_changed").await;
    happen(&fixture, "create_session", "p-1").await;
    assert_eq!(
        peer.notification("resources/updated").await,
        about("lore://page/p-1")
    );
    peer.notification("resources/list_changed").await;
    happen(&fixture, "record_step", "p-1").await;
    assert_eq!(
        peer.notification("resources/updated").await,
        about("lore://page/p-1")
    );

    let uri = about("lore://page/p-1");
    let answer = peer
        .request(ask(5, "resources/unsubscribe", uri.clone()))
        .await;
    assert_eq!(answer["result"], json!({}), "{answer}");
    assert_eq!(
        peer.request(ask(6, "resources/unsubscribe", uri)).await["result"],
        json!({})
    );
    happen(&fixture, "record_step", "p-1").await;
    happen(&fixture, "create_session", "p-2").await;
    assert_eq!(
        peer.notification("resources/updated").await,
        about("lore://page/p-2")
    );
    peer.notification("resources/list_changed").await;
}

/// Missing resources, and more than the limit, cannot be subscribed to. The newest era has another method.
#[tokio::test]
async fn wrong_subscriptions_are_refused() {
    let fixture = fixture().await;
    let mut peer = fixture.peer().await;
    peer.initialize("2025-11-25").await;
    for (uri, number, code) in [
        ("lore://page/x", -32002, "CHECKPOINT_NOT_FOUND"),
        ("lore://nothing/x", -32002, "NOT_FOUND"),
        ("lore://nosuch/x", -32002, "NOT_FOUND"),
        ("page", -32602, "INVALID_INPUT"),
    ] {
        let answer = peer
            .request(ask(2, "resources/subscribe", about(uri)))
            .await;
        assert_eq!(answer["error"]["code"], number, "{uri}: {answer}");
        assert_eq!(answer["error"]["data"]["code"], code, "{uri}: {answer}");
        assert_eq!(answer["error"]["data"]["uri"], uri);
    }
    for at in 0..1000 {
        let uri = about(&format!("lore://page/p-{at}"));
        let answer = peer.request(ask(at, "resources/subscribe", uri)).await;
        assert_eq!(answer["result"], json!({}), "{answer}");
    }
    let one_more = about("lore://page/p-1000");
    let answer = peer
        .request(ask(2, "resources/subscribe", one_more.clone()))
        .await;
    assert_eq!(answer["error"]["data"]["code"], "RATE_LIMITED", "{answer}");
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        let answer = peer.request(modern(ask(3, method, one_more.clone()))).await;
        assert_eq!(answer["error"]["code"], -32601, "{answer}");
    }
    let listen = ask(4, "subscriptions/listen", json!({"notifications": {}}));
    assert_eq!(peer.request(listen).await["error"]["code"], -32601);

    let fixture = Fixture::open(Limits::default());
    let mut peer = fixture.peer().await;
    peer.initialize("2025-11-25").await;
    let answer = peer
        .request(ask(2, "resources/subscribe", about("lore://page/p-1")))
        .await;
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
}

fn listen(id: u64, notifications: Value) -> Value {
    modern(ask(
        id,
        "subscriptions/listen",
        json!({ "notifications": notifications }),
    ))
}

fn tag(id: u64) -> Value {
    json!({ "io.modelcontextprotocol/subscriptionId": id })
}

/// The newest era: a stream reports its granted filter, and its messages carry its id. It ends when it is
/// cancelled, or with a result when the daemon stops.
#[tokio::test]
async fn streams_of_the_newest_era_tell_changes() {
    let fixture = fixture().await;
    let mut peer = fixture.peer().await;
    let uris = json!(["lore://page/p-1", "lore://nosuch/x", "lore://page/x"]);
    peer.send(listen(7, json!({"resourceSubscriptions": uris})).to_string())
        .await;
    let granted = peer.notification("subscriptions/acknowledged").await;
    let wanted = json!({"resourceSubscriptions": ["lore://page/p-1"]});
    assert_eq!(granted, json!({"_meta": tag(7), "notifications": wanted}));
    peer.send(listen(8, json!({"resourcesListChanged": true})).to_string())
        .await;
    let granted = peer.notification("subscriptions/acknowledged").await;
    let wanted = json!({"resourcesListChanged": true});
    assert_eq!(granted, json!({"_meta": tag(8), "notifications": wanted}));

    happen(&fixture, "create_session", "p-1").await;
    let mut reported = [peer.answer().await, peer.answer().await];
    reported.sort_by_key(|reported| reported["method"].to_string());
    assert_eq!(
        reported[0]["method"],
        "notifications/resources/list_changed"
    );
    assert_eq!(reported[0]["params"]["_meta"], tag(8));
    assert_eq!(
        reported[1]["params"],
        json!({"_meta": tag(7), "uri": "lore://page/p-1"})
    );

    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {
        "requestId": 7,
    }});
    peer.send(cancel.to_string()).await;
    happen(&fixture, "record_step", "p-1").await;
    happen(&fixture, "create_session", "p-3").await;
    assert_eq!(
        peer.notification("resources/list_changed").await["_meta"],
        tag(8)
    );
    fixture.endpoint.stop.cancel();
    let last = peer.answer().await;
    assert_eq!(last["id"], 8, "{last}");
    assert_eq!(last["result"]["resultType"], "complete", "{last}");
    assert_eq!(peer.line().await, "");
}

/// Streams do not count as calls in flight, up to a separate limit.
#[tokio::test]
async fn streams_hold_up_no_calls() {
    let limits = Limits {
        calls_in_flight_max: 1,
        long_polls_max: 2,
        ..Limits::default()
    };
    let fixture = Fixture::with_resources(limits, KINDS);
    let mut peer = fixture.peer().await;
    for id in [1, 2] {
        peer.send(listen(id, json!({})).to_string()).await;
        peer.notification("subscriptions/acknowledged").await;
    }
    peer.send(listen(3, json!({})).to_string()).await;
    peer.notification("subscriptions/acknowledged").await;
    let refused = peer.answer().await;
    assert_eq!(refused["id"], 3);
    assert_eq!(
        refused["error"]["data"]["code"], "RATE_LIMITED",
        "{refused}"
    );
    let waiting = json!({"from": 1, "wait_ms": 30_000});
    let refused = peer
        .request(modern(call(4, "follow_events", waiting.clone())))
        .await;
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    for id in 5..50 {
        let answer = peer.request(modern(call(id, "status", json!({})))).await;
        assert_eq!(answer["id"], id);
    }
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {
        "requestId": 1,
    }});
    peer.send(cancel.to_string()).await;
    // A slot is free once the stream has ended; then the call waits and ends with its connection.
    loop {
        peer.send(modern(call(60, "follow_events", waiting.clone())).to_string())
            .await;
        peer.send(modern(call(61, "status", json!({}))).to_string())
            .await;
        if peer.answer().await["id"] == 61 {
            break;
        }
        peer.answer().await;
    }
    peer.write.shutdown().await.unwrap();
    let mut last = [peer.answer().await, peer.answer().await];
    last.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(last[0]["id"], 2);
    assert_eq!(content(&last[1])["next"], 1, "{}", last[1]);
}
