//! Raw calls: arguments and replies pass every transport unchanged, and reply metadata goes to its place in
//! each transport.

use lore::protocol::frame::ServerFrame;
use tokio::io::AsyncReadExt;

use super::*;

/// JSON that parsing would change: numbers out of range, unsorted keys, escapes and whitespace.
pub const ODD: &str =
    r#"{ "z":1.10,"a":[1E400, -0,{"n":12345678901234567890123456789}],"e":"\u00e9\/" }"#;

/// Builds a test call with that object, byte for byte.
pub fn odd_call(name: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}","arguments":{{"object":{ODD}}}}}}}"#
    )
}

/// Returns the raw texts of `content` and `structuredContent` in an answer. The warning of the metadata, if there is
/// one, is a text of its own.
pub fn contents(answer: &str) -> (String, String) {
    let (_, text) = answer
        .split_once(r#""content":[{"type":"text","text":"#)
        .unwrap();
    let (text, rest) = text.split_once(r#"],"structuredContent":"#).unwrap();
    let text = match rest.contains(r#""warnings":["beside"]"#) {
        true => text.strip_suffix(r#",{"type":"text","text":"Warning: beside"}"#),
        false => Some(text),
    };
    let text = text.unwrap().strip_suffix('}').unwrap();
    let (structured, _) = rest.split_once(r#","isError":false"#).unwrap();
    (serde_json::from_str(text).unwrap(), structured.to_owned())
}

/// Frames carry the reply unchanged, with its metadata next to it.
#[tokio::test]
async fn frames_carry_bytes_and_meta() {
    let fixture = Fixture::open(Limits::default());
    let mut peer = fixture.peer().await;
    let mut out = Vec::new();
    let hello = frame::Hello {
        client: "t/1".to_owned(),
        ..frame::Hello::default()
    };
    frame::encode_hello(&mut out, &hello);
    let object = format!(r#"{{"object":{ODD}}}"#);
    let inside = json!({ "object": ODD });
    for (id, name, args) in [
        (1, "test_echo", Args::Json(object.clone().into_bytes())),
        (2, "test_echo", Args::Value(inside)),
        (3, "test_list", Args::Json(object.clone().into_bytes())),
        (4, "status", Args::Json(b"{}".to_vec())),
    ] {
        frame::encode_call(&mut out, id, name, &args);
    }
    peer.write.write_all(&out).await.unwrap();
    let mut answers = std::collections::BTreeMap::new();
    while answers.len() < 4 {
        let mut length = [0; 4];
        peer.read.read_exact(&mut length).await.unwrap();
        let mut body = vec![0; u32::from_be_bytes(length) as usize];
        peer.read.read_exact(&mut body).await.unwrap();
        if let ServerFrame::Answer { id, outcome } = frame::decode_server(&body).unwrap() {
            let reply = outcome.unwrap();
            let text = |bytes| String::from_utf8(bytes).unwrap();
            answers.insert(id, (text(reply.json), reply.meta.map(text)));
        }
    }
    let meta = r#"{"position":7,"durable":true,"warnings":["beside"]}"#;
    let echoed = (object, Some(meta.to_owned()));
    assert_eq!((&answers[&1], &answers[&2]), (&echoed, &echoed));
    let meta = r#"{"position":7,"durable":true,"total":1}"#;
    assert_eq!(answers[&3], (format!("[{ODD}]"), Some(meta.to_owned())));
    assert_eq!(answers[&4].1, None);
}

/// Over MCP lines the text is the reply, structured content is an object, and `_meta` carries the
/// metadata.
#[tokio::test]
async fn lines_carry_bytes_and_meta() {
    let fixture = Fixture::open(Limits::default());
    let mut peer = fixture.peer().await;
    peer.send(odd_call("test_echo")).await;
    let line = peer.line().await;
    let object = format!(r#"{{"object":{ODD}}}"#);
    assert_eq!(contents(&line), (object.clone(), object));
    let meta = r#""_meta":{"position":7,"durable":true,"warnings":["beside"]}}}"#;
    assert!(line.trim_end().ends_with(meta), "{line}");

    peer.send(odd_call("test_list")).await;
    let line = peer.line().await;
    let list = format!("[{ODD}]");
    assert_eq!(
        contents(&line),
        (list.clone(), format!(r#"{{"items":{list}}}"#))
    );
    let answer: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(answer["result"]["_meta"]["total"], 1);

    // The newest era marks its results, and the mark is retained.
    let modern = modern(call(2, "test_echo", json!({"object": {"a": 1}})));
    let answer = peer.request(modern).await;
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(answer["result"]["_meta"]["position"], 7, "{answer}");
    assert_eq!(content(&answer)["object"]["a"], 1);
    let refused = peer.call(3, "test_echo", json!({"object": [1]})).await;
    let refused = &refused["result"]["structuredContent"]["message"];
    assert!(
        refused
            .as_str()
            .unwrap()
            .contains("a list is not an object"),
        "{refused}"
    );
    let recorded = peer.call(4, "record_step", step("r")).await;
    assert_eq!(recorded["result"].get("_meta"), None);
}

/// The schema of a tool whose reply is a list describes the wrapping object. A tool with long replies
/// asks the host to show them whole.
#[test]
fn tools_say_how_replies_come() {
    let tool = |name: &str| serde_json::to_value(super::super::tools::find(name)).unwrap();
    let listed = &tool("test_list")["outputSchema"]["anyOf"][0];
    assert_eq!(listed["type"], "object");
    assert_eq!(listed["required"], json!(["items"]));
    assert_eq!(listed["properties"]["items"]["type"], "array");
    assert_eq!(tool("test_list").get("_meta"), None);
    let echo = tool("test_echo");
    assert_eq!(
        echo["_meta"],
        json!({"anthropic/maxResultSizeChars": 500_000})
    );
    assert_eq!(echo["annotations"]["destructiveHint"], true);
    let input = &echo["inputSchema"]["properties"]["object"];
    assert_eq!(input["type"], "object", "{input}");
}

/// A result that is longer than the tool announces is refused with its length, because a host would cut it.
#[tokio::test]
async fn a_result_above_the_announced_limit_is_refused() {
    let fixture = Fixture::open(Limits::default());
    let mut peer = fixture.peer().await;
    for (id, chars, is_refused) in [(1, 499_000, false), (2, 501_000, true)] {
        let object = json!({"text": "é".repeat(chars)});
        let line = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "test_echo", "arguments": {"object": object}}});
        peer.send(line.to_string()).await;
        let reply: serde_json::Value = serde_json::from_str(&peer.line().await).unwrap();
        let result = &reply["result"];
        assert_eq!(result["isError"], is_refused, "{chars}");
        if is_refused {
            assert_eq!(result["structuredContent"]["code"], "RESPONSE_TOO_LARGE");
            assert_eq!(result["structuredContent"]["details"]["maximum"], 500_000);
        }
    }
}

/// Ten megabytes pass complete in both directions.
#[tokio::test]
async fn large_parcels_pass() {
    let fixture = Fixture::open(Limits {
        mcp_line_bytes_max: 64 << 20,
        ..Limits::default()
    });
    let mut peer = fixture.peer().await;
    let entry = r#"{"text":"a \"quoted\" é","n":1.10},"#;
    let entries = entry.repeat((10 << 20) / entry.len());
    let object = format!(r#"{{"list":[{entries}0]}}"#);
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"test_list","arguments":{{"object":{object}}}}}}}"#
    );
    peer.send(line).await;
    let (text, structured) = contents(&peer.line().await);
    assert!(text == format!("[{object}]"));
    assert!(structured == format!(r#"{{"items":[{object}]}}"#));
}
