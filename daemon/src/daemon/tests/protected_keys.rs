//! Keys that only a person changes.

use super::capture::Fixture;
use super::*;
use crate::checkpoints::{Checkpoints, Limits};
use crate::operation::CallerProcess;

async fn given() -> (Fixture, Caller, Caller) {
    let memory = Fixture::new();
    let limits = Limits {
        protected: vec!["goal".to_owned()],
        ..Limits::default()
    };
    let checkpoints = Checkpoints::of(&memory.context()).unwrap().limits.clone();
    checkpoints.set(limits);
    let dir = memory.project();
    let agent = memory.caller(&dir, "claude:c-1").await;
    let person = Caller {
        process: CallerProcess::Person,
        ..agent.clone()
    };
    (memory, agent, person)
}

fn saving(context: Value) -> Value {
    json!({"context": context})
}

#[tokio::test]
async fn an_agent_changes_no_protected_key() {
    let (memory, agent, person) = given().await;
    let save = |caller: &Caller, context: Value| {
        memory.called(caller.clone(), "workflow_checkpoint_save", saving(context))
    };
    let long = "x".repeat(5000);
    save(&agent, json!({"goal": "ship", "notes": "a"}))
        .await
        .unwrap();
    // Another key may change.
    save(&agent, json!({"goal": "ship", "notes": long}))
        .await
        .unwrap();
    for changed in [
        json!({"goal": "stop", "notes": "a"}),
        json!({"goal": ["ship"]}),
        json!({"notes": "a"}),
        json!({"goal": long}),
    ] {
        let refused = save(&agent, changed).await.unwrap_err();
        assert!(refused.contains("protected key `goal`"), "{refused}");
    }
    save(&person, json!({"goal": "stop", "notes": "a"}))
        .await
        .unwrap();
    let refused = save(&agent, json!({"goal": "ship"})).await.unwrap_err();
    assert!(refused.contains("only a person"), "{refused}");
}

#[tokio::test]
async fn an_agent_neither_marks_nor_deletes_what_is_protected() {
    let (memory, agent, person) = given().await;
    let context = saving(json!({"goal": "ship", "notes": "a"}));
    let saved = memory.called(agent.clone(), "workflow_checkpoint_save", context);
    let checkpoint = saved.await.unwrap()["checkpointId"].clone();
    let mark = |caller: &Caller, args: Value| {
        memory.called(caller.clone(), "workflow_mark_critical", args)
    };
    for args in [
        json!({"contextKey": "goal"}),
        json!({"contextKey": "goal", "unmark": true}),
    ] {
        let refused = mark(&agent, args).await.unwrap_err();
        assert!(refused.contains("protected key `goal`"), "{refused}");
    }
    mark(&agent, json!({"contextKey": "notes"})).await.unwrap();
    mark(&person, json!({"contextKey": "goal"})).await.unwrap();
    let delete = |caller: &Caller| {
        let args = json!({"checkpointId": checkpoint});
        memory.called(caller.clone(), "workflow_checkpoint_delete", args)
    };
    let refused = delete(&agent).await.unwrap_err();
    assert!(refused.contains("protected key `goal`"), "{refused}");
    delete(&person).await.unwrap();
}

#[tokio::test]
async fn a_fork_keeps_the_protected_keys_of_its_parent() {
    let (memory, agent, _) = given().await;
    let context = saving(json!({"goal": "ship"}));
    let saved = memory.called(agent.clone(), "workflow_checkpoint_save", context);
    let session = saved.await.unwrap()["sessionId"].clone();
    let fork = memory.called(agent.clone(), "fork_session", json!({"session": session}));
    let fork = fork.await.unwrap()["session"].clone();
    let changed = json!({"sessionId": fork, "context": {"goal": "stop"}});
    let refused = memory.called(agent, "workflow_checkpoint_save", changed);
    let refused = refused.await.unwrap_err();
    assert!(refused.contains("protected key `goal`"), "{refused}");
}
