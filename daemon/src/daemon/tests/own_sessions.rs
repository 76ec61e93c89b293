//! Whose session a call is about: two windows of one host, another agent, the next morning; with a clock that the test
//! moves.

use crate::clock::Micros;
use crate::error::{Code, Refusal};
use crate::log::Actor;

use super::*;

const HOUR: Micros = 3600 * 1_000_000;
const NOW: Micros = 500_000 * HOUR;

/// One user's memory and its clock.
struct Fixture {
    tenant: Tenant,
    clock: Arc<Clock>,
    _folder: tempfile::TempDir,
}

/// A caller in the project `p`, by its agent's name and the host session that it states.
#[derive(Clone, Copy)]
struct Window(&'static str, Option<&'static str>);

/// Two windows of one host and one of another.
const FIRST: Window = Window("claude", Some("claude:1"));
const SECOND: Window = Window("claude", Some("claude:2"));
const OTHER: Window = Window("codex", Some("codex:1"));
/// A person's shell.
const PERSON: Window = Window("", Some("terminal:7:1"));

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(Clock::fixed(NOW, 1));
        let shared = shared(folder.path(), Arc::clone(&clock));
        let data = DataFolder::new(&shared.paths.data, shared.paths.seals());
        Self {
            tenant: Tenant::open(&shared, data, None).unwrap(),
            clock,
            _folder: folder,
        }
    }

    async fn try_in(
        &self,
        project: Option<&str>,
        Window(agent, host_session): Window,
        name: &str,
        args: Value,
    ) -> Result<Value, Refusal> {
        let caller = Caller {
            actor: Arc::new(Actor {
                agent: agent.to_owned(),
                ..Actor::default()
            }),
            project: project.map(str::to_owned),
            host_session: host_session.map(str::to_owned),
            ..Caller::default()
        };
        let args = Args::Json(args.to_string().into_bytes());
        let operation = TABLE.get(name).unwrap();
        let cx = Arc::clone(self.tenant.context());
        let reply = operation.call(cx, caller, args).await?;
        let mut json: Value = serde_json::from_str(reply.json.get()).unwrap();
        if let (Some(meta), Some(map)) = (reply.meta, json.as_object_mut()) {
            map.insert("meta".to_owned(), serde_json::to_value(meta).unwrap());
        }
        Ok(json)
    }

    async fn call(&self, window: Window, name: &str, args: Value) -> Value {
        let called = self.try_in(Some("p"), window, name, args).await;
        called.unwrap_or_else(|refusal| panic!("{name}: {refusal}"))
    }

    async fn is_refused(&self, window: Window, name: &str, args: Value, code: Code) {
        let called = self.try_in(Some("p"), window, name, args).await;
        let refusal = called.unwrap_err();
        assert_eq!(refusal.code, code, "{name}: {refusal}");
    }

    async fn step(&self, window: Window, id: u64) -> Value {
        let args = json!({"tool": "t", "result": {"id": id}});
        self.call(window, "record_step", args).await
    }

    async fn resolve(&self, window: Window, name: &str) -> Value {
        let args = json!({"names": [name]});
        self.call(window, "resolve_variables", args).await
    }

    async fn say(&self, window: Window, content: &str) -> Value {
        let args = json!({"sender": "user", "content": content});
        self.call(window, "record_message", args).await
    }

    async fn save(&self, window: Window, context: Value) -> Value {
        let args = json!({"context": context});
        self.call(window, "workflow_checkpoint_save", args).await
    }

    async fn sessions(&self) -> usize {
        let list = self.call(PERSON, "list_sessions", json!({"state": "any"}));
        list.await["sessions"].as_array().map_or(0, Vec::len)
    }
}

fn value(resolved: &Value) -> &Value {
    &resolved["resolutions"][0]["value"]
}

fn warning(reply: &Value) -> &str {
    let of_meta = &reply["meta"]["warnings"][0];
    let warning = reply["warnings"][0].as_str().or(of_meta.as_str());
    warning.unwrap_or_default()
}

#[tokio::test]
async fn two_windows_of_one_host_never_mix() {
    let memory = Fixture::new();
    let first = memory.step(FIRST, 1111).await;
    let second = memory.step(SECOND, 2222).await;
    assert_ne!(first["session"], second["session"]);
    for reply in [&first, &second] {
        assert_eq!(reply["chosen_by"], "new");
        assert_eq!(reply["step"], 1);
    }
    for (window, id, of) in [(FIRST, 1111, &first), (SECOND, 2222, &second)] {
        let found = memory.resolve(window, "ID_FROM_STEP_LAST").await;
        assert_eq!(value(&found), id);
        assert_eq!(found["session"], of["session"]);
        assert_eq!(found["chosen_by"], "host_session");
        assert_eq!(found["warnings"], Value::Null);
    }
    // A mark is one of the caller's own session, whatever was loaded or saved in between.
    let one = memory.save(FIRST, json!({"goal": "one"})).await;
    let two = memory.save(SECOND, json!({"goal": "two"})).await;
    assert_eq!(one["sessionId"], first["session"]);
    assert_eq!(two["sessionId"], second["session"]);
    let args = json!({"sessionId": two["sessionId"]});
    memory.call(FIRST, "workflow_checkpoint_load", args).await;
    let args = json!({"contextKey": "goal"});
    let marked = memory.call(FIRST, "workflow_mark_critical", args).await;
    assert_eq!(marked["status"], "SUCCESS");
    assert_eq!(marked["meta"]["session"], first["session"]);
    let loaded = memory.call(SECOND, "workflow_checkpoint_load", json!({}));
    assert_eq!(loaded.await["criticalKeys"], Value::Null);
}

#[tokio::test]
async fn another_agent_and_the_next_morning_get_what_the_project_has() {
    let memory = Fixture::new();
    let first = memory.step(FIRST, 4711).await;
    memory.say(FIRST, "the uplink of switch-nyc-09 flaps").await;
    let saved = memory.save(FIRST, json!({"plan": ["replace it"]})).await;
    memory.clock.advance(25 * HOUR);
    for window in [OTHER, SECOND, PERSON, Window("gemini", None)] {
        let found = memory.resolve(window, "ID_FROM_STEP_1").await;
        assert_eq!(value(&found), 4711);
        assert_eq!(found["session"], first["session"]);
        assert_eq!(found["chosen_by"], "project");
        let warning = warning(&found);
        let session = first["session"].as_str().unwrap();
        assert!(warning.contains(session), "{warning}");
        assert!(warning.contains("`claude`"), "{warning}");
        let args = json!({"parameters": {"pr": "ID_FROM_STEP_1"}});
        let found = memory.call(window, "resolve_parameters", args).await;
        assert_eq!(found["parameters"]["pr"], 4711);
        let args = json!({"message": "is it up again?"});
        let pack = memory.call(window, "enrich_message", args).await;
        let prompt = pack["prompt"].as_str().unwrap();
        assert!(prompt.contains("uplink of switch-nyc-09"), "{prompt}");
        assert_eq!(pack["chosen_by"], "project");
        let loaded = memory.call(window, "workflow_checkpoint_load", json!({}));
        let loaded = loaded.await;
        assert_eq!(loaded["checkpointId"], saved["checkpointId"]);
        assert_eq!(loaded["meta"]["chosen_by"], "project");
        assert!(self::warning(&loaded).contains(session));
        let listed = memory.call(window, "workflow_checkpoint_list", json!({}));
        assert_eq!(listed.await[0]["checkpointId"], saved["checkpointId"]);
        let shown = memory.call(window, "get_session", json!({})).await;
        assert_eq!(shown["messages"], 1);
    }
    // The packs of others are recorded beside the session, not in it.
    let shown = memory.call(FIRST, "get_session", json!({})).await;
    assert_eq!(shown["agents"], json!(["claude"]));
    assert_eq!(memory.sessions().await, 1);
    // The conversation itself goes on, however late.
    memory.clock.advance(240 * HOUR);
    let found = memory.resolve(FIRST, "ID_FROM_STEP_1").await;
    assert_eq!(found["chosen_by"], "host_session");
    let next = memory.step(FIRST, 4712).await;
    assert_eq!(
        (&next["session"], &next["step"]),
        (&first["session"], &json!(2))
    );
}

#[tokio::test]
async fn a_caller_with_steps_gets_no_others() {
    let memory = Fixture::new();
    memory.step(FIRST, 1).await;
    let two = memory.step(FIRST, 2).await;
    let own = memory.step(OTHER, 3).await;
    let found = memory.resolve(OTHER, "ID_FROM_STEP_2").await;
    assert_eq!(value(&found), &Value::Null);
    assert_eq!(found["session"], own["session"]);
    let resolution = &found["resolutions"][0];
    assert_eq!(resolution["reason"], "step_not_found");
    let message = resolution["message"].as_str().unwrap();
    assert!(
        message.contains(two["session"].as_str().unwrap()),
        "{message}"
    );
    let args = json!({"parameters": {"a": "ID_FROM_STEP_2"}});
    let found = memory.call(OTHER, "resolve_parameters", args).await;
    let message = found["unresolved"][0]["message"].as_str().unwrap();
    assert!(
        message.contains(two["session"].as_str().unwrap()),
        "{message}"
    );
    memory
        .is_refused(OTHER, "get_step", json!({"step": 2}), Code::StepNotFound)
        .await;
    // Named, it is taken.
    let args = json!({"names": ["ID_FROM_STEP_2"], "session": two["session"]});
    let found = memory.call(OTHER, "resolve_variables", args).await;
    assert_eq!(
        (value(&found), &found["chosen_by"]),
        (&json!(2), &json!("named"))
    );
    // A message alone is no step: the values are still those of the project.
    memory.say(SECOND, "hello").await;
    let found = memory.resolve(SECOND, "ID_FROM_STEP_2").await;
    assert_eq!(
        (value(&found), &found["chosen_by"]),
        (&json!(2), &json!("project"))
    );
}

/// The newest session of the project need not have what was asked for.
#[tokio::test]
async fn the_newest_session_that_has_it_is_taken() {
    let memory = Fixture::new();
    memory.step(FIRST, 1).await;
    let two = memory.step(FIRST, 2).await;
    memory.step(SECOND, 3).await;
    memory.say(PERSON, "only a message").await;
    let found = memory.resolve(OTHER, "ID_FROM_STEP_2").await;
    assert_eq!(found["session"], two["session"]);
    let found = memory.resolve(OTHER, "ID_FROM_STEP_1").await;
    assert_eq!(value(&found), 3);
    // The step alone is not what was asked for.
    let args = json!({"tool": "t", "result": {"title": "no id"}});
    memory.call(SECOND, "record_step", args).await;
    let args = json!({"names": ["TITLE_FROM_STEP_2"]});
    let titled = memory.call(OTHER, "resolve_variables", args).await;
    assert_eq!(value(&titled), "no id");
    let found = memory.resolve(OTHER, "ID_FROM_STEP_2").await;
    assert_eq!(
        (value(&found), &found["session"]),
        (&json!(2), &two["session"])
    );
    let warning = warning(&found);
    assert!(
        warning.contains(two["session"].as_str().unwrap()),
        "{warning}"
    );
    // No session has it: the newest with steps says so.
    let found = memory.resolve(OTHER, "ID_FROM_STEP_9").await;
    assert_eq!(found["resolutions"][0]["reason"], "step_not_found");
    // Another project has nothing of this one.
    let args = json!({"names": ["ID_FROM_STEP_1"]});
    let elsewhere = memory.try_in(Some("q"), OTHER, "resolve_variables", args);
    assert_eq!(elsewhere.await.unwrap_err().code, Code::SessionNotFound);
}

#[tokio::test]
async fn saving_never_changes_the_current_session() {
    let memory = Fixture::new();
    let said = memory.say(FIRST, "hello about switch-nyc-09").await;
    for number in 0..3 {
        let saved = memory.save(FIRST, json!({"a": number})).await;
        assert_eq!(saved["sessionId"], said["session"]);
        assert_eq!(saved["meta"]["chosen_by"], "host_session");
    }
    let same = memory.save(FIRST, json!({"a": 2})).await;
    assert_eq!(same["status"], "SKIPPED_UNCHANGED");
    let args = json!({"message": "is it up?"});
    let pack = memory.call(FIRST, "enrich_message", args).await;
    assert!(pack["prompt"].as_str().unwrap().contains("hello about"));
    // Neither a session made by hand, nor a fork, nor a write to a named one changes it.
    memory
        .call(FIRST, "create_session", json!({"session": "by-hand"}))
        .await;
    let args = json!({"session": said["session"], "new_session": "fork"});
    memory.call(FIRST, "fork_session", args).await;
    let args = json!({"session": "by-hand", "sender": "user", "content": "there"});
    memory.call(FIRST, "record_message", args).await;
    assert_eq!(memory.say(FIRST, "on").await["session"], said["session"]);
    // A save alone makes the caller's session, once.
    let one = memory.save(OTHER, json!({"b": 1})).await;
    assert_eq!(one["meta"]["chosen_by"], "new");
    let two = memory.save(OTHER, json!({"b": 2})).await;
    assert_eq!(one["sessionId"], two["sessionId"]);
    let named = memory.say(OTHER, "mine").await;
    assert_eq!(named["session"], one["sessionId"]);
}

#[tokio::test]
async fn a_lease_alone_makes_no_session() {
    let memory = Fixture::new();
    memory.step(FIRST, 1).await;
    memory
        .is_refused(OTHER, "lease_session", json!({}), Code::SessionNotFound)
        .await;
    memory
        .is_refused(OTHER, "close_session", json!({}), Code::SessionNotFound)
        .await;
    let args = json!({"contextKey": "goal"});
    memory
        .is_refused(OTHER, "workflow_mark_critical", args, Code::SessionNotFound)
        .await;
    assert_eq!(memory.sessions().await, 1);
    let leased = memory.call(FIRST, "lease_session", json!({})).await;
    assert_eq!(leased["chosen_by"], "host_session");
}

#[tokio::test]
async fn a_closed_or_forgotten_session_is_followed_by_a_new_one() {
    let memory = Fixture::new();
    let first = memory.step(FIRST, 1).await;
    memory.call(FIRST, "close_session", json!({})).await;
    let second = memory.step(FIRST, 2).await;
    assert_eq!(second["chosen_by"], "new");
    let args = json!({"session": second["session"]});
    memory.call(PERSON, "forget_session", args).await;
    let third = memory.step(FIRST, 3).await;
    assert_eq!(
        (&third["step"], &third["chosen_by"]),
        (&json!(1), &json!("new"))
    );
    assert_ne!(third["session"], first["session"]);
    let verified = memory.call(PERSON, "verify_log", json!({})).await;
    assert_eq!(verified["ok"], true, "{verified}");
}

/// `LORE_SESSION` names a session that need not exist yet.
#[tokio::test]
async fn the_session_of_the_environment_is_made_by_the_first_write() {
    let memory = Fixture::new();
    let window = Window("a", Some("session:task-42"));
    memory.step(FIRST, 1).await;
    let found = memory.resolve(window, "ID_FROM_STEP_1").await;
    assert_eq!(found["chosen_by"], "project");
    let own = memory.step(window, 2).await;
    assert_eq!(
        (&own["session"], &own["chosen_by"]),
        (&json!("task-42"), &json!("new"))
    );
    let again = memory.step(Window("b", Some("session:task-42")), 3).await;
    assert_eq!(
        (&again["session"], &again["step"]),
        (&json!("task-42"), &json!(2))
    );
    memory.call(window, "close_session", json!({})).await;
    let args = json!({"tool": "t", "result": 1});
    memory
        .is_refused(window, "record_step", args, Code::SessionClosed)
        .await;
}

/// A person takes a terminal from project to project; a conversation of a host stays one.
#[tokio::test]
async fn a_terminal_has_a_session_in_each_project() {
    let memory = Fixture::new();
    let args = json!({"sender": "user", "content": "x"});
    for (window, is_same) in [(PERSON, false), (FIRST, true)] {
        let here = memory.try_in(Some("p"), window, "record_message", args.clone());
        let there = memory.try_in(Some("q"), window, "record_message", args.clone());
        let (here, there) = (here.await.unwrap(), there.await.unwrap());
        assert_eq!(here["session"] == there["session"], is_same);
    }
}

/// A repeated key gets the first reply, also about the session.
#[tokio::test]
async fn a_repeated_write_tells_the_same() {
    let memory = Fixture::new();
    let args = json!({"tool": "t", "result": 1, "key": "k"});
    let first = memory.call(FIRST, "record_step", args.clone()).await;
    assert_eq!(first["chosen_by"], "new");
    assert_eq!(memory.call(FIRST, "record_step", args).await, first);
}

/// The first call of a fresh conversation in a fresh project.
#[tokio::test]
async fn an_empty_project_has_an_empty_pack() {
    let memory = Fixture::new();
    let args = json!({"message": "hello"});
    let pack = memory.call(FIRST, "enrich_message", args).await;
    assert_eq!(pack["chosen_by"], "new");
    assert_eq!(memory.step(FIRST, 1).await["session"], pack["session"]);
}

/// A pack is of the newest session with a conversation, and only without one of a session that has less.
#[tokio::test]
async fn a_pack_prefers_a_conversation_to_a_checkpoint() {
    let memory = Fixture::new();
    let args = json!({"message": "why is it slow?"});
    memory.save(PERSON, json!({"goal": "go on"})).await;
    let pack = memory.call(OTHER, "enrich_message", args.clone()).await;
    assert_eq!(pack["chosen_by"], "project", "{pack}");
    let said = memory.say(FIRST, "the cache is cold").await;
    memory.save(SECOND, json!({"goal": "rest"})).await;
    let pack = memory.call(OTHER, "enrich_message", args.clone()).await;
    assert_eq!(pack["session"], said["session"], "{pack}");
    assert!(
        pack["prompt"]
            .as_str()
            .unwrap()
            .contains("the cache is cold")
    );
    // Whoever saved has a session of its own.
    let own = memory.call(SECOND, "enrich_message", args).await;
    assert_ne!(own["session"], said["session"], "{own}");
}

/// `current` is the caller's project wherever a project is named, and an unknown project is refused.
#[tokio::test]
async fn current_is_the_callers_project_in_every_operation() {
    let memory = Fixture::new();
    memory.say(FIRST, "switch-nyc-01 is down").await;
    for (name, list) in [
        ("list_sessions", "/sessions"),
        ("list_entities", "/entities"),
        ("read_events", "/events"),
        ("follow_events", "/events"),
        ("search", "/results"),
        ("context_pack", "/sections"),
    ] {
        let args = |project: &str| match name {
            "search" | "context_pack" => json!({"project": project, "query": "switch-nyc-01"}),
            _ => json!({"project": project}),
        };
        let by_id = memory.call(FIRST, name, args("p")).await;
        let listed = by_id.pointer(list).and_then(Value::as_array).unwrap();
        assert!(!listed.is_empty(), "{name}: {by_id}");
        let current = memory.call(FIRST, name, args("current")).await;
        assert_eq!(
            current.pointer(list).unwrap().as_array().unwrap().len(),
            listed.len(),
            "{name}"
        );
        for wrong in ["pp", "nothing-like-it"] {
            let called = memory.try_in(Some("p"), FIRST, name, args(wrong)).await;
            let refusal = called.unwrap_err();
            assert_eq!(refusal.code, Code::ProjectNotFound, "{name}: {refusal}");
            let hint = refusal.hint.as_ref().map(|hint| format!("{hint:?}"));
            assert!(hint.unwrap().contains("`p`"), "{name}: {refusal:?}");
        }
        // A caller without a project has no current one.
        let called = memory.try_in(None, FIRST, name, args("current")).await;
        assert_eq!(called.unwrap_err().code, Code::ProjectNotFound, "{name}");
        // The own project is known before anything is recorded in it.
        let called = memory
            .try_in(Some("q"), PERSON, name, args("current"))
            .await;
        assert!(called.is_ok(), "{name}: {called:?}");
    }
    let made = memory
        .call(SECOND, "create_session", json!({"project": "current"}))
        .await;
    assert_eq!(made["project"], "p");
    let args = json!({"project": "current"});
    assert_eq!(memory.call(FIRST, "forget", args).await["sessions"], 2);
}
