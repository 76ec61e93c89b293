//! The memory tool's commands on a project's notes, with its replies to the letter.

use super::capture::{CLAUDE, Fixture, added};
use super::*;

struct Tool {
    memory: Fixture,
    dir: String,
}

impl Tool {
    fn new() -> Self {
        let memory = Fixture::new();
        let dir = memory.project();
        Self { memory, dir }
    }

    async fn reply(&self, input: Value) -> Result<(String, bool), String> {
        let mut input = input;
        input["project_id"] = json!(self.dir);
        let reply = self
            .memory
            .called(Caller::default(), "memory_tool", input)
            .await?;
        let output = reply["output"].as_str().unwrap().to_owned();
        Ok((output, reply["is_error"].as_bool().unwrap()))
    }

    async fn says(&self, input: Value, wanted: &str) {
        let (output, is_error) = self.reply(input.clone()).await.unwrap();
        assert_eq!((output.as_str(), is_error), (wanted, false), "{input}");
    }

    async fn refuses(&self, input: Value, wanted: &str) {
        let (output, is_error) = self.reply(input.clone()).await.unwrap();
        assert_eq!((output.as_str(), is_error), (wanted, true), "{input}");
    }
}

const LISTING: &str = "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:";

#[tokio::test]
async fn the_commands_reply_as_they_are_documented() {
    let tool = Tool::new();
    let view = |path: &str| json!({"command": "view", "path": path});
    tool.says(view("/memories"), &format!("{LISTING}\n0.0K\t/memories"))
        .await;
    let create =
        |path: &str, text: &str| json!({"command": "create", "path": path, "file_text": text});
    tool.says(
        create("/memories/prefs.md", "Prices: net\nTone: brief\n"),
        "File created successfully at: /memories/prefs.md",
    )
    .await;
    tool.refuses(
        create("/memories/prefs.md", "x"),
        "Error: File /memories/prefs.md already exists",
    )
    .await;
    tool.says(
        view("/memories/prefs.md"),
        "Here's the content of /memories/prefs.md with line numbers:\n     1\tPrices: net\n     2\tTone: brief",
    )
    .await;
    tool.says(
        json!({"command": "view", "path": "/memories/prefs.md", "view_range": [2, 2]}),
        "Here's the content of /memories/prefs.md with line numbers:\n     2\tTone: brief",
    )
    .await;
    tool.says(
        json!({"command": "str_replace", "path": "/memories/prefs.md", "old_str": "net", "new_str": "gross"}),
        "The memory file has been edited.\n     1\tPrices: gross\n     2\tTone: brief",
    )
    .await;
    tool.refuses(
        json!({"command": "str_replace", "path": "/memories/prefs.md", "old_str": "net", "new_str": "x"}),
        "No replacement was performed, old_str `net` did not appear verbatim in /memories/prefs.md.",
    )
    .await;
    tool.refuses(
        json!({"command": "str_replace", "path": "/memories/gone.md", "old_str": "a", "new_str": "b"}),
        "Error: The path /memories/gone.md does not exist. Please provide a valid path.",
    )
    .await;
    let insert = |path: &str, line: i64| json!({"command": "insert", "path": path, "insert_line": line, "insert_text": "# Ana\n"});
    tool.says(
        insert("/memories/prefs.md", 0),
        "The file /memories/prefs.md has been edited.",
    )
    .await;
    tool.refuses(
        insert("/memories/prefs.md", 9),
        "Error: Invalid `insert_line` parameter: 9. It should be within the range of lines of the file: [0, 3]",
    )
    .await;
    tool.refuses(
        insert("/memories/gone.md", 0),
        "Error: The path /memories/gone.md does not exist",
    )
    .await;
    tool.says(
        create("/memories/people/ana/notes.txt", ""),
        "File created successfully at: /memories/people/ana/notes.txt",
    )
    .await;
    let rename =
        |old: &str, new: &str| json!({"command": "rename", "old_path": old, "new_path": new});
    tool.says(
        rename("/memories/people", "/memories/team"),
        "Successfully renamed /memories/people to /memories/team",
    )
    .await;
    tool.refuses(
        rename("/memories/people", "/memories/x"),
        "Error: The path /memories/people does not exist",
    )
    .await;
    tool.refuses(
        rename("/memories/team", "/memories/prefs.md"),
        "Error: The destination /memories/prefs.md already exists",
    )
    .await;
    tool.refuses(
        rename("/memories/team", "/memories/team/inner"),
        "Error: The destination /memories/team/inner already exists",
    )
    .await;
    tool.says(
        view("/memories/"),
        &format!("{LISTING}\n0.1K\t/memories\n0.1K\t/memories/prefs.md\n0.0K\t/memories/team\n0.0K\t/memories/team/ana"),
    )
    .await;
    let delete = |path: &str| json!({"command": "delete", "path": path});
    tool.says(
        delete("/memories/team"),
        "Successfully deleted /memories/team",
    )
    .await;
    tool.refuses(
        delete("/memories/team"),
        "Error: The path /memories/team does not exist",
    )
    .await;
    tool.refuses(
        delete("/memories"),
        "Error: Cannot delete the /memories directory itself",
    )
    .await;
    tool.refuses(
        rename("/memories", "/memories/old"),
        "Error: Cannot rename the /memories directory itself",
    )
    .await;
    tool.refuses(
        view("/memories/team"),
        "The path /memories/team does not exist. Please provide a valid path.",
    )
    .await;
    for outside in ["/etc/passwd", "/memories/../x", "/memories/%2e%2e/x", ""] {
        let said = format!("The path {outside} does not exist. Please provide a valid path.");
        tool.refuses(view(outside), &said).await;
        let (said, is_error) = tool.reply(create(outside, "x")).await.unwrap();
        assert!(is_error, "{said}");
    }
    let refused = tool
        .reply(json!({"command": "create", "path": "/memories/x"}))
        .await;
    assert!(refused.unwrap_err().contains("`file_text` is missing"));
    // What was deleted can be made again, and every version is kept.
    tool.says(
        create("/memories/team/ana/notes.txt", "back"),
        "File created successfully at: /memories/team/ana/notes.txt",
    )
    .await;
    let history = json!({"project_id": tool.dir, "file_type": "memories/prefs.md"});
    let history = tool.memory.call(None, "context_history", history).await;
    assert_eq!(
        history["versions"].as_array().unwrap().len(),
        3,
        "{history}"
    );
}

#[tokio::test]
async fn context_files_are_notes_and_notes_are_found_and_given() {
    let tool = Tool::new();
    let features = "# Features\n\n## Search\n\n- **Status**: Active\n- **Confidence**: High\n\
        - **Last Verified**: 2025-06-30\n- **Description**: Finds products by name\n\
        - **Implementation**: src/search.rs\n- **Usage**: the field at the top\n";
    let update = json!({"project_id": tool.dir, "file_type": "features", "content": features});
    let reply = tool.memory.call(None, "update_context", update).await;
    assert_eq!(reply["status"], "success", "{reply}");
    let note = json!({
        "command": "create", "path": "/memories/ledger/rules.md",
        "file_text": "# Ledger\n\nThe quarterly ledger is closed by the zebra accountant.\n",
    });
    tool.reply(note).await.unwrap();
    let (listing, _) = tool
        .reply(json!({"command": "view", "path": "/memories"}))
        .await
        .unwrap();
    assert!(
        listing.contains("/memories/features.md") && listing.contains("/memories/ledger/rules.md"),
        "{listing}"
    );
    let edit = json!({
        "command": "str_replace", "path": "/memories/features.md", "old_str": "by name", "new_str": "by number",
    });
    let (said, is_error) = tool.reply(edit).await.unwrap();
    assert!(!is_error, "{said}");
    let read = json!({"project_id": tool.dir, "file_type": "features"});
    let read = tool.memory.call(None, "get_context", read).await;
    assert!(read.to_string().contains("by number"), "{read}");
    // Free notes are listed by the tool alone, and searched and given as all notes are.
    let listed = tool
        .memory
        .call(None, "list_contexts", json!({"project_id": tool.dir}))
        .await;
    assert!(!listed.to_string().contains("memories/"), "{listed}");
    let found = tool
        .memory
        .call(
            None,
            "search",
            json!({"query": "zebra accountant", "mode": "text"}),
        )
        .await;
    assert!(
        found["results"].to_string().contains("quarterly ledger"),
        "{found}"
    );
    let report = json!({
        "session_id": "s", "cwd": tool.dir, "hook_event_name": "SessionStart", "source": "startup",
    });
    let args = json!({
        "host": CLAUDE, "payload": report.to_string(), "received_at": tool.memory.now_ms(), "waits_ms": 5000,
    });
    let brief = added(&tool.memory.call(None, "record_hook", args).await);
    assert!(brief.contains("zebra accountant"), "{brief}");
}

#[tokio::test]
async fn two_writers_at_once_lose_nothing() {
    let tool = Tool::new();
    let create = json!({"command": "create", "path": "/memories/list.md", "file_text": "begin\n"});
    tool.reply(create).await.unwrap();
    let tool = &tool;
    let writes = (0..12).map(|number| async move {
        let text = format!("line {number}\n");
        let insert = json!({"command": "insert", "path": "/memories/list.md", "insert_line": 1, "insert_text": text});
        tool.reply(insert).await.unwrap()
    });
    let replies = futures_util::future::join_all(writes).await;
    assert!(replies.iter().all(|(_, is_error)| !is_error));
    let (content, _) = tool
        .reply(json!({"command": "view", "path": "/memories/list.md"}))
        .await
        .unwrap();
    for number in 0..12 {
        assert_eq!(
            content.matches(&format!("line {number}\n")).count()
                + usize::from(content.ends_with(&format!("line {number}"))),
            1,
            "{content}"
        );
    }
}
