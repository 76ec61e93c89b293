//! What is kept of a session's last context, so that the next save reads only what differs.

use super::capture::Fixture;
use super::*;
use crate::checkpoints::{KnownContext, known_place};

fn long_context(answer: &str) -> Value {
    json!({"context": {"goal": "ship", "answer": answer, "notes": "a long note ".repeat(2000)}})
}

#[tokio::test]
async fn an_unchanged_save_is_kept_for_the_next_one() {
    let memory = Fixture::new();
    let dir = memory.project();
    let agent = memory.caller(&dir, "claude:c-1").await;
    let cx = memory.context();
    let kept = || {
        let kept = cx.cache.get::<KnownContext>(&known_place(&agent, None));
        kept.map(|kept| kept.canonical.text.clone())
    };
    let save = |args| memory.called(agent.clone(), "workflow_checkpoint_save", args);
    save(long_context("yes")).await.unwrap();
    let first = kept().unwrap();
    // As at rest.
    cx.cache.clear();
    assert_eq!(kept(), None);
    let reply = save(long_context("yes")).await.unwrap();
    assert_eq!(reply["status"], "SKIPPED_UNCHANGED");
    assert_eq!(kept(), Some(first));
    // What differs is made from it.
    let reply = save(long_context("no")).await.unwrap();
    assert_eq!(reply["status"], "SAVED");
    let loaded = memory.called(agent.clone(), "workflow_checkpoint_load", json!({}));
    assert_eq!(
        loaded.await.unwrap()["context"],
        long_context("no")["context"]
    );
}
