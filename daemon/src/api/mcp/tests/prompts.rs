//! Prompts and completions over the MCP transport, in both eras.
//!
//! The peers do not send `initialized`, so no change notifications arrive between their answers.

use super::*;
use crate::api::mcp::prompts::Prompt;

fn ask(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 2, "method": method, "params": params})
}

fn complete(reference: Value, name: &str, value: &str) -> Value {
    let params = json!({"ref": reference, "argument": {"name": name, "value": value}});
    ask("completion/complete", params)
}

/// Both prompts are listed with their arguments and describe the selected session.
#[tokio::test]
async fn prompts_are_listed_and_made() {
    let fixture = Fixture::with_resources(Limits::default(), RESOURCES);
    let mut peer = fixture.peer().await;
    peer.request(initialize("2025-11-25")).await;
    let made = json!({"session": "s-1", "title": "Mend the roof"});
    content(&peer.call(1, "create_session", made).await);

    type Era = fn(Value) -> Value;
    let eras: [Era; 2] = [|request| request, modern];
    for era in eras {
        let listed = peer.request(era(ask("prompts/list", json!({})))).await;
        let prompts = listed["result"]["prompts"].as_array().unwrap();
        assert_eq!(prompts.len(), Prompt::ALL.len());
        assert_eq!(prompts.len(), 2);
        for (reported, prompt) in prompts.iter().zip(Prompt::ALL) {
            assert_eq!(reported["name"], prompt.name());
            assert!(reported["title"].is_string() && reported["description"].is_string());
            let arguments = reported["arguments"].as_array().unwrap();
            assert_eq!(arguments.len(), prompt.arguments().len());
            assert!(
                arguments
                    .iter()
                    .all(|argument| argument["required"] == false)
            );

            let wanted = json!({"name": prompt.name(), "arguments": {"session": "s-1"}});
            let answer = peer.request(era(ask("prompts/get", wanted))).await;
            let messages = answer["result"]["messages"].as_array().unwrap();
            assert_eq!(messages.len(), 2, "{answer}");
            let text = messages[0]["content"]["text"].as_str().unwrap();
            assert!(
                text.contains("`s-1`") && text.contains("workflow_checkpoint_"),
                "{text}"
            );
            let transfer = messages[1]["content"]["text"].as_str().unwrap();
            let transfer: Value = serde_json::from_str(transfer).unwrap();
            assert_eq!(transfer["title"], "Mend the roof");
        }
    }
    let arguments = json!({"session": "s-1", "to": "codex", "note": "Mind the gutter."});
    let wanted = json!({"name": "hand_over", "arguments": arguments});
    let answer = peer.request(ask("prompts/get", wanted)).await;
    let text = &answer["result"]["messages"][0]["content"]["text"];
    let text = text.as_str().unwrap();
    assert!(
        text.contains("over to codex") && text.contains("Mind the gutter."),
        "{text}"
    );
}

/// Unknown prompts and arguments are refused with a suggestion.
#[tokio::test]
async fn wrong_prompts_are_refused() {
    let fixture = Fixture::with_resources(Limits::default(), RESOURCES);
    let mut peer = fixture.peer().await;
    peer.request(initialize("2025-11-25")).await;
    for (params, said) in [
        (json!({"name": "resume_sesion"}), "`resume_session`"),
        (
            json!({"name": "hand_over", "arguments": {"sesion": "x"}}),
            "`session`",
        ),
        (
            json!({"name": "hand_over", "arguments": {"session": "nosuch"}}),
            "nosuch",
        ),
        (json!({"name": "resume_session"}), "session"),
    ] {
        let refused = peer.request(ask("prompts/get", params.clone())).await;
        assert_eq!(refused["error"]["code"], -32602, "{params}: {refused}");
        assert!(
            refused["error"].to_string().contains(said),
            "{params}: {refused}"
        );
    }
    for (reference, name) in [
        (json!({"type": "ref/prompt", "name": "nosuch"}), "session"),
        (json!({"type": "ref/prompt", "name": "hand_over"}), "nosuch"),
        (
            json!({"type": "ref/resource", "uri": "lore://nosuch/{id}"}),
            "id",
        ),
        (
            json!({"type": "ref/resource", "uri": "lore://session/{id}"}),
            "file_type",
        ),
    ] {
        let refused = peer.request(complete(reference.clone(), name, "")).await;
        assert_eq!(refused["error"]["code"], -32602, "{reference}: {refused}");
    }
}

/// Completes session ids by prefix or by a part of the title, and ids of every kind of resource.
#[tokio::test]
async fn ids_are_completed() {
    let fixture = Fixture::with_resources(Limits::default(), RESOURCES);
    let mut peer = fixture.peer().await;
    peer.request(initialize("2025-11-25")).await;
    for (session, title) in [
        ("roof-1", "Mend the roof"),
        ("roof-2", "Paint"),
        ("door", "Oil"),
    ] {
        let made = json!({"session": session, "title": title});
        content(&peer.call(1, "create_session", made).await);
    }
    let saved = json!({"sessionId": "door", "context": {"goal": "oil it"}});
    let saved = peer.call(1, "workflow_checkpoint_save", saved).await;
    let checkpoint = content(&saved)["checkpointId"].clone();

    let of_prompt = json!({"type": "ref/prompt", "name": "resume_session"});
    let of_address = json!({"type": "ref/resource", "uri": "lore://session/{id}"});
    for (reference, name) in [(of_prompt, "session"), (of_address, "id")] {
        for (typed, wanted) in [
            ("roof-", json!(["roof-2", "roof-1"])),
            ("MEND", json!(["roof-1"])),
            ("nothing", json!([])),
        ] {
            let request = complete(reference.clone(), name, typed);
            for request in [request.clone(), modern(request)] {
                let answer = peer.request(request).await;
                let completion = &answer["result"]["completion"];
                assert_eq!(completion["values"], wanted, "{typed}: {answer}");
                assert_eq!(completion["hasMore"], false);
            }
        }
    }
    let reference = json!({"type": "ref/resource", "uri": "lore://checkpoint/{id}"});
    let answer = peer.request(complete(reference, "id", "")).await;
    assert_eq!(
        answer["result"]["completion"]["values"],
        json!([checkpoint])
    );
    let free = json!({"type": "ref/prompt", "name": "hand_over"});
    let answer = peer.request(complete(free, "to", "x")).await;
    assert_eq!(answer["result"]["completion"]["values"], json!([]));
}

/// A prompt that is larger than a line is refused with its size, in both eras.
#[tokio::test]
async fn no_prompt_is_over_the_limit_of_a_line() {
    let limits = Limits {
        mcp_line_bytes_max: 64 << 10,
        ..Limits::default()
    };
    let fixture = Fixture::with_resources(limits, RESOURCES);
    let mut peer = fixture.peer().await;
    peer.request(initialize("2025-11-25")).await;
    content(
        &peer
            .call(1, "create_session", json!({"session": "s-1"}))
            .await,
    );
    let hand_over = |bytes: usize| {
        let note = "x".repeat(bytes);
        ask(
            "prompts/get",
            json!({"name": "hand_over", "arguments": {"session": "s-1", "note": note}}),
        )
    };
    for era in [|request| request, modern] {
        let made = peer.request(era(hand_over(32 << 10))).await;
        assert!(made["result"]["messages"].is_array(), "{made}");
        let refused = peer.request(era(hand_over(64 << 10))).await;
        assert_eq!(refused["id"], 2);
        assert_eq!(refused["error"]["data"]["code"], "RESPONSE_TOO_LARGE");
    }
}
