//! Critical keys: marked, shown, preserved through saves, restarts and forks, and never truncated.

use serde_json::{Value, json};
use tests::bench::Context;
use tests::{Daemon, call, has_words, serve};

use super::{create_session, load, save, value_of};

fn mark(daemon: &Daemon, session: &str, key: &str, unmark: bool) -> Value {
    let args = json!({"sessionId": session, "contextKey": key, "unmark": unmark});
    daemon.call("workflow_mark_critical", args)
}

fn critical(daemon: &Daemon, session: &str) -> Vec<String> {
    load(&mut daemon.connect(""), json!({ "sessionId": session }))
        .unwrap()
        .critical_keys
}

/// A mark survives later saves, a save without its key, and a restart. Load and list show it for checkpoints with
/// the key, and it ends when it is removed.
#[test]
fn marks_survive_saves_and_restarts() {
    let (home, daemon) = serve!();
    let mut connection = daemon.connect("");
    create_session(&daemon, "s");
    let mut save_in = |context: Value| {
        save(
            &mut connection,
            json!({"sessionId": "s", "context": context}),
        )
        .unwrap()
    };
    save_in(json!({"plan": 0}));
    save_in(json!({"plan": 1, "answer": 42}));
    assert_eq!(mark(&daemon, "s", "answer", false)["status"], "SUCCESS");
    assert_eq!(mark(&daemon, "s", "plan", false)["status"], "SUCCESS");
    assert_eq!(
        mark(&daemon, "s", "plan", false)["status"],
        "SUCCESS",
        "again"
    );
    save_in(json!({"plan": 2, "answer": 42}));
    save_in(json!({"plan": 3}));
    assert_eq!(critical(&daemon, "s"), ["answer", "plan"]);
    daemon.stop();
    let daemon = home.start();
    assert_eq!(critical(&daemon, "s"), ["answer", "plan"]);
    let list = daemon.call("workflow_checkpoint_list", json!({"sessionId": "s"}));
    let shown: Vec<&Value> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["criticalKeys"])
        .collect();
    let (both, plan) = (json!(["answer", "plan"]), json!(["plan"]));
    assert_eq!(shown, [&plan, &both, &both, &plan]);
    assert_eq!(mark(&daemon, "s", "plan", true)["status"], "SUCCESS");
    assert_eq!(critical(&daemon, "s"), ["answer"]);
    let unmarked = mark(&daemon, "s", "plan", true);
    assert_eq!(unmarked["status"], "KEY_NOT_FOUND");
    has_words(&unmarked["message"], &["`answer`"]);
    daemon.verify();
}

/// A key missing from the latest context is refused with the existing keys, also without any checkpoint, and
/// nothing is recorded.
#[test]
fn keys_that_are_not_there() {
    let (_home, daemon) = serve!();
    create_session(&daemon, "s");
    let before = super::position(&daemon);
    let none = mark(&daemon, "s", "goal", false);
    assert_eq!(none["status"], "KEY_NOT_FOUND");
    has_words(&none["message"], &["no checkpoint"]);
    assert_eq!(super::position(&daemon), before);
    let keys: serde_json::Map<String, Value> =
        (0..60).map(|n| (format!("key-{n:02}"), json!(n))).collect();
    let mut connection = daemon.connect("");
    save(&mut connection, json!({"sessionId": "s", "context": keys})).unwrap();
    save(
        &mut connection,
        json!({"sessionId": "s", "context": {"old": 1}}),
    )
    .unwrap();
    save(&mut connection, json!({"sessionId": "s", "context": keys})).unwrap();
    let before = super::position(&daemon);
    let none = mark(&daemon, "s", "old", false);
    assert_eq!(none["status"], "KEY_NOT_FOUND", "only the latest counts");
    let said = none["message"].as_str().unwrap();
    has_words(said, &["`key-00`", "and 10 more"]);
    assert_eq!(super::position(&daemon), before);
}

/// A mark without a session applies to the caller's current session.
#[test]
fn a_mark_without_a_session() {
    let (_home, daemon) = serve!();
    let mut connection = daemon.connect("agent");
    let saved = save(&mut connection, json!({"context": {"goal": 1}})).unwrap();
    let marked = call(
        &mut connection,
        "workflow_mark_critical",
        json!({"contextKey": "goal"}),
    );
    assert_eq!(marked.unwrap()["status"], "SUCCESS");
    assert_eq!(critical(&daemon, &saved.session), ["goal"]);
}

/// A fork starts a session with the same context and critical keys, and adds no value bytes. Both sessions are
/// independent from then on, also when the original is deleted.
#[test]
fn a_fork_copies_nothing() {
    let (_home, daemon) = serve!();
    let mut connection = daemon.connect("");
    let mut work = Context::new(5, 200_000);
    let context = value_of(&work);
    let args = json!({"context": context, "metadata": {"name": "base", "tags": ["t"]}});
    let base = save(&mut connection, args).unwrap();
    mark(&daemon, &base.session, "plan", false);
    let args = json!({"checkpointId": base.id, "sessionId": "way"});
    let fork = daemon.call("workflow_checkpoint_fork", args);
    assert_eq!(fork["sessionId"], "way");
    assert_eq!(fork["forkedFrom"], base.id);
    assert_eq!(fork["newBytes"], 0, "{fork}");
    assert_eq!(fork["sizeBytes"], base.stored_bytes);
    let loaded = load(&mut connection, json!({"sessionId": "way"})).unwrap();
    assert_eq!(loaded.session_id, "way");
    assert_eq!(loaded.context.get().parse::<Value>().unwrap(), context);
    assert_eq!(loaded.critical_keys, ["plan"]);
    assert_eq!(loaded.metadata["name"], "base");
    work.step();
    let args = json!({"sessionId": "way", "context": value_of(&work)});
    let next = save(&mut connection, args).unwrap();
    assert!(next.new_bytes < base.stored_bytes / 5, "{next:?}");
    let latest = load(&mut connection, json!({"sessionId": base.session})).unwrap();
    assert_eq!(latest.checkpoint_id, base.id);
    super::delete(&mut connection, &base.id).unwrap();
    assert_eq!(
        super::context_of(&mut connection, &next.id).unwrap(),
        value_of(&work)
    );
    let taken = daemon.refusal(
        "workflow_checkpoint_fork",
        json!({"checkpointId": next.id, "sessionId": "way"}),
    );
    assert_eq!(taken.code.as_str(), "CONFLICT");
    daemon.verify();
}

/// A view within a budget truncates values that are not critical and says how to load them. Critical values are
/// complete if they fit. Otherwise they are shortened, too, and that is reported: no view exceeds its budget. The
/// stored context stays complete.
#[test]
fn views_keep_their_budget() {
    let (_home, daemon) = serve!();
    let mut connection = daemon.connect("");
    let context = value_of(&Context::new(6, 40_000));
    let saved = save(&mut connection, json!({ "context": context })).unwrap();
    let args = |tokens: u64| json!({"checkpointId": saved.id, "maxTokens": tokens});
    let view = |tokens: u64| daemon.call("workflow_checkpoint_load", args(tokens));
    let before = view(3000);
    assert!(
        before["view"]["tokens"].as_u64().unwrap() <= 3000,
        "{}",
        before["view"]
    );
    assert_eq!(before["view"]["overBudget"], false);
    assert_ne!(before["context"]["messages"], context["messages"]);
    assert!(
        before["context"].to_string().contains(&saved.id),
        "how to load the rest"
    );
    mark(&daemon, &saved.session, "messages", false);
    let after = view(3000);
    assert!(after["view"]["tokens"].as_u64().unwrap() <= 3000);
    assert_ne!(after["context"]["messages"], context["messages"]);
    assert_eq!(after["view"]["overBudget"], true, "{}", after["view"]);
    has_words(&after["view"]["note"], &["critical keys", &saved.id]);
    let needed = after["view"]["layers"][0]["tokens"].as_u64().unwrap();
    let after = view(needed + 200);
    assert_eq!(after["context"]["messages"], context["messages"]);
    assert_eq!(after["view"]["overBudget"], false, "{}", after["view"]);
    assert_eq!(
        super::context_of(&mut connection, &saved.id).unwrap(),
        context
    );
}
