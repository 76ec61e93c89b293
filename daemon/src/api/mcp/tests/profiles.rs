//! The listed tools, as selected by the Hello, by `initialize` or by a single request.

use super::*;

fn names(answer: &Value) -> Vec<&str> {
    let tools = answer["result"]["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap()).collect()
}

fn plain_list() -> Value {
    json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}})
}

fn list_of(tools: &str) -> Value {
    let mut list = plain_list();
    list["params"]["_meta"] = json!({"lore/tools": tools});
    list
}

/// The default is fifteen tools. Unlisted tools can be called, and hidden arguments are accepted.
#[tokio::test]
async fn core_is_listed_and_everything_is_called() {
    let fixture = Fixture::open(Limits::default());
    let mut peer = fixture.peer().await;
    peer.initialize("2025-11-25").await;
    for listed in [
        peer.request(plain_list()).await,
        peer.request(modern(plain_list())).await,
    ] {
        assert_eq!(names(&listed).len(), 15, "{listed}");
        let tools = listed["result"]["tools"].as_array().unwrap();
        assert!(tools.iter().all(|tool| tool["outputSchema"].is_null()));
        assert!(
            tools
                .iter()
                .all(|tool| tool["inputSchema"]["properties"]["agent"].is_null())
        );
    }
    let step = json!({"tool": "t", "result": "ID: 17", "agent": "else", "explain": true});
    let recorded = peer.call(3, "record_step", step).await;
    let session = content(&recorded)["session"].clone();
    let shown = json!({"session": session, "step": 1});
    let shown = peer.call(4, "get_step", shown).await;
    assert_eq!(content(&shown)["agent"], "else");
}

/// Selects a profile, families, or both. The newest selection applies, and the eight old tools are only in
/// `legacy`.
#[tokio::test]
async fn sets_of_tools_are_listed_as_asked() {
    let fixture = Fixture::open(Limits::default());
    let mut peer = fixture.peer().await;
    let mut request = initialize("2025-11-25");
    request["params"]["_meta"] = json!({"lore/tools": "steps, checkpoints"});
    peer.request(request).await;
    let listed = peer.request(plain_list()).await;
    let listed = names(&listed);
    assert!(listed.contains(&"get_step") && listed.contains(&"workflow_checkpoint_fork"));
    assert!(!listed.contains(&"get_session") && !listed.contains(&"search"));

    let legacy = peer.request(list_of("legacy")).await;
    assert_eq!(names(&legacy).len(), 15 + 8);
    for old in LEGACY {
        assert!(names(&legacy).contains(&old.name), "{}", old.name);
    }
    let full = peer.request(modern(list_of("full"))).await;
    assert_eq!(names(&full).len(), TOOLS.len() - 8);
    let tools = full["result"]["tools"].as_array().unwrap();
    assert!(tools.iter().all(|tool| tool["outputSchema"].is_object()));
}

/// The bridge's Hello also selects tools; an unknown name is refused with a suggestion on every path.
#[tokio::test]
async fn a_hello_names_tools_and_wrong_names_are_refused() {
    let fixture = Fixture::open(Limits::default());
    let hello = |tools: &str| frame::Hello {
        client: "bridge/1".to_owned(),
        mcp: true,
        tools: Some(tools.to_owned()),
        ..frame::Hello::default()
    };
    let mut peer = fixture.greeted(&hello("packs")).await;
    let listed = peer.request(plain_list()).await;
    assert_eq!(names(&listed).len(), 6, "{listed}");

    let mut peer = fixture.greeted(&hello("pack")).await;
    assert_eq!(peer.line().await, "");

    let mut peer = fixture.peer().await;
    let refused = peer.request(list_of("ful")).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let hint = refused["error"]["data"]["hint"].as_str().unwrap();
    assert!(hint.contains("Did you mean `full`?"), "{hint}");
    let mut odd = plain_list();
    odd["params"]["_meta"] = json!({"lore/tools": 7});
    let refused = peer.request(odd).await;
    assert_eq!(
        refused["error"]["data"]["code"], "INVALID_INPUT",
        "{refused}"
    );
}
