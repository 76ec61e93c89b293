//! What is recorded to be remembered: given to later sessions of the project, found by questions, forgotten on request.

use super::capture::{AT, CLAUDE, Fixture, added, payload};
use super::*;
use crate::projects::ProjectState;
use crate::state::State;

const FACT: &str = "The staging database is restored at 02:00 every night.";

impl Fixture {
    /// A caller in a folder.
    pub(super) async fn caller(&self, dir: &str, host_session: &str) -> Caller {
        let cx = self.context();
        let state = State::live(&cx, None).await.unwrap();
        let projects = ProjectState::of(&cx).unwrap();
        Caller {
            dir: Some(dir.into()),
            project: projects.project_at(&state, Path::new(dir)).unwrap(),
            host_session: Some(host_session.to_owned()),
            ..Caller::default()
        }
    }
}

async fn remember(memory: &Fixture, dir: &str, args: Value) -> Value {
    let caller = memory.caller(dir, "terminal:7").await;
    memory.called(caller, "remember", args).await.unwrap()
}

/// The text that is added when a session of Claude Code starts.
async fn started(memory: &Fixture, dir: &str, session: &str) -> String {
    let mut report = payload("SessionStart", dir, json!({"source": "startup"}));
    report["session_id"] = json!(session);
    added(&memory.hook(CLAUDE, &report, AT).await)
}

#[tokio::test]
async fn a_fact_is_given_to_later_sessions_of_the_project() {
    let memory = Fixture::new();
    let dir = memory.project();
    let reply = remember(&memory, &dir, json!({"text": FACT})).await;
    assert_eq!(reply["kind"], "fact");
    let text = started(&memory, &dir, "c-1").await;
    assert_eq!(text.matches(FACT).count(), 1, "{text}");
    assert!(text.contains("fact of the user"), "{text}");
    // It is not a request.
    assert!(!text.contains("asked"), "{text}");

    let other = memory.project_named("garden");
    assert_eq!(started(&memory, &other, "c-2").await, "");
}

#[tokio::test]
async fn a_prompt_gets_what_was_remembered_since_the_start() {
    let memory = Fixture::new();
    let dir = memory.project();
    assert_eq!(started(&memory, &dir, "c-1").await, "");
    remember(&memory, &dir, json!({"text": FACT, "kind": "decision"})).await;
    let prompt = "When is the staging database restored?";
    let mut report = payload(
        "UserPromptSubmit",
        &dir,
        json!({"prompt": prompt, "prompt_id": "p1"}),
    );
    report["session_id"] = json!("c-1");
    let text = added(&memory.hook(CLAUDE, &report, AT).await);
    assert!(text.contains(FACT) && text.contains("decision"), "{text}");
    let brief = memory
        .called(memory.caller(&dir, "terminal:8").await, "brief", json!({}))
        .await
        .unwrap();
    assert!(brief["text"].as_str().unwrap().contains(FACT), "{brief}");
}

/// What an agent's own tool call says is in its context.
#[tokio::test]
async fn an_agent_is_not_told_what_it_remembered_itself() {
    let memory = Fixture::new();
    let dir = memory.project();
    let caller = memory.caller(&dir, "claude:c-1").await;
    memory
        .called(caller, "remember", json!({"text": FACT}))
        .await
        .unwrap();
    assert_eq!(started(&memory, &dir, "c-1").await, "");
    let text = started(&memory, &dir, "c-2").await;
    assert!(text.contains("fact of an agent"), "{text}");
}

#[tokio::test]
async fn what_is_forgotten_is_given_to_none() {
    let memory = Fixture::new();
    let dir = memory.project();
    let reply = remember(&memory, &dir, json!({"text": FACT})).await;
    assert_ne!(started(&memory, &dir, "c-1").await, "");
    let session = json!({"session": reply["session"]});
    memory
        .called(Caller::default(), "forget_session", session)
        .await
        .unwrap();
    assert_eq!(started(&memory, &dir, "c-2").await, "");
    let args = json!({"question": "When is the staging database restored?"});
    let recalled = memory
        .called(memory.caller(&dir, "terminal:7").await, "recall", args)
        .await
        .unwrap();
    assert_eq!(recalled["known"], json!([]), "{recalled}");
    assert_eq!(recalled["reason"], "nothing is known about this");
}

#[tokio::test]
async fn a_question_recalls_statements_and_their_sources() {
    let memory = Fixture::new();
    let dir = memory.project();
    let kept = remember(&memory, &dir, json!({"text": FACT})).await;
    let asked = json!({"sender": "user", "content": "When is the staging database restored?"});
    let person = memory.caller(&dir, "terminal:7").await;
    memory
        .called(person.clone(), "record_message", asked)
        .await
        .unwrap();
    let args = json!({"question": "when is staging restored"});
    let recalled = memory.called(person.clone(), "recall", args).await.unwrap();
    let known = recalled["known"].as_array().unwrap();
    assert_eq!(known.len(), 1, "{recalled}");
    assert_eq!(known[0]["text"], FACT);
    assert_eq!(known[0]["remembered"], "fact");
    assert_eq!(known[0]["source"], kept["message"]);
    assert_eq!(known[0]["position"], kept["position"]);
    assert_eq!(known[0].get("elsewhere"), None);

    let other = memory.project_named("garden");
    let args = json!({"question": "when is staging restored"});
    let recalled = memory
        .called(memory.caller(&other, "terminal:9").await, "recall", args)
        .await
        .unwrap();
    assert_eq!(recalled["known"][0]["elsewhere"], true, "{recalled}");
}

#[tokio::test]
async fn evidence_is_kept_and_checked() {
    let memory = Fixture::new();
    let dir = memory.project();
    let first = remember(&memory, &dir, json!({"text": FACT})).await;
    let second =
        json!({"text": "Restores take an hour.", "evidence": [first["position"]], "key": "k"});
    let reply = remember(&memory, &dir, second.clone()).await;
    assert_eq!(
        remember(&memory, &dir, second).await["position"],
        reply["position"]
    );
    let args = json!({"message": reply["message"]});
    let listed = memory
        .called(
            memory.caller(&dir, "terminal:7").await,
            "list_messages",
            args,
        )
        .await
        .unwrap();
    assert_eq!(listed["messages"][0]["remembered"], "fact");
    assert_eq!(
        listed["messages"][0]["evidence"],
        json!([first["position"]])
    );

    for (args, words) in [
        (json!({"text": " "}), "`text` is empty"),
        (json!({"text": "x".repeat(1025)}), "`text` has 1025 bytes"),
        (
            json!({"text": FACT, "evidence": [900]}),
            "position 900, where no event is",
        ),
        (
            json!({"text": FACT, "evidence": vec![1; 21]}),
            "21 positions",
        ),
        (
            json!({"text": FACT, "sender": "tool"}),
            "`sender` is `user` or `assistant`",
        ),
    ] {
        let refused = memory
            .called(memory.caller(&dir, "terminal:7").await, "remember", args)
            .await;
        assert!(refused.clone().unwrap_err().contains(words), "{refused:?}");
    }
}
