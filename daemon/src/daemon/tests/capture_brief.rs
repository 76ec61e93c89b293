//! What a brief chooses: sessions of the same branch first, and the project's notes.

use super::capture::{AT, Fixture, added};
use super::*;

impl Fixture {
    async fn reports_more(&self, dir: &str, session: &str, event: &str, more: Value) -> Value {
        let mut report = json!({"session_id": session, "cwd": dir, "hook_event_name": event});
        let fields = report.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        let args = json!({"host": "claude-code", "payload": report.to_string(), "received_at": AT});
        self.call(None, "record_hook", args).await
    }

    /// A session that asks, edits and ends.
    async fn works(&self, dir: &str, session: &str, request: &str) {
        let prompt = json!({"prompt": request, "prompt_id": session});
        self.reports_more(dir, session, "UserPromptSubmit", prompt)
            .await;
        let path = format!("{dir}/{session}.rs");
        let edit = json!({
            "tool_name": "Edit", "tool_use_id": session,
            "tool_input": {"file_path": path, "old_string": "a", "new_string": "b"},
            "tool_response": {"filePath": path},
        });
        self.reports_more(dir, session, "PostToolUse", edit).await;
        self.reports_more(dir, session, "SessionEnd", json!({}))
            .await;
    }

    async fn starts(&self, dir: &str, session: &str) -> String {
        let source = json!({"source": "startup"});
        added(
            &self
                .reports_more(dir, session, "SessionStart", source)
                .await,
        )
    }
}

fn on_branch(dir: &str, head: &str) {
    std::fs::write(Path::new(dir).join(".git/HEAD"), head).unwrap();
}

#[tokio::test]
async fn sessions_of_the_branch_are_in_the_brief_however_old() {
    let memory = Fixture::new();
    let dir = memory.project();
    on_branch(&dir, "ref: refs/heads/fix/rounding\n");
    memory
        .works(&dir, "old", "Round the amounts half to even")
        .await;
    on_branch(&dir, "ref: refs/heads/main\n");
    for count in 0..8 {
        let request = format!("Translate the page number {count}");
        memory.works(&dir, &format!("new-{count}"), &request).await;
    }
    let on_main = memory.starts(&dir, "starts-on-main").await;
    assert!(!on_main.contains("half to even"), "{on_main}");
    on_branch(&dir, "ref: refs/heads/fix/rounding\n");
    let on_fix = memory.starts(&dir, "starts-on-fix").await;
    assert!(on_fix.contains("half to even"), "{on_fix}");
    assert!(on_fix.contains("on fix/rounding"), "{on_fix}");
    // Without a branch, a commit is named; and damaged or large files say nothing.
    for head in [format!("{:040}\n", 7), String::new(), "x".repeat(9 << 10)] {
        on_branch(&dir, &head);
        let text = memory.starts(&dir, &format!("starts-{}", head.len())).await;
        assert!(text.contains("Translate the page"), "{text}");
    }
}

const NOTES: &str = "# Features\n\n## Search\n\n- **Status**: Active\n- **Confidence**: High\n\
    - **Last Verified**: 2025-06-30\n- **Description**: Finds products by name and by number\n\
    - **Implementation**: src/search.rs\n- **Usage**: the field at the top\n";

#[tokio::test]
async fn the_notes_stand_in_the_brief_with_their_file_once() {
    let memory = Fixture::new();
    let dir = memory.project();
    let update = json!({"project_id": dir, "file_type": "features", "content": NOTES});
    let written = memory.call(None, "update_context", update).await;
    assert_eq!(written["version"], 1, "{written}");
    let text = memory.starts(&dir, "c-1").await;
    assert!(text.contains("The project's notes say:"), "{text}");
    assert!(text.contains("features, Search"), "{text}");
    assert!(
        text.contains("Finds products by name and by number"),
        "{text}"
    );
    // It is in the context of the session that resumes.
    let resumed = json!({"source": "resume"});
    let again = memory
        .reports_more(&dir, "c-1", "SessionStart", resumed)
        .await;
    assert_eq!(again["output"], "", "{again}");
}

/// The versions of some hundred rules are compared, those that a brief could list: it has to be there within 100 ms.
#[tokio::test]
async fn of_many_rules_what_was_asked_for_and_the_newest_are_told() {
    let memory = Fixture::new();
    let dir = memory.project();
    let fact = "The staging database is restored at 02:00 every night.";
    let caller = memory.caller(&dir, "terminal:7").await;
    let remembered = memory.called(caller, "remember", json!({"text": fact}));
    remembered.await.unwrap();
    for prompt in 0..15_i64 {
        let rules = (0..40).map(|rule| prompt * 40 + rule);
        let rules: String = rules
            .map(|rule| format!("We decided that module {rule} keeps its rows in table t{rule}. "))
            .collect();
        let session = format!("decides-{}", prompt / 5);
        let report = json!({
            "session_id": session, "cwd": dir, "hook_event_name": "UserPromptSubmit",
            "prompt": rules, "prompt_id": prompt.to_string(),
        });
        let at = AT + (prompt + 1) * 1_000;
        let args = json!({"host": "claude-code", "payload": report.to_string(), "received_at": at});
        memory.call(None, "record_hook", args).await;
    }
    let text = memory.starts(&dir, "starts").await;
    assert!(text.contains(fact), "{text}");
    // The newest message, in its order.
    assert!(text.contains("module 560 keeps"), "{text}");
    assert!(!text.contains("module 99 keeps"), "{text}");
}
