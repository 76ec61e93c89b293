//! Resources over the MCP transport: listed by page, read by URI, and not declared when the table is empty.

use super::*;
use crate::api::test_operations::KINDS;

fn ask(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 2, "method": method, "params": params})
}

/// In both eras resources are declared, listed, described and read; the newest era marks its results.
#[tokio::test]
async fn resources_are_there_in_both_eras() {
    let fixture = Fixture::with_resources(Limits::default(), KINDS);
    let mut peer = fixture.peer().await;
    let answer = peer.initialize("2025-11-25").await;
    let resources = json!({"subscribe": true, "listChanged": true});
    let declared = json!({"completions": {}, "prompts": {}, "resources": resources, "tools": {}});
    assert_eq!(answer["result"]["capabilities"], declared);
    let discover = modern(ask("server/discover", json!({})));
    let answer = peer.request(discover).await;
    assert_eq!(answer["result"]["capabilities"], declared);

    type Era = fn(Value) -> Value;
    let eras: [(Era, Value, &str); 2] = [
        (|request| request, Value::Null, "tester"),
        (modern, json!("complete"), "modern tester"),
    ];
    for (era, result_type, agent) in eras {
        let answer = peer
            .request(era(ask("resources/templates/list", json!({}))))
            .await;
        let result = &answer["result"];
        assert_eq!(result["resultType"], result_type, "{answer}");
        let wanted = json!({"uriTemplate": "lore://page/{id}", "name": "page", "title": "Page",
            "description": "One of five.", "mimeType": "application/json"});
        assert_eq!(result["resourceTemplates"][0], wanted);
        assert_eq!(result["resourceTemplates"].as_array().unwrap().len(), 3);

        let answer = peer.request(era(ask("resources/list", json!({})))).await;
        assert_eq!(answer["result"]["resultType"], result_type, "{answer}");
        let wanted = json!({"uri": "lore://page/p-1", "name": "p-1", "title": "Number 1",
            "mimeType": "application/json", "size": 12});
        assert_eq!(answer["result"]["resources"][0], wanted);

        let uri = json!({"uri": "lore://page/p-3"});
        let answer = peer.request(era(ask("resources/read", uri))).await;
        assert_eq!(answer["result"]["resultType"], result_type, "{answer}");
        let text = format!(r#"{{"n":3.10,"by":"{agent}"}}"#);
        let wanted =
            json!([{"uri": "lore://page/p-3", "mimeType": "application/json", "text": text}]);
        assert_eq!(answer["result"]["contents"], wanted);
    }
    let answer = peer
        .request(ask("resources/read", json!({"uri": "lore://note/a/b.md"})))
        .await;
    assert_eq!(answer["result"]["contents"][0]["text"], "# a/b.md");
}

/// All kinds are listed completely, one after the other, with cursors that return unchanged;
/// a kind without entries gives no empty page.
#[tokio::test]
async fn lists_are_paged_over_all_kinds() {
    let fixture = Fixture::with_resources(Limits::default(), KINDS);
    let mut peer = fixture.peer().await;
    let mut pages = Vec::new();
    let mut params = json!({});
    loop {
        let answer = peer.request(ask("resources/list", params)).await;
        let page = answer["result"]["resources"].as_array().unwrap().iter();
        let names: Vec<String> = page
            .map(|resource| resource["uri"].as_str().unwrap().replace("lore://", ""))
            .collect();
        pages.push(names.join(" "));
        match &answer["result"]["nextCursor"] {
            Value::Null => break,
            cursor => params = json!({"cursor": cursor}),
        }
    }
    assert_eq!(
        pages,
        [
            "page/p-1 page/p-2 page/p-3",
            "page/p-4 page/p-5",
            "note/a/b.md"
        ]
    );
    for cursor in ["", "page", "nosuch:1", "page:x"] {
        let answer = peer
            .request(ask("resources/list", json!({"cursor": cursor})))
            .await;
        assert_eq!(answer["error"]["code"], -32602, "{cursor}: {answer}");
        assert_eq!(answer["error"]["data"]["code"], "INVALID_INPUT");
    }
}

/// A missing resource gets the code of its era and its URI. An invalid URI is another error.
/// A failing feature module still gets an answer.
#[tokio::test]
async fn what_cannot_be_read_is_told_apart() {
    let fixture = Fixture::with_resources(Limits::default(), KINDS);
    let mut peer = fixture.peer().await;
    peer.initialize("2025-11-25").await;
    for (uri, legacy, newest, code) in [
        ("lore://page/x", -32002, -32602, "CHECKPOINT_NOT_FOUND"),
        ("lore://nothing/x", -32002, -32602, "NOT_FOUND"),
        ("lore://page/", -32002, -32602, "NOT_FOUND"),
        ("lore://nosuch/x", -32002, -32602, "NOT_FOUND"),
        ("file:///etc/passwd", -32002, -32602, "NOT_FOUND"),
        ("page", -32602, -32602, "INVALID_INPUT"),
        ("lore://page/a b", -32602, -32602, "INVALID_INPUT"),
        ("lore://page/broken", -32603, -32603, "INTERNAL"),
    ] {
        let request = ask("resources/read", json!({ "uri": uri }));
        for (request, number) in [(request.clone(), legacy), (modern(request), newest)] {
            let answer = peer.request(request).await;
            let error = &answer["error"];
            assert_eq!(error["code"], number, "{uri}: {answer}");
            assert_eq!(error["data"]["code"], code, "{uri}: {answer}");
            assert_eq!(error["data"]["uri"], uri, "{answer}");
        }
    }
    let answer = peer.request(ask("resources/read", json!({"uri": 7}))).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let answer = peer.request(ask("resources/read", json!({}))).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let pong = peer.request(ask("ping", json!({}))).await;
    assert_eq!(pong["result"], json!({}));
}

/// The bridge, which answers before the daemon does, describes resources as the table does.
#[test]
fn the_bridge_knows_whether_there_are_resources() {
    assert_eq!(said::HAS_RESOURCES, !crate::api::RESOURCES.is_empty());
}
