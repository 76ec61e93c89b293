//! Facts with versions: what a later statement replaces, and what is not settled, in all that serves them.

use super::capture::{CLAUDE, Fixture, added};
use super::*;
use crate::operation::CallerProcess;

/// A project in which several agents and the user state things.
struct Project {
    memory: Fixture,
    dir: String,
}

impl Project {
    async fn new() -> Self {
        let memory = Fixture::new();
        let dir = memory.project();
        let project = Self { memory, dir };
        // The folder becomes a project with its first session.
        project
            .reports("first", "SessionStart", json!({"source": "startup"}))
            .await;
        project
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

    async fn caller(&self, agent: &str) -> Caller {
        let mut caller = self
            .memory
            .caller(&self.dir, &format!("session:{agent}"))
            .await;
        caller.actor = Arc::new(crate::log::Actor {
            agent: agent.to_owned(),
            ..crate::log::Actor::default()
        });
        caller.process = CallerProcess::Person;
        caller
    }

    /// Remembers what an agent says, or, by the name `user`, the user.
    async fn states(&self, who: &str, text: &str) -> Value {
        self.memory.context().engine.clock().advance(60_000_000);
        let sender = if who == "user" { "user" } else { "assistant" };
        let args = json!({"text": text, "sender": sender});
        let caller = self.caller(who).await;
        self.memory.called(caller, "remember", args).await.unwrap()
    }

    async fn call(&self, name: &str, args: Value) -> Value {
        let caller = self.caller("reader").await;
        self.memory.called(caller, name, args).await.unwrap()
    }

    async fn facts(&self, args: Value) -> Vec<Value> {
        self.call("list_facts", args).await["facts"]
            .as_array()
            .unwrap()
            .clone()
    }

    async fn brief(&self) -> String {
        self.call("brief", json!({})).await["text"]
            .as_str()
            .unwrap()
            .to_owned()
    }
}

const OLD: &str = "The API listens on port 8080.";
const NEW: &str = "The API listens on port 9090.";

#[tokio::test]
async fn a_later_statement_replaces_an_earlier_one_in_what_is_served() {
    let project = Project::new().await;
    let first = project.states("codex", OLD).await;
    assert_eq!(first.get("replaces"), None);
    let second = project.states("user", NEW).await;
    assert_eq!(second["replaces"][0]["text"], json!(OLD));
    assert_eq!(second["replaces"][0]["agent"], json!("codex"));
    assert_eq!(second["replaces"][0]["position"], first["position"]);
    let brief = project.brief().await;
    assert!(brief.contains(NEW), "{brief}");
    assert_eq!(brief.matches(OLD).count(), 1, "{brief}");
    assert!(brief.contains(&format!("replaces \"{OLD}\"")), "{brief}");
    let prompt = json!({"prompt": "On which port does the API listen?", "prompt_id": "p"});
    let told = project.reports("asks", "UserPromptSubmit", prompt).await;
    assert!(told.contains(NEW), "{told}");
    let facts = project.facts(json!({})).await;
    assert_eq!(facts.len(), 1, "{facts:?}");
    assert_eq!(
        (&facts[0]["text"], &facts[0]["state"]),
        (&json!(NEW), &json!("current"))
    );
    assert_eq!(facts[0]["replaces"][0]["text"], json!(OLD));
    let all = project.facts(json!({"include_replaced": true})).await;
    assert_eq!(all.len(), 2);
    assert_eq!(all[1]["state"], json!("replaced"));
    let recalled = project
        .call(
            "recall",
            json!({"question": "On which port does the API listen?"}),
        )
        .await;
    let known = recalled["known"].as_array().unwrap();
    assert_eq!(known[0]["text"], json!(NEW), "{recalled}");
    assert_eq!(known[0]["replaces"][0]["text"], json!(OLD), "{recalled}");
    assert!(
        known.iter().all(|one| one["text"] != json!(OLD)),
        "{recalled}"
    );
}

#[tokio::test]
async fn what_agents_disagree_on_is_shown_with_both_until_it_is_settled() {
    for settled_by in ["user", "review", "third"] {
        let project = Project::new().await;
        let first = project.states("codex", OLD).await;
        let second = project.states("claude", NEW).await;
        assert_eq!(second.get("replaces"), None);
        assert_eq!(second["contradicts"][0]["text"], json!(OLD));
        let brief = project.brief().await;
        assert!(brief.contains(OLD) && brief.contains(NEW), "{brief}");
        assert!(brief.contains("not settled: codex said"), "{brief}");
        let doubtful = project.facts(json!({"doubtful": true})).await;
        assert_eq!(doubtful.len(), 2, "{doubtful:?}");
        // The oldest evidence first.
        assert_eq!(doubtful[0]["position"], first["position"]);
        assert_eq!(doubtful[0]["disputed_with"][0]["text"], json!(NEW));
        match settled_by {
            "user" => drop(project.states("user", OLD).await),
            "third" => drop(project.states("gemini", OLD).await),
            _ => {
                let judged = json!({"event": first["position"], "judgement": "accepted"});
                project.call("review", judged).await;
            }
        }
        assert_eq!(
            project.facts(json!({"doubtful": true})).await,
            Vec::<Value>::new(),
            "{settled_by}"
        );
        let brief = project.brief().await;
        assert!(!brief.contains("not settled"), "{settled_by}: {brief}");
        assert!(brief.contains(OLD), "{settled_by}: {brief}");
        assert_eq!(brief.matches(NEW).count(), 1, "{settled_by}: {brief}");
    }
}

#[tokio::test]
async fn an_agent_does_not_replace_what_the_user_said() {
    let project = Project::new().await;
    project.states("user", OLD).await;
    let second = project.states("codex", NEW).await;
    assert_eq!(second["contradicts"][0]["by_user"], json!(true));
    let brief = project.brief().await;
    assert!(brief.contains("not settled: the user said"), "{brief}");
}

#[tokio::test]
async fn a_statement_that_is_named_is_replaced_and_a_repeated_call_says_the_same() {
    let project = Project::new().await;
    let first = project.states("codex", "Ask Anna about the ledger.").await;
    let args = json!({
        "text": "The bank keeps the ledger.", "replaces": [first["position"]], "key": "once",
        "sender": "user",
    });
    let one = project.call("remember", args.clone()).await;
    let again = project.call("remember", args).await;
    assert_eq!(one["replaces"], again["replaces"]);
    assert_eq!(one["position"], again["position"]);
    assert_eq!(
        one["replaces"][0]["text"],
        json!("Ask Anna about the ledger.")
    );
    let brief = project.brief().await;
    assert_eq!(brief.matches("Ask Anna").count(), 1, "{brief}");
    let caller = project.caller("codex").await;
    let nowhere = json!({"text": "Something else entirely.", "replaces": [1_000_000]});
    let refused = project
        .memory
        .called(caller, "remember", nowhere)
        .await
        .unwrap_err();
    assert!(
        refused.contains("`replaces` names position 1000000"),
        "{refused}"
    );
}

#[tokio::test]
async fn what_is_said_in_conversations_has_versions_too() {
    let project = Project::new().await;
    for (session, said) in [
        (
            "one",
            "We decided that sessions are kept in Redis. Change the store, please.",
        ),
        (
            "two",
            "We decided that sessions are kept in Postgres. Change the store, please.",
        ),
    ] {
        let prompt = json!({"prompt": said, "prompt_id": session});
        project.reports(session, "UserPromptSubmit", prompt).await;
        project.reports(session, "Stop", json!({})).await;
        project.memory.context().engine.clock().advance(60_000_000);
    }
    let facts = project.facts(json!({})).await;
    let texts: Vec<&str> = facts
        .iter()
        .map(|one| one["text"].as_str().unwrap())
        .collect();
    assert!(
        texts.iter().any(|text| text.contains("Postgres")),
        "{texts:?}"
    );
    assert!(
        !texts.iter().any(|text| text.contains("Redis")),
        "{texts:?}"
    );
    let brief = project.brief().await;
    assert!(
        brief.contains("replaces \"We decided that sessions are kept in Redis.\""),
        "{brief}"
    );
}

#[tokio::test]
async fn a_fact_of_another_project_is_none_here() {
    let project = Project::new().await;
    project.states("codex", OLD).await;
    let other = project.memory.project_named("garden");
    let caller = project.memory.caller(&other, "session:g").await;
    let reply = project
        .memory
        .called(caller, "remember", json!({"text": NEW}))
        .await
        .unwrap();
    assert_eq!(reply.get("replaces"), None);
    assert_eq!(reply.get("contradicts"), None);
}

#[tokio::test]
async fn every_fact_is_on_one_page_also_those_of_one_message() {
    let project = Project::new().await;
    let prompt = "We decided that sessions are kept in Redis. We always deploy on Fridays. \
                  Never push to the branch main. Change the store, please.";
    let said = json!({"prompt": prompt, "prompt_id": "p"});
    project.reports("first", "UserPromptSubmit", said).await;
    project.reports("first", "Stop", json!({})).await;
    project.states("codex", OLD).await;
    project.states("claude", NEW).await;
    for doubtful in [false, true] {
        let all = project.facts(json!({"doubtful": doubtful})).await;
        assert_eq!(all.len(), if doubtful { 2 } else { 5 }, "{all:?}");
        let (mut paged, mut next) = (Vec::new(), Value::Null);
        loop {
            let mut args = json!({"limit": 1, "doubtful": doubtful});
            if !next.is_null() {
                args["next"] = next;
            }
            let page = project.call("list_facts", args).await;
            paged.extend(page["facts"].as_array().unwrap().clone());
            assert_eq!(page["more"], json!(all.len() - paged.len()));
            next = page["next"].clone();
            if next.is_null() {
                break;
            }
        }
        assert_eq!(paged, all);
    }
    let caller = project.caller("reader").await;
    let of_another_list = json!({"next": "m-1a2b3c4d-5f"});
    let refused = project
        .memory
        .called(caller, "list_facts", of_another_list)
        .await
        .unwrap_err();
    assert!(refused.contains("`next`"), "{refused}");
}

#[tokio::test]
async fn a_page_goes_on_where_it_ended_though_its_last_fact_was_replaced() {
    let project = Project::new().await;
    for port in [1, 2, 3] {
        let text = format!("The service number {port} listens on port 80{port}.");
        project.states("user", &text).await;
    }
    let first = project.call("list_facts", json!({"limit": 1})).await;
    let last = &first["facts"][0]["position"];
    let instead = json!({"text": "Ask Anna.", "replaces": [last], "sender": "user"});
    project.call("remember", instead).await;
    let second = json!({"limit": 5, "next": first["next"]});
    let facts = project.facts(second).await;
    assert_eq!(facts.len(), 2, "{facts:?}");
}
