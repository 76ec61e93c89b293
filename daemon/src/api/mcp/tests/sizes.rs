//! The content and the size of results: hosts for models get each reply once, and no line is over its limit.

use super::*;

/// Maximum size of a line in these tests, in bytes.
const LINE_BYTES: usize = 64 << 10;

fn small_lines() -> Limits {
    Limits {
        mcp_line_bytes_max: LINE_BYTES,
        ..Limits::default()
    }
}

fn initialize_as(host: &str) -> Value {
    let mut request = initialize("2025-11-25");
    request["params"]["clientInfo"]["name"] = json!(host);
    request
}

fn echo(id: u64, bytes: usize) -> Value {
    call(
        id,
        "test_echo",
        json!({"object": {"text": "x".repeat(bytes)}}),
    )
}

/// Sends a call and returns its result; the line is within its limit.
async fn result_of(peer: &mut Peer, call: Value) -> Value {
    peer.send(call.to_string()).await;
    let line = peer.line().await;
    assert!(line.len() <= LINE_BYTES, "{}", line.len());
    serde_json::from_str::<Value>(&line).unwrap()["result"].take()
}

/// Hosts for models get the text alone, until they list output schemas. Other clients get both.
#[tokio::test]
async fn hosts_get_each_reply_once() {
    let fixture = Fixture::open(small_lines());
    let mut peer = fixture.peer().await;
    peer.request(initialize_as("claude-code")).await;
    let result = result_of(&mut peer, echo(2, 10)).await;
    assert!(result.get("structuredContent").is_none(), "{result}");
    assert_eq!(
        result["content"][0]["text"],
        json!({"object": {"text": "xxxxxxxxxx"}}).to_string()
    );
    let refused = result_of(&mut peer, call(3, "test_echo", json!({}))).await;
    assert_eq!(refused["isError"], true);
    assert!(refused.get("structuredContent").is_none(), "{refused}");
    // A request of the newest era names its client.
    let result = result_of(&mut peer, modern(echo(4, 10))).await;
    assert!(result.get("structuredContent").is_some(), "{result}");
    let large = Fixture::open(Limits::default());
    let mut whole = large.peer().await;
    whole.request(initialize_as("claude-code")).await;
    let listed = whole.request(list()).await;
    assert!(listed["result"]["tools"][0]["outputSchema"].is_object());
    let result = result_of(&mut whole, echo(5, 10)).await;
    assert!(result.get("structuredContent").is_some(), "{result}");

    let mut peer = fixture.peer().await;
    peer.request(initialize_as("program")).await;
    let result = result_of(&mut peer, echo(2, 10)).await;
    assert!(result.get("structuredContent").is_some(), "{result}");
    peer.request(initialize_as("opencode")).await;
    let mut full = echo(3, 10);
    full["params"]["_meta"] = json!({"lore/tools": "full"});
    let result = result_of(&mut peer, full).await;
    assert!(result.get("structuredContent").is_some(), "{result}");
}

/// A reply that fits once is a text alone; a larger one is refused with its size.
#[tokio::test]
async fn no_line_is_over_its_limit() {
    let fixture = Fixture::open(small_lines());
    let mut peer = fixture.peer().await;
    let result = result_of(&mut peer, echo(1, LINE_BYTES / 3)).await;
    assert!(result.get("structuredContent").is_some());
    let result = result_of(&mut peer, echo(2, LINE_BYTES / 2)).await;
    assert_eq!(result["isError"], false);
    assert!(result.get("structuredContent").is_none());
    let refused = result_of(&mut peer, echo(3, LINE_BYTES)).await;
    let error = &refused["structuredContent"];
    assert_eq!(error["code"], "RESPONSE_TOO_LARGE", "{refused}");
    assert_eq!(error["details"]["maximum"], LINE_BYTES);
    let mut full = echo(4, LINE_BYTES / 2);
    full["params"]["_meta"] = json!({"lore/tools": "full"});
    let refused = result_of(&mut peer, full).await;
    assert_eq!(refused["isError"], true, "{refused}");
    // Any other response is replaced by an error with its id.
    let listed = peer.request(list()).await;
    assert_eq!(listed["id"], 2);
    assert_eq!(listed["error"]["data"]["code"], "RESPONSE_TOO_LARGE");
}

/// A step whose result is too large is read in parts.
#[tokio::test]
async fn a_large_result_is_read_in_parts() {
    let fixture = Fixture::open(small_lines());
    let mut peer = fixture.peer().await;
    let whole = "a \"é\" ".repeat(LINE_BYTES / 4);
    result_of(&mut peer, call(1, "record_step", step(&whole))).await;
    let refused = result_of(&mut peer, call(2, "get_step", json!({"step": 1}))).await;
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("`from` and `bytes_max` return a part"),
        "{text}"
    );
    let mut read = String::new();
    let mut from = json!(0);
    while !from.is_null() {
        let part = json!({"step": 1, "from": from, "bytes_max": 10_001});
        let part = result_of(&mut peer, call(3, "get_step", part)).await;
        let part = &part["structuredContent"];
        assert_eq!(part["extracted"], json!({}));
        read.push_str(part["result"].as_str().unwrap());
        from = part["next_from"].clone();
    }
    assert!(read == whole);
    let beyond = json!({"step": 1, "from": 1_u64 << 40});
    let beyond = result_of(&mut peer, call(4, "get_step", beyond)).await;
    assert_eq!(beyond["structuredContent"]["result"], "");
    let wrong = json!({"step": 1, "bytes_max": 1});
    let wrong = result_of(&mut peer, call(5, "get_step", wrong)).await;
    assert_eq!(wrong["structuredContent"]["code"], "INVALID_INPUT");
}

/// A context that is too large is refused with its resource, and the resource is read in parts.
#[tokio::test]
async fn a_large_resource_is_read_in_parts() {
    let fixture = Fixture::with_resources(small_lines(), RESOURCES);
    let mut peer = fixture.peer().await;
    let context = json!({"text": "é\n".repeat(LINE_BYTES / 2)});
    let saved = call(1, "workflow_checkpoint_save", json!({"context": context}));
    let saved = result_of(&mut peer, saved).await;
    let id = saved["structuredContent"]["checkpointId"].clone();
    let loaded = call(2, "workflow_checkpoint_load", json!({"checkpointId": id}));
    let refused = result_of(&mut peer, loaded).await;
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("`keys`") && text.contains("`maxTokens`"),
        "{text}"
    );
    let link = &refused["content"][1];
    assert_eq!(link["type"], "resource_link", "{refused}");
    let mut uri = link["uri"].clone();
    let mut whole = String::new();
    while !uri.is_null() {
        let read =
            json!({"jsonrpc": "2.0", "id": 3, "method": "resources/read", "params": {"uri": uri}});
        let read = result_of(&mut peer, read).await;
        whole.push_str(read["contents"][0]["text"].as_str().unwrap());
        let next = read["_meta"]["lore/next"].clone();
        if let Some(next) = next.as_str() {
            let note = read["contents"][1]["text"].as_str().unwrap();
            assert!(note.contains(next), "{note}");
        }
        uri = next;
    }
    assert_eq!(serde_json::from_str::<Value>(&whole).unwrap(), context);
    let beyond = format!("{}/@99", link["uri"].as_str().unwrap());
    let read =
        json!({"jsonrpc": "2.0", "id": 4, "method": "resources/read", "params": {"uri": beyond}});
    let refused = peer.request(read).await;
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("parts, not a part 99"), "{refused}");
}
