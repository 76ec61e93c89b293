//! What comes with prompts: what is said in other words, and what others changed meanwhile.

use super::capture::{AT, Fixture, added};
use super::*;

/// Prompts that are asked until vectors are there: they are made in the background.
const ASKED_MAX: usize = 5_000;

impl Fixture {
    async fn asks(&self, dir: &str, session: &str, text: &str) -> String {
        let prompt = json!({
            "session_id": session, "cwd": dir, "hook_event_name": "UserPromptSubmit",
            "prompt": text, "prompt_id": format!("{session}-{text}"),
        });
        let args = json!({"host": "claude-code", "payload": prompt.to_string(), "received_at": AT});
        added(&self.call(None, "record_hook", args).await)
    }

    async fn edits(&self, dir: &str, session: &str, id: &str, file: &str) {
        let path = format!("{dir}/{file}");
        let edit = json!({
            "session_id": session, "cwd": dir, "hook_event_name": "PostToolUse",
            "tool_name": "Edit", "tool_use_id": id,
            "tool_input": {"file_path": path, "old_string": "a", "new_string": "b"},
            "tool_response": {"filePath": path},
        });
        let args = json!({"host": "claude-code", "payload": edit.to_string(), "received_at": AT});
        self.call(None, "record_hook", args).await;
    }

    async fn reports(&self, dir: &str, session: &str, event: &str) {
        let report = json!({"session_id": session, "cwd": dir, "hook_event_name": event});
        let args = json!({"host": "claude-code", "payload": report.to_string(), "received_at": AT});
        self.call(None, "record_hook", args).await;
    }
}

#[tokio::test]
async fn an_item_is_found_in_other_words() {
    let memory = Fixture::new();
    let dir = memory.project();
    let rule = "Wort samples are taken every six hours, never from the top of the tank.";
    memory.asks(&dir, "first", rule).await;
    memory.reports(&dir, "first", "SessionEnd").await;
    memory.reports(&dir, "second", "SessionStart").await;
    let question = "How often do we measure the brew?";
    let mut text = String::new();
    for count in 0..ASKED_MAX {
        // Each is a session that was shown nothing yet.
        text = memory.asks(&dir, &format!("asks-{count}"), question).await;
        if !text.is_empty() {
            break;
        }
    }
    assert!(text.contains(rule), "{text}");
    for (count, idle) in ["Rename the component to TankView", "Commit and push"]
        .iter()
        .enumerate()
    {
        let session = format!("idle-{count}");
        assert_eq!(memory.asks(&dir, &session, idle).await, "");
    }
}

#[tokio::test]
async fn a_prompt_says_who_changed_the_files_since_the_last_turn() {
    let memory = Fixture::new();
    let dir = memory.project();
    assert_eq!(memory.asks(&dir, "mine", "Split the cart").await, "");
    memory.edits(&dir, "mine", "t1", "src/cart.rs").await;
    memory.reports(&dir, "mine", "Stop").await;
    memory
        .asks(&dir, "other", "Rename the price of the cart")
        .await;
    memory.edits(&dir, "other", "t2", "src/logo.rs").await;
    // This session is not told what it changed.
    assert_eq!(memory.asks(&dir, "mine", "go on").await, "");
    memory.edits(&dir, "other", "t3", "src/cart.rs").await;
    let text = memory.asks(&dir, "mine", "and now?").await;
    let line = "claude-code changed src/cart.rs, now: Rename the price of the cart";
    assert!(text.contains(line), "{text}");
    // It is said once.
    assert_eq!(memory.asks(&dir, "mine", "continue").await, "");
}

#[tokio::test]
async fn a_line_says_what_became_of_the_file_that_it_names() {
    let memory = Fixture::new();
    let dir = memory.project();
    let file = Path::new(&dir).join("cart.rs");
    let write = |second: u64| {
        let file = std::fs::File::create(&file).unwrap();
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(second);
        file.set_modified(time).unwrap();
    };
    let rule = "We decided that amounts are rounded in cart.rs alone, because refunds differ.";
    memory.asks(&dir, "first", rule).await;
    memory.edits(&dir, "first", "t1", "cart.rs").await;
    memory.reports(&dir, "first", "SessionEnd").await;
    let question = "Where are the amounts of refunds rounded?";
    write(1_600_000_000);
    let fresh = memory.asks(&dir, "asks-1", question).await;
    assert!(fresh.contains("rounded in cart.rs alone"), "{fresh}");
    assert!(!fresh.contains("the cited file"), "{fresh}");
    write(1_800_000_000);
    let changed = memory.asks(&dir, "asks-2", question).await;
    assert!(
        changed.contains("; the cited file was written since)"),
        "{changed}"
    );
    std::fs::remove_file(&file).unwrap();
    let gone = memory.asks(&dir, "asks-3", question).await;
    assert!(gone.contains("; the cited file is gone)"), "{gone}");
}
