//! Undo: what a session, an agent or a time wrote is left out of what models are given, until it is redone.

use super::capture::{CLAUDE, Fixture, added};
use super::*;
use crate::operation::CallerProcess;

/// Two sessions of one project: a good one, and one whose author was wrong.
struct Shop {
    memory: Fixture,
    dir: String,
}

impl Shop {
    async fn new() -> Self {
        let memory = Fixture::new();
        let dir = memory.project();
        let shop = Self { memory, dir };
        shop.says(
            "good",
            "We decided that prices are stored as integer cents. Round them, please.",
        )
        .await;
        shop.says("bad", "We decided that amounts are stored as binary floats in the ledger of sea1-core-7. Change it, please.")
            .await;
        shop.runs(
            "bad",
            "deploy sea1-core-7",
            "{\"device\": {\"name\": \"sea1-core-7\"}}",
        )
        .await;
        shop
    }

    async fn reports(&self, session: &str, event: &str, more: Value) -> String {
        let mut report = json!({"session_id": session, "cwd": self.dir, "hook_event_name": event});
        let fields = report.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        let args = json!({
            "host": CLAUDE, "payload": report.to_string(), "received_at": self.memory.now_ms(),
            "waits_ms": 5000,
        });
        added(&self.memory.call(None, "record_hook", args).await)
    }

    async fn says(&self, session: &str, prompt: &str) -> String {
        let prompt = json!({"prompt": prompt, "prompt_id": format!("{session}-{prompt}")});
        self.reports(session, "UserPromptSubmit", prompt).await
    }

    async fn runs(&self, session: &str, command: &str, result: &str) {
        let end = json!({
            "tool_name": "Bash", "tool_use_id": format!("{session}-{command}"),
            "tool_input": {"command": command}, "tool_response": {"stdout": result, "exit_code": 0},
        });
        self.reports(session, "PostToolUse", end).await;
    }

    async fn starts(&self, session: &str) -> String {
        self.reports(session, "SessionStart", json!({"source": "startup"}))
            .await
    }

    async fn call(&self, name: &str, args: Value) -> Value {
        self.as_person(name, args).await.unwrap()
    }

    async fn as_person(&self, name: &str, args: Value) -> Result<Value, String> {
        let caller = Caller {
            process: CallerProcess::Person,
            ..Caller::default()
        };
        self.memory.called(caller, name, args).await
    }

    async fn as_agent(&self, session: &str, agent: &str, args: Value) -> Result<Value, String> {
        let caller = Caller {
            actor: Arc::new(crate::log::Actor {
                agent: agent.to_owned(),
                ..crate::log::Actor::default()
            }),
            host_session: Some(format!("claude:{session}")),
            ..Caller::default()
        };
        self.memory.called(caller, "undo", args).await
    }

    /// Returns the session of a host's session, by a word of its first message.
    async fn session(&self, word: &str) -> String {
        let listed = self.call("list_sessions", json!({})).await;
        let sessions = listed["sessions"].as_array().unwrap();
        let has = |one: &&Value| {
            one["first_message"]
                .as_str()
                .is_some_and(|said| said.contains(word))
        };
        let found = sessions.iter().find(has).unwrap();
        found["session"].as_str().unwrap().to_owned()
    }

    async fn finds(&self, query: &str) -> String {
        let found = self
            .call("search", json!({"query": query, "mode": "text"}))
            .await;
        found["results"].to_string()
    }

    async fn recalls(&self, question: &str) -> String {
        let project = self.project().await;
        let reply = self
            .call("recall", json!({"question": question, "project": project}))
            .await;
        reply["known"].to_string()
    }

    async fn packs(&self, query: &str) -> String {
        let project = self.project().await;
        let reply = self
            .call("context_pack", json!({"query": query, "project": project}))
            .await;
        reply["prompt"].to_string().replace(query, "")
    }

    async fn project(&self) -> String {
        let listed = self.call("list_sessions", json!({})).await;
        listed["sessions"][0]["project"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    async fn entities(&self, session: &str) -> String {
        let listed = json!({"session": session});
        self.call("list_entities", listed).await["entities"].to_string()
    }

    async fn everything_with(&self, bad: &str) -> [bool; 5] {
        let query = "how are amounts stored in the ledger";
        let (count, word) = (self.memory.now_ms(), "floats");
        self.memory.context().engine.clock().advance(1000);
        [
            self.starts(&format!("start-{count}")).await.contains(word),
            self.finds("binary floats ledger").await.contains(word),
            self.recalls(query).await.contains(word),
            self.packs(query).await.contains(word),
            self.entities(bad).await.contains("sea1-core-7"),
        ]
    }
}

#[tokio::test]
async fn an_undone_session_is_in_nothing_that_models_are_given() {
    let shop = Shop::new().await;
    let bad = shop.session("floats").await;
    assert_eq!(shop.everything_with(&bad).await, [true; 5]);
    let dry = shop
        .call("undo", json!({"session": bad, "dry_run": true}))
        .await;
    assert_eq!(
        (&dry["changed"], &dry["sessions"][0]["messages"]),
        (&json!(false), &json!(1))
    );
    assert!(dry["listed"].to_string().contains("binary floats"), "{dry}");
    assert_eq!(shop.everything_with(&bad).await, [true; 5]);
    let undone = shop.call("undo", json!({"session": bad})).await;
    assert_eq!(
        (&undone["changed"], &undone["events"]),
        (&json!(true), &dry["events"])
    );
    assert_eq!(shop.everything_with(&bad).await, [false; 5]);
    // The log, the session itself and its forks still show it.
    let messages = shop.call("list_messages", json!({"session": bad})).await;
    assert!(messages.to_string().contains("binary floats"), "{messages}");
    let fork = shop.call("fork_session", json!({"session": bad})).await;
    let fork = fork["session"].as_str().unwrap().to_owned();
    let messages = shop.call("list_messages", json!({"session": fork})).await;
    assert!(messages.to_string().contains("binary floats"), "{messages}");
    // Again there is nothing to undo.
    let again = shop.call("undo", json!({"session": bad})).await;
    assert_eq!(
        (&again["changed"], &again["events"]),
        (&json!(false), &json!(0))
    );
    let listed = shop
        .call(
            "undo",
            json!({"session": bad, "redo": true, "dry_run": true}),
        )
        .await;
    assert_eq!(listed["events"], undone["events"]);
    shop.call("undo", json!({"session": bad, "redo": true}))
        .await;
    assert_eq!(shop.everything_with(&bad).await, [true; 5]);
}

#[tokio::test]
async fn a_restart_changes_nothing_of_what_is_undone() {
    let mut shop = Shop::new().await;
    let bad = shop.session("floats").await;
    shop.call("undo", json!({"session": bad})).await;
    shop.memory.reopen().await;
    assert_eq!(shop.everything_with(&bad).await, [false; 5]);
}

#[tokio::test]
async fn what_rests_on_undone_events_alone_goes_with_them() {
    let shop = Shop::new().await;
    let bad = shop.session("floats").await;
    let good = shop.session("cents").await;
    let position = async |session: &str| -> Value {
        let messages = shop
            .call("list_messages", json!({"session": session}))
            .await;
        messages["messages"][0]["position"].clone()
    };
    let (from_bad, from_good) = (position(&bad).await, position(&good).await);
    let project = shop.project().await;
    let remember = async |text: &str, evidence: Value| {
        let caller = Caller {
            project: Some(project.clone()),
            ..Caller::default()
        };
        let args = json!({"session": good, "text": text, "evidence": evidence});
        shop.memory.called(caller, "remember", args).await.unwrap();
    };
    remember(
        "The ledger keeps floats with two digits.",
        json!([from_bad]),
    )
    .await;
    remember(
        "The ledger is checked by floats of the bank.",
        json!([from_bad, from_good]),
    )
    .await;
    // A subagent of the undone session has a session of its own.
    let task = json!({"prompt": "Collect the ledger's floats", "agent_id": "sub-1", "agent_type": "Explore"});
    shop.reports("bad", "UserPromptSubmit", task).await;
    let undone = shop.call("undo", json!({"session": bad})).await;
    let rests: Vec<&Value> = undone["listed"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["rests"] == json!(true))
        .collect();
    let rests = serde_json::to_string(&rests).unwrap();
    assert!(rests.contains("two digits"), "{undone}");
    assert!(!rests.contains("of the bank"), "{undone}");
    let brief = shop.starts("later").await;
    assert!(
        brief.contains("of the bank") && !brief.contains("two digits"),
        "{brief}"
    );
}

#[tokio::test]
async fn an_event_an_agent_or_a_time_is_undone_by_itself() {
    let shop = Shop::new().await;
    let bad = shop.session("floats").await;
    let messages = shop.call("list_messages", json!({"session": bad})).await;
    let position = messages["messages"][0]["position"].clone();
    let one = shop
        .call("undo", json!({"event": position, "dry_run": true}))
        .await;
    // The message, and what only the host knows of it.
    assert_eq!(
        (&one["events"], &one["listed"][0]["position"]),
        (&json!(2), &position)
    );
    let of_agent = shop
        .call("undo", json!({"of_agent": CLAUDE, "dry_run": true}))
        .await;
    assert_eq!(of_agent["sessions"].as_array().unwrap().len(), 2);
    let none = shop.call("undo", json!({"of_agent": "nobody"})).await;
    assert_eq!(
        (&none["events"], &none["changed"]),
        (&json!(0), &json!(false))
    );
    let late = json!({"since": "2199-01-01T00:00:00Z", "dry_run": true});
    assert_eq!(shop.call("undo", late).await["events"], json!(0));
    let early = json!({"until": "2199-01-01T00:00:00Z", "session": bad, "dry_run": true});
    assert!(shop.call("undo", early).await["events"].as_u64().unwrap() >= 4);
    for (args, said) in [
        (json!({}), "nothing says what is to be undone"),
        (json!({"session": "nowhere"}), "nowhere"),
        (json!({"event": 100_000}), "no event is at position"),
        (json!({"event": 1}), "nothing that can be undone"),
        (json!({"event": position, "redo": true}), "was not undone"),
    ] {
        let refused = shop.as_person("undo", args).await.unwrap_err();
        assert!(refused.contains(said), "{refused}");
    }
}

#[tokio::test]
async fn an_agent_undoes_its_own_alone() {
    let shop = Shop::new().await;
    let (bad, good) = (shop.session("floats").await, shop.session("cents").await);
    for session in [&good, &bad] {
        let refused = shop
            .as_agent("other", CLAUDE, json!({"session": session}))
            .await;
        assert!(refused.unwrap_err().contains("only a person"));
    }
    let refused = shop.as_agent("bad", "codex", json!({"session": bad})).await;
    assert!(refused.unwrap_err().contains("only a person"));
    let project = shop.project().await;
    let caller = Caller {
        actor: Arc::new(crate::log::Actor {
            agent: CLAUDE.to_owned(),
            ..crate::log::Actor::default()
        }),
        host_session: Some("claude:bad".to_owned()),
        project: Some(project),
        ..Caller::default()
    };
    let own = shop
        .memory
        .called(caller, "undo", json!({"session": bad}))
        .await;
    assert_eq!(own.unwrap()["changed"], json!(true));
}
